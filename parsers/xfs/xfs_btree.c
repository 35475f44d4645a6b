/* SPDX-License-Identifier: GPL-2.0-only */
/* B-trees of an allocation group: blocks point within the AG by 32-bit numbers. */
#include <stdlib.h>
#include <string.h>

#include "xfs.h"

/* Taller than any tree can be: the kernel's own bound is below this for every block size. */
#define MAX_LEVELS 16

const struct xf_tree_type xf_tree_types[XF_TREES] = {
	[XF_BNO] = { "free space by block", XFS_ABTB_MAGIC, XFS_ABTB_CRC_MAGIC, 8, 8, XF_D_BNOBT },
	[XF_CNT] = { "free space by size", XFS_ABTC_MAGIC, XFS_ABTC_CRC_MAGIC, 8, 8, XF_D_CNTBT },
	[XF_INO] = { "inode B-tree", XFS_IBT_MAGIC, XFS_IBT_CRC_MAGIC, 16, 4, XF_D_INOBT },
	[XF_FINO] = { "free inode B-tree", XFS_FIBT_MAGIC, XFS_FIBT_CRC_MAGIC, 16, 4, XF_D_FINOBT },
	[XF_RMAP] = { "reverse map", 0, XFS_RMAP_CRC_MAGIC, 24, 40, XF_D_RMAPBT },
	[XF_REFC] = { "reference counts", 0, XFS_REFC_CRC_MAGIC, 12, 4, XF_D_REFCBT },
};

struct walker {
	struct xf *x;
	const struct xf_ag *a;
	enum xf_tree tree;
	const struct xf_tree_type *type;
	const struct xf_tree_ops *ops;
	uint8_t *buffers;			/* one block a level */
	uint32_t last[MAX_LEVELS], right[MAX_LEVELS];	/* block last met at a level, and its right sibling */
	struct bitset own;			/* entered, when the caller keeps no set */
};

/* Whether the key above a block is that of its first entry. */
static bool key_matches(enum xf_tree tree, unsigned level, const uint8_t *key, const uint8_t *first)
{
	/* A reverse-map key is block, owner, offset, the flags in the offset masked; its record has the length behind the block. */
	if (tree == XF_RMAP)
		return memcmp(key, first, 4) == 0 && memcmp(key + 4, first + (level ? 4 : 8), 8) == 0;
	return memcmp(key, first, xf_tree_types[tree].key) == 0;
}

static bool check_header(struct walker *w, uint32_t block, unsigned level, const uint8_t *b, uint64_t at, uint32_t max)
{
	struct xf *x = w->x;
	uint32_t magic = fsa_get_be32(b), want = x->v5 ? w->type->magic5 : w->type->magic4;
	uint32_t got_level = fsa_get_be16(b + 4), count = fsa_get_be16(b + 6);
	const struct xf_self self = {
		.object = "AG", .number = w->a->number, .what = w->type->name, .crc = XFS_BTREE_SBLOCK_CRC_OFF, .blkno = 16, .uuid = 32,
		.owner = 48, .owner_bytes = 4, .want_owner = w->a->number,
	};

	if (magic != want) {
		XF_FIND(x, "AG", w->a->number, at, "%s: block %u has magic 0x%08x, should be 0x%08x", w->type->name, block, magic, want);
		return false;
	}
	xf_check_self(x, &self, b, x->block_size, at);
	if (got_level != level) {
		XF_FIND(x, "AG", w->a->number, at, "%s: block %u is of level %u, should be %u", w->type->name, block, got_level, level);
		return false;
	}
	if (count > max || (!count && level)) {
		XF_FIND(x, "AG", w->a->number, at, "%s: block %u has %u entries, there is room for %u", w->type->name, block, count, max);
		return false;
	}
	if (fsa_get_be32(b + 8) != w->last[level] || (w->last[level] != NULLAGBLOCK && w->right[level] != block))
		XF_FIND(x, "AG", w->a->number, at, "%s: block %u has left sibling %u, the one before it is %u with right sibling %u",
			w->type->name, block, fsa_get_be32(b + 8), w->last[level], w->right[level]);
	w->last[level] = block;
	w->right[level] = fsa_get_be32(b + 12);
	return true;
}

static enum fsa_status walk(struct walker *w, uint32_t block, unsigned level, const uint8_t *key)
{
	struct xf *x = w->x;
	uint8_t *b = w->buffers + (size_t)level * x->block_size;
	uint32_t header = xf_short_header(x), kb = w->type->key, entry = level ? kb + 4u : w->type->record;
	struct xf_tree_block tb = { .level = level, .header = header, .record = w->type->record, .key = kb, .pointer = 4, .bytes = b };
	struct bitset *seen = w->ops->seen ? w->ops->seen : &w->own;
	enum fsa_status st = FSA_OK;
	uint64_t at, fresh;

