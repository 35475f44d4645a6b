/* SPDX-License-Identifier: GPL-2.0-only */
/* The superblock: finding it, deciding whether what it says can be true, and telling it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ext.h"

static uint64_t sb_blocks(const uint8_t *sb)
{
	uint64_t n = EXT_SB32(sb, s_blocks_count);

	if (EXT_SB32(sb, s_feature_incompat) & EXT4_FEATURE_INCOMPAT_64BIT)
		n |= (uint64_t)EXT_SB32(sb, s_blocks_count_hi) << 32;
	return n;
}

static bool has_magic(const uint8_t *sb)
{
	return EXT_SB16(sb, s_magic) == EXT2_SUPER_MAGIC;
}

/*
 * A backup, for when the first superblock is gone: the first block of group 1 for each block size whose
 * groups are full-sized, as mke2fs makes them. It must agree with its own place.
 */
static bool find_backup(struct ext *e, struct fsa_image *image)
{
	for (unsigned log = 0; log <= 6; log++) {
		uint64_t block_size = UINT64_C(1024) << log;
		uint64_t offset = (8 * block_size + (log == 0)) * block_size;

		if (fsa_image_read(image, offset, e->sb, sizeof(e->sb)) != FSA_OK || !has_magic(e->sb))
			continue;
		if (EXT_SB32(e->sb, s_log_block_size) == log && EXT_SB16(e->sb, s_block_group_nr) == 1) {
			e->sb_offset = offset;
			return true;
		}
	}
	return false;
}

#define REFUSE(...) return fsa_fail(err, FSA_EDAMAGED, __VA_ARGS__)

/* What must be true before anything else of the superblock can be used. */
static enum fsa_status read_shape(struct ext *e, const char *image, struct fsa_error *err)
{
	const uint8_t *sb = e->sb;
	uint32_t log = EXT_SB32(sb, s_log_block_size), cluster_log = EXT_SB32(sb, s_log_cluster_size);
	uint32_t rev = EXT_SB32(sb, s_rev_level);
	ull at = e->sb_offset;
	uint64_t groups;

	if (rev > EXT2_DYNAMIC_REV)
		REFUSE("%s: ext: superblock @0x%llx: revision %u, only 0 and 1 exist", image, at, rev);
	if (log > 6)
		REFUSE("%s: ext: superblock @0x%llx: block size 2^(10+%u), at most 2^16 is possible", image, at, log);
	e->block_log = log + 10;
	e->block_size = 1u << e->block_log;
	e->blocks = sb_blocks(sb);
	e->inodes = EXT_SB32(sb, s_inodes_count);
	e->first_data_block = EXT_SB32(sb, s_first_data_block);
	e->blocks_per_group = EXT_SB32(sb, s_blocks_per_group);
	e->inodes_per_group = EXT_SB32(sb, s_inodes_per_group);
	e->first_inode = rev ? EXT_SB32(sb, s_first_ino) : EXT2_GOOD_OLD_FIRST_INO;
	e->inode_size = rev ? EXT_SB16(sb, s_inode_size) : EXT2_GOOD_OLD_INODE_SIZE;
	e->bigalloc = ext_ro_compat(e, EXT4_FEATURE_RO_COMPAT_BIGALLOC);
	e->clusters_per_group = e->blocks_per_group;
	if (e->bigalloc) {
		if (cluster_log < log || cluster_log > 19)
			REFUSE("%s: ext: superblock @0x%llx: cluster size 2^(10+%u) with blocks of 2^(10+%u)", image,
			       at, cluster_log, log);
		e->cluster_log = cluster_log - log;
		e->clusters_per_group = EXT_SB32(sb, s_clusters_per_group);
	}
	e->has_64bit = ext_incompat(e, EXT4_FEATURE_INCOMPAT_64BIT);
	e->desc_size = e->has_64bit ? EXT_SB16(sb, s_desc_size) : EXT2_MIN_DESC_SIZE;
	if (e->has_64bit && e->desc_size == 0)
		e->desc_size = EXT2_MIN_DESC_SIZE;
	if (!fsa_is_power_of_two(e->desc_size) || e->desc_size < EXT2_MIN_DESC_SIZE || e->desc_size > 1024)
		REFUSE("%s: ext: superblock @0x%llx: group descriptors of %u bytes, 32 to 1024 are possible", image, at,
		       e->desc_size);
	if (!fsa_is_power_of_two(e->inode_size) || e->inode_size < EXT2_GOOD_OLD_INODE_SIZE ||
	    e->inode_size > e->block_size)
		REFUSE("%s: ext: superblock @0x%llx: inodes of %u bytes in blocks of %u", image, at, e->inode_size,
		       e->block_size);
	if (!e->inodes_per_group || e->inodes_per_group > 8 * e->block_size)
		REFUSE("%s: ext: superblock @0x%llx: %u inodes a group, 1 to %u are possible", image, at,
		       e->inodes_per_group, 8 * e->block_size);
	if (!e->clusters_per_group || e->clusters_per_group > 8 * e->block_size ||
	    (uint64_t)e->clusters_per_group << e->cluster_log != e->blocks_per_group)
		REFUSE("%s: ext: superblock @0x%llx: %u blocks in %u clusters a group, clusters of %u blocks, at most "
		       "%u clusters", image, at, e->blocks_per_group, e->clusters_per_group, 1u << e->cluster_log,
		       8 * e->block_size);
	if (e->blocks <= e->first_data_block || e->first_data_block > 1)
		REFUSE("%s: ext: superblock @0x%llx: %llu blocks, the first of them %u", image, at, (ull)e->blocks,
		       e->first_data_block);
	groups = fsa_div_up(e->blocks - e->first_data_block, e->blocks_per_group);
	if (groups > UINT32_MAX)
		REFUSE("%s: ext: superblock @0x%llx: %llu groups", image, at, (ull)groups);
	e->groups = (uint32_t)groups;
	/* What is counted beyond the groups' tables has no place: report_super says so. */
	e->inodes = (uint32_t)fsa_min(e->inodes, groups * e->inodes_per_group);
	e->table_blocks = (uint32_t)fsa_div_up((uint64_t)e->inodes_per_group * e->inode_size, e->block_size);
	e->descs_per_block = e->block_size / e->desc_size;
	e->desc_blocks = (uint32_t)fsa_div_up(groups, e->descs_per_block);
	return FSA_OK;
}

