/* SPDX-License-Identifier: GPL-2.0-only */
/* The compressions of the kernel module: LZO1X, raw deflate, and Zstandard. */
#include <lzo/lzo1x.h>
#include <zlib.h>
#include <zstd.h>

#include "reiser4.h"

const char *r4_compress_name(unsigned plugin)
{
	switch (plugin) {
	case R4_COMPRESS_LZO1: return "lzo1";
	case R4_COMPRESS_GZIP1: return "gzip1";
	case R4_COMPRESS_ZSTD1: return "zstd1";
	default: return "an unknown compression";
	}
}

static bool inflate_raw(const uint8_t *from, size_t length, uint8_t *to, size_t plain)
{
	z_stream z = { 0 };
	int ret;

	if (inflateInit2(&z, -MAX_WBITS) != Z_OK)
		return false;
	z.next_in = (Bytef *)(uintptr_t)from;
	z.avail_in = (uInt)length;
	z.next_out = to;
	z.avail_out = (uInt)plain;
	ret = inflate(&z, Z_FINISH);
	inflateEnd(&z);
	return ret == Z_STREAM_END && z.total_out == plain;
}

bool r4_unpack(unsigned plugin, const uint8_t *from, size_t length, uint8_t *to, size_t plain)
{
	static const uint8_t zstd_magic[4] = { 0x28, 0xb5, 0x2f, 0xfd };
	lzo_uint n = plain;
	size_t done;

	switch (plugin) {
	case R4_COMPRESS_LZO1:
		return lzo1x_decompress_safe(from, length, to, &n, NULL) == LZO_E_OK && n == plain;
	case R4_COMPRESS_GZIP1:
		return inflate_raw(from, length, to, plain);
	case R4_COMPRESS_ZSTD1:
		/* This number meant gzip1 until Zstandard came (odd ones meant "none"); the first bytes tell which. */
		if (length < sizeof(zstd_magic) || memcmp(from, zstd_magic, sizeof(zstd_magic)))
			return inflate_raw(from, length, to, plain);
		done = ZSTD_decompress(to, plain, from, length);
		return !ZSTD_isError(done) && done == plain;
	default:
		return false;
	}
}
