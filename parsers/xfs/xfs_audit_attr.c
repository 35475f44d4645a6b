/* SPDX-License-Identifier: GPL-2.0-only */
/* Attributes in the audit: what each byte of the attribute fork and of its blocks is. */
#include <stdlib.h>
#include <string.h>

#include "xfs_audit.h"

static enum fsa_status ignore(void *arg, const struct xf_attr *a)
{
	(void)arg;
	(void)a;
	return FSA_OK;
}

enum fsa_status xf_audit_attr_short(struct xf_audit_state *s, const struct xf_inode *i, struct xf_regions *g)
{
	uint32_t end;
	enum fsa_status st = xf_attr_short(s->x, i, ignore, NULL, &end);

	return st == FSA_OK && !xf_region_add(g, 0, end, XF_D_XATTR_SHORT) ? FSA_ENOMEM : st;
}

struct value { uint32_t block, length; };

struct attrs {
	struct xf_audit_state *s;
	const struct xf_inode *i;
	bool unreferenced;
	unsigned flags;
	const struct fsa_owner *owner;
	struct xf_pieces p;
	struct xf_regions regions;
	struct value *values;
	size_t n_values, value_room;
	struct bitset reached;		/* blocks of the fork in the order of its pieces */
	uint64_t *blocks;
	struct fsa_object *o;
};

/* Which of the fork's blocks `logical` is, counted without holes. */
static bool ordinal(const struct xf_pieces *p, uint64_t logical, uint64_t *n)
{
	uint64_t before = 0;

	for (size_t k = 0; k < p->n && p->p[k].logical <= logical; k++) {
		if (logical < p->p[k].logical + p->p[k].count) {
			*n = before + (logical - p->p[k].logical);
			return true;
		}
		before += p->p[k].count;
	}
	return false;
}

static enum fsa_status leaf_entry(void *arg, const struct xf_attr *a)
{
	struct attrs *w = arg;

	if (!xf_region_add(&w->regions, a->offset, a->length, XF_D_XATTR_LEAF))
		return FSA_ENOMEM;
	/* A half made one may have no block yet. */
	if (a->value || (a->flags & XFS_ATTR_INCOMPLETE && !a->remote) || !a->value_length)
		return FSA_OK;
	if (!xf_room((void **)&w->values, &w->value_room, w->n_values, sizeof(*w->values)))
		return FSA_ENOMEM;
	w->values[w->n_values++] = (struct value){ .block = a->remote, .length = a->value_length };
	return FSA_OK;
}

static enum fsa_status take_block(void *arg, const struct xf_attr_block *b)
{
	struct attrs *w = arg;
	struct xf *x = w->s->x;
	uint64_t n = 0, fresh = 0;
	uint32_t end;
	enum fsa_status st = FSA_OK;

	if (ordinal(&w->p, b->logical, &n) && !bitset_set(&w->reached, n, 1, &fresh, NULL, NULL))
		return FSA_ENOMEM;
	if (!fresh) {
		XF_FIND(x, "inode", w->i->number, xf_at(x, b->block), "attribute block %llu of the fork is met a second time", (ull)b->logical);
		return FSA_OK;
	}
	w->regions.n = 0;
	if (b->leaf) {
		st = xf_attr_leaf(x, w->i, b->bytes, xf_at(x, b->block), leaf_entry, w, &end);
		if (st == FSA_OK && !xf_region_add(&w->regions, 0, end, XF_D_XATTR_LEAF))
			st = FSA_ENOMEM;
	} else {
		end = (x->v5 ? (uint32_t)sizeof(struct xfs_da3_node_hdr) : (uint32_t)sizeof(struct xfs_da_node_hdr)) + 8 * b->count;
		if (!xf_region_add(&w->regions, 0, end, XF_D_XATTR_NODE))
			st = FSA_ENOMEM;
	}
	if (st != FSA_OK)
		return st;
	if (!xf_regions_sort(&w->regions))
		XF_FIND(x, "inode", w->i->number, xf_at(x, b->block), "attributes in block %llu of the fork overlap", (ull)b->logical);
	if (!w->unreferenced)
		xf_regions_claim(w->s, &w->regions, &w->p, b->logical, 1, XF_D_FREE_XATTR, w->flags, w->owner);
	return FSA_OK;
}

/* A block of a value: version 5 has a header in each. */
static void check_value_block(struct attrs *w, uint64_t block, uint32_t bytes, uint32_t done, uint8_t *b)
{
	struct xf *x = w->s->x;
	const struct xf_self self = {
		.object = "inode", .number = w->i->number, .what = "attribute value block", .crc = XFS_ATTR3_RMT_CRC_OFF,
		.blkno = offsetof(struct xfs_attr3_rmt_hdr, rm_blkno), .uuid = offsetof(struct xfs_attr3_rmt_hdr, rm_uuid),
		.owner = offsetof(struct xfs_attr3_rmt_hdr, rm_owner), .owner_bytes = 8, .want_owner = w->i->number,
	};

	if (!x->v5 || fsa_read(x->fs, 0, xf_at(x, block), b, x->block_size, "inode", w->i->number) != FSA_OK)
		return;
	if (fsa_get_be32(b) != XFS_ATTR3_RMT_MAGIC || FSA_BE(uint32_t, b, struct xfs_attr3_rmt_hdr, rm_bytes) != bytes ||
	    FSA_BE(uint32_t, b, struct xfs_attr3_rmt_hdr, rm_offset) != done) {
		XF_FIND(x, "inode", w->i->number, xf_at(x, block), "attribute value block has magic 0x%08x with %u bytes from %u on, should be "
			"0x%08x, %u, %u", fsa_get_be32(b), FSA_BE(uint32_t, b, struct xfs_attr3_rmt_hdr, rm_bytes),
			FSA_BE(uint32_t, b, struct xfs_attr3_rmt_hdr, rm_offset), XFS_ATTR3_RMT_MAGIC, bytes, done);
		return;
	}
	xf_check_self(x, &self, b, x->block_size, xf_at(x, block));
}

