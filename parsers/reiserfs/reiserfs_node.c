/* SPDX-License-Identifier: GPL-2.0-only */
/* Keys, and nodes of the tree: leaves with items, internal nodes with keys and children. */
#include <stdio.h>
#include <string.h>

#include "reiserfs.h"

static uint8_t type_of_uniqueness(uint32_t u)
{
	switch (u) {
	case RFS_UNIQUENESS_STAT: return RFS_STAT;
	case RFS_UNIQUENESS_INDIRECT: return RFS_INDIRECT;
	case RFS_UNIQUENESS_DIRECT: return RFS_DIRECT;
	case RFS_UNIQUENESS_DIRENTRY: return RFS_DIRENTRY;
	default: return RFS_ANY;
	}
}

struct rfs_key rfs_key_of(const struct rfs_disk_key *k, bool v2)
{
	struct rfs_key key = { .dir = fsa_le32v(k->dir_id), .oid = fsa_le32v(k->objectid) };

	if (v2) {
		uint64_t v = fsa_le64v(k->u.v2);

		key.offset = v & (UINT64_MAX >> 4);
		key.type = (uint8_t)(v >> 60);
		if (key.type > RFS_DIRENTRY)
			key.type = RFS_ANY;
	} else {
		key.offset = fsa_le32v(k->u.v1.offset);
		key.type = type_of_uniqueness(fsa_le32v(k->u.v1.uniqueness));
	}
	return key;
}

struct rfs_key rfs_branch_key(const struct rfs_disk_key *k)
{
	uint64_t type = fsa_le64v(k->u.v2) >> 60;

	/* Stat data looks the same either way; the old form has 0 or 15 where the new one has the type. */
	return rfs_key_of(k, type >= RFS_INDIRECT && type <= RFS_DIRENTRY);
}

int rfs_compare(const struct rfs_key *a, const struct rfs_key *b)
{
	if (a->dir != b->dir)
		return a->dir < b->dir ? -1 : 1;
	if (a->oid != b->oid)
		return a->oid < b->oid ? -1 : 1;
	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	return (a->type > b->type) - (a->type < b->type);
}

const char *rfs_type_name(uint8_t type)
{
	switch (type) {
	case RFS_STAT: return "stat data";
	case RFS_INDIRECT: return "indirect";
	case RFS_DIRECT: return "direct";
	case RFS_DIRENTRY: return "directory";
	default: return "unknown";
	}
}

const char *rfs_key_text(const struct rfs_key *k, char text[64])
{
	snprintf(text, 64, "[%u %u 0x%llx %s]", k->dir, k->oid, (ull)k->offset, rfs_type_name(k->type));
	return text;
}

static uint32_t most_items(const struct rfs *r, unsigned level)
{
	uint32_t room = r->block_size - (uint32_t)sizeof(struct rfs_block_head);

	/* An item has at least one byte; an internal node one child more than keys. */
	if (level == RFS_LEAF_LEVEL)
		return room / ((uint32_t)sizeof(struct rfs_item_head) + 1);
	return (room - (uint32_t)sizeof(struct rfs_child)) / (uint32_t)(sizeof(struct rfs_disk_key) + sizeof(struct rfs_child));
}

bool rfs_node_open(struct rfs *r, uint32_t block, const uint8_t *bytes, unsigned level, struct rfs_node *n)
{
	const struct rfs_block_head *h = (const struct rfs_block_head *)(const void *)bytes;
	uint32_t most = most_items(r, level);

	n->block = block;
	n->bytes = bytes;
	n->level = fsa_le16v(h->level);
	n->n = fsa_le16v(h->nr_items);
	n->free_space = fsa_le16v(h->free_space);
	if (n->level != level) {
		RFS_FIND(r, "node", block, rfs_at(r, block), "level %u, its place in the tree is at level %u", n->level, level);
		return false;
	}
	if (n->n > most) {
		RFS_FIND(r, "node", block, rfs_at(r, block), "%u %s, at most %u fit", n->n, level == RFS_LEAF_LEVEL ? "items" : "keys",
			 most);
		return false;
	}
	return true;
}

static const struct rfs_item_head *head_of(const struct rfs_node *n, unsigned i)
{
	return (const struct rfs_item_head *)(const void *)(n->bytes + sizeof(struct rfs_block_head)) + i;
}

bool rfs_node_item(const struct rfs *r, const struct rfs_node *n, unsigned i, struct rfs_item *item)
{
	const struct rfs_item_head *h = head_of(n, i);
	uint32_t heads = (uint32_t)(sizeof(struct rfs_block_head) + n->n * sizeof(*h));

	item->version = fsa_le16v(h->version);
	item->v2 = (item->version & 0x7fff) != 0;
	item->key = rfs_key_of(&h->key, item->v2);
	item->count = fsa_le16v(h->count);
	item->length = fsa_le16v(h->length);
	item->location = fsa_le16v(h->location);
	item->node = n->block;
	item->index = i;
	item->offset = rfs_at(r, n->block) + item->location;
	item->body = n->bytes + item->location;
	if (item->location >= heads && fsa_within(item->location, item->length, r->block_size))
		return true;
	item->body = NULL;
	return false;
}

struct rfs_key rfs_node_key(const struct rfs_node *n, unsigned i)
{
	if (n->level == RFS_LEAF_LEVEL) {
		const struct rfs_item_head *h = head_of(n, i);

		return rfs_key_of(&h->key, (fsa_le16v(h->version) & 0x7fff) != 0);
	}
	return rfs_branch_key((const struct rfs_disk_key *)(const void *)(n->bytes + sizeof(struct rfs_block_head)) + i);
}

uint32_t rfs_node_child(const struct rfs_node *n, unsigned i, uint16_t *used)
{
	const uint8_t *children = n->bytes + sizeof(struct rfs_block_head) + n->n * sizeof(struct rfs_disk_key);
	const struct rfs_child *c = (const struct rfs_child *)(const void *)children + i;

	if (used)
		*used = fsa_le16v(c->size);
	return fsa_le32v(c->block);
}
