/* SPDX-License-Identifier: GPL-2.0-only */
/* One call: mkfs, an engine, the manifest, all put in place. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pack_tree.h"
#include "pop_job.h"
#include "shared/pop_session.h"

#define LOG_LENGTH	4096

static const int held_signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };

char *pop_format(const char *fmt, ...)
{
	va_list ap;
	char *s;

	va_start(ap, fmt);
	if (vasprintf(&s, fmt, ap) < 0)
		s = NULL;
	va_end(ap);
	return s;
}

void pop_fail(struct pop_job *job, const char *fmt, ...)
{
	va_list ap;

	if (job->r->error)
		return;
	va_start(ap, fmt);
	if (vasprintf(&job->r->error, fmt, ap) < 0)
		job->r->error = NULL;
	va_end(ap);
}

void pop_keep_log(struct pop_job *job, const char *name)
{
	char *text;
	struct stat st;
	ssize_t n;
	int fd;

	if (job->r->log)
		return;
	fd = openat(job->dir_fd, name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	text = calloc(1, LOG_LENGTH + 1);
	if (text && !fstat(fd, &st)) {
		off_t from = st.st_size > LOG_LENGTH ?
			st.st_size - LOG_LENGTH : 0;

		n = pread(fd, text, LOG_LENGTH, from);
		if (n > 0) {
			job->r->log = text;
			text = NULL;
		}
	}
	free(text);
	close(fd);
}

void pop_add_time(struct pop_job *job, const char *phase, int64_t real,
		  int64_t user, int64_t sys, bool in_guest)
{
	struct fsa_populate_result *r = job->r;
	struct fsa_populate_time *t = NULL;

	/* A phase in two parts (two mkfs) is one phase. */
	for (size_t i = 0; i < r->time_count && !t; i++)
		if (!strcmp(r->times[i].phase, phase))
			t = &r->times[i];
	if (!t) {
		if (r->time_count == FSA_POPULATE_TIMES)
			return;
		t = &r->times[r->time_count++];
		snprintf(t->phase, sizeof(t->phase), "%s", phase);
		t->in_guest = in_guest;
	}
	t->real += real;
	t->user += user;
	t->sys += sys;
}

bool pop_interrupted(const struct pop_job *job)
{
	struct pollfd p = { .fd = job->signals, .events = POLLIN };

	return poll(&p, 1, 0) > 0;
}

/* The options of the mount with those that name further devices. */
static char *device_options(struct pop_job *job, const char *const *devices)
{
	const char *key = job->log_image ? job->fs->log_mount :
		job->fs->device_mount;
	char *all = strdup(job->r->mount_options);

	for (size_t i = 1; all && key && i < job->image_count; i++) {
		char *more = pop_format("%s%s%s=%s", all, *all ? "," : "", key,
					devices[i]);

		free(all);
		all = more;
	}
	return all;
}

int pop_make_plan(struct pop_job *job, struct pop_plan *plan,
		  const char *const *devices)
{
	*plan = (struct pop_plan){
		.device = strdup(devices[0]),
		.mount_type = strdup(job->o->mount_type ? job->o->mount_type :
				     job->fs->mount_type),
		.mount_options = device_options(job, devices),
		.collection = strdup(job->args.name ? job->args.name : ""),
		.files = job->args.files, .file_size = job->args.file_size,
		.seed = job->args.seed, .sync_every = job->o->sync_every,
		.old_times = job->old_times,
		.tree = strdup(job->tree_name ? job->tree_name : ""),
		.clones = job->args.clones, .remove = job->remove,
		.tar = job->o->tar,
		.loaded = job->args.tree,
	};
	if (plan->device && plan->mount_type && plan->mount_options &&
	    plan->collection && plan->tree)
		return 0;
	pop_plan_free(plan);
	return -ENOMEM;
}

