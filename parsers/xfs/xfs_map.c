/* SPDX-License-Identifier: GPL-2.0-only */
/* What a fork maps: extents in the inode, or a B-tree of them. */
#include <stdlib.h>
#include <string.h>

#include "xfs.h"

#define MAX_LEVELS 16

struct mapper {
	struct xf *x;
	const struct xf_inode *i;
	const struct xf_fork *f;
	const struct xf_map_ops *ops;
	struct bitset *seen;
	uint8_t *buffers;
	uint64_t next;			/* file block that the next piece may start at */
	uint64_t records;
	uint64_t last[MAX_LEVELS], right[MAX_LEVELS];
};

static const char *fork_name(const struct xf_fork *f)
{
	return f->attr ? "attribute fork" : "data fork";
}

static enum fsa_status take_record(struct mapper *m, const uint8_t *r, uint64_t at)
{
	struct xf *x = m->x;
	uint64_t l0 = fsa_get_be64(r), l1 = fsa_get_be64(r + 8);
	uint64_t start = (l0 & 0x1ff) << 43 | l1 >> BMBT_BLOCKCOUNT_BITLEN;
	struct xf_piece p = {
		.logical = (l0 & ~(UINT64_C(1) << 63)) >> 9, .count = l1 & BMBT_BLOCKCOUNT_MASK, .unwritten = l0 >> 63,
		.realtime = m->i->realtime && !m->f->attr,
	};

	m->records++;
	if (!p.count || p.logical < m->next) {
		XF_FIND(x, "inode", m->i->number, at, "%s: extent of %llu blocks at file block %llu, the one before it ends at %llu",
			fork_name(m->f), (ull)p.count, (ull)p.logical, (ull)m->next);
		return FSA_OK;
	}
	m->next = p.logical + p.count;
	if (p.realtime) {
		if (!fsa_within(start, p.count, x->rt_blocks)) {
			XF_FIND(x, "inode", m->i->number, at, "%s: extent of %llu blocks at realtime block %llu, the section has %llu",
				fork_name(m->f), (ull)p.count, (ull)start, (ull)x->rt_blocks);
			return FSA_OK;
		}
		p.block = start;
	} else {
		if (!xf_fsb(x, start, p.count, &p.ag, &p.ag_block)) {
			XF_FIND(x, "inode", m->i->number, at, "%s: extent of %llu blocks at fsblock %llu (AG %llu, block %llu) leaves the "
				"blocks of its AG", fork_name(m->f), (ull)p.count, (ull)start, (ull)(start >> x->agblk_log),
				(ull)(start & ((UINT64_C(1) << x->agblk_log) - 1)));
			return FSA_OK;
		}
		p.block = xf_linear(x, p.ag, p.ag_block);
	}
	return m->ops->piece(m->ops->arg, &p);
}

static bool check_node(struct mapper *m, unsigned level, uint64_t fsb, const uint8_t *b, uint64_t at, uint32_t max)
{
	struct xf *x = m->x;
	uint32_t magic = fsa_get_be32(b), want = x->v5 ? XFS_BMAP_CRC_MAGIC : XFS_BMAP_MAGIC;
	uint32_t got_level = fsa_get_be16(b + 4), count = fsa_get_be16(b + 6);
	const struct xf_self self = {
		.object = "inode", .number = m->i->number, .what = "extent B-tree block", .crc = XFS_BTREE_LBLOCK_CRC_OFF, .blkno = 24,
		.uuid = 40, .owner = 56, .owner_bytes = 8, .want_owner = m->i->number,
	};

	if (magic != want || got_level != level || count > max || !count) {
		XF_FIND(x, "inode", m->i->number, at, "%s: B-tree block has magic 0x%08x, level %u and %u entries, should be 0x%08x, %u, 1 to %u",
			fork_name(m->f), magic, got_level, count, want, level, max);
		return false;
	}
	xf_check_self(x, &self, b, x->block_size, at);
	if (fsa_get_be64(b + 8) != m->last[level] || (m->last[level] != NULLFSBLOCK && m->right[level] != fsb))
		XF_FIND(x, "inode", m->i->number, at, "%s: B-tree block %llu has left sibling %llu, the one before it is %llu with right "
			"sibling %llu", fork_name(m->f), (ull)fsb, (ull)fsa_get_be64(b + 8), (ull)m->last[level], (ull)m->right[level]);
	m->last[level] = fsb;
	m->right[level] = fsa_get_be64(b + 16);
	return true;
}

