/* SPDX-License-Identifier: GPL-2.0-only */
#include "bitset.h"

#include <stdlib.h>
#include <string.h>

/* Stands for a chunk of ones; only its address is used. */
static uint64_t full_marker;
#define FULL (&full_marker)

bool bitset_init(struct bitset *set, uint64_t bits)
{
	size_t n = (size_t)(bits / BITSET_CHUNK_BITS + (bits % BITSET_CHUNK_BITS != 0));

	memset(set, 0, sizeof(*set));
	set->bits = bits;
	set->chunks = n;
	set->chunk = calloc(n ? n : 1, sizeof(*set->chunk));
	set->population = calloc(n ? n : 1, sizeof(*set->population));
	set->heap_bytes = n * (sizeof(*set->chunk) + sizeof(*set->population));
	if (set->chunk && set->population)
		return true;
	bitset_release(set);
	return false;
}

void bitset_release(struct bitset *set)
{
	if (set->chunk)
		for (size_t i = 0; i < set->chunks; i++)
			if (set->chunk[i] != FULL)
				free(set->chunk[i]);
	free(set->chunk);
	free(set->population);
	memset(set, 0, sizeof(*set));
}

/* How many bits chunk `c` has: all but the last have BITSET_CHUNK_BITS. */
static uint32_t chunk_bits(const struct bitset *set, size_t c)
{
	uint64_t left = set->bits - (uint64_t)c * BITSET_CHUNK_BITS;

	return left < BITSET_CHUNK_BITS ? (uint32_t)left : BITSET_CHUNK_BITS;
}

/* Bits [from, to) of a word, to <= 64. */
static uint64_t word_mask(uint32_t from, uint32_t to)
{
	uint64_t high = to == 64 ? ~UINT64_C(0) : (UINT64_C(1) << to) - 1;

	return high & (~UINT64_C(0) << from);
}

/* Gives chunk `c` words of its own, with the value it stood for. */
static bool materialise(struct bitset *set, size_t c)
{
	uint64_t *words;

	if (set->chunk[c] && set->chunk[c] != FULL)
		return true;
	words = malloc(BITSET_CHUNK_WORDS * sizeof(*words));
	if (!words)
		return false;
	memset(words, set->chunk[c] == FULL ? 0xff : 0, BITSET_CHUNK_WORDS * sizeof(*words));
	set->chunk[c] = words;
	set->heap_bytes += BITSET_CHUNK_WORDS * sizeof(*words);
	return true;
}

/* Replaces a chunk's words by a marker when all its bits are alike. */
static void fold(struct bitset *set, size_t c)
{
	uint64_t *to;

	if (set->population[c] == 0)
		to = NULL;
	else if (set->population[c] == chunk_bits(set, c))
		to = FULL;
	else
		return;
	if (set->chunk[c] && set->chunk[c] != FULL) {
		free(set->chunk[c]);
		set->heap_bytes -= BITSET_CHUNK_WORDS * sizeof(uint64_t);
	}
	set->chunk[c] = to;
}

struct again {
	void (*fn)(void *arg, uint64_t start, uint64_t count);
	void *arg;
	uint64_t start, count;	/* the run being gathered */
};

static void again_add(struct again *a, uint64_t start, uint64_t count)
{
	if (!a->fn)
		return;
	if (a->count && a->start + a->count == start) {
		a->count += count;
		return;
	}
	if (a->count)
		a->fn(a->arg, a->start, a->count);
	a->start = start;
	a->count = count;
}

static void again_word(struct again *a, uint64_t first_bit, uint64_t old)
{
	while (old && a->fn) {
		unsigned from = (unsigned)__builtin_ctzll(old);
		uint64_t rest = ~(old >> from);
		unsigned length = rest ? (unsigned)__builtin_ctzll(rest) : 64;

		if (length > 64 - from)
			length = 64 - from;
		again_add(a, first_bit + from, length);
		old &= ~word_mask(from, from + length);
	}
}

