/* SPDX-License-Identifier: GPL-2.0-only */
/* Feature bits: what each means for a reader, and which ones it cannot live with. */
#include "ext.h"

enum word { COMPAT, INCOMPAT, RO_COMPAT };

/* Not in libext2fs's header of every release; values from Documentation/filesystems/ext4/super.rst. */
#define INCOMPAT_COMPRESSION 0x1u
#define INCOMPAT_DIRDATA 0x1000u
#define COMPAT_EXCLUDE_INODE 0x80u

/*
 * why_ignored NULL: the feature is read and explained. Where it says a reason, the audit is complete
 * without looking at what the bit promises.
 */
static const struct feature_bit features[] = {
	{ COMPAT, EXT2_FEATURE_COMPAT_DIR_PREALLOC, { "dir_prealloc", "a hint for allocating directories" }, false },
	{ COMPAT, EXT2_FEATURE_COMPAT_IMAGIC_INODES, { "imagic_inodes", "AFS server inodes look like others" }, false },
	{ COMPAT, EXT3_FEATURE_COMPAT_HAS_JOURNAL, { "has_journal", NULL }, false },
	{ COMPAT, EXT2_FEATURE_COMPAT_EXT_ATTR, { "ext_attr", NULL }, false },
	{ COMPAT, EXT2_FEATURE_COMPAT_RESIZE_INODE, { "resize_inode", NULL }, false },
	{ COMPAT, EXT2_FEATURE_COMPAT_DIR_INDEX, { "dir_index", NULL }, false },
	{ COMPAT, EXT2_FEATURE_COMPAT_LAZY_BG, { "lazy_bg", "test images only; uninitialised groups are read" }, false },
	{ COMPAT, COMPAT_EXCLUDE_INODE, { "exclude_inode", "never used" }, false },
	{ COMPAT, EXT2_FEATURE_COMPAT_EXCLUDE_BITMAP, { "exclude_bitmap", "snapshots never reached the kernel" }, false },
	{ COMPAT, EXT4_FEATURE_COMPAT_SPARSE_SUPER2, { "sparse_super2", NULL }, false },
	{ COMPAT, EXT4_FEATURE_COMPAT_FAST_COMMIT, { "fast_commit", NULL }, false },
	{ COMPAT, EXT4_FEATURE_COMPAT_STABLE_INODES, { "stable_inodes", "forbids renumbering inodes only" }, false },
	{ COMPAT, EXT4_FEATURE_COMPAT_ORPHAN_FILE, { "orphan_file", NULL }, false },

	{ RO_COMPAT, EXT2_FEATURE_RO_COMPAT_SPARSE_SUPER, { "sparse_super", NULL }, false },
	{ RO_COMPAT, EXT2_FEATURE_RO_COMPAT_LARGE_FILE, { "large_file", NULL }, false },
	{ RO_COMPAT, 0x4, { "btree_dir", "never used" }, false },
	{ RO_COMPAT, EXT4_FEATURE_RO_COMPAT_HUGE_FILE, { "huge_file", NULL }, false },
	{ RO_COMPAT, EXT4_FEATURE_RO_COMPAT_GDT_CSUM, { "uninit_bg", NULL }, false },
	{ RO_COMPAT, EXT4_FEATURE_RO_COMPAT_DIR_NLINK, { "dir_nlink", NULL }, false },
	{ RO_COMPAT, EXT4_FEATURE_RO_COMPAT_EXTRA_ISIZE, { "extra_isize", NULL }, false },
	{ RO_COMPAT, EXT4_FEATURE_RO_COMPAT_HAS_SNAPSHOT, { "snapshot", "snapshots never reached the kernel" }, false },
	{ RO_COMPAT, EXT4_FEATURE_RO_COMPAT_QUOTA, { "quota", NULL }, false },
	{ RO_COMPAT, EXT4_FEATURE_RO_COMPAT_BIGALLOC, { "bigalloc", NULL }, false },
	{ RO_COMPAT, EXT4_FEATURE_RO_COMPAT_METADATA_CSUM, { "metadata_csum", NULL }, false },
	{ RO_COMPAT, EXT4_FEATURE_RO_COMPAT_REPLICA, { "replica", "never used" }, false },
	{ RO_COMPAT, EXT4_FEATURE_RO_COMPAT_READONLY, { "read-only", "forbids writing only" }, false },
	{ RO_COMPAT, EXT4_FEATURE_RO_COMPAT_PROJECT, { "project", NULL }, false },
	{ RO_COMPAT, EXT4_FEATURE_RO_COMPAT_SHARED_BLOCKS, { "shared_blocks", NULL }, false },
	{ RO_COMPAT, EXT4_FEATURE_RO_COMPAT_VERITY, { "verity", NULL }, false },
	{ RO_COMPAT, EXT4_FEATURE_RO_COMPAT_ORPHAN_PRESENT, { "orphan_present", NULL }, false },

	{ INCOMPAT, INCOMPAT_COMPRESSION, { "compression", "e2compr never reached the kernel" }, true },
	{ INCOMPAT, EXT2_FEATURE_INCOMPAT_FILETYPE, { "filetype", NULL }, false },
	{ INCOMPAT, EXT3_FEATURE_INCOMPAT_RECOVER, { "needs_recovery", NULL }, false },
	{ INCOMPAT, EXT3_FEATURE_INCOMPAT_JOURNAL_DEV, { "journal_dev", NULL }, false },
	{ INCOMPAT, EXT2_FEATURE_INCOMPAT_META_BG, { "meta_bg", NULL }, false },
	{ INCOMPAT, EXT3_FEATURE_INCOMPAT_EXTENTS, { "extent", NULL }, false },
	{ INCOMPAT, EXT4_FEATURE_INCOMPAT_64BIT, { "64bit", NULL }, false },
	{ INCOMPAT, EXT4_FEATURE_INCOMPAT_MMP, { "mmp", NULL }, false },
	{ INCOMPAT, EXT4_FEATURE_INCOMPAT_FLEX_BG, { "flex_bg", NULL }, false },
	{ INCOMPAT, EXT4_FEATURE_INCOMPAT_EA_INODE, { "ea_inode", NULL }, false },
	{ INCOMPAT, INCOMPAT_DIRDATA, { "dirdata", "Lustre's directory entries" }, true },
	{ INCOMPAT, EXT4_FEATURE_INCOMPAT_CSUM_SEED, { "metadata_csum_seed", NULL }, false },
	{ INCOMPAT, EXT4_FEATURE_INCOMPAT_LARGEDIR, { "large_dir", NULL }, false },
	{ INCOMPAT, EXT4_FEATURE_INCOMPAT_INLINE_DATA, { "inline_data", NULL }, false },
	{ INCOMPAT, EXT4_FEATURE_INCOMPAT_ENCRYPT, { "encrypt", NULL }, false },
	{ INCOMPAT, EXT4_FEATURE_INCOMPAT_CASEFOLD, { "casefold", NULL }, false },
};

