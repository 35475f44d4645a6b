/* SPDX-License-Identifier: GPL-2.0-only */
/* The engine that fills in process, through the format's own library. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "pop_job.h"

struct stamp {
	int64_t real, user, sys;
};

static struct stamp now(void)
{
	struct timespec ts;
	struct rusage ru;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	getrusage(RUSAGE_SELF, &ru);
	return (struct stamp){
		ts.tv_sec * INT64_C(1000000000) + ts.tv_nsec,
		ru.ru_utime.tv_sec * INT64_C(1000000000) +
			ru.ru_utime.tv_usec * 1000,
		ru.ru_stime.tv_sec * INT64_C(1000000000) +
			ru.ru_stime.tv_usec * 1000,
	};
}

static void add_time(struct pop_job *job, const char *phase,
		     const struct stamp *from)
{
	struct stamp to = now();

	pop_add_time(job, phase, to.real - from->real, to.user - from->user,
		     to.sys - from->sys, false);
}

static int tick(void *ctx, uint64_t files)
{
	struct pop_job *job = ctx;

	if (job->o->progress)
		job->o->progress(job->o->ctx, "files", files, 0);
	return pop_interrupted(job);
}

int pop_engine_lib(struct pop_job *job, char **why)
{
	const struct pop_lib *lib = job->fs->lib;
	struct pop_run run = {
		.sync_every = job->o->sync_every, .tick = tick, .ctx = job,
	};
	struct stamp from = now();
	char text[256] = "";
	int ret;

	if (!lib) {
		*why = pop_format("no library fills %s", job->fs->name);
		return 1;
	}
	ret = lib->open(job->image, &run.writer, text, sizeof(text));
	if (ret == -EOPNOTSUPP) {
		*why = pop_format("%s", text);
		return 1;
	}
	if (ret) {
		pop_fail(job, "%s: %s", lib->library, text);
		return -1;
	}
	ret = pop_run(&run, job->collection, &job->args);
	add_time(job, "write", &from);
	from = now();
	if (lib->close(run.writer, ret, text, sizeof(text))) {
		pop_fail(job, "%s: %s", lib->library, text);
		ret = -EIO;
	} else if (ret == -EINTR) {
		pop_fail(job, "interrupted");
	} else if (ret) {
		pop_fail(job, "%s: %s %s: %s", lib->library,
			 pop_op_kind_name(run.failed_kind),
			 run.failed_path ? run.failed_path : "",
			 *text ? text : strerror(-ret));
	}
	if (!ret && lib->finish)
		ret = lib->finish(job);
	add_time(job, "sync", &from);
	job->r->operations = run.ops;
	job->r->files = run.files;
	job->r->bytes = run.bytes;
	job->outcome.refusals = run.refusals;
	job->outcome.refusal_count = run.refusal_count;
	run.refusals = NULL;
	pop_run_free(&run);
	return ret ? -1 : 0;
}
