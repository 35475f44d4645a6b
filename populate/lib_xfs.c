/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Filling XFS by the prototype file of mkfs.xfs, as anybody and with block
 * sizes that no kernel at hand mounts.
 *
 * A prototype file describes a tree in words with blanks between them, its
 * files by paths of others that are copied.  It knows no quoting, no hard
 * links, attributes, holes, times, sockets and sticky bits; what needs these
 * is refused.  mkfs writes each file as one extent.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib_tree.h"
#include "model.h"
#include "pop_job.h"
#include "shared/pop_source.h"

#define PROTO_FILE	"prototype"
#define DATA_DIR	"data"
#define SPACE_FILE	"space"
#define BUF_SIZE	((size_t)256 * 1024)
#define XFS_NAME_MAX	255
/*
 * A longer target might not go into an inode of 256 bytes, and mkfs.xfs (6.1)
 * puts it into a block without the head that version 5 wants there.
 */
#define TARGET_MAX	156
/* What mkfs.xfs packs device numbers into. */
#define MAJOR_MAX	511
#define MINOR_MAX	262143
/* More free blocks in one piece than an allocation may keep back. */
#define SPARE_BLOCKS	128

struct xfs_proto {
	struct pop_writer writer;
	struct pop_model model;
	/* With ASCII-CI directories: paths in small letters. */
	bool folds;
	struct pop_names folded;
};

/* A word of the prototype file, as it reads them. */
static bool is_word(const char *s)
{
	return *s && *s != ':' && strcmp(s, "$") && !strpbrk(s, " \t\n");
}

static int check_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;

	if (strlen(name) > XFS_NAME_MAX)
		return -ENAMETOOLONG;
	return is_word(name) ? 0 : -EILSEQ;
}

static int check_mode(uint32_t mode)
{
	return mode & S_ISVTX ? -EOPNOTSUPP : 0;
}

static int check(struct xfs_proto *x, const struct pop_op *op)
{
	struct pop_entry *e;
	int ret;

	switch (op->kind) {
	case POP_MKDIR:
	case POP_CREATE:
		ret = check_name(op->path);
		if (!ret)
			ret = check_mode(op->mode);
		if (!ret && lib_tree_hole(op, 0))
			ret = -EOPNOTSUPP;
		return ret;
	case POP_SYMLINK:
		ret = check_name(op->path);
		if (!ret && strlen(op->target) > TARGET_MAX)
			ret = -ENAMETOOLONG;
		return ret || is_word(op->target) ? ret : -EILSEQ;
	case POP_MKNOD:
		ret = check_name(op->path);
		if (!ret && (S_ISSOCK(op->mode) || op->major > MAJOR_MAX ||
			     op->minor > MINOR_MAX))
			ret = -EOPNOTSUPP;
		return ret ? ret : check_mode(op->mode);
	case POP_WRITE:
	case POP_TRUNCATE:
		e = pop_model_find(&x->model, op->path);
		if (!e)
			return -ENOENT;
		return lib_tree_hole(op, e->node->size) ? -EOPNOTSUPP : 0;
	case POP_SETATTR:
		return check_mode(op->mode);
	case POP_PREALLOC:
	case POP_LINK:
	case POP_SETXATTR:
		return -EOPNOTSUPP;
	default:
		return 0;
	}
}

/* Enters or removes a name that may be another's but for the letters' case. */
static int fold(struct xfs_proto *x, const struct pop_op *op)
{
	bool gone = op->kind == POP_UNLINK || op->kind == POP_RMDIR;
	char *path;
	int ret = 0;

	if (!x->folds || (!gone && op->kind != POP_MKDIR &&
			  op->kind != POP_CREATE && op->kind != POP_SYMLINK &&
			  op->kind != POP_MKNOD))
		return 0;
	path = strdup(op->path);
	if (!path)
		return -ENOMEM;
	for (char *p = path; *p; p++) {
		if (*p >= 'A' && *p <= 'Z')
			*p = (char)(*p - 'A' + 'a');
		/* mkfs.xfs (6.1) hashes some of these unlike the kernel. */
		if ((unsigned char)*p >= 0x80)
			ret = -EILSEQ;
	}
	if (!ret)
		ret = !gone && pop_names_get(&x->folded, path) ? -EEXIST :
			pop_names_set(&x->folded, path, !gone);
	free(path);
	return ret;
}

static int xfs_apply(struct pop_writer *writer, const struct pop_op *op)
{
	struct xfs_proto *x = (struct xfs_proto *)(void *)writer;
	int ret = check(x, op);

	if (!ret)
		ret = fold(x, op);
	return ret ? ret : pop_model_apply(&x->model, op);
}

static int xfs_sync(struct pop_writer *writer)
{
	(void)writer;
	return 0;
}

