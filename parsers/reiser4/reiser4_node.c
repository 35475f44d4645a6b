/* SPDX-License-Identifier: GPL-2.0-only */
/* Formatted nodes: is this one, where are its items, what are their keys. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reiser4.h"

static int compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

int r4_key_compare(const struct r4_key *a, const struct r4_key *b)
{
	int c = compare(a->locality, b->locality);

	if (!c)
		c = compare(a->ordering, b->ordering);
	if (!c)
		c = compare(a->objectid, b->objectid);
	return c ? c : compare(a->offset, b->offset);
}

bool r4_key_same_object(const struct r4_key *a, const struct r4_key *b)
{
	return a->locality >> 4 == b->locality >> 4 && a->ordering == b->ordering && a->objectid == b->objectid;
}

void r4_key_get(const struct r4 *r, const uint8_t *p, struct r4_key *key)
{
	key->locality = fsa_get_le64(p);
	key->ordering = r->large_keys ? fsa_get_le64(p + 8) : 0;
	key->objectid = fsa_get_le64(p + r->key_bytes - 16);
	key->offset = fsa_get_le64(p + r->key_bytes - 8);
}

/* As the tools print it. */
const char *r4_key_text(const struct r4_key *k, char text[96])
{
	snprintf(text, 96, "[%llx:%x:%llx:%llx:%llx]", (ull)(k->locality >> 4), r4_key_type(k), (ull)k->ordering,
		 (ull)k->objectid, (ull)k->offset);
	return text;
}

static const uint8_t *item_header(const struct r4 *r, const struct r4_node *n, unsigned i)
{
	return n->raw + r->block_size - (size_t)(i + 1) * r->item_header_bytes;
}

static unsigned item_field(const struct r4 *r, const struct r4_node *n, unsigned i, size_t field)
{
	return fsa_get_le16(item_header(r, n, i) + r->key_bytes + field);
}

void r4_node_item(const struct r4 *r, const struct r4_node *n, unsigned i, struct r4_item *item)
{
	unsigned end = i + 1 < n->items ? item_field(r, n, i + 1, offsetof(struct r4_item_header, offset)) : n->free_start;

	r4_key_get(r, item_header(r, n, i), &item->key);
	item->offset = item_field(r, n, i, offsetof(struct r4_item_header, offset));
	item->flags = item_field(r, n, i, offsetof(struct r4_item_header, flags));
	item->plugin = item_field(r, n, i, offsetof(struct r4_item_header, plugin));
	item->length = end - item->offset;
	item->body = n->raw + item->offset;
}

static void check_sum(struct r4 *r, const struct r4_node *n)
{
	uint32_t stored = FSA_LE(uint32_t, n->raw, struct r4_node41_header, checksum), sum;

	sum = fsa_crc32c(~0u, n->raw, sizeof(struct r4_node_header));
	sum = fsa_crc32c(sum, n->raw + sizeof(struct r4_node41_header), r->block_size - sizeof(struct r4_node41_header));
	if (sum != stored)
		R4_FIND(r, "node", n->block, r4_at(r, n->block), "checksum 0x%08x, computed 0x%08x", stored, sum);
}

/* Bodies must follow each other between the header and the item headers. */
static void check_items(struct r4 *r, struct r4_node *n, unsigned room_end)
{
	unsigned at = n->header_bytes, start = FSA_LE(uint16_t, n->raw, struct r4_node_header, free_start);
	unsigned stored_free = FSA_LE(uint16_t, n->raw, struct r4_node_header, free_bytes);

	if (start < n->header_bytes || start > room_end) {
		R4_FIND(r, "node", n->block, r4_at(r, n->block), "free space starts at %u, the room for items is %u to %u", start, n->header_bytes,
			room_end);
		start = room_end;
		n->damaged = true;
	}
	n->free_start = start;
	for (unsigned i = 0; i < n->stored_items; i++) {
		unsigned offset = item_field(r, n, i, offsetof(struct r4_item_header, offset));

		if ((i == 0 && offset != at) || offset < at || offset > start) {
			R4_FIND(r, "node", n->block, r4_at(r, n->block), "item %u starts at %u, the one before at %u and free space at %u: it and the "
				"one before are left out with all behind", i, offset, at, start);
			n->items = i ? i - 1 : 0;
			n->free_start = i ? at : n->header_bytes;
			n->damaged = true;
			return;
		}
		at = offset;
		n->items = i + 1;
	}
	if (!n->stored_items)
		n->free_start = n->header_bytes;
	if (!n->damaged && stored_free != room_end - n->free_start)
		R4_FIND(r, "node", n->block, r4_at(r, n->block), "free bytes %u, between items and their headers are %u", stored_free,
			room_end - n->free_start);
}

