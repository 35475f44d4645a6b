/* SPDX-License-Identifier: GPL-2.0-only */
#include "fsa/purpose.h"

#include <stddef.h>

static const struct {
	const char *name;
	const char *meaning;
} purposes[FSA_PURPOSES] = {
	[FSA_SUPERBLOCK] = { "superblock", "superblocks and their copies, boot area, labels" },
	[FSA_GEOMETRY] = { "geometry", "group descriptors, AG headers, chunk tree, and their copies" },
	[FSA_ALLOCATION] = { "allocation", "block and inode bitmaps, free-space B-trees, dmap pages, extent tree" },
	[FSA_JOURNAL] = { "journal", "log or journal with its headers" },
	[FSA_INODE] = { "inode", "inode records in use, stat data" },
	[FSA_INODE_FREE] = { "inode-free", "inode slots that exist on disk and are unused" },
	[FSA_DIRECTORY] = { "directory", "names and their indexes" },
	[FSA_MAPPING] = { "mapping", "indirect blocks, extent-tree nodes, bmap B-trees, extent items" },
	[FSA_XATTR] = { "xattr", "extended attributes and ACLs" },
	[FSA_SYMLINK] = { "symlink", "targets of symbolic links" },
	[FSA_TREE] = { "tree", "node headers, item headers, keys and pointers of shared trees" },
	[FSA_NODE_FREE] = { "node-free", "unused bytes inside metadata nodes and metadata blocks" },
	[FSA_CHECKSUM] = { "checksum", "checksum tree, verity data" },
	[FSA_QUOTA] = { "quota", "quota files" },
	[FSA_FILE_DATA] = { "file-data", "bytes of files in their own blocks, up to end of file" },
	[FSA_FILE_TAIL] = { "file-tail", "bytes of files packed with others or into metadata (tails, inline data)" },
	[FSA_FILE_SLACK] = { "file-slack", "bytes between the end of a file and the end of its last block or cluster" },
	[FSA_PREALLOCATED] = { "preallocated", "allocated but unwritten, or wholly behind end of file" },
	[FSA_UNREFERENCED] = { "unreferenced", "held by deleted but open files, or by parts of extents no file reads" },
	[FSA_RESERVED] = { "reserved", "set aside by the format and usable by nothing else" },
	[FSA_FREE] = { "free", "free for use" },
	[FSA_LOST] = { "lost", "allocated but reachable from nothing" },
	[FSA_OUTSIDE] = { "outside", "image bytes behind the end of the filesystem" },
};

const char *fsa_purpose_name(enum fsa_purpose purpose)
{
	return (unsigned)purpose < FSA_PURPOSES ? purposes[purpose].name : NULL;
}

const char *fsa_purpose_meaning(enum fsa_purpose purpose)
{
	return (unsigned)purpose < FSA_PURPOSES ? purposes[purpose].meaning : NULL;
}
