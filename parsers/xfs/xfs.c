/* SPDX-License-Identifier: GPL-2.0-only */
/* XFS: what this parser can do. FORMAT.md says what it reads and what it may ignore. */
#include <stdlib.h>

#include "xfs.h"

const struct fsa_detail xf_details[XF_DETAILS] = {
	[XF_D_SUPERBLOCK] = { FSA_SUPERBLOCK, "superblock" },
	[XF_D_SUPERBLOCK_COPY] = { FSA_SUPERBLOCK, "superblock copies" },
	[XF_D_AGF] = { FSA_GEOMETRY, "AGF" },
	[XF_D_AGI] = { FSA_GEOMETRY, "AGI" },
	[XF_D_AGFL] = { FSA_ALLOCATION, "AGFL" },
	[XF_D_AGFL_BLOCKS] = { FSA_ALLOCATION, "blocks on the AGFL, kept for B-trees" },
	[XF_D_BNOBT] = { FSA_ALLOCATION, "free-space B-trees by block" },
	[XF_D_CNTBT] = { FSA_ALLOCATION, "free-space B-trees by size" },
	[XF_D_INOBT] = { FSA_ALLOCATION, "inode B-trees" },
	[XF_D_FINOBT] = { FSA_ALLOCATION, "free inode B-trees" },
	[XF_D_RMAPBT] = { FSA_ALLOCATION, "reverse map B-trees" },
	[XF_D_REFCBT] = { FSA_ALLOCATION, "reference count B-trees" },
	[XF_D_RT_BITMAP] = { FSA_ALLOCATION, "realtime bitmap" },
	[XF_D_RT_SUMMARY] = { FSA_ALLOCATION, "realtime summary" },
	[XF_D_LOG] = { FSA_JOURNAL, "log" },
	[XF_D_INODE] = { FSA_INODE, "inode cores" },
	[XF_D_INODE_FREE] = { FSA_INODE_FREE, "free inodes in chunks" },
	[XF_D_INODE_DELETED] = { FSA_UNREFERENCED, "inodes deleted while open" },
	[XF_D_DIR_SHORT] = { FSA_DIRECTORY, "directories in inodes" },
	[XF_D_DIR_HEADER] = { FSA_DIRECTORY, "directory block headers" },
	[XF_D_DIRENT] = { FSA_DIRECTORY, "directory entries" },
	[XF_D_DIR_INDEX] = { FSA_DIRECTORY, "hash index" },
	[XF_D_DIR_FREE_INDEX] = { FSA_DIRECTORY, "free index" },
	[XF_D_EXTENTS_INODE] = { FSA_MAPPING, "extents in inodes" },
	[XF_D_BMBT_ROOT] = { FSA_MAPPING, "extent B-tree roots in inodes" },
	[XF_D_BMBT] = { FSA_MAPPING, "extent B-tree blocks" },
	[XF_D_XATTR_SHORT] = { FSA_XATTR, "attributes in inodes" },
	[XF_D_XATTR_LEAF] = { FSA_XATTR, "attribute leaves" },
	[XF_D_XATTR_NODE] = { FSA_XATTR, "attribute nodes" },
	[XF_D_XATTR_VALUE] = { FSA_XATTR, "attribute values in blocks of their own" },
	[XF_D_SYMLINK_INODE] = { FSA_SYMLINK, "symlink targets in inodes" },
	[XF_D_SYMLINK] = { FSA_SYMLINK, "symlink targets in blocks" },
	[XF_D_FREE_HEADERS] = { FSA_NODE_FREE, "unused in AG header sectors" },
	[XF_D_FREE_BTREE] = { FSA_NODE_FREE, "unused in B-tree blocks" },
	[XF_D_FREE_FORK] = { FSA_NODE_FREE, "unused fork room of inodes" },
	[XF_D_FREE_DIRECTORY] = { FSA_NODE_FREE, "unused in directory blocks" },
	[XF_D_FREE_BMBT] = { FSA_NODE_FREE, "unused in extent B-tree blocks" },
	[XF_D_FREE_XATTR] = { FSA_NODE_FREE, "unused in attribute blocks" },
	[XF_D_FREE_SYMLINK] = { FSA_NODE_FREE, "unused in symlink blocks" },
	[XF_D_FREE_QUOTA] = { FSA_NODE_FREE, "unused in quota blocks" },
	[XF_D_QUOTA] = { FSA_QUOTA, "quota records" },
	[XF_D_FILE_DATA] = { FSA_FILE_DATA, "file contents" },
	[XF_D_SLACK] = { FSA_FILE_SLACK, "behind end of file" },
	[XF_D_UNWRITTEN] = { FSA_PREALLOCATED, "unwritten extents" },
	[XF_D_BEYOND_EOF] = { FSA_PREALLOCATED, "whole blocks behind end of file" },
	[XF_D_COW_STAGING] = { FSA_PREALLOCATED, "copy-on-write staging" },
	[XF_D_DELETED_OPEN] = { FSA_UNREFERENCED, "blocks of inodes deleted while open" },
};

static void xf_close(struct fsa_fs *fs)
{
	free(fs->state);
	fs->state = NULL;
}

/* Names of libblkid. */
static const char *const xf_types[] = { "xfs", "xfs_external_log", NULL };

extern const struct fsa_parser fsa_xfs_parser;

const struct fsa_parser fsa_xfs_parser = {
	.name = "xfs",
	.types = xf_types,
	.details = xf_details,
	.n_details = XF_DETAILS,
	.open = xf_open,
	.close = xf_close,
	.summary = xf_summary,
	.statfs = xf_statfs,
	.geometry = xf_geometry,
	.audit = xf_audit,
	.root = xf_root,
	.stat = xf_stat,
	.readdir = xf_readdir,
	.extents = xf_extents,
	.readlink = xf_readlink,
	.xattrs = xf_xattrs,
	.ref_of_number = xf_ref_of_number,
	.describe = xf_describe,
};
