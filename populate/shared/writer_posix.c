/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The writer for mounted filesystems.  It works with paths relative to the
 * current directory, since not all calls on extended attributes have a form
 * that takes a directory's descriptor.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "pop_sha256.h"
#include "writer_posix.h"

#define BUF_SIZE	((size_t)256 * 1024)

static int write_range(struct pop_writer_posix *w, int fd,
		       const struct pop_source *source,
		       const struct pop_range *range)
{
	uint64_t at = range->offset;
	uint64_t end = range->offset + range->length;

	while (at < end) {
		size_t n = end - at < BUF_SIZE ? (size_t)(end - at) : BUF_SIZE;
		size_t done = 0;
		int ret = pop_source_read(source, at, w->buf, n);

		if (ret)
			return ret;
		while (done < n) {
			ssize_t k = pwrite(fd, w->buf + done, n - done,
					   (off_t)(at + done));

			if (k < 0) {
				if (errno == EINTR)
					continue;
				return -errno;
			}
			done += (size_t)k;
		}
		at += n;
	}
	return 0;
}

static int write_ranges(struct pop_writer_posix *w, int fd,
			const struct pop_op *op, uint64_t *end)
{
	*end = 0;
	for (size_t i = 0; i < op->data_count; i++) {
		uint64_t stop = op->data[i].offset + op->data[i].length;
		int ret = write_range(w, fd, &op->source, &op->data[i]);

		if (ret)
			return ret;
		if (stop > *end)
			*end = stop;
	}
	return 0;
}

/* All of another file, read through the kernel; *end is its size. */
static int copy_content(struct pop_writer_posix *w, int fd, const char *from,
			uint64_t *end)
{
	int in = open(from, O_RDONLY | O_CLOEXEC | O_LARGEFILE);
	int ret = in < 0 ? -errno : 0;
	uint64_t at = 0;
	ssize_t n = 0;

	while (!ret && (n = read(in, w->buf, BUF_SIZE)) != 0) {
		size_t done = 0;

		if (n < 0 && errno != EINTR)
			ret = -errno;
		while (!ret && n > 0 && done < (size_t)n) {
			ssize_t k = pwrite(fd, w->buf + done,
					   (size_t)n - done,
					   (off_t)(at + done));

			if (k < 0 && errno != EINTR)
				ret = -errno;
			done += k > 0 ? (size_t)k : 0;
		}
		at += n > 0 ? (uint64_t)n : 0;
	}
	if (in >= 0)
		close(in);
	*end = at;
	return ret;
}

static int create_file(struct pop_writer_posix *w, const struct pop_op *op)
{
	struct timespec times[2] = {
		{ .tv_sec = (time_t)op->mtime, .tv_nsec = op->mtime_nsec },
		{ .tv_sec = (time_t)op->mtime, .tv_nsec = op->mtime_nsec },
	};
	uint64_t end = 0;
	int ret;
	int fd = open(op->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC |
		      O_LARGEFILE, 0600);

	if (fd < 0)
		return -errno;
	/*
	 * The size last: ext4 limits an empty file that may still go into
	 * its inode more than one with extents.
	 */
	ret = op->kind == POP_COPY ? copy_content(w, fd, op->target, &end) :
		write_ranges(w, fd, op, &end);
	if (!ret && end != op->size)
		ret = ftruncate(fd, (off_t)op->size) ? -errno : 0;
	if (!ret && (op->uid || op->gid))
		ret = fchown(fd, op->uid, op->gid) ? -errno : 0;
	if (!ret)
		ret = fchmod(fd, op->mode) ? -errno : 0;
	if (!ret)
		ret = futimens(fd, times) ? -errno : 0;
	if (close(fd) && !ret)
		ret = -errno;
	if (ret)
		unlink(op->path);
	return ret;
}

static int write_file(struct pop_writer_posix *w, const struct pop_op *op)
{
	uint64_t end;
	int fd = open(op->path, O_WRONLY | O_CLOEXEC | O_LARGEFILE);
	int ret;

	if (fd < 0)
		return -errno;
	ret = write_ranges(w, fd, op, &end);
	if (!ret && op->sync && fdatasync(fd))
		ret = -errno;
	if (close(fd) && !ret)
		ret = -errno;
	return ret;
}

static int preallocate(const struct pop_op *op)
{
	int fd = open(op->path, O_WRONLY | O_CLOEXEC | O_LARGEFILE);
	int ret = 0;

	if (fd < 0)
		return -errno;
	if (fallocate(fd, op->keep_size ? FALLOC_FL_KEEP_SIZE : 0,
		      (off_t)op->range.offset, (off_t)op->range.length))
		ret = -errno;
	if (close(fd) && !ret)
		ret = -errno;
	return ret;
}

static int set_attr(const struct pop_op *op)
{
	/* Ownership first: changing it takes the set-id bits away. */
	if (lchown(op->path, op->uid, op->gid))
		return -errno;
	if (!S_ISLNK(op->mode) && chmod(op->path, op->mode & 07777))
		return -errno;
	return 0;
}

