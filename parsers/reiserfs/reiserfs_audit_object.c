/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Items come in key order, so all items of an object come in a row: stat data, then directory items, or pointers
 * and tails. What they amount to is the object; only one is held at a time.
 */
#include <string.h>

#include "reiserfs_audit.h"

static void object_begin(struct rfs_audit_state *s, const struct rfs_item *item)
{
	struct rfs_current *c = &s->current;
	uint8_t *flags;

	*c = (struct rfs_current){ .active = true, .dir = item->key.dir, .oid = item->key.oid, .item_offset = item->offset };
	c->owner = (struct fsa_owner){
		.object = "object", .number = c->oid, .ref = rfs_ref(c->dir, c->oid), .has_ref = true,
	};
	c->o.ref = c->owner.ref;
	c->o.number = c->oid;
	c->bad_blocks = c->dir == RFS_BAD_BLOCKS_DIR_ID && c->oid == RFS_BAD_BLOCKS_OBJECTID;
	c->hidden = rfs_known_get(&s->known, c->oid, false, &flags) && (*flags & RFS_HIDDEN);
}

/*
 * The count of sectors where there are no blocks of its own: of directories and symbolic links the size, which old tools and
 * kernels rounded up to blocks. In 3.5 special objects have their device number in its place.
 */
static void check_sectors(struct rfs_audit_state *s)
{
	const struct rfs_inode *i = &s->current.inode;
	bool sized = i->type == FSA_TYPE_DIRECTORY || i->type == FSA_TYPE_SYMLINK;
	uint64_t want = sized ? fsa_div_up(i->size, 512) : 0, whole = fsa_div_up(i->size, s->r->block_size) << (s->r->block_log - 9);

	if (i->blocks == (uint32_t)want || i->type == FSA_TYPE_UNKNOWN || (!sized && !i->v2))
		return;
	if (sized && i->blocks == (uint32_t)whole)
		return;
	RFS_FIND(s->r, "object", i->oid, i->offset, "block count %u (of 512 bytes), a %s of %llu bytes has %llu", i->blocks,
		 i->type == FSA_TYPE_DIRECTORY ? "directory" : sized ? "symbolic link" : "special object", (ull)i->size, (ull)want);
}

/* What the stat data says about the items of a file or symbolic link. */
static void check_stat(struct rfs_audit_state *s)
{
	struct rfs_current *c = &s->current;
	struct rfs *r = s->r;
	const struct rfs_inode *i = &c->inode;
	/* A tail counts like the block that it would take. */
	uint64_t sectors = (c->blocks + (c->first_direct != 0)) << (r->block_log - 9);

	if (i->type == FSA_TYPE_REGULAR && i->blocks != (uint32_t)sectors)
		RFS_FIND(r, "object", c->oid, i->offset, "block count %u (of 512 bytes), its blocks and its tail make %llu", i->blocks,
			 (ull)sectors);
	if (!i->v2 && i->first_direct != (c->first_direct ? c->first_direct : UINT32_MAX))
		RFS_FIND(r, "object", c->oid, i->offset, "stat data says that direct items begin at byte 0x%x, they do at 0x%llx (all ones: "
			 "none)", i->first_direct, (ull)(c->first_direct ? c->first_direct : UINT32_MAX));
}

enum fsa_status rfs_audit_object_end(struct rfs_audit_state *s)
{
	struct rfs_current *c = &s->current;
	struct rfs *r = s->r;
	const struct rfs_inode *i = &c->inode;

	if (!c->active)
		return FSA_OK;
	rfs_audit_flush_run(s);
	c->active = false;
	if (c->bad_blocks)
		return FSA_OK;
	if (!c->have_stat) {
		RFS_FIND(r, "object", c->oid, c->item_offset, "items with the key [%u %u], but no stat data", c->dir, c->oid);
		return FSA_OK;
	}
	if (i->type == FSA_TYPE_DIRECTORY && c->entry_bytes != i->size)
		RFS_FIND(r, "object", c->oid, i->offset, "directory of %llu bytes, its items have %llu", (ull)i->size, (ull)c->entry_bytes);
	if (i->type == FSA_TYPE_REGULAR || i->type == FSA_TYPE_SYMLINK)
		check_stat(s);
	if (i->type != FSA_TYPE_REGULAR)
		check_sectors(s);
	if (!s->audit->object)
		return FSA_OK;
	c->o.type = i->type;
	c->o.size_bytes = i->size;
	c->o.links = i->links;
	c->o.st_blocks = rfs_st_blocks(r, i);
	if (c->hidden)
		c->o.flags |= FSA_OBJECT_INTERNAL;
	if (c->deleted)
		c->o.flags |= FSA_OBJECT_UNREFERENCED;
	return s->audit->object(s->audit->object_arg, &c->o);
}

