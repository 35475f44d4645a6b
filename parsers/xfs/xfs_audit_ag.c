/* SPDX-License-Identifier: GPL-2.0-only */
/* An allocation group's own blocks: headers, free list, B-trees; and what its free-space trees say. */
#include <stdlib.h>
#include <string.h>

#include "xfs_audit.h"

static struct fsa_owner ag_owner(uint32_t number)
{
	return (struct fsa_owner){ .object = "AG", .number = number };
}

/* The four sectors: what their structures take, and the rest of the blocks they lie in. */
static void claim_headers(struct xf_audit_state *s, const struct xf_ag *a)
{
	struct xf *x = s->x;
	const struct fsa_owner owner = ag_owner(a->number);
	uint32_t sector = x->sector_size;
	const struct { uint32_t bytes; enum xf_detail detail; } parts[4] = {
		{ sizeof(struct xfs_dsb), a->number ? XF_D_SUPERBLOCK_COPY : XF_D_SUPERBLOCK }, { sizeof(struct xfs_agf), XF_D_AGF },
		{ sizeof(struct xfs_agi), XF_D_AGI }, { sector, XF_D_AGFL },
	};
	struct fsa_split split;

	fsa_split_begin(&split, s->claims, 0, xf_linear(x, a->number, 0), x->header_blocks, 0, &owner);
	for (unsigned k = 0; k < 4; k++) {
		fsa_split_part(&split, (uint64_t)k * sector, parts[k].bytes, parts[k].detail, NULL);
		fsa_split_part(&split, (uint64_t)k * sector + parts[k].bytes, sector - parts[k].bytes, XF_D_FREE_HEADERS, NULL);
	}
	fsa_split_part(&split, 4 * (uint64_t)sector, split.size - 4 * (uint64_t)sector, XF_D_FREE_HEADERS, NULL);
	fsa_split_end(&split, XF_D_FREE_HEADERS);
	xf_owned(s, a->number, 0, x->header_blocks, XF_C_HEADERS, XFS_RMAP_OWN_FS, 0, false, false);
}

enum fsa_status xf_tree_claim_block(void *arg, const struct xf_tree_block *b)
{
	struct xf_tree_claimer *c = arg;
	struct xf_audit_state *s = c->s;
	static const enum xf_class classes[XF_TREES] = {
		[XF_BNO] = XF_C_FREE_TREES, [XF_CNT] = XF_C_FREE_TREES, [XF_RMAP] = XF_C_FREE_TREES, [XF_INO] = XF_C_INODE_TREES,
		[XF_FINO] = XF_C_INODE_TREES, [XF_REFC] = XF_C_REFC_TREE,
	};
	static const uint64_t owners[XF_TREES] = {
		[XF_BNO] = XFS_RMAP_OWN_AG, [XF_CNT] = XFS_RMAP_OWN_AG, [XF_RMAP] = XFS_RMAP_OWN_AG, [XF_INO] = XFS_RMAP_OWN_INOBT,
		[XF_FINO] = XFS_RMAP_OWN_INOBT, [XF_REFC] = XFS_RMAP_OWN_REFC,
	};
	const struct fsa_owner owner = { .object = xf_tree_types[c->tree].name, .number = c->a->number };

	c->blocks++;
	xf_tree_book(s->claims, b, xf_tree_types[c->tree].detail, XF_D_FREE_BTREE, 0, &owner);
	xf_owned(s, c->a->number, (uint32_t)(b->block - xf_linear(s->x, c->a->number, 0)), 1, classes[c->tree], owners[c->tree], 0, false,
		 false);
	return FSA_OK;
}

/* --- free space --------------------------------------------------------------------------------------- */

struct free_walk {
	struct xf_tree_claimer claimer;		/* first: the block callback takes it */
	struct bitset free;			/* of the AG, by the first tree */
	uint64_t next;				/* block behind the last record of the first tree */
	uint64_t records[2], blocks[2];
	uint32_t longest;
	uint32_t last_count, last_start;	/* of the second tree */
};