/* --- the prototype file and what it copies -------------------------------- */

static int write_data(int dir, size_t number, const struct pop_node *node,
		      unsigned char *buf)
{
	char name[32];
	int fd, ret = 0;

	snprintf(name, sizeof(name), "%zu", number);
	fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	for (uint64_t at = 0; !ret && at < node->size; ) {
		uint64_t left = node->size - at;
		size_t n = left < BUF_SIZE ? (size_t)left : BUF_SIZE;
		ssize_t done;

		ret = pop_source_read(&node->source, at, buf, n);
		if (ret)
			break;
		done = write(fd, buf, n);
		if (done < 0 && errno != EINTR)
			ret = -errno;
		at += done > 0 ? (uint64_t)done : 0;
	}
	if (close(fd) && !ret)
		ret = -errno;
	return ret;
}

static void put_mode(FILE *f, char type, uint32_t mode)
{
	fprintf(f, "%c%c%c%03" PRIo32, type, mode & S_ISUID ? 'u' : '-',
		mode & S_ISGID ? 'g' : '-', mode & 0777);
}

/* Without the name, which the root has none of. */
static void put_entry(FILE *f, const struct pop_job *job,
		      const struct pop_node *node, size_t number)
{
	static const struct {
		uint32_t type;
		char letter;
	} letters[] = {
		{ S_IFREG, '-' }, { S_IFDIR, 'd' }, { S_IFLNK, 'l' },
		{ S_IFIFO, 'p' }, { S_IFCHR, 'c' }, { S_IFBLK, 'b' },
	};
	char letter = '-';

	for (size_t i = 0; i < sizeof(letters) / sizeof(letters[0]); i++)
		if (letters[i].type == (node->mode & S_IFMT))
			letter = letters[i].letter;
	put_mode(f, letter, node->mode);
	fprintf(f, " %" PRIu32 " %" PRIu32, node->uid, node->gid);
	if (S_ISREG(node->mode))
		fprintf(f, " %s/" DATA_DIR "/%zu", job->dir, number);
	else if (S_ISLNK(node->mode))
		fprintf(f, " %s", node->target);
	else if (letter == 'c' || letter == 'b')
		fprintf(f, " %" PRIu32 " %" PRIu32, node->major, node->minor);
	putc('\n', f);
}

/* The root comes before all. */
static const unsigned char *below_root(const char *path)
{
	return (const unsigned char *)(strcmp(path, ".") ? path : "");
}

/* A directory, then what is in it: '/' goes before every other byte. */
static int tree_order(const void *a, const void *b)
{
	const unsigned char *x =
		below_root(((const struct pop_entry *)a)->path);
	const unsigned char *y =
		below_root(((const struct pop_entry *)b)->path);

	while (*x && *x == *y) {
		x++;
		y++;
	}
	if (*x == *y)
		return 0;
	if (!*x || !*y)
		return *x ? 1 : -1;
	if (*x == '/' || *y == '/')
		return *x == '/' ? -1 : 1;
	return *x < *y ? -1 : 1;
}

static size_t depth_of(const char *path)
{
	size_t depth = 1;

	for (; *path; path++)
		depth += *path == '/';
	return depth;
}

static int put_tree(struct pop_job *job, FILE *f, int data,
		    struct pop_model *m, unsigned char *buf)
{
	size_t open_dirs = 0;
	int ret = 0;

	qsort(m->entries, m->count, sizeof(*m->entries), tree_order);
	/* A boot program, and two numbers that mean nothing any more. */
	fputs("none\n0 0\n", f);
	for (size_t i = 0; i < m->count && !ret; i++) {
		const struct pop_node *node = m->entries[i].node;
		const char *path = m->entries[i].path;
		const char *slash = strrchr(path, '/');

		while (strcmp(path, ".") && open_dirs > depth_of(path)) {
			fputs("$\n", f);
			open_dirs--;
		}
		if (strcmp(path, "."))
			fprintf(f, "%s ", slash ? slash + 1 : path);
		put_entry(f, job, node, i);
		if (S_ISDIR(node->mode))
			open_dirs++;
		if (S_ISREG(node->mode))
			ret = write_data(data, i, node, buf);
		if (!ret && pop_interrupted(job))
			ret = -EINTR;
	}
	for (; open_dirs > 0; open_dirs--)
		fputs("$\n", f);
	return ret;
}

