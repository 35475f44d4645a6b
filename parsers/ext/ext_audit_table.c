/* SPDX-License-Identifier: GPL-2.0-only */
/* Inode tables, group by group and slot by slot, and the inode bitmaps beside them. */
#include <stdlib.h>
#include <string.h>

#include "ext_audit.h"

/* Read at a time: big enough for the disk, small enough for the cache. A multiple of every inode size. */
#define CHUNK_BYTES (256u * 1024)

struct table {
	struct ext_audit_state *s;
	uint32_t group;
	struct ext_group g;
	struct fsa_split split;
	uint8_t *bitmap;		/* of inodes */
	uint8_t *chunk;
	uint32_t used;			/* slots that may be in use; the rest was never initialised */
};

static enum fsa_status keep_dir(struct ext_audit_state *s, const struct ext_inode *i)
{
	if (!ext_room((void **)&s->dirs, &s->dirs_room, s->n_dirs, sizeof(*s->dirs)))
		return FSA_ENOMEM;
	s->dirs[s->n_dirs++] = (struct ext_dir_link){ .inode = i->number };
	if (ext_inode_inline(s->e, i)) {
		if (!ext_room((void **)&s->inline_dirs, &s->inline_room, s->n_inline, sizeof(*s->inline_dirs)))
			return FSA_ENOMEM;
		s->inline_dirs[s->n_inline++] = i->number;
	}
	s->group_dirs++;
	return FSA_OK;
}

static bool all_zero(const uint8_t *p, size_t n)
{
	return n == 0 || (p[0] == 0 && memcmp(p, p + 1, n - 1) == 0);
}

static enum fsa_status take_slot(struct table *t, uint32_t slot, const uint8_t *raw)
{
	struct ext_audit_state *s = t->s;
	struct ext *e = s->e;
	uint32_t ino = t->group * e->inodes_per_group + slot + 1;
	uint64_t at = (uint64_t)slot * e->inode_size;
	bool marked = ext_bit(t->bitmap, slot), orphan = ext_orphans_has(&s->orphans, ino);
	bool reserved = ino < e->first_inode, blank = !marked && !orphan && all_zero(raw, e->inode_size);
	struct ext_inode i;
	enum fsa_status st = FSA_OK;
	bool internal;

	if (blank) {
		fsa_split_part(&t->split, at, e->inode_size, EXT_D_INODE_FREE, NULL);
		return FSA_OK;
	}
	ext_inode_decode(e, ino, raw, ext_at(e, t->g.inode_table) + at, &i);
	/* Bad blocks have no link; other reserved inodes are used when they have one. */
	if (!i.links && !orphan && !(ino == EXT2_BAD_INO && i.sectors)) {
		struct fsa_owner owner = { .object = "inode", .number = ino };

		if (marked && !reserved && ext_role_of(e, &i) == EXT_ROLE_FILE) {
			EXT_FIND(e, "inode", ino, i.offset, "marked as used in the bitmap of group %u, it has no links and is on no orphan "
				 "list", t->group);
			if (i.mode) {
				/* Its blocks are held all the same. */
				if (!ext_links_use(s, &i, false))
					return FSA_ENOMEM;
				return ext_audit_inode(s, &i, &t->split, at, true);
			}
		}
		fsa_split_part(&t->split, at, e->inode_size, reserved ? EXT_D_RESERVED_INODE : EXT_D_INODE_FREE, &owner);
		return FSA_OK;
	}
	if (!marked)
		EXT_FIND(e, "inode", ino, i.offset, "in use with link count %u, free in the bitmap of group %u", i.links, t->group);
	if (orphan && !i.links)
		EXT_FIND(e, "inode", ino, i.offset, "deleted while open: %llu bytes in %llu sectors are held until the next mount",
			 (ull)i.size, (ull)i.sectors);
	else if (orphan)
		EXT_FIND(e, "inode", ino, i.offset, "a truncation to %llu bytes was not finished", (ull)i.size);
	internal = ext_role_of(e, &i) != EXT_ROLE_FILE;
	if (!ext_links_use(s, &i, !internal && i.links))
		return FSA_ENOMEM;
	if (i.type == FSA_TYPE_DIRECTORY && !internal)
		st = i.links ? keep_dir(s, &i) : FSA_OK;
	if (st == FSA_OK)
		st = ext_audit_inode(s, &i, &t->split, at, !i.links && !internal);
	return st;
}

/* Slots [from, to) whose bytes cannot be read: what the bitmap says decides. */
static void unreadable_slots(struct table *t, uint32_t from, uint32_t to)
{
	uint32_t size = t->s->e->inode_size;

	for (uint32_t slot = from; slot < to; slot++)
		fsa_split_part(&t->split, (uint64_t)slot * size, size, ext_bit(t->bitmap, slot) ? EXT_D_INODE : EXT_D_INODE_FREE, NULL);
}

static enum fsa_status read_slots(struct table *t)
{
	struct ext *e = t->s->e;
	uint32_t per_chunk = CHUNK_BYTES / e->inode_size;
	uint64_t start = ext_at(e, t->g.inode_table);
	enum fsa_status st = FSA_OK;

