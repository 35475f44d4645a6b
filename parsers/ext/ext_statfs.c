/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * df as the kernel makes it: ext4_statfs, ext4_calculate_overhead and ext4_set_resv_clusters of Linux 6.1
 * (fs/ext4/super.c), which also drives ext2 and ext3 where no driver of their own is built.
 */
#include <stdlib.h>

#include "ext.h"

struct overhead {
	uint64_t supers, descriptors, reserved, bitmaps, tables;	/* blocks, without bigalloc */
};

static void count_plain(const struct ext *e, struct overhead *o)
{
	for (uint32_t g = 0; g < e->groups; g++) {
		struct ext_group_layout l;

		ext_group_layout(e, g, &l);
		o->supers += l.has_super;
		o->descriptors += l.desc_count;
		/* Counted behind every superblock copy, also in meta groups that keep none. */
		if (l.has_super)
			o->reserved += EXT_SB16(e->sb, s_reserved_gdt_blocks);
		o->bitmaps += 2;
		o->tables += e->table_blocks;
	}
}

struct range { uint64_t first, last; };	/* clusters */

static int compare(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return (x->first > y->first) - (x->first < y->first);
}

/*
 * With bigalloc the kernel counts clusters that hold any of a group's metadata, and, like it, leaves out a
 * table that does not end inside the group in which it starts. Reserved descriptors are not counted here.
 */
static bool count_clusters(const struct ext *e, uint64_t *clusters)
{
	struct range *r = malloc((size_t)e->groups * 4 * sizeof(*r));
	uint64_t next = 0;
	size_t n = 0;

	*clusters = 0;
	if (!r)
		return false;
	for (uint32_t k = 0; k < e->groups; k++) {
		struct ext_group_layout l;
		struct ext_group g;
		uint64_t group_of_table, end;

		ext_group_layout(e, k, &l);
		ext_group_get(e, k, &g);
		if (l.has_super + l.desc_count)
			r[n++] = (struct range){ l.first, l.first + l.has_super + l.desc_count - 1 };
		if (g.block_bitmap >= e->first_data_block && g.block_bitmap < e->blocks)
			r[n++] = (struct range){ g.block_bitmap, g.block_bitmap };
		if (g.inode_bitmap >= e->first_data_block && g.inode_bitmap < e->blocks)
			r[n++] = (struct range){ g.inode_bitmap, g.inode_bitmap };
		if (!ext_block_ok(e, g.inode_table, e->table_blocks))
			continue;
		group_of_table = (g.inode_table - e->first_data_block) / e->blocks_per_group;
		end = e->first_data_block + (group_of_table + 1) * e->blocks_per_group - 1;
		if (g.inode_table + e->table_blocks <= end)
			r[n++] = (struct range){ g.inode_table, g.inode_table + e->table_blocks - 1 };
	}
	for (size_t k = 0; k < n; k++) {
		r[k].first = (r[k].first - e->first_data_block) >> e->cluster_log;
		r[k].last = (r[k].last - e->first_data_block) >> e->cluster_log;
	}
	qsort(r, n, sizeof(*r), compare);
	for (size_t k = 0; k < n; k++) {
		uint64_t from = fsa_max(r[k].first, next);

		if (from <= r[k].last) {
			*clusters += r[k].last - from + 1;
			next = r[k].last + 1;
		}
	}
	free(r);
	return true;
}

/* Blocks of the internal journal, by its inode's size as the kernel takes it; 0 without one. */
static uint64_t journal_blocks(struct ext *e)
{
	uint32_t ino = EXT_SB32(e->sb, s_journal_inum);
	uint8_t *raw;
	struct ext_inode i;
	uint64_t n;

	if (!ext_compat(e, EXT3_FEATURE_COMPAT_HAS_JOURNAL) || !ino)
		return 0;
	if (ext_inode_of(e, (struct fsa_ref){ .word = { ino } }, &raw, &i) != FSA_OK)
		return 0;
	n = i.size >> e->block_log;
	free(raw);
	return n;
}

