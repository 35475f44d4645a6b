/* SPDX-License-Identifier: GPL-2.0-only */
/* Directories in the audit: what each byte of their blocks is, and whether the names make a tree. */
#include <stdlib.h>
#include <string.h>

#include "ext_audit.h"

/* Directory blocks that lie together are read together, up to this many bytes. */
#define READ_BYTES (128u * 1024)

/* --- names -------------------------------------------------------------------------------------------- */

static struct ext_dir_link *dir_of(struct ext_audit_state *s, uint32_t ino)
{
	size_t lo = 0, hi = s->n_dirs;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (s->dirs[mid].inode < ino)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < s->n_dirs && s->dirs[lo].inode == ino ? &s->dirs[lo] : NULL;
}

/* A name that cannot be told from a path, or not at all. */
static bool name_ok(const struct ext_dir_entry *d)
{
	return d->name_length && !memchr(d->name, '/', d->name_length) && !memchr(d->name, '\0', d->name_length);
}

struct names {
	struct ext_audit_state *s;
	uint32_t dir;
	uint32_t flags;
	uint64_t image_offset;
	bool first_block;
	unsigned dots;			/* 1: "." was there, 2: ".." */
};

#define NAME(d) (int)(d)->name_length, (const char *)(d)->name

static enum fsa_status link_to(struct names *n, const struct ext_dir_entry *d, bool dot, bool dotdot)
{
	struct ext_audit_state *s = n->s;
	struct ext *e = s->e;
	ull at = n->image_offset + d->offset;
	enum fsa_type type, said = ext_type_of_dirent(d->file_type);
	struct ext_dir_link *child;

	if (d->inode > e->inodes || (d->inode < e->first_inode && d->inode != EXT2_ROOT_INO)) {
		EXT_FIND(e, "inode", n->dir, at, "directory entry \"%.*s\" names inode %u, possible are %u, %u to %u", NAME(d), d->inode,
			 EXT2_ROOT_INO, e->first_inode, e->inodes);
		return FSA_OK;
	}
	if (!ext_links_in_use(s, d->inode, &type)) {
		EXT_FIND(e, "inode", n->dir, at, "directory entry \"%.*s\" names inode %u, which is not in use", NAME(d), d->inode);
		return FSA_OK;
	}
	if (!ext_links_ref(s, d->inode))
		return FSA_ENOMEM;
	if (type == FSA_TYPE_UNKNOWN)
		EXT_FIND(e, "inode", n->dir, at, "directory entry \"%.*s\" names inode %u, which is internal or holds an attribute value",
			 NAME(d), d->inode);
	else if (said != FSA_TYPE_UNKNOWN && said != type)
		EXT_FIND(e, "inode", n->dir, at, "directory entry \"%.*s\" says inode %u is of type %u, its mode makes it type %u", NAME(d),
			 d->inode, said, type);
	if (dot || dotdot || type != FSA_TYPE_DIRECTORY)
		return FSA_OK;
	child = dir_of(s, d->inode);
	if (!child)
		return FSA_OK;
	if (child->parent)
		EXT_FIND(e, "inode", n->dir, at, "directory entry \"%.*s\" is a second name of directory %u, the first is in directory %u",
			 NAME(d), d->inode, child->parent);
	else if (d->inode == EXT2_ROOT_INO)
		EXT_FIND(e, "inode", n->dir, at, "directory entry \"%.*s\" names the root", NAME(d));
	else
		child->parent = n->dir;
	return FSA_OK;
}

static enum fsa_status take_name(struct names *n, const struct ext_dir_entry *d)
{
	bool dot = d->name_length == 1 && d->name[0] == '.';
	bool dotdot = d->name_length == 2 && d->name[0] == '.' && d->name[1] == '.';
	ull at = n->image_offset + d->offset;

	if (!d->inode)
		return FSA_OK;
	if (dot || dotdot) {
		unsigned which = dot ? 1 : 2;
		struct ext_dir_link *self = dir_of(n->s, n->dir);

		if (!n->first_block || n->dots & which)
			EXT_FIND(n->s->e, "inode", n->dir, at, "another entry \"%.*s\"", NAME(d));
		if (dot && d->inode != n->dir)
			EXT_FIND(n->s->e, "inode", n->dir, at, "entry \".\" names inode %u", d->inode);
		if (dotdot && self && !(n->dots & which))
			self->dotdot = d->inode;
		n->dots |= which;
	} else if (!(n->flags & EXT4_ENCRYPT_FL) && !name_ok(d)) {
		EXT_FIND(n->s->e, "inode", n->dir, at, "directory entry of %u bytes (inode %u) holds '/' or NUL, or is empty",
			 d->name_length, d->inode);
	}
	return link_to(n, d, dot, dotdot);
}

