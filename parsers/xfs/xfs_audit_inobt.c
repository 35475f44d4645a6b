/* SPDX-License-Identifier: GPL-2.0-only */
/* The inode trees: which chunks there are, which inodes in them are in use; and lists of unlinked ones. */
#include <stdlib.h>
#include <string.h>

#include "xfs_audit.h"

struct record { uint32_t start, count, free_count; uint16_t holes; uint64_t free; };

struct inode_walk {
	struct xf_tree_claimer claimer;		/* first: the block callback takes it */
	uint64_t next;				/* inode number that the next record may start at */
	uint64_t inodes, free_inodes;
	size_t with_free, free_records;
};

static void decode(const struct xf *x, const uint8_t *r, struct record *c)
{
	c->start = fsa_get_be32(r);
	c->free = fsa_get_be64(r + 8);
	if (x->sparse) {
		c->holes = fsa_get_be16(r + 4);
		c->count = r[6];
		c->free_count = r[7];
	} else {
		c->holes = 0;
		c->count = XFS_INODES_PER_CHUNK;
		c->free_count = fsa_get_be32(r + 4);
	}
}

static uint64_t hole_mask(uint16_t holes)
{
	uint64_t mask = 0;

	for (unsigned k = 0; k < XFS_INOBT_HOLEMASK_BITS; k++)
		if (holes >> k & 1)
			mask |= UINT64_C(0xf) << (4 * k);
	return mask;
}

static enum fsa_status take_inodes(void *arg, const uint8_t *r, uint64_t at)
{
	struct inode_walk *w = arg;
	struct xf_audit_state *s = w->claimer.s;
	struct xf *x = s->x;
	const struct xf_ag *a = w->claimer.a;
	struct xf_ag_state *g = &s->ag[a->number];
	struct xf_chunk *c;
	struct record rec;
	uint64_t holes, real_free;
	uint32_t blocks = x->inopb >= XFS_INODES_PER_CHUNK ? 1 : (uint32_t)XFS_INODES_PER_CHUNK >> x->inopb_log;

	decode(x, r, &rec);
	if (rec.start < w->next || rec.start % fsa_min(x->inopb, XFS_INODES_PER_CHUNK) ||
	    !xf_ag_block_ok(x, a->number, rec.start >> x->inopb_log, rec.holes ? 1 : blocks)) {
		XF_FIND(x, "AG", a->number, at, "inode B-tree: chunk at inode %u of the AG, the one before ends at %llu and the AG has %u blocks", rec.start,
			(ull)w->next, a->length);
		return FSA_OK;
	}
	w->next = (uint64_t)rec.start + XFS_INODES_PER_CHUNK;
	holes = hole_mask(rec.holes);
	real_free = rec.free & ~holes;
	if ((unsigned)__builtin_popcountll(~holes) != rec.count || (unsigned)__builtin_popcountll(real_free) != rec.free_count)
		XF_FIND(x, "AG", a->number, at, "inode B-tree: chunk at inode %u says it has %u inodes, %u free; its masks make %d and %d", rec.start,
			rec.count, rec.free_count, __builtin_popcountll(~holes), __builtin_popcountll(real_free));
	w->inodes += (unsigned)__builtin_popcountll(~holes);
	w->free_inodes += (unsigned)__builtin_popcountll(real_free);
	w->with_free += real_free != 0;
	if (!xf_room((void **)&g->chunk, &g->chunk_room, g->n_chunks, sizeof(*g->chunk)))
		return FSA_ENOMEM;
	c = &g->chunk[g->n_chunks++];
	memset(c, 0, sizeof(*c));
	c->start = rec.start;
	c->holes = rec.holes;
	c->free = rec.free;
	return FSA_OK;
}

/* The free inode tree repeats the records that have a free inode. */
static enum fsa_status take_free(void *arg, const uint8_t *r, uint64_t at)
{
	struct inode_walk *w = arg;
	struct xf_audit_state *s = w->claimer.s;
	const struct xf_ag *a = w->claimer.a;
	uint64_t ino = (uint64_t)a->number << s->x->agino_log;
	const struct xf_chunk *c;
	struct record rec;
	unsigned slot;

	decode(s->x, r, &rec);
	w->free_records++;
	c = xf_chunk_of(s, ino + rec.start, &slot);
	if (!c || slot || c->holes != rec.holes || c->free != rec.free || !(rec.free & ~hole_mask(rec.holes)))
		XF_FIND(s->x, "AG", a->number, at, "free inode B-tree: chunk at inode %u with free mask 0x%016llx, the inode B-tree has %s0x%016llx",
			rec.start, (ull)rec.free, c && !slot ? "" : "no such chunk ", c && !slot ? (ull)c->free : 0);
	return FSA_OK;
}

