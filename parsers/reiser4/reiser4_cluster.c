/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Compressed files. Each cluster of the file's bytes is compressed by itself and stored in tail items whose
 * keys count on from the cluster's start: what is stored is shorter than the cluster, so the keys leave a gap.
 * A cluster that is stored in full length is not compressed; a compressed one ends with an adler32 of itself.
 */
#include <stdlib.h>
#include <string.h>

#include "reiser4.h"

bool r4_cluster_other(const struct r4_cluster *c, const struct r4_item *item)
{
	return c->stored && item->key.offset >> c->shift != c->index;
}

void r4_cluster_add(struct r4 *r, struct r4_cluster *c, const struct r4_node *n, const struct r4_item *item)
{
	unsigned shift = item->length ? item->body[0] : 0;
	uint32_t length = item->length > R4_CTAIL_HEADER ? item->length - R4_CTAIL_HEADER : 0;
	uint64_t start;

	if (!c->stored) {
		*c = (struct r4_cluster){ .first_offset = r4_at(r, n->block) + item->offset + R4_CTAIL_HEADER };
		c->bad = shift < R4_CLUSTER_SHIFT_MIN || shift > R4_CLUSTER_SHIFT_MAX;
		if (c->bad)
			R4_FIND(r, "object", item->key.objectid, r4_at(r, n->block) + item->offset, "cluster of 2^%u bytes, 2^%u to 2^%u are possible", shift,
				R4_CLUSTER_SHIFT_MIN, R4_CLUSTER_SHIFT_MAX);
		c->shift = c->bad ? R4_CLUSTER_SHIFT_MAX : shift;
		c->index = item->key.offset >> c->shift;
	} else if (shift != c->shift && !c->bad) {
		R4_FIND(r, "object", item->key.objectid, r4_at(r, n->block) + item->offset, "cluster %llu of 2^%u bytes goes on with 2^%u", (ull)c->index,
			c->shift, shift);
		c->bad = true;
	}
	start = (c->index << c->shift) + c->stored;
	if (item->key.offset != start || !length || (uint64_t)c->stored + length > UINT64_C(1) << c->shift) {
		if (!c->bad)
			R4_FIND(r, "object", item->key.objectid, r4_at(r, n->block) + item->offset, "%u bytes of a cluster at %llu, after %u bytes of it at %llu",
				length, (ull)item->key.offset, c->stored, (ull)(c->index << c->shift));
		c->bad = true;
	}
	/* Never 0 once there is an item: that would look like no cluster. */
	c->stored += length ? length : 1;
}

uint32_t r4_cluster_plain(const struct r4_cluster *c, uint64_t size)
{
	uint64_t start = c->index << c->shift;

	return start >= size ? 0 : (uint32_t)fsa_min(size - start, UINT64_C(1) << c->shift);
}

/* Puts the stored bytes together, from the item at `first_offset` on. */
static enum fsa_status gather(struct r4 *r, const struct fsa_extent *extent, uint8_t *stored)
{
	uint64_t block = extent->physical / r->block_size;
	unsigned within = (unsigned)(extent->physical % r->block_size);
	struct r4_cursor c;
	struct r4_item item;
	struct r4_node n;
	struct r4_key key;
	uint64_t have = 0;
	bool found = false;
	enum fsa_status st = r4_node_read(r, block, R4_LEAF, &n);

	if (st != FSA_OK)
		return st;
	for (unsigned i = 0; i < n.items && !found; i++) {
		r4_node_item(r, &n, i, &item);
		found = item.plugin == R4_ITEM_CTAIL && item.offset + R4_CTAIL_HEADER == within;
	}
	if (!found)
		return FSA_EDAMAGED;
	key = item.key;
	st = r4_cursor_open(&c, r, &key);
	while (st == FSA_OK && have < extent->encoded_length && (st = r4_cursor_next(&c, &item)) == FSA_OK) {
		if (r4_key_compare(&item.key, &key) < 0)
			continue;
		if (item.plugin != R4_ITEM_CTAIL || !r4_key_same_object(&item.key, &key) || item.length <= R4_CTAIL_HEADER ||
		    item.length - R4_CTAIL_HEADER > extent->encoded_length - have) {
			st = FSA_EDAMAGED;
			break;
		}
		memcpy(stored + have, item.body + R4_CTAIL_HEADER, item.length - R4_CTAIL_HEADER);
		have += item.length - R4_CTAIL_HEADER;
	}
	r4_cursor_close(&c);
	return st == FSA_ENOENT ? FSA_EDAMAGED : st;
}

enum fsa_status r4_decode(struct fsa_fs *fs, const struct fsa_extent *extent, void *buffer)
{
	struct r4 *r = r4_of(fs);
	unsigned plugin = (unsigned)extent->cookie[0];
	uint64_t object = extent->cookie[1];
	uint8_t *stored;
	uint32_t sum, want;
	size_t length;
	enum fsa_status st;

	if (extent->encoded_length <= R4_CLUSTER_CHECKSUM || extent->encoded_length > UINT64_C(1) << R4_CLUSTER_SHIFT_MAX)
		return FSA_EDAMAGED;
	stored = malloc((size_t)extent->encoded_length);
	if (!stored)
		return FSA_ENOMEM;
	st = gather(r, extent, stored);
	length = (size_t)extent->encoded_length - R4_CLUSTER_CHECKSUM;
	if (st == FSA_EDAMAGED)
		R4_FIND(r, "object", object, extent->physical, "the %llu stored bytes of the cluster at %llu cannot be put together",
			(ull)extent->encoded_length, (ull)(extent->logical - extent->decoded_offset));
	if (st == FSA_OK) {
		sum = r4_adler32(stored, length);
		want = fsa_get_le32(stored + length);
		if (sum != want) {
			R4_FIND(r, "object", object, extent->physical, "cluster at %llu: checksum 0x%08x, computed 0x%08x",
				(ull)(extent->logical - extent->decoded_offset), want, sum);
			st = FSA_EDAMAGED;
		} else if (!r4_unpack(plugin, stored, length, buffer, (size_t)extent->decoded_length)) {
			R4_FIND(r, "object", object, extent->physical, "cluster at %llu: %zu bytes are no %llu bytes compressed by %s",
				(ull)(extent->logical - extent->decoded_offset), length, (ull)extent->decoded_length, r4_compress_name(plugin));
			st = FSA_EDAMAGED;
		}
	}
	free(stored);
	return st;
}
