/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The three hashes that order names in a directory. What they compute is fixed by what is on disks; bytes
 * count as signed and all arithmetic is modulo 2^32.
 */
#include "reiserfs.h"

static uint32_t byte_of(const uint8_t *name, size_t i)
{
	return (uint32_t)(int32_t)(int8_t)name[i];
}

static uint32_t r5(const uint8_t *name, size_t length)
{
	uint32_t a = 0;

	for (size_t i = 0; i < length; i++) {
		uint32_t c = byte_of(name, i);
		/* An arithmetic shift by four to the right. */
		uint32_t shifted = c >> 4 | (c & 0x80000000u ? 0xf0000000u : 0);

		a = (a + (c << 4) + shifted) * 11;
	}
	return a;
}

/* Each byte counts by its distance from the end, as a power of ten; what follows the name is fixed filling. */
static uint32_t yura(const uint8_t *name, size_t length)
{
	uint32_t a = 0, power = 1;

	for (size_t i = length; i-- > 0; power *= 10)
		a += (byte_of(name, i) - 48) * power;
	/* Filling of zeros up to 40, then position numbers, all with the weight 1. */
	for (size_t i = length > 40 ? length : 40; i < 256; i++)
		a += (uint32_t)i;
	return a << 7;
}

struct tea { uint32_t h0, h1; };

static void tea_rounds(struct tea *t, const uint32_t m[4], unsigned rounds)
{
	uint32_t sum = 0, b0 = t->h0, b1 = t->h1;

	while (rounds--) {
		sum += 0x9e3779b9u;
		b0 += ((b1 << 4) + m[0]) ^ (b1 + sum) ^ ((b1 >> 5) + m[1]);
		b1 += ((b0 << 4) + m[2]) ^ (b0 + sum) ^ ((b0 >> 5) + m[3]);
	}
	t->h0 += b0;
	t->h1 += b1;
}

static uint32_t tea_word(const uint8_t *p)
{
	return byte_of(p, 0) | byte_of(p, 1) << 8 | byte_of(p, 2) << 16 | byte_of(p, 3) << 24;
}

static uint32_t tea(const uint8_t *name, size_t length)
{
	struct tea t = { 0x9464a485u, 0x542e1a94u };
	uint32_t pad, m[4];
	size_t words;

	pad = (uint32_t)length | (uint32_t)length << 8;
	pad |= pad << 16;
	for (; length >= 16; length -= 16, name += 16) {
		for (unsigned k = 0; k < 4; k++)
			m[k] = tea_word(name + 4 * k);
		tea_rounds(&t, m, 6);
	}
	words = length / 4;
	for (size_t k = 0; k < 4; k++)
		m[k] = k < words ? tea_word(name + 4 * k) : pad;
	/* Bytes left over are pushed into the first word that is not full; those behind it stay filling. */
	for (size_t i = 4 * words; i < length; i++)
		m[words] = m[words] << 8 | byte_of(name, i);
	tea_rounds(&t, m, 10);
	return t.h0 ^ t.h1;
}

bool rfs_hash_known(uint32_t hash)
{
	return hash == RFS_HASH_TEA || hash == RFS_HASH_YURA || hash == RFS_HASH_R5;
}

uint32_t rfs_hash(uint32_t hash, const uint8_t *name, size_t length)
{
	uint32_t h = hash == RFS_HASH_TEA ? tea(name, length) : hash == RFS_HASH_YURA ? yura(name, length) : r5(name, length);

	h &= RFS_HASH_MASK;
	/* "." and ".." have the two lowest values, so 0 is not for others. */
	return h ? h : 128;
}