enum fsa_status xf_audit_inobt(struct xf_audit_state *s, const struct xf_ag *a)
{
	struct xf *x = s->x;
	struct inode_walk w = { .claimer = { .s = s, .a = a, .tree = XF_INO } };
	struct xf_tree_ops ops = { .record = take_inodes, .block = xf_tree_claim_block, .arg = &w, .seen = &s->seen };
	uint64_t agi = xf_at(x, xf_linear(x, a->number, 0)) + 2 * (uint64_t)x->sector_size;
	uint32_t blocks;
	enum fsa_status st;

	if (!a->agi_ok)
		return FSA_OK;
	st = xf_tree_walk(x, a, XF_INO, &ops);
	blocks = w.claimer.blocks;
	w.claimer.tree = XF_FINO;
	w.claimer.blocks = 0;
	ops.record = take_free;
	if (st == FSA_OK)
		st = xf_tree_walk(x, a, XF_FINO, &ops);
	if (st != FSA_OK)
		return st;
	s->inodes += w.inodes;
	s->free_inodes += w.free_inodes;
	if (w.inodes != a->inodes || w.free_inodes != a->free_inodes)
		XF_FIND(x, "AG", a->number, agi, "AGI counts %u inodes, %u of them free; the tree has %llu and %llu", a->inodes, a->free_inodes,
			(ull)w.inodes, (ull)w.free_inodes);
	if (x->finobt && w.free_records != w.with_free)
		XF_FIND(x, "AG", a->number, agi, "the free inode B-tree has %zu records, %zu chunks have a free inode", w.free_records, w.with_free);
	if (x->inobtcnt && (a->ino_blocks != blocks || a->fino_blocks != w.claimer.blocks))
		XF_FIND(x, "AG", a->number, agi, "AGI counts %u and %u blocks of inode trees, there are %u and %u", a->ino_blocks, a->fino_blocks, blocks,
			w.claimer.blocks);
	return FSA_OK;
}

/* --- unlinked lists ----------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

bool xf_is_unlinked(const struct xf_audit_state *s, uint64_t ino)
{
	return s->n_unlinked && bsearch(&ino, s->unlinked, s->n_unlinked, sizeof(ino), compare) != NULL;
}

static enum fsa_status follow(struct xf_audit_state *s, const struct xf_ag *a, unsigned bucket, uint64_t *left)
{
	struct xf *x = s->x;
	uint64_t agi = xf_at(x, xf_linear(x, a->number, 0)) + 2 * (uint64_t)x->sector_size;
	uint32_t agino = a->unlinked[bucket];

	while (agino != NULLAGINO) {
		uint64_t ino = ((uint64_t)a->number << x->agino_log) + agino;
		enum fsa_type type;
		struct xf_inode i;
		uint8_t *raw;
		enum fsa_status st;

		if (agino >> x->agino_log || !xf_in_use(s, ino, &type) || !*left) {
			XF_FIND(x, "AG", a->number, agi, "unlinked list %u leads to inode %u of the AG, %s", bucket, agino,
				*left ? "which is not in use" : "and it is longer than there are inodes: it has a cycle");
			return FSA_OK;
		}
		--*left;
		st = xf_inode_of(x, ino, &raw, &i);
		if (st != FSA_OK)
			return st == FSA_ENOMEM ? st : FSA_OK;
		free(raw);
		XF_FIND(x, "inode", ino, i.offset, "deleted while open (unlinked list %u of AG %u): the next mount frees it", bucket, a->number);
		if (!xf_room((void **)&s->unlinked, &s->unlinked_room, s->n_unlinked, sizeof(*s->unlinked)))
			return FSA_ENOMEM;
		s->unlinked[s->n_unlinked++] = ino;
		agino = i.next_unlinked;
	}
	return FSA_OK;
}

enum fsa_status xf_audit_unlinked(struct xf_audit_state *s, const struct xf_ag *a)
{
	uint64_t left = (uint64_t)s->ag[a->number].n_chunks * XFS_INODES_PER_CHUNK;
	enum fsa_status st = FSA_OK;
	size_t before = s->n_unlinked;

	for (unsigned k = 0; a->agi_ok && k < XFS_AGI_UNLINKED_BUCKETS && st == FSA_OK; k++)
		st = follow(s, a, k, &left);
	if (s->n_unlinked > before)
		qsort(s->unlinked, s->n_unlinked, sizeof(*s->unlinked), compare);
	return st;
}