static enum fsa_status walk_node(struct mapper *m, uint64_t fsb, unsigned level, uint64_t key)
{
	struct xf *x = m->x;
	uint8_t *b = m->buffers + (size_t)level * x->block_size;
	uint32_t header = xf_long_header(x), ag, ag_block;
	struct xf_tree_block tb = {
		.level = level, .header = header, .record = XF_BMAP_RECORD, .key = 8, .pointer = 8, .bytes = b,
		.max = (x->block_size - header) / 16,
	};
	enum fsa_status st = FSA_OK;
	uint64_t at, fresh, first;

	if (!xf_fsb(x, fsb, 1, &ag, &ag_block)) {
		XF_FIND(x, "inode", m->i->number, m->i->offset, "%s: B-tree pointer to fsblock %llu, which no AG has", fork_name(m->f), (ull)fsb);
		return FSA_OK;
	}
	tb.block = xf_linear(x, ag, ag_block);
	at = xf_at(x, tb.block);
	if (!bitset_set(m->seen, tb.block, 1, &fresh, NULL, NULL))
		return FSA_ENOMEM;
	if (!fresh) {
		XF_FIND(x, "inode", m->i->number, at, "%s: B-tree block %llu is met a second time", fork_name(m->f), (ull)fsb);
		return FSA_OK;
	}
	if (fsa_read(x->fs, 0, at, b, x->block_size, "inode", m->i->number) != FSA_OK)
		return FSA_OK;
	if (!check_node(m, level, fsb, b, at, tb.max))
		return m->ops->node ? m->ops->node(m->ops->arg, &tb) : FSA_OK;
	tb.count = fsa_get_be16(b + 6);
	first = fsa_get_be64(b + header);
	if (!level)
		first = (first & ~(UINT64_C(1) << 63)) >> 9;
	if (first != key)
		XF_FIND(x, "inode", m->i->number, at, "%s: B-tree block starts at file block %llu, the node above it says %llu",
			fork_name(m->f), (ull)first, (ull)key);
	if (m->ops->node)
		st = m->ops->node(m->ops->arg, &tb);
	for (uint32_t k = 0; k < tb.count && st == FSA_OK; k++) {
		if (!level)
			st = take_record(m, b + header + (size_t)k * 16, at + header + (uint64_t)k * 16);
		else
			st = walk_node(m, fsa_get_be64(b + header + (size_t)tb.max * 8 + (size_t)k * 8), level - 1,
				       fsa_get_be64(b + header + (size_t)k * 8));
	}
	return st;
}

static uint32_t root_max(const struct xf_fork *f)
{
	return f->size < XF_BMDR_HEADER ? 0 : (f->size - XF_BMDR_HEADER) / 16;
}

static enum fsa_status walk_tree(struct mapper *m)
{
	struct xf *x = m->x;
	const struct xf_fork *f = m->f;
	uint32_t level, count, max = root_max(f);
	struct bitset own;
	enum fsa_status st = FSA_OK;

	level = f->size < XF_BMDR_HEADER ? 0 : fsa_get_be16(f->bytes);
	count = f->size < XF_BMDR_HEADER ? 0 : fsa_get_be16(f->bytes + 2);
	if (!level || level > MAX_LEVELS || !count || count > max) {
		XF_FIND(x, "inode", m->i->number, m->i->offset + f->offset, "%s: B-tree root of level %u with %u entries, possible are 1 to %u "
			"and 1 to %u", fork_name(f), level, count, MAX_LEVELS, max);
		return FSA_OK;
	}
	for (unsigned k = 0; k < MAX_LEVELS; k++)
		m->last[k] = m->right[k] = NULLFSBLOCK;
	m->buffers = malloc((size_t)level * x->block_size);
	if (!m->buffers || (!m->ops->seen && !bitset_init(&own, x->blocks))) {
		free(m->buffers);
		return FSA_ENOMEM;
	}
	m->seen = m->ops->seen ? m->ops->seen : &own;
	for (uint32_t k = 0; k < count && st == FSA_OK; k++)
		st = walk_node(m, fsa_get_be64(f->bytes + XF_BMDR_HEADER + (size_t)max * 8 + (size_t)k * 8), level - 1,
			       fsa_get_be64(f->bytes + XF_BMDR_HEADER + (size_t)k * 8));
	if (!m->ops->seen)
		bitset_release(&own);
	free(m->buffers);
	return st;
}

