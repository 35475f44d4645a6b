/* SPDX-License-Identifier: GPL-2.0-only */
/* One inode in use: the parts of its record, its blocks, and the object that figures are made of. */
#include <stdlib.h>
#include <string.h>

#include "xfs_audit.h"

enum xf_role xf_role_of(const struct xf *x, uint64_t ino)
{
	if (ino == x->rbm_ino)
		return XF_ROLE_RT_BITMAP;
	if (ino == x->rsum_ino)
		return XF_ROLE_RT_SUMMARY;
	for (unsigned k = 0; k < 3; k++)
		if (ino == x->quota_ino[k])
			return XF_ROLE_QUOTA;
	return XF_ROLE_FILE;
}

static void check_self(struct xf_audit_state *s, const struct xf_inode *i)
{
	struct xf *x = s->x;
	const struct xf_self self = {
		.object = "inode", .number = i->number, .what = "inode", .crc = XFS_DINODE_CRC_OFF, .uuid = offsetof(struct xfs_dinode, di_uuid),
	};
	uint32_t got, want;

	if (!x->v5)
		return;
	if (!xf_crc_ok(i->raw, x->inode_size, self.crc, &got, &want))
		XF_FIND(x, "inode", i->number, i->offset, "checksum 0x%08x, computed 0x%08x", got, want);
	if (XF_INO64(i->raw, di_ino) != i->number)
		XF_FIND(x, "inode", i->number, i->offset, "record says it is inode %llu", (ull)XF_INO64(i->raw, di_ino));
	if (memcmp(i->raw + self.uuid, x->uuid, 16) != 0)
		XF_FIND(x, "inode", i->number, i->offset, "carries another filesystem's uuid");
}

static bool data_format_ok(const struct xf_inode *i)
{
	switch (i->type) {
	case FSA_TYPE_REGULAR: return i->data.format == XFS_DINODE_FMT_EXTENTS || i->data.format == XFS_DINODE_FMT_BTREE;
	case FSA_TYPE_DIRECTORY:
	case FSA_TYPE_SYMLINK: return i->data.format >= XFS_DINODE_FMT_LOCAL && i->data.format <= XFS_DINODE_FMT_BTREE;
	default: return i->data.format == XFS_DINODE_FMT_DEV;
	}
}

static void check_fields(struct xf_audit_state *s, const struct xf_inode *i)
{
	struct xf *x = s->x;

	check_self(s, i);
	if (i->version < 1 || i->version > 3 || (i->version == 3) != x->v5)
		XF_FIND(x, "inode", i->number, i->offset, "inode version %u on a filesystem of version %u", i->version, x->v5 ? 5u : 4u);
	if (i->bad_fork)
		XF_FIND(x, "inode", i->number, i->offset, "attribute fork at byte %u, the record has %u for forks", XF_INO8(i->raw, di_forkoff) * 8u,
			x->inode_size - i->core);
	if (i->type == FSA_TYPE_UNKNOWN)
		XF_FIND(x, "inode", i->number, i->offset, "mode 0%o is no type of file", i->mode);
	else if (!data_format_ok(i))
		XF_FIND(x, "inode", i->number, i->offset, "data fork of format %u, which mode 0%o does not have", i->data.format, i->mode);
	if (i->attr.size && (i->attr.format < XFS_DINODE_FMT_LOCAL || i->attr.format > XFS_DINODE_FMT_BTREE))
		XF_FIND(x, "inode", i->number, i->offset, "attribute fork of format %u, possible are 1 to 3", i->attr.format);
	if (i->number == x->root_ino && i->type != FSA_TYPE_DIRECTORY)
		XF_FIND(x, "inode", i->number, i->offset, "the root is no directory: mode 0%o", i->mode);
	if (i->flags2 & XFS_DIFLAG2_REFLINK && !x->reflink)
		XF_FIND(x, "inode", i->number, i->offset, "marked as sharing blocks, which the superblock's features do not have");
}

/* Extents, or the root of a B-tree of them: both the same for either fork. */
static bool add_map_root(const struct xf *x, const struct xf_fork *f, struct xf_regions *g)
{
	uint32_t at, bytes, head = xf_map_root_bytes(x, f, &at, &bytes);
	enum xf_detail detail = f->format == XFS_DINODE_FMT_BTREE ? XF_D_BMBT_ROOT : XF_D_EXTENTS_INODE;

	return xf_region_add(g, 0, head, detail) && xf_region_add(g, at, bytes, detail);
}

static enum fsa_status no_entry(void *arg, const struct xf_dirent *d)
{
	(void)arg;
	(void)d;
	return FSA_OK;
}

static enum fsa_status data_fork(struct xf_audit_state *s, const struct xf_inode *i, struct xf_regions *g)
{
	const struct xf_fork *f = &i->data;
	enum fsa_status st = FSA_OK;
	uint64_t parent;
	uint32_t end;
	bool ok = true;

