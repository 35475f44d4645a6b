/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * df as the kernel module makes it: reiser4_statfs (super_ops.c) and the reserve of super.c, 51/1024 of all
 * blocks, which is taken off the size and off the free blocks. Inodes are not counted.
 */
#include "reiser4.h"

enum fsa_status r4_statfs(struct fsa_fs *fs, bool read_only, struct fsa_statfs *s)
{
	struct r4 *r = r4_of(fs);
	uint64_t reserve = (r->blocks * 51) >> 10, free_blocks = fsa_min(r->free_blocks, r->blocks);

	(void)read_only;	/* the same both ways */
	*s = (struct fsa_statfs){ .block_size = r->block_size, .kernel = "Reiser4 module for Linux 5.x" };
	fsa_statfs_add(s, FSA_DF_SIZE, (int64_t)r->blocks, "blocks of the filesystem");
	fsa_statfs_add(s, FSA_DF_SIZE, -(int64_t)reserve, "reserve of 51/1024");
	for (int field = FSA_DF_FREE; field <= FSA_DF_AVAILABLE; field++) {
		fsa_statfs_add(s, (enum fsa_statfs_field)field, (int64_t)free_blocks,
			       r->free_from_footer ? "free blocks by the journal footer" : "free blocks by the format superblock");
		fsa_statfs_add(s, (enum fsa_statfs_field)field, -(int64_t)fsa_min(reserve, free_blocks), "reserve of 51/1024");
	}
	return FSA_OK;
}