static void add_size_terms(struct ext *e, struct fsa_statfs *s)
{
	uint64_t journal = journal_blocks(e);
	uint64_t stored = EXT_SB32(e->sb, s_overhead_clusters), computed;
	struct overhead o = { 0 };

	fsa_statfs_add(s, FSA_DF_SIZE, (int64_t)e->blocks, "blocks of the filesystem");
	if (e->bigalloc) {
		/* Too slow to compute at each mount: the kernel believes the superblock, when it can be true. */
		if (stored && stored <= e->blocks) {
			fsa_statfs_add(s, FSA_DF_SIZE, -(int64_t)(stored << e->cluster_log), "overhead noted in the superblock");
			return;
		}
		if (!count_clusters(e, &computed))
			computed = 0;
		fsa_statfs_add(s, FSA_DF_SIZE, -(int64_t)((e->first_data_block >> e->cluster_log) << e->cluster_log), "boot block");
		fsa_statfs_add(s, FSA_DF_SIZE, -(int64_t)(computed << e->cluster_log), "clusters of group metadata");
		journal = fsa_div_up(journal, UINT64_C(1) << e->cluster_log) << e->cluster_log;
		fsa_statfs_add(s, FSA_DF_SIZE, -(int64_t)journal, "journal");
		return;
	}
	count_plain(e, &o);
	fsa_statfs_add(s, FSA_DF_SIZE, -(int64_t)e->first_data_block, "boot block");
	fsa_statfs_add(s, FSA_DF_SIZE, -(int64_t)o.supers, "superblock and copies");
	fsa_statfs_add(s, FSA_DF_SIZE, -(int64_t)o.descriptors, "group descriptors and copies");
	fsa_statfs_add(s, FSA_DF_SIZE, -(int64_t)o.reserved, "blocks reserved for more descriptors");
	fsa_statfs_add(s, FSA_DF_SIZE, -(int64_t)o.bitmaps, "block and inode bitmaps");
	fsa_statfs_add(s, FSA_DF_SIZE, -(int64_t)o.tables, "inode tables");
	fsa_statfs_add(s, FSA_DF_SIZE, -(int64_t)journal, "journal");
}

enum fsa_status ext_statfs(struct fsa_fs *fs, bool read_only, struct fsa_statfs *s)
{
	struct ext *e = ext_of(fs);
	uint64_t free_clusters = 0, free_inodes = 0, reserved, kept = 0, free_blocks;

	(void)read_only;	/* the same both ways */
	*s = (struct fsa_statfs){ .block_size = e->block_size, .kernel = "Linux 6.1 ext4 driver" };
	if (e->journal_device)
		return FSA_EUNSUPPORTED;
	for (uint32_t k = 0; k < e->groups; k++) {
		struct ext_group g;

		ext_group_get(e, k, &g);
		free_clusters += g.free_blocks;
		free_inodes += g.free_inodes;
	}
	add_size_terms(e, s);
	free_blocks = free_clusters << e->cluster_log;
	fsa_statfs_add(s, FSA_DF_FREE, (int64_t)free_blocks, "free blocks of all groups");
	reserved = EXT_SB32(e->sb, s_r_blocks_count);
	if (e->has_64bit)
		reserved |= (uint64_t)EXT_SB32(e->sb, s_r_blocks_count_hi) << 32;
	if (ext_incompat(e, EXT3_FEATURE_INCOMPAT_EXTENTS))
		kept = fsa_min((e->blocks >> e->cluster_log) / 50, 4096) << e->cluster_log;
	fsa_statfs_add(s, FSA_DF_AVAILABLE, (int64_t)free_blocks, "free blocks");
	if (free_blocks < reserved + kept) {
		fsa_statfs_add(s, FSA_DF_AVAILABLE, -(int64_t)free_blocks, "all of them are within the reserves");
	} else {
		fsa_statfs_add(s, FSA_DF_AVAILABLE, -(int64_t)reserved, "reserved for root");
		fsa_statfs_add(s, FSA_DF_AVAILABLE, -(int64_t)kept, "kept for extent trees: 2 % or 4096 clusters");
	}
	fsa_statfs_add(s, FSA_DF_FILES, EXT_SB32(e->sb, s_inodes_count), "inodes of the filesystem");
	fsa_statfs_add(s, FSA_DF_FILES_FREE, (int64_t)free_inodes, "free inodes of all groups");
	return FSA_OK;
}
