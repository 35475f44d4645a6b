/* SPDX-License-Identifier: GPL-2.0-only */
/* df as the kernel makes it: jfs_statfs of Linux 6.1 (fs/jfs/super.c). It is the same read-only. */
#include "jfs.h"

enum fsa_status jfs_statfs(struct fsa_fs *fs, bool read_only, struct fsa_statfs *s)
{
	struct jfs *j = jfs_of(fs);
	uint64_t free_blocks = 0, inodes = 0, free_inodes = 0, possible, total;
	uint32_t log = 2;

	(void)read_only;
	*s = (struct fsa_statfs){ .block_size = JFS_PAGE, .kernel = "Linux 6.1 jfs driver" };
	if (j->log_device)
		return FSA_EUNSUPPORTED;
	if (j->bmap_control_ok) {
		fsa_statfs_add(s, FSA_DF_SIZE, (int64_t)JFS_BC64(j->bmap_control, dn_mapsize), "blocks of the block map");
		free_blocks = JFS_BC64(j->bmap_control, dn_nfree);
	}
	fsa_statfs_add(s, FSA_DF_FREE, (int64_t)free_blocks, "free blocks noted in the block map");
	fsa_statfs_add(s, FSA_DF_AVAILABLE, (int64_t)free_blocks, "free blocks");
	if (j->imap_control_ok) {
		inodes = JFS_IC32(j->imap_control, in_numinos);
		free_inodes = JFS_IC32(j->imap_control, in_numfree);
		log = JFS_IC32(j->imap_control, in_l2nbperiext) & 31;
	}
	/* Inodes are made on demand: what there is, and 32 for each inode extent that free blocks would make. */
	possible = free_blocks >> log << 5;
	total = fsa_min(inodes + possible, UINT32_MAX);
	fsa_statfs_add(s, FSA_DF_FILES, (int64_t)inodes, "inodes that exist");
	fsa_statfs_add(s, FSA_DF_FILES, (int64_t)(total - inodes), "inodes that free blocks have room for");
	fsa_statfs_add(s, FSA_DF_FILES_FREE, (int64_t)total, "all of them");
	fsa_statfs_add(s, FSA_DF_FILES_FREE, -(int64_t)(inodes - free_inodes), "inodes in use");
	return FSA_OK;
}
