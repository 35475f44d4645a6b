/* SPDX-License-Identifier: GPL-2.0-only */
/* The superblock: what kind of ReiserFS this is, where its fixed parts lie, and df as the kernel makes it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reiserfs.h"

#define REFUSE(...) return fsa_fail(err, FSA_EDAMAGED, __VA_ARGS__)

static bool has_magic(const uint8_t *sb, const char *magic)
{
	return memcmp(sb + offsetof(struct rfs_super, s_magic), magic, strlen(magic)) == 0;
}

static bool any_magic(const uint8_t *sb)
{
	return has_magic(sb, RFS_MAGIC_35) || has_magic(sb, RFS_MAGIC_36) || has_magic(sb, RFS_MAGIC_JR);
}

static bool size_ok(uint32_t size)
{
	return fsa_is_power_of_two(size) && size >= 512 && size <= 32768;
}

/* Like the kernel the old place is looked at first; what lies there counts only when it can be true. */
static bool find_super(struct rfs *r, struct fsa_image *image)
{
	static const uint32_t places[] = { RFS_SUPER_OFFSET_OLD, RFS_SUPER_OFFSET };

	for (unsigned k = 0; k < 2; k++) {
		uint32_t size;

		if (fsa_image_read(image, places[k], r->sb, sizeof(r->sb)) != FSA_OK || !any_magic(r->sb))
			continue;
		size = fsa_le16v(rfs_super(r)->s_blocksize);
		if (places[k] == RFS_SUPER_OFFSET_OLD && (!size_ok(size) || size > RFS_SUPER_OFFSET_OLD))
			continue;
		r->sb_offset = places[k];
		r->old_place = places[k] == RFS_SUPER_OFFSET_OLD;
		return true;
	}
	return false;
}

uint64_t rfs_bitmap_block(const struct rfs *r, uint32_t n)
{
	uint64_t sb_block = r->sb_offset >> r->block_log;

	if (r->old_place || n == 0)
		return sb_block + 1 + n;
	return (uint64_t)n << (r->block_log + 3);
}

bool rfs_block_ok(const struct rfs *r, uint64_t block)
{
	uint64_t sb_block = r->sb_offset >> r->block_log;

	if (block <= sb_block || block >= r->blocks)
		return false;
	if (r->old_place ? block <= sb_block + r->bitmaps : block == sb_block + 1)
		return false;
	if (!r->old_place && (block & ((UINT64_C(1) << (r->block_log + 3)) - 1)) == 0)
		return false;
	return r->journal_device != 0 || r->external_journal || block < r->journal_first ||
	       block - r->journal_first > r->journal_size;
}

static enum fsa_status read_version(struct rfs *r, const char *image, struct fsa_error *err)
{
	uint16_t version = fsa_le16v(rfs_super(r)->s_version);

	r->jr = has_magic(r->sb, RFS_MAGIC_JR);
	r->format_35 = has_magic(r->sb, RFS_MAGIC_35) || (r->jr && version == RFS_VERSION_35);
	if (r->jr && version != RFS_VERSION_35 && version != RFS_VERSION_36) {
		if (!r->fs->options.force)
			return fsa_fail(err, FSA_EUNSUPPORTED, "%s: reiserfs: superblock @0x%llx: version %u, only 0 (3.5) and 2 "
					"(3.6) are known (--force)", image, (ull)r->sb_offset, version);
		RFS_FIND(r, "superblock", 0, r->sb_offset, "version %u, only 0 (3.5) and 2 (3.6) are known: taken as 3.6", version);
	}
	r->super_size = r->format_35 ? RFS_SUPER_SIZE_V1 : RFS_SUPER_SIZE;
	return FSA_OK;
}

static enum fsa_status read_shape(struct rfs *r, const char *image, struct fsa_error *err)
{
	const struct rfs_super *s = rfs_super(r);
	ull at = (ull)r->sb_offset;
	uint64_t first_reserved;

	r->block_size = fsa_le16v(s->s_blocksize);
	if (!size_ok(r->block_size))
		REFUSE("%s: reiserfs: superblock @0x%llx: block size %u, possible are powers of two from 512 to 32768", image, at,
		       r->block_size);
	r->block_log = (unsigned)__builtin_ctz(r->block_size);
	r->blocks = fsa_le32v(s->s_block_count);
	r->bitmaps = (uint32_t)fsa_div_up(r->blocks, (uint64_t)r->block_size * 8);
	first_reserved = (r->sb_offset >> r->block_log) + 1 + (r->old_place ? r->bitmaps : 1);
	if (r->blocks <= first_reserved)
		REFUSE("%s: reiserfs: superblock @0x%llx: %u blocks, superblock and bitmap alone take %llu", image, at, r->blocks,
		       (ull)first_reserved);
	r->reserved_first = (uint32_t)first_reserved;
	return FSA_OK;
}