bool bitset_set(struct bitset *set, uint64_t start, uint64_t count, uint64_t *fresh,
		void (*again)(void *arg, uint64_t start, uint64_t count), void *arg)
{
	struct again a = { .fn = again, .arg = arg };
	uint64_t added = 0;

	while (count) {
		size_t c = (size_t)(start / BITSET_CHUNK_BITS);
		uint32_t from = (uint32_t)(start % BITSET_CHUNK_BITS);
		uint32_t bits = chunk_bits(set, c), n = bits - from;

		if (count < n)
			n = (uint32_t)count;
		if (set->chunk[c] == FULL) {
			again_add(&a, start, n);
		} else if (!set->chunk[c] && n == bits) {
			set->population[c] = (uint16_t)bits;
			set->chunk[c] = FULL;
			added += n;
		} else {
			uint32_t gained = 0;

			if (!materialise(set, c))
				return false;
			for (uint32_t at = from; at < from + n;) {
				uint32_t w = at / 64, lo = at % 64;
				uint32_t hi = from + n - w * 64 > 64 ? 64 : from + n - w * 64;
				uint64_t mask = word_mask(lo, hi);
				uint64_t old = set->chunk[c][w] & mask;

				gained += hi - lo;
				if (old) {
					again_word(&a, (uint64_t)c * BITSET_CHUNK_BITS + w * 64, old);
					gained -= (uint32_t)__builtin_popcountll(old);
				}
				set->chunk[c][w] |= mask;
				at = w * 64 + hi;
			}
			set->population[c] = (uint16_t)(set->population[c] + gained);
			added += gained;
			fold(set, c);
		}
		start += n;
		count -= n;
	}
	if (a.fn && a.count)
		a.fn(a.arg, a.start, a.count);
	if (fresh)
		*fresh = added;
	return true;
}

bool bitset_clear(struct bitset *set, uint64_t start, uint64_t count)
{
	while (count) {
		size_t c = (size_t)(start / BITSET_CHUNK_BITS);
		uint32_t from = (uint32_t)(start % BITSET_CHUNK_BITS);
		uint32_t n = chunk_bits(set, c) - from;

		if (count < n)
			n = (uint32_t)count;
		if (set->chunk[c]) {
			uint32_t lost = 0;

			if (!materialise(set, c))
				return false;
			for (uint32_t at = from; at < from + n;) {
				uint32_t w = at / 64, lo = at % 64;
				uint32_t hi = from + n - w * 64 > 64 ? 64 : from + n - w * 64;
				uint64_t mask = word_mask(lo, hi);

				lost += (uint32_t)__builtin_popcountll(set->chunk[c][w] & mask);
				set->chunk[c][w] &= ~mask;
				at = w * 64 + hi;
			}
			set->population[c] = (uint16_t)(set->population[c] - lost);
			fold(set, c);
		}
		start += n;
		count -= n;
	}
	return true;
}

bool bitset_test(const struct bitset *set, uint64_t bit)
{
	const uint64_t *words = set->chunk[bit / BITSET_CHUNK_BITS];
	uint32_t b = (uint32_t)(bit % BITSET_CHUNK_BITS);

	if (!words || words == FULL)
		return words == FULL;
	return words[b / 64] >> (b % 64) & 1;
}

bool bitset_run(const struct bitset *set, uint64_t bit, uint64_t limit, uint64_t *run)
{
	bool value = bitset_test(set, bit);
	uint64_t at = bit, stop = limit < set->bits - bit ? bit + limit : set->bits;

	while (at < stop) {
		size_t c = (size_t)(at / BITSET_CHUNK_BITS);
		uint64_t end = (uint64_t)c * BITSET_CHUNK_BITS + chunk_bits(set, c);
		const uint64_t *words = set->chunk[c];

		if (!words || words == FULL) {
			if ((words == FULL) != value)
				break;
			at = end;
			continue;
		}
		while (at < end) {
			uint32_t b = (uint32_t)(at % BITSET_CHUNK_BITS);
			uint64_t w = words[b / 64] >> (b % 64);
			unsigned same, left = 64 - b % 64;

			if (value)
				w = ~w;
			same = w ? (unsigned)__builtin_ctzll(w) : 64;
			if (same > left)
				same = left;
			at += same;
			if (at > end)
				at = end;
			if (same < left && at < end)
				goto done;
		}
	}
done:
	*run = (at < stop ? at : stop) - bit;
	return value;
}
