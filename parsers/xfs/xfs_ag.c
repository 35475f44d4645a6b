/* SPDX-License-Identifier: GPL-2.0-only */
/* The headers of an allocation group: superblock copy, AGF, AGI, AGFL, a sector each. */
#include <string.h>

#include "xfs.h"

static const uint8_t *sector(const struct xf *x, const uint8_t *sectors, unsigned n)
{
	return sectors + (size_t)n * x->sector_size;
}

/* Checksum and uuid of a header sector; place and owner are not among what these say. */
static void check_sector(struct xf *x, uint32_t ag, const char *name, const uint8_t *s, uint64_t offset, size_t crc, size_t uuid)
{
	uint32_t got, want;

	if (!x->v5)
		return;
	if (!xf_crc_ok(s, x->sector_size, crc, &got, &want))
		XF_FIND(x, "AG", ag, offset, "%s checksum 0x%08x, computed 0x%08x", name, got, want);
	if (memcmp(s + uuid, x->uuid, 16) != 0)
		XF_FIND(x, "AG", ag, offset, "%s carries another filesystem's uuid", name);
}

static bool check_magic(struct xf *x, uint32_t ag, const char *name, uint64_t offset, uint32_t got, uint32_t want)
{
	if (got == want)
		return true;
	XF_FIND(x, "AG", ag, offset, "%s has magic 0x%08x, should be 0x%08x", name, got, want);
	return false;
}

/* A copy must describe the same filesystem; counters and the like are the first one's business. */
static void check_copy(struct xf *x, uint32_t ag, const uint8_t *s, uint64_t offset)
{
	uint32_t got, want;

	if (!check_magic(x, ag, "superblock copy", offset, XF_SB32(s, sb_magicnum), XFS_SB_MAGIC))
		return;
	if (x->v5 && !xf_crc_ok(s, x->sector_size, XFS_SB_CRC_OFF, &got, &want))
		XF_FIND(x, "AG", ag, offset, "superblock copy has checksum 0x%08x, computed 0x%08x", got, want);
	if (XF_SB(s, sb_dblocks) != x->blocks || XF_SB32(s, sb_blocksize) != x->block_size ||
	    XF_SB32(s, sb_agblocks) != x->ag_blocks || XF_SB32(s, sb_agcount) != x->ag_count)
		XF_FIND(x, "AG", ag, offset, "superblock copy says %llu blocks of %u bytes in %u groups of %u, the first says %llu of "
			"%u in %u of %u", (ull)XF_SB(s, sb_dblocks), XF_SB32(s, sb_blocksize), XF_SB32(s, sb_agcount),
			XF_SB32(s, sb_agblocks), (ull)x->blocks, x->block_size, x->ag_count, x->ag_blocks);
}

static void read_agf(struct xf *x, struct xf_ag *a, const uint8_t *s, uint64_t offset)
{
	if (!check_magic(x, a->number, "AGF", offset, XF_AGF(s, agf_magicnum), XFS_AGF_MAGIC))
		return;
	check_sector(x, a->number, "AGF", s, offset, XFS_AGF_CRC_OFF, offsetof(struct xfs_agf, agf_uuid));
	if (XF_AGF(s, agf_seqno) != a->number || XF_AGF(s, agf_length) != a->length)
		XF_FIND(x, "AG", a->number, offset, "AGF says it is of AG %u with %u blocks, it is of AG %u with %u",
			XF_AGF(s, agf_seqno), XF_AGF(s, agf_length), a->number, a->length);
	a->root[XF_BNO] = fsa_get_be32(s + XF_AGF_ROOTS);
	a->root[XF_CNT] = fsa_get_be32(s + XF_AGF_ROOTS + 4);
	a->root[XF_RMAP] = fsa_get_be32(s + XF_AGF_ROOTS + 8);
	a->level[XF_BNO] = fsa_get_be32(s + XF_AGF_LEVELS);
	a->level[XF_CNT] = fsa_get_be32(s + XF_AGF_LEVELS + 4);
	a->level[XF_RMAP] = fsa_get_be32(s + XF_AGF_LEVELS + 8);
	a->root[XF_REFC] = XF_AGF(s, agf_refcount_root);
	a->level[XF_REFC] = XF_AGF(s, agf_refcount_level);
	a->has[XF_BNO] = a->has[XF_CNT] = true;
	a->has[XF_RMAP] = x->rmapbt;
	a->has[XF_REFC] = x->reflink;
	a->fl_first = XF_AGF(s, agf_flfirst);
	a->fl_last = XF_AGF(s, agf_fllast);
	a->fl_count = XF_AGF(s, agf_flcount);
	a->free_blocks = XF_AGF(s, agf_freeblks);
	a->longest = XF_AGF(s, agf_longest);
	a->btree_blocks = XF_AGF(s, agf_btreeblks);
	a->rmap_blocks = XF_AGF(s, agf_rmap_blocks);
	a->refc_blocks = XF_AGF(s, agf_refcount_blocks);
	a->agf_ok = true;
}

