/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The sum at the end of gzip data (RFC 1952: CRC-32 and length modulo 2^32 of what was packed), which
 * libarchive's decompressor passes over. The other compressions are checked by their libraries.
 */
#include <string.h>

#include "fsa/bytes.h"
#include "image_private.h"

#define POLYNOMIAL 0xedb88320u

/* Eight bytes a step: table[k][b] is the sum of byte b followed by k zero bytes. */
static void fill_table(uint32_t table[8][256])
{
	for (uint32_t b = 0; b < 256; b++) {
		uint32_t crc = b;

		for (unsigned bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL : 0);
		table[0][b] = crc;
	}
	for (unsigned k = 1; k < 8; k++)
		for (unsigned b = 0; b < 256; b++)
			table[k][b] = table[k - 1][b] >> 8 ^ table[0][table[k - 1][b] & 0xff];
}

struct fsa_gzip_sum *fsa_gzip_sum_new(void)
{
	struct fsa_gzip_sum *sum = malloc(sizeof(*sum));

	if (!sum)
		return NULL;
	fill_table(sum->table);
	sum->crc = UINT32_MAX;
	sum->bytes = 0;
	return sum;
}

void fsa_gzip_sum_add(struct fsa_gzip_sum *sum, const unsigned char *p, size_t length)
{
	uint32_t crc = sum->crc;

	sum->bytes += length;
	for (; length >= 8; length -= 8, p += 8) {
		uint32_t low = crc ^ fsa_get_le32(p), high = fsa_get_le32(p + 4);

		crc = sum->table[7][low & 0xff] ^ sum->table[6][low >> 8 & 0xff] ^
		      sum->table[5][low >> 16 & 0xff] ^ sum->table[4][low >> 24] ^
		      sum->table[3][high & 0xff] ^ sum->table[2][high >> 8 & 0xff] ^
		      sum->table[1][high >> 16 & 0xff] ^ sum->table[0][high >> 24];
	}
	for (; length; length--, p++)
		crc = crc >> 8 ^ sum->table[0][(crc ^ *p) & 0xff];
	sum->crc = crc;
}

enum fsa_gzip_verdict fsa_gzip_sum_check(const struct fsa_gzip_sum *sum, int fd, uint64_t size, uint32_t *stored)
{
	unsigned char trailer[8];

	if (size < sizeof(trailer) ||
	    fsa_pread_all(fd, trailer, sizeof(trailer), size - sizeof(trailer)) != (ssize_t)sizeof(trailer))
		return FSA_GZIP_UNKNOWN;
	/* Another length: of several gzip streams in a row only the last one's sum is at the end. */
	if (fsa_get_le32(trailer + 4) != (uint32_t)sum->bytes)
		return FSA_GZIP_UNKNOWN;
	*stored = fsa_get_le32(trailer);
	return *stored == (uint32_t)~sum->crc ? FSA_GZIP_GOOD : FSA_GZIP_WRONG;
}
