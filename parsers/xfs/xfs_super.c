/* SPDX-License-Identifier: GPL-2.0-only */
/* The superblock: deciding whether what it says can be true, and telling it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "xfs.h"

#define REFUSE(...) return fsa_fail(err, FSA_EDAMAGED, __VA_ARGS__)

/* What one mapping of a sparse image may cost: beyond this the superblock must be backed by the image. */
#define PLAUSIBLE_BLOCKS (UINT64_C(1) << 36)

enum fsa_status xf_read_shape(struct xf *x, const char *image, struct fsa_error *err)
{
	const uint8_t *sb = x->sb;
	uint64_t size = fsa_image_size(x->fs->devices[0].image);
	unsigned block_log = XF_SB32(sb, sb_blocklog), sector_log = XF_SB32(sb, sb_sectlog);
	unsigned dir_log = XF_SB32(sb, sb_dirblklog);
	uint64_t full;

	if (block_log < XFS_MIN_BLOCKSIZE_LOG || block_log > XFS_MAX_BLOCKSIZE_LOG || XF_SB32(sb, sb_blocksize) != 1u << block_log)
		REFUSE("%s: xfs: superblock @0x0: block size %u and its logarithm %u, 2^%d to 2^%d are possible", image,
		       XF_SB32(sb, sb_blocksize), block_log, XFS_MIN_BLOCKSIZE_LOG, XFS_MAX_BLOCKSIZE_LOG);
	/* Images of before the sector feature leave the logarithm 0 or say 9. */
	if (!sector_log)
		sector_log = XFS_MIN_SECTORSIZE_LOG;
	if (sector_log < XFS_MIN_SECTORSIZE_LOG || sector_log > XFS_MAX_SECTORSIZE_LOG || sector_log > block_log)
		REFUSE("%s: xfs: superblock @0x0: sectors of 2^%u bytes in blocks of 2^%u", image, sector_log, block_log);
	x->block_log = block_log;
	x->block_size = 1u << block_log;
	x->sector_size = 1u << sector_log;
	x->inode_log = XF_SB32(sb, sb_inodelog);
	if (x->inode_log < XFS_DINODE_MIN_LOG || x->inode_log > XFS_DINODE_MAX_LOG || x->inode_log > block_log ||
	    XF_SB32(sb, sb_inodesize) != 1u << x->inode_log || (x->v5 && x->inode_log == XFS_DINODE_MIN_LOG))
		REFUSE("%s: xfs: superblock @0x0: inodes of %u bytes (2^%u) in blocks of %u", image, XF_SB32(sb, sb_inodesize),
		       x->inode_log, x->block_size);
	x->inode_size = 1u << x->inode_log;
	x->inopb_log = block_log - x->inode_log;
	x->inopb = 1u << x->inopb_log;
	if (dir_log + block_log > XFS_MAX_BLOCKSIZE_LOG)
		REFUSE("%s: xfs: superblock @0x0: directory blocks of 2^%u bytes, at most 2^%d are possible", image,
		       dir_log + block_log, XFS_MAX_BLOCKSIZE_LOG);
	x->dir_block = x->block_size << dir_log;
	x->header_blocks = (4 * x->sector_size + x->block_size - 1) >> block_log;
	x->ag_blocks = XF_SB32(sb, sb_agblocks);
	x->ag_count = XF_SB32(sb, sb_agcount);
	x->agblk_log = XF_SB32(sb, sb_agblklog);
	x->blocks = XF_SB(sb, sb_dblocks);
	if (x->ag_blocks <= x->header_blocks + 4 || x->agblk_log > 31 || x->ag_blocks > UINT32_C(1) << x->agblk_log ||
	    x->ag_blocks <= (UINT32_C(1) << x->agblk_log) / 2)
		REFUSE("%s: xfs: superblock @0x0: allocation groups of %u blocks, whose logarithm is said to be %u", image,
		       x->ag_blocks, x->agblk_log);
	x->agino_log = x->agblk_log + x->inopb_log;
	full = (uint64_t)x->ag_blocks * x->ag_count;
	if (!x->ag_count || x->blocks > full || x->blocks <= full - x->ag_blocks ||
	    x->blocks - (full - x->ag_blocks) <= x->header_blocks)
		REFUSE("%s: xfs: superblock @0x0: %llu blocks in %u allocation groups of %u", image, (ull)x->blocks, x->ag_count,
		       x->ag_blocks);
	if (x->blocks > PLAUSIBLE_BLOCKS && size >> block_log < x->blocks / 1024)
		REFUSE("%s: xfs: superblock @0x0: %llu blocks of %u bytes, the image holds %llu bytes", image, (ull)x->blocks,
		       x->block_size, (ull)size);
	x->ags = (uint32_t)fsa_min(x->ag_count, fsa_div_up(size, (uint64_t)x->ag_blocks << block_log));
	if (XF_SB32(sb, sb_inprogress) == 1)
		REFUSE("%s: xfs: superblock @0x0: mkfs did not finish (sb_inprogress)", image);
	return FSA_OK;
}

