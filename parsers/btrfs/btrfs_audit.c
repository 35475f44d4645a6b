/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The audit as a whole: the allocation side first (extent tree, chunks, devices), then every tree node by
 * node, live subvolumes before deleted ones so that what both hold is booked to the living.
 */
#include "btrfs_audit.h"

#include <stdlib.h>

enum fsa_status btr_geometry(struct fsa_fs *fs, struct fsa_ledger *ledger)
{
	const struct btr *b = btr_of(fs);
	enum fsa_status st = FSA_OK;

	for (unsigned i = 0; i < fs->n_devices && st == FSA_OK; i++) {
		uint64_t bytes = 0;

		for (size_t k = 0; k < b->n_devices; k++)
			if (b->devices[k].image == (int)i)
				bytes = b->devices[k].total_bytes;
		st = fsa_ledger_add_device(ledger, bytes / b->sectorsize, b->sectorsize, fsa_image_size(fs->devices[i].image));
	}
	return st;
}

/* --- claims ------------------------------------------------------------------------------------------------------ */

uint64_t btr_claim(struct btr_audit *a, uint64_t logical, uint64_t length, enum btr_detail detail, unsigned flags,
		   const struct fsa_owner *owner)
{
	struct btr *b = a->b;
	uint64_t claimed = 0;

	while (length) {
		unsigned f = flags;
		struct btr_segment s;

		if (!btr_segment_at(b, logical, length, &s))
			break;
		for (unsigned i = 0; i < s.copies; i++) {
			if (s.copy[i].image < 0)
				continue;
			if (!fsa_claim(a->claims, (unsigned)s.copy[i].image, btr_block(b, s.copy[i].physical), btr_block(b, s.length),
				       detail, f, owner))
				continue;
			f &= ~(unsigned)FSA_CLAIM_CHARGED;
		}
		if (f != flags)
			claimed += s.length;
		logical += s.length;
		length -= s.length;
	}
	return claimed;
}

bool btr_part_add(struct btr_audit *a, uint64_t offset, uint64_t length, enum btr_detail detail, uint64_t inode)
{
	if (!length)
		return true;
	if (!btr_room((void **)&a->parts, &a->parts_room, a->n_parts, sizeof(*a->parts)))
		return false;
	a->parts[a->n_parts++] = (struct btr_part){
		.offset = (uint32_t)offset, .length = (uint32_t)length, .detail = (uint16_t)detail, .inode = inode,
	};
	return true;
}

static bool split_copy(struct btr_audit *a, const struct btr_segment *s, unsigned copy, uint64_t from, enum btr_detail rest,
		       unsigned flags, const struct fsa_owner *owner)
{
	bool owners = fsa_claims_want_owners(a->claims);
	struct fsa_split split;

	fsa_split_begin(&split, a->claims, (unsigned)s->copy[copy].image, btr_block(a->b, s->copy[copy].physical),
			btr_block(a->b, s->length), flags, owner);
	for (size_t k = 0; k < a->n_parts; k++) {
		const struct btr_part *p = &a->parts[k];
		uint64_t start = fsa_max(p->offset, from), end = fsa_min((uint64_t)p->offset + p->length, from + s->length);
		struct fsa_owner inode = { .object = "inode", .number = p->inode, .has_ref = true };

		if (start >= end)
			continue;
		if (owners && p->inode && a->root)
			inode.ref = btr_ref(a->root->id, p->inode);
		fsa_split_part(&split, start - from, end - start, p->detail, owners && p->inode && a->root ? &inode : NULL);
	}
	fsa_split_end(&split, rest);
	return split.valid;
}