int pop_take_result(struct pop_job *job, bool in_guest, char **why)
{
	struct pop_outcome *o = &job->outcome;
	int ret = pop_outcome_read(job, in_guest);

	if (ret == -ENOENT) {
		pop_fail(job, "%s did not get as far as mounting",
			 in_guest ? "the guest" : "the child");
		return -1;
	}
	if (ret) {
		pop_fail(job, "the result of the session cannot be read: %s",
			 strerror(-ret));
		return -1;
	}
	if (o->done)
		return 0;
	if (o->err && o->stage && !strcmp(o->stage, "mount")) {
		*why = pop_format("kernel %s does not mount it: %s",
				  job->r->kernel ? job->r->kernel : "?",
				  strerror(o->err));
		return 1;
	}
	if (o->err && o->err_path && strcmp(o->err_path, "-"))
		pop_fail(job, "%s: %s %s: %s", o->stage ? o->stage : "?",
			 o->err_kind ? o->err_kind : "?", o->err_path,
			 strerror(o->err));
	else if (o->err)
		pop_fail(job, "%s: %s", o->stage ? o->stage : "?",
			 strerror(o->err));
	else
		pop_fail(job, "the kernel stopped during: %s",
			 o->stage ? o->stage : "start");
	return -1;
}

static int remove_one(const char *path, const struct stat *st, int type,
		      struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	remove(path);
	return 0;
}