	if (f->format == XFS_DINODE_FMT_DEV) {
		ok = xf_region_add(g, 0, 4, XF_D_INODE);
	} else if (f->format == XFS_DINODE_FMT_LOCAL && i->type == FSA_TYPE_DIRECTORY) {
		st = xf_dir_short(s->x, i, &parent, no_entry, NULL, &end);
		ok = xf_region_add(g, 0, end, XF_D_DIR_SHORT);
	} else if (f->format == XFS_DINODE_FMT_LOCAL) {
		if (i->size > f->size)
			XF_FIND(s->x, "inode", i->number, i->offset, "%llu bytes in the inode, there is room for %u", (ull)i->size, f->size);
		ok = xf_region_add(g, 0, (uint32_t)fsa_min(i->size, f->size), XF_D_SYMLINK_INODE);
	} else {
		ok = add_map_root(s->x, f, g);
	}
	return ok ? st : FSA_ENOMEM;
}

static enum fsa_status attr_fork(struct xf_audit_state *s, const struct xf_inode *i, struct xf_regions *g)
{
	if (i->attr.format == XFS_DINODE_FMT_LOCAL)
		return xf_audit_attr_short(s, i, g);
	return add_map_root(s->x, &i->attr, g) ? FSA_OK : FSA_ENOMEM;
}

/* Both forks of the record, as parts of the chunk's split. */
static enum fsa_status book_record(struct xf_audit_state *s, const struct xf_inode *i, struct fsa_split *split, uint64_t slot,
				   bool unreferenced, const struct fsa_owner *owner)
{
	struct xf_regions g = { 0 };
	enum fsa_status st;

	fsa_split_part(split, slot, i->core, unreferenced ? XF_D_INODE_DELETED : XF_D_INODE, owner);
	if (unreferenced) {
		fsa_split_part(split, slot + i->core, s->x->inode_size - i->core, XF_D_INODE_DELETED, owner);
		return FSA_OK;
	}
	st = data_fork(s, i, &g);
	if (st == FSA_OK) {
		xf_regions_sort(&g);
		xf_regions_book(&g, split, slot + i->data.offset, 0, i->data.size, XF_D_FREE_FORK, owner);
	}
	g.n = 0;
	if (st == FSA_OK && i->attr.size) {
		st = attr_fork(s, i, &g);
		if (st == FSA_OK) {
			xf_regions_sort(&g);
			xf_regions_book(&g, split, slot + i->attr.offset, 0, i->attr.size, XF_D_FREE_FORK, owner);
		}
	}
	free(g.r);
	return st;
}

enum fsa_status xf_audit_map_node(struct xf_audit_state *s, const struct xf_inode *i, const struct xf_tree_block *b, bool attr,
				  bool unreferenced, unsigned flags, const struct fsa_owner *owner)
{
	struct xf *x = s->x;
	uint32_t ag = (uint32_t)(b->block / x->ag_blocks), block = (uint32_t)(b->block % x->ag_blocks);

	if (unreferenced)
		fsa_claim(s->claims, 0, b->block, 1, XF_D_DELETED_OPEN, flags, owner);
	else
		xf_tree_book(s->claims, b, XF_D_BMBT, XF_D_FREE_BMBT, flags, owner);
	xf_owned(s, ag, block, 1, XF_C_MAPS, i->number, 0, false, attr);
	return FSA_OK;
}

enum fsa_status xf_audit_inode(struct xf_audit_state *s, const struct xf_inode *i, struct fsa_split *split, uint64_t slot, bool unreferenced)
{
	struct xf *x = s->x;
	enum xf_role role = xf_role_of(x, i->number);
	struct fsa_owner owner = { .object = "inode", .number = i->number, .ref = { .word = { i->number } }, .has_ref = true };
	struct fsa_object o = {
		.ref = owner.ref, .number = i->number, .type = i->type, .size_bytes = i->size, .links = i->links,
		.st_blocks = i->blocks << (x->block_log - 9),
	};
	unsigned flags = role == XF_ROLE_FILE ? FSA_CLAIM_CHARGED : 0;
	uint64_t blocks = 0;
	enum fsa_status st;

	check_fields(s, i);
	st = book_record(s, i, split, slot, unreferenced, &owner);
	if (st == FSA_OK)
		st = xf_audit_data(s, i, role, unreferenced, &owner, &o, &blocks);
	if (st == FSA_OK && i->attr.size && i->attr.format != XFS_DINODE_FMT_LOCAL)
		st = xf_audit_attr(s, i, unreferenced, flags, &owner, &o, &blocks);
	if (st != FSA_OK)
		return st;
	if (role != XF_ROLE_QUOTA && xf_quota_add(s, i, s->realtime_blocks) != FSA_OK)
		return FSA_ENOMEM;
	if (blocks != i->blocks)
		XF_FIND(x, "inode", i->number, i->offset, "block count %llu, it holds %llu", (ull)i->blocks, (ull)blocks);
	if (role != XF_ROLE_FILE)
		o.flags |= FSA_OBJECT_INTERNAL;
	if (unreferenced)
		o.flags |= FSA_OBJECT_UNREFERENCED;
	return s->audit->object ? s->audit->object(s->audit->object_arg, &o) : FSA_OK;
}
