/* SPDX-License-Identifier: GPL-2.0-only */
/* The audit as a whole: fixed places, map, inode tables in disk order, then directories in disk order. */
#include <stdlib.h>
#include <string.h>

#include "ext_audit.h"

bool ext_room(void **array, size_t *room, size_t count, size_t size)
{
	size_t n = *room ? *room * 2 : 256;
	void *p;

	if (count < *room)
		return true;
	p = realloc(*array, n * size);
	if (!p)
		return false;
	*array = p;
	*room = n;
	return true;
}

bool ext_region_add(struct ext_regions *g, uint32_t offset, uint32_t length, enum ext_detail detail)
{
	if (!length)
		return true;
	if (!ext_room((void **)&g->r, &g->room, g->n, sizeof(*g->r)))
		return false;
	g->r[g->n++] = (struct ext_region){ .offset = offset, .length = length, .detail = detail };
	return true;
}

static int compare_regions(const void *a, const void *b)
{
	const struct ext_region *x = a, *y = b;

	return (x->offset > y->offset) - (x->offset < y->offset);
}

bool ext_regions_book(struct ext_regions *g, struct fsa_split *split, uint64_t base, uint32_t size, enum ext_detail rest,
		      const struct fsa_owner *owner)
{
	uint32_t at = 0;
	bool ok = true;

	if (g->n > 1)
		qsort(g->r, g->n, sizeof(*g->r), compare_regions);
	for (size_t k = 0; k < g->n; k++) {
		uint32_t from = g->r[k].offset, end = from + g->r[k].length;

		if (from < at) {
			ok = false;
			from = at;
		}
		end = (uint32_t)fsa_min(end, size);
		if (end <= from)
			continue;
		fsa_split_part(split, base + at, from - at, rest, owner);
		fsa_split_part(split, base + from, end - from, g->r[k].detail, owner);
		at = end;
	}
	fsa_split_part(split, base + at, size - at, rest, owner);
	g->n = 0;
	return ok;
}

enum fsa_status ext_geometry(struct fsa_fs *fs, struct fsa_ledger *ledger)
{
	struct ext *e = ext_of(fs);
	enum fsa_status st = fsa_ledger_add_device(ledger, e->blocks, e->block_size, fsa_image_size(fs->devices[0].image));

	for (unsigned k = 1; k < fs->n_devices && st == FSA_OK; k++) {
		uint64_t size = fsa_image_size(fs->devices[k].image);
		uint8_t sb[EXT_SUPERBLOCK_SIZE];
		uint64_t blocks = size / e->block_size;

		/* The journal says how long it is; what is no journal is taken as it is. */
		if (fsa_image_read(fs->devices[k].image, EXT_SUPERBLOCK_OFFSET, sb, sizeof(sb)) == FSA_OK &&
		    EXT_SB16(sb, s_magic) == EXT2_SUPER_MAGIC)
			blocks = fsa_min(blocks, EXT_SB32(sb, s_blocks_count));
		st = fsa_ledger_add_device(ledger, blocks, e->block_size, size);
	}
	return st;
}

static void release(struct ext_audit_state *s)
{
	ext_orphans_free(&s->orphans);
	bitset_release(&s->map_nodes);
	ext_links_free(s);
	ext_tally_free(&s->xattr_blocks);
	ext_tally_free(&s->value_inodes);
	free(s->jobs);
	free(s->dirs);
	free(s->inline_dirs);
	free(s->names);
	free(s->block);
	free(s->xattr);
}

static enum fsa_status walk(struct ext_audit_state *s)
{
	enum fsa_status st = ext_orphans_read(s->e, &s->orphans);

	if (st == FSA_OK) {
		ext_audit_static(s);
		st = ext_audit_maps(s);
	}
	if (st == FSA_OK)
		st = ext_audit_tables(s);
	if (st == FSA_OK)
		st = ext_audit_dirs(s);
	if (st == FSA_OK)
		st = ext_audit_cluster_rests(s);
	if (st == FSA_OK) {
		ext_links_check(s);
		ext_audit_xattr_counts(s);
	}
	return st;
}

enum fsa_status ext_audit(struct fsa_fs *fs, struct fsa_audit *audit)
{
	struct ext *e = ext_of(fs);
	struct ext_audit_state s = { .e = e, .audit = audit, .claims = audit->claims };
	enum fsa_status st = FSA_ENOMEM;

	if (e->journal_device)
		return ext_journal_device_audit(e, audit->claims, 0);
	s.block = malloc(e->block_size);
	s.xattr = malloc(e->block_size);
	s.inode_info = calloc(e->groups, sizeof(*s.inode_info));
	if (s.block && s.xattr && s.inode_info && bitset_init(&s.map_nodes, e->blocks))
		st = walk(&s);
	release(&s);
	audit->counters = (struct fsa_counters){
		.have_free_blocks = true, .free_blocks = ext_sb_free_blocks(e), .lazy = !ext_sb_clean(e),
	};
	if (st == FSA_OK && e->journal_role > 0)
		st = ext_journal_device_audit(e, audit->claims, (unsigned)e->journal_role);
	return st;
}
