/* SPDX-License-Identifier: GPL-2.0-only */
/* Where the bytes of a file are: file extent items turned into pieces, and decoding of those that need it. */
#include <stdlib.h>

#include "btrfs.h"

/* The kernel compresses 128 KiB at a time; a stream is never longer than what it was made from. */
#define MAX_ENCODED (1u << 20)
#define MAX_RAM (1u << 20)

#define COOKIE_PARITY (UINT64_C(1) << 32)
#define COOKIE_INLINE (UINT64_C(1) << 33)

const char *btr_file_extent_parse(const struct btr *b, const struct btr_item *item, struct btr_file_extent *e)
{
	const uint8_t *p = item->data;
	uint64_t end;

	if (item->size < BTR_INLINE_START)
		return "its item is too short";
	*e = (struct btr_file_extent){
		.logical = item->key.offset,
		.generation = FSA_LE(uint64_t, p, struct btrfs_file_extent_item, generation),
		.ram_bytes = FSA_LE(uint64_t, p, struct btrfs_file_extent_item, ram_bytes),
		.compression = FSA_LE(uint8_t, p, struct btrfs_file_extent_item, compression),
		.encryption = FSA_LE(uint8_t, p, struct btrfs_file_extent_item, encryption),
		.other_encoding = FSA_LE(uint16_t, p, struct btrfs_file_extent_item, other_encoding),
		.type = FSA_LE(uint8_t, p, struct btrfs_file_extent_item, type),
	};
	if (e->type > BTRFS_FILE_EXTENT_PREALLOC)
		return "its type is unknown";
	if (e->compression && !btr_compression_name(e->compression))
		return "its compression is unknown";
	if (e->encryption || e->other_encoding)
		return "its encoding is unknown";
	if (e->type == BTRFS_FILE_EXTENT_INLINE) {
		e->inline_data = p + BTR_INLINE_START;
		e->inline_size = item->size - BTR_INLINE_START;
		if (e->logical)
			return "it is inline and not at the start of the file";
		if (e->ram_bytes > MAX_RAM || (!e->compression && e->ram_bytes != e->inline_size))
			return "its inline bytes are not as many as it says";
		return NULL;
	}
	if (item->size < sizeof(struct btrfs_file_extent_item))
		return "its item is too short";
	e->disk_bytenr = FSA_LE(uint64_t, p, struct btrfs_file_extent_item, disk_bytenr);
	e->disk_bytes = FSA_LE(uint64_t, p, struct btrfs_file_extent_item, disk_num_bytes);
	e->offset = FSA_LE(uint64_t, p, struct btrfs_file_extent_item, offset);
	e->bytes = FSA_LE(uint64_t, p, struct btrfs_file_extent_item, num_bytes);
	if (e->logical % b->sectorsize || e->bytes % b->sectorsize || !e->bytes || !fsa_add(e->logical, e->bytes, &end))
		return "its place in the file is not whole sectors";
	if (!e->disk_bytenr)
		return NULL;
	if (e->disk_bytenr % b->sectorsize || e->disk_bytes % b->sectorsize || !e->disk_bytes || e->offset % b->sectorsize ||
	    !fsa_add(e->disk_bytenr, e->disk_bytes, &end))
		return "its extent is not whole sectors";
	if (!fsa_within(e->offset, e->bytes, e->compression ? e->ram_bytes : e->disk_bytes))
		return "its part lies outside its extent";
	if (e->compression && (e->ram_bytes > MAX_RAM || e->disk_bytes > MAX_ENCODED))
		return "its compressed extent is larger than one can be";
	return NULL;
}

struct lister {
	struct btr *b;
	uint64_t number;
	bool no_sums;
	fsa_extent_fn extent;
	void *arg;
	enum fsa_status st;
};

static unsigned present_copy(const struct btr_segment *s)
{
	for (unsigned i = 0; i < s->copies; i++)
		if (s->copy[i].image >= 0)
			return i;
	return UINT32_MAX;
}

