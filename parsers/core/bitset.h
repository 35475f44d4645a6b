/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A sparse set of bits: chunks that are all zero or all one take no memory, so an empty 8 TiB filesystem
 * costs next to nothing and a full one at most one bit a block.
 */
#ifndef FSA_BITSET_H
#define FSA_BITSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bitset {
	uint64_t bits;		/* how many there are */
	size_t chunks;
	uint64_t **chunk;	/* NULL: all zero; bitset_full: all one; else BITSET_CHUNK_WORDS words */
	uint16_t *population;	/* bits set in each chunk */
	uint64_t heap_bytes;	/* what it holds now */
};

#define BITSET_CHUNK_BITS 32768u
#define BITSET_CHUNK_WORDS (BITSET_CHUNK_BITS / 64)

bool bitset_init(struct bitset *set, uint64_t bits);	/* false: out of memory */
void bitset_release(struct bitset *set);

/*
 * Sets [start, start + count). Runs that were set already are passed to `again` (which may be NULL) in
 * order; *fresh is the number of bits newly set. False: out of memory, the set is unspecified then.
 * The range must lie within the set.
 */
bool bitset_set(struct bitset *set, uint64_t start, uint64_t count, uint64_t *fresh,
		void (*again)(void *arg, uint64_t start, uint64_t count), void *arg);
bool bitset_clear(struct bitset *set, uint64_t start, uint64_t count);

bool bitset_test(const struct bitset *set, uint64_t bit);

/*
 * The value at `bit`, and in *run how many bits from there on have it too, looking no further than
 * `limit` bits. bit < bits, limit > 0.
 */
bool bitset_run(const struct bitset *set, uint64_t bit, uint64_t limit, uint64_t *run);

#endif
