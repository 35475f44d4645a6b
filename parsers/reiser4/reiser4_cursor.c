/* SPDX-License-Identifier: GPL-2.0-only */
/* Going through the tree in key order, from a key on. */
#include <stdlib.h>
#include <string.h>

#include "reiser4.h"

/* How many items of a node have keys below this one. */
static unsigned below(const struct r4 *r, const struct r4_node *n, const struct r4_key *key)
{
	unsigned low = 0, high = n->items;

	while (low < high) {
		unsigned middle = low + (high - low) / 2;
		struct r4_item item;

		r4_node_item(r, n, middle, &item);
		if (r4_key_compare(&item.key, key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Puts a node on top of the stack; a damaged one is left out. */
static enum fsa_status push(struct r4_cursor *c, uint64_t block)
{
	struct r4_level *l = &c->level[c->depth];
	struct r4 *r = c->r;
	struct r4_node n;
	enum fsa_status st;

	if (!c->nodes_left) {
		R4_FIND(r, "tree", FSA_NO_NUMBER, FSA_NO_OFFSET, "more nodes on the way than the filesystem has blocks: it leads in circles");
		c->depth = 0;
		return FSA_EDAMAGED;
	}
	c->nodes_left--;
	st = r4_node_read(r, block, c->top - c->depth, &n);
	if (st != FSA_OK)
		return st;
	if (!l->raw)
		l->raw = malloc(r->block_size);
	if (!l->raw)
		return FSA_ENOMEM;
	memcpy(l->raw, n.raw, r->block_size);
	l->node = n;
	l->node.raw = l->raw;
	l->next = 0;
	c->depth++;
	return FSA_OK;
}

/* The block that a pointer item leads to; 0 and a finding when it leads nowhere. */
static uint64_t child_of(struct r4 *r, const struct r4_node *n, unsigned i, const struct r4_item *item)
{
	uint64_t block = item->length >= 8 ? fsa_get_le64(item->body) : 0;

	if (!r4_block_ok(r, block, 1)) {
		R4_FIND(r, "node", n->block, r4_at(r, n->block) + item->offset, "item %u points to block %llu, blocks %llu to %llu are possible", i,
			(ull)block, (ull)r->first + 1, (ull)r->blocks - 1);
		return 0;
	}
	return block;
}

static enum fsa_status descend(struct r4_cursor *c, const struct r4_key *key)
{
	enum fsa_status st = push(c, c->r->root);

	while (st == FSA_OK) {
		struct r4_level *l = &c->level[c->depth - 1];
		struct r4_item item;
		uint64_t block;

		l->next = below(c->r, &l->node, key);
		if (l->node.level == R4_LEAF || !l->next)
			break;
		r4_node_item(c->r, &l->node, l->next - 1, &item);
		if (item.plugin != R4_ITEM_POINTER)
			break;
		block = child_of(c->r, &l->node, l->next - 1, &item);
		st = block ? push(c, block) : FSA_EDAMAGED;
	}
	return st;
}

enum fsa_status r4_cursor_open(struct r4_cursor *c, struct r4 *r, const struct r4_key *key)
{
	static const struct r4_key first;
	enum fsa_status st;

	memset(c, 0, sizeof(*c));
	c->r = r;
	c->top = r->height;
	c->nodes_left = r->blocks;
	if (!r->height)
		return FSA_EDAMAGED;
	st = descend(c, key ? key : &first);
	/* What cannot be read is left out: what follows may still be there. */
	if (st == FSA_EDAMAGED) {
		c->damaged++;
		st = FSA_OK;
	}
	return st;
}

enum fsa_status r4_cursor_next(struct r4_cursor *c, struct r4_item *item)
{
	while (c->depth) {
		struct r4_level *l = &c->level[c->depth - 1];
		unsigned i = l->next;
		uint64_t block;
		enum fsa_status st;

		if (i >= l->node.items) {
			c->depth--;
			continue;
		}
		l->next++;
		r4_node_item(c->r, &l->node, i, item);
		if (l->node.level == R4_LEAF || item->plugin != R4_ITEM_POINTER) {
			c->node = l->node;
			c->item_index = i;
			return FSA_OK;
		}
		block = child_of(c->r, &l->node, i, item);
		st = block ? push(c, block) : FSA_EDAMAGED;
		if (st == FSA_EDAMAGED)
			c->damaged++;
		else if (st != FSA_OK)
			return st;
	}
	return FSA_ENOENT;
}

void r4_cursor_close(struct r4_cursor *c)
{
	for (unsigned i = 0; i < R4_MAX_HEIGHT; i++)
		free(c->level[i].raw);
	memset(c, 0, sizeof(*c));
}
