/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Filling btrfs by mkfs.btrfs --rootdir: a child makes the tree in the
 * temporary directory with the writer that also fills mounted filesystems,
 * and mkfs copies it.
 *
 * Owners are those of the files, so it needs root.  Of times it copies whole
 * seconds; device numbers it writes in another form than the kernel reads
 * (6.2), holes as zeros.
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
#include "pop_job.h"
#include "shared/pop_session.h"
#include "shared/pop_text.h"
#include "shared/writer_posix.h"

#define TREE_DIR	"tree"
/* What goes into one item of a node of 4096 bytes with the heads there. */
#define ITEM_MAX	3900

struct btrfs_tree {
	struct pop_writer writer;
	struct pop_writer_posix posix;
	int progress;
};

static int check(const struct pop_op *op)
{
	struct stat st;

	switch (op->kind) {
	case POP_CREATE:
	case POP_PREALLOC:
		return lib_tree_hole(op, 0) ? -EOPNOTSUPP : 0;
	case POP_WRITE:
	case POP_TRUNCATE:
		if (lstat(op->path, &st))
			return -errno;
		return lib_tree_hole(op, (uint64_t)st.st_size) ?
			-EOPNOTSUPP : 0;
	case POP_MKNOD:
		return S_ISCHR(op->mode) || S_ISBLK(op->mode) ?
			-EOPNOTSUPP : 0;
	case POP_SYMLINK:
		return strlen(op->target) > ITEM_MAX ? -ENAMETOOLONG : 0;
	case POP_SETXATTR:
		return strlen(op->name) + op->value_len > ITEM_MAX ?
			-ENOSPC : 0;
	default:
		return 0;
	}
}

static int btrfs_apply(struct pop_writer *writer, const struct pop_op *op)
{
	struct btrfs_tree *t = (struct btrfs_tree *)(void *)writer;
	int ret = check(op);

	return ret ? ret : t->posix.writer.apply(&t->posix.writer, op);
}

static int btrfs_sync(struct pop_writer *writer)
{
	(void)writer;	/* nothing of it stays on this disk */
	return 0;
}

static int child_tick(void *ctx, uint64_t files)
{
	const struct btrfs_tree *t = ctx;

	pop_put_progress(t->progress, files);
	return 0;
}

static void put_result(FILE *f, const struct pop_run *run,
		       const struct pop_stamp *from, int ret)
{
	struct pop_stamp t = pop_stamp_since(from);

	fprintf(f, "time write %" PRId64 " %" PRId64 " %" PRId64 "\n",
		t.real, t.user, t.sys);
	for (size_t i = 0; i < run->refusal_count; i++)
		fprintf(f, "refused %" PRIu64 " %d\n", run->refusals[i].index,
			run->refusals[i].err);
	fprintf(f, "counts %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", run->ops,
		run->files, run->bytes);
	if (!ret) {
		fputs("done\n", f);
		return;
	}
	fprintf(f, "error write %d %s ", -ret,
		pop_op_kind_name(run->failed_kind));
	pop_text_put(f, run->failed_path ? run->failed_path : "-");
	putc('\n', f);
}

/* Leaves its result as a session does; see shared/pop_session.c. */
static int child(struct pop_job *job)
{
	struct btrfs_tree t = { .writer = { .apply = btrfs_apply, .sync = btrfs_sync },
	};
	struct pop_run run = {
		.writer = &t.writer, .tick = child_tick, .ctx = &t,
	};
	struct pop_stamp from = pop_stamp_now();
	int fd = openat(job->dir_fd, POP_RESULT_FILE, O_WRONLY | O_CREAT |
			O_TRUNC | O_CLOEXEC, 0600);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
	int ret;

	t.progress = openat(job->dir_fd, POP_PROGRESS_FILE, O_WRONLY |
			    O_CREAT | O_CLOEXEC, 0600);
	if (!f || mkdirat(job->dir_fd, TREE_DIR, 0755) ||
	    fchdir(job->dir_fd) || chdir(TREE_DIR))
		return 1;
	fputs("stage write\n", f);
	ret = pop_writer_posix_init(&t.posix);
	if (!ret) {
		ret = pop_run(&run, job->collection, &job->args);
		pop_writer_posix_free(&t.posix);
	}
	put_result(f, &run, &from, ret);
	pop_run_free(&run);
	return ferror(f) | fclose(f) ? 1 : 0;
}

static int make_tree(struct pop_job *job, char **why)
{
	int status = 0;

	if (pop_fork_session(job, child, "the tree for mkfs was not made in time",
			     &status))
		return -1;
	return pop_take_result(job, false, why);
}

static int btrfs_make(struct pop_job *job, char **why)
{
	char *tree;
	int ret;

	if (geteuid()) {
		*why = pop_format("mkfs.btrfs --rootdir takes owners from "
				  "files, which needs root");
		return 1;
	}
	if (job->o->device_count) {
		*why = pop_format("mkfs.btrfs --rootdir fills one device "
				  "only");
		return 1;
	}
	tree = pop_format("%s/" TREE_DIR, job->dir);
	if (!tree) {
		pop_fail(job, "%s", strerror(ENOMEM));
		return -1;
	}
	ret = pop_blank(job);
	if (!ret)
		ret = make_tree(job, why);
	if (!ret)
		ret = pop_mkfs_from(job, "--rootdir", tree);
	free(tree);
	return ret;
}

const struct pop_lib pop_lib_btrfs = {
	.library = "mkfs.btrfs --rootdir",
	.times = POP_TIMES_SECONDS,
	.make = btrfs_make,
};
