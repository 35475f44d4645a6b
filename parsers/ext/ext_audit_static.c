/* SPDX-License-Identifier: GPL-2.0-only */
/* What lies at fixed places: boot area, superblocks, descriptors, bitmaps; and the allocation map itself. */
#include <stdlib.h>
#include <string.h>

#include "ext_audit.h"

static bool find_group(const struct ext *e, uint64_t block, uint32_t *group)
{
	if (block < e->first_data_block || block >= e->blocks)
		return false;
	*group = (uint32_t)((block - e->first_data_block) / e->blocks_per_group);
	return true;
}

bool ext_is_reserved_gdt(const struct ext *e, uint64_t block)
{
	struct ext_group_layout l;
	uint32_t group;

	if (!find_group(e, block, &group))
		return false;
	ext_group_layout(e, group, &l);
	/*
	 * Where the boot block moves group 0's descriptors by one, mke2fs enters the backups' reserved blocks in the
	 * resize inode as if they had moved too (ext2fs_create_resize_inode): one block further than they lie.
	 */
	if (group && l.reserved_count && e->block_size == 1024 && e->first_data_block == 0)
		l.reserved_count++;
	return block >= l.desc_first + l.desc_count && block - l.desc_first - l.desc_count < l.reserved_count;
}

static void claim_super(struct ext_audit_state *s, uint32_t group, const struct ext_group_layout *l)
{
	const struct ext *e = s->e;
	struct fsa_owner owner = { .object = group ? "superblock copy of group" : "superblock of group", .number = group };
	struct fsa_split split;

	if (group) {
		fsa_split_begin(&split, s->claims, 0, l->super_block, 1, 0, &owner);
		fsa_split_part(&split, 0, split.size, EXT_D_SUPERBLOCK_COPY, NULL);
		fsa_split_end(&split, EXT_D_SUPERBLOCK_COPY);
		return;
	}
	/* With 1 KiB blocks the boot area is block 0, which the bitmap covers only when first_data_block is 0. */
	if (e->block_size == EXT_SUPERBLOCK_OFFSET) {
		fsa_claim(s->claims, 0, 0, 1, EXT_D_BOOT, e->first_data_block ? FSA_CLAIM_UNMAPPED : 0, &owner);
		fsa_claim(s->claims, 0, 1, 1, EXT_D_SUPERBLOCK, 0, &owner);
		return;
	}
	fsa_split_begin(&split, s->claims, 0, 0, 1, 0, &owner);
	fsa_split_part(&split, 0, EXT_SUPERBLOCK_OFFSET, EXT_D_BOOT, NULL);
	fsa_split_part(&split, EXT_SUPERBLOCK_OFFSET, split.size - EXT_SUPERBLOCK_OFFSET, EXT_D_SUPERBLOCK, NULL);
	fsa_split_end(&split, EXT_D_SUPERBLOCK);
}

/* Descriptor blocks [first, first + count) that hold the descriptors from `from_group` on. */
static void claim_descs(struct ext_audit_state *s, uint32_t group, const struct ext_group_layout *l, uint32_t from_group,
			bool copy)
{
	const struct ext *e = s->e;
	struct fsa_owner owner = { .object = "descriptors in group", .number = group };
	uint64_t descs = fsa_min((uint64_t)l->desc_count * e->descs_per_block, e->groups - from_group);
	enum ext_detail detail = copy ? EXT_D_DESCRIPTORS_COPY : EXT_D_DESCRIPTORS;

	fsa_claim_with_rest(s->claims, 0, l->desc_first, l->desc_count, descs * e->desc_size, detail, EXT_D_FREE_DESCRIPTORS, 0,
			    &owner);
}

static void claim_bitmap(struct ext_audit_state *s, uint32_t group, uint64_t block, bool inodes)
{
	const struct ext *e = s->e;
	struct fsa_owner owner = { .object = inodes ? "inode bitmap" : "block bitmap", .number = group };
	uint32_t bytes = (inodes ? e->inodes_per_group : e->clusters_per_group) / 8;

	if (ext_block_ok(e, block, 1))
		fsa_claim_with_rest(s->claims, 0, block, 1, bytes, inodes ? EXT_D_INODE_BITMAP : EXT_D_BLOCK_BITMAP,
				    EXT_D_FREE_BITMAP, 0, &owner);
}

