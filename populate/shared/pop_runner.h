/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Between a collection and a writer: counts, notes what is refused, syncs
 * every so many files, reports progress, stops when told to.
 */
#ifndef FSA_POP_RUNNER_H
#define FSA_POP_RUNNER_H

#include "collection.h"
#include "pop_names.h"

/* A writer of operations; apply() and sync() return 0 or a negative errno. */
struct pop_writer {
	int (*apply)(struct pop_writer *w, const struct pop_op *op);
	int (*sync)(struct pop_writer *w);	/* whole filesystem */
	bool reads;		/* takes POP_COPY, POP_DIGEST, POP_RELINK */
	bool no_links;		/* takes no POP_LINK, so none is tried in two steps */
};

struct pop_refusal {
	uint64_t index;		/* of the operation, from 0 */
	int err;		/* positive errno */
};

struct pop_run {
	/* set by the caller */
	struct pop_writer *writer;
	uint64_t sync_every;	/* files; 0: never */
	/* May be NULL; a non-zero return stops with -EINTR. */
	int (*tick)(void *ctx, uint64_t files);
	/* May be NULL; the time from here on is of this phase. */
	void (*phase)(void *ctx, const char *name);
	void *ctx;

	/* results */
	uint64_t ops;
	uint64_t files;		/* regular files created */
	uint64_t bytes;		/* of content written */
	struct pop_refusal *refusals;
	size_t refusal_count, refusal_room;
	struct pop_names absent;	/* refused names, with their errno */
	/* where it stopped, when it did: free with pop_run_free() */
	int failed_err;
	enum pop_op_kind failed_kind;
	char *failed_path;
};

/* Returns 0 or a negative errno, with the failed_* fields set. */
int pop_run(struct pop_run *run, const struct pop_collection *c,
	    const struct pop_collection_args *args);
void pop_run_free(struct pop_run *run);

#endif
