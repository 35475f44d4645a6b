/* SPDX-License-Identifier: GPL-2.0-only */
/* One inode in use: the parts of its record, its attributes, and the object that figures are made of. */
#include <stdlib.h>

#include "jfs_audit.h"

#define BASE_SIZE JFS_TABLE_AT		/* fields that every inode has */
#define DEVICE_SIZE 4u
#define GENERATOR_SIZE 16u		/* aggregate inodes of maps keep a generator behind the base */

/* Behind the tree: the room for inline attributes, or more of the tree or of a symbolic link's target. */
static void book_ea_room(struct fsa_split *table, uint64_t slot, const struct jfs_inode *i, const struct fsa_owner *owner)
{
	uint32_t used = jfs_inode_inline_ea(i) ? (uint32_t)fsa_min(i->ea_size, JFS_INLINE_EA_SIZE) : 0;

	fsa_split_part(table, slot + JFS_INLINE_EA_AT, used, JFS_D_EA_INLINE, owner);
	fsa_split_part(table, slot + JFS_INLINE_EA_AT + used, JFS_INLINE_EA_SIZE - used, JFS_D_FREE_INODE, owner);
}

static void book_xtree_root(struct jfs_audit_state *s, struct fsa_split *table, uint64_t slot, const struct jfs_inode *i,
			    const struct fsa_owner *owner)
{
	uint32_t room, used = jfs_xtree_root_bytes(i, &room);
	bool whole = JFS_TREE_AT + room > JFS_INLINE_EA_AT;

	if (whole)
		room = JFS_INODE_SIZE - JFS_TREE_AT;
	fsa_split_part(table, slot + JFS_TREE_AT, used, JFS_D_XTREE_ROOT, owner);
	fsa_split_part(table, slot + JFS_TREE_AT + used, room - used, JFS_D_FREE_INODE, owner);
	if (whole && jfs_inode_inline_ea(i) && s)
		JFS_FIND(s->j, "inode", i->number, i->offset, "extents and attributes of %u bytes take the same room", i->ea_size);
	if (whole)
		return;
	fsa_split_part(table, slot + JFS_TREE_AT + room, JFS_INLINE_EA_AT - JFS_TREE_AT - room, JFS_D_FREE_INODE, owner);
	book_ea_room(table, slot, i, owner);
}

static void book_target(struct jfs_audit_state *s, struct fsa_split *table, uint64_t slot, const struct jfs_inode *i,
			const struct fsa_owner *owner)
{
	uint32_t used = (uint32_t)i->size;
	bool whole = JFS_INLINE_AT + used > JFS_INLINE_EA_AT;
	uint32_t room = (whole ? JFS_INODE_SIZE : JFS_INLINE_EA_AT) - JFS_INLINE_AT;

	fsa_split_part(table, slot + JFS_TREE_AT, JFS_INLINE_AT - JFS_TREE_AT, JFS_D_FREE_INODE, owner);
	fsa_split_part(table, slot + JFS_INLINE_AT, used, JFS_D_SYMLINK_INLINE, owner);
	fsa_split_part(table, slot + JFS_INLINE_AT + used, room - used, JFS_D_FREE_INODE, owner);
	if (!whole)
		book_ea_room(table, slot, i, owner);
	else if (jfs_inode_inline_ea(i))
		JFS_FIND(s->j, "inode", i->number, i->offset, "a target of %u bytes and attributes of %u bytes take the same room", used,
			 i->ea_size);
}

static void book_special(struct fsa_split *table, uint64_t slot, const struct jfs_inode *i, const struct fsa_owner *owner)
{
	uint32_t used = i->type == FSA_TYPE_CHARDEV || i->type == FSA_TYPE_BLOCKDEV ? DEVICE_SIZE : 0;

	fsa_split_part(table, slot + JFS_TREE_AT, JFS_INLINE_AT - JFS_TREE_AT, JFS_D_FREE_INODE, owner);
	fsa_split_part(table, slot + JFS_INLINE_AT, used, JFS_D_INODE, owner);
	fsa_split_part(table, slot + JFS_INLINE_AT + used, JFS_INLINE_EA_AT - JFS_INLINE_AT - used, JFS_D_FREE_INODE, owner);
	book_ea_room(table, slot, i, owner);
}