static void read_features(struct ext *e)
{
	const uint8_t *sb = e->sb;
	bool dynamic = EXT_SB32(sb, s_rev_level) != EXT2_GOOD_OLD_REV;

	/* Revision 0 has no feature words: what lies there is old padding. */
	e->compat = dynamic ? EXT_SB32(sb, s_feature_compat) : 0;
	e->incompat = dynamic ? EXT_SB32(sb, s_feature_incompat) : 0;
	e->ro_compat = dynamic ? EXT_SB32(sb, s_feature_ro_compat) : 0;
	e->metadata_csum = ext_ro_compat(e, EXT4_FEATURE_RO_COMPAT_METADATA_CSUM);
	e->gdt_csum = !e->metadata_csum && ext_ro_compat(e, EXT4_FEATURE_RO_COMPAT_GDT_CSUM);
	e->huge_file = ext_ro_compat(e, EXT4_FEATURE_RO_COMPAT_HUGE_FILE);
	e->large_dir = ext_incompat(e, EXT4_FEATURE_INCOMPAT_LARGEDIR);
	e->filetype = ext_incompat(e, EXT2_FEATURE_INCOMPAT_FILETYPE);
	e->hurd = EXT_SB32(sb, s_creator_os) == EXT2_OS_HURD;
	e->type = ext_type_name(e);
	if (ext_incompat(e, EXT4_FEATURE_INCOMPAT_CSUM_SEED))
		e->csum_seed = EXT_SB32(sb, s_checksum_seed);
	else
		e->csum_seed = fsa_crc32c(~0u, sb + offsetof(struct ext2_super_block, s_uuid), 16);
}

