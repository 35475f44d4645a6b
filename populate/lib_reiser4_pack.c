/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Compressed clusters. libreiser4 has no compression; these do what the
 * plugins of the kernel module do, parameters included, so that its reader
 * would accept them.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <lzo/lzo1x.h>
#include <zlib.h>
#include <zstd.h>

#include "lib_reiser4.h"

/* Smaller pieces are not worth the try. */
enum { MIN_LZO1 = 256, MIN_GZIP1 = 64, MIN_ZSTD1 = 256, CHECKSUM = 4 };
enum { ZSTD_LEVEL = 3 };

static size_t lzo1(const unsigned char *from, size_t length,
		   unsigned char *to, size_t room)
{
	/* What cannot be compressed grows by up to this. */
	size_t worst = length + length / 16 + 64 + 3;
	unsigned char *work = malloc(LZO1X_1_MEM_COMPRESS + worst);
	unsigned char *out = work ? work + LZO1X_1_MEM_COMPRESS : NULL;
	lzo_uint n = 0;

	if (!work || lzo_init() != LZO_E_OK ||
	    lzo1x_1_compress(from, length, out, &n, work) != LZO_E_OK ||
	    n > room)
		n = 0;
	else
		memcpy(to, out, n);
	free(work);
	return n;
}

static size_t gzip1(const unsigned char *from, size_t length,
		    unsigned char *to, size_t room)
{
	z_stream z = { 0 };
	size_t n = 0;

	if (deflateInit2(&z, Z_BEST_SPEED, Z_DEFLATED, -MAX_WBITS,
			 MAX_MEM_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
		return 0;
	z.next_in = (unsigned char *)(uintptr_t)from;
	z.avail_in = (uInt)length;
	z.next_out = to;
	z.avail_out = (uInt)room;
	if (deflate(&z, Z_FINISH) == Z_STREAM_END)
		n = z.total_out;
	deflateEnd(&z);
	return n;
}

static size_t zstd1(const unsigned char *from, size_t length,
		    unsigned char *to, size_t room)
{
	size_t n = ZSTD_compress(to, room, from, length, ZSTD_LEVEL);

	return ZSTD_isError(n) ? 0 : n;
}

size_t lib_reiser4_pack(unsigned plugin, const unsigned char *from,
			size_t length, unsigned char *to, size_t room)
{
	size_t n = 0;
	uLong sum;

	/* It must be shorter with its checksum, or none can tell it. */
	if (length <= CHECKSUM || room < length)
		return 0;
	room = length - CHECKSUM - 1;
	switch (plugin) {
	case COMPRESS_LZO1_ID:
		n = length >= MIN_LZO1 ? lzo1(from, length, to, room) : 0;
		break;
	case COMPRESS_GZIP1_ID:
		n = length >= MIN_GZIP1 ? gzip1(from, length, to, room) : 0;
		break;
	case COMPRESS_ZSTD1_ID:
		n = length >= MIN_ZSTD1 ? zstd1(from, length, to, room) : 0;
		break;
	default:
		break;
	}
	if (!n)
		return 0;
	sum = adler32(1, to, (uInt)n);
	for (unsigned i = 0; i < CHECKSUM; i++)
		to[n + i] = (unsigned char)(sum >> 8 * i);
	return n + CHECKSUM;
}