bool r4_node_check(struct r4 *r, uint64_t block, const uint8_t *raw, unsigned level, struct r4_node *n)
{
	unsigned plugin = FSA_LE(uint16_t, raw, struct r4_node_header, plugin), room;
	uint32_t magic = FSA_LE(uint32_t, raw, struct r4_node_header, magic);
	uint32_t mkfs_id = FSA_LE(uint32_t, raw, struct r4_node_header, mkfs_id);
	ull at = r4_at(r, block);

	*n = (struct r4_node){ .block = block, .raw = raw, .level = raw[offsetof(struct r4_node_header, level)] };
	if (plugin > R4_NODE41 || magic != (plugin == R4_NODE41 ? R4_NODE41_MAGIC : R4_NODE40_MAGIC)) {
		R4_FIND(r, "node", block, at, "no node: plugin %u and magic 0x%08x, not 0 and 0x%08x or 1 and 0x%08x", plugin, magic, R4_NODE40_MAGIC,
			R4_NODE41_MAGIC);
		return false;
	}
	if (n->level != level) {
		R4_FIND(r, "node", block, at, "level %u, it is pointed to as level %u", n->level, level);
		return false;
	}
	if (mkfs_id != r->mkfs_id)
		R4_FIND(r, "node", block, at, "made by mkfs run 0x%08x, the filesystem by 0x%08x", mkfs_id, r->mkfs_id);
	n->header_bytes = plugin == R4_NODE41 ? sizeof(struct r4_node41_header) : sizeof(struct r4_node_header);
	if (plugin == R4_NODE41)
		check_sum(r, n);
	n->stored_items = FSA_LE(uint16_t, raw, struct r4_node_header, items);
	room = (r->block_size - n->header_bytes) / r->item_header_bytes;
	if (n->stored_items > room) {
		R4_FIND(r, "node", block, at, "%u items, headers of %u fit", n->stored_items, room);
		n->stored_items = 0;
		n->damaged = true;
	}
	room = r->block_size - n->stored_items * r->item_header_bytes;
	check_items(r, n, room);
	n->free_bytes = room - n->free_start;
	return true;
}

static struct r4_cached *cache_slot(struct r4 *r, uint64_t block)
{
	struct r4_cached *oldest = &r->cache[0];

	for (unsigned i = 0; i < R4_NODE_CACHE; i++) {
		struct r4_cached *c = &r->cache[i];

		if (c->block == block)
			return c;
		if (c->used < oldest->used)
			oldest = c;
	}
	return oldest;
}

enum fsa_status r4_node_read(struct r4 *r, uint64_t block, unsigned level, struct r4_node *n)
{
	struct r4_cached *c = cache_slot(r, block);
	enum fsa_status st;

	if (c->block != block) {
		if (!c->raw)
			c->raw = malloc(r->block_size);
		if (!c->raw)
			return FSA_ENOMEM;
		c->block = 0;
		st = fsa_read(r->fs, 0, r4_at(r, block), c->raw, r->block_size, "node", block);
		if (st != FSA_OK)
			return st == FSA_ENOMEM ? st : FSA_EDAMAGED;
		c->block = block;
	}
	c->used = ++r->cache_clock;
	return r4_node_check(r, block, c->raw, level, n) ? FSA_OK : FSA_EDAMAGED;
}
