/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The session.  Lines of its result:
 *
 *   kernel RELEASE
 *   stage NAME                        what it is about to do
 *   error STAGE ERRNO KIND PATH       it stopped there
 *   refused INDEX ERRNO               an operation that was left out
 *   counts OPS FILES BYTES
 *   time PHASE REAL USER SYS          nanoseconds
 *   read PHASE BYTES                  from the device, behind its time
 *   statfs WHEN BSIZE FRSIZE BLOCKS BFREE BAVAIL FILES FFREE
 *   df WHEN k|i LINE                  WHEN: new (mounted the first time),
 *                                     unsynced (written, before any sync
 *                                     at the end), rw, ro (mounted again)
 *   st PATH INO BLOCKS SIZE MODE NLINK UID GID MAJOR MINOR SEC NSEC
 *   done
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "pop_observe.h"
#include "pop_remove.h"
#include "pop_session.h"
#include "pop_stamp.h"
#include "pop_text.h"
#include "writer_posix.h"

struct session {
	const struct pop_plan *plan;
	const char *mountpoint;
	int dir;
	int progress;
	FILE *out;
	const char *stage;
	char phase[24];		/* of the writing */
	struct pop_stamp phase_from;
};

static void put_time(struct session *s, const char *phase,
		     const struct pop_stamp *from)
{
	struct pop_stamp t = pop_stamp_since(from);

	fprintf(s->out, "time %s %" PRId64 " %" PRId64 " %" PRId64 "\n", phase,
		t.real, t.user, t.sys);
}

static void enter(struct session *s, const char *stage)
{
	s->stage = stage;
	fprintf(s->out, "stage %s\n", stage);
	fflush(s->out);
}

/* The options that mount(2) takes as bits; the rest goes to the driver. */
static char *split_options(const char *options, unsigned long *flags)
{
	static const struct {
		const char *name;
		unsigned long set, clear;
	} known[] = {
		{ "defaults", 0, 0 }, { "rw", 0, MS_RDONLY },
		{ "ro", MS_RDONLY, 0 }, { "noatime", MS_NOATIME, 0 },
		{ "relatime", MS_RELATIME, 0 },
		{ "strictatime", MS_STRICTATIME, 0 },
		{ "nodiratime", MS_NODIRATIME, 0 },
		{ "lazytime", MS_LAZYTIME, 0 },
		{ "sync", MS_SYNCHRONOUS, 0 }, { "async", 0, MS_SYNCHRONOUS },
		{ "dirsync", MS_DIRSYNC, 0 }, { "nodev", MS_NODEV, 0 },
		{ "nosuid", MS_NOSUID, 0 }, { "noexec", MS_NOEXEC, 0 },
	};
	char *copy = strdup(options), *rest = calloc(1, strlen(options) + 1);
	char *save = NULL;

	if (!copy || !rest) {
		free(copy);
		free(rest);
		return NULL;
	}
	for (char *o = strtok_r(copy, ",", &save); o;
	     o = strtok_r(NULL, ",", &save)) {
		size_t i, count = sizeof(known) / sizeof(known[0]);

		for (i = 0; i < count && strcmp(o, known[i].name); i++)
			;
		if (i < count) {
			*flags = (*flags | known[i].set) & ~known[i].clear;
			continue;
		}
		if (*rest)
			strcat(rest, ",");
		strcat(rest, o);
	}
	free(copy);
	return rest;
}

static int do_mount(struct session *s, unsigned long extra)
{
	unsigned long flags = 0;
	char *data = split_options(s->plan->mount_options, &flags);
	int ret = 0;

	if (!data)
		return -ENOMEM;
	if (mount(s->plan->device, s->mountpoint, s->plan->mount_type,
		  flags | extra, data))
		ret = -errno;
	else if (chdir(s->mountpoint))
		ret = -errno;
	free(data);
	return ret;
}

static int do_umount(struct session *s)
{
	if (chdir("/"))
		return -errno;
	/* A scanner of the host may have looked in for a moment. */
	for (int turn = 0; umount(s->mountpoint); turn++) {
		struct timespec pause = { 0, 50000000 };

		if (errno != EBUSY || turn == 40)
			return -errno;
		nanosleep(&pause, NULL);
	}
	return 0;
}

void pop_put_progress(int fd, uint64_t files)
{
	char text[32];
	int n = snprintf(text, sizeof(text), "%020" PRIu64 "\n", files);

	/* Progress is a courtesy: its failure is none of the session. */
	if (pwrite(fd, text, (size_t)n, 0) < 0)
		return;
}

static int tick(void *ctx, uint64_t files)
{
	const struct session *s = ctx;

	pop_put_progress(s->progress, files);
	return 0;
}

static int observe(struct session *s, const char *label, bool tree)
{
	int ret = pop_observe_statfs(s->out, label);

	if (!ret)
		ret = pop_observe_df(s->out, label, s->mountpoint);
	if (!ret && tree)
		ret = pop_observe_tree(s->out);
	return ret;
}

/* The end of one phase of writing and the start of the next. */
static void next_phase(void *ctx, const char *name)
{
	struct session *s = ctx;

	if (*s->phase)
		put_time(s, s->phase, &s->phase_from);
	snprintf(s->phase, sizeof(s->phase), "%s", name);
	s->phase_from = pop_stamp_now();
}