/* Plain bytes: one piece for each run that lies in one place. */
static enum fsa_status plain(struct lister *l, const struct btr_file_extent *e)
{
	struct btr *b = l->b;
	uint64_t at = e->disk_bytenr + e->offset, left = e->bytes, logical = e->logical;
	enum fsa_status st = FSA_OK;

	while (left && st == FSA_OK) {
		struct fsa_extent x = { .logical = logical, .length = left, .physical = FSA_NO_OFFSET };
		struct btr_segment s;
		unsigned copy;

		if (!btr_segment_at(b, at, left, &s)) {
			BTR_FIND(b, "inode", l->number, FSA_NO_OFFSET, "%llu bytes at %llu of the file lie at %llu, which is in no chunk",
				 (ull)left, (ull)logical, (ull)at);
			x.kind = FSA_EXTENT_UNREADABLE;
			return l->extent(l->arg, &x);
		}
		x.length = s.length;
		copy = present_copy(&s);
		if (copy != UINT32_MAX) {
			x.kind = e->type == BTRFS_FILE_EXTENT_PREALLOC ? FSA_EXTENT_UNWRITTEN : FSA_EXTENT_DATA;
			x.device = (unsigned)s.copy[copy].image;
			x.physical = s.copy[copy].physical;
			/* Where the file would start, were it all in one piece: stays true for any part of the extent. */
			x.cookie[0] = at - logical;
			x.cookie[1] = l->no_sums ? BTR_COOKIE_NO_SUMS : 0;
		} else if (e->type == BTRFS_FILE_EXTENT_PREALLOC) {
			x.kind = FSA_EXTENT_UNWRITTEN;
		} else if (btr_parity(btr_chunk_at(b, at)->type)) {
			x.kind = FSA_EXTENT_ENCODED;
			x.encoding = "parity";
			x.encoded_length = x.decoded_length = s.length;
			x.cookie[0] = at;
			x.cookie[1] = COOKIE_PARITY;
		} else {
			BTR_FIND(b, "inode", l->number, FSA_NO_OFFSET, "%llu bytes at %llu of the file lie on a missing device",
				 (ull)s.length, (ull)logical);
			x.kind = FSA_EXTENT_UNREADABLE;
		}
		st = l->extent(l->arg, &x);
		at += s.length;
		logical += s.length;
		left -= s.length;
	}
	return st;
}

static enum fsa_status list_item(void *arg, const struct btr_item *item)
{
	struct lister *l = arg;
	struct btr *b = l->b;
	struct btr_file_extent e;
	const char *trouble;
	uint64_t at;
	unsigned device;

	if (item->key.objectid != l->number || item->key.type != BTRFS_EXTENT_DATA_KEY)
		return FSA_STOP;
	device = btr_place(b, item->node->logical, &at);
	if (at != FSA_NO_OFFSET)
		at += item->offset;
	trouble = btr_file_extent_parse(b, item, &e);
	if (trouble) {
		fsa_find_on(b->findings, device, "inode", l->number, at, "extent at %llu: %s", (ull)item->key.offset, trouble);
		l->st = FSA_EDAMAGED;
		return FSA_OK;
	}
	if (e.type == BTRFS_FILE_EXTENT_INLINE) {
		struct fsa_extent x = {
			.kind = e.compression ? FSA_EXTENT_ENCODED : FSA_EXTENT_PACKED, .length = e.ram_bytes, .device = device,
			.physical = at == FSA_NO_OFFSET ? at : at + BTR_INLINE_START, .bytes = e.inline_data,
			.encoded_length = e.inline_size, .decoded_length = e.ram_bytes,
			.encoding = e.compression ? btr_compression_name(e.compression) : NULL,
			.cookie = { 0, e.compression | COOKIE_INLINE },
		};

		return e.ram_bytes ? l->extent(l->arg, &x) : FSA_OK;
	}
	if (!e.disk_bytenr)
		return FSA_OK;
	if (e.compression && e.type == BTRFS_FILE_EXTENT_REG) {
		struct fsa_extent x = {
			.kind = FSA_EXTENT_ENCODED, .logical = e.logical, .length = e.bytes, .encoded_length = e.disk_bytes,
			.decoded_length = e.ram_bytes, .decoded_offset = e.offset, .encoding = btr_compression_name(e.compression),
			.cookie = { e.disk_bytenr, e.compression },
		};

		x.device = btr_place(b, e.disk_bytenr, &x.physical);
		return l->extent(l->arg, &x);
	}
	return plain(l, &e);
}