static bool free_record(struct free_walk *w, const uint8_t *r, uint64_t at, uint32_t *start, uint32_t *count)
{
	struct xf *x = w->claimer.s->x;
	const struct xf_ag *a = w->claimer.a;

	*start = fsa_get_be32(r);
	*count = fsa_get_be32(r + 4);
	if (*count && xf_ag_block_ok(x, a->number, *start, *count))
		return true;
	XF_FIND(x, "AG", a->number, at, "%s: %u free blocks at %u, the AG has %u", xf_tree_types[w->claimer.tree].name, *count, *start, a->length);
	return false;
}

static enum fsa_status take_by_block(void *arg, const uint8_t *r, uint64_t at)
{
	struct free_walk *w = arg;
	struct xf_audit_state *s = w->claimer.s;
	struct xf *x = s->x;
	const struct xf_ag *a = w->claimer.a;
	uint32_t start, count;
	uint64_t fresh;

	if (!free_record(w, r, at, &start, &count))
		return FSA_OK;
	if (start < w->next || (start == w->next && w->records[0])) {
		XF_FIND(x, "AG", a->number, at, "%s: free blocks from %u on, the record before ends at %llu", xf_tree_types[XF_BNO].name, start,
			(ull)w->next);
		if (start < w->next)
			return FSA_OK;
	}
	fsa_map_allocated(s->claims, 0, xf_linear(x, a->number, (uint32_t)w->next), start - w->next);
	fsa_map_free(s->claims, 0, xf_linear(x, a->number, start), count);
	if (!bitset_set(&w->free, start, count, &fresh, NULL, NULL))
		return FSA_ENOMEM;
	w->next = (uint64_t)start + count;
	w->records[0]++;
	w->blocks[0] += count;
	if (count > w->longest)
		w->longest = count;
	return FSA_OK;
}

static enum fsa_status take_by_size(void *arg, const uint8_t *r, uint64_t at)
{
	struct free_walk *w = arg;
	const struct xf_ag *a = w->claimer.a;
	uint32_t start, count;
	uint64_t run = 0;

	if (!free_record(w, r, at, &start, &count))
		return FSA_OK;
	if (count < w->last_count || (count == w->last_count && start <= w->last_start && w->records[1]))
		XF_FIND(w->claimer.s->x, "AG", a->number, at, "%s: %u blocks at %u follow %u at %u", xf_tree_types[XF_CNT].name, count, start,
			w->last_count, w->last_start);
	w->last_count = count;
	w->last_start = start;
	w->records[1]++;
	w->blocks[1] += count;
	if (!bitset_run(&w->free, start, (uint64_t)count + 1, &run) || run != count || bitset_test(&w->free, start - 1))
		XF_FIND(w->claimer.s->x, "AG", a->number, at, "%s has %u free blocks at %u, %s has no such record", xf_tree_types[XF_CNT].name, count,
			start, xf_tree_types[XF_BNO].name);
	return FSA_OK;
}

static enum fsa_status audit_free(struct xf_audit_state *s, const struct xf_ag *a, uint32_t *tree_blocks)
{
	struct xf *x = s->x;
	struct free_walk w = { .claimer = { .s = s, .a = a, .tree = XF_BNO } };
	struct xf_tree_ops ops = { .record = take_by_block, .block = xf_tree_claim_block, .arg = &w, .seen = &s->seen };
	uint64_t agf = xf_at(x, xf_linear(x, a->number, 0)) + x->sector_size;
	enum fsa_status st;

