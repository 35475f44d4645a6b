/* SPDX-License-Identifier: GPL-2.0-only */
/* What an engine leaves: refusals, and what the kernel said afterwards. */
#ifndef FSA_POP_OUTCOME_H
#define FSA_POP_OUTCOME_H

#include <stdbool.h>
#include <stdint.h>

#include "../include/populate.h"
#include "shared/pop_runner.h"

struct pop_st {
	char *path;
	uint64_t ino, blocks, size, nlink;
	uint32_t mode, uid, gid, major, minor;
	int64_t mtime;
	uint32_t mtime_nsec;
};

struct pop_outcome {
	bool kernel;		/* a kernel observed, the rest is filled */
	struct pop_refusal *refusals;
	size_t refusal_count, refusal_room;
	/* By enum fsa_populate_when; of df: -k, -i. */
	struct fsa_populate_statfs statfs[FSA_POPULATE_WHENS];
	char *df[FSA_POPULATE_WHENS][2];
	struct pop_st *st;		/* sorted by path */
	size_t st_count, st_room;
	/* of a session that failed */
	char *stage;
	int err;
	char *err_kind, *err_path;
	bool done;
};

/*
 * Reads the file of a session (see shared/pop_session.c); fills also the
 * kernel's release, times and counts through the callbacks' place: returns 0
 * or a negative errno.
 */
struct pop_job;
int pop_outcome_read(struct pop_job *job, bool in_guest);
void pop_outcome_free(struct pop_outcome *o);

#endif
