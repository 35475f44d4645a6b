/* SPDX-License-Identifier: GPL-2.0-only */
/* The audit as a whole: what lies at fixed places, the bitmaps, then the tree in key order. */
#include <stdio.h>
#include <stdlib.h>

#include "reiserfs_audit.h"

enum fsa_status rfs_geometry(struct fsa_fs *fs, struct fsa_ledger *ledger)
{
	struct rfs *r = rfs_of(fs);
	enum fsa_status st = fsa_ledger_add_device(ledger, r->blocks, r->block_size, fsa_image_size(fs->devices[0].image));

	for (unsigned k = 1; k < fs->n_devices && st == FSA_OK; k++) {
		uint64_t size = fsa_image_size(fs->devices[k].image), blocks = size >> r->block_log;

		/* Of a journal device only what comes before the journal and the journal itself are known to be used. */
		if ((int)k == r->journal_device)
			blocks = fsa_min(blocks, (uint64_t)r->journal_first + r->journal_size + 1);
		st = fsa_ledger_add_device(ledger, blocks, r->block_size, size);
	}
	return st;
}

static void claim_super(struct rfs_audit_state *s)
{
	static const struct fsa_owner owner = { .object = "superblock", .number = 0 };
	struct rfs *r = s->r;
	uint64_t block = r->sb_offset >> r->block_log;
	uint32_t map = s->oid_map_n * 4;
	struct fsa_split split;

	fsa_claim(s->claims, 0, 0, block, RFS_D_BOOT, 0, &owner);
	fsa_split_begin(&split, s->claims, 0, block, 1, 0, &owner);
	fsa_split_part(&split, 0, r->super_size, RFS_D_SUPER, NULL);
	fsa_split_part(&split, r->super_size, map, RFS_D_OID_MAP, NULL);
	fsa_split_part(&split, r->super_size + map, split.size - r->super_size - map, RFS_D_FREE_SUPER, NULL);
	fsa_split_end(&split, RFS_D_FREE_SUPER);
}

/* Blocks on this device that a journal leaves unused: it lies elsewhere, or is shorter than what was set aside. */
static void claim_reserved(struct rfs_audit_state *s)
{
	static const struct fsa_owner owner = { .object = "blocks kept for a journal", .number = FSA_NO_NUMBER };
	struct rfs *r = s->r;
	uint64_t first = r->reserved_first, end = first + r->reserved_blocks, used_end = (uint64_t)r->journal_first + r->journal_size + 1;

	if (!r->external_journal) {
		if (r->journal_first != r->reserved_first)
			return;
		first = used_end;
	}
	if (first >= end)
		return;
	if (!fsa_claim(s->claims, 0, first, end - first, RFS_D_JOURNAL_RESERVED, 0, &owner))
		RFS_FIND(r, "superblock", 0, r->sb_offset, "blocks %llu to %llu are kept for a journal, the filesystem has %u", (ull)first,
			 (ull)end - 1, r->blocks);
}

static enum fsa_status read_maps(struct rfs_audit_state *s)
{
	struct rfs *r = s->r;
	uint32_t bits = r->block_size * 8;
	uint8_t *map = s->buffers;
	uint64_t end = fsa_image_size(r->fs->devices[0].image);

	for (uint32_t n = 0; n < r->bitmaps; n++) {
		uint64_t block = rfs_bitmap_block(r, n), first = (uint64_t)n * bits, count = fsa_min(bits, r->blocks - first);
		struct fsa_owner owner = { .object = "bitmap", .number = n };

		/* They come in rising order. A size that is wrong can mean a million of them. */
		if (rfs_at(r, block) >= end) {
			RFS_FIND(r, "bitmap", n, rfs_at(r, block), "this one and those up to %u lie behind the end of the image, which has %llu "
				 "bytes: blocks from %llu on count as used", r->bitmaps - 1, (ull)end, (ull)first);
			fsa_map_allocated(s->claims, 0, first, r->blocks - first);
			break;
		}
		/* What one said that cannot be read is unknown: nothing may look free. */
		if (fsa_read(r->fs, 0, rfs_at(r, block), map, r->block_size, "bitmap", n) == FSA_OK)
			fsa_map_bitmap(s->claims, 0, first, map, count);
		else
			fsa_map_allocated(s->claims, 0, first, count);
		if (!fsa_claim_with_rest(s->claims, 0, block, 1, fsa_div_up(count, 8), RFS_D_BITMAP, RFS_D_FREE_BITMAP, 0, &owner))
			RFS_FIND(r, "bitmap", n, FSA_NO_OFFSET, "its place is block %llu, the filesystem has %u", (ull)block, r->blocks);
	}
	return FSA_OK;
}

