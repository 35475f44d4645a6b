/* SPDX-License-Identifier: GPL-2.0-only */
/* The xtree: from blocks of a file to blocks of the filesystem, its root in the record of the inode. */
#include <stdlib.h>
#include <string.h>

#include "jfs.h"

struct walker {
	struct jfs *j;
	const struct jfs_inode *i;
	const struct jfs_xtree_ops *ops;
	struct bitset *seen;
	const char *object;
	uint64_t next_logical;		/* no piece may start before it */
	unsigned leaf_level;		/* 0 until a leaf was met; else its depth + 1 */
	uint64_t last[JFS_TREE_DEPTH];	/* node met last at each depth, and what it says is next */
	uint64_t last_next[JFS_TREE_DEPTH];
};

#define FIND(w, offset, ...) JFS_FIND((w)->j, (w)->object, (w)->i->number, offset, __VA_ARGS__)
#define X16(p, field) FSA_LE(uint16_t, p, struct jfs_xtree_header, field)
#define X64(p, field) FSA_LE(uint64_t, p, struct jfs_xtree_header, field)

struct jfs_xtree_root jfs_xtree_root_of(const struct jfs_inode *i)
{
	if (i->type == FSA_TYPE_DIRECTORY)
		return (struct jfs_xtree_root){ .at = JFS_TABLE_AT, .slots = JFS_XT_DIR_ROOT_SLOTS };
	return (struct jfs_xtree_root){ .at = JFS_TREE_AT, .slots = JFS_XT_ROOT_SLOTS };
}

uint32_t jfs_xtree_root_bytes(const struct jfs_inode *i, uint32_t *room)
{
	struct jfs_xtree_root r = jfs_xtree_root_of(i);
	const uint8_t *p = i->raw + r.at;
	uint32_t max = (uint32_t)fsa_min(X16(p, maxentry), r.slots), used = X16(p, nextindex);

	if (max < JFS_XT_START)
		max = r.slots;
	*room = max * (uint32_t)sizeof(struct jfs_xad);
	if (used < JFS_XT_START || used > max)
		used = JFS_XT_START;
	return used * (uint32_t)sizeof(struct jfs_xad);
}

static uint64_t xad_offset(const struct jfs_xad *x)
{
	return (uint64_t)x->off1 << 32 | fsa_le32v(x->off2);
}

static enum fsa_status take_leaf_entry(struct walker *w, const struct jfs_xad *x, ull at)
{
	struct jfs_piece p = {
		.logical = xad_offset(x), .physical = jfs_pxd_address(&x->loc), .count = jfs_pxd_length(&x->loc),
		.unwritten = x->flag & JFS_XAD_NOTRECORDED,
	};

	if (!p.count || !jfs_block_ok(w->j, p.physical, p.count)) {
		FIND(w, at, "extent of %llu blocks at %llu, the filesystem has %llu", (ull)p.count, (ull)p.physical, (ull)w->j->blocks);
		return FSA_OK;
	}
	if (p.logical < w->next_logical) {
		FIND(w, at, "extent of block %llu of the file comes behind block %llu", (ull)p.logical, (ull)w->next_logical - 1);
		return FSA_OK;
	}
	if (p.logical + p.count > JFS_MAX_FILE_SIZE >> JFS_L2PAGE) {
		FIND(w, at, "extent of %llu blocks at block %llu of the file, at most %llu can be had", (ull)p.count, (ull)p.logical,
		     (ull)(JFS_MAX_FILE_SIZE >> JFS_L2PAGE));
		return FSA_OK;
	}
	if (x->flag & (JFS_XAD_COMPRESSED | JFS_XAD_COW | 0xe0))
		FIND(w, at, "extent flags 0x%x, known are 0x%x", x->flag, JFS_XAD_NEW | JFS_XAD_EXTENDED | JFS_XAD_NOTRECORDED);
	w->next_logical = p.logical + p.count;
	return w->ops->piece(w->ops->arg, &p);
}

static void check_siblings(struct walker *w, const uint8_t *page, uint64_t block, unsigned depth, ull at)
{
	uint64_t prev = X64(page, prev), next = X64(page, next);

	if (prev != w->last[depth])
		FIND(w, at, "xtree node %llu says the one before it is %llu, it is %llu", (ull)block, (ull)prev, (ull)w->last[depth]);
	if (w->last[depth] && w->last_next[depth] != block)
		FIND(w, jfs_at(w->last[depth]), "xtree node %llu says the next is %llu, it is %llu", (ull)w->last[depth],
		     (ull)w->last_next[depth], (ull)block);
	w->last[depth] = block;
	w->last_next[depth] = next;
}

static enum fsa_status walk_node(struct walker *w, const uint8_t *p, uint32_t slots, uint64_t block, unsigned depth, ull at);