void jfs_book_aggregate(struct fsa_split *table, uint64_t slot, const struct jfs_inode *i, const struct fsa_owner *owner)
{
	fsa_split_part(table, slot, BASE_SIZE + GENERATOR_SIZE, JFS_D_AGGREGATE_INODE, owner);
	fsa_split_part(table, slot + BASE_SIZE + GENERATOR_SIZE, JFS_TREE_AT - BASE_SIZE - GENERATOR_SIZE, JFS_D_FREE_INODE, owner);
	if (i->type == FSA_TYPE_REGULAR)
		book_xtree_root(NULL, table, slot, i, owner);
	else
		fsa_split_part(table, slot + JFS_TREE_AT, JFS_INODE_SIZE - JFS_TREE_AT, JFS_D_FREE_INODE, owner);
}

/* --- attributes ---------------------------------------------------------------------------------------- */

static enum fsa_status ignore_attribute(void *arg, const struct jfs_ea *ea)
{
	(void)arg;
	(void)ea;
	return FSA_OK;
}

static void book_extent(struct jfs_audit_state *s, uint64_t block, uint32_t count, uint32_t size, bool unreferenced,
			enum jfs_detail detail, unsigned flags, const struct fsa_owner *owner)
{
	if (unreferenced)
		fsa_claim(s->claims, 0, block, count, JFS_D_DELETED, flags, owner);
	else
		fsa_claim_with_rest(s->claims, 0, block, count, fsa_min(size, (uint64_t)count * JFS_PAGE), detail, JFS_D_FREE_EA, flags, owner);
}

static enum fsa_status book_attributes(struct jfs_audit_state *s, const struct jfs_inode *i, bool unreferenced, unsigned flags,
				       const struct fsa_owner *owner, struct fsa_object *o, uint64_t *blocks)
{
	struct jfs *j = s->j;
	enum fsa_status st;
	uint8_t *bytes;
	uint32_t size;

	if (i->ea_flag & JFS_DXD_EXTENT && i->ea_length && jfs_block_ok(j, i->ea_address, i->ea_length)) {
		book_extent(s, i->ea_address, i->ea_length, i->ea_size, unreferenced, JFS_D_EA, flags, owner);
		*blocks += i->ea_length;
		s->usage.ea_blocks += i->ea_length;
		o->xattr_bytes += (uint64_t)i->ea_length * JFS_PAGE;
	}
	if (i->acl_flag & JFS_DXD_EXTENT) {
		if (i->acl_length && jfs_block_ok(j, i->acl_address, i->acl_length)) {
			book_extent(s, i->acl_address, i->acl_length, i->acl_size, unreferenced, JFS_D_ACL, flags, owner);
			*blocks += i->acl_length;
			s->usage.acl_blocks += i->acl_length;
			o->xattr_bytes += (uint64_t)i->acl_length * JFS_PAGE;
		} else {
			JFS_FIND(j, "inode", i->number, i->offset, "access control list in %u blocks at %llu, the filesystem has %llu",
				 i->acl_length, (ull)i->acl_address, (ull)j->blocks);
		}
	}
	if (i->ea_flag & JFS_DXD_INLINE && i->type == FSA_TYPE_DIRECTORY)
		JFS_FIND(j, "inode", i->number, i->offset, "a directory with attributes in the record, where its tree lies");
	st = jfs_ea_load(j, i, &bytes, &size);
	if (st == FSA_OK && bytes)
		st = jfs_ea_each(j, i, bytes, size, ignore_attribute, NULL);
	free(bytes);
	return st;
}

/* --- the whole inode ------------------------------------------------------------------------------------ */

