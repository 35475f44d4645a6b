/* SPDX-License-Identifier: GPL-2.0-only */
/* Reading the result of a session. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pop_job.h"
#include "shared/pop_session.h"
#include "shared/pop_text.h"

#define FIELDS	16

static int grow(void **list, size_t count, size_t *room, size_t each)
{
	if (count == *room) {
		size_t more = *room ? *room * 2 : 256;
		void *p = realloc(*list, more * each);

		if (!p)
			return -ENOMEM;
		*list = p;
		*room = more;
	}
	return 0;
}

/* All fields from the second on, as unsigned numbers. */
static int numbers(char **field, int from, int count, uint64_t *out)
{
	for (int i = 0; i < count; i++)
		if (pop_text_u64(field[from + i], &out[i]))
			return -EINVAL;
	return 0;
}

static int take_refused(struct pop_outcome *o, char **field, int n)
{
	void *list = o->refusals;
	uint64_t v[2];

	if (n != 3 || numbers(field, 1, 2, v) || v[1] > INT32_MAX)
		return -EINVAL;
	if (grow(&list, o->refusal_count, &o->refusal_room,
		 sizeof(*o->refusals)))
		return -ENOMEM;
	o->refusals = list;
	o->refusals[o->refusal_count++] =
		(struct pop_refusal){ v[0], (int)v[1] };
	return 0;
}

static int take_st(struct pop_outcome *o, char **field, int n)
{
	void *list = o->st;
	uint64_t v[9], nsec;
	int64_t sec;
	char *path;

	if (n != 13 || numbers(field, 2, 3, v) || numbers(field, 6, 5, v + 4) ||
	    pop_text_s64(field[11], &sec) || pop_text_u64(field[12], &nsec))
		return -EINVAL;
	v[3] = strtoull(field[5], NULL, 8);
	if (grow(&list, o->st_count, &o->st_room, sizeof(*o->st)))
		return -ENOMEM;
	o->st = list;
	path = strdup(field[1]);
	if (!path)
		return -ENOMEM;
	o->st[o->st_count++] = (struct pop_st){
		.path = path, .ino = v[0], .blocks = v[1], .size = v[2],
		.mode = (uint32_t)v[3], .nlink = v[4], .uid = (uint32_t)v[5],
		.gid = (uint32_t)v[6], .major = (uint32_t)v[7],
		.minor = (uint32_t)v[8], .mtime = sec,
		.mtime_nsec = (uint32_t)nsec,
	};
	return 0;
}

static int take_observation(struct pop_outcome *o, char **field, int n)
{
	bool df = !strcmp(field[0], "df");
	static const char *const when[FSA_POPULATE_WHENS] = {
		[FSA_POPULATE_RW] = "rw", [FSA_POPULATE_RO] = "ro",
		[FSA_POPULATE_NEW] = "new",
		[FSA_POPULATE_UNSYNCED] = "unsynced",
	};
	size_t which = 0;
	uint64_t v[7];

	while (which < FSA_POPULATE_WHENS && strcmp(field[1], when[which]))
		which++;
	if (which == FSA_POPULATE_WHENS)
		return -EINVAL;

	if (df) {
		size_t kind = n == 4 && !strcmp(field[2], "i");

		if (n != 4)
			return -EINVAL;
		free(o->df[which][kind]);
		o->df[which][kind] = strdup(field[3]);
		return o->df[which][kind] ? 0 : -ENOMEM;
	}
	if (n != 9 || numbers(field, 2, 7, v))
		return -EINVAL;
	o->statfs[which] = (struct fsa_populate_statfs){
		true, v[0], v[1], v[2], v[3], v[4], v[5], v[6],
	};
	o->kernel = true;
	return 0;
}

static int take_line(struct pop_job *job, char **field, int n, bool in_guest)
{
	struct pop_outcome *o = &job->outcome;
	const char *key = field[0];
	uint64_t v[3];

	if (!strcmp(key, "done") && n == 1) {
		o->done = true;
	} else if (!strcmp(key, "stage") && n == 2) {
		free(o->stage);
		o->stage = strdup(field[1]);
	} else if (!strcmp(key, "kernel") && n == 2) {
		free(job->r->kernel);
		job->r->kernel = strdup(field[1]);
	} else if (!strcmp(key, "time") && n == 5) {
		if (numbers(field, 2, 3, v))
			return -EINVAL;
		pop_add_time(job, field[1], (int64_t)v[0], (int64_t)v[1],
			     (int64_t)v[2], in_guest);
	} else if (!strcmp(key, "read") && n == 3) {
		if (numbers(field, 2, 1, v))
			return -EINVAL;
		for (size_t i = 0; i < job->r->time_count; i++)
			if (!strcmp(job->r->times[i].phase, field[1])) {
				job->r->times[i].read_known = true;
				job->r->times[i].read = v[0];
			}
	} else if (!strcmp(key, "counts") && n == 4) {
		if (numbers(field, 1, 3, v))
			return -EINVAL;
		job->r->operations = v[0];
		job->r->files = v[1];
		job->r->bytes = v[2];
	} else if (!strcmp(key, "refused")) {
		return take_refused(o, field, n);
	} else if (!strcmp(key, "st")) {
		return take_st(o, field, n);
	} else if (!strcmp(key, "statfs") || (!strcmp(key, "df") && n > 2)) {
		return take_observation(o, field, n);
	} else if (!strcmp(key, "error") && n == 5) {
		if (numbers(field, 2, 1, v) || v[0] > INT32_MAX)
			return -EINVAL;
		o->err = (int)v[0];
		o->err_kind = strdup(field[3]);
		o->err_path = strdup(field[4]);
	} else {
		return -EINVAL;
	}
	return 0;
}

static int by_path(const void *a, const void *b)
{
	const struct pop_st *x = a, *y = b;

	return strcmp(x->path, y->path);
}

int pop_outcome_read(struct pop_job *job, bool in_guest)
{
	int fd = openat(job->dir_fd, POP_RESULT_FILE, O_RDONLY | O_CLOEXEC);
	char *line = NULL, *field[FIELDS];
	size_t room = 0;
	int ret = 0;
	FILE *f;

	if (fd < 0)
		return -errno;
	f = fdopen(fd, "r");
	if (!f) {
		close(fd);
		return -ENOMEM;
	}
	while (!ret && getline(&line, &room, f) > 0) {
		/* A line cut short is the last one of a killed session. */
		if (!strchr(line, '\n'))
			break;
		int n = pop_text_split(line, field, FIELDS);

		ret = n < 1 ? -EINVAL : take_line(job, field, n, in_guest);
	}
	free(line);
	fclose(f);
	if (job->outcome.st_count)
		qsort(job->outcome.st, job->outcome.st_count,
		      sizeof(*job->outcome.st), by_path);
	return ret;
}

void pop_outcome_free(struct pop_outcome *o)
{
	for (size_t i = 0; i < o->st_count; i++)
		free(o->st[i].path);
	for (size_t i = 0; i < FSA_POPULATE_WHENS; i++) {
		free(o->df[i][0]);
		free(o->df[i][1]);
	}
	free(o->st);
	free(o->refusals);
	free(o->stage);
	free(o->err_kind);
	free(o->err_path);
	*o = (struct pop_outcome){ 0 };
}