static void read_features(struct xf *x)
{
	const uint8_t *sb = x->sb;
	uint32_t f2 = XF_SB32(sb, sb_features2);

	/* Some machines wrote the word into the padding behind it; both count (xfs_sb_has_mismatched_features2). */
	if (f2 != XF_SB32(sb, sb_bad_features2))
		f2 |= XF_SB32(sb, sb_bad_features2);
	if (!x->v5 && !(x->version & XFS_SB_VERSION_MOREBITSBIT))
		f2 = 0;
	x->features2 = f2;
	x->ftype = f2 & XFS_SB_VERSION2_FTYPE;
	x->projid32 = x->v5 || f2 & XFS_SB_VERSION2_PROJID32BIT;
	x->lazy = x->v5 || f2 & XFS_SB_VERSION2_LAZYSBCOUNTBIT;
	x->ascii_ci = x->version & XFS_SB_VERSION_BORGBIT;
	x->log_v2 = x->v5 || x->version & XFS_SB_VERSION_LOGV2BIT;
	memcpy(x->uuid, sb + offsetof(struct xfs_dsb, sb_uuid), 16);
	if (!x->v5)
		return;
	x->compat = XF_SB32(sb, sb_features_compat);
	x->ro_compat = XF_SB32(sb, sb_features_ro_compat);
	x->incompat = XF_SB32(sb, sb_features_incompat);
	x->log_incompat = XF_SB32(sb, sb_features_log_incompat);
	x->ftype = x->incompat & XFS_SB_FEAT_INCOMPAT_FTYPE;
	x->finobt = x->ro_compat & XFS_SB_FEAT_RO_COMPAT_FINOBT;
	x->rmapbt = x->ro_compat & XFS_SB_FEAT_RO_COMPAT_RMAPBT;
	x->reflink = x->ro_compat & XFS_SB_FEAT_RO_COMPAT_REFLINK;
	x->inobtcnt = x->ro_compat & XFS_SB_FEAT_RO_COMPAT_INOBTCNT;
	x->sparse = x->incompat & XFS_SB_FEAT_INCOMPAT_SPINODES;
	if (x->incompat & XFS_SB_FEAT_INCOMPAT_META_UUID)
		memcpy(x->uuid, sb + offsetof(struct xfs_dsb, sb_meta_uuid), 16);
}

static void read_rest(struct xf *x)
{
	const uint8_t *sb = x->sb;
	bool quota = x->version & XFS_SB_VERSION_QUOTABIT;
	const uint64_t none = UINT64_MAX;

	x->log_start = XF_SB(sb, sb_logstart);
	x->log_blocks = XF_SB32(sb, sb_logblocks);
	x->rt_blocks = XF_SB(sb, sb_rblocks);
	x->rt_extents = XF_SB(sb, sb_rextents);
	x->rt_extent_size = XF_SB32(sb, sb_rextsize);
	x->root_ino = XF_SB(sb, sb_rootino);
	x->rbm_ino = XF_SB(sb, sb_rbmino);
	x->rsum_ino = XF_SB(sb, sb_rsumino);
	x->quota_ino[0] = quota ? XF_SB(sb, sb_uquotino) : none;
	x->quota_ino[1] = quota ? XF_SB(sb, sb_gquotino) : none;
	x->quota_ino[2] = quota && x->v5 ? XF_SB(sb, sb_pquotino) : none;
	for (unsigned k = 0; k < 3; k++)
		if (!x->quota_ino[k])
			x->quota_ino[k] = none;
}