static int write_all(struct session *s, struct pop_run *run,
		     const struct pop_collection *c,
		     const struct pop_collection_args *args)
{
	struct pop_stamp from;
	int ret;

	/* A collection with phases begins with one. */
	snprintf(s->phase, sizeof(s->phase), "%s", c->clones ? "" : "write");
	s->phase_from = pop_stamp_now();
	ret = pop_run(run, c, args);
	next_phase(s, "");
	if (ret)
		return ret;
	ret = observe(s, "unsynced", false);
	if (ret)
		return ret;
	from = pop_stamp_now();
	enter(s, "sync");
	ret = run->writer->sync(run->writer);
	put_time(s, "sync", &from);
	if (ret)
		return ret;
	from = pop_stamp_now();
	enter(s, "list");
	ret = pop_list_all();
	put_time(s, "list", &from);
	return ret;
}

static int fill(struct session *s, struct pop_run *run)
{
	struct pop_collection_args args = {
		.name = s->plan->collection, .files = s->plan->files,
		.file_size = s->plan->file_size, .seed = s->plan->seed,
		.clones = s->plan->clones, .tree = s->plan->loaded,
	};
	const struct pop_collection *c = pop_collection_complete(&args);
	struct pop_writer_posix w;
	int ret;

	if (!c)
		return -EINVAL;
	ret = pop_writer_posix_init(&w);
	if (ret)
		return ret;
	w.old_times = s->plan->old_times != 0;
	run->writer = &w.writer;
	run->sync_every = s->plan->sync_every;
	run->tick = tick;
	run->ctx = s;
	run->phase = next_phase;
	ret = write_all(s, run, c, &args);
	pop_writer_posix_free(&w);
	for (size_t i = 0; i < run->refusal_count; i++)
		fprintf(s->out, "refused %" PRIu64 " %d\n",
			run->refusals[i].index, run->refusals[i].err);
	fprintf(s->out, "counts %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
		run->ops, run->files, run->bytes);
	return ret;
}

static int empty(struct session *s)
{
	struct pop_stamp from = pop_stamp_now();
	int root, ret = pop_remove_all();

	put_time(s, "remove", &from);
	if (ret)
		return ret;
	from = pop_stamp_now();
	enter(s, "sync");
	root = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (root < 0 || syncfs(root))
		ret = -errno;
	if (root >= 0)
		close(root);
	put_time(s, "remove-sync", &from);
	return ret;
}

/* Children's time counts: it is theirs. */
static int time_tar(struct session *s)
{
	for (int piped = 0; piped < 2; piped++) {
		struct pop_stamp from = pop_stamp_now();
		uint64_t before = 0, after;
		bool known = pop_observe_reads(s->plan->device, &before);
		int ret;

		enter(s, piped ? "tar-pipe" : "tar-null");
		ret = pop_observe_tar(piped);
		if (ret && ret != -ENOENT)
			return ret;
		if (!ret)
			put_time(s, s->stage, &from);
		if (!ret && known &&
		    pop_observe_reads(s->plan->device, &after))
			fprintf(s->out, "read %s %" PRIu64 "\n", s->stage,
				after - before);
	}
	return 0;
}

static int steps(struct session *s, struct pop_run *run)
{
	struct pop_stamp from = pop_stamp_now();
	int ret;

	enter(s, "mount");
	ret = do_mount(s, 0);
	if (ret)
		return ret;
	put_time(s, "mount", &from);
	ret = s->plan->remove ? 0 : observe(s, "new", false);
	if (!ret) {
		enter(s, s->plan->remove ? "remove" : "write");
		ret = s->plan->remove ? empty(s) : fill(s, run);
	}
	from = pop_stamp_now();
	if (!ret)
		enter(s, "umount");
	if (ret) {
		do_umount(s);
		return ret;
	}
	ret = do_umount(s);
	if (ret)
		return ret;
	put_time(s, "umount", &from);

	enter(s, "mount-again");
	ret = do_mount(s, 0);
	if (ret)
		return ret;
	ret = s->plan->tar ? time_tar(s) : 0;
	if (!ret) {
		enter(s, "observe");
		ret = observe(s, "rw", true);
	}
	if (ret) {
		do_umount(s);
		return ret;
	}
	enter(s, "umount-again");
	ret = do_umount(s);
	if (ret)
		return ret;

	enter(s, "mount-read-only");
	ret = do_mount(s, MS_RDONLY);
	if (ret)
		return ret;
	enter(s, "observe-read-only");
	ret = observe(s, "ro", false);
	int last = do_umount(s);
	return ret ? ret : last;
}

static void put_error(struct session *s, const struct pop_run *run, int err)
{
	fprintf(s->out, "error %s %d ", s->stage, err);
	if (run->failed_path) {
		pop_text_put(s->out, pop_op_kind_name(run->failed_kind));
		putc(' ', s->out);
		pop_text_put(s->out, run->failed_path);
	} else {
		fputs("- -", s->out);
	}
	putc('\n', s->out);
}

int pop_session(const struct pop_plan *plan, int dir, const char *mountpoint)
{
	struct session s = {
		.plan = plan, .mountpoint = mountpoint, .dir = dir,
		.stage = "start",
	};
	struct pop_run run = { 0 };
	struct utsname uts;
	int fd, ret;

	fd = openat(dir, POP_RESULT_FILE, O_WRONLY | O_CREAT | O_TRUNC |
		    O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	s.out = fdopen(fd, "w");
	if (!s.out) {
		close(fd);
		return -ENOMEM;
	}
	s.progress = openat(dir, POP_PROGRESS_FILE, O_WRONLY | O_CREAT |
			    O_CLOEXEC, 0600);
	if (!uname(&uts)) {
		fputs("kernel ", s.out);
		pop_text_put(s.out, uts.release);
		putc('\n', s.out);
	}
	ret = steps(&s, &run);
	if (ret)
		put_error(&s, &run, -ret);
	else
		fputs("done\n", s.out);
	if (s.progress >= 0)
		close(s.progress);
	pop_run_free(&run);
	if (fclose(s.out) && !ret)
		ret = -EIO;
	return ret;
}