static void report_super(struct ext *e)
{
	struct ext_csum c;
	uint64_t want = (uint64_t)e->groups * e->inodes_per_group;

	if (!ext_csum_super(e, &c))
		EXT_FIND(e, "superblock", 0, e->sb_offset, "checksum 0x%08x, computed 0x%08x", c.got, c.want);
	if (e->metadata_csum && EXT_SB8(e->sb, s_checksum_type) != EXT2_CRC32C_CHKSUM)
		EXT_FIND(e, "superblock", 0, e->sb_offset, "checksum type %u, only %u (crc32c) exists",
			 EXT_SB8(e->sb, s_checksum_type), EXT2_CRC32C_CHKSUM);
	if (EXT_SB32(e->sb, s_inodes_count) != want)
		EXT_FIND(e, "superblock", 0, e->sb_offset, "inode count %u, %u groups of %u make %llu", EXT_SB32(e->sb, s_inodes_count),
			 e->groups, e->inodes_per_group, (ull)want);
	if (ext_ro_compat(e, EXT4_FEATURE_RO_COMPAT_QUOTA)) {
		const uint32_t files[] = {
			EXT_SB32(e->sb, s_usr_quota_inum), EXT_SB32(e->sb, s_grp_quota_inum), EXT_SB32(e->sb, s_prj_quota_inum),
		};
		static const char *const names[] = { "user", "group", "project" };

		for (int k = 0; k < 3; k++)
			if (files[k] > e->inodes)
				EXT_FIND(e, "superblock", 0, e->sb_offset, "%s quota file is inode %u, the filesystem has %u", names[k],
					 files[k], e->inodes);
	}
	if (EXT_SB16(e->sb, s_state) & EXT2_ERROR_FS)
		EXT_FIND(e, "superblock", 0, e->sb_offset, "state 0x%x: the kernel met errors and no check has cleared "
			 "the mark", EXT_SB16(e->sb, s_state));
	if (ext_incompat(e, EXT3_FEATURE_INCOMPAT_RECOVER))
		EXT_FIND(e, "superblock", 0, e->sb_offset, "the journal has work in it (needs_recovery): figures are of "
			 "the image as it stands, before replay");
}

bool ext_sb_clean(const struct ext *e)
{
	return (EXT_SB16(e->sb, s_state) & EXT2_VALID_FS) && !(EXT_SB16(e->sb, s_state) & EXT2_ERROR_FS) &&
	       !ext_incompat(e, EXT3_FEATURE_INCOMPAT_RECOVER);
}

/* In blocks also with bigalloc, unlike the counters of the groups. */
uint64_t ext_sb_free_blocks(const struct ext *e)
{
	uint64_t n = EXT_SB32(e->sb, s_free_blocks_count);

	if (e->has_64bit)
		n |= (uint64_t)EXT_SB32(e->sb, s_free_blocks_hi) << 32;
	return n;
}

static enum fsa_status open_journal_device(struct ext *e, const char *image, struct fsa_error *err)
{
	uint32_t log = EXT_SB32(e->sb, s_log_block_size);

	if (log > 6)
		REFUSE("%s: ext: superblock @0x%llx: block size 2^(10+%u), at most 2^16 is possible", image,
		       (ull)e->sb_offset, log);
	e->journal_device = true;
	e->block_log = log + 10;
	e->block_size = 1u << e->block_log;
	e->blocks = sb_blocks(e->sb);
	if (e->blocks <= 2)
		REFUSE("%s: ext: superblock @0x%llx: a journal device of %llu blocks", image, (ull)e->sb_offset,
		       (ull)e->blocks);
	return ext_features(e, image, e->fs->options.force, err);
}

/* What the superblock promises and the image does not keep. */
static void report_size(struct ext *e, struct fsa_image *image)
{
	uint64_t size = fsa_image_size(image), want = e->blocks << e->block_log;

	if (size < want)
		EXT_FIND(e, "superblock", 0, e->sb_offset, "%llu blocks of %u bytes are %llu bytes, the image holds %llu",
			 (ull)e->blocks, e->block_size, (ull)want, (ull)size);
}

/* The shape, from a backup when what the first superblock says cannot be true. */
static enum fsa_status find_shape(struct ext *e, const char *image, struct fsa_error *err)
{
	enum fsa_status st = read_shape(e, image, err);
	uint8_t first[EXT_SUPERBLOCK_SIZE];
	struct fsa_error second;

	if (st != FSA_EDAMAGED || e->sb_offset != EXT_SUPERBLOCK_OFFSET)
		return st;
	memcpy(first, e->sb, sizeof(first));
	if (find_backup(e, e->fs->devices[0].image)) {
		read_features(e);
		if (read_shape(e, image, &second) == FSA_OK) {
			EXT_FIND(e, "superblock", 0, EXT_SUPERBLOCK_OFFSET, "unusable; the backup of group 1 @0x%llx is used",
				 (ull)e->sb_offset);
			return FSA_OK;
		}
	}
	/* The refusal speaks of the first one. */
	memcpy(e->sb, first, sizeof(first));
	e->sb_offset = EXT_SUPERBLOCK_OFFSET;
	return st;
}

