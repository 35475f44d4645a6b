/* SPDX-License-Identifier: GPL-2.0-only */
/* What lies in fixed places: boot area, superblocks, the aggregate's inodes and their copy, work space, log. */
#include <string.h>

#include "jfs_audit.h"

static const struct fsa_owner secondary_owner = { .object = "secondary aggregate inode table", .number = FSA_NO_NUMBER };

void jfs_book_xtree_node(struct jfs_audit_state *s, const struct jfs_node *n, enum jfs_detail detail, unsigned flags,
			 const struct fsa_owner *owner)
{
	struct fsa_split split;

	fsa_split_begin(&split, s->claims, 0, n->block, 1, flags, owner);
	fsa_split_part(&split, 0, n->used_bytes, detail, NULL);
	fsa_split_part(&split, n->used_bytes, JFS_PAGE - n->used_bytes, JFS_D_FREE_XTREE, NULL);
	fsa_split_end(&split, JFS_D_FREE_XTREE);
}

static void book_super(struct jfs_audit_state *s, uint64_t offset, enum jfs_detail detail)
{
	const uint32_t used = sizeof(struct jfs_superblock);
	struct fsa_owner owner = { .object = detail == JFS_D_SUPERBLOCK ? "superblock" : "secondary superblock", .number = FSA_NO_NUMBER };
	struct fsa_split split;

	fsa_split_begin(&split, s->claims, 0, offset >> JFS_L2PAGE, 1, 0, &owner);
	fsa_split_part(&split, 0, used, detail, NULL);
	fsa_split_part(&split, used, JFS_PAGE - used, JFS_D_FREE_SUPER, NULL);
	fsa_split_end(&split, JFS_D_FREE_SUPER);
}

/* --- the aggregate's inodes ----------------------------------------------------------------------------- */

static bool aggregate_in_use(const struct jfs *j, uint32_t number)
{
	return number <= JFS_AGGR_BAD || (number == JFS_AGGR_FILESET && j->ait_ok[0]);
}

static void book_table(struct jfs_audit_state *s)
{
	for (uint32_t page = 0; page < 4; page++) {
		struct fsa_owner owner = { .object = "aggregate inode table", .number = FSA_NO_NUMBER };
		struct fsa_split split;

		fsa_split_begin(&split, s->claims, 0, (JFS_AIT_OFFSET >> JFS_L2PAGE) + page, 1, 0, &owner);
		for (uint32_t k = 0; k < JFS_INODES_PER_PAGE; k++) {
			uint32_t number = page * JFS_INODES_PER_PAGE + k, at = k * JFS_INODE_SIZE;
			struct jfs_inode i;

			jfs_aggregate_inode(s->j, 0, number, &i);
			owner = (struct fsa_owner){ .object = "aggregate inode", .number = number };
			if (aggregate_in_use(s->j, number))
				jfs_book_aggregate(&split, at, &i, &owner);
			else
				fsa_split_part(&split, at, JFS_INODE_SIZE, JFS_D_AGGREGATE_FREE, &owner);
		}
		fsa_split_end(&split, JFS_D_AGGREGATE_FREE);
	}
}

/* Blocks of the aggregate's own inodes, by which inode; the maps' pages are booked where they are read. */
struct aggregate {
	struct jfs_audit_state *s;
	uint32_t number;
	uint64_t blocks;
	struct fsa_owner owner;
};

static enum fsa_status take_piece(void *arg, const struct jfs_piece *p)
{
	struct aggregate *a = arg;

	a->blocks += p->count;
	if (a->number == JFS_AGGR_BAD)
		fsa_claim(a->s->claims, 0, p->physical, p->count, JFS_D_BAD_BLOCKS, 0, &a->owner);
	else if (a->number == JFS_AGGR_LOG)
		fsa_claim(a->s->claims, 0, p->physical, p->count, JFS_D_LOG, 0, &a->owner);
	return FSA_OK;
}

static enum fsa_status take_node(void *arg, const struct jfs_node *n)
{
	struct aggregate *a = arg;

	a->blocks++;
	jfs_book_xtree_node(a->s, n, JFS_D_MAP_XTREE, 0, &a->owner);
	return FSA_OK;
}

static enum fsa_status walk_aggregate(struct jfs_audit_state *s, unsigned table, uint32_t number)
{
	struct jfs *j = s->j;
	struct aggregate a = { .s = s, .number = number, .owner = { .object = "aggregate inode", .number = number } };
	struct jfs_xtree_ops ops = { .piece = take_piece, .node = take_node, .arg = &a, .seen = &s->nodes, .check_siblings = true };
	struct jfs_inode i;
	enum fsa_status st;

	jfs_aggregate_inode(j, table, number, &i);
	st = jfs_xtree_walk(j, &i, &ops);
	if (st == FSA_OK && a.blocks != i.blocks)
		JFS_FIND(j, "aggregate inode", number, i.offset, "block count %llu, it holds %llu", (ull)i.blocks, (ull)a.blocks);
	return st;
}

