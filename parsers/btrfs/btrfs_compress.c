/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Streams of compressed extents. zlib and zstd are one stream of their library's own format, followed by
 * padding to a sector. lzo is framed by btrfs (fs/btrfs/lzo.c): a 32-bit length of everything, then for each
 * sector of plain bytes a 32-bit length and an LZO1X stream; a length never crosses the end of a sector.
 */
#include <lzo/lzo1x.h>
#include <zlib.h>
#include <zstd.h>

#include "btrfs.h"

enum { NONE = 0, ZLIB = 1, LZO = 2, ZSTD = 3 };

const char *btr_compression_name(unsigned algorithm)
{
	switch (algorithm) {
	case ZLIB: return "zlib";
	case LZO: return "lzo";
	case ZSTD: return "zstd";
	default: return NULL;
	}
}

static const char *from_zlib(const uint8_t *in, size_t in_size, uint8_t *out, size_t room, size_t *length)
{
	z_stream z = { .next_in = (Bytef *)(uintptr_t)in, .avail_in = (uInt)in_size, .next_out = out, .avail_out = (uInt)room };
	const char *trouble = NULL;
	int r;

	if (inflateInit(&z) != Z_OK)
		return "zlib cannot be started";
	r = inflate(&z, Z_FINISH);
	*length = room - z.avail_out;
	if (r == Z_STREAM_END)
		trouble = NULL;
	else if (z.avail_out == 0)
		trouble = "the stream makes more bytes than that";
	else if (r == Z_BUF_ERROR)
		trouble = "the stream ends too early";
	else
		trouble = "the stream is broken";
	inflateEnd(&z);
	return trouble;
}

static const char *from_zstd(const uint8_t *in, size_t in_size, uint8_t *out, size_t room, size_t *length)
{
	ZSTD_DStream *d = ZSTD_createDStream();
	ZSTD_inBuffer i = { .src = in, .size = in_size };
	ZSTD_outBuffer o = { .dst = out, .size = room };
	const char *trouble = NULL;
	size_t r;

	if (!d)
		return "zstd cannot be started";
	for (;;) {
		size_t in_before = i.pos, out_before = o.pos;

		r = ZSTD_decompressStream(d, &o, &i);
		if (ZSTD_isError(r))
			trouble = "the stream is broken";
		else if (r != 0 && o.pos == o.size && i.pos == in_before && o.pos == out_before)
			trouble = "the stream makes more bytes than that";
		else if (r != 0 && i.pos == i.size && o.pos < o.size)
			trouble = "the stream ends too early";
		else if (r != 0)
			continue;
		break;
	}
	*length = o.pos;
	ZSTD_freeDStream(d);
	return trouble;
}

static const char *from_lzo(const struct btr *b, const uint8_t *in, size_t in_size, uint8_t *out, size_t room, size_t *length)
{
	size_t at = 4, done = 0, total;

	if (in_size < 4)
		return "the stream ends too early";
	total = fsa_get_le32(in);
	if (total > in_size || total < 4)
		return "its own length is not that of the extent";
	while (at < total && done < room) {
		size_t left = b->sectorsize - at % b->sectorsize, size;
		lzo_uint plain = fsa_min(b->sectorsize, room - done);

		if (left < 4)
			at += left;
		if (at > total || total - at < 4)
			return "the stream ends too early";
		size = fsa_get_le32(in + at);
		at += 4;
		if (size > total - at)
			return "a part of the stream reaches behind its end";
		if (lzo1x_decompress_safe(in + at, size, out + done, &plain, NULL) != LZO_E_OK)
			return "the stream is broken or makes more bytes than that";
		done += plain;
		at += size;
	}
	*length = done;
	return at < total ? "the stream makes more bytes than that" : NULL;
}

const char *btr_decompress(const struct btr *b, unsigned algorithm, const uint8_t *in, size_t in_size, uint8_t *out,
			   size_t room, size_t *length)
{
	*length = 0;
	switch (algorithm) {
	case ZLIB: return from_zlib(in, in_size, out, room, length);
	case LZO: return from_lzo(b, in, in_size, out, room, length);
	case ZSTD: return from_zstd(in, in_size, out, room, length);
	default: return "the compression is unknown";
	}
}
