/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * On-disk integers and checked arithmetic.
 *
 * An on-disk integer is never swapped in place: it stays the bytes that the image holds and is converted
 * where it is used. Formats without a public header declare fields of the fsa_leNN / fsa_beNN types;
 * formats whose layout comes from a system header read through FSA_LE / FSA_BE, which take the field's
 * offset and size from that header and work on unaligned bytes of either host order.
 */
#ifndef FSA_BYTES_H
#define FSA_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct { uint8_t b[2]; } fsa_le16;
typedef struct { uint8_t b[4]; } fsa_le32;
typedef struct { uint8_t b[8]; } fsa_le64;
typedef struct { uint8_t b[2]; } fsa_be16;
typedef struct { uint8_t b[4]; } fsa_be32;
typedef struct { uint8_t b[8]; } fsa_be64;

static inline uint16_t fsa_get_le16(const void *p)
{
	const uint8_t *b = p;
	return (uint16_t)(b[0] | b[1] << 8);
}

static inline uint32_t fsa_get_le32(const void *p)
{
	const uint8_t *b = p;
	return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static inline uint64_t fsa_get_le64(const void *p)
{
	const uint8_t *b = p;
	return (uint64_t)fsa_get_le32(b) | (uint64_t)fsa_get_le32(b + 4) << 32;
}

static inline uint16_t fsa_get_be16(const void *p)
{
	const uint8_t *b = p;
	return (uint16_t)(b[0] << 8 | b[1]);
}

static inline uint32_t fsa_get_be32(const void *p)
{
	const uint8_t *b = p;
	return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | (uint32_t)b[3];
}

static inline uint64_t fsa_get_be64(const void *p)
{
	const uint8_t *b = p;
	return (uint64_t)fsa_get_be32(b) << 32 | (uint64_t)fsa_get_be32(b + 4);
}

static inline uint16_t fsa_le16v(fsa_le16 v) { return fsa_get_le16(v.b); }
static inline uint32_t fsa_le32v(fsa_le32 v) { return fsa_get_le32(v.b); }
static inline uint64_t fsa_le64v(fsa_le64 v) { return fsa_get_le64(v.b); }
static inline uint16_t fsa_be16v(fsa_be16 v) { return fsa_get_be16(v.b); }
static inline uint32_t fsa_be32v(fsa_be32 v) { return fsa_get_be32(v.b); }
static inline uint64_t fsa_be64v(fsa_be64 v) { return fsa_get_be64(v.b); }

/* `size` is 1, 2, 4 or 8 and a compile-time constant at every call, so this folds to one load. */
static inline uint64_t fsa_get_le(const void *p, size_t size)
{
	switch (size) {
	case 1: return *(const uint8_t *)p;
	case 2: return fsa_get_le16(p);
	case 4: return fsa_get_le32(p);
	default: return fsa_get_le64(p);
	}
}

static inline uint64_t fsa_get_be(const void *p, size_t size)
{
	switch (size) {
	case 1: return *(const uint8_t *)p;
	case 2: return fsa_get_be16(p);
	case 4: return fsa_get_be32(p);
	default: return fsa_get_be64(p);
	}
}

/* The value of `type`'s `field` in the on-disk bytes at `ptr`, as the unsigned type `as`. */
#define FSA_LE(as, ptr, type, field) \
	((as)fsa_get_le((const uint8_t *)(ptr) + offsetof(type, field), sizeof(((type *)0)->field)))
#define FSA_BE(as, ptr, type, field) \
	((as)fsa_get_be((const uint8_t *)(ptr) + offsetof(type, field), sizeof(((type *)0)->field)))

/* True and *sum / *product set when the result fits; false when it would overflow. */
static inline bool fsa_add(uint64_t a, uint64_t b, uint64_t *sum)
{
	return !__builtin_add_overflow(a, b, sum);
}

static inline bool fsa_mul(uint64_t a, uint64_t b, uint64_t *product)
{
	return !__builtin_mul_overflow(a, b, product);
}

/* True when [start, start + count) lies within [0, limit); no overflow whatever the values. */
static inline bool fsa_within(uint64_t start, uint64_t count, uint64_t limit)
{
	return count <= limit && start <= limit - count;
}

static inline uint64_t fsa_min(uint64_t a, uint64_t b) { return a < b ? a : b; }
static inline uint64_t fsa_max(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* Division that rounds up; b > 0. */
static inline uint64_t fsa_div_up(uint64_t a, uint64_t b)
{
	return a / b + (a % b != 0);
}

static inline bool fsa_is_power_of_two(uint64_t v)
{
	return v != 0 && (v & (v - 1)) == 0;
}

#endif
