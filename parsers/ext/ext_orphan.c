/* SPDX-License-Identifier: GPL-2.0-only */
/* Orphans: inodes deleted while open or being truncated, in a list through the inodes or in a file. */
#include <stdlib.h>
#include <string.h>

#include "ext.h"

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static enum fsa_status add(struct ext_orphans *o, uint32_t ino)
{
	/* Grows at powers of two. */
	if (fsa_is_power_of_two(o->count + 1) || !o->inode) {
		uint32_t *p = realloc(o->inode, 2 * (o->count + 1) * sizeof(*p));

		if (!p)
			return FSA_ENOMEM;
		o->inode = p;
	}
	o->inode[o->count++] = ino;
	return FSA_OK;
}

bool ext_orphans_has(const struct ext_orphans *o, uint32_t ino)
{
	return o->count && bsearch(&ino, o->inode, o->count, sizeof(ino), compare) != NULL;
}

void ext_orphans_free(struct ext_orphans *o)
{
	free(o->inode);
	memset(o, 0, sizeof(*o));
}

/* The list: s_last_orphan, then i_dtime of each as the number of the next. */
static enum fsa_status read_list(struct ext *e, struct ext_orphans *o, uint8_t *raw)
{
	uint32_t ino = EXT_SB32(e->sb, s_last_orphan), seen = 0;
	enum fsa_status st = FSA_OK;

	while (ino && st == FSA_OK) {
		struct ext_inode i;

		if (ino < e->first_inode || ino > e->inodes) {
			EXT_FIND(e, "superblock", 0, e->sb_offset, "orphan list names inode %u, possible are %u to %u", ino, e->first_inode, e->inodes);
			break;
		}
		if (++seen > e->inodes) {
			EXT_FIND(e, "superblock", 0, e->sb_offset, "orphan list has a cycle: it is longer than the %u inodes", e->inodes);
			break;
		}
		if (ext_inode_read(e, ino, raw, &i) != FSA_OK)
			break;
		st = add(o, ino);
		ino = i.deletion_time;
	}
	return st;
}

struct file_reader {
	struct ext *e;
	const struct ext_inode *i;
	struct ext_orphans *o;
	uint8_t *block;
};

static enum fsa_status read_file_block(struct file_reader *r, uint64_t block)
{
	struct ext *e = r->e;
	uint32_t n = (e->block_size - (uint32_t)sizeof(struct ext4_orphan_block_tail)) / 4;
	struct ext_csum c;

	if (fsa_read(e->fs, 0, ext_at(e, block), r->block, e->block_size, "orphan file block", block) != FSA_OK)
		return FSA_OK;
	if (fsa_get_le32(r->block + e->block_size - 8) != EXT4_ORPHAN_BLOCK_MAGIC) {
		EXT_FIND(e, "orphan file", r->i->number, ext_at(e, block), "block %llu has magic 0x%08x, should be 0x%08x", (ull)block,
			 fsa_get_le32(r->block + e->block_size - 8), EXT4_ORPHAN_BLOCK_MAGIC);
		return FSA_OK;
	}
	if (!ext_csum_orphan_block(e, r->i->seed, block, r->block, &c))
		EXT_FIND(e, "orphan file", r->i->number, ext_at(e, block), "checksum 0x%08x, computed 0x%08x", c.got, c.want);
	for (uint32_t k = 0; k < n; k++) {
		uint32_t ino = fsa_get_le32(r->block + 4 * (size_t)k);
		enum fsa_status st;

		if (!ino)
			continue;
		if (ino < e->first_inode || ino > e->inodes) {
			EXT_FIND(e, "orphan file", r->i->number, ext_at(e, block) + 4 * (uint64_t)k, "names inode %u, possible are %u to %u",
				 ino, e->first_inode, e->inodes);
			continue;
		}
		st = add(r->o, ino);
		if (st != FSA_OK)
			return st;
	}
	return FSA_OK;
}

static enum fsa_status read_file_piece(void *arg, const struct ext_piece *p)
{
	struct file_reader *r = arg;
	enum fsa_status st = FSA_OK;

	for (uint64_t k = 0; k < p->count && st == FSA_OK && !p->unwritten; k++)
		st = read_file_block(r, p->physical + k);
	return st;
}

static enum fsa_status read_file(struct ext *e, struct ext_orphans *o, uint8_t *raw)
{
	struct file_reader r = { .e = e, .o = o };
	struct ext_map_ops ops = { .piece = read_file_piece, .arg = &r };
	struct ext_inode i;
	enum fsa_status st;

	/* Nothing in the file counts while the flag is off. */
	if (!ext_compat(e, EXT4_FEATURE_COMPAT_ORPHAN_FILE) || !ext_ro_compat(e, EXT4_FEATURE_RO_COMPAT_ORPHAN_PRESENT))
		return FSA_OK;
	if (ext_inode_read(e, EXT_SB32(e->sb, s_orphan_file_inum), raw, &i) != FSA_OK)
		return FSA_OK;
	r.i = &i;
	r.block = malloc(e->block_size);
	st = r.block ? ext_map_walk(e, &i, &ops) : FSA_ENOMEM;
	free(r.block);
	return st;
}

enum fsa_status ext_orphans_read(struct ext *e, struct ext_orphans *o)
{
	uint8_t *raw = malloc(e->inode_size);
	enum fsa_status st;

	memset(o, 0, sizeof(*o));
	if (!raw)
		return FSA_ENOMEM;
	st = read_list(e, o, raw);
	if (st == FSA_OK)
		st = read_file(e, o, raw);
	free(raw);
	if (o->count)
		qsort(o->inode, o->count, sizeof(*o->inode), compare);
	return st;
}
