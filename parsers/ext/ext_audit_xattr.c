/* SPDX-License-Identifier: GPL-2.0-only */
/* Attributes in the audit: regions of inode and block, shared blocks and value inodes with their counts. */
#include <stdlib.h>
#include <string.h>

#include "ext_audit.h"

struct gather {
	struct ext_audit_state *s;
	const struct ext_inode *i;
	const struct ext_xattr_area *a;
	struct ext_regions g;
	struct fsa_object *o;
	uint64_t *blocks;
	enum ext_detail detail;
	uint64_t inline_size;		/* bytes of inline data that live in "system.data" */
	bool unreferenced;
	bool charged;			/* a user's inode, in du */
};

/*
 * Value inodes that Lustre made point back to their only owner by modification time and generation; the
 * owner is not charged for them (e2fsck's check_large_ea_inode).
 */
static bool lustre_value(struct ext *e, uint32_t ino, const struct ext_inode *owner)
{
	struct ext_inode i;
	uint8_t *raw;
	bool points_back;

	if (ext_inode_of(e, (struct fsa_ref){ .word = { ino } }, &raw, &i) != FSA_OK)
		return false;
	points_back = EXT_INODE32(raw, i_mtime) == owner->number && i.generation == owner->generation;
	free(raw);
	return points_back;
}

static enum fsa_status take_value_inode(struct gather *g, const struct ext_xattr *x)
{
	struct ext *e = g->s->e;
	bool made;
	int64_t *left;

	if (x->value_inode > e->inodes || x->value_inode < e->first_inode) {
		EXT_FIND(e, g->a->object, g->a->number, g->a->offset + x->entry_offset, "value of attribute \"%.*s\" is in inode %u, possible "
			 "are %u to %u", x->name_length, (const char *)x->name, x->value_inode, e->first_inode, e->inodes);
		return FSA_OK;
	}
	left = ext_tally_at(&g->s->value_inodes, x->value_inode, 0, &made);
	if (!left)
		return FSA_ENOMEM;
	--*left;
	if (lustre_value(e, x->value_inode, g->i))
		return FSA_OK;
	/* The file is charged for the value, whole clusters, as if it were its own (ext4_xattr_inode_alloc_quota). */
	*g->blocks += fsa_div_up(fsa_div_up(x->value_size, e->block_size), UINT64_C(1) << e->cluster_log) << e->cluster_log;
	return FSA_OK;
}

static enum fsa_status take(void *arg, const struct ext_xattr *x)
{
	struct gather *g = arg;
	uint32_t entry = (uint32_t)EXT2_EXT_ATTR_LEN(x->name_length);
	uint32_t stored = (uint32_t)EXT2_EXT_ATTR_SIZE(x->value_size);
	bool data = g->detail == EXT_D_XATTR_INODE && ext_inode_inline(g->s->e, g->i) && x->index == EXT_XATTR_INDEX_SYSTEM &&
		    x->name_length == 4 && memcmp(x->name, "data", 4) == 0;

	if (!ext_region_add(&g->g, x->entry_offset, entry, data ? EXT_D_XATTR_INLINE_HEADER : g->detail))
		return FSA_ENOMEM;
	if (data)
		g->o->packed_cost_bytes += entry;
	if (x->value_inode)
		return take_value_inode(g, x);
	if (!x->value_size)
		return FSA_OK;
	/* The padding of a value at the very end of the area may be cut off. */
	stored = (uint32_t)fsa_min(stored, g->a->size - x->value_offset);
	if (!data)
		return ext_region_add(&g->g, x->value_offset, stored, g->detail) ? FSA_OK : FSA_ENOMEM;
	if (g->i->type == FSA_TYPE_DIRECTORY)
		return ext_audit_inline_dir(g->s, g->i, x->value, x->value_size, g->a->offset + x->value_offset, &g->g, x->value_offset);
	g->inline_size = fsa_min(x->value_size, g->i->size > EXT_INODE_BLOCK_BYTES ? g->i->size - EXT_INODE_BLOCK_BYTES : 0);
	return ext_region_add(&g->g, x->value_offset, (uint32_t)g->inline_size,
			      g->i->type == FSA_TYPE_SYMLINK ? EXT_D_SYMLINK : EXT_D_INLINE_DATA) ? FSA_OK : FSA_ENOMEM;
}

/* Attributes inside the inode record: parts of the inode table. */
static enum fsa_status in_inode(struct gather *g, struct fsa_split *table, uint64_t slot, const struct fsa_owner *owner)
{
	struct ext *e = g->s->e;
	uint32_t start = EXT2_GOOD_OLD_INODE_SIZE + g->i->extra_size, end;
	struct ext_xattr_area a;
	enum fsa_status st = FSA_OK;

	if (e->inode_size <= start)
		return FSA_OK;
	if (ext_xattr_in_inode(e, g->i, &a)) {
		g->a = &a;
		g->detail = EXT_D_XATTR_INODE;
		if (!ext_region_add(&g->g, 0, EXT_XATTR_IBODY_HEADER, EXT_D_XATTR_INODE))
			return FSA_ENOMEM;
		st = ext_xattr_each(e, &a, take, g, &end);
		if (st == FSA_OK && end >= 4 && end <= a.size && fsa_get_le32(a.bytes + end - 4) == 0 && end - 4 >= a.first_entry)
			st = ext_region_add(&g->g, end - 4, 4, EXT_D_XATTR_INODE) ? FSA_OK : FSA_ENOMEM;
	}
	if (st != FSA_OK)
		return st;
	if (!ext_regions_book(&g->g, table, slot + start, e->inode_size - start, EXT_D_FREE_INODE_BODY, owner))
		EXT_FIND(e, "inode", g->i->number, g->i->offset + start, "attributes in the inode overlap");
	return FSA_OK;
}

