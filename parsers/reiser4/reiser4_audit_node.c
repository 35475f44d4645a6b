/* SPDX-License-Identifier: GPL-2.0-only */
/* The tree, node by node: each is split into what its bytes are for. */
#include <stdlib.h>
#include <string.h>

#include "reiser4_audit.h"

static struct fsa_owner object_owner(const struct r4_key *key)
{
	struct r4_key sd = *key;

	sd.locality = (sd.locality & ~UINT64_C(15)) | R4_KEY_STAT;
	return (struct fsa_owner){ .object = "object", .number = key->objectid, .ref = r4_ref_of(&sd), .has_ref = true };
}

/* A directory's names lie under its own id; its stat data key is not in their keys. */
static struct fsa_owner directory_owner(const struct r4_key *key)
{
	return (struct fsa_owner){ .object = "directory", .number = r4_key_locality(key) };
}

/* --- counts as measurefs makes them --------------------------------------------------------------------- */

static void count_region(struct r4_counts *c, uint64_t start, uint64_t count)
{
	if (!start)
		return;
	if (c->last_block - start + 1 > 2)
		c->jumps++;
	c->pointed += count;
	c->last_block = start + count - 1;
}

/* All pointers of a node before any of its children: that is the order in which measurefs goes. */
static void count_node(struct r4_audit_state *s, const struct r4_node *n)
{
	struct r4_counts *c = &s->counts;
	unsigned level = n->level > R4_TWIG ? 2 : n->level - 1;

	c->nodes[level]++;
	c->used[level] += s->r->block_size - n->free_bytes;
	for (unsigned i = 0; i < n->items; i++) {
		struct r4_item item;

		r4_node_item(s->r, n, i, &item);
		c->items++;
		if (item.plugin < R4_ITEM_PLUGINS)
			c->item[item.plugin]++;
		if (item.plugin == R4_ITEM_TAIL && item.length) {
			c->tail_item_bytes += item.length;
			c->tail_sizes[31 - __builtin_clz(item.length)]++;
		}
		if (item.plugin == R4_ITEM_CTAIL && item.length > R4_CTAIL_HEADER)
			c->ctail_item_bytes += item.length - R4_CTAIL_HEADER;
		if (item.plugin == R4_ITEM_POINTER && item.length >= 8)
			count_region(c, fsa_get_le64(item.body), 1);
		for (unsigned at = 0; item.plugin == R4_ITEM_EXTENTS && at + sizeof(struct r4_extent) <= item.length; at += sizeof(struct r4_extent)) {
			uint64_t start = FSA_LE(uint64_t, item.body + at, struct r4_extent, start);

			if (start != R4_EXTENT_UNALLOCATED)
				count_region(c, start, FSA_LE(uint64_t, item.body + at, struct r4_extent, width));
		}
	}
}

/* --- items -------------------------------------------------------------------------------------------------- */

static enum fsa_status count_entry(void *arg, const struct r4_entry *e)
{
	struct r4_audit_state *s = arg;

	s->link_sum += r4_link_hash(e->ref);
	return FSA_OK;
}

static void take_safe_link(struct r4_audit_state *s, const struct r4_node *n, const struct r4_item *item)
{
	static const char *const kinds[] = { "removal", "truncation", "conversion of extents to tails", "conversion of tails to extents" };
	uint64_t kind = item->key.offset;

	R4_FIND(s->r, "safe link", item->key.objectid, r4_at(s->r, n->block) + item->offset, "%s of object 0x%llx was not finished",
		kind < sizeof(kinds) / sizeof(kinds[0]) ? kinds[kind] : "something", (ull)item->key.objectid);
}

/* The body of an item in a leaf, or an extent item in a twig. */
static enum fsa_status take_item(struct r4_audit_state *s, const struct r4_node *n, const struct r4_item *item, unsigned index, struct fsa_split *split)
{
	struct r4 *r = s->r;
	struct fsa_owner owner = object_owner(&item->key);
	struct r4_stat stat;
	struct r4_object *o;
	uint64_t bad;
	enum fsa_status st = FSA_OK;

