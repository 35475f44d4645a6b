/* SPDX-License-Identifier: GPL-2.0-only */
/* ReiserFS 3.5 and 3.6: what this parser can do. FORMAT.md says what it reads and what it may ignore. */
#include <stdlib.h>

#include "reiserfs.h"

const struct fsa_detail rfs_details[RFS_DETAILS] = {
	[RFS_D_BOOT] = { FSA_SUPERBLOCK, "boot area" },
	[RFS_D_SUPER] = { FSA_SUPERBLOCK, "superblock" },
	[RFS_D_OID_MAP] = { FSA_ALLOCATION, "object id map" },
	[RFS_D_BITMAP] = { FSA_ALLOCATION, "block bitmaps" },
	[RFS_D_JOURNAL_LOG] = { FSA_JOURNAL, "journal log" },
	[RFS_D_JOURNAL_HEADER] = { FSA_JOURNAL, "journal header" },
	[RFS_D_STAT] = { FSA_INODE, "stat data items" },
	[RFS_D_DIRECTORY] = { FSA_DIRECTORY, "directory items" },
	[RFS_D_INDIRECT] = { FSA_MAPPING, "indirect items" },
	[RFS_D_XATTR_NAMES] = { FSA_XATTR, "directory items of attributes" },
	[RFS_D_XATTR_TAIL] = { FSA_XATTR, "attribute values in direct items" },
	[RFS_D_XATTR_BLOCK] = { FSA_XATTR, "attribute values in blocks" },
	[RFS_D_SYMLINK] = { FSA_SYMLINK, "symlink targets in direct items" },
	[RFS_D_LEAF_HEAD] = { FSA_TREE, "leaf heads" },
	[RFS_D_ITEM_HEAD] = { FSA_TREE, "item heads with keys" },
	[RFS_D_INTERNAL] = { FSA_TREE, "internal nodes: head, keys, pointers" },
	[RFS_D_FREE_SUPER] = { FSA_NODE_FREE, "unused in the superblock's block" },
	[RFS_D_FREE_BITMAP] = { FSA_NODE_FREE, "unused in bitmap blocks" },
	[RFS_D_FREE_LEAF] = { FSA_NODE_FREE, "unused in leaves" },
	[RFS_D_FREE_INTERNAL] = { FSA_NODE_FREE, "unused in internal nodes" },
	[RFS_D_FREE_XATTR] = { FSA_NODE_FREE, "unused behind attribute values" },
	[RFS_D_FREE_SYMLINK] = { FSA_NODE_FREE, "unused behind symlink targets" },
	[RFS_D_DATA] = { FSA_FILE_DATA, "file contents in blocks" },
	[RFS_D_TAIL] = { FSA_FILE_TAIL, "file contents in direct items" },
	[RFS_D_SLACK] = { FSA_FILE_SLACK, "behind end of file" },
	[RFS_D_TAIL_PADDING] = { FSA_FILE_SLACK, "padding of direct items" },
	[RFS_D_BEYOND_EOF] = { FSA_PREALLOCATED, "whole blocks behind end of file" },
	[RFS_D_DELETED_ITEM] = { FSA_UNREFERENCED, "items of deleted objects" },
	[RFS_D_DELETED_DATA] = { FSA_UNREFERENCED, "blocks of deleted objects" },
	[RFS_D_SAFE_LINK] = { FSA_UNREFERENCED, "safe links: deletions and truncations not finished" },
	[RFS_D_BAD_BLOCKS] = { FSA_RESERVED, "bad blocks" },
	[RFS_D_JOURNAL_RESERVED] = { FSA_RESERVED, "kept for a journal" },
	[RFS_D_JOURNAL_DEVICE] = { FSA_RESERVED, "rest of the journal device" },
};

static void rfs_close(struct fsa_fs *fs)
{
	struct rfs *r = rfs_of(fs);

	rfs_cursor_free(r->spare);
	free(r->owners);
	free(r);
	fs->state = NULL;
}

static const char *const rfs_types[] = { "reiserfs", NULL };

extern const struct fsa_parser fsa_reiserfs_parser;

const struct fsa_parser fsa_reiserfs_parser = {
	.name = "reiserfs",
	.types = rfs_types,
	.details = rfs_details,
	.n_details = RFS_DETAILS,
	.open = rfs_open,
	.close = rfs_close,
	.summary = rfs_summary,
	.statfs = rfs_statfs,
	.geometry = rfs_geometry,
	.audit = rfs_audit,
	.root = rfs_root,
	.stat = rfs_stat,
	.readdir = rfs_readdir,
	.extents = rfs_extents,
	.readlink = rfs_readlink,
	.xattrs = rfs_xattrs,
	.ref_of_number = rfs_ref_of_number,
	.describe = rfs_describe,
};