	if (!bitset_init(&w.free, a->length))
		return FSA_ENOMEM;
	st = xf_tree_walk(x, a, XF_BNO, &ops);
	if (st == FSA_OK && w.next < a->length)
		fsa_map_allocated(s->claims, 0, xf_linear(x, a->number, (uint32_t)w.next), a->length - w.next);
	w.claimer.tree = XF_CNT;
	ops.record = take_by_size;
	if (st == FSA_OK)
		st = xf_tree_walk(x, a, XF_CNT, &ops);
	bitset_release(&w.free);
	*tree_blocks = w.claimer.blocks;
	if (st != FSA_OK || !a->agf_ok)
		return st;
	if (w.records[0] != w.records[1] || w.blocks[0] != w.blocks[1])
		XF_FIND(x, "AG", a->number, agf, "the free-space trees disagree: by block %llu records of %llu blocks, by size %llu of %llu",
			(ull)w.records[0], (ull)w.blocks[0], (ull)w.records[1], (ull)w.blocks[1]);
	if (w.blocks[0] != a->free_blocks || w.longest != a->longest)
		XF_FIND(x, "AG", a->number, agf, "AGF counts %u free blocks, %u in the longest piece; the tree has %llu and %u", a->free_blocks,
			a->longest, (ull)w.blocks[0], w.longest);
	return FSA_OK;
}

/* --- the rest ----------------------------------------------------------------------------------------- */

struct list_walk { struct xf_audit_state *s; uint32_t ag, count; };

static enum fsa_status claim_listed(void *arg, uint32_t block)
{
	struct list_walk *w = arg;
	const struct fsa_owner owner = { .object = "AGFL", .number = w->ag };

	w->count++;
	fsa_claim(w->s->claims, 0, xf_linear(w->s->x, w->ag, block), 1, XF_D_AGFL_BLOCKS, 0, &owner);
	xf_owned(w->s, w->ag, block, 1, XF_C_FREE_TREES, XFS_RMAP_OWN_AG, 0, false, false);
	return FSA_OK;
}

static void check_agf_counts(struct xf_audit_state *s, const struct xf_ag *a, uint32_t free_trees, uint32_t rmap, uint32_t refc)
{
	struct xf *x = s->x;
	uint64_t agf = xf_at(x, xf_linear(x, a->number, 0)) + x->sector_size;
	/* Roots are not counted: each tree always has one. */
	uint32_t want = free_trees + rmap - 2 - (x->rmapbt ? 1 : 0);

	/* Fewer than a root each: what is wrong with them has been said. */
	if (!a->agf_ok || free_trees < 2 || (x->rmapbt && !rmap))
		return;
	if (x->lazy && a->btree_blocks != want)
		XF_FIND(x, "AG", a->number, agf, "AGF counts %u blocks of free-space trees, there are %u (roots not counted)", a->btree_blocks, want);
	if (x->rmapbt && a->rmap_blocks != rmap)
		XF_FIND(x, "AG", a->number, agf, "AGF counts %u blocks of the reverse map, there are %u", a->rmap_blocks, rmap);
	if (x->reflink && a->refc_blocks != refc)
		XF_FIND(x, "AG", a->number, agf, "AGF counts %u blocks of the reference count tree, there are %u", a->refc_blocks, refc);
}

enum fsa_status xf_audit_ag(struct xf_audit_state *s, uint32_t number, uint8_t *sectors)
{
	struct xf *x = s->x;
	struct list_walk list = { .s = s, .ag = number };
	uint32_t free_trees = 0, more;
	struct xf_ag a;
	enum fsa_status st;

	xf_ag_read(x, number, sectors, &a);
	claim_headers(s, &a);
	if (!a.agf_ok)
		fsa_map_allocated(s->claims, 0, xf_linear(x, number, 0), a.length);
	st = xf_agfl_each(x, &a, sectors, claim_listed, &list);
	if (st == FSA_OK && a.agf_ok)
		st = audit_free(s, &a, &free_trees);
	if (st == FSA_OK)
		st = xf_audit_rmap_tree(s, &a);
	if (st == FSA_OK)
		st = xf_audit_refc_tree(s, &a);
	if (st != FSA_OK)
		return st;
	check_agf_counts(s, &a, free_trees, s->ag[number].rmap_blocks, s->ag[number].refc_blocks);
	more = free_trees + s->ag[number].rmap_blocks;
	s->not_map_free += list.count + (more > 2 ? more - 2 - (x->rmapbt ? 1 : 0) : 0);
	st = xf_audit_inobt(s, &a);
	return st == FSA_OK ? xf_audit_unlinked(s, &a) : st;
}
