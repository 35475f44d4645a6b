/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The dtree: a directory's names in order, in nodes of 32-byte slots, its root in the record of the inode.
 * An entry is a chain of slots; a table of slot numbers keeps the entries sorted.
 */
#include <string.h>

#include "jfs.h"

struct walker {
	struct jfs *j;
	const struct jfs_inode *i;
	const struct jfs_dtree_ops *ops;
	struct bitset *seen;
	unsigned head_units;		/* name units in the head slot of a leaf entry */
	unsigned leaf_level;		/* 0 until a leaf was met; else its depth + 1 */
	uint64_t last[JFS_TREE_DEPTH];
	uint64_t last_next[JFS_TREE_DEPTH];
	bool have_name;
	unsigned last_units;		/* name met last: they come in order */
	uint16_t last_name[JFS_NAME_UNITS];
};

#define FIND(w, offset, ...) JFS_FIND((w)->j, "inode", (w)->i->number, offset, __VA_ARGS__)

static bool has_index(const struct jfs *j)
{
	return j->flags & JFS_FLAG_DIR_INDEX;
}

uint32_t jfs_dtree_parent(const uint8_t *raw)
{
	return fsa_get_le32(raw + JFS_TREE_AT + offsetof(struct jfs_dt_root_header, idotdot));
}

static unsigned first_free_slot(const struct jfs_dt_node *n, unsigned slot)
{
	if (slot >= n->stbl_slot && slot < n->stbl_slot + n->stbl_slots)
		return n->stbl_slot + n->stbl_slots;
	return slot;
}

/* A slot that may hold a part of an entry and holds none so far. */
static bool slot_free(const struct jfs_dt_node *n, int slot)
{
	return slot > 0 && (unsigned)slot < n->slots && first_free_slot(n, (unsigned)slot) == (unsigned)slot && !n->used[slot];
}

/* Follows the chain of an entry from its head on; name units into `name`. False: a finding says why. */
static bool read_chain(struct walker *w, struct jfs_dt_node *n, unsigned place, int head, unsigned head_at, unsigned head_units,
		       unsigned *units, uint16_t name[JFS_NAME_UNITS])
{
	const uint8_t *slot = n->bytes + (unsigned)head * JFS_DT_SLOT;
	unsigned want = slot[head_at - 1], have = 0, count = want < head_units ? want : head_units;
	int next = (int8_t)slot[head_at - 2];

	for (; have < count; have++)
		name[have] = fsa_get_le16(slot + head_at + 2 * have);
	n->used[head] = (uint8_t)(head_at + 2 * count);
	while (have < want) {
		if (!slot_free(n, next)) {
			FIND(w, n->offset + (unsigned)head * JFS_DT_SLOT, "entry %u of directory node %llu goes on in slot %d, which is none or in use",
			     place, (ull)n->block, next);
			return false;
		}
		slot = n->bytes + (unsigned)next * JFS_DT_SLOT;
		count = want - have < JFS_DT_SLOT_UNITS ? want - have : JFS_DT_SLOT_UNITS;
		for (unsigned k = 0; k < count; k++)
			name[have++] = fsa_get_le16(slot + 2 + 2 * k);
		n->used[next] = (uint8_t)(2 + 2 * count);
		next = (int8_t)slot[0];
	}
	if (next != -1 && w->ops->check)
		FIND(w, n->offset + (unsigned)head * JFS_DT_SLOT, "entry %u of directory node %llu has a slot %d behind the end of its name",
		     place, (ull)n->block, next);
	*units = want;
	return true;
}

int jfs_compare_names(const uint16_t *a, unsigned a_units, const uint16_t *b, unsigned b_units, bool ignore_case)
{
	for (unsigned k = 0; k < a_units && k < b_units; k++) {
		uint16_t x = a[k], y = b[k];

		if (x != y && ignore_case) {
			x = jfs_upper(x);
			y = jfs_upper(y);
		}
		if (x != y)
			return x < y ? -1 : 1;
	}
	return a_units < b_units ? -1 : a_units > b_units;
}

static void check_order(struct walker *w, const struct jfs_dirent *d)
{
	bool ignore_case = w->j->flags & JFS_FLAG_OS2;

	if (w->have_name && jfs_compare_names(w->last_name, w->last_units, d->name, d->units, ignore_case) >= 0)
		FIND(w, d->offset, "entry %u of directory node %llu (inode %u) is not in order", d->place, (ull)d->block, d->inode);
	w->have_name = true;
	w->last_units = d->units;
	memcpy(w->last_name, d->name, d->units * sizeof(d->name[0]));
}

static enum fsa_status read_leaf_entry(struct walker *w, struct jfs_dt_node *n, unsigned place, int head)
{
	const uint8_t *slot = n->bytes + (unsigned)head * JFS_DT_SLOT;
	struct jfs_dirent d;