static void claim_mmp(struct ext_audit_state *s)
{
	static const struct fsa_owner owner = { .object = "mmp block", .number = FSA_NO_NUMBER };
	struct ext *e = s->e;
	uint64_t block = EXT_SB64(e->sb, s_mmp_block);
	struct ext_csum c;

	if (!ext_incompat(e, EXT4_FEATURE_INCOMPAT_MMP))
		return;
	if (!ext_block_ok(e, block, 1)) {
		EXT_FIND(e, "superblock", 0, e->sb_offset, "multi-mount protection block %llu, the filesystem has %u to %llu", (ull)block,
			 e->first_data_block, (ull)e->blocks - 1);
		return;
	}
	fsa_claim(s->claims, 0, block, 1, EXT_D_MMP, 0, &owner);
	if (fsa_read(e->fs, 0, ext_at(e, block), s->block, e->block_size, "mmp block", block) != FSA_OK)
		return;
	if (FSA_LE(uint32_t, s->block, struct mmp_struct, mmp_magic) != EXT4_MMP_MAGIC)
		EXT_FIND(e, "mmp block", block, ext_at(e, block), "magic 0x%08x, should be 0x%08x",
			 FSA_LE(uint32_t, s->block, struct mmp_struct, mmp_magic), EXT4_MMP_MAGIC);
	else if (!ext_csum_mmp(e, s->block, &c))
		EXT_FIND(e, "mmp block", block, ext_at(e, block), "checksum 0x%08x, computed 0x%08x", c.got, c.want);
	else if (FSA_LE(uint32_t, s->block, struct mmp_struct, mmp_seq) != EXT4_MMP_SEQ_CLEAN)
		EXT_FIND(e, "mmp block", block, ext_at(e, block), "sequence 0x%08x: in use on another machine, or not cleanly "
			 "unmounted (clean is 0x%08x)", FSA_LE(uint32_t, s->block, struct mmp_struct, mmp_seq), EXT4_MMP_SEQ_CLEAN);
}

void ext_audit_static(struct ext_audit_state *s)
{
	const struct ext *e = s->e;
	bool meta = ext_incompat(e, EXT2_FEATURE_INCOMPAT_META_BG);

	for (uint32_t group = 0; group < e->groups; group++) {
		struct ext_group_layout l;
		struct ext_group g;

		ext_group_layout(e, group, &l);
		ext_group_get(e, group, &g);
		if (l.has_super)
			claim_super(s, group, &l);
		if (l.desc_count) {
			bool in_meta = meta && group / e->descs_per_block >= EXT_SB32(e->sb, s_first_meta_bg);
			uint32_t from = in_meta ? group - group % e->descs_per_block : 0;

			claim_descs(s, group, &l, from, group != from);
		}
		if (l.reserved_count) {
			struct fsa_owner owner = { .object = "reserved descriptors in group", .number = group };

			fsa_claim(s->claims, 0, l.desc_first + l.desc_count, l.reserved_count, EXT_D_RESERVED_GDT, 0, &owner);
		}
		claim_bitmap(s, group, g.block_bitmap, false);
		claim_bitmap(s, group, g.inode_bitmap, true);
	}
	claim_mmp(s);
}

/* --- the map ----------------------------------------------------------------------------------------- */

/* One bit a cluster: spread out to the ledger's blocks. */
static void feed_clusters(struct ext_audit_state *s, const struct ext_group_layout *l, const uint8_t *bitmap, uint32_t clusters)
{
	unsigned log = s->e->cluster_log;

	for (uint32_t k = 0; k < clusters; k++) {
		uint64_t from = l->first + ((uint64_t)k << log);

		if (ext_bit(bitmap, k))
			fsa_map_allocated(s->claims, 0, from, fsa_min(UINT64_C(1) << log, l->first + l->blocks - from));
	}
}

enum fsa_status ext_audit_maps(struct ext_audit_state *s)
{
	struct ext *e = s->e;

