/* SPDX-License-Identifier: GPL-2.0-only */
/* Directories in the audit: what each byte of their blocks is, and whether the names make a tree. */
#include <stdlib.h>
#include <string.h>

#include "xfs_audit.h"

struct xf_unused_stretch { uint32_t at, length; };

#define BEST_UNKNOWN UINT32_MAX		/* the block could not be read as one */

struct dirs {
	struct xf_audit_state *s;
	struct xf_dir_link *self;
	const struct xf_inode *i;
	uint64_t offset;		/* of the block or fork in the image */
	uint64_t base;			/* of the block in the directory's address space */
	struct xf_regions regions;
	unsigned dots;			/* 1: "." was there, 2: ".." */
	/* Names against the hash index, as sums over both: they agree whatever the order. */
	uint64_t names, name_sum, hashes, hash_sum;
	bool indexed;
	/* The longest unused stretch of each data block, for the free index to be compared with. */
	uint32_t *best;
	size_t n_best, best_room;
	size_t with_best;		/* data blocks that the free index told of so far, from the first on */
	struct xf_unused_stretch largest[3];	/* of the block at hand, longest first */
	bool broken;			/* what could not be read would be missing from one of the sums */
};

static struct xf_dir_link *dir_of(struct xf_audit_state *s, uint64_t ino)
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