static void read_agi(struct xf *x, struct xf_ag *a, const uint8_t *s, uint64_t offset)
{
	if (!check_magic(x, a->number, "AGI", offset, XF_AGI(s, agi_magicnum), XFS_AGI_MAGIC))
		return;
	check_sector(x, a->number, "AGI", s, offset, XFS_AGI_CRC_OFF, offsetof(struct xfs_agi, agi_uuid));
	if (XF_AGI(s, agi_seqno) != a->number || XF_AGI(s, agi_length) != a->length)
		XF_FIND(x, "AG", a->number, offset, "AGI says it is of AG %u with %u blocks, it is of AG %u with %u",
			XF_AGI(s, agi_seqno), XF_AGI(s, agi_length), a->number, a->length);
	a->root[XF_INO] = XF_AGI(s, agi_root);
	a->level[XF_INO] = XF_AGI(s, agi_level);
	a->root[XF_FINO] = XF_AGI(s, agi_free_root);
	a->level[XF_FINO] = XF_AGI(s, agi_free_level);
	a->has[XF_INO] = true;
	a->has[XF_FINO] = x->finobt;
	a->inodes = XF_AGI(s, agi_count);
	a->free_inodes = XF_AGI(s, agi_freecount);
	a->ino_blocks = XF_AGI(s, agi_iblocks);
	a->fino_blocks = XF_AGI(s, agi_fblocks);
	for (unsigned k = 0; k < XFS_AGI_UNLINKED_BUCKETS; k++)
		a->unlinked[k] = fsa_get_be32(s + offsetof(struct xfs_agi, agi_unlinked) + 4 * (size_t)k);
	a->agi_ok = true;
}

void xf_ag_read(struct xf *x, uint32_t number, uint8_t *sectors, struct xf_ag *a)
{
	uint64_t at = xf_at(x, xf_linear(x, number, 0));
	uint64_t agfl = at + 3 * (uint64_t)x->sector_size;

	memset(a, 0, sizeof(*a));
	a->number = number;
	a->length = xf_ag_length(x, number);
	for (unsigned k = 0; k < XFS_AGI_UNLINKED_BUCKETS; k++)
		a->unlinked[k] = NULLAGINO;
	if (fsa_read(x->fs, 0, at, sectors, 4 * (size_t)x->sector_size, "AG", number) != FSA_OK) {
		memset(sectors, 0, 4 * (size_t)x->sector_size);
		return;
	}
	if (number)
		check_copy(x, number, sector(x, sectors, 0), at);
	read_agf(x, a, sector(x, sectors, 1), at + x->sector_size);
	read_agi(x, a, sector(x, sectors, 2), at + 2 * (uint64_t)x->sector_size);
	if (!x->v5) {
		a->agfl_ok = true;	/* numbers only, nothing that says what it is */
		return;
	}
	if (!check_magic(x, number, "AGFL", agfl, fsa_get_be32(sector(x, sectors, 3)), XFS_AGFL_MAGIC))
		return;
	check_sector(x, number, "AGFL", sector(x, sectors, 3), agfl, XFS_AGFL_CRC_OFF, offsetof(struct xfs_agfl, agfl_uuid));
	a->agfl_ok = true;
}

enum fsa_status xf_agfl_each(struct xf *x, const struct xf_ag *a, const uint8_t *sectors,
			     enum fsa_status (*fn)(void *arg, uint32_t block), void *arg)
{
	const uint8_t *s = sector(x, sectors, 3);
	uint32_t header = x->v5 ? XF_AGFL_HEADER5 : 0, slots = (x->sector_size - header) / 4;
	uint64_t at = xf_at(x, xf_linear(x, a->number, 0)) + 3 * (uint64_t)x->sector_size;
	uint32_t slot = a->fl_first, want;
	enum fsa_status st = FSA_OK;

	if (!a->agf_ok || !a->agfl_ok || !a->fl_count)
		return FSA_OK;
	want = a->fl_first <= a->fl_last ? a->fl_last - a->fl_first + 1 : slots - a->fl_first + a->fl_last + 1;
	if (a->fl_first >= slots || a->fl_last >= slots || a->fl_count > slots || a->fl_count != want) {
		XF_FIND(x, "AG", a->number, at, "free list from slot %u to %u with %u blocks, the AGFL has %u slots", a->fl_first,
			a->fl_last, a->fl_count, slots);
		if (a->fl_first >= slots || a->fl_count > slots)
			return FSA_OK;
	}
	for (uint32_t k = 0; k < a->fl_count && st == FSA_OK; k++, slot = slot + 1 == slots ? 0 : slot + 1) {
		uint32_t block = fsa_get_be32(s + header + 4 * (size_t)slot);

		if (!xf_ag_block_ok(x, a->number, block, 1))
			XF_FIND(x, "AG", a->number, at + header + 4 * (uint64_t)slot, "free list names block %u, the AG has %u", block, a->length);
		else
			st = fn(arg, block);
	}
	return st;
}
