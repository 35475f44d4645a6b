/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The tree as the operations make it, with nothing written anywhere: what a
 * reader of the image has to find.
 */
#ifndef FSA_POP_MODEL_H
#define FSA_POP_MODEL_H

#include "shared/pop_runner.h"

struct pop_ranges {
	struct pop_range *list;	/* after pop_model_settle(): sorted, apart */
	size_t count, room;
};

struct pop_xattr {
	char *name;
	unsigned char *value;
	size_t len;
};

struct pop_node {
	uint32_t mode;		/* with its type */
	uint32_t uid, gid, major, minor;
	uint64_t size;
	struct pop_source source;
	uint64_t nlink;
	int64_t mtime;
	uint32_t mtime_nsec;
	char *target;
	struct pop_ranges written;
	struct pop_ranges unwritten;	/* preallocated, never written */
	struct pop_xattr *xattrs;	/* settled: sorted by name */
	size_t xattr_count, xattr_room;
	const char *first;	/* settled: the first of its names */
	char sha256[65];	/* "" until asked for */
};

struct pop_entry {
	char *path;		/* NULL: removed */
	struct pop_node *node;
};

/* One operation that was left out. */
struct pop_left_out {
	enum pop_op_kind kind;
	int err;
	char *path;
	char *name;		/* of an attribute, or NULL */
};

struct pop_model {
	struct pop_entry *entries;
	size_t count, room;
	size_t *slots;		/* hash of paths: index + 1 */
	size_t slot_count;
	struct pop_left_out *left_out;
	size_t left_out_count, left_out_room;
};

/*
 * By hand: begin, apply operations, settle. Functions return 0 or a negative
 * errno; settling drops removed entries and puts everything in order.
 */
int pop_model_begin(struct pop_model *m);
int pop_model_apply(struct pop_model *m, const struct pop_op *op);
int pop_model_settle(struct pop_model *m);

/* Before settling; NULL when it is not there. */
struct pop_entry *pop_model_find(struct pop_model *m, const char *path);

/*
 * Runs the collection again without the refused operations.  Returns 0 or a
 * negative errno; free the model in any case.
 */
int pop_model_build(struct pop_model *m, const struct pop_collection *c,
		    const struct pop_collection_args *args,
		    const struct pop_refusal *refusals, size_t count);
void pop_model_free(struct pop_model *m);

/* Largest size of which all bytes, holes too, are digested. */
#define POP_DIGEST_LIMIT	(UINT64_C(1) << 30)

/*
 * Digests a file: all of it up to that limit, above it only the written
 * ranges in their order.
 */
int pop_model_digest(struct pop_node *node, unsigned char *buf,
		     size_t buf_size);

#endif