uint64_t btr_claim_parts(struct btr_audit *a, uint64_t logical, uint64_t length, enum btr_detail rest, unsigned flags,
			 const struct fsa_owner *owner)
{
	uint64_t from = 0, claimed = 0;

	while (from < length) {
		unsigned f = flags;
		struct btr_segment s;

		if (!btr_segment_at(a->b, logical + from, length - from, &s))
			break;
		for (unsigned i = 0; i < s.copies; i++) {
			if (s.copy[i].image < 0)
				continue;
			if (split_copy(a, &s, i, from, rest, f, owner))
				f &= ~(unsigned)FSA_CLAIM_CHARGED;
		}
		if (f != flags)
			claimed += s.length;
		from += s.length;
	}
	a->n_parts = 0;
	return claimed;
}

/* --- sets of bits over logical space --------------------------------------------------------------------------------- */

bool btr_bits_set(struct btr_audit *a, struct bitset *set, uint64_t logical, uint64_t length)
{
	while (length) {
		const struct btr_chunk *c = btr_chunk_at(a->b, logical);
		uint64_t n, fresh;

		if (!c)
			return true;
		n = fsa_min(length, c->logical + c->length - logical);
		if (!bitset_set(set, btr_bit(a->b, c, logical), btr_block(a->b, n), &fresh, NULL, NULL))
			return false;
		logical += n;
		length -= n;
	}
	return true;
}

uint64_t btr_bits_count(const struct btr_audit *a, const struct bitset *set, uint64_t logical, uint64_t length)
{
	uint64_t sum = 0;

	while (length) {
		const struct btr_chunk *c = btr_chunk_at(a->b, logical);
		uint64_t n, run, at;

		if (!c)
			break;
		n = fsa_min(length, c->logical + c->length - logical);
		at = btr_bit(a->b, c, logical);
		for (uint64_t left = btr_block(a->b, n); left; left -= run, at += run)
			if (bitset_run(set, at, left, &run))
				sum += run;
		logical += n;
		length -= n;
	}
	return sum * a->b->sectorsize;
}

/* --- trees -------------------------------------------------------------------------------------------------------------- */

static enum fsa_status walk_tree(struct btr_audit *a, const struct btr_root *root, enum btr_role role)
{
	struct btr_walk w = {
		.b = a->b, .item = btr_audit_item, .node = btr_audit_node, .arg = a, .prefetch = true,
	};
	enum fsa_status st, end;

	a->root = root;
	a->root_index = 0;
	for (size_t i = 0; i < a->b->n_roots; i++)
		if (&a->b->roots[i] == root)
			a->root_index = (uint32_t)i + 1;
	a->role = role;
	a->count = (struct btr_tree_count){ .levels = root->level + 1u };
	a->fresh[root->level + 1] = true;
	a->file = (struct btr_file){ .open = false };
	/* What comes before is gone already. */
	if (role == BTR_ROLE_DELETED)
		w.from = root->drop_progress;
	st = btr_walk_root(&w, root);
	end = btr_file_finish(a);
	a->damaged |= w.damaged;
	if (role != BTR_ROLE_LOG && st == FSA_OK)
		btr_figure_tree(a);
	return st != FSA_OK ? st : end;
}

static enum btr_role role_of(const struct btr_root *r)
{
	if (r->id == BTRFS_TREE_RELOC_OBJECTID)
		return BTR_ROLE_RELOC;
	/* The data relocation tree is one of inodes too. */
	if (r->id == BTRFS_DATA_RELOC_TREE_OBJECTID)
		return BTR_ROLE_INTERNAL;
	if (!btr_is_subvolume(r->id))
		return BTR_ROLE_INTERNAL;
	return r->refs ? BTR_ROLE_SUBVOLUME : BTR_ROLE_DELETED;
}

struct logs { struct btr_root *roots; size_t n, room; };

static enum fsa_status take_log_root(void *arg, const struct btr_item *item)
{
	struct logs *l = arg;
	struct btr_root r;

	if (item->key.type != BTRFS_ROOT_ITEM_KEY || !btr_root_parse(item, &r) || r.level >= BTR_MAX_LEVEL)
		return FSA_OK;
	if (!btr_room((void **)&l->roots, &l->room, l->n, sizeof(*l->roots)))
		return FSA_ENOMEM;
	r.id = item->key.offset;
	l->roots[l->n++] = r;
	return FSA_OK;
}

