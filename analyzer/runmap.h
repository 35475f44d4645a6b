/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The map of an image: stretches in offset order that cover every byte exactly once. What is claimed comes
 * from a walk with owners, the rest from the closed ledger. Where several owners share bytes, the one that
 * claimed them first stands for them.
 */
#ifndef FSA_ANALYZER_RUNMAP_H
#define FSA_ANALYZER_RUNMAP_H

#include "open.h"

struct runmap_tile {
	unsigned device;
	uint64_t offset, length;	/* bytes */
	enum fsa_purpose purpose;
	const char *detail;		/* in the format's words, or NULL */
	const char *object;		/* the owner's kind, or NULL when nobody owns it */
	uint64_t number;		/* the owner's number, or FSA_NO_NUMBER */
	bool shared;			/* with others, in part or in whole */
	bool unexplained;		/* claimed, but by no owner that could be found again */
};

typedef enum fsa_status (*runmap_fn)(void *arg, const struct runmap_tile *tile);

/* Sums of what was handed out: the proof that the tiles are the ledger. */
struct runmap_sums {
	uint64_t purpose[FSA_PURPOSES];
	uint64_t total;
	uint64_t unexplained;
};

/*
 * Hands out the tiles of all devices. `ledger` is the closed one of an audit of the same filesystem. Memory
 * is bounded: a map of very many stretches is made by several walks.
 */
enum fsa_status runmap_walk(const struct opened *opened, const struct fsa_ledger *ledger, runmap_fn tile,
			    void *arg, struct runmap_sums *sums);

/* For a test of the bound: as runmap_walk, with at most about `limit` stretches in memory. */
enum fsa_status runmap_walk_within(const struct opened *opened, const struct fsa_ledger *ledger, size_t limit,
				   runmap_fn tile, void *arg, struct runmap_sums *sums);

#endif
