/* SPDX-License-Identifier: GPL-2.0-only */
/* Checksums of every structure that has one (metadata_csum: crc32c; uninit_bg: crc16 of descriptors). */
#include <string.h>

#include "ext.h"

static uint32_t crc_le32(uint32_t crc, uint32_t v)
{
	const uint8_t b[4] = { (uint8_t)v, (uint8_t)(v >> 8), (uint8_t)(v >> 16), (uint8_t)(v >> 24) };

	return fsa_crc32c(crc, b, sizeof(b));
}

static uint32_t crc_le64(uint32_t crc, uint64_t v)
{
	return crc_le32(crc_le32(crc, (uint32_t)v), (uint32_t)(v >> 32));
}

static uint32_t crc_zeros(uint32_t crc, size_t n)
{
	static const uint8_t zeros[8];

	return fsa_crc32c(crc, zeros, n);
}

static bool judge(struct ext_csum *c, uint32_t got, uint32_t want)
{
	c->got = got;
	c->want = want;
	return got == want;
}

uint32_t ext_inode_seed(const struct ext *e, uint32_t ino, uint32_t generation)
{
	return crc_le32(crc_le32(e->csum_seed, ino), generation);
}

bool ext_csum_super(const struct ext *e, struct ext_csum *c)
{
	if (!e->metadata_csum)
		return true;
	return judge(c, EXT_SB32(e->sb, s_checksum), fsa_crc32c(~0u, e->sb, offsetof(struct ext2_super_block, s_checksum)));
}

bool ext_csum_desc(const struct ext *e, uint32_t group, const uint8_t *desc, struct ext_csum *c)
{
	const size_t at = offsetof(struct ext4_group_desc, bg_checksum), after = at + 2;
	const uint8_t nr[4] = { (uint8_t)group, (uint8_t)(group >> 8), (uint8_t)(group >> 16), (uint8_t)(group >> 24) };

	if (e->metadata_csum) {
		uint32_t crc = fsa_crc32c(crc_le32(e->csum_seed, group), desc, at);

		crc = crc_zeros(crc, 2);
		crc = fsa_crc32c(crc, desc + after, e->desc_size - after);
		return judge(c, EXT_GD16(desc, bg_checksum), crc & 0xffff);
	}
	if (e->gdt_csum) {
		uint16_t crc = fsa_crc16(0xffff, e->sb + offsetof(struct ext2_super_block, s_uuid), 16);

		crc = fsa_crc16(crc, nr, sizeof(nr));
		crc = fsa_crc16(crc, desc, at);
		if (e->desc_size > after)
			crc = fsa_crc16(crc, desc + after, e->desc_size - after);
		return judge(c, EXT_GD16(desc, bg_checksum), crc);
	}
	return true;
}

bool ext_csum_bitmap(const struct ext *e, uint32_t group, const uint8_t *bitmap, bool inodes, struct ext_csum *c)
{
	const uint8_t *d = ext_group_desc(e, group);
	uint32_t bits = inodes ? e->inodes_per_group : e->clusters_per_group;
	size_t hi_end = inodes ? EXT4_BG_INODE_BITMAP_CSUM_HI_END : EXT4_BG_BLOCK_BITMAP_CSUM_HI_LOCATION;
	uint32_t got, want;

	if (!e->metadata_csum)
		return true;
	want = fsa_crc32c(e->csum_seed, bitmap, bits / 8);
	got = inodes ? EXT_GD16(d, bg_inode_bitmap_csum_lo) : EXT_GD16(d, bg_block_bitmap_csum_lo);
	if (e->desc_size >= hi_end)
		got |= (uint32_t)(inodes ? EXT_GD16(d, bg_inode_bitmap_csum_hi) : EXT_GD16(d, bg_block_bitmap_csum_hi)) << 16;
	else
		want &= 0xffff;
	return judge(c, got, want);
}