	for (uint32_t from = 0; from < t->used && st == FSA_OK; from += per_chunk) {
		uint32_t n = t->used - from < per_chunk ? t->used - from : per_chunk;

		if (fsa_read(e->fs, 0, start + (uint64_t)from * e->inode_size, t->chunk, (size_t)n * e->inode_size, "inode table",
			     t->group) != FSA_OK) {
			unreadable_slots(t, from, from + n);
			continue;
		}
		for (uint32_t k = 0; k < n && st == FSA_OK; k++)
			st = take_slot(t, from + k, t->chunk + (size_t)k * e->inode_size);
	}
	return st;
}

/* How many slots may be in use: flags and count of the descriptor, unless the bitmap contradicts. */
static uint32_t used_slots(struct table *t, bool bitmap_known)
{
	struct ext *e = t->s->e;
	uint32_t used = e->inodes_per_group, last;
	ull at = ext_desc_offset(e, t->group);

	if (!e->metadata_csum && !e->gdt_csum)
		return used;
	if (ext_group_stale(e, t->group))
		return ext_last_set(t->bitmap, 0, used) ? used : 0;
	if (ext_group_uninit(e, &t->g, EXT2_BG_INODE_UNINIT)) {
		used = 0;
	} else if (t->g.unused_inodes <= used) {
		used -= t->g.unused_inodes;
	} else {
		EXT_FIND(e, "group", t->group, at, "%u unused inodes of %u", t->g.unused_inodes, used);
		return used;
	}
	if (!bitmap_known)
		return used;
	last = ext_last_set(t->bitmap, used, e->inodes_per_group);
	if (!last)
		return used;
	EXT_FIND(e, "group", t->group, at, "the last %u inodes were never initialised, slot %u is marked as used",
		 e->inodes_per_group - used, last - 1);
	return last;
}

static void check_counts(struct table *t, bool bitmap_known)
{
	struct ext *e = t->s->e;
	uint32_t free_inodes = ext_count_clear(t->bitmap, e->inodes_per_group);
	ull at = ext_desc_offset(e, t->group);

	t->s->free_inodes += free_inodes;
	if (ext_group_stale(e, t->group))
		return;
	if (bitmap_known && free_inodes != t->g.free_inodes)
		EXT_FIND(e, "group", t->group, at, "descriptor counts %u free inodes, its bitmap has %u", t->g.free_inodes, free_inodes);
	if (t->s->group_dirs != t->g.directories)
		EXT_FIND(e, "group", t->group, at, "descriptor counts %u directories, its inode table has %u", t->g.directories,
			 t->s->group_dirs);
}

static enum fsa_status take_group(struct table *t)
{
	struct ext *e = t->s->e;
	struct fsa_owner owner = { .object = "inode table", .number = t->group };
	uint64_t bytes = (uint64_t)e->inodes_per_group * e->inode_size, unused_at;
	bool known = ext_inode_bitmap(e, t->group, t->bitmap);
	enum fsa_status st = FSA_OK;

	t->s->group_dirs = 0;
	t->used = used_slots(t, known);
	if (!ext_block_ok(e, t->g.inode_table, e->table_blocks))
		return FSA_OK;	/* reported when the descriptors were read */
	fsa_split_begin(&t->split, t->s->claims, 0, t->g.inode_table, e->table_blocks, 0, &owner);
	if (t->used)
		st = read_slots(t);
	unused_at = (uint64_t)t->used * e->inode_size;
	fsa_split_part(&t->split, unused_at, bytes - unused_at, EXT_D_INODE_UNINIT, NULL);
	fsa_split_part(&t->split, bytes, t->split.size - bytes, EXT_D_FREE_INODE_TABLE, NULL);
	fsa_split_end(&t->split, EXT_D_FREE_INODE_TABLE);
	if (st == FSA_OK)
		check_counts(t, known);
	return st;
}

enum fsa_status ext_audit_tables(struct ext_audit_state *s)
{
	struct ext *e = s->e;
	struct table t = { .s = s };
	uint32_t free_inodes = EXT_SB32(e->sb, s_free_inodes_count);
	enum fsa_status st = FSA_OK;

	t.bitmap = malloc(e->block_size);
	t.chunk = malloc(CHUNK_BYTES);
	if (!t.bitmap || !t.chunk)
		st = FSA_ENOMEM;
	for (t.group = 0; t.group < e->groups && st == FSA_OK; t.group++) {
		ext_group_get(e, t.group, &t.g);
		st = take_group(&t);
		if (s->audit->progress)
			s->audit->progress(s->audit->progress_arg, t.group + 1, e->groups);
	}
	free(t.bitmap);
	free(t.chunk);
	if (st == FSA_OK && ext_sb_clean(e) && free_inodes != s->free_inodes)
		EXT_FIND(e, "superblock", 0, e->sb_offset, "counts %u free inodes, the bitmaps have %llu", free_inodes, (ull)s->free_inodes);
	return st;
}