static void check_fields(struct jfs_audit_state *s, const struct jfs_inode *i)
{
	struct jfs *j = s->j;

	if (i->said_number != i->number)
		JFS_FIND(j, "inode", i->number, i->offset, "record says it is inode %u", i->said_number);
	if (i->fileset != JFS_AGGR_FILESET)
		JFS_FIND(j, "inode", i->number, i->offset, "fileset %u, expected %u", i->fileset, JFS_AGGR_FILESET);
	if (i->stamp != j->inostamp)
		JFS_FIND(j, "inode", i->number, i->offset, "stamp 0x%08x, those of the fileset have 0x%08x", i->stamp, j->inostamp);
	if (i->type == FSA_TYPE_UNKNOWN)
		JFS_FIND(j, "inode", i->number, i->offset, "mode 0%o is no type of file", i->mode & 0177777);
	if (i->number == JFS_INO_ROOT && i->type != FSA_TYPE_DIRECTORY)
		JFS_FIND(j, "inode", i->number, i->offset, "mode 0%o of the root is not that of a directory", i->mode & 0177777);
	if (i->type == FSA_TYPE_SYMLINK && (i->size == 0 || i->size > JFS_PAGE))
		JFS_FIND(j, "inode", i->number, i->offset, "a target of %llu bytes, 1 to %u are possible", (ull)i->size, JFS_PAGE);
}

enum fsa_status jfs_audit_inode(struct jfs_audit_state *s, const struct jfs_inode *i, struct fsa_split *table, uint64_t slot)
{
	struct jfs *j = s->j;
	bool internal = i->number < JFS_INO_FIRST && i->number != JFS_INO_ROOT, unreferenced = !i->links && !internal;
	unsigned flags = internal ? 0 : FSA_CLAIM_CHARGED;
	struct fsa_owner owner = { .object = "inode", .number = i->number, .ref = { .word = { i->number } }, .has_ref = true };
	struct fsa_object o = {
		.ref = owner.ref, .number = i->number, .type = i->type, .size_bytes = i->size, .links = i->links,
		.st_blocks = i->blocks * (JFS_PAGE / 512),
	};
	uint64_t blocks = 0, of_attributes;
	enum fsa_status st;

	check_fields(s, i);
	if (unreferenced && jfs_is_clean(j))
		JFS_FIND(j, "inode", i->number, i->offset, "in use with a link count of 0");
	if (unreferenced) {
		fsa_split_part(table, slot, JFS_INODE_SIZE, JFS_D_INODE_DELETED, &owner);
	} else {
		fsa_split_part(table, slot, BASE_SIZE, JFS_D_INODE, &owner);
		if (i->type != FSA_TYPE_DIRECTORY)
			fsa_split_part(table, slot + BASE_SIZE, JFS_TREE_AT - BASE_SIZE, JFS_D_FREE_INODE, &owner);
		if (jfs_inode_mapped(i))
			book_xtree_root(s, table, slot, i, &owner);
		else if (i->type == FSA_TYPE_SYMLINK)
			book_target(s, table, slot, i, &owner);
		else if (i->type != FSA_TYPE_DIRECTORY)
			book_special(table, slot, i, &owner);
	}
	st = book_attributes(s, i, unreferenced, flags, &owner, &o, &blocks);
	of_attributes = blocks;
	if (st == FSA_OK && i->type == FSA_TYPE_DIRECTORY)
		st = jfs_audit_dir(s, i, table, slot, unreferenced, flags, &owner, &o, &blocks);
	else if (st == FSA_OK && jfs_inode_mapped(i))
		st = jfs_audit_data(s, i, unreferenced, flags, &owner, &o, &blocks);
	if (st != FSA_OK)
		return st;
	if (i->type == FSA_TYPE_SYMLINK && jfs_inode_mapped(i) && o.data_bytes != i->size)
		JFS_FIND(j, "inode", i->number, i->offset, "a target of %llu bytes, its extents hold %llu", (ull)i->size, (ull)o.data_bytes);
	if (blocks != i->blocks)
		JFS_FIND(j, "inode", i->number, i->offset, "block count %llu, it holds %llu", (ull)i->blocks, (ull)blocks);
	if (i->type == FSA_TYPE_DIRECTORY) {
		s->usage.directories++;
		s->usage.dir_blocks += blocks - of_attributes;
	} else if (!internal) {
		s->usage.files++;
		s->usage.file_blocks += blocks - of_attributes;
	}
	if (internal)
		o.flags |= FSA_OBJECT_INTERNAL;
	if (unreferenced)
		o.flags |= FSA_OBJECT_UNREFERENCED;
	return s->audit->object ? s->audit->object(s->audit->object_arg, &o) : FSA_OK;
}
