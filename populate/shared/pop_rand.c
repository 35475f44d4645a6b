/* SPDX-License-Identifier: GPL-2.0-only */
/* Seeded numbers: splitmix64, as a stream and as a function of position. */
#include <string.h>

#include "pop_rand.h"

#define GOLDEN	UINT64_C(0x9e3779b97f4a7c15)

static uint64_t mix(uint64_t z)
{
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

void pop_rand_init(struct pop_rand *r, uint64_t seed)
{
	r->state = mix(seed + GOLDEN);
}

uint64_t pop_rand_next(struct pop_rand *r)
{
	r->state += GOLDEN;
	return mix(r->state);
}

uint64_t pop_rand_below(struct pop_rand *r, uint64_t limit)
{
	/* The bias of the remainder is of no concern here. */
	return pop_rand_next(r) % limit;
}

uint64_t pop_seed_of(uint64_t seed, const char *path)
{
	uint64_t h = mix(seed ^ GOLDEN);

	for (; *path; path++)
		h = mix(h ^ (unsigned char)*path) + GOLDEN;
	return mix(h);
}

static void store_word(unsigned char *p, uint64_t word)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	memcpy(p, &word, sizeof(word));
#else
	for (unsigned int i = 0; i < 8; i++)
		p[i] = (unsigned char)(word >> (8 * i));
#endif
}

void pop_content(uint64_t seed, uint64_t offset, void *buf, size_t len)
{
	unsigned char *p = buf;
	uint64_t index = offset / 8;
	size_t skip = (size_t)(offset % 8);
	unsigned char word[8];

	if (skip && len) {
		size_t n = 8 - skip;

		if (n > len)
			n = len;
		store_word(word, mix(seed + index * GOLDEN));
		memcpy(p, word + skip, n);
		p += n;
		len -= n;
		index++;
	}
	for (; len >= 8; len -= 8, p += 8, index++)
		store_word(p, mix(seed + index * GOLDEN));
	if (len) {
		store_word(word, mix(seed + index * GOLDEN));
		memcpy(p, word, len);
	}
}