/* --- items by type --------------------------------------------------------------------------------------- */

static enum fsa_status stat_item(struct rfs_audit_state *s, struct fsa_split *split, const struct rfs_item *item)
{
	struct rfs_current *c = &s->current;
	struct rfs_inode i;
	enum rfs_detail detail = RFS_D_STAT;

	if (c->have_stat)
		RFS_FIND(s->r, "object", c->oid, item->offset, "a second stat data, the first is @0x%llx", (ull)c->inode.offset);
	else if (rfs_inode_decode(s->r, item, &i)) {
		c->inode = i;
		c->have_stat = true;
		c->deleted = i.links == 0;
		if (c->deleted)
			detail = RFS_D_DELETED_ITEM;
		if (i.type == FSA_TYPE_UNKNOWN)
			RFS_FIND(s->r, "object", c->oid, i.offset, "mode 0%o is no type of file", i.mode);
		fsa_split_part(split, item->location, item->length, detail, &c->owner);
		return rfs_audit_stat(s, &i);
	}
	fsa_split_part(split, item->location, item->length, detail, &c->owner);
	return FSA_OK;
}

static void wrong_kind(struct rfs_audit_state *s, const struct rfs_item *item)
{
	struct rfs_current *c = &s->current;

	if (c->have_stat)
		RFS_FIND(s->r, "object", c->oid, item->offset, "%s item in an object of mode 0%o", rfs_type_name(item->key.type), c->inode.mode);
}

static enum fsa_status directory_item(struct rfs_audit_state *s, struct fsa_split *split, const struct rfs_item *item)
{
	struct rfs_current *c = &s->current;
	enum rfs_detail detail = c->deleted || !c->have_stat ? RFS_D_DELETED_ITEM : c->hidden ? RFS_D_XATTR_NAMES : RFS_D_DIRECTORY;

	fsa_split_part(split, item->location, item->length, detail, &c->owner);
	if (c->have_stat && c->inode.type != FSA_TYPE_DIRECTORY)
		wrong_kind(s, item);
	c->entry_bytes += item->length;
	return rfs_audit_names(s, item);
}

/* The range of the file that an item stands for begins behind what came before. */
static void check_place(struct rfs_audit_state *s, const struct rfs_item *item, uint64_t length)
{
	struct rfs_current *c = &s->current;
	struct rfs *r = s->r;
	uint64_t start = item->key.offset - 1;

	if (item->key.offset == 0 || (item->key.type == RFS_INDIRECT && (start & (r->block_size - 1))))
		RFS_FIND(r, "object", c->oid, item->offset, "%s item for the file from byte %llu on, which is no start of a block",
			 rfs_type_name(item->key.type), (ull)start);
	if (start < c->next)
		RFS_FIND(r, "object", c->oid, item->offset, "%s item for the file from byte %llu on, the one before goes up to %llu",
			 rfs_type_name(item->key.type), (ull)start, (ull)c->next);
	/* Offsets have 60 bits and lengths 16, or 16 and a block: no overflow. */
	c->next = fsa_max(c->next, start + length);
}

