/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A place in the tree, found by key and moved forward. Each level's node is kept, so that a search near the
 * last one reads little. Levels fall by one at each step and keys must rise, so every walk ends.
 */
#include <stdlib.h>
#include <string.h>

#include "reiserfs.h"

struct step {
	struct rfs_node node;
	unsigned pos;			/* child taken, or item in a leaf */
	bool loaded;
};

struct rfs_cursor {
	struct rfs *r;
	struct step steps[RFS_MAX_LEVEL + 1];	/* by level; 1 is the leaf */
	struct rfs_key last;			/* of the item handed out last */
	uint8_t buffer[];			/* a node for each level */
};

struct rfs_cursor *rfs_cursor_take(struct rfs *r)
{
	struct rfs_cursor *c = r->spare;

	r->spare = NULL;
	if (c)
		return c;
	c = calloc(1, sizeof(*c) + (size_t)RFS_MAX_LEVEL * r->block_size);
	if (c)
		c->r = r;
	return c;
}

void rfs_cursor_give(struct rfs_cursor *c)
{
	if (c->r->spare)
		free(c);
	else
		c->r->spare = c;
}

void rfs_cursor_free(struct rfs_cursor *c)
{
	free(c);
}

static enum fsa_status load(struct rfs_cursor *c, unsigned level, uint32_t block)
{
	struct rfs *r = c->r;
	struct step *s = &c->steps[level];
	uint8_t *bytes = c->buffer + (size_t)(level - 1) * r->block_size;

	if (s->loaded && s->node.block == block)
		return FSA_OK;
	s->loaded = false;
	if (!rfs_block_ok(r, block)) {
		RFS_FIND(r, "node", block, FSA_NO_OFFSET, "the tree points to block %u, which cannot be a node: the filesystem has %u "
			 "blocks", block, r->blocks);
		return FSA_EDAMAGED;
	}
	if (fsa_read(r->fs, 0, rfs_at(r, block), bytes, r->block_size, "node", block) != FSA_OK)
		return FSA_EDAMAGED;
	if (!rfs_node_open(r, block, bytes, level, &s->node))
		return FSA_EDAMAGED;
	s->loaded = true;
	return FSA_OK;
}

/* How many keys of the node are not above `key`, or with `below` how many are below it. */
static unsigned count_keys(const struct rfs_node *n, const struct rfs_key *key, bool below)
{
	unsigned low = 0, high = n->n;

	while (low < high) {
		unsigned mid = low + (high - low) / 2;
		struct rfs_key k = rfs_node_key(n, mid);
		int cmp = rfs_compare(&k, key);

		if (below ? cmp < 0 : cmp <= 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* To the leaf after this one, at its first item. */
static enum fsa_status next_leaf(struct rfs_cursor *c)
{
	unsigned level = RFS_LEAF_LEVEL + 1;
	enum fsa_status st = FSA_OK;

	while (level <= c->r->root_level && c->steps[level].pos >= c->steps[level].node.n)
		level++;
	if (level > c->r->root_level)
		return FSA_ENOENT;
	c->steps[level].pos++;
	for (; level > RFS_LEAF_LEVEL && st == FSA_OK; level--) {
		st = load(c, level - 1, rfs_node_child(&c->steps[level].node, c->steps[level].pos, NULL));
		c->steps[level - 1].pos = 0;
	}
	return st;
}

static enum fsa_status hand_out(struct rfs_cursor *c, struct rfs_item *item)
{
	struct step *leaf = &c->steps[RFS_LEAF_LEVEL];

	if (!rfs_node_item(c->r, &leaf->node, leaf->pos, item)) {
		RFS_FIND(c->r, "node", leaf->node.block, rfs_at(c->r, leaf->node.block), "item %u has %u bytes at %u, which is not behind the "
			 "item heads and inside the node of %u bytes", leaf->pos, item->length, item->location, c->r->block_size);
		return FSA_EDAMAGED;
	}
	c->last = item->key;
	return FSA_OK;
}

enum fsa_status rfs_seek(struct rfs_cursor *c, const struct rfs_key *key, bool floor, struct rfs_item *item)
{
	struct rfs *r = c->r;
	struct step *leaf = &c->steps[RFS_LEAF_LEVEL];
	enum fsa_status st;
	unsigned n;

	if (r->root_level == 0)
		return FSA_EDAMAGED;
	st = load(c, r->root_level, r->root_block);
	for (unsigned level = r->root_level; level > RFS_LEAF_LEVEL && st == FSA_OK; level--) {
		struct step *s = &c->steps[level];

		s->pos = count_keys(&s->node, key, false);
		st = load(c, level - 1, rfs_node_child(&s->node, s->pos, NULL));
	}
	if (st != FSA_OK)
		return st;
	n = count_keys(&leaf->node, key, !floor);
	if (floor) {
		if (n == 0)
			return FSA_ENOENT;
		leaf->pos = n - 1;
		return hand_out(c, item);
	}
	leaf->pos = n;
	if (n == leaf->node.n) {
		st = next_leaf(c);
		if (st != FSA_OK)
			return st;
		if (leaf->node.n == 0)
			return FSA_ENOENT;
	}
	return hand_out(c, item);
}

enum fsa_status rfs_next(struct rfs_cursor *c, struct rfs_item *item)
{
	struct step *leaf = &c->steps[RFS_LEAF_LEVEL];
	struct rfs_key last = c->last;
	enum fsa_status st;

	if (leaf->pos + 1 < leaf->node.n) {
		leaf->pos++;
	} else {
		st = next_leaf(c);
		if (st != FSA_OK)
			return st;
		if (leaf->node.n == 0)
			return FSA_ENOENT;
	}
	st = hand_out(c, item);
	if (st == FSA_OK && rfs_compare(&item->key, &last) <= 0) {
		char a[64], b[64];

		RFS_FIND(c->r, "node", item->node, rfs_at(c->r, item->node), "item %u has key %s, not above the key %s before it", item->index,
			 rfs_key_text(&item->key, a), rfs_key_text(&last, b));
		return FSA_EDAMAGED;
	}
	return st;
}
