/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The block map. Page 0 of its inode is the control page, page 1 the control page of level 2, page 2 the
 * first of level 1, page 3 the first of level 0; behind each of level 0 come its 1024 dmap pages, so that
 * further control pages lie between them. Levels that a filesystem of this size does not need are there and
 * are not kept. The working map is the allocation map of the audit: it is what free counters and df count.
 */
#include <stdlib.h>
#include <string.h>

#include "jfs_audit.h"

struct bmapper {
	struct jfs_audit_state *s;
	struct jfs *j;
	uint64_t dmaps;			/* that the map needs */
	unsigned top;			/* highest level in use */
	int8_t *root[3];		/* trees being put together, one a level */
	uint64_t group_free[JFS_MAX_AG];
	uint64_t free;
	unsigned group_log;
	uint64_t unread;		/* blocks whose dmap could not be had */
	uint64_t differ;		/* blocks allocated in one map only */
	uint64_t differ_at;
	uint8_t page[JFS_PAGE];
	bool *spare_claimed;
};

static const struct fsa_owner bmap_owner = { .object = "block map", .number = FSA_NO_NUMBER };

static uint64_t dmap_page(uint64_t dmap)
{
	return dmap + (dmap >> JFS_L2_CTL_LEAVES) + (dmap >> 2 * JFS_L2_CTL_LEAVES) + 4;
}

/* The control page of a level that stands above dmap `dmap`. */
static uint64_t control_page(unsigned level, uint64_t dmap)
{
	uint64_t l0 = dmap >> JFS_L2_CTL_LEAVES, l1 = l0 >> JFS_L2_CTL_LEAVES;

	switch (level) {
	case 0: return (l0 << JFS_L2_CTL_LEAVES) + l0 + l1 + 3;
	case 1: return (l1 << 2 * JFS_L2_CTL_LEAVES) + (l1 << JFS_L2_CTL_LEAVES) + l1 + 2;
	default: return 1;
	}
}

static bool read_page(struct bmapper *b, uint64_t page, const char *object, uint64_t number, uint64_t *block)
{
	*block = jfs_pieces_find(&b->j->bmap, page);
	if (!*block) {
		JFS_FIND(b->j, object, number, FSA_NO_OFFSET, "page %llu of the block map is not mapped by its inode", (ull)page);
		return false;
	}
	return fsa_read(b->j->fs, 0, jfs_at(*block), b->page, sizeof(b->page), object, number) == FSA_OK;
}

static void check_head(struct bmapper *b, const uint8_t *head, const uint32_t want[5], const char *object, uint64_t number, ull at)
{
	static const char *const names[] = { "nleafs", "l2nleafs", "leafidx", "height" };

	for (unsigned k = 0; k < 4; k++)
		if (fsa_get_le32(head + 4 * k) != want[k])
			JFS_FIND(b->j, object, number, at + 4 * k, "%s is %u, expected %u", names[k], fsa_get_le32(head + 4 * k), want[k]);
	if (head[16] != want[4])
		JFS_FIND(b->j, object, number, at + 16, "budmin is %u, expected %u", head[16], want[4]);
}

static void check_tree(struct bmapper *b, const uint8_t *stored, const int8_t *built, unsigned n, const char *object, uint64_t number,
		       ull at)
{
	unsigned wrong = 0, first = 0;

	for (unsigned k = 0; k < n; k++)
		if ((int8_t)stored[k] != built[k] && !wrong++)
			first = k;
	if (wrong)
		JFS_FIND(b->j, object, number, at + first, "%u nodes of the summary tree are not what lies below them; node %u is %d, computed %d",
			 wrong, first, (int8_t)stored[first], built[first]);
}

/* --- dmap pages ---------------------------------------------------------------------------------------- */

static uint32_t reverse(uint32_t v)
{
	v = (v >> 1 & 0x55555555u) | (v & 0x55555555u) << 1;
	v = (v >> 2 & 0x33333333u) | (v & 0x33333333u) << 2;
	v = (v >> 4 & 0x0f0f0f0fu) | (v & 0x0f0f0f0fu) << 4;
	return __builtin_bswap32(v);
}

static void book_dmap(struct bmapper *b, uint64_t block)
{
	const uint32_t used = offsetof(struct jfs_dmap, pad_tree), maps = offsetof(struct jfs_dmap, wmap);
	struct fsa_split split;

	fsa_split_begin(&split, b->s->claims, 0, block, 1, 0, &bmap_owner);
	fsa_split_part(&split, 0, used, JFS_D_DMAP, NULL);
	fsa_split_part(&split, used, maps - used, JFS_D_FREE_BMAP, NULL);
	fsa_split_part(&split, maps, JFS_PAGE - maps, JFS_D_DMAP, NULL);
	fsa_split_end(&split, JFS_D_DMAP);
}

