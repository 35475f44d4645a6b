/* SPDX-License-Identifier: GPL-2.0-only */
/* Directories and archives into packed trees. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <search.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <archive.h>
#include <archive_entry.h>

#include "pack_tree.h"
#include "shared/pop_text.h"
#include "shared/pop_tree.h"

#define BUF_SIZE	((size_t)256 * 1024)

struct packer {
	FILE *index, *data;
	uint64_t at;		/* end of the contents so far */
	uint64_t entries;
	void *dirs;		/* names of the directories so far: a tsearch(3) tree */
	bool (*stop)(void *ctx);
	void *ctx;
	char **why;
	char *buf;
};

static int fail(struct packer *p, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static int fail(struct packer *p, const char *fmt, ...)
{
	va_list ap;

	if (*p->why)
		return -1;
	va_start(ap, fmt);
	if (vasprintf(p->why, fmt, ap) < 0)
		*p->why = NULL;
	va_end(ap);
	return -1;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(a, b);
}

static int stopped(struct packer *p)
{
	return p->stop && p->stop(p->ctx) ? fail(p, "interrupted") : 0;
}

/* --- entries ---------------------------------------------------------------- */

/* A directory, once, with those that it lies in. */
static int put_dir(struct packer *p, const char *path, mode_t mode)
{
	const char *slash = strrchr(path, '/');
	char *copy;

	if (tfind(path, &p->dirs, compare_names))
		return 0;
	if (slash) {
		char *up = strndup(path, (size_t)(slash - path));
		int ret = up ? put_dir(p, up, 0755) :
			fail(p, "%s", strerror(ENOMEM));

		free(up);
		if (ret)
			return ret;
	}
	copy = strdup(path);
	if (!copy || !tsearch(copy, &p->dirs, compare_names)) {
		free(copy);
		return fail(p, "%s", strerror(ENOMEM));
	}
	fputs("dir ", p->index);
	pop_text_put(p->index, path);
	/* Whoever fills it must be able to write into it. */
	fprintf(p->index, " %o\n", (unsigned)((mode | 0700) & 07777));
	p->entries++;
	return 0;
}

static int put_parents(struct packer *p, const char *path)
{
	const char *slash = strrchr(path, '/');
	char *up = slash ? strndup(path, (size_t)(slash - path)) : NULL;
	int ret = up ? put_dir(p, up, 0755) : 0;

	free(up);
	return ret;
}

static int put_link(struct packer *p, const char *kind, const char *path,
		    const char *target)
{
	int ret = put_parents(p, path);

	fprintf(p->index, "%s ", kind);
	pop_text_put(p->index, path);
	putc(' ', p->index);
	pop_text_put(p->index, target);
	putc('\n', p->index);
	p->entries++;
	return ret;
}

/* read() gives bytes until it returns 0, or -1 with the reason set. */
static int put_file(struct packer *p, const char *path, mode_t mode,
		    int64_t mtime, ssize_t (*read_some)(struct packer *p,
							void *from),
		    void *from)
{
	uint64_t start = p->at;
	ssize_t n;

	if (put_parents(p, path))
		return -1;
	while ((n = read_some(p, from)) > 0) {
		if (fwrite(p->buf, 1, (size_t)n, p->data) != (size_t)n)
			return fail(p, "%s", strerror(errno));
		p->at += (uint64_t)n;
		if (stopped(p))
			return -1;
	}
	if (n < 0)
		return fail(p, "%s: %s", path, strerror(errno));
	fputs("file ", p->index);
	pop_text_put(p->index, path);
	fprintf(p->index, " %o %" PRId64 " %" PRIu64 " %" PRIu64 "\n",
		(unsigned)(mode & 07777), mtime, p->at - start, start);
	p->entries++;
	return 0;
}

/* --- from a directory ------------------------------------------------------- */

static ssize_t read_descriptor(struct packer *p, void *from)
{
	ssize_t n;

	do
		n = read(*(int *)from, p->buf, BUF_SIZE);
	while (n < 0 && errno == EINTR);
	return n;
}

static int pack_dir(struct packer *p, int fd, const char *path);

static int pack_one(struct packer *p, int dir, const char *name,
		    const char *path)
{
	char target[4096];
	struct stat st;
	ssize_t n;
	int fd, ret;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW))
		return fail(p, "%s: %s", path, strerror(errno));
	switch (st.st_mode & S_IFMT) {
	case S_IFDIR:
		fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
			    O_CLOEXEC);
		if (fd < 0)
			return fail(p, "%s: %s", path, strerror(errno));
		return put_dir(p, path, st.st_mode) ? -1 :
			pack_dir(p, fd, path);
	case S_IFREG:
		fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0)
			return fail(p, "%s: %s", path, strerror(errno));
		ret = put_file(p, path, st.st_mode, st.st_mtim.tv_sec,
			       read_descriptor, &fd);
		close(fd);
		return ret;
	case S_IFLNK:
		n = readlinkat(dir, name, target, sizeof(target) - 1);
		if (n < 0)
			return fail(p, "%s: %s", path, strerror(errno));
		target[n] = '\0';
		return put_link(p, "symlink", path, target);
	default:
		/* Devices and sockets are no part of a source tree. */
		return 0;
	}
}

