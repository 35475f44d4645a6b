/* SPDX-License-Identifier: GPL-2.0-only */
/* Seeded numbers and seeded file content; the same on every machine. */
#ifndef FSA_POP_RAND_H
#define FSA_POP_RAND_H

#include <stddef.h>
#include <stdint.h>

struct pop_rand {
	uint64_t state;
};

void pop_rand_init(struct pop_rand *r, uint64_t seed);
uint64_t pop_rand_next(struct pop_rand *r);

/* A number in [0, limit), limit > 0. */
uint64_t pop_rand_below(struct pop_rand *r, uint64_t limit);

/* A seed for one thing within a seeded whole. */
uint64_t pop_seed_of(uint64_t seed, const char *path);

/*
 * The bytes at [offset, offset + len) of the content with this seed.  Any
 * piece can be made without the ones before it, so that a sparse file costs
 * what it holds.
 */
void pop_content(uint64_t seed, uint64_t offset, void *buf, size_t len);

#endif
