/* SPDX-License-Identifier: GPL-2.0-only */
/* Block maps: twelve direct pointers and three levels of indirect blocks; extent trees are in ext_extent.c. */
#include <stdlib.h>
#include <string.h>

#include "ext.h"

struct walk {
	struct ext *e;
	const struct ext_inode *i;
	const struct ext_map_ops *ops;
	struct ext_piece piece;		/* being gathered; count 0 when none */
	uint8_t *buffer[3];
	struct bitset *seen;
};

bool ext_map_enter(struct ext *e, const struct ext_inode *i, struct bitset *seen, uint64_t block)
{
	uint64_t fresh = 0;

	if (!bitset_set(seen, block, 1, &fresh, NULL, NULL))
		return false;
	if (!fresh)
		EXT_FIND(e, "inode", i->number, ext_at(e, block), "block %llu is part of a map already: it is not followed "
			 "a second time", (ull)block);
	return fresh;
}

static enum fsa_status flush(struct walk *w)
{
	struct ext_piece p = w->piece;

	w->piece.count = 0;
	return p.count ? w->ops->piece(w->ops->arg, &p) : FSA_OK;
}

/* Adds one mapped block; contiguous ones become one piece. */
static enum fsa_status add(struct walk *w, uint64_t logical, uint64_t physical)
{
	struct ext_piece *p = &w->piece;
	enum fsa_status st;

	if (!ext_block_ok(w->e, physical, 1)) {
		EXT_FIND(w->e, "inode", w->i->number, w->i->offset, "block %llu of the file is at block %llu, the "
			 "filesystem has %u to %llu", (ull)logical, (ull)physical, w->e->first_data_block, (ull)w->e->blocks - 1);
		return FSA_OK;
	}
	if (p->count && p->logical + p->count == logical && p->physical + p->count == physical) {
		p->count++;
		return FSA_OK;
	}
	st = flush(w);
	*p = (struct ext_piece){ .logical = logical, .physical = physical, .count = 1 };
	return st;
}

static uint32_t used_pointers(const uint8_t *block, uint32_t n)
{
	while (n && fsa_get_le32(block + 4 * (size_t)(n - 1)) == 0)
		n--;
	return n;
}

/* An indirect block of `level` (1..3) that maps from `logical` on. */
static enum fsa_status indirect(struct walk *w, unsigned level, uint64_t logical, uint64_t block)
{
	struct ext *e = w->e;
	uint32_t n = e->block_size / 4, used;
	uint8_t *bytes = w->buffer[level - 1];
	uint64_t each = 1;
	enum fsa_status st;
	bool enter;

	for (unsigned l = 1; l < level; l++)
		each *= n;
	if (!ext_block_ok(e, block, 1)) {
		EXT_FIND(e, "inode", w->i->number, w->i->offset, "level %u indirect block for file block %llu is at block "
			 "%llu, the filesystem has %u to %llu", level, (ull)logical, (ull)block, e->first_data_block,
			 (ull)e->blocks - 1);
		return FSA_OK;
	}
	enter = ext_map_enter(e, w->i, w->seen, block);
	if (fsa_read(e->fs, 0, ext_at(e, block), bytes, e->block_size, "indirect block", block) != FSA_OK)
		memset(bytes, 0, e->block_size);
	used = used_pointers(bytes, n);
	if (w->ops->node) {
		struct ext_map_node node = { .block = block, .level = level, .used_bytes = 4 * used, .bytes = bytes };

		st = flush(w);
		if (st == FSA_OK)
			st = w->ops->node(w->ops->arg, &node);
		if (st != FSA_OK)
			return st;
	}
	for (uint32_t k = 0; enter && k < used; k++) {
		uint32_t child = fsa_get_le32(bytes + 4 * (size_t)k);

		if (!child)
			continue;
		st = level == 1 ? add(w, logical + k, child) : indirect(w, level - 1, logical + k * each, child);
		if (st != FSA_OK)
			return st;
	}
	return FSA_OK;
}