static int make_dir(struct pop_job *job)
{
	const char *bases[] = { getenv("TMPDIR"), "/tmp", "/var/tmp" };

	for (size_t i = 0; i < sizeof(bases) / sizeof(bases[0]); i++) {
		char *real;

		if (!bases[i] || !(real = realpath(bases[i], NULL)))
			continue;
		/* It is part of a kernel's command line, which cannot quote. */
		if (!strpbrk(real, " \t\n\"',:=%"))
			job->dir = pop_format("%s/fsassay-XXXXXX", real);
		free(real);
		if (job->dir && mkdtemp(job->dir))
			break;
		free(job->dir);
		job->dir = NULL;
	}
	if (!job->dir) {
		pop_fail(job, "no temporary directory can be made");
		return -1;
	}
	job->dir_fd = open(job->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (job->dir_fd < 0) {
		pop_fail(job, "%s: %s", job->dir, strerror(errno));
		return -1;
	}
	return 0;
}

static int one_engine(struct pop_job *job, enum fsa_populate_engine engine,
		      char **why)
{
	static int (*const run[])(struct pop_job *, char **) = {
		[FSA_POPULATE_HOST] = pop_engine_host,
		[FSA_POPULATE_UML] = pop_engine_uml,
		[FSA_POPULATE_LIB] = pop_engine_lib,
	};

	job->r->engine = engine;
	return run[engine](job, why);
}

/* The next engine starts as if there had been none before. */
static void forget_engine(struct pop_job *job)
{
	unlinkat(job->dir_fd, POP_RESULT_FILE, 0);
	unlinkat(job->dir_fd, POP_PROGRESS_FILE, 0);
	pop_outcome_free(&job->outcome);
	free(job->r->kernel);
	job->r->kernel = NULL;
	while (job->r->time_count &&
	       strcmp(job->r->times[job->r->time_count - 1].phase, "mkfs"))
		job->r->time_count--;
}

static void set_reason(struct pop_job *job, const char *others)
{
	if (job->o->engine != FSA_POPULATE_AUTO)
		job->r->engine_reason = strdup("as asked for");
	else if (others)
		job->r->engine_reason = strdup(others);
	else
		job->r->engine_reason = strdup(job->fs->lib_first ?
			"no kernel as released has a driver" :
			"the first choice");
}

/* Tries the engines in turn. */
static int run_engine(struct pop_job *job)
{
	static const enum fsa_populate_engine orders[2][3] = {
		{ FSA_POPULATE_HOST, FSA_POPULATE_UML, FSA_POPULATE_LIB },
		{ FSA_POPULATE_LIB, FSA_POPULATE_HOST, FSA_POPULATE_UML },
	};
	enum fsa_populate_engine wanted = job->o->engine;
	char *reason = NULL;

	job->old_times = job->fs->ext && pop_ext_revision_0(job->image);
	for (size_t i = 0; i < 3; i++) {
		enum fsa_populate_engine engine =
			orders[job->fs->lib_first][i];
		char *why = NULL, *both;
		int ret;

		if (wanted != FSA_POPULATE_AUTO && wanted != engine)
			continue;
		ret = one_engine(job, engine, &why);
		if (ret <= 0) {
			set_reason(job, reason);
			free(reason);
			free(why);
			return ret;
		}
		forget_engine(job);
		/* Why those before were not it. */
		both = pop_format("%s%s%s: %s", reason ? reason : "",
				  reason ? "; " : "",
				  fsa_populate_engine_name(engine),
				  why ? why : "?");
		free(why);
		free(reason);
		reason = both;
	}
	pop_fail(job, "no engine can fill it: %s", reason ? reason : "?");
	free(reason);
	return -1;
}

static bool stop_packing(void *ctx)
{
	return pop_interrupted(ctx);
}

/* The tree to clone, packed if it is not yet. */
static int take_tree(struct pop_job *job)
{
	const char *from = job->o->tree;
	char *why;
	int ret;

	if (!from)
		return 0;
	if (pop_is_packed_tree(from)) {
		job->tree_name = realpath(from, NULL);
	} else {
		job->tree_name = pop_format("%s/tree", job->dir);
		if (job->o->progress)
			job->o->progress(job->o->ctx, "packing the tree", 0, 0);
		if (job->tree_name && pop_pack_tree(from, job->tree_name,
						    stop_packing, job, &why)) {
			pop_fail(job, "%s: %s", from, why ? why : "?");
			free(why);
			return -1;
		}
	}
	ret = job->tree_name ? pop_tree_load(&job->tree, job->tree_name) :
		-ENOMEM;
	if (ret) {
		pop_fail(job, "%s: %s", from, strerror(-ret));
		return -1;
	}
	job->args.tree = &job->tree;
	/* What --files is for other collections. */
	job->args.files = job->tree.files;
	return 0;
}

static int build(struct pop_job *job)
{
	char *manifest = NULL;
	int ret;

	if (make_dir(job) || take_tree(job))
		return -1;
	job->r->size = job->o->size ? job->o->size : pop_default_size(job);
	if (pop_add_images(job))
		return -1;
	if (job->o->progress)
		job->o->progress(job->o->ctx, "mkfs", 0, 0);
	/* Where mkfs is the library, it comes with the tree. */
	if (!(job->o->engine == FSA_POPULATE_LIB && job->fs->lib &&
	      job->fs->lib->make) && pop_mkfs(job))
		return -1;
	if (run_engine(job))
		return -1;
	if (job->o->progress)
		job->o->progress(job->o->ctx, "manifest", 0, 0);
	if (!job->o->no_manifest) {
		manifest = pop_make_beside(job, job->r->manifest, 0);
		if (!manifest)
			return -1;
	}
	ret = pop_manifest(job, manifest);
	if (!ret) {
		int err = pop_dig_holes(job, job->image);

		if (err && err != -EINTR) {
			pop_fail(job, "%s: %s", job->o->output, strerror(-err));
			ret = -1;
		}
	}
	if (!ret && pop_interrupted(job)) {
		pop_fail(job, "interrupted");
		ret = -1;
	}
	if (!ret)
		ret = pop_put_in_place(job, manifest);
	if (ret && manifest)
		unlink(manifest);
	free(manifest);
	return ret;
}

static void clean_up(struct pop_job *job, bool failed)
{
	pop_free_images(job, failed && !job->remove);
	if (job->dir_fd >= 0)
		close(job->dir_fd);
	if (job->dir)
		nftw(job->dir, remove_one, 8, FTW_PHYS | FTW_DEPTH |
		     FTW_MOUNT);
	free(job->dir);
	free(job->tree_name);
	pop_tree_free(&job->tree);
	pop_outcome_free(&job->outcome);
}

/* Empties an image where it lies. */
static int empty(struct pop_job *job)
{
	if (make_dir(job) || take_tree(job))
		return -1;
	if (pop_take_images(job))
		return -1;
	return run_engine(job);
}

/* With signals held back. */
static enum fsa_populate_status run_job(struct pop_job *job,
					int (*work)(struct pop_job *job))
{
	enum fsa_populate_status status;
	sigset_t held;

	sigemptyset(&held);
	for (size_t i = 0; i < sizeof(held_signals) / sizeof(int); i++) {
		struct sigaction now;

		/* Holding back one that is ignored would bring it to life. */
		if (!sigaction(held_signals[i], NULL, &now) &&
		    now.sa_handler != SIG_IGN)
			sigaddset(&held, held_signals[i]);
	}
	pthread_sigmask(SIG_BLOCK, &held, &job->old_mask);
	job->signals = signalfd(-1, &held, SFD_CLOEXEC | SFD_NONBLOCK);
	if (job->signals < 0) {
		pop_fail(job, "signalfd: %s", strerror(errno));
		status = FSA_POPULATE_FAILED;
	} else {
		status = work(job) ? FSA_POPULATE_FAILED : FSA_POPULATE_OK;
		for (size_t i = 0; i < FSA_POPULATE_WHENS; i++)
			job->r->statfs[i] = job->outcome.statfs[i];
		if (status != FSA_POPULATE_OK)
			pop_note_full(job);
		clean_up(job, status != FSA_POPULATE_OK);
		close(job->signals);
	}
	/* What was held back arrives now. */
	pthread_sigmask(SIG_SETMASK, &job->old_mask, NULL);
	return status;
}

enum fsa_populate_status
fsa_populate(const struct fsa_populate_options *options,
	     struct fsa_populate_result *result)
{
	struct pop_job job = {
		.o = options, .r = result, .dir_fd = -1, .tree = { .fd = -1 },
	};
	enum fsa_populate_status status;

	*result = (struct fsa_populate_result){ 0 };
	result->manifest = options->manifest ? strdup(options->manifest) :
		pop_format("%s.manifest.json", options->output);
	if (!result->manifest)
		return FSA_POPULATE_FAILED;
	status = pop_check_options(&job);
	return status ? status : run_job(&job, build);
}

enum fsa_populate_status
fsa_populate_remove(const struct fsa_populate_options *options,
		    struct fsa_populate_result *result)
{
	struct pop_job job = {
		.o = options, .r = result, .dir_fd = -1, .tree = { .fd = -1 },
		.remove = true,
	};
	enum fsa_populate_status status;

	*result = (struct fsa_populate_result){ 0 };
	status = pop_check_removal(&job);
	return status ? status : run_job(&job, empty);
}

int fsa_populate_pack(const char *from, const char *name,
		      bool (*stop)(void *ctx), void *ctx, char **why)
{
	return pop_pack_tree(from, name, stop, ctx, why);
}

bool fsa_populate_need(const struct fsa_populate_options *options,
		       uint64_t *bytes, uint64_t *inodes)
{
	struct pop_collection_args args = {
		.name = options->collection, .files = options->files,
		.file_size = options->file_size, .clones = options->clones,
	};
	const struct pop_collection *c = pop_collection_complete(&args);
	struct pop_tree tree = { .fd = -1 };

	if (!c)
		return false;
	if (options->tree && pop_is_packed_tree(options->tree) &&
	    !pop_tree_load(&tree, options->tree))
		args.tree = &tree;
	c->need(&args, bytes, inodes);
	pop_tree_free(&tree);
	return true;
}

void fsa_populate_result_free(struct fsa_populate_result *r)
{
	free(r->engine_reason);
	free(r->kernel);
	free(r->mkfs_command);
	free(r->mkfs_version);
	free(r->mount_options);
	free(r->manifest);
	free(r->df);
	free(r->error);
	free(r->log);
	*r = (struct fsa_populate_result){ 0 };
}

const char *fsa_populate_engine_name(enum fsa_populate_engine engine)
{
	static const char *const names[] = { "auto", "host", "uml", "lib" };

	return (size_t)engine < 4 ? names[engine] : "?";
}

const char *fsa_populate_fs_name(size_t index)
{
	const struct pop_fs *fs = pop_fs_at(index);

	return fs ? fs->name : NULL;
}

const char *fsa_populate_collection_name(size_t index, const char **what)
{
	const struct pop_collection *c = pop_collection_at(index);

	if (c && what)
		*what = c->what;
	return c ? c->name : NULL;
}