struct relay { struct lister l; enum fsa_status callback; };

static enum fsa_status relay_item(void *arg, const struct btr_item *item)
{
	struct relay *r = arg;

	if (item->key.objectid != r->l.number || item->key.type != BTRFS_EXTENT_DATA_KEY)
		return FSA_STOP;
	r->callback = list_item(&r->l, item);
	return r->callback;
}

enum fsa_status btr_extents(struct fsa_fs *fs, struct fsa_ref ref, fsa_extent_fn extent, void *arg)
{
	struct btr *b = btr_of(fs);
	struct relay r = { .l = { .b = b, .extent = extent, .arg = arg } };
	struct btr_walk w = { .b = b, .item = relay_item, .arg = &r };
	struct btr_inode i;
	enum fsa_status st = btr_inode_get(b, ref, &i);

	if (st != FSA_OK || ref.word[2])
		return st;
	r.l.number = i.number;
	r.l.no_sums = i.flags & BTR_INODE_NODATASUM;
	w.from = (struct btr_key){ i.number, BTRFS_EXTENT_DATA_KEY, 0 };
	st = btr_walk_root(&w, i.root);
	if (r.callback != FSA_OK)
		return r.callback;
	if (st == FSA_STOP)
		st = FSA_OK;
	if (st == FSA_OK)
		st = w.damaged ? FSA_EDAMAGED : r.l.st;
	return st;
}

/* --- decoding ------------------------------------------------------------------------------------------------------ */

static enum fsa_status decode_stream(struct btr *b, const struct fsa_extent *x, const uint8_t *in, void *buffer)
{
	unsigned algorithm = (unsigned)(x->cookie[1] & 0xff);
	size_t length;
	const char *trouble = btr_decompress(b, algorithm, in, (size_t)x->encoded_length, buffer, (size_t)x->decoded_length, &length);

	if (!trouble) {
		/* A stream may end with the file, before its last sector does; decoders use the room behind for themselves. */
		memset((uint8_t *)buffer + length, 0, (size_t)x->decoded_length - length);
		return FSA_OK;
	}
	fsa_find_on(b->findings, x->device, "extent", x->cookie[0] ? x->cookie[0] : FSA_NO_NUMBER, x->physical,
		    "%llu bytes compressed with %s, %llu plain: %s", (ull)x->encoded_length, x->encoding, (ull)x->decoded_length, trouble);
	return FSA_EDAMAGED;
}

enum fsa_status btr_decode(struct fsa_fs *fs, const struct fsa_extent *x, void *buffer)
{
	struct btr *b = btr_of(fs);
	enum fsa_status st;
	uint8_t *in;

	if (x->cookie[1] & COOKIE_PARITY)
		return btr_read_data(b, x->cookie[0], buffer, (size_t)x->decoded_length);
	if (x->cookie[1] & COOKIE_INLINE)
		return x->bytes ? decode_stream(b, x, x->bytes, buffer) : FSA_EINVAL;
	if (x->encoded_length > MAX_ENCODED)
		return FSA_EDAMAGED;
	in = malloc((size_t)x->encoded_length);
	if (!in)
		return FSA_ENOMEM;
	st = btr_read_data(b, x->cookie[0], in, (size_t)x->encoded_length);
	if (st == FSA_OK)
		st = decode_stream(b, x, in, buffer);
	free(in);
	return st;
}