/* Numbers where used and free object ids begin in turn; the first is 1, as 0 is no object id. */
static enum fsa_status read_oid_map(struct rfs_audit_state *s)
{
	struct rfs *r = s->r;
	uint32_t n = fsa_le16v(rfs_super(r)->s_oid_cursize);
	uint64_t at = r->sb_offset + r->super_size;

	n = (uint32_t)fsa_min(n, (r->block_size - r->super_size) / 4);
	if (n == 0)
		return FSA_OK;
	s->oid_map = malloc(n * sizeof(*s->oid_map));
	if (!s->oid_map)
		return FSA_ENOMEM;
	if (fsa_read(r->fs, 0, at, s->buffers, n * 4, "object id map", FSA_NO_NUMBER) != FSA_OK)
		return FSA_OK;
	s->oid_map_n = n;
	for (uint32_t k = 0; k < n; k++) {
		s->oid_map[k] = fsa_get_le32(s->buffers + k * 4);
		if (k == 0 ? s->oid_map[k] != 1 : s->oid_map[k] <= s->oid_map[k - 1])
			RFS_FIND(r, "object id map", FSA_NO_NUMBER, at + k * 4, "number %u of %u is %u, %s %u", k, n, s->oid_map[k],
				 k ? "should be above" : "should be", k ? s->oid_map[k - 1] : 1);
	}
	return FSA_OK;
}

static void give_figures(struct rfs_audit_state *s)
{
	static const char *const names[4][2] = {
		{ "stat data items", "stat data" }, { "indirect items", "indirect items' pointers" }, { "direct items", "direct items' bytes" },
		{ "directory items", "directory items' bytes" },
	};
	struct fsa_audit *a = s->audit;

	if (!a->figure)
		return;
	a->figure(a->figure_arg, "tree", "internal nodes", a->branch_nodes, "");
	a->figure(a->figure_arg, "tree", "leaves", a->leaf_nodes, "");
	a->figure(a->figure_arg, "tree", "unformatted blocks", s->data_blocks, "");
	for (unsigned k = 0; k < 4; k++) {
		a->figure(a->figure_arg, "tree", names[k][0], s->items[k], "");
		a->figure(a->figure_arg, "tree", names[k][1], s->item_bytes[k], "bytes");
	}
	for (unsigned k = 0; k < sizeof(s->tail_sizes) / sizeof(s->tail_sizes[0]); k++) {
		char name[40];

		if (!s->tail_sizes[k])
			continue;
		snprintf(name, sizeof(name), "%llu to %llu bytes", 1ull << k, (2ull << k) - 1);
		a->figure(a->figure_arg, "tail items by size", name, s->tail_sizes[k], "");
	}
}

static enum fsa_status walk(struct rfs_audit_state *s)
{
	enum fsa_status st = read_oid_map(s);

	if (st == FSA_OK) {
		claim_super(s);
		st = read_maps(s);
	}
	if (st == FSA_OK) {
		rfs_journal_claim(s->r, s->claims);
		claim_reserved(s);
		st = rfs_audit_hidden(s);
	}
	if (st == FSA_OK)
		st = rfs_audit_tree(s);
	if (st == FSA_OK)
		rfs_audit_links(s);
	return st;
}

enum fsa_status rfs_audit(struct fsa_fs *fs, struct fsa_audit *audit)
{
	struct rfs *r = rfs_of(fs);
	struct rfs_audit_state s = { .r = r, .audit = audit, .claims = audit->claims, .want_owners = fsa_claims_want_owners(audit->claims) };
	enum fsa_status st = FSA_ENOMEM;

	s.buffers = malloc((size_t)RFS_MAX_LEVEL * r->block_size);
	if (s.buffers && bitset_init(&s.nodes, r->blocks))
		st = walk(&s);
	audit->counters = (struct fsa_counters){ .have_free_blocks = true, .free_blocks = fsa_le32v(rfs_super(r)->s_free_blocks) };
	if (st == FSA_OK)
		give_figures(&s);
	bitset_release(&s.nodes);
	rfs_known_free(&s.known);
	free(s.buffers);
	free(s.oid_map);
	return st;
}