	switch (item->plugin) {
	case R4_ITEM_STAT:
		st = r4_audit_stat(s, n, item, &stat);
		if (stat.symlink) {
			fsa_split_part(split, item->offset + stat.target, stat.target_length + 1, R4_D_SYMLINK, &owner);
			fsa_split_part(split, item->offset, stat.target, R4_D_STAT, &owner);
			fsa_split_part(split, item->offset + stat.target + stat.target_length + 1,
				       item->length - stat.target - stat.target_length - 1, R4_D_STAT, &owner);
		} else {
			fsa_split_part(split, item->offset, item->length, R4_D_STAT, &owner);
		}
		break;
	case R4_ITEM_ENTRIES:
	case R4_ITEM_SIMPLE_ENTRY:
		owner = directory_owner(&item->key);
		fsa_split_part(split, item->offset, item->length, R4_D_ENTRIES, &owner);
		bad = r->bad_entries;
		if (item->plugin == R4_ITEM_ENTRIES)
			r4_audit_dir_item(s, item);
		st = r4_entries(r, n, item, count_entry, s);
		s->damaged += r->bad_entries - bad;
		break;
	case R4_ITEM_EXTENTS:
		fsa_split_part(split, item->offset, item->length, R4_D_EXTENT_ITEM, &owner);
		st = r4_audit_extents(s, n, item);
		break;
	case R4_ITEM_TAIL:
		fsa_split_part(split, item->offset, item->length, R4_D_TAIL, &owner);
		o = r4_audit_owner(s, n, item);
		if (o)
			r4_audit_tail(s, n, item, o);
		break;
	case R4_ITEM_CTAIL:
		fsa_split_part(split, item->offset, fsa_min(item->length, R4_CTAIL_HEADER), R4_D_CLUSTER_SHIFT, &owner);
		if (item->length > R4_CTAIL_HEADER)
			fsa_split_part(split, item->offset + R4_CTAIL_HEADER, item->length - R4_CTAIL_HEADER, R4_D_CTAIL, &owner);
		o = r4_audit_owner(s, n, item);
		if (o)
			r4_audit_tail(s, n, item, o);
		break;
	case R4_ITEM_BLACKBOX:
		fsa_split_part(split, item->offset, item->length, R4_D_SAFE_LINK, &owner);
		if (r4_key_locality(&item->key) == R4_SAFE_LOCALITY)
			take_safe_link(s, n, item);
		break;
	case R4_ITEM_ACL:
		fsa_split_part(split, item->offset, item->length, R4_D_ACL, &owner);
		break;
	default:
		R4_FIND(r, "node", n->block, r4_at(r, n->block) + item->offset, "item %u is of plugin %u, 0 to %u are known", index, item->plugin,
			R4_ITEM_PLUGINS - 1);
		s->damaged++;
		fsa_split_part(split, item->offset, item->length, R4_D_UNKNOWN_ITEM, &owner);
		break;
	}
	return st;
}

static void check_order(struct r4_audit_state *s, const struct r4_node *n, unsigned index, const struct r4_item *item)
{
	char now[96], before[96];

	if (s->have_key && r4_key_compare(&item->key, &s->last_key) < 0)
		R4_FIND(s->r, "node", n->block, r4_at(s->r, n->block) + item->offset, "item %u has the key %s, the one before it in the tree %s", index,
			r4_key_text(&item->key, now), r4_key_text(&s->last_key, before));
	s->last_key = item->key;
	s->have_key = true;
}

static enum fsa_status walk(struct r4_audit_state *s, uint64_t block, unsigned level);

/* Everything in front of a child has been seen: what its pointer's key says is a lower bound. */
static enum fsa_status take_child(struct r4_audit_state *s, const struct r4_node *n, const struct r4_item *item, unsigned index)
{
	struct r4 *r = s->r;
	uint64_t block = item->length >= 8 ? fsa_get_le64(item->body) : 0;