static enum fsa_status open_filesystem(struct ext *e, const char *image, struct fsa_error *err)
{
	enum fsa_status st = find_shape(e, image, err);

	if (st == FSA_OK)
		st = ext_features(e, image, e->fs->options.force, err);
	if (st == FSA_OK)
		st = ext_read_descs(e, err);
	if (st == FSA_OK)
		report_super(e);
	return st;
}

enum fsa_status ext_open(struct fsa_fs *fs, struct fsa_error *err)
{
	struct fsa_image *image = fs->devices[0].image;
	const char *name = fsa_image_name(image);
	enum fsa_status st;
	struct ext *e = calloc(1, sizeof(*e));

	if (!e)
		return fsa_fail(err, FSA_ENOMEM, "%s: out of memory", name);
	e->fs = fs;
	e->findings = fs->findings;
	e->sb_offset = EXT_SUPERBLOCK_OFFSET;
	e->journal_role = -1;
	for (unsigned i = 1; i < fs->n_devices; i++)
		if (fs->devices[i].role == FSA_ROLE_LOG)
			e->journal_role = (int)i;
	st = fsa_image_read(image, e->sb_offset, e->sb, sizeof(e->sb));
	if (st != FSA_OK || !has_magic(e->sb)) {
		/* Another format's image may carry ext's old backups: look for them only when it has no name. */
		if (fsa_image_content(image) || !find_backup(e, image)) {
			free(e);
			return FSA_ENOENT;
		}
		EXT_FIND(e, "superblock", 0, EXT_SUPERBLOCK_OFFSET, "no superblock here; the backup of group 1 @0x%llx "
			 "is used", (ull)e->sb_offset);
	}
	read_features(e);
	if (ext_incompat(e, EXT3_FEATURE_INCOMPAT_JOURNAL_DEV))
		st = open_journal_device(e, name, err);
	else
		st = open_filesystem(e, name, err);
	if (st != FSA_OK) {
		ext_table_cache_free(e->cache);
		free(e->descs);
		free(e->stale);
		free(e);
		return st;
	}
	report_size(e, image);
	fs->state = e;
	return FSA_OK;
}

static void uuid_text(const uint8_t *u, char text[40])
{
	size_t n = 0;

	for (int i = 0; i < 16; i++)
		n += (size_t)snprintf(text + n, 40 - n, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", u[i]);
}

enum fsa_status ext_summary(struct fsa_fs *fs, struct fsa_summary *s)
{
	static const uint8_t no_uuid[16];
	struct ext *e = ext_of(fs);
	uint16_t state = EXT_SB16(e->sb, s_state);
	const uint8_t *journal_uuid = e->sb + offsetof(struct ext2_super_block, s_journal_uuid);

	memset(s, 0, sizeof(*s));
	snprintf(s->type, sizeof(s->type), "%s", e->type);
	snprintf(s->version, sizeof(s->version), "%u.%u", EXT_SB32(e->sb, s_rev_level), EXT_SB16(e->sb, s_minor_rev_level));
	s->block_size = e->block_size;
	s->blocks = e->blocks;
	memcpy(s->label, e->sb + offsetof(struct ext2_super_block, s_volume_name), EXT2_LABEL_LEN);
	uuid_text(e->sb + offsetof(struct ext2_super_block, s_uuid), s->uuid);
	memcpy(s->features, e->features.names, sizeof(s->features));
	s->inodes = e->journal_device ? 0 : EXT_SB32(e->sb, s_inodes_count);
	s->clean = e->journal_device || ext_sb_clean(e);
	snprintf(s->state, sizeof(s->state), "%s%s%s",
		 ext_incompat(e, EXT3_FEATURE_INCOMPAT_RECOVER) ? "journal needs recovery" :
		 state & EXT2_VALID_FS || e->journal_device ? "clean" : "not cleanly unmounted",
		 state & EXT2_ERROR_FS ? ", with errors" : "",
		 state & EXT3_ORPHAN_FS ? ", orphans being recovered" : "");
	if (ext_compat(e, EXT3_FEATURE_COMPAT_HAS_JOURNAL) && !EXT_SB32(e->sb, s_journal_inum) &&
	    memcmp(journal_uuid, no_uuid, 16) != 0 && e->journal_role < 0) {
		char text[40];

		uuid_text(journal_uuid, text);
		snprintf(s->external, sizeof(s->external), "journal on another device, uuid %s (--journal-device)", text);
	}
	return FSA_OK;
}
