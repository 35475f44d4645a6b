/* SPDX-License-Identifier: GPL-2.0-only */
/* The extent tree: what is allocated, how often each extent is referred to, and parts that nobody refers to. */
#include <stdlib.h>

#include "btrfs_audit.h"

static enum fsa_status take(void *arg, const struct btr_item *item)
{
	struct btr_audit *a = arg;
	struct btr *b = a->b;
	struct btr_extent e = { .start = item->key.objectid };
	uint64_t length = item->key.offset, flags, refs, at;
	unsigned device;
	const struct btr_chunk *c;
	const char *trouble = NULL;

	if (item->key.type != BTRFS_EXTENT_ITEM_KEY && item->key.type != BTRFS_METADATA_ITEM_KEY)
		return FSA_OK;
	device = btr_place(b, item->node->logical, &at);
	if (at != FSA_NO_OFFSET)
		at += item->offset;
	if (item->size < sizeof(struct btrfs_extent_item)) {
		fsa_find_on(b->findings, device, "extent", e.start, at, "item of %u bytes, at least %zu are needed", item->size,
			    sizeof(struct btrfs_extent_item));
		return FSA_OK;
	}
	refs = FSA_LE(uint64_t, item->data, struct btrfs_extent_item, refs);
	flags = FSA_LE(uint64_t, item->data, struct btrfs_extent_item, flags);
	e.data = flags & BTRFS_EXTENT_FLAG_DATA;
	if (item->key.type == BTRFS_METADATA_ITEM_KEY)
		length = b->nodesize;
	c = btr_chunk_at(b, e.start);
	if (!c || !fsa_within(e.start - c->logical, length, c->length))
		trouble = "it does not lie in one chunk";
	else if (e.start % b->sectorsize || length % b->sectorsize || !length)
		trouble = "it is not whole sectors";
	else if (!e.data && length != b->nodesize)
		trouble = "a tree block of another size than the others";
	else if ((e.data && item->key.type == BTRFS_METADATA_ITEM_KEY) || !(flags & 3) || (flags & 3) == 3)
		trouble = "its flags and its key do not agree";
	else if (a->n_extents) {
		const struct btr_extent *p = &a->extents[a->n_extents - 1];

		if (p->start + (uint64_t)p->sectors * b->sectorsize > e.start)
			trouble = "it overlaps the extent before it";
	}
	if (trouble) {
		fsa_find_on(b->findings, device, "extent", e.start, at, "%llu bytes, flags 0x%llx: %s", (ull)length, (ull)flags, trouble);
		return FSA_OK;
	}
	e.sectors = (uint32_t)(length / b->sectorsize);
	e.refs = (uint32_t)fsa_min(refs, UINT32_MAX);
	if (!btr_room((void **)&a->extents, &a->extents_room, a->n_extents, sizeof(*a->extents)))
		return FSA_ENOMEM;
	a->extents[a->n_extents++] = e;
	return FSA_OK;
}

enum fsa_status btr_audit_extents(struct btr_audit *a)
{
	const struct btr_root *root = btr_root_find(a->b, BTRFS_EXTENT_TREE_OBJECTID);
	struct btr_walk w = { .b = a->b, .item = take, .arg = a, .prefetch = true };
	enum fsa_status st;

	if (!root) {
		BTR_FIND(a->b, "root tree", FSA_NO_NUMBER, FSA_NO_OFFSET, "there is no extent tree");
		a->extents_damaged = true;
		return FSA_OK;
	}
	st = btr_walk_root(&w, root);
	a->extents_damaged = w.damaged;
	return st;
}

struct btr_extent *btr_extent_find(struct btr_audit *a, uint64_t start)
{
	size_t low = 0, high = a->n_extents;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (a->extents[mid].start < start)
			low = mid + 1;
		else
			high = mid;
	}
	return low < a->n_extents && a->extents[low].start == start ? &a->extents[low] : NULL;
}

