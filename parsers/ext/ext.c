/* SPDX-License-Identifier: GPL-2.0-only */
/* ext2, ext3, ext4: what this parser can do. FORMAT.md says what it reads and what it may ignore. */
#include <stdlib.h>

#include "ext.h"

const struct fsa_detail ext_details[EXT_DETAILS] = {
	[EXT_D_BOOT] = { FSA_SUPERBLOCK, "boot area" },
	[EXT_D_SUPERBLOCK] = { FSA_SUPERBLOCK, "superblock" },
	[EXT_D_SUPERBLOCK_COPY] = { FSA_SUPERBLOCK, "superblock copies" },
	[EXT_D_DESCRIPTORS] = { FSA_GEOMETRY, "group descriptors" },
	[EXT_D_DESCRIPTORS_COPY] = { FSA_GEOMETRY, "group descriptor copies" },
	[EXT_D_BLOCK_BITMAP] = { FSA_ALLOCATION, "block bitmaps" },
	[EXT_D_INODE_BITMAP] = { FSA_ALLOCATION, "inode bitmaps" },
	[EXT_D_JOURNAL_SUPER] = { FSA_JOURNAL, "journal superblock" },
	[EXT_D_JOURNAL_LOG] = { FSA_JOURNAL, "journal log" },
	[EXT_D_JOURNAL_FAST] = { FSA_JOURNAL, "fast-commit area" },
	[EXT_D_INODE] = { FSA_INODE, "inode fields" },
	[EXT_D_INODE_DELETED] = { FSA_UNREFERENCED, "inodes deleted while open" },
	[EXT_D_INODE_FREE] = { FSA_INODE_FREE, "free inode slots" },
	[EXT_D_INODE_UNINIT] = { FSA_INODE_FREE, "never initialised inode slots" },
	[EXT_D_DIRENT] = { FSA_DIRECTORY, "directory entries" },
	[EXT_D_DIRENT_INLINE] = { FSA_DIRECTORY, "inline directory entries" },
	[EXT_D_HTREE] = { FSA_DIRECTORY, "hash-tree index" },
	[EXT_D_DIR_CHECKSUM] = { FSA_DIRECTORY, "directory block checksums" },
	[EXT_D_BLOCK_POINTERS] = { FSA_MAPPING, "block pointers in inodes" },
	[EXT_D_INDIRECT] = { FSA_MAPPING, "indirect blocks" },
	[EXT_D_EXTENT_ROOT] = { FSA_MAPPING, "extent roots in inodes" },
	[EXT_D_EXTENT_NODE] = { FSA_MAPPING, "extent tree nodes" },
	[EXT_D_XATTR_INODE] = { FSA_XATTR, "attributes in inodes" },
	[EXT_D_XATTR_BLOCK] = { FSA_XATTR, "attribute blocks" },
	[EXT_D_XATTR_VALUE] = { FSA_XATTR, "attribute values in inodes of their own" },
	[EXT_D_XATTR_INLINE_HEADER] = { FSA_XATTR, "attribute headers of inline data" },
	[EXT_D_SYMLINK_FAST] = { FSA_SYMLINK, "symlink targets in inodes" },
	[EXT_D_SYMLINK] = { FSA_SYMLINK, "symlink targets in blocks" },
	[EXT_D_FREE_DESCRIPTORS] = { FSA_NODE_FREE, "unused in descriptor blocks" },
	[EXT_D_FREE_BITMAP] = { FSA_NODE_FREE, "unused in bitmap blocks" },
	[EXT_D_FREE_INODE_TABLE] = { FSA_NODE_FREE, "unused in inode table blocks" },
	[EXT_D_FREE_I_BLOCK] = { FSA_NODE_FREE, "unused block map room of inodes" },
	[EXT_D_FREE_INODE_BODY] = { FSA_NODE_FREE, "unused attribute room of inodes" },
	[EXT_D_FREE_DIRECTORY] = { FSA_NODE_FREE, "unused in directory blocks" },
	[EXT_D_FREE_MAPPING] = { FSA_NODE_FREE, "unused in mapping blocks" },
	[EXT_D_FREE_XATTR] = { FSA_NODE_FREE, "unused in attribute blocks" },
	[EXT_D_FREE_SYMLINK] = { FSA_NODE_FREE, "unused in symlink blocks" },
	[EXT_D_VERITY] = { FSA_CHECKSUM, "verity trees behind end of file" },
	[EXT_D_QUOTA] = { FSA_QUOTA, "quota files" },
	[EXT_D_FILE_DATA] = { FSA_FILE_DATA, "file contents" },
	[EXT_D_INLINE_DATA] = { FSA_FILE_TAIL, "inline data" },
	[EXT_D_SLACK] = { FSA_FILE_SLACK, "behind end of file" },
	[EXT_D_UNWRITTEN] = { FSA_PREALLOCATED, "unwritten extents" },
	[EXT_D_BEYOND_EOF] = { FSA_PREALLOCATED, "whole blocks behind end of file" },
	[EXT_D_CLUSTER_HOLE] = { FSA_PREALLOCATED, "holes inside clusters" },
	[EXT_D_DELETED_OPEN] = { FSA_UNREFERENCED, "blocks of inodes deleted while open" },
	[EXT_D_RESIZE] = { FSA_RESERVED, "resize inode's map" },
	[EXT_D_RESERVED_GDT] = { FSA_RESERVED, "blocks for more descriptors" },
	[EXT_D_MMP] = { FSA_RESERVED, "multi-mount protection block" },
	[EXT_D_ORPHAN_FILE] = { FSA_RESERVED, "orphan file" },
	[EXT_D_BAD_BLOCKS] = { FSA_RESERVED, "bad blocks" },
	[EXT_D_BOOT_LOADER] = { FSA_RESERVED, "boot loader inode's blocks" },
	[EXT_D_RESERVED_INODE] = { FSA_RESERVED, "reserved inodes" },
	[EXT_D_CLUSTER_REST] = { FSA_RESERVED, "rest of clusters that hold metadata" },
};

static void ext_close(struct fsa_fs *fs)
{
	struct ext *e = ext_of(fs);

	ext_table_cache_free(e->cache);
	free(e->descs);
	free(e->stale);
	free(e);
	fs->state = NULL;
}

/* Names of libblkid; "jbd" is an external journal on its own. */
static const char *const ext_types[] = { "ext4", "ext3", "ext2", "ext4dev", "jbd", NULL };

extern const struct fsa_parser fsa_ext_parser;

const struct fsa_parser fsa_ext_parser = {
	.name = "ext",
	.types = ext_types,
	.details = ext_details,
	.n_details = EXT_DETAILS,
	.open = ext_open,
	.close = ext_close,
	.summary = ext_summary,
	.statfs = ext_statfs,
	.geometry = ext_geometry,
	.audit = ext_audit,
	.root = ext_root,
	.stat = ext_stat,
	.readdir = ext_readdir,
	.extents = ext_extents,
	.readlink = ext_readlink,
	.xattrs = ext_xattrs,
	.ref_of_number = ext_ref_of_number,
	.describe = ext_describe,
};
