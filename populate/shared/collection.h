/* SPDX-License-Identifier: GPL-2.0-only */
/* The collections: each is a function from a seed to a stream of operations. */
#ifndef FSA_POP_COLLECTION_H
#define FSA_POP_COLLECTION_H

#include "pop_op.h"
#include "pop_tree.h"

struct pop_collection_args {
	const char *name;
	uint64_t files;		/* 0: the collection's own number */
	uint64_t file_size;	/* bytes; 0: the collection's own */
	uint64_t seed;
	uint64_t clones;	/* beside the original; 0: the collection's own */
	const struct pop_tree *tree;	/* to clone; NULL: one from the seed */
};

struct pop_collection {
	const char *name;
	const char *what;	/* one line for a list */
	uint64_t files;		/* default number */
	uint64_t file_size;	/* of size collections, else 0 */
	uint64_t clones;	/* of tree collections, else 0 */
	bool takes_tree;
	int (*run)(const struct pop_collection_args *args,
		   struct pop_sink *sink);
	/* About what a filesystem must hold: bytes of data, and inodes. */
	void (*need)(const struct pop_collection_args *args,
		     uint64_t *bytes, uint64_t *inodes);
};

/* By index from 0, NULL behind the last one. */
const struct pop_collection *pop_collection_at(size_t index);
const struct pop_collection *pop_collection_find(const char *name);

/*
 * Fills the zero fields of args from the collection's defaults; returns the
 * collection, or NULL when there is none of that name.
 */
const struct pop_collection *
pop_collection_complete(struct pop_collection_args *args);

int pop_size_run(const struct pop_collection_args *args,
		 struct pop_sink *sink);
void pop_size_need(const struct pop_collection_args *args,
		   uint64_t *bytes, uint64_t *inodes);
int pop_mixed_run(const struct pop_collection_args *args,
		  struct pop_sink *sink);
void pop_mixed_need(const struct pop_collection_args *args,
		    uint64_t *bytes, uint64_t *inodes);
int pop_clones_run(const struct pop_collection_args *args,
		   struct pop_sink *sink);
void pop_clones_need(const struct pop_collection_args *args,
		     uint64_t *bytes, uint64_t *inodes);
int pop_small_run(const struct pop_collection_args *args,
		  struct pop_sink *sink);
void pop_small_need(const struct pop_collection_args *args,
		    uint64_t *bytes, uint64_t *inodes);

#endif
