/* SPDX-License-Identifier: GPL-2.0-only */
/* The engine that fills in process, through the format's own library. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "model.h"
#include "pop_job.h"
#include "shared/pop_stamp.h"

void pop_add_time_since(struct pop_job *job, const char *phase,
			const struct pop_stamp *from)
{
	struct pop_stamp t = pop_stamp_since(from);

	pop_add_time(job, phase, t.real, t.user, t.sys, false);
}

struct filling {
	struct pop_job *job;
	char phase[24];
	struct pop_stamp from;
};

static void next_phase(void *ctx, const char *name)
{
	struct filling *f = ctx;

	if (*f->phase)
		pop_add_time_since(f->job, f->phase, &f->from);
	snprintf(f->phase, sizeof(f->phase), "%s", name);
	f->from = pop_stamp_now();
}

int pop_run_tick(void *ctx, uint64_t files)
{
	struct pop_job *job = ctx;

	if (job->o->progress)
		job->o->progress(job->o->ctx, "files", files, 0);
	return pop_interrupted(job);
}

static int tick(void *ctx, uint64_t files)
{
	return pop_run_tick(((struct filling *)ctx)->job, files);
}

/*
 * Names come from the collection, children before their directories.  What
 * the filesystem had refused is not there to be removed.
 */
static int remove_all(struct pop_job *job, struct pop_writer *writer)
{
	struct pop_model m;
	int ret = pop_model_build(&m, job->collection, &job->args, NULL, 0);

	for (size_t i = m.count; !ret && i-- > 0;) {
		const struct pop_entry *e = &m.entries[i];
		struct pop_op op = {
			.kind = S_ISDIR(e->node->mode) ? POP_RMDIR :
				POP_UNLINK, .path = e->path,
		};

		if (!strcmp(e->path, "."))
			continue;
		ret = writer->apply(writer, &op);
		if (ret == -ENOENT)
			ret = 0;
		if (!ret && i % 64 == 0 && pop_interrupted(job))
			ret = -EINTR;
	}
	pop_model_free(&m);
	return ret;
}

void pop_fail_run(struct pop_job *job, const struct pop_run *run, int ret,
		  const char *text)
{
	const char *library = job->fs->lib->library;

	if (ret == -EINTR)
		pop_fail(job, "interrupted");
	else
		pop_fail(job, "%s: %s %s: %s", library,
			 pop_op_kind_name(run->failed_kind),
			 run->failed_path ? run->failed_path : "",
			 text && *text ? text : strerror(-ret));
}

void pop_take_run(struct pop_job *job, struct pop_run *run)
{
	job->r->operations = run->ops;
	job->r->files = run->files;
	job->r->bytes = run->bytes;
	job->outcome.refusals = run->refusals;
	job->outcome.refusal_count = run->refusal_count;
	run->refusals = NULL;
	pop_run_free(run);
}

int pop_engine_lib(struct pop_job *job, char **why)
{
	const struct pop_lib *lib = job->fs->lib;
	struct filling filling = { .job = job, .from = pop_stamp_now() };
	struct pop_run run = {
		.sync_every = job->o->sync_every, .tick = tick,
		.phase = next_phase, .ctx = &filling,
	};
	struct pop_stamp from;
	char text[256] = "";
	int ret;

	if (!lib) {
		*why = pop_format("no library fills %s", job->fs->name);
		return 1;
	}
	if (job->remove && !job->collection) {
		*why = pop_format("a library must know the collection to "
				  "remove it");
		return 1;
	}
	if (job->remove && lib->make) {
		*why = pop_format("mkfs does not remove");
		return 1;
	}
	if (job->o->mount_options || job->o->mount_type) {
		*why = pop_format("nothing is mounted, and so with no options");
		return 1;
	}
	if (lib->make)
		return lib->make(job, why);
	ret = lib->open(job->image, &run.writer, text, sizeof(text));
	if (ret == -EOPNOTSUPP) {
		*why = pop_format("%s", text);
		return 1;
	}
	if (ret) {
		pop_fail(job, "%s: %s", lib->library, text);
		return -1;
	}
	if (job->remove) {
		run.writer->reads = false;
		next_phase(&filling, "remove");
		ret = remove_all(job, run.writer);
	} else {
		/* A collection with phases begins with one. */
		next_phase(&filling, job->collection->clones ? "" : "write");
		ret = pop_run(&run, job->collection, &job->args);
	}
	next_phase(&filling, "");
	from = pop_stamp_now();
	if (lib->close(run.writer, ret, text, sizeof(text))) {
		pop_fail(job, "%s: %s", lib->library, text);
		ret = -EIO;
	} else if (ret) {
		pop_fail_run(job, &run, ret, text);
	}
	if (!ret && lib->finish && !job->remove)
		ret = lib->finish(job);
	pop_add_time_since(job, job->remove ? "remove-sync" : "sync", &from);
	pop_take_run(job, &run);
	return ret ? -1 : 0;
}