static int make_special(const struct pop_op *op)
{
	dev_t dev = 0;
	int ret;

	if (S_ISCHR(op->mode) || S_ISBLK(op->mode))
		dev = makedev(op->major, op->minor);
	if (mknod(op->path, (op->mode & S_IFMT) | 0600, dev))
		return -errno;
	ret = set_attr(op);
	if (ret)
		unlink(op->path);
	return ret;
}

static int make_dir(const struct pop_op *op)
{
	int ret;

	if (mkdir(op->path, 0700))
		return -errno;
	ret = set_attr(op);
	if (ret)
		rmdir(op->path);
	return ret;
}

static int make_symlink(const struct pop_op *op)
{
	if (symlink(op->target, op->path))
		return -errno;
	if ((op->uid || op->gid) && lchown(op->path, op->uid, op->gid)) {
		int err = errno;

		unlink(op->path);
		return -err;
	}
	return 0;
}

/* Reads a file as a search for identical ones does. */
static int digest_file(struct pop_writer_posix *w, const struct pop_op *op)
{
	int fd = open(op->path, O_RDONLY | O_CLOEXEC | O_LARGEFILE);
	struct pop_sha256 s;
	char hex[65];
	ssize_t n = 0;
	int ret = fd < 0 ? -errno : 0;

	pop_sha256_init(&s);
	while (!ret && (n = read(fd, w->buf, BUF_SIZE)) != 0) {
		if (n > 0)
			pop_sha256_add(&s, w->buf, (size_t)n);
		else if (errno != EINTR)
			ret = -errno;
	}
	pop_sha256_hex(&s, hex);
	if (fd >= 0)
		close(fd);
	return ret;
}

/* Never without a name: the new link takes the old one's place. */
static int relink(const struct pop_op *op)
{
	char name[4096];

	if (snprintf(name, sizeof(name), "%s~", op->path) >=
	    (int)sizeof(name))
		return -ENAMETOOLONG;
	if (link(op->target, name))
		return -errno;
	if (rename(name, op->path)) {
		int err = errno;

		unlink(name);
		return -err;
	}
	return 0;
}

/*
 * The kernel cuts a time to what the format holds and says nothing, so it is
 * looked at again.
 */
static int set_time(const struct pop_writer_posix *w, const struct pop_op *op)
{
	struct timespec times[2] = {
		{ .tv_sec = (time_t)op->mtime, .tv_nsec = op->mtime_nsec },
		{ .tv_sec = (time_t)op->mtime, .tv_nsec = op->mtime_nsec },
	};
	struct stat st;

	if (w->old_times && (op->mtime_nsec || op->mtime < INT32_MIN ||
			     op->mtime > INT32_MAX))
		return -ERANGE;
	if (utimensat(AT_FDCWD, op->path, times, AT_SYMLINK_NOFOLLOW))
		return -errno;
	if (lstat(op->path, &st))
		return -errno;
	if (st.st_mtim.tv_sec != times[0].tv_sec ||
	    st.st_mtim.tv_nsec != times[0].tv_nsec)
		return -ERANGE;
	return 0;
}

static int posix_apply(struct pop_writer *writer, const struct pop_op *op)
{
	struct pop_writer_posix *w = (struct pop_writer_posix *)(void *)writer;
	int ret = 0;

	switch (op->kind) {
	case POP_MKDIR:
		return make_dir(op);
	case POP_CREATE:
	case POP_COPY:
		return create_file(w, op);
	case POP_WRITE:
		return write_file(w, op);
	case POP_TRUNCATE:
		ret = truncate(op->path, (off_t)op->size);
		break;
	case POP_PREALLOC:
		return preallocate(op);
	case POP_LINK:
		ret = link(op->target, op->path);
		break;
	case POP_SYMLINK:
		return make_symlink(op);
	case POP_MKNOD:
		return make_special(op);
	case POP_SETXATTR:
		ret = lsetxattr(op->path, op->name, op->value, op->value_len,
				0);
		break;
	case POP_SETATTR:
		return set_attr(op);
	case POP_UTIMES:
		return set_time(w, op);
	case POP_UNLINK:
		ret = unlink(op->path);
		break;
	case POP_RMDIR:
		ret = rmdir(op->path);
		break;
	case POP_DIGEST:
		return digest_file(w, op);
	case POP_RELINK:
		return relink(op);
	case POP_PHASE:
		break;
	}
	return ret ? -errno : 0;
}

static int posix_sync(struct pop_writer *writer)
{
	struct pop_writer_posix *w = (struct pop_writer_posix *)(void *)writer;

	return syncfs(w->root) ? -errno : 0;
}

int pop_writer_posix_init(struct pop_writer_posix *w)
{
	*w = (struct pop_writer_posix){
		.writer = {
			.apply = posix_apply, .sync = posix_sync,
			.reads = true,
		},
	};
	w->buf = malloc(BUF_SIZE);
	if (!w->buf)
		return -ENOMEM;
	w->root = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (w->root < 0) {
		int err = errno;

		free(w->buf);
		return -err;
	}
	umask(0);
	return 0;
}

void pop_writer_posix_free(struct pop_writer_posix *w)
{
	close(w->root);
	free(w->buf);
}