/* --- the bytes of a block ------------------------------------------------------------------------------- */

struct leaf {
	struct names names;
	struct fsa_split *split;
	uint64_t base;			/* offset of the block in the split */
};

static bool keep_name(struct ext_audit_state *s, const struct ext_dir_entry *d)
{
	uint64_t hash = 0xcbf29ce484222325u;

	if (!ext_room((void **)&s->names, &s->names_room, s->n_names, sizeof(*s->names)))
		return false;
	for (uint32_t k = 0; k < d->name_length; k++)
		hash = (hash ^ d->name[k]) * 0x100000001b3u;
	s->names[s->n_names++] = (struct ext_name){ .hash = hash, .offset = d->offset, .length = d->name_length };
	return true;
}

static int compare_names(const void *a, const void *b)
{
	const struct ext_name *x = a, *y = b;

	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	return (x->offset > y->offset) - (x->offset < y->offset);
}

/*
 * Names that stand twice in one block. An indexed directory keeps equal names in one block, and most others
 * have no second; across the blocks of a linear directory only a reader of its names will see it (fsa_walk).
 */
static void check_names(struct ext_audit_state *s, const struct ext_dir_job *j, const uint8_t *block)
{
	if (s->n_names > 1)
		qsort(s->names, s->n_names, sizeof(*s->names), compare_names);
	for (size_t k = 1; k < s->n_names; k++) {
		const struct ext_name *a = &s->names[k - 1], *b = &s->names[k];
		const uint8_t *name = block + b->offset + EXT_DIRENT_HEADER;

		if (a->hash == b->hash && a->length == b->length &&
		    memcmp(block + a->offset + EXT_DIRENT_HEADER, name, b->length) == 0)
			EXT_FIND(s->e, "inode", j->inode, ext_at(s->e, j->physical) + b->offset, "directory entry \"%.*s\" is there a second "
				 "time, first @0x%llx", (int)b->length, (const char *)name, (ull)(ext_at(s->e, j->physical) + a->offset));
	}
	s->n_names = 0;
}

static enum fsa_status book_entry(void *arg, const struct ext_dir_entry *d)
{
	struct leaf *l = arg;

	if (d->inode && !keep_name(l->names.s, d))
		return FSA_ENOMEM;

	fsa_split_part(l->split, l->base + d->offset, d->used_bytes, EXT_D_DIRENT, NULL);
	fsa_split_part(l->split, l->base + d->offset + d->used_bytes, d->rec_len - d->used_bytes, EXT_D_FREE_DIRECTORY, NULL);
	return take_name(&l->names, d);
}

/* limit and count and the entries in use; what is left of the room for entries; the checksum. */
static void book_index(struct ext_audit_state *s, const struct ext_dir_job *j, const struct ext_dir_block *b, const uint8_t *block,
		       struct fsa_split *split)
{
	struct ext *e = s->e;
	uint32_t tail = e->metadata_csum ? 8 : 0;
	uint32_t room = e->block_size - b->count_offset - tail;
	uint32_t used = b->count * 8, end;
	struct ext_csum c;

	if (b->limit > room / 8 || b->count > b->limit || !b->count) {
		EXT_FIND(e, "inode", j->inode, ext_at(e, j->physical) + b->count_offset, "index block has %u of %u entries, there is room for %u",
			 b->count, b->limit, room / 8);
		used = 8;
	} else if (e->metadata_csum && !ext_csum_dir_index(j->seed, block, b->count_offset, b->limit, b->count, &c)) {
		EXT_FIND(e, "inode", j->inode, ext_at(e, j->physical), "index block checksum 0x%08x, computed 0x%08x", c.got, c.want);
	}
	end = e->block_size - tail;
	fsa_split_part(split, b->count_offset, used, EXT_D_HTREE, NULL);
	fsa_split_part(split, b->count_offset + used, end - b->count_offset - used, EXT_D_FREE_DIRECTORY, NULL);
	fsa_split_part(split, end, tail, EXT_D_DIR_CHECKSUM, NULL);
}

static enum fsa_status take_block(struct ext_audit_state *s, const struct ext_dir_job *j, const uint8_t *block)
{
	struct ext *e = s->e;
	struct ext_inode i = { .number = j->inode, .flags = j->flags, .seed = j->seed, .size = e->block_size };
	struct fsa_owner owner = { .object = "inode", .number = j->inode, .ref = { .word = { j->inode } }, .has_ref = true };
	struct fsa_split split;
	struct leaf l = {
		.names = { .s = s, .dir = j->inode, .flags = j->flags, .image_offset = ext_at(e, j->physical), .first_block = j->logical == 0 },
		.split = &split,
	};
	struct ext_dir_block b;
	enum fsa_status st = FSA_OK;
	uint32_t bad, rest;