/* Bytes of a file or a target: a tail, or all of a small file, possibly in several pieces. */
static void direct_item(struct rfs_audit_state *s, struct fsa_split *split, const struct rfs_item *item)
{
	struct rfs_current *c = &s->current;
	uint64_t start = item->key.offset - 1, first, last;
	uint32_t in_file = 0, log = s->r->block_log;
	enum rfs_detail detail, padding;
	bool symlink = c->have_stat && c->inode.type == FSA_TYPE_SYMLINK;

	check_place(s, item, item->length);
	if (!c->first_direct)
		c->first_direct = item->key.offset;
	if (c->have_stat && start < c->inode.size)
		in_file = (uint32_t)fsa_min(item->length, c->inode.size - start);
	if (c->deleted || !c->have_stat) {
		detail = padding = RFS_D_DELETED_ITEM;
	} else if (symlink) {
		detail = RFS_D_SYMLINK;
		padding = RFS_D_FREE_SYMLINK;
	} else {
		detail = c->hidden ? RFS_D_XATTR_TAIL : RFS_D_TAIL;
		padding = c->hidden ? RFS_D_FREE_XATTR : RFS_D_TAIL_PADDING;
		if (c->inode.type != FSA_TYPE_REGULAR)
			wrong_kind(s, item);
	}
	fsa_split_part(split, item->location, in_file, detail, &c->owner);
	fsa_split_part(split, (uint64_t)item->location + in_file, item->length - in_file, padding, &c->owner);
	if (symlink || !c->have_stat)
		return;
	c->o.packed_bytes += in_file;
	c->o.packed_cost_bytes += sizeof(struct rfs_item_head) + item->length - in_file;
	if (!in_file)
		return;
	if (!c->hidden && !c->deleted && c->inode.type == FSA_TYPE_REGULAR)
		s->tail_sizes[31 - __builtin_clz(in_file)]++;
	/* Pieces that share a block would share it unpacked too. */
	first = fsa_max(start >> log, c->packed_blocks);
	last = (start + in_file - 1) >> log;
	if (last + 1 > first) {
		c->o.unpacked_bytes += (last + 1 - first) << log;
		c->packed_blocks = last + 1;
	}
}

static void indirect_item(struct rfs_audit_state *s, struct fsa_split *split, const struct rfs_item *item)
{
	struct rfs_current *c = &s->current;

	bool lost = c->deleted || (!c->have_stat && !c->bad_blocks);

	fsa_split_part(split, item->location, item->length, lost ? RFS_D_DELETED_ITEM : RFS_D_INDIRECT, &c->owner);
	check_place(s, item, (uint64_t)(item->length / 4) << s->r->block_log);
	if (item->length % 4)
		RFS_FIND(s->r, "object", c->oid, item->offset, "indirect item of %u bytes, pointers have 4 each", item->length);
	if (c->have_stat && c->inode.type != FSA_TYPE_REGULAR && c->inode.type != FSA_TYPE_SYMLINK)
		wrong_kind(s, item);
	rfs_audit_data(s, item);
}

/* The body is the first word of the object's key; the item's own type says what was not finished. */
static enum fsa_status safe_link(struct rfs_audit_state *s, struct fsa_split *split, const struct rfs_item *item)
{
	uint8_t *flags;

	fsa_split_part(split, item->location, item->length, RFS_D_SAFE_LINK, NULL);
	if (item->length != 4) {
		RFS_FIND(s->r, "safe link", item->key.oid, item->offset, "%u bytes, should be 4", item->length);
		return FSA_OK;
	}
	RFS_FIND(s->r, "safe link", item->key.oid, item->offset, "the %s of object [%u %u] was not finished: the next mount does it",
		 item->key.type == RFS_INDIRECT ? "truncation" : "deletion", fsa_get_le32(item->body), item->key.oid);
	if (!rfs_known_get(&s->known, item->key.oid, true, &flags))
		return FSA_ENOMEM;
	*flags |= RFS_SAFE;
	return FSA_OK;
}

enum fsa_status rfs_audit_item(struct rfs_audit_state *s, struct fsa_split *split, const struct rfs_item *item)
{
	struct rfs_current *c = &s->current;
	enum fsa_status st;

	if (item->key.type < 4) {
		s->items[item->key.type]++;
		s->item_bytes[item->key.type] += item->length;
	}
	if (!c->active || c->dir != item->key.dir || c->oid != item->key.oid) {
		st = rfs_audit_object_end(s);
		if (st != FSA_OK)
			return st;
		if (item->key.dir == RFS_SAFE_LINK_DIR_ID)
			return safe_link(s, split, item);
		object_begin(s, item);
	}
	switch (item->key.type) {
	case RFS_STAT: return stat_item(s, split, item);
	case RFS_DIRENTRY: return directory_item(s, split, item);
	case RFS_DIRECT: direct_item(s, split, item); return FSA_OK;
	case RFS_INDIRECT: indirect_item(s, split, item); return FSA_OK;
	default:
		fsa_split_part(split, item->location, item->length, RFS_D_DELETED_ITEM, &c->owner);
		return FSA_OK;
	}
}