static void compare_maps(struct bmapper *b, uint32_t working, uint32_t persistent, uint64_t block)
{
	uint32_t differ = working ^ persistent;

	if (!differ)
		return;
	if (!b->differ)
		b->differ_at = block + (unsigned)__builtin_clz(differ);
	b->differ += (unsigned)__builtin_popcount(differ);
}

/* The bits: into the ledger's map, the counters, and the leaves of the tree that they should make. */
static uint32_t take_bits(struct bmapper *b, uint64_t first, uint32_t blocks, int8_t *tree)
{
	uint8_t bits[JFS_BLOCKS_PER_DMAP / 8];
	uint32_t free_blocks = 0;

	for (unsigned k = 0; k < JFS_DMAP_LEAVES; k++) {
		uint32_t word = fsa_get_le32(b->page + offsetof(struct jfs_dmap, wmap) + 4 * k), in_order = reverse(word);
		uint32_t persistent = fsa_get_le32(b->page + offsetof(struct jfs_dmap, pmap) + 4 * k);
		uint32_t behind = 32 * k >= blocks ? UINT32_MAX : blocks - 32 * k < 32 ? UINT32_MAX >> (blocks - 32 * k) : 0;

		for (unsigned c = 0; c < 4; c++)
			bits[4 * k + c] = (uint8_t)(in_order >> 8 * c);
		tree[JFS_DMAP_LEAF + k] = jfs_word_buddy(word);
		free_blocks += (unsigned)__builtin_popcount(~(word | behind));
		compare_maps(b, word & ~behind, persistent & ~behind, first + 32 * k);
	}
	fsa_map_bitmap(b->s->claims, 0, first, bits, blocks);
	b->group_free[fsa_min(first >> b->group_log, JFS_MAX_AG - 1)] += free_blocks;
	b->free += free_blocks;
	return free_blocks;
}

/* Returns the value that the level above should hold for it. */
static int8_t take_dmap(struct bmapper *b, uint64_t dmap)
{
	static const uint32_t want[5] = { JFS_DMAP_LEAVES, 8, JFS_DMAP_LEAF, 4, JFS_DMAP_BUDMIN };
	uint64_t first = dmap * JFS_BLOCKS_PER_DMAP, block;
	uint32_t blocks = (uint32_t)fsa_min(b->j->blocks - first, JFS_BLOCKS_PER_DMAP), free_blocks;
	int8_t tree[JFS_DMAP_TREE];
	ull at;

	if (!read_page(b, dmap_page(dmap), "dmap", dmap, &block)) {
		if (block)
			fsa_claim(b->s->claims, 0, block, 1, JFS_D_DMAP, 0, &bmap_owner);
		b->unread += blocks;
		return JFS_NO_FREE;
	}
	at = jfs_at(block);
	book_dmap(b, block);
	free_blocks = take_bits(b, first, blocks, tree);
	if (FSA_LE(uint64_t, b->page, struct jfs_dmap, start) != first || FSA_LE(uint32_t, b->page, struct jfs_dmap, nblocks) != blocks)
		JFS_FIND(b->j, "dmap", dmap, at, "says it is for %u blocks from %llu, it is for %u from %llu",
			 FSA_LE(uint32_t, b->page, struct jfs_dmap, nblocks), (ull)FSA_LE(uint64_t, b->page, struct jfs_dmap, start), blocks,
			 (ull)first);
	if (FSA_LE(uint32_t, b->page, struct jfs_dmap, nfree) != free_blocks)
		JFS_FIND(b->j, "dmap", dmap, at, "%u free blocks, the bitmap has %u", FSA_LE(uint32_t, b->page, struct jfs_dmap, nfree),
			 free_blocks);
	check_head(b, b->page + offsetof(struct jfs_dmap, head), want, "dmap", dmap, at + offsetof(struct jfs_dmap, head));
	jfs_tree_build(tree, JFS_DMAP_LEAVES, JFS_DMAP_LEAF, JFS_DMAP_BUDMIN);
	check_tree(b, b->page + offsetof(struct jfs_dmap, stree), tree, JFS_DMAP_TREE, "dmap", dmap,
		   at + offsetof(struct jfs_dmap, stree));
	/* The level above is checked against what is stored here, so that one fault is told once. */
	return (int8_t)b->page[offsetof(struct jfs_dmap, stree)];
}

/* --- control pages ------------------------------------------------------------------------------------- */

static void book_control(struct bmapper *b, uint64_t block, uint32_t used, enum jfs_detail detail)
{
	struct fsa_split split;

	fsa_split_begin(&split, b->s->claims, 0, block, 1, 0, &bmap_owner);
	fsa_split_part(&split, 0, used, detail, NULL);
	fsa_split_part(&split, used, JFS_PAGE - used, JFS_D_FREE_BMAP, NULL);
	fsa_split_end(&split, detail);
}