static void report_super(struct xf *x)
{
	uint64_t size = fsa_image_size(x->fs->devices[0].image), want = xf_at(x, x->blocks);
	uint32_t got, crc, ag, block;

	if (x->v5 && !x->from_copy && !xf_crc_ok(x->sb, sizeof(x->sb), XFS_SB_CRC_OFF, &got, &crc)) {
		/* The checksum covers the sector, which may be bigger than what is kept. */
		uint8_t *sector = malloc(x->sector_size);

		if (!sector || fsa_image_read(x->fs->devices[0].image, 0, sector, x->sector_size) != FSA_OK ||
		    !xf_crc_ok(sector, x->sector_size, XFS_SB_CRC_OFF, &got, &crc))
			XF_FIND(x, "superblock", 0, 0, "checksum 0x%08x, computed 0x%08x", got, crc);
		free(sector);
	}
	if (size < want)
		XF_FIND(x, "superblock", 0, 0, "%llu blocks of %u bytes are %llu bytes, the image holds %llu", (ull)x->blocks,
			x->block_size, (ull)want, (ull)size);
	if (x->log_start && !xf_fsb(x, x->log_start, x->log_blocks, &ag, &block)) {
		XF_FIND(x, "superblock", 0, 0, "log of %u blocks at fsblock %llu leaves its allocation group of %u blocks",
			x->log_blocks, (ull)x->log_start, x->ag_blocks);
		x->log_blocks = 0;
	}
	if (x->incompat & XFS_SB_FEAT_INCOMPAT_NEEDSREPAIR)
		XF_FIND(x, "superblock", 0, 0, "marked as needing xfs_repair (needsrepair)");
	if (x->rt_blocks && (!x->rt_extent_size || x->rt_blocks / x->rt_extent_size < x->rt_extents))
		XF_FIND(x, "superblock", 0, 0, "%llu realtime extents of %u blocks, the realtime device has %llu blocks",
			(ull)x->rt_extents, x->rt_extent_size, (ull)x->rt_blocks);
}

/* An external log on its own starts with a log record header. */
static bool is_log(const uint8_t *block)
{
	uint32_t version = FSA_BE(uint32_t, block, struct xlog_rec_header, h_version);

	return FSA_BE(uint32_t, block, struct xlog_rec_header, h_magicno) == XLOG_HEADER_MAGIC_NUM && version &&
	       !(version & ~(uint32_t)XLOG_VERSION_OKBITS);
}

static enum fsa_status open_filesystem(struct xf *x, const char *image, struct fsa_error *err)
{
	unsigned number;
	enum fsa_status st;

	x->version = (uint16_t)XF_SB32(x->sb, sb_versionnum);
	number = x->version & XFS_SB_VERSION_NUMBITS;
	if (number != XFS_SB_VERSION_4 && number != XFS_SB_VERSION_5)
		return fsa_fail(err, FSA_EUNSUPPORTED, "%s: xfs: superblock @0x0: version %u, only 4 and 5 are read", image, number);
	x->v5 = number == XFS_SB_VERSION_5;
	if (!(x->version & XFS_SB_VERSION_DIRV2BIT))
		return fsa_fail(err, FSA_EUNSUPPORTED, "%s: xfs: superblock @0x0: version 1 directories are not read", image);
	st = xf_read_shape(x, image, err);
	if (st != FSA_OK)
		return st;
	read_features(x);
	read_rest(x);
	st = xf_features(x, image, x->fs->options.force, err);
	if (st == FSA_OK)
		report_super(x);
	return st;
}

/* By a copy of the superblock; `why` the first is of no use. */
static enum fsa_status open_by_copy(struct xf *x, const char *image, const char *why, struct fsa_error *err)
{
	enum fsa_status st;
	uint64_t at;

	if (!xf_backup_find(x, &at))
		return FSA_ENOENT;
	x->from_copy = true;
	st = open_filesystem(x, image, err);
	if (st != FSA_OK)
		return st;
	XF_FIND(x, "superblock", 0, 0, "%s: the copy of AG %llu at 0x%llx is used, with counters from the groups' headers", why,
		(ull)(at / ((uint64_t)x->ag_blocks << x->block_log)), (ull)at);
	xf_backup_count(x);
	return FSA_OK;
}