	if (!xf_ag_block_ok(x, w->a->number, block, 1)) {
		XF_FIND(x, "AG", w->a->number, FSA_NO_OFFSET, "%s: a pointer to block %u, the AG has %u", w->type->name, block, w->a->length);
		return FSA_OK;
	}
	tb.block = xf_linear(x, w->a->number, block);
	at = xf_at(x, tb.block);
	if (!bitset_set(seen, tb.block, 1, &fresh, NULL, NULL))
		return FSA_ENOMEM;
	if (!fresh) {
		XF_FIND(x, "AG", w->a->number, at, "%s: block %u is met a second time", w->type->name, block);
		return FSA_OK;
	}
	if (fsa_read(x->fs, 0, at, b, x->block_size, "AG", w->a->number) != FSA_OK)
		return FSA_OK;
	tb.max = (x->block_size - header) / entry;
	if (!check_header(w, block, level, b, at, tb.max)) {
		tb.count = 0;
		return w->ops->block ? w->ops->block(w->ops->arg, &tb) : FSA_OK;
	}
	tb.count = fsa_get_be16(b + 6);
	if (key && tb.count && !key_matches(w->tree, level, key, b + header))
		XF_FIND(x, "AG", w->a->number, at, "%s: block %u starts with key 0x%08x, the node above it says 0x%08x", w->type->name,
			block, fsa_get_be32(b + header), fsa_get_be32(key));
	if (w->ops->block)
		st = w->ops->block(w->ops->arg, &tb);
	for (uint32_t k = 0; k < tb.count && st == FSA_OK; k++) {
		if (!level)
			st = w->ops->record(w->ops->arg, b + header + (size_t)k * tb.record, at + header + (uint64_t)k * tb.record);
		else
			st = walk(w, fsa_get_be32(b + header + (size_t)tb.max * kb + 4 * (size_t)k), level - 1, b + header + (size_t)k * kb);
	}
	return st;
}

enum fsa_status xf_tree_walk(struct xf *x, const struct xf_ag *a, enum xf_tree tree, const struct xf_tree_ops *ops)
{
	struct walker w = { .x = x, .a = a, .tree = tree, .type = &xf_tree_types[tree], .ops = ops };
	enum fsa_status st;

	if (!a->has[tree])
		return FSA_OK;
	if (!a->level[tree] || a->level[tree] > MAX_LEVELS) {
		XF_FIND(x, "AG", a->number, xf_at(x, xf_linear(x, a->number, 0)), "%s has %u levels, 1 to %u are possible", w.type->name,
			a->level[tree], MAX_LEVELS);
		return FSA_OK;
	}
	for (unsigned k = 0; k < MAX_LEVELS; k++)
		w.last[k] = w.right[k] = NULLAGBLOCK;
	w.buffers = malloc((size_t)a->level[tree] * x->block_size);
	if (!w.buffers || (!ops->seen && !bitset_init(&w.own, x->blocks))) {
		free(w.buffers);
		return FSA_ENOMEM;
	}
	st = walk(&w, a->root[tree], a->level[tree] - 1, NULL);
	for (unsigned k = 0; k < a->level[tree] && st == FSA_OK; k++)
		if (w.right[k] != NULLAGBLOCK)
			XF_FIND(x, "AG", a->number, xf_at(x, xf_linear(x, a->number, w.last[k])), "%s: the last block of level %u has right "
				"sibling %u", w.type->name, k, w.right[k]);
	free(w.buffers);
	if (!ops->seen)
		bitset_release(&w.own);
	return st;
}

void xf_tree_book(struct fsa_claims *claims, const struct xf_tree_block *b, enum xf_detail detail, enum xf_detail rest,
		  unsigned flags, const struct fsa_owner *owner)
{
	struct fsa_split split;
	uint64_t at;

	fsa_split_begin(&split, claims, 0, b->block, 1, flags, owner);
	if (!b->level) {
		at = b->header + (uint64_t)b->count * b->record;
		fsa_split_part(&split, 0, at, detail, NULL);
	} else {
		uint64_t keys = (uint64_t)b->count * b->key, pointers = (uint64_t)b->count * b->pointer;
		uint64_t start = b->header + (uint64_t)b->max * b->key;

		fsa_split_part(&split, 0, b->header + keys, detail, NULL);
		fsa_split_part(&split, b->header + keys, start - b->header - keys, rest, NULL);
		fsa_split_part(&split, start, pointers, detail, NULL);
		at = start + pointers;
	}
	fsa_split_part(&split, at, split.size - at, rest, NULL);
	fsa_split_end(&split, rest);
}