/*
 * Where the journal is. A journal on another device is known by that device's number; when mkfs was given a
 * file the number is 0, and only a place that this device cannot have for it tells.
 */
static enum fsa_status read_journal(struct rfs *r, const char *image, struct fsa_error *err)
{
	const struct rfs_super *s = rfs_super(r);

	r->journal_first = fsa_le32v(s->s_journal.first_block);
	r->journal_size = fsa_le32v(s->s_journal.size);
	r->reserved_blocks = r->jr ? fsa_le16v(s->s_reserved_for_journal) : 0;
	r->external_journal = r->jr && (fsa_le32v(s->s_journal.device) != 0 || r->journal_first < r->reserved_first);
	r->journal_device = 0;
	if (!r->external_journal) {
		if (r->journal_first < r->reserved_first || r->journal_size == 0 ||
		    !fsa_within(r->journal_first, (uint64_t)r->journal_size + 1, r->blocks))
			REFUSE("%s: reiserfs: superblock @0x%llx: journal of %u blocks and a header from block %u on, possible are "
			       "blocks %u to %u", image, (ull)r->sb_offset, r->journal_size, r->journal_first, r->reserved_first,
			       r->blocks - 1);
		return FSA_OK;
	}
	r->journal_device = -1;
	for (unsigned k = 1; k < r->fs->n_devices; k++)
		if (r->fs->devices[k].role == FSA_ROLE_LOG)
			r->journal_device = (int)k;
	return FSA_OK;
}

static void report_super(struct rfs *r)
{
	const struct rfs_super *s = rfs_super(r);
	uint32_t maps = fsa_le16v(s->s_bmap_nr), height = fsa_le16v(s->s_tree_height);
	uint32_t room = (r->block_size - r->super_size) / 4, oid_max = fsa_le16v(s->s_oid_maxsize);
	uint64_t size = fsa_image_size(r->fs->devices[0].image), want = rfs_at(r, r->blocks);

	r->root_block = fsa_le32v(s->s_root_block);
	r->hash = fsa_le32v(s->s_hash_function_code);
	if (maps != (r->bitmaps > UINT16_MAX ? 0 : r->bitmaps))
		RFS_FIND(r, "superblock", 0, r->sb_offset, "%u bitmap blocks, %u blocks need %u", maps, r->blocks, r->bitmaps);
	if (size < want)
		RFS_FIND(r, "superblock", 0, r->sb_offset, "%u blocks of %u bytes are %llu bytes, the image holds %llu", r->blocks,
			 r->block_size, (ull)want, (ull)size);
	if (r->root_block == RFS_NO_ROOT) {
		RFS_FIND(r, "superblock", 0, r->sb_offset, "no root block: reiserfsck --rebuild-tree was not finished, there is no tree");
	} else if (!rfs_block_ok(r, r->root_block)) {
		RFS_FIND(r, "superblock", 0, r->sb_offset, "root block %u cannot hold a node, the filesystem has %u blocks", r->root_block,
			 r->blocks);
	} else if (height < 2 || height > RFS_MAX_LEVEL + 1) {
		RFS_FIND(r, "superblock", 0, r->sb_offset, "tree height %u, possible are 2 to %u", height, RFS_MAX_LEVEL + 1);
	} else {
		r->root_level = height - 1;
	}
	if (r->hash != RFS_HASH_UNSET && !rfs_hash_known(r->hash))
		RFS_FIND(r, "superblock", 0, r->sb_offset, "hash function %u, known are 1 (tea), 2 (rupasov), 3 (r5)", r->hash);
	if (fsa_le16v(s->s_fs_state) != 0)
		RFS_FIND(r, "superblock", 0, r->sb_offset, "state 0x%x: reiserfsck has noted damage that was not repaired",
			 fsa_le16v(s->s_fs_state));
	if (oid_max > room || fsa_le16v(s->s_oid_cursize) > oid_max)
		RFS_FIND(r, "superblock", 0, r->sb_offset, "object id map of %u numbers with room for %u, there is room for %u",
			 fsa_le16v(s->s_oid_cursize), oid_max, room);
}

static void name_features(struct rfs *r)
{
	const char **f = r->features;
	uint32_t flags = r->format_35 ? 0 : fsa_le32v(rfs_super(r)->s_flags);

	*f++ = r->format_35 ? "format-3.5" : "format-3.6";
	if (r->old_place)
		*f++ = "superblock-at-8K";
	if (r->jr)
		*f++ = r->external_journal ? "external-journal" : "non-standard-journal";
	*f++ = r->hash == RFS_HASH_TEA ? "hash-tea" : r->hash == RFS_HASH_YURA ? "hash-rupasov" : r->hash == RFS_HASH_R5 ? "hash-r5" :
	       r->hash == RFS_HASH_UNSET ? "hash-unset" : "hash-unknown";
	if (flags & RFS_FLAG_ATTRS_CLEARED)
		*f++ = "attributes-clean";
	if (flags & ~RFS_FLAG_ATTRS_CLEARED)
		*f++ = "unknown-flags";
	*f = NULL;
}