	ext_dir_classify(e, &i, j->logical, block, &b);
	fsa_split_begin(&split, s->claims, 0, j->physical, 1, FSA_CLAIM_CHARGED, &owner);
	if (b.kind == EXT_DIR_INDEX) {
		fsa_split_part(&split, 0, b.count_offset, EXT_D_HTREE, NULL);
		book_index(s, j, &b, block, &split);
	} else if (b.kind == EXT_DIR_ROOT) {
		/* "." and ".." only: the length of ".." hides the index from those who do not know of it. */
		struct ext_dir_entry d = { .rec_len = 12, .used_bytes = 12, .name_length = 1, .name = block + 8, .inode = fsa_get_le32(block) };

		if (e->filetype)
			d.file_type = block[7];
		st = book_entry(&l, &d);
		d = (struct ext_dir_entry){
			.offset = 12, .rec_len = 12, .used_bytes = 12, .name_length = 2, .name = block + 20, .inode = fsa_get_le32(block + 12),
			.file_type = e->filetype ? block[19] : 0,
		};
		if (st == FSA_OK)
			st = book_entry(&l, &d);
		fsa_split_part(&split, 24, b.count_offset - 24, EXT_D_HTREE, NULL);
		book_index(s, j, &b, block, &split);
	} else {
		rest = e->block_size - (b.tail ? EXT_DIRENT_TAIL : 0);
		if (b.tail) {
			struct ext_csum c;

			if (!ext_csum_dir_leaf(j->seed, block, e->block_size, &c))
				EXT_FIND(e, "inode", j->inode, ext_at(e, j->physical), "directory block checksum 0x%08x, computed 0x%08x", c.got, c.want);
			fsa_split_part(&split, rest, EXT_DIRENT_TAIL, EXT_D_DIR_CHECKSUM, NULL);
		} else if (e->metadata_csum) {
			EXT_FIND(e, "inode", j->inode, ext_at(e, j->physical), "directory block has no checksum at its end");
		}
		st = ext_dir_entries(e, &i, block, rest, ext_at(e, j->physical), book_entry, &l, &bad);
		fsa_split_part(&split, bad, rest - bad, EXT_D_FREE_DIRECTORY, NULL);
	}
	fsa_split_end(&split, EXT_D_FREE_DIRECTORY);
	check_names(s, j, block);
	if (st == FSA_OK && j->logical == 0 && l.names.dots != 3)
		EXT_FIND(e, "inode", j->inode, ext_at(e, j->physical), "directory without \"%s\"", l.names.dots & 1 ? ".." : ".");
	return st;
}

/* --- inline directories -------------------------------------------------------------------------------- */

struct inline_walk {
	struct ext_audit_state *s;
	struct ext_regions *regions;
	uint32_t base;
};

static enum fsa_status add_inline(void *arg, const struct ext_dir_entry *d)
{
	struct inline_walk *w = arg;

	if (!d->used_bytes)
		return FSA_OK;
	return ext_region_add(w->regions, w->base + d->offset, d->used_bytes, EXT_D_DIRENT_INLINE) ? FSA_OK : FSA_ENOMEM;
}

enum fsa_status ext_audit_inline_dir(struct ext_audit_state *s, const struct ext_inode *i, const uint8_t *bytes, uint32_t size,
				     uint64_t image_offset, struct ext_regions *g, uint32_t base)
{
	struct inline_walk w = { .s = s, .regions = g, .base = base };
	uint32_t bad;

	return ext_dir_entries(s->e, i, bytes, size, image_offset, add_inline, &w, &bad);
}

static enum fsa_status inline_name(void *arg, const struct ext_dir_entry *d)
{
	return take_name(arg, d);
}

/* The names of an inline directory, once all inodes are known. Its "." is itself, its ".." four bytes. */
static enum fsa_status inline_names(struct ext_audit_state *s, uint32_t ino)
{
	const size_t field = offsetof(struct ext2_inode_large, i_block);
	struct ext *e = s->e;
	struct names n = { .s = s, .dir = ino };
	struct ext_dir_entry dot = { .name_length = 1, .name = (const uint8_t *)".", .inode = ino };
	struct ext_dir_entry dotdot = { .name_length = 2, .name = (const uint8_t *)".." };
	struct ext_xattr rest;
	struct ext_inode i;
	uint64_t offset;
	uint8_t *raw;
	uint32_t bad;
	enum fsa_status st = ext_inode_of(e, (struct fsa_ref){ .word = { ino } }, &raw, &i);