	/* Not all of the name: this comes once for each in the filesystem. */
	d.inode = FSA_LE(uint32_t, slot, struct jfs_dt_leaf_entry, inumber);
	d.index = 0;
	d.place = place;
	d.block = n->block;
	d.offset = n->offset + (unsigned)head * JFS_DT_SLOT;
	if (!read_chain(w, n, place, head, offsetof(struct jfs_dt_leaf_entry, name), w->head_units, &d.units, d.name))
		return FSA_OK;
	if (has_index(w->j)) {
		d.index = FSA_LE(uint32_t, slot, struct jfs_dt_leaf_entry, index);
		n->tail[head] = true;
	}
	if (w->ops->check)
		check_order(w, &d);
	return w->ops->entry(w->ops->arg, &d);
}

/* The free slots are a list and all that no entry uses. */
static void check_free_list(struct walker *w, const struct jfs_dt_node *n, int count, int head)
{
	uint8_t listed[128] = { 0 };
	int free_slots = (int)(n->slots - 1 - n->stbl_slots), met = 0;

	/* Slots of the sorted table are never in use by an entry. */
	for (unsigned s = 1; s < n->slots; s++)
		free_slots -= n->used[s] != 0;
	if (free_slots != count)
		FIND(w, n->offset, "directory node %llu says %d slots are free, entries leave %d", (ull)n->block, count, free_slots);
	for (int s = head; s != -1; s = (int8_t)n->bytes[(unsigned)s * JFS_DT_SLOT]) {
		if (!slot_free(n, s) || listed[s]) {
			FIND(w, n->offset, "list of free slots of directory node %llu leads to slot %d, which is not free", (ull)n->block, s);
			return;
		}
		listed[s] = 1;
		met++;
	}
	if (met != free_slots)
		FIND(w, n->offset, "list of free slots of directory node %llu holds %d, entries leave %d", (ull)n->block, met, free_slots);
}

static enum fsa_status walk_node(struct walker *w, struct jfs_dt_node *n, const uint8_t *stbl, int free_count, int free_head,
				 unsigned depth);

static void check_siblings(struct walker *w, const uint8_t *page, uint64_t block, unsigned depth)
{
	uint64_t prev = FSA_LE(uint64_t, page, struct jfs_dt_page_header, prev);
	uint64_t next = FSA_LE(uint64_t, page, struct jfs_dt_page_header, next);

	if (prev != w->last[depth])
		FIND(w, jfs_at(block), "directory node %llu says the one before it is %llu, it is %llu", (ull)block, (ull)prev,
		     (ull)w->last[depth]);
	if (w->last[depth] && w->last_next[depth] != block)
		FIND(w, jfs_at(w->last[depth]), "directory node %llu says the next is %llu, it is %llu", (ull)w->last[depth],
		     (ull)w->last_next[depth], (ull)block);
	w->last[depth] = block;
	w->last_next[depth] = next;
}

/* A node that cannot be read as one: all of it stays a node of the directory. */
static enum fsa_status unusable(struct walker *w, struct jfs_dt_node *n)
{
	memset(n->used, JFS_DT_SLOT, sizeof(n->used));
	memset(n->tail, 0, sizeof(n->tail));
	n->entries = 0;
	n->stbl_slot = n->stbl_slots = 0;
	return w->ops->node ? w->ops->node(w->ops->arg, n) : FSA_OK;
}

static enum fsa_status enter(struct walker *w, const struct jfs_pxd *xd, unsigned depth, ull from)
{
	struct jfs_dt_node n = { .block = jfs_pxd_address(xd), .slots = 128 };
	uint32_t count = jfs_pxd_length(xd);
	uint8_t page[JFS_PAGE];
	struct jfs_pxd self;
	uint64_t fresh;
	uint8_t flag;

	if (count != 1 || !jfs_block_ok(w->j, n.block, 1)) {
		FIND(w, from, "directory node of %u blocks at %llu, the filesystem has %llu", count, (ull)n.block, (ull)w->j->blocks);
		return FSA_OK;
	}
	if (depth + 1 >= JFS_TREE_DEPTH) {
		FIND(w, from, "directory tree is deeper than %u levels", JFS_TREE_DEPTH);
		return FSA_OK;
	}
	n.offset = jfs_at(n.block);
	if (bitset_test(w->seen, n.block)) {
		FIND(w, from, "directory node %llu is used twice", (ull)n.block);
		return unusable(w, &n);
	}
	if (!bitset_set(w->seen, n.block, 1, &fresh, NULL, NULL))
		return FSA_ENOMEM;
	if (fsa_read(w->j->fs, 0, n.offset, page, sizeof(page), "inode", w->i->number) != FSA_OK)
		return unusable(w, &n);
	n.bytes = page;
	n.entries = page[offsetof(struct jfs_dt_page_header, nextindex)];
	n.stbl_slot = page[offsetof(struct jfs_dt_page_header, stblindex)];
	n.stbl_slots = 4;
	flag = page[offsetof(struct jfs_dt_page_header, flag)];
	if (page[offsetof(struct jfs_dt_page_header, maxslot)] != n.slots || !n.stbl_slot || n.stbl_slot + n.stbl_slots > n.slots ||
	    n.entries > n.slots - 1 - n.stbl_slots || flag & JFS_BT_ROOT || !(flag & JFS_BT_LEAF) == !(flag & JFS_BT_INTERNAL)) {
		FIND(w, n.offset, "directory node %llu has %u slots, %u entries, its table at slot %u and flags 0x%x", (ull)n.block,
		     page[offsetof(struct jfs_dt_page_header, maxslot)], n.entries, n.stbl_slot, flag);
		return unusable(w, &n);
	}
	memcpy(&self, page + offsetof(struct jfs_dt_page_header, self), sizeof(self));
	if (jfs_pxd_address(&self) != n.block || jfs_pxd_length(&self) != 1)
		FIND(w, n.offset, "directory node %llu says it is %u blocks at %llu", (ull)n.block, jfs_pxd_length(&self),
		     (ull)jfs_pxd_address(&self));
	if (w->ops->check)
		check_siblings(w, page, n.block, depth + 1);
	n.leaf = flag & JFS_BT_LEAF;
	return walk_node(w, &n, page + n.stbl_slot * JFS_DT_SLOT, (int8_t)page[offsetof(struct jfs_dt_page_header, freecnt)],
			 (int8_t)page[offsetof(struct jfs_dt_page_header, freelist)], depth + 1);
}