static enum fsa_status enter(struct walker *w, const struct jfs_xad *x, unsigned depth, ull from)
{
	uint64_t block = jfs_pxd_address(&x->loc), fresh;
	uint32_t count = jfs_pxd_length(&x->loc), used, max;
	struct jfs_pxd self;
	uint8_t page[JFS_PAGE];
	struct jfs_node n = { .block = block, .used_bytes = JFS_PAGE };
	enum fsa_status st;
	ull at = jfs_at(block);

	if (count != 1 || !jfs_block_ok(w->j, block, 1)) {
		FIND(w, from, "xtree node of %u blocks at %llu, the filesystem has %llu", count, (ull)block, (ull)w->j->blocks);
		return FSA_OK;
	}
	if (depth + 1 >= JFS_TREE_DEPTH) {
		FIND(w, from, "xtree is deeper than %u levels", JFS_TREE_DEPTH);
		return FSA_OK;
	}
	if (bitset_test(w->seen, block)) {
		FIND(w, from, "xtree node %llu is used twice", (ull)block);
		return w->ops->node ? w->ops->node(w->ops->arg, &n) : FSA_OK;
	}
	if (!bitset_set(w->seen, block, 1, &fresh, NULL, NULL))
		return FSA_ENOMEM;
	if (fsa_read(w->j->fs, 0, at, page, sizeof(page), w->object, w->i->number) != FSA_OK)
		return w->ops->node ? w->ops->node(w->ops->arg, &n) : FSA_OK;
	memcpy(&self, page + offsetof(struct jfs_xtree_header, self), sizeof(self));
	max = X16(page, maxentry);
	used = X16(page, nextindex);
	if (max != JFS_XT_PAGE_SLOTS || used < JFS_XT_START || used > max || page[offsetof(struct jfs_xtree_header, flag)] & JFS_BT_ROOT) {
		FIND(w, at, "xtree node %llu has %u of %u entries and flags 0x%x", (ull)block, used, max,
		     page[offsetof(struct jfs_xtree_header, flag)]);
		return w->ops->node ? w->ops->node(w->ops->arg, &n) : FSA_OK;
	}
	if (jfs_pxd_address(&self) != block || jfs_pxd_length(&self) != 1)
		FIND(w, at, "xtree node %llu says it is %u blocks at %llu", (ull)block, jfs_pxd_length(&self), (ull)jfs_pxd_address(&self));
	if (w->ops->check_siblings)
		check_siblings(w, page, block, depth + 1, at);
	n.used_bytes = used * (uint32_t)sizeof(struct jfs_xad);
	n.leaf = page[offsetof(struct jfs_xtree_header, flag)] & JFS_BT_LEAF;
	st = w->ops->node ? w->ops->node(w->ops->arg, &n) : FSA_OK;
	return st == FSA_OK ? walk_node(w, page, max, block, depth + 1, at) : st;
}

static enum fsa_status walk_node(struct walker *w, const uint8_t *p, uint32_t slots, uint64_t block, unsigned depth, ull at)
{
	uint8_t flag = p[offsetof(struct jfs_xtree_header, flag)];
	bool leaf = flag & JFS_BT_LEAF;
	uint32_t n = X16(p, nextindex);
	uint64_t last_key = 0;
	enum fsa_status st = FSA_OK;

	if (n < JFS_XT_START || n > slots || leaf == !!(flag & JFS_BT_INTERNAL)) {
		FIND(w, at, "xtree %s has %u of %u entries and flags 0x%x", block ? "node" : "root", n, slots, flag);
		return FSA_OK;
	}
	if (leaf) {
		if (w->leaf_level && w->leaf_level != depth + 1)
			FIND(w, at, "xtree leaf at level %u, others are at level %u", depth, w->leaf_level - 1);
		w->leaf_level = depth + 1;
	}
	for (uint32_t k = JFS_XT_START; k < n && st == FSA_OK; k++) {
		struct jfs_xad x;
		ull entry = at + k * sizeof(x);

		memcpy(&x, p + k * sizeof(x), sizeof(x));
		if (leaf) {
			st = take_leaf_entry(w, &x, entry);
			continue;
		}
		if (k > JFS_XT_START && xad_offset(&x) <= last_key)
			FIND(w, entry, "key %llu comes behind key %llu", (ull)xad_offset(&x), (ull)last_key);
		last_key = xad_offset(&x);
		st = enter(w, &x, depth, entry);
	}
	return st;
}

enum fsa_status jfs_xtree_walk(struct jfs *j, const struct jfs_inode *i, const struct jfs_xtree_ops *ops)
{
	struct jfs_xtree_root r = jfs_xtree_root_of(i);
	struct walker w = { .j = j, .i = i, .ops = ops, .seen = ops->seen, .object = i->aggregate ? "aggregate inode" : "inode" };
	const uint8_t *p = i->raw + r.at;
	uint32_t max = X16(p, maxentry);
	struct bitset own;
	enum fsa_status st;

