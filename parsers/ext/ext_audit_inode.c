/* SPDX-License-Identifier: GPL-2.0-only */
/* One inode in use: the parts of its record, its blocks, and the object that figures are made of. */
#include <stdlib.h>
#include <string.h>

#include "ext_audit.h"

enum ext_role ext_role_of(const struct ext *e, const struct ext_inode *i)
{
	uint32_t n = i->number;

	if (n == EXT2_BAD_INO)
		return EXT_ROLE_BAD_BLOCKS;
	if (n == EXT2_ROOT_INO)
		return EXT_ROLE_FILE;
	if (n == EXT2_RESIZE_INO)
		return ext_compat(e, EXT2_FEATURE_COMPAT_RESIZE_INODE) ? EXT_ROLE_RESIZE : EXT_ROLE_RESERVED;
	if (ext_compat(e, EXT3_FEATURE_COMPAT_HAS_JOURNAL) && n == EXT_SB32(e->sb, s_journal_inum))
		return EXT_ROLE_JOURNAL;
	if (ext_ro_compat(e, EXT4_FEATURE_RO_COMPAT_QUOTA) &&
	    (n == EXT_SB32(e->sb, s_usr_quota_inum) || n == EXT_SB32(e->sb, s_grp_quota_inum) ||
	     n == EXT_SB32(e->sb, s_prj_quota_inum)))
		return EXT_ROLE_QUOTA;
	if (ext_compat(e, EXT4_FEATURE_COMPAT_ORPHAN_FILE) && n == EXT_SB32(e->sb, s_orphan_file_inum))
		return EXT_ROLE_ORPHAN_FILE;
	if (n == EXT2_BOOT_LOADER_INO)
		return EXT_ROLE_BOOT_LOADER;
	if (n < e->first_inode)
		return EXT_ROLE_RESERVED;
	/* As the kernel does, whether or not the superblock announces the feature. */
	if (i->flags & EXT4_EA_INODE_FL)
		return EXT_ROLE_XATTR_VALUE;
	return EXT_ROLE_FILE;
}

static enum ext_detail record_detail(bool unreferenced)
{
	return unreferenced ? EXT_D_INODE_DELETED : EXT_D_INODE;
}

/* i_block of an inode with inline data: bytes of the file, or the first entries of a directory. */
static enum fsa_status inline_i_block(struct ext_audit_state *s, const struct ext_inode *i, struct fsa_split *table, uint64_t at,
				      const struct fsa_owner *owner, struct fsa_object *o)
{
	const size_t field = offsetof(struct ext2_inode_large, i_block);
	struct ext_regions g = { 0 };
	uint32_t n = (uint32_t)fsa_min(i->size, EXT_INODE_BLOCK_BYTES);
	enum fsa_status st = FSA_OK;
	bool ok = true;

	if (i->type == FSA_TYPE_DIRECTORY) {
		const uint32_t skip = EXT4_INLINE_DATA_DOTDOT_SIZE;

		ok = ext_region_add(&g, 0, skip, EXT_D_DIRENT_INLINE);
		if (ok)
			st = ext_audit_inline_dir(s, i, i->raw + field + skip, EXT_INODE_BLOCK_BYTES - skip, i->offset + field + skip, &g, skip);
	} else if (n) {
		ok = ext_region_add(&g, 0, n, i->type == FSA_TYPE_SYMLINK ? EXT_D_SYMLINK_FAST : EXT_D_INLINE_DATA);
		if (i->type == FSA_TYPE_REGULAR)
			o->packed_bytes += n;
	}
	if (!ok)
		st = FSA_ENOMEM;
	if (st == FSA_OK)
		ext_regions_book(&g, table, at, EXT_INODE_BLOCK_BYTES, EXT_D_FREE_I_BLOCK, owner);
	free(g.r);
	return st;
}

static enum fsa_status book_i_block(struct ext_audit_state *s, const struct ext_inode *i, struct fsa_split *table, uint64_t slot,
				    bool unreferenced, const struct fsa_owner *owner, struct fsa_object *o)
{
	const struct ext *e = s->e;
	uint64_t at = slot + offsetof(struct ext2_inode_large, i_block);
	enum ext_detail detail = record_detail(unreferenced);
	uint32_t n = 0;

	if (ext_inode_inline(e, i) && !unreferenced)
		return inline_i_block(s, i, table, at, owner, o);
	if (ext_inode_mapped(e, i)) {
		n = ext_map_root_bytes(e, i);
		if (!unreferenced)
			detail = i->flags & EXT4_EXTENTS_FL ? EXT_D_EXTENT_ROOT : EXT_D_BLOCK_POINTERS;
	} else if (ext_inode_fast_symlink(e, i)) {
		n = (uint32_t)fsa_min(i->size, EXT_INODE_BLOCK_BYTES);
		if (!unreferenced)
			detail = EXT_D_SYMLINK_FAST;
	} else if (i->type == FSA_TYPE_CHARDEV || i->type == FSA_TYPE_BLOCKDEV) {
		n = 8;
	}
	fsa_split_part(table, at, n, detail, owner);
	fsa_split_part(table, at + n, EXT_INODE_BLOCK_BYTES - n, EXT_D_FREE_I_BLOCK, owner);
	return FSA_OK;
}