/* The aggregate inode map: its control page and one IAG, whose bits say which of its inodes are in use. */
static enum fsa_status aggregate_map(struct jfs_audit_state *s)
{
	static const struct fsa_owner owner = { .object = "aggregate inode map", .number = FSA_NO_NUMBER };
	struct jfs *j = s->j;
	uint64_t block = JFS_AIM_OFFSET >> JFS_L2PAGE;
	uint8_t page[JFS_PAGE];
	struct jfs_pieces p;
	struct jfs_inode i;
	enum fsa_status st;

	/* Always in its place; the inode of the map must say so too. */
	jfs_book_imap_control(s, block, &owner);
	if (fsa_read(j->fs, 0, JFS_AIM_OFFSET + JFS_PAGE, page, sizeof(page), "aggregate IAG", 0) == FSA_OK) {
		jfs_book_iag(s, block + 1, page, &owner);
		for (uint32_t k = 0; k < JFS_INODES_PER_EXTENT; k++) {
			bool in_use = jfs_map_bit(page + offsetof(struct jfs_iag, pmap), k);

			if (in_use != aggregate_in_use(j, k) && j->ait_ok[0])
				JFS_FIND(j, "aggregate inode", k, JFS_AIM_OFFSET + JFS_PAGE, "the inode map says it is %s", in_use ? "in use" : "free");
		}
	} else {
		fsa_claim(s->claims, 0, block + 1, 1, JFS_D_IAG, 0, &owner);
	}
	if (!j->ait_ok[0])
		return FSA_OK;
	jfs_aggregate_inode(j, 0, JFS_AGGR_MAP, &i);
	st = jfs_pieces_of(j, &i, &p);
	if (st == FSA_OK && (jfs_pieces_find(&p, 0) != block || jfs_pieces_find(&p, 1) != block + 1 || p.blocks != 2))
		JFS_FIND(j, "aggregate inode", JFS_AGGR_MAP, i.offset, "maps %llu blocks, the first at %llu; the aggregate inode map is 2 blocks "
			 "at %llu", (ull)p.blocks, (ull)jfs_pieces_find(&p, 0), (ull)block);
	jfs_pieces_free(&p);
	return st;
}

/* --- the copy ------------------------------------------------------------------------------------------- */

/* Both tables must lead to the same blocks of the block map and of the inode map. */
static enum fsa_status compare_pieces(struct jfs_audit_state *s, uint32_t number, const struct jfs_pieces *primary)
{
	struct jfs *j = s->j;
	struct jfs_pieces copy;
	struct jfs_inode i;
	enum fsa_status st;
	uint64_t at = 0, wrong = 0, first = 0;

	jfs_aggregate_inode(j, 1, number, &i);
	st = jfs_pieces_of(j, &i, &copy);
	for (size_t k = 0; st == FSA_OK && k < primary->n; k++)
		for (uint64_t n = 0; n < primary->p[k].count; n = at) {
			uint64_t page = primary->p[k].logical + n, other = jfs_pieces_find(&copy, page);

			/* Whole runs at once: most often both have the same ones. */
			at = n + 1;
			if (other == primary->p[k].physical + n) {
				for (; at < primary->p[k].count && at < n + 64 && jfs_pieces_find(&copy, page + at - n) == other + at - n; at++)
					;
			} else if (!wrong++) {
				first = page;
			}
		}
	if (st == FSA_OK && (wrong || copy.blocks != primary->blocks))
		JFS_FIND(j, "secondary aggregate inode table", number, i.offset, "maps %llu pages, the primary %llu; %llu lie elsewhere, the first "
			 "is page %llu", (ull)copy.blocks, (ull)primary->blocks, (ull)wrong, (ull)first);
	jfs_pieces_free(&copy);
	return st;
}

static void book_secondary(struct jfs_audit_state *s)
{
	struct jfs *j = s->j;

	if (j->aim2.ok)
		fsa_claim(s->claims, 0, j->aim2.block, j->aim2.count, JFS_D_SECONDARY_MAP, 0, &secondary_owner);
	for (uint32_t page = 0; j->ait2.ok && page < 4; page++) {
		struct fsa_split split;

		fsa_split_begin(&split, s->claims, 0, j->ait2.block + page, 1, 0, &secondary_owner);
		for (uint32_t k = 0; k < JFS_INODES_PER_PAGE; k++)
			fsa_split_part(&split, k * JFS_INODE_SIZE, JFS_INODE_SIZE,
				       aggregate_in_use(j, page * JFS_INODES_PER_PAGE + k) ? JFS_D_SECONDARY_TABLE : JFS_D_AGGREGATE_FREE, NULL);
		fsa_split_end(&split, JFS_D_SECONDARY_TABLE);
	}
}

static enum fsa_status secondary(struct jfs_audit_state *s)
{
	static const uint32_t own_nodes[] = { JFS_AGGR_BMAP, JFS_AGGR_FILESET };
	struct jfs *j = s->j;
	struct jfs_pieces p;
	struct jfs_inode i;
	enum fsa_status st;

