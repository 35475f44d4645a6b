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

/*
 * Whether a second stream may begin in the file. By chance these bytes occur once in about 128 MiB, which
 * then only means that nothing is checked.
 */
static bool has_more_streams(int fd, uint64_t size)
{
	enum { OVERLAP = 3, CHUNK = 64 * 1024 };
	unsigned char buffer[CHUNK + OVERLAP];

	for (uint64_t at = 1; at < size; at += CHUNK) {
		ssize_t got = fsa_pread_all(fd, buffer, sizeof(buffer), at);

		if (got <= 0)
			return false;
		for (ssize_t i = 0; i + OVERLAP < got; i++)
			/* Magic, deflate, and flags without the reserved ones. */
			if (buffer[i] == 0x1f && buffer[i + 1] == 0x8b && buffer[i + 2] == 8 && buffer[i + 3] < 0x20)
				return true;
	}
	return false;
}

enum fsa_gzip_verdict fsa_gzip_sum_check(const struct fsa_gzip_sum *sum, int fd, uint64_t size,
					 uint32_t *stored_crc, uint32_t *stored_length)
{
	static const unsigned char padding[8];
	unsigned char trailer[8];

	if (size < sizeof(trailer) ||
	    fsa_pread_all(fd, trailer, sizeof(trailer), size - sizeof(trailer)) != (ssize_t)sizeof(trailer))
		return FSA_GZIP_UNKNOWN;
	*stored_crc = fsa_get_le32(trailer);
	*stored_length = fsa_get_le32(trailer + 4);
	if (*stored_length == (uint32_t)sum->bytes)
		return *stored_crc == (uint32_t)~sum->crc ? FSA_GZIP_GOOD : FSA_GZIP_WRONG;
	/* Padded by a tape, or several streams in a row, of which only the last one's sum is at the end. */
	if (memcmp(trailer, padding, sizeof(trailer)) == 0 || has_more_streams(fd, size))
		return FSA_GZIP_UNKNOWN;
	return FSA_GZIP_WRONG;
}