static enum fsa_status walk_pointers(struct walk *w)
{
	const uint8_t *pointers = w->i->raw + offsetof(struct ext2_inode_large, i_block);
	uint64_t n = w->e->block_size / 4, logical = EXT2_NDIR_BLOCKS, each = n;
	enum fsa_status st = FSA_OK;

	for (uint32_t k = 0; k < EXT2_NDIR_BLOCKS && st == FSA_OK; k++) {
		uint32_t block = fsa_get_le32(pointers + 4 * (size_t)k);

		if (block)
			st = add(w, k, block);
	}
	for (unsigned level = 1; level <= 3 && st == FSA_OK; level++) {
		uint32_t block = fsa_get_le32(pointers + 4 * (size_t)(EXT2_NDIR_BLOCKS + level - 1));

		if (block)
			st = indirect(w, level, logical, block);
		logical += each;
		each *= n;
	}
	return st == FSA_OK ? flush(w) : st;
}

enum fsa_status ext_map_walk(struct ext *e, const struct ext_inode *i, const struct ext_map_ops *ops)
{
	struct walk w = { .e = e, .i = i, .ops = ops, .seen = ops->seen };
	struct bitset own;
	uint8_t *buffers;
	enum fsa_status st;

	if (!ext_inode_mapped(e, i))
		return FSA_OK;
	if (i->flags & EXT4_EXTENTS_FL)
		return ext_extent_walk(e, i, ops);
	buffers = malloc(3 * (size_t)e->block_size);
	if (!buffers)
		return FSA_ENOMEM;
	if (!ops->seen) {
		if (!bitset_init(&own, e->blocks)) {
			free(buffers);
			return FSA_ENOMEM;
		}
		w.seen = &own;
	}
	for (int k = 0; k < 3; k++)
		w.buffer[k] = buffers + (size_t)k * e->block_size;
	st = walk_pointers(&w);
	if (!ops->seen)
		bitset_release(&own);
	free(buffers);
	return st;
}

uint32_t ext_map_root_bytes(const struct ext *e, const struct ext_inode *i)
{
	const uint8_t *root = i->raw + offsetof(struct ext2_inode_large, i_block);
	uint32_t n;

	if (!ext_inode_mapped(e, i))
		return 0;
	if (!(i->flags & EXT4_EXTENTS_FL))
		return 4 * used_pointers(root, EXT2_N_BLOCKS);
	n = FSA_LE(uint32_t, root, struct ext3_extent_header, eh_entries);
	n = (uint32_t)sizeof(struct ext3_extent_header) + n * (uint32_t)sizeof(struct ext3_extent);
	return n > EXT_INODE_BLOCK_BYTES ? EXT_INODE_BLOCK_BYTES : n;
}

/* --- for reading ------------------------------------------------------------------------------------- */

struct reader {
	struct ext *e;
	fsa_extent_fn fn;
	void *arg;
};

static enum fsa_status give_piece(void *arg, const struct ext_piece *p)
{
	struct reader *r = arg;
	struct fsa_extent x = {
		.kind = p->unwritten ? FSA_EXTENT_UNWRITTEN : FSA_EXTENT_DATA,
		.logical = p->logical << r->e->block_log,
		.length = p->count << r->e->block_log,
		.physical = ext_at(r->e, p->physical),
	};

	return r->fn(r->arg, &x);
}

/* Inline data: up to 60 bytes in i_block, the rest is the value of an attribute of the inode. */
static enum fsa_status give_inline(struct reader *r, const struct ext_inode *i)
{
	const size_t at = offsetof(struct ext2_inode_large, i_block);
	uint64_t first = fsa_min(i->size, EXT_INODE_BLOCK_BYTES), image_offset;
	struct ext_xattr rest;
	enum fsa_status st = FSA_OK;