enum fsa_status rfs_open(struct fsa_fs *fs, struct fsa_error *err)
{
	struct fsa_image *image = fs->devices[0].image;
	const char *name = fsa_image_name(image);
	struct rfs *r = calloc(1, sizeof(*r));
	enum fsa_status st;

	if (!r)
		return fsa_fail(err, FSA_ENOMEM, "%s: out of memory", name);
	r->fs = fs;
	r->findings = fs->findings;
	if (!find_super(r, image)) {
		bool old = fsa_image_read(image, RFS_SUPER_OFFSET_OLD, r->sb, sizeof(r->sb)) == FSA_OK &&
			   memcmp(r->sb + RFS_MAGIC_NO_JOURNAL, RFS_MAGIC_35, strlen(RFS_MAGIC_35)) == 0;

		free(r);
		return old ? fsa_fail(err, FSA_EUNSUPPORTED, "%s: reiserfs: superblock @0x%x: of a ReiserFS older than 3.5, without a "
				      "journal, which is not read", name, RFS_SUPER_OFFSET_OLD) : FSA_ENOENT;
	}
	st = read_version(r, name, err);
	if (st == FSA_OK)
		st = read_shape(r, name, err);
	if (st == FSA_OK)
		st = read_journal(r, name, err);
	if (st == FSA_OK) {
		report_super(r);
		name_features(r);
	}
	if (st != FSA_OK) {
		free(r);
		return st;
	}
	fs->state = r;
	rfs_journal_check(r);
	return FSA_OK;
}

static void uuid_text(const uint8_t *u, char text[40])
{
	size_t n = 0;

	for (int i = 0; i < 16; i++)
		n += (size_t)snprintf(text + n, 40 - n, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", u[i]);
}

enum fsa_status rfs_summary(struct fsa_fs *fs, struct fsa_summary *s)
{
	static const uint8_t no_uuid[16];
	struct rfs *r = rfs_of(fs);
	const struct rfs_super *sb = rfs_super(r);
	uint16_t state = fsa_le16v(sb->s_umount_state);

	memset(s, 0, sizeof(*s));
	snprintf(s->type, sizeof(s->type), "reiserfs");
	snprintf(s->version, sizeof(s->version), "%s", r->format_35 ? "3.5" : "3.6");
	s->block_size = r->block_size;
	s->blocks = r->blocks;
	if (!r->format_35) {
		memcpy(s->label, sb->s_label, sizeof(sb->s_label));
		if (memcmp(sb->s_uuid, no_uuid, 16) != 0)
			uuid_text(sb->s_uuid, s->uuid);
	}
	memcpy(s->features, r->features, sizeof(s->features));
	s->clean = state == RFS_UMOUNT_VALID && fsa_le16v(sb->s_fs_state) == 0;
	snprintf(s->state, sizeof(s->state), "%s%s", state == RFS_UMOUNT_VALID ? "clean" : "not cleanly unmounted",
		 fsa_le16v(sb->s_fs_state) ? ", with errors" : "");
	if (r->external_journal && r->journal_device < 0)
		snprintf(s->external, sizeof(s->external), "journal on another device, magic 0x%x (--journal-device)",
			 fsa_le32v(sb->s_journal.magic));
	return FSA_OK;
}

/* reiserfs_statfs of Linux 6.1 (fs/reiserfs/super.c): the journal counts as used, the bitmaps do not count at all. */
enum fsa_status rfs_statfs(struct fsa_fs *fs, bool read_only, struct fsa_statfs *s)
{
	struct rfs *r = rfs_of(fs);
	const struct rfs_super *sb = rfs_super(r);
	uint32_t free_blocks = fsa_le32v(sb->s_free_blocks);

	(void)read_only;	/* the same both ways */
	*s = (struct fsa_statfs){ .block_size = r->block_size, .kernel = "Linux 6.1 reiserfs driver" };
	fsa_statfs_add(s, FSA_DF_SIZE, r->blocks, "blocks of the filesystem");
	fsa_statfs_add(s, FSA_DF_SIZE, -(int64_t)fsa_le16v(sb->s_bmap_nr), "bitmap blocks as the superblock counts them");
	fsa_statfs_add(s, FSA_DF_SIZE, -1, "superblock");
	fsa_statfs_add(s, FSA_DF_FREE, free_blocks, "free blocks in the superblock");
	fsa_statfs_add(s, FSA_DF_AVAILABLE, free_blocks, "free blocks in the superblock");
	return FSA_OK;
}
