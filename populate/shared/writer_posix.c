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

#include "pop_rand.h"
#include "writer_posix.h"

#define BUF_SIZE	((size_t)256 * 1024)

static int write_range(struct pop_writer_posix *w, int fd, uint64_t seed,
		       const struct pop_range *range)
{
	uint64_t at = range->offset;
	uint64_t end = range->offset + range->length;

	while (at < end) {
		size_t n = end - at < BUF_SIZE ? (size_t)(end - at) : BUF_SIZE;
		size_t done = 0;

		pop_content(seed, at, w->buf, n);
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
		int ret = write_range(w, fd, op->seed, &op->data[i]);

		if (ret)
			return ret;
		if (stop > *end)
			*end = stop;
	}
	return 0;
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
	ret = write_ranges(w, fd, op, &end);
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
		.writer = { posix_apply, posix_sync },
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