static int pack_dir(struct packer *p, int fd, const char *path)
{
	struct dirent **list = NULL;
	int n = scandirat(fd, ".", &list, NULL, alphasort), ret = 0;

	if (n < 0)
		ret = fail(p, "%s: %s", path, strerror(errno));
	for (int i = 0; i < n; i++) {
		const char *name = list[i]->d_name;
		char *sub = NULL;

		if (!ret && strcmp(name, ".") && strcmp(name, "..")) {
			if (asprintf(&sub, "%s%s%s", path, *path ? "/" : "",
				     name) < 0) {
				sub = NULL;
				ret = fail(p, "%s", strerror(ENOMEM));
			} else {
				ret = pack_one(p, fd, name, sub);
			}
		}
		free(sub);
		free(list[i]);
	}
	free(list);
	close(fd);
	return ret;
}

/* --- from an archive -------------------------------------------------------- */

static ssize_t read_archive(struct packer *p, void *from)
{
	la_ssize_t n = archive_read_data(from, p->buf, BUF_SIZE);

	if (n < 0) {
		fail(p, "%s", archive_error_string(from));
		return -1;
	}
	return (ssize_t)n;
}

/* Relative, without "." parts; NULL for what leads elsewhere or nowhere. */
static char *clean_path(const char *path)
{
	char *out = calloc(1, strlen(path) + 1), *end = out;

	while (out && *path) {
		size_t n = strcspn(path, "/");

		if (n == 2 && !strncmp(path, "..", 2)) {
			free(out);
			return NULL;
		}
		if (n && !(n == 1 && *path == '.')) {
			if (end != out)
				*end++ = '/';
			memcpy(end, path, n);
			end += n;
			*end = '\0';
		}
		path += n + (path[n] == '/');
	}
	if (out && !*out) {
		free(out);
		return NULL;
	}
	return out;
}

static int pack_entry(struct packer *p, struct archive *a,
		      struct archive_entry *e)
{
	const char *name = archive_entry_pathname(e);
	const char *hard = archive_entry_hardlink(e);
	char *path = name ? clean_path(name) : NULL, *target;
	int ret = 0;

	if (!path)
		return 0;
	if (hard) {
		target = clean_path(hard);
		ret = target ? put_link(p, "link", path, target) :
			fail(p, "%s: is a link to a strange place", path);
		free(target);
	} else if (archive_entry_filetype(e) == AE_IFDIR) {
		ret = put_dir(p, path, archive_entry_perm(e));
	} else if (archive_entry_filetype(e) == AE_IFREG) {
		ret = put_file(p, path, archive_entry_perm(e),
			       archive_entry_mtime(e), read_archive, a);
	} else if (archive_entry_filetype(e) == AE_IFLNK) {
		ret = put_link(p, "symlink", path, archive_entry_symlink(e));
	}
	free(path);
	return ret;
}

static int pack_archive(struct packer *p, const char *from)
{
	struct archive *a = archive_read_new();
	struct archive_entry *e;
	int ret = a ? 0 : fail(p, "%s", strerror(ENOMEM)), got = ARCHIVE_OK;

	if (ret)
		return ret;
	archive_read_support_filter_all(a);
	archive_read_support_format_all(a);
	if (archive_read_open_filename(a, from, 1 << 18) != ARCHIVE_OK)
		ret = fail(p, "%s", archive_error_string(a));
	while (!ret && (got = archive_read_next_header(a, &e)) == ARCHIVE_OK) {
		ret = pack_entry(p, a, e);
		if (!ret)
			ret = stopped(p);
	}
	if (!ret && got != ARCHIVE_EOF)
		ret = fail(p, "%s", archive_error_string(a));
	archive_read_free(a);
	return ret;
}

/* ---------------------------------------------------------------------------- */

static int pack(struct packer *p, const char *from)
{
	struct stat st;
	int fd;

	if (stat(from, &st))
		return fail(p, "%s", strerror(errno));
	fputs(POP_TREE_FIRST_LINE, p->index);
	if (!S_ISDIR(st.st_mode)) {
		if (pack_archive(p, from))
			return -1;
	} else {
		fd = open(from, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd < 0)
			return fail(p, "%s", strerror(errno));
		if (pack_dir(p, fd, ""))
			return -1;
	}
	return p->entries ? 0 : fail(p, "nothing to clone is in it");
}

int pop_pack_tree(const char *from, const char *name,
		  bool (*stop)(void *ctx), void *ctx, char **why)
{
	struct packer p = {
		.stop = stop, .ctx = ctx, .why = why, .buf = malloc(BUF_SIZE),
	};
	char *data = NULL;
	int ret;

	*why = NULL;
	if (asprintf(&data, "%s.data", name) < 0)
		data = NULL;
	p.index = data && p.buf ? fopen(name, "wex") : NULL;
	p.data = p.index ? fopen(data, "wex") : NULL;
	ret = p.data ? pack(&p, from) : fail(&p, "%s", strerror(errno));
	if (p.index && (ferror(p.index) | fclose(p.index)) && !ret)
		ret = fail(&p, "%s", strerror(errno));
	if (p.data && (ferror(p.data) | fclose(p.data)) && !ret)
		ret = fail(&p, "%s", strerror(errno));
	if (ret && p.index)
		unlink(name);
	if (ret && p.data)
		unlink(data);
	tdestroy(p.dirs, free);
	free(p.buf);
	free(data);
	return ret;
}

bool pop_is_packed_tree(const char *name)
{
	char line[sizeof(POP_TREE_FIRST_LINE)] = "";
	FILE *f = fopen(name, "re");
	bool is = f && fgets(line, sizeof(line), f) &&
		!strcmp(line, POP_TREE_FIRST_LINE);

	if (f)
		fclose(f);
	return is;
}
