/* SPDX-License-Identifier: GPL-2.0-only */
/* The engine that fills in process, through the format's own library. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "pop_job.h"

struct pop_stamp pop_now(void)
{
	struct timespec ts;
	struct rusage ru;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	getrusage(RUSAGE_SELF, &ru);
	return (struct pop_stamp){
		ts.tv_sec * INT64_C(1000000000) + ts.tv_nsec,
		ru.ru_utime.tv_sec * INT64_C(1000000000) +
			ru.ru_utime.tv_usec * 1000,
		ru.ru_stime.tv_sec * INT64_C(1000000000) +
			ru.ru_stime.tv_usec * 1000,
	};
}

void pop_add_time_since(struct pop_job *job, const char *phase,
			const struct pop_stamp *from)
{
	struct pop_stamp to = pop_now();

	pop_add_time(job, phase, to.real - from->real, to.user - from->user,
		     to.sys - from->sys, false);
}

int pop_run_tick(void *ctx, uint64_t files)
{
	struct pop_job *job = ctx;

	if (job->o->progress)
		job->o->progress(job->o->ctx, "files", files, 0);
	return pop_interrupted(job);
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
	struct pop_run run = {
		.sync_every = job->o->sync_every, .tick = pop_run_tick,
		.ctx = job,
	};
	struct pop_stamp from = pop_now();
	char text[256] = "";
	int ret;

	if (!lib) {
		*why = pop_format("no library fills %s", job->fs->name);
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
	ret = pop_run(&run, job->collection, &job->args);
	pop_add_time_since(job, "write", &from);
	from = pop_now();
	if (lib->close(run.writer, ret, text, sizeof(text))) {
		pop_fail(job, "%s: %s", lib->library, text);
		ret = -EIO;
	} else if (ret) {
		pop_fail_run(job, &run, ret, text);
	}
	if (!ret && lib->finish)
		ret = lib->finish(job);
	pop_add_time_since(job, "sync", &from);
	pop_take_run(job, &run);
	return ret ? -1 : 0;
}