static uint64_t mix(uint32_t hash, uint32_t address)
{
	uint64_t v = ((uint64_t)hash << 32 | address) * UINT64_C(0x9e3779b97f4a7c15);

	return (v ^ v >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
}

#define NAME(d) (int)(d)->name_length, (const char *)(d)->name

/* One name: does it lead to an inode in use, of the type it says, and is a directory named once only. */
static void take_name(struct dirs *w, const struct xf_dirent *d, bool dot, bool dotdot)
{
	struct xf_audit_state *s = w->s;
	struct xf *x = s->x;
	uint64_t at = w->offset + d->offset;
	enum fsa_type type, said = xf_type_of_dirent(d->file_type);
	struct xf_dir_link *child;
	struct xf_chunk *c;
	unsigned slot;

	if (!dot && !dotdot && (memchr(d->name, '/', d->name_length) || memchr(d->name, '\0', d->name_length)))
		XF_FIND(x, "inode", w->i->number, at, "directory entry of %u bytes (inode %llu) holds '/' or NUL", d->name_length, (ull)d->inode);
	if (!xf_in_use(s, d->inode, &type)) {
		XF_FIND(x, "inode", w->i->number, at, "directory entry \"%.*s\" names inode %llu, which is not in use", NAME(d), (ull)d->inode);
		return;
	}
	c = xf_chunk_of(s, d->inode, &slot);
	c->links[slot]--;
	if (said != FSA_TYPE_UNKNOWN && type != FSA_TYPE_UNKNOWN && said != type)
		XF_FIND(x, "inode", w->i->number, at, "directory entry \"%.*s\" says inode %llu is of type %u, its mode makes it type %u", NAME(d),
			(ull)d->inode, said, type);
	if (c->type[slot] & XF_TYPE_INTERNAL)
		XF_FIND(x, "inode", w->i->number, at, "directory entry \"%.*s\" names the internal inode %llu", NAME(d), (ull)d->inode);
	if (dot || dotdot || type != FSA_TYPE_DIRECTORY)
		return;
	child = dir_of(s, d->inode);
	if (!child)
		return;
	if (child->parent)
		XF_FIND(x, "inode", w->i->number, at, "directory entry \"%.*s\" is a second name of directory %llu, the first is in directory %llu",
			NAME(d), (ull)d->inode, (ull)child->parent);
	else if (d->inode == x->root_ino)
		XF_FIND(x, "inode", w->i->number, at, "directory entry \"%.*s\" names the root", NAME(d));
	else
		child->parent = w->i->number;
}

static enum fsa_status block_entry(void *arg, const struct xf_dirent *d)
{
	struct dirs *w = arg;
	bool dot = d->name_length == 1 && d->name[0] == '.';
	bool dotdot = d->name_length == 2 && d->name[0] == '.' && d->name[1] == '.';
	uint32_t address = (uint32_t)((w->base + d->offset) >> XFS_DIR2_DATA_ALIGN_LOG);

	w->names++;
	w->name_sum += mix(xf_dir_hash(w->s->x, d->name, d->name_length, true), address);
	if (dot || dotdot) {
		unsigned which = dot ? 1 : 2;

		if (w->dots & which)
			XF_FIND(w->s->x, "inode", w->i->number, w->offset + d->offset, "another entry \"%.*s\"", NAME(d));
		if (dot && d->inode != w->i->number)
			XF_FIND(w->s->x, "inode", w->i->number, w->offset + d->offset, "entry \".\" names inode %llu", (ull)d->inode);
		if (dotdot)
			w->self->dotdot = d->inode;
		w->dots |= which;
	}
	take_name(w, d, dot, dotdot);
	/* Padding and tag behind the name belong to the entry: they are what alignment costs. */
	return xf_region_add(&w->regions, d->offset, d->length, XF_D_DIRENT) ? FSA_OK : FSA_ENOMEM;
}

static enum fsa_status short_entry(void *arg, const struct xf_dirent *d)
{
	take_name(arg, d, false, false);
	return FSA_OK;
}

/* Entries of an index: hash and address, stale ones with address 0. */
static bool add_index(struct dirs *w, const uint8_t *b, uint32_t at, uint32_t count, uint64_t offset)
{
	uint32_t last = 0;

	for (uint32_t k = 0; k < count; k++) {
		uint32_t hash = fsa_get_be32(b + at + 8 * (size_t)k), address = fsa_get_be32(b + at + 8 * (size_t)k + 4);

		if (hash < last)
			XF_FIND(w->s->x, "inode", w->i->number, offset + at + 8 * (uint64_t)k, "index entry %u has hash 0x%08x, the one before it 0x%08x", k,
				hash, last);
		last = hash;
		if (address == XFS_DIR2_NULL_DATAPTR)
			continue;
		w->hashes++;
		w->hash_sum += mix(hash, address);
	}
	w->indexed = true;
	return xf_region_add(&w->regions, at, 8 * count, XF_D_DIR_INDEX);
}

/* --- unused stretches ---------------------------------------------------------------------------------- */

static enum fsa_status note_unused(void *arg, uint32_t at, uint32_t length)
{
	struct dirs *w = arg;
	struct xf_unused_stretch this = { at, length };

	for (unsigned k = 0; k < 3; k++)
		if (this.length > w->largest[k].length) {
			struct xf_unused_stretch smaller = w->largest[k];

			w->largest[k] = this;
			this = smaller;
		}
	return FSA_OK;
}

/* A data block keeps its three longest; of equally long ones it may keep any. */
static void check_best_of_block(struct dirs *w, const uint8_t *b)
{
	struct xf *x = w->s->x;
	uint32_t at = x->v5 ? (uint32_t)offsetof(struct xfs_dir3_data_hdr, best_free) : (uint32_t)offsetof(struct xfs_dir2_data_hdr, bestfree);

	for (unsigned k = 0; k < 3; k++) {
		uint32_t offset = fsa_get_be16(b + at + 4 * k), length = fsa_get_be16(b + at + 4 * k + 2);
		bool there = !length || (offset + 4 <= x->dir_block && fsa_get_be16(b + offset) == XFS_DIR2_DATA_FREE_TAG &&
					 fsa_get_be16(b + offset + 2) == length);

		if (length != w->largest[k].length || !there)
			XF_FIND(x, "inode", w->i->number, w->offset + at + 4 * k, "directory block keeps %u bytes at %u as unused stretch %u, the "
				"longest but %u has %u bytes at %u", length, offset, k, k, w->largest[k].length, w->largest[k].at);
	}
}

static bool keep_best(struct dirs *w, uint64_t logical, uint32_t best)
{
	size_t n = (size_t)(logical / (w->s->x->dir_block >> w->s->x->block_log));

	while (w->n_best <= n) {
		if (!xf_room((void **)&w->best, &w->best_room, w->n_best, sizeof(*w->best)))
			return false;
		w->best[w->n_best++] = XF_DIR_NO_BLOCK;
	}
	w->best[n] = best;
	return true;
}

/* `count` lengths of the free index at byte `at` of a block: of data blocks `first` and on. */
static void check_bests(struct dirs *w, const uint8_t *b, uint32_t at, uint32_t count, uint64_t first)
{
	for (uint32_t k = 0; k < count; k++) {
		uint32_t said = fsa_get_be16(b + at + 2 * (size_t)k), is = first + k < w->n_best ? w->best[first + k] : XF_DIR_NO_BLOCK;

		if (is != BEST_UNKNOWN && said != is)
			XF_FIND(w->s->x, "inode", w->i->number, w->offset + at + 2 * (uint64_t)k, "free index says %u unused bytes are together in data "
				"block %llu, there are %u (%u: no block)", said, (ull)(first + k), is, XF_DIR_NO_BLOCK);
	}
	if (first <= w->with_best && first + count > w->with_best)
		w->with_best = (size_t)(first + count);
}

/* --- blocks -------------------------------------------------------------------------------------------- */

static bool take_leaf(struct dirs *w, const uint8_t *b, bool single, uint64_t offset)
{
	struct xf *x = w->s->x;
	uint32_t header = x->v5 ? (uint32_t)sizeof(struct xfs_dir3_leaf_hdr) : (uint32_t)sizeof(struct xfs_dir2_leaf_hdr);
	uint32_t count = fsa_get_be16(b + (x->v5 ? offsetof(struct xfs_dir3_leaf_hdr, count) : offsetof(struct xfs_dir2_leaf_hdr, count)));
	uint32_t end = x->dir_block, bests = 0;

	if (single) {
		bests = fsa_get_be32(b + x->dir_block - 4);
		if (bests > (x->dir_block - header - 4) / 2) {
			XF_FIND(x, "inode", w->i->number, offset, "directory leaf says it has %u free counts, there is room for %u", bests,
				(x->dir_block - header - 4) / 2);
			bests = 0;
		}
		end -= 4 + 2 * bests;
		check_bests(w, b, end, bests, 0);
	}
	if (count > (end - header) / 8) {
		XF_FIND(x, "inode", w->i->number, offset, "directory leaf says it has %u entries, there is room for %u", count, (end - header) / 8);
		count = 0;
		w->broken = true;
	}
	return xf_region_add(&w->regions, 0, header, XF_D_DIR_INDEX) && add_index(w, b, header, count, offset) &&
	       xf_region_add(&w->regions, end, x->dir_block - end, XF_D_DIR_FREE_INDEX);
}

static bool take_node(struct dirs *w, const uint8_t *b, uint64_t offset)
{
	struct xf *x = w->s->x;
	uint32_t header = x->v5 ? (uint32_t)sizeof(struct xfs_da3_node_hdr) : (uint32_t)sizeof(struct xfs_da_node_hdr);
	uint32_t count = fsa_get_be16(b + (x->v5 ? offsetof(struct xfs_da3_node_hdr, __count) : offsetof(struct xfs_da_node_hdr, __count)));

	if (count > (x->dir_block - header) / 8) {
		XF_FIND(x, "inode", w->i->number, offset, "directory node says it has %u entries, there is room for %u", count,
			(x->dir_block - header) / 8);
		count = 0;
	}
	return xf_region_add(&w->regions, 0, header + 8 * count, XF_D_DIR_INDEX);
}

static bool take_free(struct dirs *w, const uint8_t *b, uint64_t logical, uint64_t offset)
{
	struct xf *x = w->s->x;
	const struct { size_t first, used; } at = {
		x->v5 ? offsetof(struct xfs_dir3_free_hdr, firstdb) : offsetof(struct xfs_dir2_free_hdr, firstdb),
		x->v5 ? offsetof(struct xfs_dir3_free_hdr, nused) : offsetof(struct xfs_dir2_free_hdr, nused),
	};
	uint32_t header = x->v5 ? (uint32_t)sizeof(struct xfs_dir3_free_hdr) : (uint32_t)sizeof(struct xfs_dir2_free_hdr);
	uint32_t count = fsa_get_be32(b + (x->v5 ? offsetof(struct xfs_dir3_free_hdr, nvalid) : offsetof(struct xfs_dir2_free_hdr, nvalid)));
	uint32_t used = 0;
	uint64_t first;

	if (count > (x->dir_block - header) / 2) {
		XF_FIND(x, "inode", w->i->number, offset, "directory free index says it has %u counts, there is room for %u", count,
			(x->dir_block - header) / 2);
		count = 0;
	}
	first = (logical - xf_dir_free_start(x)) / (x->dir_block >> x->block_log) * ((x->dir_block - header) / 2);
	for (uint32_t k = 0; k < count; k++)
		used += fsa_get_be16(b + header + 2 * (size_t)k) != XF_DIR_NO_BLOCK;
	if (fsa_get_be32(b + at.first) != first)
		XF_FIND(x, "inode", w->i->number, offset + at.first, "directory free index says it starts with data block %u, it starts with %llu",
			fsa_get_be32(b + at.first), (ull)first);
	if (fsa_get_be32(b + at.used) != used)
		XF_FIND(x, "inode", w->i->number, offset + at.used, "directory free index says %u of its data blocks exist, it names %u",
			fsa_get_be32(b + at.used), used);
	check_bests(w, b, header, count, first);
	return xf_region_add(&w->regions, 0, header + 2 * count, XF_D_DIR_FREE_INDEX);
}

static enum fsa_status take_data(struct dirs *w, const uint8_t *b, enum xf_dir_kind kind)
{
	struct xf *x = w->s->x;
	uint32_t end = x->dir_block, bad = 0;
	enum fsa_status st;

	if (kind == XF_DIR_BLOCK) {
		end = xf_dir_block_end(x, w->i, b, w->offset);
		if (!add_index(w, b, end, (x->dir_block - 8 - end) / 8, w->offset) ||
		    !xf_region_add(&w->regions, x->dir_block - 8, 8, XF_D_DIR_INDEX))
			return FSA_ENOMEM;
	}
	if (!xf_region_add(&w->regions, 0, xf_dir_header(x), XF_D_DIR_HEADER))
		return FSA_ENOMEM;
	memset(w->largest, 0, sizeof(w->largest));
	st = xf_dir_entries(x, w->i, b, end, w->offset, block_entry, note_unused, w, &bad);
	if (st == FSA_OK && bad < end)
		w->broken = true;
	else if (st == FSA_OK)
		check_best_of_block(w, b);
	if (st == FSA_OK && !keep_best(w, w->base >> x->block_log, bad < end ? BEST_UNKNOWN : w->largest[0].length))
		st = FSA_ENOMEM;
	return st;
}

/* One directory block, wherever its blocks lie. */
static enum fsa_status take_block(struct dirs *w, const struct xf_pieces *p, uint64_t logical, uint8_t *b, const struct fsa_owner *owner)
{
	struct xf *x = w->s->x;
	uint32_t per = x->dir_block >> x->block_log;
	uint64_t block = 0;
	enum xf_dir_kind kind = XF_DIR_BAD;
	enum fsa_status st = FSA_OK;
	bool ok = true;

	w->regions.n = 0;
	if (!xf_pieces_get(x, p, logical, per, b, "inode", w->i->number))
		XF_FIND(x, "inode", w->i->number, w->i->offset, "directory block at file block %llu is not all there", (ull)logical);
	else if (xf_pieces_find(p, logical, &block))
		kind = xf_dir_classify(x, w->i, logical, block, b);
	w->offset = xf_at(x, block);
	w->base = logical << x->block_log;
	switch (kind) {
	case XF_DIR_DATA:
	case XF_DIR_BLOCK: st = take_data(w, b, kind); break;
	case XF_DIR_LEAF1:
	case XF_DIR_LEAFN: ok = take_leaf(w, b, kind == XF_DIR_LEAF1, w->offset); break;
	case XF_DIR_NODE: ok = take_node(w, b, w->offset); break;
	case XF_DIR_FREE: ok = take_free(w, b, logical, w->offset); break;
	case XF_DIR_BAD:
		w->broken = true;
		if (logical < xf_dir_leaf_start(x))
			ok = keep_best(w, logical, BEST_UNKNOWN);
		break;
	}
	if (!ok)
		st = FSA_ENOMEM;
	if (st == FSA_OK) {
		xf_regions_sort(&w->regions);
		xf_regions_claim(w->s, &w->regions, p, logical, per, XF_D_FREE_DIRECTORY, FSA_CLAIM_CHARGED, owner);
	}
	return st;
}

static enum fsa_status take_blocks(struct dirs *w, uint8_t *b, const struct fsa_owner *owner)
{
	struct xf *x = w->s->x;
	uint32_t per = x->dir_block >> x->block_log;
	struct xf_pieces p = { 0 };
	uint64_t next = 0;
	enum fsa_status st = xf_pieces_read(x, w->i, &w->i->data, &p);

	for (size_t k = 0; k < p.n && st == FSA_OK; k++)
		for (uint64_t at = fsa_max(next, p.p[k].logical / per * per); at < p.p[k].logical + p.p[k].count && st == FSA_OK; at = next) {
			next = at + per;
			st = take_block(w, &p, at, b, owner);
		}
	free(p.p);
	if (st != FSA_OK || w->broken)
		return st;
	if (w->dots != 3)
		XF_FIND(x, "inode", w->i->number, w->i->offset, "directory without \"%s\"", w->dots & 1 ? ".." : ".");
	if (w->names != w->hashes || w->name_sum != w->hash_sum)
		XF_FIND(x, "inode", w->i->number, w->i->offset, "directory has %llu names, its hash index has %llu%s", (ull)w->names, (ull)w->hashes,
			w->names == w->hashes ? " with other hashes or places" : "");
	/* A single block has its index inside. */
	if (w->i->size != x->dir_block && w->with_best < w->n_best)
		XF_FIND(x, "inode", w->i->number, w->i->offset, "free index tells of %llu data blocks, the directory has %llu", (ull)w->with_best,
			(ull)w->n_best);
	return FSA_OK;
}

static enum fsa_status take_dir(struct xf_audit_state *s, struct xf_dir_link *self, uint8_t *b)
{
	const struct fsa_owner owner = { .object = "inode", .number = self->inode, .ref = { .word = { self->inode } }, .has_ref = true };
	struct xf *x = s->x;
	struct xf_inode i;
	struct dirs w = { .s = s, .self = self, .i = &i };
	uint64_t parent;
	enum fsa_type type;
	struct xf_chunk *c;
	unsigned slot;
	uint32_t end;
	uint8_t *raw;
	enum fsa_status st = xf_inode_of(x, self->inode, &raw, &i);

	if (st != FSA_OK)
		return st == FSA_ENOMEM ? st : FSA_OK;
	if (i.data.format == XFS_DINODE_FMT_LOCAL) {
		/* "." is not stored, ".." is a number in the header. */
		w.offset = i.offset + i.data.offset;
		st = xf_dir_short(x, &i, &parent, short_entry, &w, &end);
		self->dotdot = parent;
		c = xf_chunk_of(s, self->inode, &slot);
		if (c && end)
			c->links[slot]--;
		c = xf_in_use(s, parent, &type) ? xf_chunk_of(s, parent, &slot) : NULL;
		if (c)
			c->links[slot]--;
		else if (end)
			XF_FIND(x, "inode", self->inode, w.offset, "\"..\" is inode %llu, which is not in use", (ull)parent);
	} else {
		st = take_blocks(&w, b, &owner);
	}
	free(w.regions.r);
	free(w.best);
	free(raw);
	return st;
}

/* A directory that the root does not lead to: follow parents until the root, a stranger, or a circle. */
static enum fsa_status check_tree(struct xf_audit_state *s)
{
	struct xf *x = s->x;
	size_t *state = calloc(s->n_dirs ? s->n_dirs : 1, sizeof(*state));

	if (!state)
		return FSA_ENOMEM;
	for (size_t k = 0; k < s->n_dirs; k++) {
		struct xf_dir_link *d = &s->dirs[k];
		size_t mark = k + 1;
		uint64_t at = xf_inode_offset(x, d->inode);

		if (d->parent && d->dotdot && d->dotdot != d->parent)
			XF_FIND(x, "inode", d->inode, at, "\"..\" is inode %llu, directory %llu names it", (ull)d->dotdot, (ull)d->parent);
		if (d->inode == x->root_ino && d->dotdot && d->dotdot != d->inode)
			XF_FIND(x, "inode", d->inode, at, "\"..\" of the root is inode %llu", (ull)d->dotdot);
		while (d && d->inode != x->root_ino && d->parent && !state[d - s->dirs]) {
			state[d - s->dirs] = mark;
			d = dir_of(s, d->parent);
		}
		if (d && d->inode != x->root_ino && d->parent && state[d - s->dirs] == mark)
			XF_FIND(x, "inode", d->inode, xf_inode_offset(x, d->inode), "directory is above itself: its parents lead in a circle and not to "
				"the root");
		else if (d && !d->parent && d->inode != x->root_ino)
			XF_FIND(x, "inode", d->inode, xf_inode_offset(x, d->inode), "directory is named by none: the root does not lead to it");
	}
	free(state);
	return FSA_OK;
}

enum fsa_status xf_audit_dirs(struct xf_audit_state *s)
{
	uint8_t *b = malloc(s->x->dir_block);
	enum fsa_status st = b ? FSA_OK : FSA_ENOMEM;

	for (size_t k = 0; k < s->n_dirs && st == FSA_OK; k++)
		st = take_dir(s, &s->dirs[k], b);
	free(b);
	if (st == FSA_OK && !xf_in_use(s, s->x->root_ino, &(enum fsa_type){ FSA_TYPE_UNKNOWN }))
		XF_FIND(s->x, "superblock", 0, 0, "the root is inode %llu, which is not in use", (ull)s->x->root_ino);
	return st == FSA_OK ? check_tree(s) : st;
}
