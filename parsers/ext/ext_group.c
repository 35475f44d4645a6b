/* SPDX-License-Identifier: GPL-2.0-only */
/* Groups: their descriptors, and where copies of superblock and descriptors lie. */
#include <stdlib.h>
#include <string.h>

#include "ext.h"

static bool is_power_of(uint32_t n, uint32_t base)
{
	while (n > 1 && n % base == 0)
		n /= base;
	return n == 1;
}

bool ext_group_has_super(const struct ext *e, uint32_t group)
{
	if (group == 0)
		return true;
	if (ext_compat(e, EXT4_FEATURE_COMPAT_SPARSE_SUPER2)) {
		const uint8_t *backups = e->sb + offsetof(struct ext2_super_block, s_backup_bgs);

		return group == fsa_get_le32(backups) || group == fsa_get_le32(backups + 4);
	}
	if (group == 1 || !ext_ro_compat(e, EXT2_FEATURE_RO_COMPAT_SPARSE_SUPER))
		return true;
	return is_power_of(group, 3) || is_power_of(group, 5) || is_power_of(group, 7);
}

/* Descriptor blocks below this number lie together behind each superblock copy. */
static uint32_t together(const struct ext *e)
{
	uint32_t first_meta = EXT_SB32(e->sb, s_first_meta_bg);

	if (!ext_incompat(e, EXT2_FEATURE_INCOMPAT_META_BG))
		return e->desc_blocks;
	return first_meta < e->desc_blocks ? first_meta : e->desc_blocks;
}

static uint64_t group_first(const struct ext *e, uint32_t group)
{
	return e->first_data_block + (uint64_t)group * e->blocks_per_group;
}

/*
 * With 1 KiB blocks and first_data_block 0 (bigalloc) the boot block is block 0 of group 0 and the
 * superblock is its block 1: everything behind it moves by one.
 */
static uint64_t boot_shift(const struct ext *e, uint32_t group)
{
	return group == 0 && e->block_size == 1024 && e->first_data_block == 0;
}

void ext_group_layout(const struct ext *e, uint32_t group, struct ext_group_layout *l)
{
	uint64_t meta_groups = (uint64_t)together(e) * e->descs_per_block;
	uint32_t place = group % e->descs_per_block;

	memset(l, 0, sizeof(*l));
	l->first = group_first(e, group);
	l->blocks = fsa_min(e->blocks_per_group, e->blocks - l->first);
	l->has_super = ext_group_has_super(e, group);
	l->super_block = l->first + boot_shift(e, group);
	l->desc_first = l->super_block + (l->has_super ? 1 : 0);
	if (!ext_incompat(e, EXT2_FEATURE_INCOMPAT_META_BG) || group < meta_groups) {
		if (l->has_super) {
			l->desc_count = together(e);
			l->reserved_count = EXT_SB16(e->sb, s_reserved_gdt_blocks);
		}
	} else if (place == 0 || place == 1 || place == e->descs_per_block - 1) {
		l->desc_count = 1;
	}
}

/* The first group behind 0 that has a superblock copy; e->groups when none has. */
static uint32_t backup_group(const struct ext *e)
{
	uint32_t group;

	if (ext_compat(e, EXT4_FEATURE_COMPAT_SPARSE_SUPER2)) {
		group = fsa_get_le32(e->sb + offsetof(struct ext2_super_block, s_backup_bgs));
		return group && group < e->groups ? group : e->groups;
	}
	return e->groups > 1 ? 1 : e->groups;
}

/* Where descriptor block `index` lies, in the first set or in the backup; e->blocks when there is none. */
static uint64_t desc_block(const struct ext *e, uint32_t index, bool backup)
{
	struct ext_group_layout l;
	uint32_t group = 0;

	if (index < together(e)) {
		if (backup)
			group = backup_group(e);
	} else {
		group = index * e->descs_per_block + backup;
	}
	if (group >= e->groups)
		return e->blocks;
	ext_group_layout(e, group, &l);
	return l.desc_first + (index < together(e) ? index : 0);
}

uint64_t ext_desc_offset(const struct ext *e, uint32_t group)
{
	return ext_at(e, desc_block(e, group / e->descs_per_block, false)) + (uint64_t)(group % e->descs_per_block) * e->desc_size;
}

const uint8_t *ext_group_desc(const struct ext *e, uint32_t group)
{
	return e->descs + (size_t)group * e->desc_size;
}

static void decode(const struct ext *e, const uint8_t *d, struct ext_group *g)
{
	bool wide = e->desc_size >= EXT2_MIN_DESC_SIZE_64BIT;

	g->block_bitmap = EXT_GD32(d, bg_block_bitmap);
	g->inode_bitmap = EXT_GD32(d, bg_inode_bitmap);
	g->inode_table = EXT_GD32(d, bg_inode_table);
	g->free_blocks = EXT_GD16(d, bg_free_blocks_count);
	g->free_inodes = EXT_GD16(d, bg_free_inodes_count);
	g->directories = EXT_GD16(d, bg_used_dirs_count);
	g->unused_inodes = EXT_GD16(d, bg_itable_unused);
	g->flags = EXT_GD16(d, bg_flags);
	if (!wide)
		return;
	g->block_bitmap |= (uint64_t)EXT_GD32(d, bg_block_bitmap_hi) << 32;
	g->inode_bitmap |= (uint64_t)EXT_GD32(d, bg_inode_bitmap_hi) << 32;
	g->inode_table |= (uint64_t)EXT_GD32(d, bg_inode_table_hi) << 32;
	g->free_blocks |= (uint32_t)EXT_GD16(d, bg_free_blocks_count_hi) << 16;
	g->free_inodes |= (uint32_t)EXT_GD16(d, bg_free_inodes_count_hi) << 16;
	g->directories |= (uint32_t)EXT_GD16(d, bg_used_dirs_count_hi) << 16;
	g->unused_inodes |= (uint32_t)EXT_GD16(d, bg_itable_unused_hi) << 16;
}