	if (item->length != 8)
		R4_FIND(r, "node", n->block, r4_at(r, n->block) + item->offset, "pointer %u of %u bytes, 8 are right", index, item->length);
	if (!r4_block_ok(r, block, 1)) {
		R4_FIND(r, "node", n->block, r4_at(r, n->block) + item->offset, "item %u points to block %llu, blocks %llu to %llu are possible", index,
			(ull)block, (ull)r->first + 1, (ull)r->blocks - 1);
		s->damaged++;
		return FSA_OK;
	}
	if (bitset_test(&s->nodes, block)) {
		R4_FIND(r, "node", n->block, r4_at(r, n->block) + item->offset, "item %u points to block %llu, which was walked before", index, (ull)block);
		s->damaged++;
		return FSA_OK;
	}
	check_order(s, n, index, item);
	return walk(s, block, n->level - 1);
}

static void prefetch_children(const struct r4_audit_state *s, const struct r4_node *n)
{
	uint64_t first = 0, count = 0;

	for (unsigned i = 0; i <= n->items; i++) {
		struct r4_item item = { .plugin = R4_ITEM_PLUGINS };
		uint64_t block = 0;

		if (i < n->items)
			r4_node_item(s->r, n, i, &item);
		if (item.plugin == R4_ITEM_POINTER && item.length >= 8)
			block = fsa_get_le64(item.body);
		else if (i < n->items)
			continue;
		if (count && block == first + count) {
			count++;
			continue;
		}
		if (count && r4_block_ok(s->r, first, count))
			fsa_image_prefetch(s->r->fs->devices[0].image, r4_at(s->r, first), count * s->r->block_size);
		first = block;
		count = 1;
	}
}

/* By levels: leaf, twig, all above. */
static unsigned by_level(const struct r4_node *n, unsigned leaf, unsigned twig, unsigned branch)
{
	return n->level == R4_LEAF ? leaf : n->level == R4_TWIG ? twig : branch;
}

static unsigned header_detail(unsigned plugin)
{
	switch (plugin) {
	case R4_ITEM_STAT: return R4_D_STAT_HEADER;
	case R4_ITEM_SIMPLE_ENTRY:
	case R4_ITEM_ENTRIES: return R4_D_ENTRIES_HEADER;
	case R4_ITEM_POINTER: return R4_D_POINTER_HEADER;
	case R4_ITEM_EXTENTS: return R4_D_EXTENT_HEADER;
	case R4_ITEM_TAIL: return R4_D_TAIL_HEADER;
	case R4_ITEM_CTAIL: return R4_D_CTAIL_HEADER;
	default: return R4_D_OTHER_HEADER;
	}
}

static enum fsa_status take_node(struct r4_audit_state *s, const struct r4_node *n)
{
	struct r4 *r = s->r;
	struct fsa_owner owner = { .object = "node", .number = n->block };
	unsigned headers = r->block_size - n->stored_items * r->item_header_bytes;
	bool leaf = n->level == R4_LEAF;
	struct fsa_split split;
	struct r4_item item;
	enum fsa_status st = FSA_OK;