	if (max > r.slots || max < JFS_XT_START || !(p[offsetof(struct jfs_xtree_header, flag)] & JFS_BT_ROOT)) {
		FIND(&w, i->offset + r.at, "xtree root with room for %u of %u entries and flags 0x%x", max, r.slots,
		     p[offsetof(struct jfs_xtree_header, flag)]);
		return FSA_OK;
	}
	if (!ops->seen) {
		if (!bitset_init(&own, j->blocks))
			return FSA_ENOMEM;
		w.seen = &own;
	}
	st = walk_node(&w, p, max, 0, 0, i->offset + r.at);
	if (ops->check_siblings && st == FSA_OK)
		for (unsigned d = 0; d < JFS_TREE_DEPTH; d++)
			if (w.last[d] && w.last_next[d])
				FIND(&w, jfs_at(w.last[d]), "xtree node %llu is the last of its level and says the next is %llu", (ull)w.last[d],
				     (ull)w.last_next[d]);
	if (!ops->seen)
		bitset_release(&own);
	return st;
}

/* --- for readers --------------------------------------------------------------------------------------- */

struct reader {
	fsa_extent_fn fn;
	void *arg;
};

static enum fsa_status give_piece(void *arg, const struct jfs_piece *p)
{
	struct reader *r = arg;
	struct fsa_extent x = {
		.kind = p->unwritten ? FSA_EXTENT_UNWRITTEN : FSA_EXTENT_DATA, .logical = jfs_at(p->logical),
		.length = jfs_at(p->count), .physical = jfs_at(p->physical),
	};

	return r->fn(r->arg, &x);
}

enum fsa_status jfs_extents(struct fsa_fs *fs, struct fsa_ref ref, fsa_extent_fn fn, void *arg)
{
	struct jfs *j = jfs_of(fs);
	struct reader r = { .fn = fn, .arg = arg };
	struct jfs_xtree_ops ops = { .piece = give_piece, .arg = &r };
	uint8_t raw[JFS_INODE_SIZE];
	struct jfs_inode i;
	enum fsa_status st;

	if (j->log_device || ref.word[0] > UINT32_MAX)
		return FSA_ENOENT;
	st = jfs_inode_read(j, (uint32_t)ref.word[0], raw, &i);
	if (st != FSA_OK)
		return st;
	if (jfs_inode_fast_symlink(&i) && i.size) {
		struct fsa_extent x = {
			.kind = FSA_EXTENT_PACKED, .length = i.size, .physical = i.offset + JFS_INLINE_AT,
		};

		return fn(arg, &x);
	}
	return jfs_inode_mapped(&i) ? jfs_xtree_walk(j, &i, &ops) : FSA_OK;
}

/* --- symbolic links ------------------------------------------------------------------------------------ */

struct target {
	struct jfs *j;
	uint32_t inode;
	char *bytes;
	uint64_t size;
	bool bad;
};

static enum fsa_status read_target(void *arg, const struct jfs_piece *p)
{
	struct target *t = arg;
	uint64_t from = jfs_at(p->logical), n;

	if (from >= t->size || p->unwritten)
		return FSA_OK;
	n = fsa_min(jfs_at(p->count), t->size - from);
	if (fsa_read(t->j->fs, 0, jfs_at(p->physical), t->bytes + from, n, "inode", t->inode) != FSA_OK)
		t->bad = true;
	return FSA_OK;
}

enum fsa_status jfs_readlink(struct fsa_fs *fs, struct fsa_ref ref, char **target, size_t *length)
{
	struct jfs *j = jfs_of(fs);
	uint8_t raw[JFS_INODE_SIZE];
	struct target t = { .j = j, .inode = (uint32_t)ref.word[0] };
	struct jfs_xtree_ops ops = { .piece = read_target, .arg = &t };
	struct jfs_inode i;
	enum fsa_status st;

	if (j->log_device || ref.word[0] > UINT32_MAX)
		return FSA_ENOENT;
	st = jfs_inode_read(j, t.inode, raw, &i);
	if (st != FSA_OK)
		return st;
	if (i.type != FSA_TYPE_SYMLINK)
		return FSA_EINVAL;
	/* PATH_MAX: no driver makes a longer one. */
	if (i.size == 0 || i.size > 4096) {
		JFS_FIND(j, "inode", i.number, i.offset, "symbolic link of %llu bytes, 1 to 4096 are possible", (ull)i.size);
		return FSA_EDAMAGED;
	}
	t.size = i.size;
	t.bytes = calloc(1, i.size + 1);
	if (!t.bytes)
		return FSA_ENOMEM;
	if (jfs_inode_fast_symlink(&i))
		memcpy(t.bytes, raw + JFS_INLINE_AT, i.size);
	else
		st = jfs_xtree_walk(j, &i, &ops);
	if (st == FSA_OK && t.bad)
		st = FSA_EDAMAGED;
	if (st != FSA_OK) {
		free(t.bytes);
		return st;
	}
	*target = t.bytes;
	*length = strlen(t.bytes);
	return FSA_OK;
}
