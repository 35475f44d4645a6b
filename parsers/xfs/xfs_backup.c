/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Another superblock, when the first cannot be used: every allocation group starts with a copy. It tells the geometry and the
 * features; counters in it are those of mkfs and are made anew from the groups' headers.
 */
#include <stdlib.h>
#include <string.h>

#include "xfs.h"

#define SCAN_BYTES (UINT64_C(16) << 30)		/* searched sector by sector where no guess was right */
#define SCAN_STEP (UINT32_C(1) << 20)
#define MOST_GROUPS_GUESSED 64u

bool xf_has_ag_headers(struct fsa_image *image)
{
	uint8_t agf[4], agi[4];

	for (unsigned log = XFS_MIN_SECTORSIZE_LOG; log <= XFS_MAX_SECTORSIZE_LOG; log++)
		if (fsa_image_read(image, UINT64_C(1) << log, agf, sizeof(agf)) == FSA_OK && fsa_get_be32(agf) == XFS_AGF_MAGIC &&
		    fsa_image_read(image, UINT64_C(2) << log, agi, sizeof(agi)) == FSA_OK && fsa_get_be32(agi) == XFS_AGI_MAGIC)
			return true;
	return false;
}

/* A copy at `at` that is one: it must say that a group starts there. Then x->sb is it. */
static bool take_copy(struct xf *x, uint64_t at)
{
	struct fsa_image *image = x->fs->devices[0].image;
	struct xf shape = { .fs = x->fs, .log_role = -1, .rt_role = -1 };
	struct fsa_error ignored;
	uint64_t group;
	uint32_t got, want;
	uint8_t *sector;
	bool ok;

	if (!at || fsa_image_read(image, at, shape.sb, sizeof(shape.sb)) != FSA_OK || XF_SB32(shape.sb, sb_magicnum) != XFS_SB_MAGIC)
		return false;
	shape.version = (uint16_t)XF_SB32(shape.sb, sb_versionnum);
	shape.v5 = (shape.version & XFS_SB_VERSION_NUMBITS) == XFS_SB_VERSION_5;
	/* mkfs says in the first one alone that it is done. */
	shape.sb[offsetof(struct xfs_dsb, sb_inprogress)] = 0;
	if ((!shape.v5 && (shape.version & XFS_SB_VERSION_NUMBITS) != XFS_SB_VERSION_4) ||
	    xf_read_shape(&shape, fsa_image_name(image), &ignored) != FSA_OK)
		return false;
	group = (uint64_t)shape.ag_blocks << shape.block_log;
	if (at % group || at / group >= shape.ag_count)
		return false;
	sector = malloc(shape.sector_size);
	ok = sector && fsa_image_read(image, at, sector, shape.sector_size) == FSA_OK &&
	     (!shape.v5 || xf_crc_ok(sector, shape.sector_size, XFS_SB_CRC_OFF, &got, &want));
	free(sector);
	if (ok)
		memcpy(x->sb, shape.sb, sizeof(x->sb));
	return ok;
}

/* Where mkfs.xfs puts the second group of a device of that size, for few groups of any block size; and where the broken one says. */
static bool guess(struct xf *x, uint64_t *at)
{
	uint64_t size = fsa_image_size(x->fs->devices[0].image);

	*at = (uint64_t)XF_SB32(x->sb, sb_agblocks) * XF_SB32(x->sb, sb_blocksize);
	if (take_copy(x, *at))
		return true;
	for (unsigned log = XFS_MIN_BLOCKSIZE_LOG; log <= XFS_MAX_BLOCKSIZE_LOG; log++)
		for (unsigned groups = 2; groups <= MOST_GROUPS_GUESSED; groups++) {
			*at = fsa_div_up(size >> log, groups) << log;
			if (take_copy(x, *at))
				return true;
		}
	return false;
}

static bool scan(struct xf *x, uint64_t *at)
{
	struct fsa_image *image = x->fs->devices[0].image;
	uint64_t size = fsa_min(fsa_image_size(image), SCAN_BYTES);
	uint8_t *bytes = malloc(SCAN_STEP);
	bool found = false;

	for (uint64_t from = 0; bytes && from < size && !found; from += SCAN_STEP) {
		uint32_t n = (uint32_t)fsa_min(SCAN_STEP, size - from);

		if (fsa_image_read(image, from, bytes, n) != FSA_OK)
			break;
		for (uint32_t k = 0; k + 4 <= n && !found; k += XF_BBSIZE) {
			*at = from + k;
			found = fsa_get_be32(bytes + k) == XFS_SB_MAGIC && take_copy(x, *at);
		}
	}
	free(bytes);
	return found;
}

static void put(uint8_t *sb, size_t field, uint64_t value)
{
	for (unsigned k = 0; k < 8; k++)
		sb[field + k] = (uint8_t)(value >> (56 - 8 * k));
}

/* mkfs writes the number of the root into the copies of the middle and the last group. */
static void find_root(struct xf *x)
{
	uint64_t group = (uint64_t)XF_SB32(x->sb, sb_agblocks) * XF_SB32(x->sb, sb_blocksize), root = XF_SB(x->sb, sb_rootino);
	uint32_t groups = XF_SB32(x->sb, sb_agcount);
	const uint32_t where[2] = { groups / 2, groups - 1 };
	uint8_t sb[sizeof(x->sb)];

	for (unsigned k = 0; k < 2 && (!root || root == NULLFSINO); k++)
		if (fsa_image_read(x->fs->devices[0].image, where[k] * group, sb, sizeof(sb)) == FSA_OK && XF_SB32(sb, sb_magicnum) == XFS_SB_MAGIC)
			root = XF_SB(sb, sb_rootino);
	put(x->sb, offsetof(struct xfs_dsb, sb_rootino), root);
	if (!root || root == NULLFSINO)
		return;
	/* The two behind it are the realtime device's, whether there is one or not. */
	put(x->sb, offsetof(struct xfs_dsb, sb_rbmino), root + 1);
	put(x->sb, offsetof(struct xfs_dsb, sb_rsumino), root + 2);
}

bool xf_backup_find(struct xf *x, uint64_t *at)
{
	if (!guess(x, at) && !scan(x, at))
		return false;
	find_root(x);
	return true;
}

/* As a mount does it that has to recover: xfs_initialize_perag_data. */
void xf_backup_count(struct xf *x)
{
	struct fsa_image *image = x->fs->devices[0].image;
	uint64_t free_blocks = 0, inodes = 0, free_inodes = 0;
	uint8_t agf[512], agi[512];

	for (uint32_t ag = 0; ag < x->ags; ag++) {
		uint64_t at = xf_at(x, xf_linear(x, ag, 0));

		if (fsa_image_read(image, at + x->sector_size, agf, sizeof(agf)) == FSA_OK && XF_AGF(agf, agf_magicnum) == XFS_AGF_MAGIC)
			free_blocks += (uint64_t)XF_AGF(agf, agf_freeblks) + XF_AGF(agf, agf_flcount) + XF_AGF(agf, agf_btreeblks);
		if (fsa_image_read(image, at + 2 * (uint64_t)x->sector_size, agi, sizeof(agi)) == FSA_OK &&
		    XF_AGI(agi, agi_magicnum) == XFS_AGI_MAGIC) {
			inodes += XF_AGI(agi, agi_count);
			free_inodes += XF_AGI(agi, agi_freecount);
		}
	}
	put(x->sb, offsetof(struct xfs_dsb, sb_fdblocks), free_blocks);
	put(x->sb, offsetof(struct xfs_dsb, sb_icount), inodes);
	put(x->sb, offsetof(struct xfs_dsb, sb_ifree), free_inodes);
}
