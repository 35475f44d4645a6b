/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The realtime device's bitmap, a bit an extent, 1 is free; and its summary, which counts the runs of free extents by the power of
 * two that they reach and by the block of the bitmap that they start in. Words of both are the host's that wrote them: little-endian here.
 */
#include <stdlib.h>
#include <string.h>

#include "xfs_audit.h"

#define MOST_TOLD 8u

/* Room for what the summary should be; false when there is none or its shape is impossible. */
static bool prepare(struct xf_audit_state *s)
{
	struct xf *x = s->x;
	struct xf_realtime *r = &s->realtime;
	uint64_t levels = (uint64_t)FSA_BE(uint8_t, x->sb, struct xfs_dsb, sb_rextslog) + 1;

	if (r->count)
		return true;
	r->bitmap_blocks = XF_SB32(x->sb, sb_rbmblocks);
	r->words = levels * r->bitmap_blocks;
	if (levels > 64 || !r->words || r->bitmap_blocks > x->blocks || r->words * 4 > xf_at(x, x->blocks) ||
	    r->words * 4 > fsa_image_size(x->fs->devices[0].image)) {
		r->unread = true;
		return false;
	}
	r->count = calloc((size_t)r->words, sizeof(*r->count));
	return r->count != NULL;
}

static void end_run(struct xf_audit_state *s)
{
	struct xf_realtime *r = &s->realtime;
	uint64_t block = r->start / ((uint64_t)s->x->block_size * 8), level, at;

	if (!r->length)
		return;
	level = 63 - (unsigned)__builtin_clzll(r->length);
	at = level * r->bitmap_blocks + block;
	r->free += r->length;
	r->length = 0;
	if (block < r->bitmap_blocks && at < r->words)
		r->count[at]++;
}

static void take_run(struct xf_audit_state *s, uint64_t first, uint64_t n, bool is_free)
{
	struct xf *x = s->x;
	struct xf_realtime *r = &s->realtime;

	if (!is_free || r->start + r->length != first)
		end_run(s);
	if (is_free && !r->length)
		r->start = first;
	if (is_free)
		r->length += n;
	if (x->rt_role < 0)
		return;
	if (is_free)
		fsa_map_free(s->claims, (unsigned)x->rt_role, first * x->rt_extent_size, n * x->rt_extent_size);
	else
		fsa_map_allocated(s->claims, (unsigned)x->rt_role, first * x->rt_extent_size, n * x->rt_extent_size);
}

enum fsa_status xf_rt_bitmap(struct xf_audit_state *s, const struct xf_inode *i, const struct xf_piece *p, uint8_t *b)
{
	struct xf *x = s->x;
	uint64_t bits_each = (uint64_t)x->block_size * 8;

	if (!x->rt_extents)
		return FSA_OK;
	if (!prepare(s) && !s->realtime.unread)
		return FSA_ENOMEM;
	if (p->logical != s->realtime.next)
		s->realtime.unread = true;
	for (uint64_t k = 0; k < p->count && p->logical + k < fsa_div_up(x->rt_extents, bits_each); k++) {
		uint64_t first = (p->logical + k) * bits_each, n = fsa_min(bits_each, x->rt_extents - first);

		s->realtime.next = p->logical + k + 1;
		if (p->unwritten || fsa_read(x->fs, 0, xf_at(x, p->block + k), b, x->block_size, "inode", i->number) != FSA_OK) {
			s->realtime.unread = true;
			memset(b, 0, x->block_size);
		}
		for (uint64_t at = 0, run; at < n; at += run) {
			bool is_free = b[at >> 3] >> (at & 7) & 1;

			for (run = 1; at + run < n && (b[(at + run) >> 3] >> ((at + run) & 7) & 1) == is_free; run++)
				;
			take_run(s, first + at, run, is_free);
		}
	}
	return FSA_OK;
}

/* The bitmap's inode comes before the summary's: all of it was read. */
static bool complete(struct xf_audit_state *s)
{
	struct xf_realtime *r = &s->realtime;

	if (!r->count || r->unread || r->next < fsa_div_up(s->x->rt_extents, (uint64_t)s->x->block_size * 8))
		return false;
	end_run(s);
	return true;
}

void xf_rt_summary(struct xf_audit_state *s, const struct xf_inode *i, const struct xf_piece *p, uint8_t *b)
{
	struct xf *x = s->x;
	struct xf_realtime *r = &s->realtime;
	uint64_t each = x->block_size / 4;

	if (p->unwritten || !complete(s))
		return;
	for (uint64_t k = 0; k < p->count && (p->logical + k) * each < r->words; k++) {
		uint64_t at = xf_at(x, p->block + k), first = (p->logical + k) * each;

		if (fsa_read(x->fs, 0, at, b, x->block_size, "inode", i->number) != FSA_OK)
			continue;
		for (uint64_t n = 0; n < each && first + n < r->words; n++)
			if (fsa_get_le32(b + 4 * n) != r->count[first + n] && r->told++ < MOST_TOLD)
				XF_FIND(x, "inode", i->number, at + 4 * n, "realtime summary counts %u runs of 2^%llu and more free extents that start in "
					"block %llu of the bitmap, which has %u", fsa_get_le32(b + 4 * n), (ull)((first + n) / r->bitmap_blocks),
					(ull)((first + n) % r->bitmap_blocks), r->count[first + n]);
	}
}

void xf_rt_check(struct xf_audit_state *s)
{
	struct xf *x = s->x;
	uint64_t said = XF_SB(x->sb, sb_frextents);

	/* A copy of the superblock knows nothing of it, and before replay of the log it may be old. */
	if (!x->rt_extents || x->from_copy || x->log_dirty || !x->log_known || !complete(s) || said == s->realtime.free)
		return;
	XF_FIND(x, "superblock", 0, offsetof(struct xfs_dsb, sb_frextents), "counts %llu free realtime extents, the bitmap has %llu", (ull)said,
		(ull)s->realtime.free);
}