static int put_prototype(struct pop_job *job, struct pop_model *m)
{
	unsigned char *buf = malloc(BUF_SIZE);
	int data = -1, fd = -1, ret = buf ? 0 : -ENOMEM;
	FILE *f = NULL;

	if (!ret) {
		if (mkdirat(job->dir_fd, DATA_DIR, 0700) ||
		    (data = openat(job->dir_fd, DATA_DIR, O_RDONLY |
				   O_DIRECTORY | O_CLOEXEC)) < 0 ||
		    (fd = openat(job->dir_fd, PROTO_FILE, O_WRONLY | O_CREAT |
				 O_EXCL | O_CLOEXEC, 0600)) < 0 ||
		    !(f = fdopen(fd, "w")))
			ret = -errno;
	}
	if (!ret)
		ret = put_tree(job, f, data, m, buf);
	if (f && (ferror(f) | fclose(f)) && !ret)
		ret = -errno;
	else if (!f && fd >= 0)
		close(fd);
	if (data >= 0)
		close(data);
	free(buf);
	if (ret)
		pop_fail(job, "%s: %s", ret == -EINTR ? "mkfs.xfs -p" :
			 job->dir, ret == -EINTR ? "interrupted" :
			 strerror(-ret));
	return ret;
}

/* --- afterwards ----------------------------------------------------------- */

static uint64_t largest_file(const struct pop_model *m)
{
	uint64_t most = 0;

	for (size_t i = 0; i < m->count; i++)
		if (S_ISREG(m->entries[i].node->mode) &&
		    m->entries[i].node->size > most)
			most = m->entries[i].node->size;
	return most;
}

/*
 * mkfs.xfs (6.1) writes behind the extent of a file that it could not get in
 * one piece.  Free space only gets less while it fills: if the largest file
 * would still find its place, all have.
 */
static int check_space(struct pop_job *job, uint64_t largest)
{
	char *argv[] = {
		pop_find_program("xfs_db"), (char[]){ "-r" }, (char[]){ "-c" },
		(char[]){ "sb 0" }, (char[]){ "-c" },
		(char[]){ "print blocksize" }, (char[]){ "-c" },
		(char[]){ "freesp -d" }, job->image, NULL,
	};
	uint64_t block = 0, longest = 0, ag, at, length;
	int status = 0, fd;
	char line[160];
	FILE *f = NULL;
	pid_t pid;

	if (!argv[0]) {
		pop_fail(job, "xfs_db is not installed");
		return -1;
	}
	pid = pop_spawn(job, argv, SPACE_FILE, NULL);
	free(argv[0]);
	if (pid < 0 || pop_wait(job, pid, NULL, &status, NULL)) {
		pop_fail(job, "xfs_db was stopped");
		return -1;
	}
	fd = openat(job->dir_fd, SPACE_FILE, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		f = fdopen(fd, "r");
	while (f && fgets(line, sizeof(line), f)) {
		sscanf(line, "blocksize = %" SCNu64, &block);
		if (sscanf(line, "%" SCNu64 " %" SCNu64 " %" SCNu64, &ag, &at,
			   &length) == 3 && length > longest &&
		    !strchr(line, '.'))
			longest = length;
	}
	if (f)
		fclose(f);
	if (!block) {
		pop_keep_log(job, SPACE_FILE);
		pop_fail(job, "xfs_db cannot tell the free space");
		return -1;
	}
	if (longest < (largest + block - 1) / block + SPARE_BLOCKS) {
		pop_fail(job, "the image is too small: its longest free "
			 "piece of %" PRIu64 " blocks does not show that each "
			 "file got one piece; choose a larger --size", longest);
		return -1;
	}
	return 0;
}

static int xfs_make(struct pop_job *job, char **why)
{
	struct xfs_proto x = {
		.writer = {
			.apply = xfs_apply, .sync = xfs_sync,
			.no_links = true,
		},
		.folds = job->o->mkfs_options &&
			strstr(job->o->mkfs_options, "version=ci"),
	};
	struct pop_run run = {
		.writer = &x.writer, .tick = pop_run_tick, .ctx = job,
	};
	struct pop_stamp from = pop_stamp_now();
	char *proto = pop_format("%s/" PROTO_FILE, job->dir);
	int ret = pop_model_begin(&x.model);

	(void)why;
	if (!ret && !proto)
		ret = -ENOMEM;
	if (!ret)
		ret = pop_run(&run, job->collection, &job->args);
	if (!ret)
		ret = pop_model_settle(&x.model);
	if (!ret)
		ret = put_prototype(job, &x.model);
	if (ret)
		pop_fail_run(job, &run, ret, NULL);
	if (!ret)
		ret = pop_blank(job);
	pop_add_time_since(job, "write", &from);
	if (!ret)
		ret = pop_mkfs_from(job, "-p", proto);
	if (!ret)
		ret = check_space(job, largest_file(&x.model));
	pop_take_run(job, &run);
	pop_model_free(&x.model);
	pop_names_free(&x.folded);
	free(proto);
	return ret ? -1 : 0;
}

const struct pop_lib pop_lib_xfs = {
	.library = "mkfs.xfs -p",
	.times = POP_TIMES_NONE,
	.make = xfs_make,
};