/* What was fsynced since the last commit; the next mount replays it. */
static enum fsa_status walk_logs(struct btr_audit *a)
{
	struct btr *b = a->b;
	struct btr_root root = {
		.id = BTRFS_TREE_LOG_OBJECTID, .bytenr = fsa_le64v(b->super.log_root), .level = b->super.log_root_level,
		.refs = 1,
	};
	struct logs l = { .roots = NULL };
	struct btr_walk w = { .b = b, .item = take_log_root, .arg = &l };
	enum fsa_status st;

	if (!root.bytenr)
		return FSA_OK;
	BTR_FIND(b, "superblock", 0, b->super_offset, "the log tree at %llu waits for replay: figures are of the image as it stands",
		 (ull)root.bytenr);
	st = walk_tree(a, &root, BTR_ROLE_LOG);
	if (st == FSA_OK)
		st = btr_walk_root(&w, &root);
	for (size_t i = 0; i < l.n && st == FSA_OK; i++)
		st = walk_tree(a, &l.roots[i], BTR_ROLE_LOG);
	free(l.roots);
	return st;
}

static enum fsa_status walk_trees(struct btr_audit *a)
{
	/* Checksums before files, which are checked against them. */
	static const enum btr_role order[] = { BTR_ROLE_INTERNAL, BTR_ROLE_SUBVOLUME, BTR_ROLE_RELOC, BTR_ROLE_DELETED };
	struct btr_root chunk_root = btr_chunk_root(a->b), tree_root = btr_tree_root(a->b);
	enum fsa_status st = walk_tree(a, &chunk_root, BTR_ROLE_INTERNAL);

	if (st == FSA_OK)
		st = walk_tree(a, &tree_root, BTR_ROLE_ROOT_TREE);
	for (size_t k = 0; k < sizeof(order) / sizeof(order[0]); k++)
		for (size_t i = 0; i < a->b->n_roots && st == FSA_OK; i++)
			if (role_of(&a->b->roots[i]) == order[k])
				st = walk_tree(a, &a->b->roots[i], order[k]);
	if (st == FSA_OK)
		st = walk_logs(a);
	a->root = NULL;
	return st;
}

static void release(struct btr_audit *a)
{
	bitset_release(&a->nodes);
	bitset_release(&a->referenced);
	bitset_release(&a->summed);
	free(a->extents);
	free(a->excluded);
	free(a->places);
	free(a->parts);
	free(a->sums);
}

static enum fsa_status walk(struct btr_audit *a)
{
	uint64_t bits = btr_block(a->b, a->b->chunk_bytes);
	enum fsa_status st;

	a->sums = calloc(a->b->n_roots + 1, sizeof(*a->sums));
	if (!a->sums || !bitset_init(&a->nodes, bits) || !bitset_init(&a->referenced, bits) || !bitset_init(&a->summed, bits))
		return FSA_ENOMEM;
	st = btr_audit_extents(a);
	if (st == FSA_OK)
		st = btr_audit_space(a);
	if (st == FSA_OK)
		st = btr_audit_map(a);
	if (st == FSA_OK)
		st = walk_trees(a);
	if (st == FSA_OK)
		st = btr_check_free_space(a);
	if (st == FSA_OK)
		st = btr_audit_data(a);
	if (st == FSA_OK) {
		btr_audit_unreferenced(a);
		btr_check_totals(a);
		btr_figures(a);
	}
	return st;
}

enum fsa_status btr_audit(struct fsa_fs *fs, struct fsa_audit *audit)
{
	struct btr *b = btr_of(fs);
	struct btr_audit a = { .b = b, .audit = audit, .claims = audit->claims };
	enum fsa_status st;

	/* Nodes read while opening were not compared with their copies. */
	btr_cache_free(b);
	b->verify_copies = true;
	st = walk(&a);
	b->verify_copies = false;
	release(&a);
	return st;
}
