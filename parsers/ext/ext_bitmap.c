/* SPDX-License-Identifier: GPL-2.0-only */
/* Block and inode bitmaps, those that exist on disk and those that a flag stands for. */
#include <string.h>

#include "ext.h"

uint32_t ext_count_clear(const uint8_t *bitmap, uint32_t bits)
{
	uint32_t ones = 0, k = 0;

	for (; k + 64 <= bits; k += 64)
		ones += (uint32_t)__builtin_popcountll(fsa_get_le64(bitmap + k / 8));
	for (; k < bits; k++)
		ones += ext_bit(bitmap, k);
	return bits - ones;
}

uint32_t ext_last_set(const uint8_t *bitmap, uint32_t from, uint32_t bits)
{
	while (bits > from) {
		if (bits % 64 == 0 && bits - from >= 64 && fsa_get_le64(bitmap + bits / 8 - 8) == 0)
			bits -= 64;
		else if (ext_bit(bitmap, bits - 1))
			return bits;
		else
			bits--;
	}
	return 0;
}

static void set_bits(uint8_t *bitmap, uint64_t from, uint64_t count)
{
	for (; count && from % 8; from++, count--)
		bitmap[from / 8] |= (uint8_t)(1u << (from % 8));
	memset(bitmap + from / 8, 0xff, count / 8);
	for (from += count / 8 * 8, count %= 8; count; from++, count--)
		bitmap[from / 8] |= (uint8_t)(1u << (from % 8));
}

/* Marks blocks [block, block + count) as far as they lie in the group. */
static void mark(const struct ext *e, const struct ext_group_layout *l, uint8_t *bitmap, uint64_t block, uint64_t count)
{
	uint64_t end = block + count, group_end = l->first + l->blocks;

	if (block < l->first)
		block = l->first;
	if (end > group_end)
		end = group_end;
	if (block < end) {
		uint64_t from = (block - l->first) >> e->cluster_log, to = (end - 1 - l->first) >> e->cluster_log;

		set_bits(bitmap, from, to - from + 1);
	}
}

/*
 * The bitmap that BLOCK_UNINIT stands for: the group's copies of superblock and descriptors, and of its own
 * bitmaps and table what lies inside it. Other groups' metadata (flex_bg) never lies in such a group.
 */
static void uninit_blocks(const struct ext *e, const struct ext_group *g, const struct ext_group_layout *l, uint8_t *bitmap)
{
	memset(bitmap, 0, e->block_size);
	if (l->has_super)
		mark(e, l, bitmap, l->first, l->super_block - l->first + 1);
	mark(e, l, bitmap, l->desc_first, (uint64_t)l->desc_count + l->reserved_count);
	mark(e, l, bitmap, g->block_bitmap, 1);
	mark(e, l, bitmap, g->inode_bitmap, 1);
	mark(e, l, bitmap, g->inode_table, e->table_blocks);
}

static bool read_bitmap(struct ext *e, uint32_t group, uint64_t block, uint8_t *buffer, bool inodes)
{
	const char *what = inodes ? "inode bitmap" : "block bitmap";
	struct ext_csum c;

	if (!ext_block_ok(e, block, 1)) {
		EXT_FIND(e, "group", group, ext_desc_offset(e, group), "%s at block %llu of %llu", what, (ull)block, (ull)e->blocks);
		memset(buffer, 0xff, e->block_size);
		return false;
	}
	if (fsa_read(e->fs, 0, ext_at(e, block), buffer, e->block_size, what, group) != FSA_OK) {
		memset(buffer, 0xff, e->block_size);
		return false;
	}
	if (!ext_group_stale(e, group) && !ext_csum_bitmap(e, group, buffer, inodes, &c))
		EXT_FIND(e, what, group, ext_at(e, block), "checksum 0x%08x, computed 0x%08x", c.got, c.want);
	return true;
}

/*
 * A backup's flag says that there was no bitmap when the filesystem was made. An empty one on disk means that
 * this is still so.
 */
static bool was_never_written(const struct ext *e, uint32_t group, const struct ext_group *g, uint16_t flag, const uint8_t *bitmap)
{
	return ext_group_stale(e, group) && ext_group_uninit(e, g, flag) && ext_count_clear(bitmap, 8 * e->block_size) == 8 * e->block_size;
}

bool ext_block_bitmap(struct ext *e, uint32_t group, uint8_t *buffer)
{
	struct ext_group_layout l;
	struct ext_group g;
	uint32_t clusters, padding;

	ext_group_get(e, group, &g);
	ext_group_layout(e, group, &l);
	if (ext_group_uninit(e, &g, EXT2_BG_BLOCK_UNINIT) && !ext_group_stale(e, group)) {
		uninit_blocks(e, &g, &l, buffer);
		return true;
	}
	if (!read_bitmap(e, group, g.block_bitmap, buffer, false))
		return false;
	if (was_never_written(e, group, &g, EXT2_BG_BLOCK_UNINIT, buffer)) {
		uninit_blocks(e, &g, &l, buffer);
		return true;
	}
	/* Bits behind the end of the last group are set, so that nothing is ever allocated there. */
	clusters = (uint32_t)fsa_div_up(l.blocks, UINT64_C(1) << e->cluster_log);
	padding = ext_count_clear(buffer, 8 * e->block_size) - ext_count_clear(buffer, clusters);
	if (padding)
		EXT_FIND(e, "block bitmap", group, ext_at(e, g.block_bitmap), "%u bits behind the group's last block "
			 "(bit %u) are clear, all should be set", padding, clusters - 1);
	return true;
}

bool ext_inode_bitmap(struct ext *e, uint32_t group, uint8_t *buffer)
{
	struct ext_group g;
	uint32_t padding;

	ext_group_get(e, group, &g);
	if (ext_group_uninit(e, &g, EXT2_BG_INODE_UNINIT) && !ext_group_stale(e, group)) {
		memset(buffer, 0, e->block_size);
		return true;
	}
	if (!read_bitmap(e, group, g.inode_bitmap, buffer, true))
		return false;
	if (was_never_written(e, group, &g, EXT2_BG_INODE_UNINIT, buffer))
		return true;
	padding = ext_count_clear(buffer, 8 * e->block_size) - ext_count_clear(buffer, e->inodes_per_group);
	if (padding)
		EXT_FIND(e, "inode bitmap", group, ext_at(e, g.inode_bitmap), "%u bits behind the group's last inode "
			 "(bit %u) are clear, all should be set", padding, e->inodes_per_group - 1);
	return true;
}