static void check_fields(struct ext_audit_state *s, const struct ext_inode *i, enum ext_role role)
{
	struct ext *e = s->e;
	struct ext_csum c;

	if (!ext_csum_inode(e, i->number, i->raw, &c))
		EXT_FIND(e, "inode", i->number, i->offset, "checksum 0x%08x, computed 0x%08x", c.got, c.want);
	if (i->extra_bad)
		EXT_FIND(e, "inode", i->number, i->offset, "extra size %u, the record of %u bytes has room for %u",
			 EXT_INODE16(i->raw, i_extra_isize), e->inode_size, e->inode_size - EXT2_GOOD_OLD_INODE_SIZE);
	if (role == EXT_ROLE_FILE && i->type == FSA_TYPE_UNKNOWN)
		EXT_FIND(e, "inode", i->number, i->offset, "mode 0%o is no type of file", i->mode);
	if (ext_inode_fast_symlink(e, i) && i->size >= EXT_INODE_BLOCK_BYTES)
		EXT_FIND(e, "inode", i->number, i->offset, "symbolic link of %llu bytes in the inode, which has room for %u", (ull)i->size,
			 EXT_INODE_BLOCK_BYTES - 1);
	if (i->flags & EXT4_INLINE_DATA_FL && !ext_incompat(e, EXT4_FEATURE_INCOMPAT_INLINE_DATA))
		EXT_FIND(e, "inode", i->number, i->offset, "inline data, which the superblock's features do not have");
	if (i->flags & EXT4_EXTENTS_FL && !ext_incompat(e, EXT3_FEATURE_INCOMPAT_EXTENTS))
		EXT_FIND(e, "inode", i->number, i->offset, "an extent tree, which the superblock's features do not have");
	if (i->number == EXT2_ROOT_INO && i->type != FSA_TYPE_DIRECTORY)
		EXT_FIND(e, "inode", i->number, i->offset, "the root is no directory: mode 0%o", i->mode);
}

static void check_inline_size(struct ext_audit_state *s, const struct ext_inode *i)
{
	struct ext_xattr rest;
	uint64_t at, room = EXT_INODE_BLOCK_BYTES;

	if (!ext_inode_inline(s->e, i))
		return;
	if (ext_inline_rest(s->e, i, &rest, &at))
		room += rest.value_size;
	if (i->size > room)
		EXT_FIND(s->e, "inode", i->number, i->offset, "inline data of %llu bytes, %llu are there", (ull)i->size, (ull)room);
}

enum fsa_status ext_audit_inode(struct ext_audit_state *s, const struct ext_inode *i, struct fsa_split *table, uint64_t slot,
				bool unreferenced)
{
	struct ext *e = s->e;
	const uint32_t block_at = (uint32_t)offsetof(struct ext2_inode_large, i_block);
	const uint32_t block_end = block_at + EXT_INODE_BLOCK_BYTES;
	enum ext_role role = ext_role_of(e, i);
	struct fsa_owner owner = { .object = "inode", .number = i->number, .ref = { .word = { i->number } }, .has_ref = true };
	struct fsa_object o = {
		.ref = owner.ref, .number = i->number, .type = i->type, .size_bytes = i->size, .links = i->links,
		.st_blocks = ext_st_blocks(e, i),
	};
	uint64_t blocks = 0, sectors;
	enum fsa_status st;

	check_fields(s, i, role);
	check_inline_size(s, i);
	fsa_split_part(table, slot, block_at, record_detail(unreferenced), &owner);
	st = book_i_block(s, i, table, slot, unreferenced, &owner, &o);
	fsa_split_part(table, slot + block_end, EXT2_GOOD_OLD_INODE_SIZE - block_end + i->extra_size, record_detail(unreferenced), &owner);
	if (st == FSA_OK)
		st = ext_audit_xattrs(s, i, table, slot, unreferenced, &owner, &o, &blocks);
	if (st == FSA_OK)
		st = ext_audit_data(s, i, role, unreferenced, &owner, &o, &blocks);
	if (st != FSA_OK)
		return st;
	sectors = blocks << (e->block_log - 9);
	if (sectors != i->sectors && role != EXT_ROLE_BAD_BLOCKS)
		EXT_FIND(e, "inode", i->number, i->offset, "block count %llu (of 512 bytes), it holds %llu", (ull)i->sectors, (ull)sectors);
	if (role == EXT_ROLE_XATTR_VALUE) {
		/* References are counted in fields that value inodes have no other use for. */
		uint64_t refs = (uint64_t)EXT_INODE32(i->raw, i_ctime) << 32 | EXT_INODE32(i->raw, osd1.linux1.l_i_version);
		bool made;
		int64_t *left = ext_tally_at(&s->value_inodes, i->number, 0, &made);

		if (!left)
			return FSA_ENOMEM;
		/* Below 2^32 it is a count; above it the field is the time that value inodes of Lustre keep there. */
		*left += refs >> 32 ? 1 : (int64_t)refs;
	}
	if (role != EXT_ROLE_FILE)
		o.flags |= FSA_OBJECT_INTERNAL;
	if (unreferenced)
		o.flags |= FSA_OBJECT_UNREFERENCED;
	if (i->flags & EXT4_ENCRYPT_FL)
		o.flags |= FSA_OBJECT_ENCRYPTED;
	if (o.packed_bytes) {
		o.flags |= FSA_OBJECT_INLINE;
		o.unpacked_bytes = fsa_div_up(o.packed_bytes, (uint64_t)e->block_size << e->cluster_log) *
				   ((uint64_t)e->block_size << e->cluster_log);
	}
	return s->audit->object ? s->audit->object(s->audit->object_arg, &o) : FSA_OK;
}