static void clear_level(struct bmapper *b, unsigned level)
{
	memset(b->root[level], JFS_NO_FREE, JFS_CTL_TREE);
}

/* All that lies below one control page is known: check it and hand its root to the level above. */
static void finish_level(struct bmapper *b, unsigned level, uint64_t dmap)
{
	static const char *const names[] = { "dmap control page L0", "dmap control page L1", "dmap control page L2" };
	const uint32_t want[5] = {
		JFS_CTL_LEAVES, JFS_L2_CTL_LEAVES, JFS_CTL_LEAF, 5, JFS_L2_BLOCKS_PER_DMAP + level * JFS_L2_CTL_LEAVES,
	};
	uint64_t number = dmap >> (level + 1) * JFS_L2_CTL_LEAVES, block;
	int8_t stored = JFS_NO_FREE;

	jfs_tree_build(b->root[level], JFS_CTL_LEAVES, JFS_CTL_LEAF, (int)want[4]);
	if (read_page(b, control_page(level, dmap), names[level], number, &block)) {
		const uint8_t *stree = b->page + offsetof(struct jfs_dmapctl, stree);

		check_head(b, b->page, want, names[level], number, jfs_at(block));
		check_tree(b, stree, b->root[level], JFS_CTL_TREE, names[level], number,
			   jfs_at(block) + offsetof(struct jfs_dmapctl, stree));
		stored = (int8_t)stree[0];
	}
	if (block)
		book_control(b, block, offsetof(struct jfs_dmapctl, pad), JFS_D_DMAPCTL);
	clear_level(b, level);
	if (level < b->top) {
		b->root[level + 1][JFS_CTL_LEAF + (number & (JFS_CTL_LEAVES - 1))] = stored;
	} else if (b->j->bmap_control_ok) {
		int8_t max = (int8_t)b->j->bmap_control[offsetof(struct jfs_bmap_control, dn_maxfreebud)];

		if (max != stored)
			JFS_FIND(b->j, "block map", FSA_NO_NUMBER, jfs_at(jfs_pieces_find(&b->j->bmap, 0)) +
				 offsetof(struct jfs_bmap_control, dn_maxfreebud), "longest free run 2^%d, the tree has 2^%d", max, stored);
	}
}

static enum fsa_status take_dmaps(struct bmapper *b)
{
	/* What lies behind the end of the image would be a finding a page. */
	uint64_t last = b->dmaps;

	for (uint64_t dmap = 0; dmap < last; dmap++) {
		uint64_t block = jfs_pieces_find(&b->j->bmap, dmap_page(dmap));
		int8_t value;

		if (!block || block >= jfs_image_blocks(b->j)) {
			uint64_t from = dmap * JFS_BLOCKS_PER_DMAP;

			JFS_FIND(b->j, "dmap", dmap, FSA_NO_OFFSET, "page %llu of the block map is %s: nothing is known of %llu blocks from %llu on",
				 (ull)dmap_page(dmap), block ? "behind the end of the image" : "not mapped by its inode",
				 (ull)(b->j->blocks - from), (ull)from);
			b->unread += b->j->blocks - from;
			break;
		}
		value = take_dmap(b, dmap);
		b->root[0][JFS_CTL_LEAF + (dmap & (JFS_CTL_LEAVES - 1))] = value;
		for (unsigned level = 0; level <= b->top; level++) {
			uint64_t span = UINT64_C(1) << (level + 1) * JFS_L2_CTL_LEAVES;

			if (dmap + 1 == last || (dmap + 1) % span == 0)
				finish_level(b, level, dmap);
			else
				break;
		}
		if (b->s->audit->progress && dmap % 4096 == 0)
			b->s->audit->progress(b->s->audit->progress_arg, dmap, last + b->j->iags);
	}
	return FSA_OK;
}