	book_secondary(s);
	if (!j->ait_ok[1] || !j->ait_ok[0])
		return FSA_OK;
	jfs_aggregate_inode(j, 1, JFS_AGGR_MAP, &i);
	st = jfs_pieces_of(j, &i, &p);
	if (st == FSA_OK && (jfs_pieces_find(&p, 0) != j->aim2.block || p.blocks != j->aim2.count))
		JFS_FIND(j, "secondary aggregate inode table", JFS_AGGR_MAP, i.offset, "maps %llu blocks, the first at %llu; the secondary map is "
			 "%llu blocks at %llu", (ull)p.blocks, (ull)jfs_pieces_find(&p, 0), (ull)j->aim2.count, (ull)j->aim2.block);
	jfs_pieces_free(&p);
	for (size_t k = 0; k < 2 && st == FSA_OK; k++) {
		/* The blocks are those of the primary, xtree pages are of its own. */
		st = walk_aggregate(s, 1, own_nodes[k]);
		if (st == FSA_OK)
			st = compare_pieces(s, own_nodes[k], own_nodes[k] == JFS_AGGR_BMAP ? &j->bmap : &j->imap);
	}
	return st;
}

/* --- behind the map ------------------------------------------------------------------------------------- */

static void claim_gap(struct jfs_audit_state *s, uint64_t from, uint64_t to)
{
	static const struct fsa_owner owner = { .object = "behind the block map", .number = FSA_NO_NUMBER };

	if (from < to)
		fsa_claim(s->claims, 0, from, to - from, JFS_D_UNMAPPED_GAP, FSA_CLAIM_UNMAPPED, &owner);
}

/* Whatever lies behind the blocks of the map and is neither work space nor log. */
static void claim_gaps(struct jfs_audit_state *s)
{
	struct jfs *j = s->j;
	const struct jfs_extent_range *a = &j->fsck_space, *b = &j->log;
	uint64_t at = j->blocks;

	if (b->ok && (!a->ok || b->block < a->block)) {
		const struct jfs_extent_range *t = a;

		a = b;
		b = t;
	}
	for (unsigned k = 0; k < 2; k++) {
		const struct jfs_extent_range *r = k ? b : a;

		if (!r->ok || r->block + r->count <= at)
			continue;
		claim_gap(s, at, fsa_min(r->block, j->all_blocks));
		at = r->block + r->count;
	}
	claim_gap(s, at, j->all_blocks);
}

static void claim_work_space(struct jfs_audit_state *s)
{
	static const struct fsa_owner owner = { .object = "work space of jfs_fsck", .number = FSA_NO_NUMBER };
	struct jfs *j = s->j;
	const struct jfs_extent_range *r = &j->fsck_space;
	uint64_t log = JFS_SB32(j->sb, s_fsckloglen);
	unsigned flags = r->block >= j->blocks ? FSA_CLAIM_UNMAPPED : 0;

	if (!r->ok)
		return;
	if (log > r->count) {
		JFS_FIND(j, "superblock", 0, j->sb_offset + offsetof(struct jfs_superblock, s_fsckloglen), "service log of %llu blocks in a work "
			 "space of %llu", (ull)log, (ull)r->count);
		log = 0;
	}
	if (r->count > log)
		fsa_claim(s->claims, 0, r->block, r->count - log, JFS_D_FSCK_SPACE, flags, &owner);
	if (log)
		fsa_claim(s->claims, 0, r->block + r->count - log, log, JFS_D_FSCK_LOG, flags, &owner);
}

enum fsa_status jfs_audit_static(struct jfs_audit_state *s)
{
	static const struct fsa_owner boot = { .object = "boot area", .number = FSA_NO_NUMBER };
	struct jfs *j = s->j;
	enum fsa_status st;

	fsa_claim(s->claims, 0, 0, JFS_SUPER1_OFFSET >> JFS_L2PAGE, JFS_D_BOOT, 0, &boot);
	book_super(s, JFS_SUPER1_OFFSET, JFS_D_SUPERBLOCK);
	book_super(s, JFS_SUPER2_OFFSET, JFS_D_SUPERBLOCK_COPY);
	book_table(s);
	st = aggregate_map(s);
	if (st == FSA_OK && j->ait_ok[j->ait_used]) {
		static const uint32_t numbers[] = { JFS_AGGR_BMAP, JFS_AGGR_LOG, JFS_AGGR_BAD, JFS_AGGR_FILESET };

		for (size_t k = 0; k < sizeof(numbers) / sizeof(numbers[0]) && st == FSA_OK; k++)
			st = walk_aggregate(s, j->ait_used, numbers[k]);
	}
	if (st == FSA_OK)
		st = secondary(s);
	claim_work_space(s);
	if (j->log.ok)
		jfs_log_claim(j, s->claims, 0, j->log.block, j->log.count, j->log.block >= j->blocks ? FSA_CLAIM_UNMAPPED : 0);
	claim_gaps(s);
	return st;
}