static void book_block(struct gather *g, uint64_t nr, unsigned flags, const struct fsa_owner *owner)
{
	struct ext *e = g->s->e;
	struct fsa_split split;

	fsa_split_begin(&split, g->s->claims, 0, nr, 1, flags, owner);
	if (!ext_regions_book(&g->g, &split, 0, e->block_size, EXT_D_FREE_XATTR, NULL))
		EXT_FIND(e, "xattr block", nr, ext_at(e, nr), "attributes overlap");
	fsa_split_end(&split, EXT_D_FREE_XATTR);
}

/* A block of attributes. One that several inodes share is claimed by each and counted once. */
static enum fsa_status in_block(struct gather *g, const struct fsa_owner *owner)
{
	struct ext_audit_state *s = g->s;
	struct ext *e = s->e;
	uint64_t nr = g->i->xattr_block;
	unsigned flags = g->charged ? FSA_CLAIM_CHARGED : 0;
	struct ext_xattr_area a;
	uint32_t references, end;
	enum fsa_status st;

	if (!ext_xattr_read_block(e, nr, g->i->number, s->xattr, &a)) {
		if (ext_block_ok(e, nr, 1)) {
			fsa_claim(s->claims, 0, nr, 1, EXT_D_XATTR_BLOCK, flags, owner);
			ext_claim_single(s, nr, flags, owner, g->blocks);
			g->o->xattr_bytes += (uint64_t)e->block_size << e->cluster_log;
		}
		return FSA_OK;
	}
	references = FSA_LE(uint32_t, s->xattr, struct ext2_ext_attr_header, h_refcount);
	if (references > 1) {
		bool made;
		int64_t *left = ext_tally_at(&s->xattr_blocks, nr, references, &made);

		if (!left)
			return FSA_ENOMEM;
		--*left;
		flags |= FSA_CLAIM_SHARED;
	} else if (references == 0) {
		EXT_FIND(e, "xattr block", nr, a.offset, "reference count 0, inode %u refers to it", g->i->number);
	}
	ext_claim_single(s, nr, flags, owner, g->blocks);
	g->o->xattr_bytes += (uint64_t)e->block_size << e->cluster_log;
	if (g->unreferenced) {
		fsa_claim(s->claims, 0, nr, 1, EXT_D_DELETED_OPEN, flags, owner);
		return FSA_OK;
	}
	g->a = &a;
	g->detail = EXT_D_XATTR_BLOCK;
	g->g.n = 0;
	if (!ext_region_add(&g->g, 0, sizeof(struct ext2_ext_attr_header), EXT_D_XATTR_BLOCK))
		return FSA_ENOMEM;
	st = ext_xattr_each(e, &a, take, g, &end);
	if (st == FSA_OK && end >= a.first_entry + 4 && end <= a.size && fsa_get_le32(a.bytes + end - 4) == 0)
		st = ext_region_add(&g->g, end - 4, 4, EXT_D_XATTR_BLOCK) ? FSA_OK : FSA_ENOMEM;
	if (st == FSA_OK)
		book_block(g, nr, flags, owner);
	return st;
}

enum fsa_status ext_audit_xattrs(struct ext_audit_state *s, const struct ext_inode *i, struct fsa_split *table,
				 uint64_t slot, bool unreferenced, const struct fsa_owner *owner, struct fsa_object *o, uint64_t *blocks)
{
	struct gather g = {
		.s = s, .i = i, .o = o, .blocks = blocks, .unreferenced = unreferenced,
		.charged = !unreferenced && ext_role_of(s->e, i) == EXT_ROLE_FILE,
	};
	enum fsa_status st = in_inode(&g, table, slot, owner);

	if (st == FSA_OK && i->xattr_block)
		st = in_block(&g, owner);
	if (i->type == FSA_TYPE_REGULAR)
		o->packed_bytes += g.inline_size;
	free(g.g.r);
	return st;
}

void ext_audit_xattr_counts(struct ext_audit_state *s)
{
	struct ext *e = s->e;

	for (size_t k = 0; k < s->xattr_blocks.slots; k++) {
		const struct ext_tally_slot *t = &s->xattr_blocks.slot[k];
		uint8_t header[sizeof(struct ext2_ext_attr_header)];
		uint32_t count;

		if (!t->key || !t->value)
			continue;
		if (fsa_read(e->fs, 0, ext_at(e, t->key), header, sizeof(header), "xattr block", t->key) != FSA_OK)
			continue;
		count = FSA_LE(uint32_t, header, struct ext2_ext_attr_header, h_refcount);
		EXT_FIND(e, "xattr block", t->key, ext_at(e, t->key), "reference count %u, %lld inodes refer to it", count,
			 (long long)((int64_t)count - t->value));
	}
	for (size_t k = 0; k < s->value_inodes.slots; k++) {
		const struct ext_tally_slot *t = &s->value_inodes.slot[k];

		if (t->key && t->value)
			EXT_FIND(e, "inode", t->key, ext_inode_offset(e, (uint32_t)t->key), "attribute value with a reference count that is off "
				 "by %lld", (long long)t->value);
	}
}