bool ext_csum_inode(const struct ext *e, uint32_t ino, const uint8_t *raw, struct ext_csum *c)
{
	const size_t lo = offsetof(struct ext2_inode_large, i_checksum_lo), hi = offsetof(struct ext2_inode_large, i_checksum_hi);
	uint32_t crc, got;
	size_t at;

	if (!e->metadata_csum)
		return true;
	crc = ext_inode_seed(e, ino, EXT_INODE32(raw, i_generation));
	crc = fsa_crc32c(crc, raw, lo);
	crc = crc_zeros(crc, 2);
	at = lo + 2;
	got = EXT_INODE16(raw, i_checksum_lo);
	if (e->inode_size > EXT2_GOOD_OLD_INODE_SIZE && EXT_INODE16(raw, i_extra_isize) >= EXT4_INODE_CSUM_HI_EXTRA_END) {
		crc = fsa_crc32c(crc, raw + at, hi - at);
		crc = crc_zeros(crc, 2);
		at = hi + 2;
		got |= (uint32_t)EXT_INODE16(raw, i_checksum_hi) << 16;
		crc = fsa_crc32c(crc, raw + at, e->inode_size - at);
		return judge(c, got, crc);
	}
	crc = fsa_crc32c(crc, raw + at, e->inode_size - at);
	return judge(c, got, crc & 0xffff);
}

bool ext_csum_extent_block(const struct ext *e, uint32_t seed, const uint8_t *block, struct ext_csum *c)
{
	uint32_t max = FSA_LE(uint32_t, block, struct ext3_extent_header, eh_max);
	uint32_t at = (uint32_t)sizeof(struct ext3_extent_header) * (1 + max);

	if (!e->metadata_csum)
		return true;
	if (at + 4 > e->block_size)
		return judge(c, 0, 1);
	return judge(c, fsa_get_le32(block + at), fsa_crc32c(seed, block, at));
}

bool ext_csum_xattr_block(const struct ext *e, uint64_t nr, const uint8_t *block, struct ext_csum *c)
{
	const size_t at = offsetof(struct ext2_ext_attr_header, h_checksum);
	uint32_t crc;

	if (!e->metadata_csum)
		return true;
	crc = fsa_crc32c(crc_le64(e->csum_seed, nr), block, at);
	crc = crc_zeros(crc, 4);
	crc = fsa_crc32c(crc, block + at + 4, e->block_size - at - 4);
	return judge(c, FSA_LE(uint32_t, block, struct ext2_ext_attr_header, h_checksum), crc);
}

bool ext_csum_mmp(const struct ext *e, const uint8_t *block, struct ext_csum *c)
{
	if (!e->metadata_csum)
		return true;
	return judge(c, FSA_LE(uint32_t, block, struct mmp_struct, mmp_checksum),
		     fsa_crc32c(e->csum_seed, block, offsetof(struct mmp_struct, mmp_checksum)));
}

bool ext_csum_orphan_block(const struct ext *e, uint32_t seed, uint64_t nr, const uint8_t *block, struct ext_csum *c)
{
	const size_t at = e->block_size - sizeof(struct ext4_orphan_block_tail);

	if (!e->metadata_csum)
		return true;
	return judge(c, fsa_get_le32(block + e->block_size - 4), fsa_crc32c(crc_le64(seed, nr), block, at));
}

bool ext_csum_dir_leaf(uint32_t seed, const uint8_t *block, uint32_t size, struct ext_csum *c)
{
	return judge(c, fsa_get_le32(block + size - 4), fsa_crc32c(seed, block, size - EXT_DIRENT_TAIL));
}

bool ext_csum_dir_index(uint32_t seed, const uint8_t *block, uint32_t count_offset, uint32_t limit, uint32_t count,
			struct ext_csum *c)
{
	const uint8_t *tail = block + count_offset + (size_t)limit * sizeof(struct ext2_dx_entry);
	uint32_t crc = fsa_crc32c(seed, block, count_offset + (size_t)count * sizeof(struct ext2_dx_entry));

	crc = fsa_crc32c(crc, tail, 4);
	crc = crc_zeros(crc, 4);
	return judge(c, fsa_get_le32(tail + 4), crc);
}