	for (uint32_t group = 0; group < e->groups; group++) {
		struct ext_group_layout l;
		struct ext_group g;
		uint32_t clusters, free_clusters;
		bool known;

		ext_group_layout(e, group, &l);
		ext_group_get(e, group, &g);
		clusters = (uint32_t)fsa_div_up(l.blocks, UINT64_C(1) << e->cluster_log);
		known = ext_block_bitmap(e, group, s->block) && !ext_group_stale(e, group);
		if (e->cluster_log)
			feed_clusters(s, &l, s->block, clusters);
		else
			fsa_map_bitmap(s->claims, 0, l.first, s->block, l.blocks);
		free_clusters = ext_count_clear(s->block, clusters);
		if (known && free_clusters != g.free_blocks)
			EXT_FIND(e, "group", group, ext_desc_offset(e, group), "descriptor counts %u free %s, its bitmap has %u",
				 g.free_blocks, e->bigalloc ? "clusters" : "blocks", free_clusters);
	}
	return FSA_OK;
}

/* --- bigalloc: what is left of clusters that hold group metadata --------------------------------------- */

struct range { uint64_t first, end; };	/* blocks */

static int compare(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return (x->first > y->first) - (x->first < y->first);
}

static size_t collect(const struct ext *e, struct range *r)
{
	size_t n = 0;

	for (uint32_t group = 0; group < e->groups; group++) {
		struct ext_group_layout l;
		struct ext_group g;
		uint64_t head;

		ext_group_layout(e, group, &l);
		ext_group_get(e, group, &g);
		head = l.desc_first + l.desc_count + l.reserved_count;
		if (head > l.first)
			r[n++] = (struct range){ l.first, head };
		if (ext_block_ok(e, g.block_bitmap, 1))
			r[n++] = (struct range){ g.block_bitmap, g.block_bitmap + 1 };
		if (ext_block_ok(e, g.inode_bitmap, 1))
			r[n++] = (struct range){ g.inode_bitmap, g.inode_bitmap + 1 };
		if (ext_block_ok(e, g.inode_table, e->table_blocks))
			r[n++] = (struct range){ g.inode_table, g.inode_table + e->table_blocks };
	}
	if (ext_incompat(e, EXT4_FEATURE_INCOMPAT_MMP) && ext_block_ok(e, EXT_SB64(e->sb, s_mmp_block), 1))
		r[n++] = (struct range){ EXT_SB64(e->sb, s_mmp_block), EXT_SB64(e->sb, s_mmp_block) + 1 };
	qsort(r, n, sizeof(*r), compare);
	return n;
}

enum fsa_status ext_audit_cluster_rests(struct ext_audit_state *s)
{
	static const struct fsa_owner owner = { .object = "cluster of group metadata", .number = FSA_NO_NUMBER };
	const struct ext *e = s->e;
	uint64_t mask = (UINT64_C(1) << e->cluster_log) - 1, fdb = e->first_data_block, done = fdb;
	struct range *r;
	size_t n;

	if (!e->cluster_log)
		return FSA_OK;
	r = malloc(((size_t)e->groups * 4 + 1) * sizeof(*r));
	if (!r)
		return FSA_ENOMEM;
	n = collect(e, r);
	for (size_t k = 0; k <= n; k++) {
		/* The gap between what came before and this range, as far as it shares a cluster with either. */
		uint64_t to = k < n ? r[k].first : e->blocks;
		uint64_t left_end = fsa_min(fdb + ((done - fdb + mask) & ~mask), to);
		uint64_t right_start = k < n ? fdb + ((to - fdb) & ~mask) : to;

		if (done < left_end)
			fsa_claim(s->claims, 0, done, left_end - done, EXT_D_CLUSTER_REST, 0, &owner);
		right_start = fsa_max(right_start, fsa_max(left_end, done));
		if (k < n && right_start < to)
			fsa_claim(s->claims, 0, right_start, to - right_start, EXT_D_CLUSTER_REST, 0, &owner);
		if (k < n)
			done = fsa_max(done, r[k].end);
	}
	free(r);
	return FSA_OK;
}