size_t btr_extent_behind(const struct btr_audit *a, uint64_t logical)
{
	size_t low = 0, high = a->n_extents;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const struct btr_extent *e = &a->extents[mid];

		if (e->start + (uint64_t)e->sectors * a->b->sectorsize <= logical)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* --- parts that no file refers to ------------------------------------------------------------------------------------ */

/* The first file that holds an extent, by its back references: who is to be told. */
struct holder { uint64_t start; uint64_t root, inode; };

static void take_data_ref(struct holder *h, const uint8_t *p)
{
	h->root = FSA_LE(uint64_t, p, struct btrfs_extent_data_ref, root);
	h->inode = FSA_LE(uint64_t, p, struct btrfs_extent_data_ref, objectid);
}

static enum fsa_status find_holder(void *arg, const struct btr_item *item)
{
	const uint32_t head = (uint32_t)sizeof(struct btrfs_extent_item);
	struct holder *h = arg;

	if (item->key.objectid != h->start)
		return FSA_STOP;
	if (item->key.type == BTRFS_EXTENT_DATA_REF_KEY && item->size >= sizeof(struct btrfs_extent_data_ref)) {
		take_data_ref(h, item->data);
		return FSA_STOP;
	}
	if (item->key.type != BTRFS_EXTENT_ITEM_KEY)
		return FSA_OK;
	for (uint32_t at = head; at < item->size;) {
		uint8_t type = item->data[at];
		uint32_t size = type == BTRFS_EXTENT_DATA_REF_KEY ? 1 + (uint32_t)sizeof(struct btrfs_extent_data_ref) :
				type == BTRFS_SHARED_DATA_REF_KEY ? 13 : 9;

		if (size > item->size - at)
			break;
		if (type == BTRFS_EXTENT_DATA_REF_KEY) {
			take_data_ref(h, item->data + at + 1);
			return FSA_STOP;
		}
		at += size;
	}
	return FSA_OK;
}

bool btr_extent_holder(struct btr_audit *a, uint64_t logical, uint64_t *root_id, uint64_t *inode)
{
	const struct btr_root *root = btr_root_find(a->b, BTRFS_EXTENT_TREE_OBJECTID);
	size_t i = btr_extent_behind(a, logical);
	struct btr_walk w = { .b = a->b, .item = find_holder };
	struct holder h = { .inode = 0 };

	if (!root || i == a->n_extents || a->extents[i].start > logical)
		return false;
	h.start = a->extents[i].start;
	w.arg = &h;
	w.from = (struct btr_key){ h.start, BTRFS_EXTENT_ITEM_KEY, 0 };
	btr_walk_root(&w, root);
	*root_id = h.root;
	*inode = h.inode;
	return h.inode != 0;
}

static void claim_unreferenced(struct btr_audit *a, const struct btr_extent *e, uint64_t logical, uint64_t length)
{
	struct fsa_owner owner = { .object = "extent", .number = e->start };
	uint64_t root, inode;

	if (fsa_claims_want_owners(a->claims) && btr_extent_holder(a, logical, &root, &inode))
		owner = (struct fsa_owner){ .object = "inode", .number = inode, .ref = btr_ref(root, inode), .has_ref = true };
	btr_claim(a, logical, length, BTR_D_UNREFERENCED, 0, &owner);
	a->unreferenced_bytes += length;
}

/* Sectors of a used extent that no file refers to: left behind when a part of it was written anew. */
void btr_audit_unreferenced(struct btr_audit *a)
{
	const struct btr *b = a->b;

	for (size_t i = 0; i < a->n_extents; i++) {
		const struct btr_extent *e = &a->extents[i];
		const struct btr_chunk *c = btr_chunk_at(b, e->start);
		uint64_t at, left, logical = e->start, run;

		if (!e->data || !e->used || !c)
			continue;
		at = btr_bit(b, c, e->start);
		for (left = e->sectors; left; left -= run, at += run, logical += run * b->sectorsize)
			if (!bitset_run(&a->referenced, at, left, &run))
				claim_unreferenced(a, e, logical, run * b->sectorsize);
	}
}
