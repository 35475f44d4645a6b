/* SPDX-License-Identifier: GPL-2.0-only */
/* One call: check the options, mkfs, an engine, the manifest, put in place. */
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

#define MIB		(UINT64_C(1) << 20)
#define LOG_LENGTH	4096
#define MOST_CLONES	(FSA_POPULATE_TIMES - 16)

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

static uint64_t default_size(const struct pop_job *job)
{
	uint64_t bytes, inodes, size;

	job->collection->need(&job->args, &bytes, &inodes);
	/* What they need is counted in blocks of 4 KiB. */
	if (job->o->block_size > 4096)
		bytes += inodes * (job->o->block_size - 4096);
	size = 16 * MIB + bytes / 4 * 5 + inodes * 1024;
	if (size < job->fs->min_size)
		size = job->fs->min_size;
	/* mke2fs makes an inode for so many bytes, fewer on large ones. */
	if (job->fs->ext && size >= 512 * MIB && size / 16384 < inodes)
		size = inodes / 20 * 21 * 16384;
	return (size + 4 * MIB - 1) / (4 * MIB) * (4 * MIB);
}

static enum fsa_populate_status usage(struct pop_job *job, const char *why,
				      const char *what)
{
	pop_fail(job, "%s: %s", what, why);
	return FSA_POPULATE_USAGE;
}

static enum fsa_populate_status set_mount_options(struct pop_job *job)
{
	const struct fsa_populate_options *o = job->o;

	job->r->mount_options = pop_format("%s%s%s", job->fs->mount_options,
		*job->fs->mount_options && o->mount_options &&
		*o->mount_options ? "," : "",
		o->mount_options ? o->mount_options : "");
	return job->r->mount_options ? FSA_POPULATE_OK : FSA_POPULATE_FAILED;
}

static enum fsa_populate_status check_options(struct pop_job *job)
{
	const struct fsa_populate_options *o = job->o;
	const char *files[POP_IMAGES + 2] = { o->output, o->no_manifest ? NULL :
					      job->r->manifest,
					      o->log_device };
	struct stat st;

	job->fs = pop_fs_find(o->fs);
	if (!job->fs)
		return usage(job, "no such filesystem can be made", o->fs);
	job->args = (struct pop_collection_args){
		.name = o->collection, .files = o->files,
		.file_size = o->file_size, .seed = o->seed,
		.clones = o->clones,
	};
	job->collection = pop_collection_complete(&job->args);
	if (!job->collection)
		return usage(job, "there is no such collection",
			     o->collection);
	if (o->file_size && !job->collection->file_size)
		return usage(job, "the collection has no one file size",
			     o->collection);
	if (o->tree && !job->collection->takes_tree)
		return usage(job, "the collection takes no tree",
			     o->collection);
	if (o->clones && !job->collection->clones)
		return usage(job, "the collection has no clones",
			     o->collection);
	/* Each is a phase with a time of its own. */
	if (o->clones > MOST_CLONES)
		return usage(job, "more clones than can be told apart",
			     o->collection);
	if (o->block_size && !job->fs->block_option)
		return usage(job, "mkfs has no choice of block size", o->fs);
	if (o->features && !job->fs->features_option)
		return usage(job, "mkfs has no -O", o->fs);
	if (o->log_device && !job->fs->log_mount && !job->fs->log_mkfs)
		return usage(job, "an external log is not made", o->fs);
	if (o->device_count && !job->fs->device_mount)
		return usage(job, "it lies on one device only", o->fs);
	if (o->device_count > POP_IMAGES - 1)
		return usage(job, "so many further devices are too many",
			     o->devices[POP_IMAGES - 1]);
	for (size_t i = 0; i < o->device_count; i++)
		files[3 + i] = o->devices[i];
	for (size_t i = 0; i < POP_IMAGES + 2; i++) {
		for (size_t k = 0; files[i] && k < i; k++)
			if (files[k] && !strcmp(files[i], files[k]))
				return usage(job, "one file cannot be two",
					     files[i]);
		if (!files[i] || lstat(files[i], &st))
			continue;
		if (!S_ISREG(st.st_mode)) {
			pop_fail(job, "%s: exists and is not a regular file",
				 files[i]);
			return FSA_POPULATE_FAILED;
		}
		if (!o->force) {
			pop_fail(job, "%s: exists already", files[i]);
			return FSA_POPULATE_FAILED;
		}
	}
	job->r->times_kept = "all";
	return set_mount_options(job);
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
	job->r->size = job->o->size ? job->o->size : default_size(job);
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

static enum fsa_populate_status check_removal(struct pop_job *job)
{
	const struct fsa_populate_options *o = job->o;

	job->fs = pop_fs_find(o->fs);
	if (!job->fs)
		return usage(job, "no such filesystem can be made", o->fs);
	job->args = (struct pop_collection_args){
		.name = o->collection, .files = o->files,
		.file_size = o->file_size, .seed = o->seed,
		.clones = o->clones,
	};
	job->collection = o->collection ?
		pop_collection_complete(&job->args) : NULL;
	if (o->collection && !job->collection)
		return usage(job, "there is no such collection",
			     o->collection);
	return set_mount_options(job);
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
	status = check_options(&job);
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
	status = check_removal(&job);
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