void ext_group_get(const struct ext *e, uint32_t group, struct ext_group *g)
{
	decode(e, ext_group_desc(e, group), g);
}

bool ext_group_stale(const struct ext *e, uint32_t group)
{
	return e->stale && (e->stale[group / 8] >> (group % 8) & 1);
}

static void mark_stale(struct ext *e, uint32_t group)
{
	if (!e->stale)
		e->stale = calloc(e->groups / 8 + 1, 1);
	if (e->stale)
		e->stale[group / 8] |= (uint8_t)(1u << (group % 8));
}

bool ext_group_uninit(const struct ext *e, const struct ext_group *g, uint16_t flag)
{
	/* Without a descriptor checksum the kernel does not believe the flags. */
	return (e->metadata_csum || e->gdt_csum) && (g->flags & flag);
}

/* Whether all that a descriptor points to can lie where it says. */
static bool plausible(const struct ext *e, const uint8_t *d)
{
	struct ext_group g;

	decode(e, d, &g);
	return ext_block_ok(e, g.block_bitmap, 1) && ext_block_ok(e, g.inode_bitmap, 1) &&
	       ext_block_ok(e, g.inode_table, e->table_blocks);
}

/* Reads descriptor block `index` from one set; false when it cannot be had. */
static bool read_block(struct ext *e, uint32_t index, bool backup, uint8_t *buffer)
{
	uint64_t block = desc_block(e, index, backup);

	return fsa_within(block, 1, e->blocks) &&
	       fsa_image_read(e->fs->devices[0].image, ext_at(e, block), buffer, e->block_size) == FSA_OK;
}

/* Copies the descriptors of one block, from the backup where the first set is broken. */
static void take_block(struct ext *e, uint32_t index, uint8_t *first, uint8_t *backup)
{
	uint32_t from = index * e->descs_per_block;
	uint32_t n = e->groups - from < e->descs_per_block ? e->groups - from : e->descs_per_block;
	bool have_first = read_block(e, index, false, first), tried = false, have_backup = false;

	for (uint32_t k = 0; k < n; k++) {
		const uint8_t *d = first + (size_t)k * e->desc_size;
		uint8_t *to = e->descs + (size_t)(from + k) * e->desc_size;
		ull at = ext_at(e, desc_block(e, index, false)) + (uint64_t)k * e->desc_size;
		struct ext_csum c = { 0, 0 };
		bool sum_ok = have_first && ext_csum_desc(e, from + k, d, &c), ok = have_first && plausible(e, d);

		if (ok && sum_ok) {
			memcpy(to, d, e->desc_size);
			continue;
		}
		if (!tried) {
			have_backup = read_block(e, index, true, backup);
			tried = true;
		}
		if (!have_first)
			EXT_FIND(e, "group", from + k, at, "its descriptor cannot be read");
		else if (!ok)
			EXT_FIND(e, "group", from + k, at, "descriptor points outside: block bitmap %llu, inode bitmap "
				 "%llu, inode table %llu of %u blocks, the filesystem has %llu", (ull)EXT_GD32(d, bg_block_bitmap),
				 (ull)EXT_GD32(d, bg_inode_bitmap), (ull)EXT_GD32(d, bg_inode_table), e->table_blocks,
				 (ull)e->blocks);
		else
			EXT_FIND(e, "group", from + k, at, "descriptor checksum 0x%04x, computed 0x%04x", c.got, c.want);
		if (!ok && have_backup && plausible(e, backup + (size_t)k * e->desc_size)) {
			EXT_FIND(e, "group", from + k, at, "the backup descriptor of block %llu is used",
				 (ull)desc_block(e, index, true));
			d = backup + (size_t)k * e->desc_size;
			mark_stale(e, from + k);
		} else if (!have_first) {
			continue;
		}
		memcpy(to, d, e->desc_size);
	}
}

enum fsa_status ext_read_descs(struct ext *e, struct fsa_error *err)
{
	const char *image = fsa_image_name(e->fs->devices[0].image);
	uint64_t bytes = (uint64_t)e->groups * e->desc_size, size = fsa_image_size(e->fs->devices[0].image);
	uint8_t *buffer;

	if (bytes > size)
		return fsa_fail(err, FSA_EDAMAGED, "%s: ext: superblock @0x%llx: descriptors of %u groups take %llu "
				"bytes, the image holds %llu", image, (ull)e->sb_offset, e->groups, (ull)bytes, (ull)size);
	if (ext_incompat(e, EXT2_FEATURE_INCOMPAT_META_BG) && EXT_SB32(e->sb, s_first_meta_bg) > e->desc_blocks)
		EXT_FIND(e, "superblock", 0, e->sb_offset, "first meta group %u, there are %u descriptor blocks",
			 EXT_SB32(e->sb, s_first_meta_bg), e->desc_blocks);
	e->descs = calloc(e->groups, e->desc_size);
	buffer = malloc(2 * (size_t)e->block_size);
	if (!e->descs || !buffer) {
		free(buffer);
		return fsa_fail(err, FSA_ENOMEM, "%s: out of memory for %u group descriptors", image, e->groups);
	}
	for (uint32_t i = 0; i < e->desc_blocks; i++)
		take_block(e, i, buffer, buffer + e->block_size);
	free(buffer);
	return FSA_OK;
}