enum fsa_status xf_open(struct fsa_fs *fs, struct fsa_error *err)
{
	struct fsa_image *image = fs->devices[0].image;
	enum fsa_status st = FSA_OK;
	struct xf *x = calloc(1, sizeof(*x));

	if (!x)
		return fsa_fail(err, FSA_ENOMEM, "%s: out of memory", fsa_image_name(image));
	x->fs = fs;
	x->findings = fs->findings;
	x->log_role = x->rt_role = -1;
	for (unsigned i = 1; i < fs->n_devices; i++) {
		if (fs->devices[i].role == FSA_ROLE_LOG)
			x->log_role = (int)i;
		if (fs->devices[i].role == FSA_ROLE_REALTIME)
			x->rt_role = (int)i;
	}
	if (fsa_image_read(image, 0, x->sb, sizeof(x->sb)) != FSA_OK) {
		free(x);
		return FSA_ENOENT;
	}
	if (XF_SB32(x->sb, sb_magicnum) == XFS_SB_MAGIC) {
		struct fsa_error first = { .message = "" }, second;
		const char *why;

		st = open_filesystem(x, fsa_image_name(image), &first);
		if (st == FSA_EDAMAGED) {
			why = strstr(first.message, "@0x0: ");
			st = open_by_copy(x, fsa_image_name(image), why ? why + 6 : first.message, &second);
			/* When there is no copy either, what is wrong with the first is what there is to say. */
			if (st == FSA_ENOENT)
				st = FSA_EDAMAGED;
			else
				first = second;
		}
		if (st != FSA_OK && err)
			*err = first;
	} else if (xf_has_ag_headers(image)) {
		st = open_by_copy(x, fsa_image_name(image), "no magic, though the headers of AG 0 follow", err);
	} else if (is_log(x->sb)) {
		x->log_device = true;
		x->block_log = 9;
		x->block_size = XF_BBSIZE;
		x->blocks = fsa_image_size(image) / XF_BBSIZE;
		x->log_blocks = (uint32_t)fsa_min(x->blocks, UINT32_MAX);
		x->log_role = 0;
		x->log_v2 = FSA_BE(uint32_t, x->sb, struct xlog_rec_header, h_version) == XLOG_VERSION_2;
	} else {
		st = FSA_ENOENT;
	}
	if (st != FSA_OK) {
		free(x);
		return st;
	}
	fs->state = x;
	return FSA_OK;
}

static void uuid_text(const uint8_t *u, char text[40])
{
	size_t n = 0;

	for (int i = 0; i < 16; i++)
		n += (size_t)snprintf(text + n, 40 - n, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", u[i]);
}

enum fsa_status xf_summary(struct fsa_fs *fs, struct fsa_summary *s)
{
	struct xf *x = xf_of(fs);
	size_t n = 0;

	memset(s, 0, sizeof(*s));
	s->block_size = x->block_size;
	s->blocks = x->blocks;
	memcpy(s->features, x->features.names, sizeof(s->features));
	xf_log_check(x);
	s->clean = x->log_known && !x->log_dirty;
	snprintf(s->state, sizeof(s->state), "%s", !x->log_known ? "unknown: log not read" :
		 x->log_dirty ? "log needs recovery" : "clean");
	if (x->log_device) {
		snprintf(s->type, sizeof(s->type), "xfs_external_log");
		uuid_text(x->sb + offsetof(struct xlog_rec_header, h_fs_uuid), s->uuid);
		return FSA_OK;
	}
	snprintf(s->type, sizeof(s->type), "xfs");
	snprintf(s->version, sizeof(s->version), "%u", x->version & XFS_SB_VERSION_NUMBITS);
	memcpy(s->label, x->sb + offsetof(struct xfs_dsb, sb_fname), XFSLABEL_MAX);
	uuid_text(x->sb + offsetof(struct xfs_dsb, sb_uuid), s->uuid);
	if (!x->log_start && x->log_role < 0)
		n = (size_t)snprintf(s->external, 64, "log of %u blocks (--log-device)", x->log_blocks);
	if (x->rt_blocks && x->rt_role < 0 && n < sizeof(s->external))
		snprintf(s->external + n, sizeof(s->external) - n, "%srealtime section of %llu blocks (--rt-device)", n ? ", " : "",
			 (ull)x->rt_blocks);
	return FSA_OK;
}