static enum fsa_status walk_node(struct walker *w, struct jfs_dt_node *n, const uint8_t *stbl, int free_count, int free_head,
				 unsigned depth)
{
	struct jfs_pxd child[128];
	ull child_at[128];
	unsigned children = 0, units;
	uint16_t key[JFS_NAME_UNITS];
	enum fsa_status st = FSA_OK;

	if (n->leaf) {
		if (w->leaf_level && w->leaf_level != depth + 1)
			FIND(w, n->offset, "directory leaf at level %u, others are at level %u", depth, w->leaf_level - 1);
		w->leaf_level = depth + 1;
	}
	for (unsigned k = 0; k < n->entries && st == FSA_OK; k++) {
		int head = (int8_t)stbl[k];
		ull at = n->offset + (unsigned)(head > 0 ? head : 0) * JFS_DT_SLOT;

		if (!slot_free(n, head)) {
			FIND(w, n->offset, "entry %u of directory node %llu is in slot %d, which is none or in use", k, (ull)n->block, head);
			continue;
		}
		if (n->leaf) {
			st = read_leaf_entry(w, n, k, head);
			continue;
		}
		memcpy(&child[children], n->bytes + (unsigned)head * JFS_DT_SLOT, sizeof(child[0]));
		child_at[children++] = at;
		read_chain(w, n, k, head, offsetof(struct jfs_dt_internal_entry, name), JFS_DT_INTERNAL_UNITS, &units, key);
	}
	if (w->ops->check && st == FSA_OK)
		check_free_list(w, n, free_count, free_head);
	if (st == FSA_OK && w->ops->node)
		st = w->ops->node(w->ops->arg, n);
	for (unsigned k = 0; k < children && st == FSA_OK; k++)
		st = enter(w, &child[k], depth, child_at[k]);
	return st;
}

enum fsa_status jfs_dtree_walk(struct jfs *j, const struct jfs_inode *i, const struct jfs_dtree_ops *ops)
{
	struct walker w = {
		.j = j, .i = i, .ops = ops, .seen = ops->seen, .head_units = has_index(j) ? JFS_DT_LEAF_UNITS : JFS_DT_LEAF_UNITS_LEGACY,
	};
	const uint8_t *p = i->raw + JFS_TREE_AT;
	struct jfs_dt_node n = {
		.bytes = p, .slots = JFS_DT_ROOT_SLOTS, .entries = p[offsetof(struct jfs_dt_root_header, nextindex)],
		.offset = i->offset + JFS_TREE_AT,
	};
	uint8_t flag = p[offsetof(struct jfs_dt_root_header, flag)];
	struct bitset own;
	enum fsa_status st;

	if (n.entries > JFS_DT_ROOT_SLOTS - 1 || !(flag & JFS_BT_ROOT) || !(flag & JFS_BT_LEAF) == !(flag & JFS_BT_INTERNAL)) {
		FIND(&w, n.offset, "directory root has %u entries, room is for %u, and flags 0x%x", n.entries, JFS_DT_ROOT_SLOTS - 1, flag);
		return unusable(&w, &n);
	}
	n.leaf = flag & JFS_BT_LEAF;
	if (!ops->seen) {
		if (!bitset_init(&own, j->blocks))
			return FSA_ENOMEM;
		w.seen = &own;
	}
	st = walk_node(&w, &n, p + offsetof(struct jfs_dt_root_header, stbl), (int8_t)p[offsetof(struct jfs_dt_root_header, freecnt)],
		       (int8_t)p[offsetof(struct jfs_dt_root_header, freelist)], 0);
	if (ops->check && st == FSA_OK)
		for (unsigned d = 0; d < JFS_TREE_DEPTH; d++)
			if (w.last[d] && w.last_next[d])
				FIND(&w, jfs_at(w.last[d]), "directory node %llu is the last of its level and says the next is %llu", (ull)w.last[d],
				     (ull)w.last_next[d]);
	if (!ops->seen)
		bitset_release(&own);
	return st;
}