	count_node(s, n);
	if (n->damaged)
		s->damaged++;
	if (!leaf)
		prefetch_children(s, n);
	fsa_split_begin(&split, s->claims, 0, n->block, 1, 0, &owner);
	fsa_split_part(&split, 0, n->header_bytes, by_level(n, R4_D_LEAF_HEADER, R4_D_TWIG_HEADER, R4_D_BRANCH_HEADER), NULL);
	for (unsigned i = 0; i < n->items && st == FSA_OK; i++) {
		r4_node_item(r, n, i, &item);
		fsa_split_part(&split, r->block_size - (uint64_t)(i + 1) * r->item_header_bytes, r->item_header_bytes,
			       header_detail(item.plugin), NULL);
		if (item.plugin == R4_ITEM_POINTER && !leaf) {
			fsa_split_part(&split, item.offset, item.length, R4_D_POINTER, NULL);
			continue;
		}
		if (leaf || n->level == R4_TWIG) {
			if (leaf ? item.plugin == R4_ITEM_POINTER || item.plugin == R4_ITEM_EXTENTS : item.plugin != R4_ITEM_EXTENTS)
				R4_FIND(r, "node", n->block, r4_at(r, n->block) + item.offset, "item %u of plugin %u has no place on level %u", i, item.plugin,
					n->level);
			if (leaf && item.plugin == R4_ITEM_POINTER) {
				fsa_split_part(&split, item.offset, item.length, R4_D_POINTER, NULL);
				continue;
			}
		}
		if (leaf) {
			check_order(s, n, i, &item);
			st = r4_audit_locality(s, r4_key_locality(&item.key));
			if (st == FSA_OK)
				st = take_item(s, n, &item, i, &split);
		} else {
			/* What it holds is looked at in its turn, between the children. */
			struct fsa_owner file = object_owner(&item.key);

			fsa_split_part(&split, item.offset, item.length, item.plugin == R4_ITEM_EXTENTS ? R4_D_EXTENT_ITEM : R4_D_UNKNOWN_ITEM, &file);
		}
	}
	if (n->damaged) {
		/* Headers and bodies of items that make no sense. */
		fsa_split_part(&split, headers, (uint64_t)(n->stored_items - n->items) * r->item_header_bytes, R4_D_UNKNOWN_ITEM, NULL);
		fsa_split_part(&split, n->free_start, headers - n->free_start, R4_D_UNKNOWN_ITEM, NULL);
	} else {
		fsa_split_part(&split, n->free_start, headers - n->free_start, by_level(n, R4_D_FREE_LEAF, R4_D_FREE_TWIG, R4_D_FREE_BRANCH), NULL);
	}
	fsa_split_end(&split, R4_D_UNKNOWN_ITEM);
	return st;
}

static enum fsa_status walk(struct r4_audit_state *s, uint64_t block, unsigned level)
{
	struct r4 *r = s->r;
	struct fsa_owner owner = { .object = "node", .number = block };
	struct r4_node n;
	uint64_t fresh;
	enum fsa_status st;

	if (!bitset_set(&s->nodes, block, 1, &fresh, NULL, NULL))
		return FSA_ENOMEM;
	if (!s->raw[level])
		s->raw[level] = malloc(r->block_size);
	if (!s->raw[level])
		return FSA_ENOMEM;
	st = fsa_read(r->fs, 0, r4_at(r, block), s->raw[level], r->block_size, "node", block);
	if (st == FSA_ENOMEM)
		return st;
	if (st != FSA_OK || !r4_node_check(r, block, s->raw[level], level, &n)) {
		/* It is in use for the tree, whatever is in it. */
		s->damaged++;
		fsa_claim(s->claims, 0, block, 1, R4_D_UNKNOWN_ITEM, 0, &owner);
		return FSA_OK;
	}
	st = take_node(s, &n);
	if (s->audit->progress)
		s->audit->progress(s->audit->progress_arg, s->counts.nodes[0] + s->counts.data_blocks, r->blocks > r->free_blocks ? r->blocks - r->free_blocks : 1);
	for (unsigned i = 0; i < n.items && level > R4_LEAF && st == FSA_OK; i++) {
		struct r4_item item;

		r4_node_item(r, &n, i, &item);
		if (item.plugin == R4_ITEM_POINTER) {
			st = take_child(s, &n, &item, i);
		} else if (item.plugin == R4_ITEM_EXTENTS && level == R4_TWIG) {
			check_order(s, &n, i, &item);
			st = r4_audit_locality(s, r4_key_locality(&item.key));
			if (st == FSA_OK)
				st = r4_audit_extents(s, &n, &item);
		}
	}
	return st;
}

enum fsa_status r4_audit_tree(struct r4_audit_state *s)
{
	enum fsa_status st = walk(s, s->r->root, s->r->height);

	return st == FSA_OK ? r4_audit_locality(s, UINT64_MAX) : st;
}