enum fsa_status ext_features(struct ext *e, const char *image, bool force, struct fsa_error *err)
{
	const struct feature_word words[] = {
		[COMPAT] = { "compatible", e->compat, UNKNOWN_NOTED },
		[INCOMPAT] = { "incompatible", e->incompat, UNKNOWN_REFUSED },
		[RO_COMPAT] = { "read-only compatible", e->ro_compat, UNKNOWN_FOUND },
	};

	features_read(&e->features, features, sizeof(features) / sizeof(features[0]), words,
		      sizeof(words) / sizeof(words[0]), e->findings, e->sb_offset);
	return features_judge(&e->features, image, "ext", e->sb_offset, force, e->findings, err);
}

/* As libblkid and the kernel's drivers divide the family. */
const char *ext_type_name(const struct ext *e)
{
	const uint32_t ext2_incompat = EXT2_FEATURE_INCOMPAT_FILETYPE | EXT2_FEATURE_INCOMPAT_META_BG;
	const uint32_t ext3_incompat = ext2_incompat | EXT3_FEATURE_INCOMPAT_RECOVER;
	const uint32_t ext23_ro = EXT2_FEATURE_RO_COMPAT_SPARSE_SUPER | EXT2_FEATURE_RO_COMPAT_LARGE_FILE | 0x4u;

	if (e->incompat & EXT3_FEATURE_INCOMPAT_JOURNAL_DEV)
		return "jbd";
	if ((e->incompat & ~ext3_incompat) || (e->ro_compat & ~ext23_ro))
		return "ext4";
	if (e->compat & EXT3_FEATURE_COMPAT_HAS_JOURNAL)
		return "ext3";
	return e->incompat & ~ext2_incompat ? "ext4" : "ext2";
}