	if (st != FSA_OK)
		return st == FSA_ENOMEM ? st : FSA_OK;
	n.flags = i.flags;
	n.image_offset = i.offset + field;
	n.first_block = true;
	dotdot.inode = fsa_get_le32(raw + field);
	st = take_name(&n, &dot);
	if (st == FSA_OK)
		st = take_name(&n, &dotdot);
	n.first_block = false;
	n.image_offset = i.offset + field + EXT4_INLINE_DATA_DOTDOT_SIZE;
	if (st == FSA_OK)
		st = ext_dir_entries(e, &i, raw + field + EXT4_INLINE_DATA_DOTDOT_SIZE, EXT_INODE_BLOCK_BYTES - EXT4_INLINE_DATA_DOTDOT_SIZE,
				     n.image_offset, inline_name, &n, &bad);
	if (st == FSA_OK && ext_inline_rest(e, &i, &rest, &offset) && rest.value_size) {
		n.image_offset = offset;
		st = ext_dir_entries(e, &i, rest.value, rest.value_size, offset, inline_name, &n, &bad);
	}
	free(raw);
	return st;
}

/* --- all of them -------------------------------------------------------------------------------------- */

static int compare_jobs(const void *a, const void *b)
{
	const struct ext_dir_job *x = a, *y = b;

	return (x->physical > y->physical) - (x->physical < y->physical);
}

/* A directory that the root does not lead to: follow parents until the root, a stranger, or a circle. */
static void check_tree(struct ext_audit_state *s)
{
	struct ext *e = s->e;
	uint32_t *state = calloc(s->n_dirs ? s->n_dirs : 1, sizeof(*state));

	for (size_t k = 0; state && k < s->n_dirs; k++) {
		struct ext_dir_link *d = &s->dirs[k];
		uint32_t mark = (uint32_t)k + 1;
		ull at = ext_inode_offset(e, d->inode);

		if (d->parent && d->dotdot && d->dotdot != d->parent)
			EXT_FIND(e, "inode", d->inode, at, "\"..\" is inode %u, directory %u names it", d->dotdot, d->parent);
		if (d->inode == EXT2_ROOT_INO && d->dotdot && d->dotdot != d->inode)
			EXT_FIND(e, "inode", d->inode, at, "\"..\" of the root is inode %u", d->dotdot);
		while (d && d->inode != EXT2_ROOT_INO && d->parent && !state[d - s->dirs]) {
			state[d - s->dirs] = mark;
			d = dir_of(s, d->parent);
		}
		if (d && d->inode != EXT2_ROOT_INO && d->parent && state[d - s->dirs] == mark)
			EXT_FIND(e, "inode", d->inode, ext_inode_offset(e, d->inode), "directory is above itself: its parents lead in a circle "
				 "and not to the root");
		else if (d && !d->parent && d->inode != EXT2_ROOT_INO)
			EXT_FIND(e, "inode", d->inode, ext_inode_offset(e, d->inode), "directory is named by none: the root does not lead to it");
	}
	free(state);
}

enum fsa_status ext_audit_dirs(struct ext_audit_state *s)
{
	struct ext *e = s->e;
	uint32_t max = READ_BYTES / e->block_size ? READ_BYTES / e->block_size : 1;
	uint8_t *buffer = malloc((size_t)max * e->block_size);
	enum fsa_status st = buffer ? FSA_OK : FSA_ENOMEM;

	if (s->n_jobs)
		qsort(s->jobs, s->n_jobs, sizeof(*s->jobs), compare_jobs);
	for (size_t k = 0, n; k < s->n_jobs && st == FSA_OK; k += n) {
		for (n = 1; n < max && k + n < s->n_jobs && s->jobs[k + n].physical == s->jobs[k].physical + n; n++)
			;
		if (fsa_image_read(e->fs->devices[0].image, ext_at(e, s->jobs[k].physical), buffer, n * e->block_size) != FSA_OK) {
			/* One by one, so that only what cannot be read is lost. */
			n = 1;
			if (fsa_read(e->fs, 0, ext_at(e, s->jobs[k].physical), buffer, e->block_size, "directory block",
				     s->jobs[k].physical) != FSA_OK) {
				fsa_claim(s->claims, 0, s->jobs[k].physical, 1, EXT_D_DIRENT, FSA_CLAIM_CHARGED, NULL);
				continue;
			}
		}
		for (size_t m = 0; m < n && st == FSA_OK; m++)
			st = take_block(s, &s->jobs[k + m], buffer + m * e->block_size);
	}
	free(buffer);
	for (size_t k = 0; k < s->n_inline && st == FSA_OK; k++)
		st = inline_names(s, s->inline_dirs[k]);
	if (st == FSA_OK)
		check_tree(s);
	return st;
}