static enum fsa_status take_value(struct attrs *w, const struct value *v, uint8_t *scratch)
{
	struct xf *x = w->s->x;
	uint32_t header = x->v5 ? XF_REMOTE_HEADER5 : 0, count = xf_attr_remote_blocks(x, v->length), done = 0;

	for (uint32_t k = 0; k < count; k++) {
		uint32_t bytes = (uint32_t)fsa_min(x->block_size - header, v->length - done);
		uint64_t block, n = 0, fresh;

		if (!xf_pieces_find(&w->p, (uint64_t)v->block + k, &block) || !ordinal(&w->p, (uint64_t)v->block + k, &n)) {
			XF_FIND(x, "inode", w->i->number, w->i->offset, "attribute value at block %llu of the fork, which is a hole",
				(ull)v->block + k);
		} else if (!bitset_set(&w->reached, n, 1, &fresh, NULL, NULL)) {
			return FSA_ENOMEM;
		} else if (!fresh) {
			XF_FIND(x, "inode", w->i->number, xf_at(x, block), "attribute block %llu of the fork is met a second time", (ull)v->block + k);
		} else {
			if (!w->unreferenced)
				fsa_claim_with_rest(w->s->claims, 0, block, 1, header + bytes, XF_D_XATTR_VALUE, XF_D_FREE_XATTR, w->flags, w->owner);
			check_value_block(w, block, bytes, done, scratch);
		}
		done += bytes;
	}
	return FSA_OK;
}

/* Blocks that the fork maps and nothing in it leads to. */
static void take_unreached(struct attrs *w)
{
	struct xf *x = w->s->x;
	uint64_t before = 0, run;

	for (size_t k = 0; k < w->p.n; k++) {
		const struct xf_piece *p = &w->p.p[k];

		for (uint64_t b = 0; b < p->count; b += run) {
			if (bitset_run(&w->reached, before + b, p->count - b, &run) && !w->unreferenced)
				continue;
			fsa_claim(w->s->claims, 0, p->block + b, run, w->unreferenced ? XF_D_DELETED_OPEN : XF_D_FREE_XATTR, w->flags, w->owner);
			if (!w->unreferenced)
				XF_FIND(x, "inode", w->i->number, xf_at(x, p->block + b), "%llu blocks of the attribute fork from block %llu on hold no attribute",
					(ull)run, (ull)(p->logical + b));
		}
		before += p->count;
	}
}

static enum fsa_status take_node(void *arg, const struct xf_tree_block *b)
{
	struct attrs *w = arg;

	++*w->blocks;
	w->o->xattr_bytes += w->s->x->block_size;
	return xf_audit_map_node(w->s, w->i, b, true, w->unreferenced, w->flags, w->owner);
}

static enum fsa_status take_piece(void *arg, const struct xf_piece *piece)
{
	struct attrs *w = arg;
	struct xf_pieces *p = &w->p;

	if (!xf_room((void **)&p->p, &p->room, p->n, sizeof(*p->p)))
		return FSA_ENOMEM;
	p->p[p->n++] = *piece;
	p->blocks += piece->count;
	*w->blocks += piece->count;
	w->o->xattr_bytes += xf_at(w->s->x, piece->count);
	xf_owned(w->s, piece->ag, piece->ag_block, piece->count, XF_C_ATTR, w->i->number, piece->logical, piece->unwritten, true);
	return FSA_OK;
}

enum fsa_status xf_audit_attr(struct xf_audit_state *s, const struct xf_inode *i, bool unreferenced, unsigned flags,
			      const struct fsa_owner *owner, struct fsa_object *o, uint64_t *blocks)
{
	struct attrs w = { .s = s, .i = i, .unreferenced = unreferenced, .flags = flags, .owner = owner, .blocks = blocks, .o = o };
	const struct xf_map_ops ops = { .piece = take_piece, .node = take_node, .arg = &w, .seen = &s->seen };
	enum fsa_status st = xf_map_walk(s->x, i, &i->attr, &ops);
	uint8_t *scratch = NULL;

	if (st == FSA_OK && w.p.n) {
		st = bitset_init(&w.reached, w.p.blocks) ? FSA_OK : FSA_ENOMEM;
		scratch = malloc(s->x->block_size);
		if (!scratch)
			st = FSA_ENOMEM;
		if (st == FSA_OK)
			st = xf_attr_tree(s->x, i, &w.p, take_block, &w);
		for (size_t k = 0; k < w.n_values && st == FSA_OK; k++)
			st = take_value(&w, &w.values[k], scratch);
		if (st == FSA_OK)
			take_unreached(&w);
		bitset_release(&w.reached);
	}
	free(scratch);
	free(w.values);
	free(w.regions.r);
	free(w.p.p);
	return st;
}
