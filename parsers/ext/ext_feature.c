/* SPDX-License-Identifier: GPL-2.0-only */
/* Feature bits: what each means for a reader, and which ones it cannot live with. */
#include <stdio.h>
#include <string.h>

#include "ext.h"

enum word { COMPAT, INCOMPAT, RO_COMPAT };

/* Not in libext2fs's header of every release; values from Documentation/filesystems/ext4/super.rst. */
#define INCOMPAT_COMPRESSION 0x1u
#define INCOMPAT_DIRDATA 0x1000u
#define COMPAT_EXCLUDE_INODE 0x80u

struct feature {
	enum word word;
	uint32_t bit;
	struct fsa_feature f;
	bool refused;
};

/*
 * why_ignored NULL: the feature is read and explained. Where it says a reason, the audit is complete
 * without looking at what the bit promises.
 */
static const struct feature features[] = {
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

#define FEATURES (sizeof(features) / sizeof(features[0]))

static const struct feature *feature_of(enum word word, uint32_t bit)
{
	for (size_t i = 0; i < FEATURES; i++)
		if (features[i].word == word && features[i].bit == bit)
			return &features[i];
	return NULL;
}

/* Appends "name" to a list in `text`, comma-separated. */
static void append(char *text, size_t size, const char *name)
{
	size_t n = strlen(text);

	snprintf(text + n, size - n, "%s%s", n ? ", " : "", name);
}

enum fsa_status ext_features(struct ext *e, const char *image, bool force, struct fsa_error *err)
{
	const uint32_t words[] = { [COMPAT] = e->compat, [INCOMPAT] = e->incompat, [RO_COMPAT] = e->ro_compat };
	static const char *const word_names[] = {
		[COMPAT] = "compatible", [INCOMPAT] = "incompatible", [RO_COMPAT] = "read-only compatible",
	};
	char refused[256] = "";
	size_t n = 0;

	for (enum word w = COMPAT; w <= RO_COMPAT; w++) {
		uint32_t unknown = 0;

		for (unsigned b = 0; b < 32; b++) {
			uint32_t bit = UINT32_C(1) << b;
			const struct feature *f = feature_of(w, bit);

			if (!(words[w] & bit))
				continue;
			if (!f) {
				unknown |= bit;
				continue;
			}
			if (n < FSA_MAX_FEATURES - 1)
				e->feature_names[n++] = f->f.name;
			if (f->refused) {
				char text[128];

				snprintf(text, sizeof(text), "%s (%s)", f->f.name, f->f.why_ignored);
				append(refused, sizeof(refused), text);
			}
		}
		if (!unknown)
			continue;
		snprintf(e->unknown_features[w], sizeof(e->unknown_features[w]), "unknown %s 0x%x", word_names[w],
			 unknown);
		if (n < FSA_MAX_FEATURES - 1)
			e->feature_names[n++] = e->unknown_features[w];
		if (w == INCOMPAT)
			append(refused, sizeof(refused), e->unknown_features[w]);
		else if (w == RO_COMPAT)
			EXT_FIND(e, "superblock", 0, e->sb_offset, "feature bits 0x%x are %s and unknown", unknown,
				 word_names[w]);
	}
	e->feature_names[n] = NULL;
	if (!refused[0])
		return FSA_OK;
	if (!force)
		return fsa_fail(err, FSA_EUNSUPPORTED,
				"%s: ext: superblock @0x%llx: incompatible features not supported: %s "
				"(--force analyses all the same)", image, (ull)e->sb_offset, refused);
	EXT_FIND(e, "superblock", 0, e->sb_offset, "incompatible features not understood: %s", refused);
	return FSA_OK;
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
