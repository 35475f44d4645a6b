/* SPDX-License-Identifier: GPL-2.0-only */
/* Counts by number, for the few things that are counted at all: shared blocks, inodes with many links. */
#ifndef FSA_EXT_TALLY_H
#define FSA_EXT_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ext_tally_slot {
	uint64_t key;		/* 0: empty (no block or inode has that number) */
	int64_t value;
};

struct ext_tally {
	struct ext_tally_slot *slot;
	size_t slots;		/* power of two, or 0 */
	size_t count;
};

/* The value for `key`, made with `initial` when it is not there yet; NULL when out of memory. */
int64_t *ext_tally_at(struct ext_tally *t, uint64_t key, int64_t initial, bool *made);
/* NULL when it is not there. */
int64_t *ext_tally_find(const struct ext_tally *t, uint64_t key);
void ext_tally_free(struct ext_tally *t);

#endif