enum fsa_status xf_map_walk(struct xf *x, const struct xf_inode *i, const struct xf_fork *f, const struct xf_map_ops *ops)
{
	struct mapper m = { .x = x, .i = i, .f = f, .ops = ops };
	enum fsa_status st = FSA_OK;
	uint64_t max = f->size / XF_BMAP_RECORD;

	if (!f->size)
		return FSA_OK;
	if (f->format == XFS_DINODE_FMT_EXTENTS) {
		if (f->extents > max)
			XF_FIND(x, "inode", i->number, i->offset, "%s: %llu extents in the inode, there is room for %llu", fork_name(f),
				(ull)f->extents, (ull)max);
		for (uint64_t k = 0; k < f->extents && k < max && st == FSA_OK; k++)
			st = take_record(&m, f->bytes + k * XF_BMAP_RECORD, i->offset + f->offset + k * XF_BMAP_RECORD);
		return st;
	}
	if (f->format != XFS_DINODE_FMT_BTREE)
		return FSA_OK;
	st = walk_tree(&m);
	if (st == FSA_OK && m.records != f->extents)
		XF_FIND(x, "inode", i->number, i->offset, "%s: the inode counts %llu extents, its B-tree has %llu", fork_name(f),
			(ull)f->extents, (ull)m.records);
	return st;
}

uint32_t xf_map_root_bytes(const struct xf *x, const struct xf_fork *f, uint32_t *pointers_at, uint32_t *pointer_bytes)
{
	uint32_t max = root_max(f), count;

	(void)x;
	*pointers_at = f->size;
	*pointer_bytes = 0;
	if (f->format == XFS_DINODE_FMT_EXTENTS)
		return (uint32_t)fsa_min(f->extents, f->size / XF_BMAP_RECORD) * XF_BMAP_RECORD;
	if (f->format != XFS_DINODE_FMT_BTREE || f->size < XF_BMDR_HEADER)
		return 0;
	count = (uint32_t)fsa_min(fsa_get_be16(f->bytes + 2), max);
	*pointers_at = XF_BMDR_HEADER + max * 8;
	*pointer_bytes = count * 8;
	return XF_BMDR_HEADER + count * 8;
}

/* --- a fork's pieces as an array ---------------------------------------------------------------------- */

static enum fsa_status add_piece(void *arg, const struct xf_piece *piece)
{
	struct xf_pieces *p = arg;

	if (p->n == p->room) {
		size_t room = p->room ? p->room * 2 : 16;
		struct xf_piece *more = realloc(p->p, room * sizeof(*more));

		if (!more)
			return FSA_ENOMEM;
		p->p = more;
		p->room = room;
	}
	p->p[p->n++] = *piece;
	p->blocks += piece->count;
	return FSA_OK;
}

enum fsa_status xf_pieces_read(struct xf *x, const struct xf_inode *i, const struct xf_fork *f, struct xf_pieces *p)
{
	const struct xf_map_ops ops = { .piece = add_piece, .arg = p };

	p->n = 0;
	p->blocks = 0;
	return xf_map_walk(x, i, f, &ops);
}

bool xf_pieces_find(const struct xf_pieces *p, uint64_t logical, uint64_t *block)
{
	size_t lo = 0, hi = p->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (p->p[mid].logical + p->p[mid].count <= logical)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == p->n || p->p[lo].logical > logical)
		return false;
	*block = p->p[lo].block + (logical - p->p[lo].logical);
	return true;
}

bool xf_pieces_get(struct xf *x, const struct xf_pieces *p, uint64_t logical, uint32_t count, uint8_t *buffer,
		   const char *object, uint64_t number)
{
	for (uint32_t k = 0, n; k < count; k += n) {
		uint64_t first, next;

		if (!xf_pieces_find(p, logical + k, &first))
			return false;
		for (n = 1; k + n < count && xf_pieces_find(p, logical + k + n, &next) && next == first + n; n++)
			;
		if (fsa_read(x->fs, 0, xf_at(x, first), buffer + (size_t)k * x->block_size, (size_t)n * x->block_size, object, number) != FSA_OK)
			return false;
	}
	return true;
}