	if (first) {
		struct fsa_extent x = {
			.kind = FSA_EXTENT_PACKED, .length = first, .physical = i->offset + at, .bytes = i->raw + at,
		};

		st = r->fn(r->arg, &x);
	}
	if (st == FSA_OK && i->size > first && ext_inline_rest(r->e, i, &rest, &image_offset)) {
		struct fsa_extent x = {
			.kind = FSA_EXTENT_PACKED, .logical = first,
			.length = fsa_min(i->size - first, rest.value_size),
			.physical = image_offset, .bytes = rest.value,
		};

		if (x.length)
			st = r->fn(r->arg, &x);
	}
	return st;
}

enum fsa_status ext_extents(struct fsa_fs *fs, struct fsa_ref ref, fsa_extent_fn fn, void *arg)
{
	struct ext *e = ext_of(fs);
	struct reader r = { .e = e, .fn = fn, .arg = arg };
	struct ext_map_ops ops = { .piece = give_piece, .arg = &r };
	struct ext_inode i;
	uint8_t *raw;
	enum fsa_status st = ext_inode_of(e, ref, &raw, &i);

	if (st != FSA_OK)
		return st;
	st = ext_inode_inline(e, &i) ? give_inline(&r, &i) : ext_map_walk(e, &i, &ops);
	free(raw);
	return st;
}

struct target {
	struct ext *e;
	char *text;
	uint64_t size;
	uint64_t have;		/* bytes that came so far, in order */
	enum fsa_status status;
};

static enum fsa_status gather_target(void *arg, const struct fsa_extent *x)
{
	struct target *t = arg;
	uint64_t n = fsa_min(x->length, t->size - t->have);

	if (x->logical != t->have || !n)
		return FSA_STOP;
	if (x->bytes)
		memcpy(t->text + t->have, x->bytes, n);
	else if (x->kind != FSA_EXTENT_DATA ||
		 fsa_read(t->e->fs, 0, x->physical, t->text + t->have, n, "symlink target at block",
			  x->physical >> t->e->block_log) != FSA_OK)
		return FSA_STOP;
	t->have += n;
	return t->have < t->size ? FSA_OK : FSA_STOP;
}

enum fsa_status ext_readlink(struct fsa_fs *fs, struct fsa_ref ref, char **target, size_t *length)
{
	struct ext *e = ext_of(fs);
	struct target t = { .e = e };
	struct ext_inode i;
	uint8_t *raw;
	enum fsa_status st = ext_inode_of(e, ref, &raw, &i);

	if (st != FSA_OK)
		return st;
	if (i.type != FSA_TYPE_SYMLINK) {
		free(raw);
		return FSA_EINVAL;
	}
	t.size = i.size;
	if (t.size > e->block_size) {
		EXT_FIND(e, "inode", i.number, i.offset, "symbolic link of %llu bytes, at most a block of %u is possible",
			 (ull)t.size, e->block_size);
		free(raw);
		return FSA_EDAMAGED;
	}
	t.text = calloc(1, t.size + 1);
	if (!t.text) {
		free(raw);
		return FSA_ENOMEM;
	}
	if (ext_inode_fast_symlink(e, &i)) {
		t.have = fsa_min(t.size, EXT_INODE_BLOCK_BYTES);
		memcpy(t.text, raw + offsetof(struct ext2_inode_large, i_block), t.have);
	} else {
		st = ext_extents(fs, ref, gather_target, &t);
	}
	free(raw);
	if (st != FSA_OK && st != FSA_STOP) {
		free(t.text);
		return st;
	}
	if (t.have < t.size) {
		EXT_FIND(e, "inode", i.number, i.offset, "symbolic link of %llu bytes, only %llu are there", (ull)t.size,
			 (ull)t.have);
		free(t.text);
		return FSA_EDAMAGED;
	}
	*target = t.text;
	*length = t.size;
	return FSA_OK;
}