static void check_control(struct bmapper *b)
{
	struct jfs *j = b->j;
	const uint8_t *c = j->bmap_control;
	ull at = jfs_at(jfs_pieces_find(&j->bmap, 0));
	uint64_t groups = fsa_div_up(j->blocks, UINT64_C(1) << b->group_log);

#define CHECK(got, want, what) \
	do { \
		uint64_t got_ = (got), want_ = (want); \
		if (got_ != want_) \
			JFS_FIND(j, "block map", FSA_NO_NUMBER, at, what " %llu, expected %llu", (ull)got_, (ull)want_); \
	} while (0)
	CHECK(JFS_BC64(c, dn_mapsize), j->blocks, "size in blocks");
	CHECK(JFS_BC32(c, dn_l2nbperpage), 0, "log2 of blocks a page");
	CHECK(JFS_BC32(c, dn_maxlevel), b->top, "highest level");
	CHECK(JFS_BC32(c, dn_numag), groups, "number of groups");
	CHECK(JFS_BC64(c, dn_agsize), UINT64_C(1) << b->group_log, "blocks a group");
	CHECK(JFS_BC32(c, dn_agl2size), b->group_log, "log2 of blocks a group");
	/* Counters are written when the filesystem is unmounted: before that a difference is no damage. */
	if (!b->unread && jfs_is_clean(j)) {
		CHECK(JFS_BC64(c, dn_nfree), b->free, "free blocks");
		for (unsigned k = 0; k < JFS_MAX_AG; k++) {
			uint64_t got = fsa_get_le64(c + offsetof(struct jfs_bmap_control, dn_agfree) + 8 * k);

			if (k < groups && got != b->group_free[k])
				JFS_FIND(j, "allocation group", k, at + offsetof(struct jfs_bmap_control, dn_agfree) + 8 * k,
					 "%llu free blocks, the bitmaps have %llu", (ull)got, (ull)b->group_free[k]);
		}
	}
#undef CHECK
}

/* Pages that no level needs: their count follows from the size alone. */
static bool page_needed(const struct bmapper *b, uint64_t page)
{
	uint64_t last = b->dmaps ? dmap_page(b->dmaps - 1) : 0;

	return page == 0 || (page > 2 && page <= last) || (page == 2 && b->top >= 1) || (page == 1 && b->top >= 2);
}

static void book_spares(struct bmapper *b)
{
	const struct jfs_pieces *p = &b->j->bmap;

	for (size_t k = 0; k < p->n; k++) {
		const struct jfs_piece *x = &p->p[k];
		uint64_t last = b->dmaps ? dmap_page(b->dmaps - 1) : 0;

		for (uint64_t n = 0; n < x->count; n++) {
			uint64_t page = x->logical + n;

			if (page > last && page > 3) {
				fsa_claim(b->s->claims, 0, x->physical + n, x->count - n, JFS_D_BMAP_SPARE, 0, &bmap_owner);
				break;
			}
			if (!page_needed(b, page))
				fsa_claim(b->s->claims, 0, x->physical + n, 1, JFS_D_BMAP_SPARE, 0, &bmap_owner);
			/* From here to the last one all are needed. */
			if (page > 2 && page < last)
				n += fsa_min(x->count - n - 1, last - page);
		}
	}
}

enum fsa_status jfs_audit_bmap(struct jfs_audit_state *s)
{
	struct jfs *j = s->j;
	struct bmapper *b = calloc(1, sizeof(*b));
	int8_t *trees = malloc(3 * JFS_CTL_TREE);
	uint64_t block;
	uint32_t agsize = JFS_SB32(j->sb, s_agsize);
	enum fsa_status st = FSA_ENOMEM;

	if (!b || !trees)
		goto out;
	b->s = s;
	b->j = j;
	b->dmaps = fsa_div_up(j->blocks, JFS_BLOCKS_PER_DMAP);
	b->top = b->dmaps <= JFS_CTL_LEAVES ? 0 : b->dmaps <= JFS_CTL_LEAVES * JFS_CTL_LEAVES ? 1 : 2;
	for (unsigned level = 0; level < 3; level++) {
		b->root[level] = trees + level * JFS_CTL_TREE;
		clear_level(b, level);
	}
	b->group_log = fsa_is_power_of_two(agsize) && agsize >= JFS_BLOCKS_PER_DMAP ? (unsigned)__builtin_ctz(agsize) : JFS_L2_BLOCKS_PER_DMAP;
	if (agsize != 1u << b->group_log || (j->blocks - 1) >> b->group_log >= JFS_MAX_AG)
		JFS_FIND(j, "superblock", 0, j->sb_offset + offsetof(struct jfs_superblock, s_agsize), "groups of %u blocks, a power of two "
			 "and at most %u of them are possible", agsize, JFS_MAX_AG);
	block = jfs_pieces_find(&j->bmap, 0);
	if (block)
		book_control(b, block, offsetof(struct jfs_bmap_control, pad), JFS_D_BMAP_CONTROL);
	st = take_dmaps(b);
	if (j->bmap_control_ok)
		check_control(b);
	book_spares(b);
	if (b->differ && jfs_is_clean(j))
		JFS_FIND(j, "block map", FSA_NO_NUMBER, FSA_NO_OFFSET, "%llu blocks differ between the working and the persistent map, the "
			 "first is %llu", (ull)b->differ, (ull)b->differ_at);
	if (j->bmap_control_ok)
		s->audit->counters = (struct fsa_counters){
			.have_free_blocks = true, .free_blocks = JFS_BC64(j->bmap_control, dn_nfree), .lazy = !jfs_is_clean(j),
		};
out:
	free(trees);
	free(b);
	return st;
}
