/* SPDX-License-Identifier: GPL-2.0-only */
/* Owners, modes, times and extended attributes through libext2fs. */
#include <errno.h>
#include <string.h>

#include "lib_ext.h"

/* What 34 bits from 1901 on reach: 2446-05-10. */
#define TIME_MIN	INT64_C(-2147483648)
#define TIME_MAX	INT64_C(15032385535)

void lib_ext_owner(struct ext2_inode *inode, uint32_t uid, uint32_t gid)
{
	inode->i_uid = (__u16)uid;
	inode->i_gid = (__u16)gid;
	ext2fs_set_i_uid_high(*inode, (__u16)(uid >> 16));
	ext2fs_set_i_gid_high(*inode, (__u16)(gid >> 16));
}

int lib_ext_set_attr(struct lib_ext *w, ext2_ino_t ino, uint32_t mode,
		     uint32_t uid, uint32_t gid)
{
	struct ext2_inode inode;
	errcode_t err = ext2fs_read_inode(w->fs, ino, &inode);

	if (err)
		return lib_ext_error(w, err);
	inode.i_mode = (__u16)((inode.i_mode & LINUX_S_IFMT) |
			       (mode & 07777));
	lib_ext_owner(&inode, uid, gid);
	return lib_ext_error(w, ext2fs_write_inode(w->fs, ino, &inode));
}

/* Nanoseconds, and the two bits that widen the seconds. */
static __u32 extra_bits(int64_t sec, uint32_t nsec)
{
	uint64_t epoch = (uint64_t)(sec - (int32_t)(uint32_t)sec) >> 32;

	return (__u32)(epoch & 3) | nsec << 2;
}

int lib_ext_set_time(struct lib_ext *w, ext2_ino_t ino, int64_t sec,
		     uint32_t nsec)
{
	struct ext2_inode_large inode;
	struct ext2_inode *plain = (struct ext2_inode *)(void *)&inode;
	bool wide = EXT2_INODE_SIZE(w->fs->super) > EXT2_GOOD_OLD_INODE_SIZE;
	errcode_t err;

	if (sec < TIME_MIN || sec > (wide ? TIME_MAX : INT32_MAX) ||
	    (!wide && nsec))
		return -ERANGE;
	/* At its ends the kernel keeps full seconds only. */
	if (nsec && (sec == TIME_MIN || sec == TIME_MAX))
		return -ERANGE;
	err = ext2fs_read_inode_full(w->fs, ino, plain, sizeof(inode));
	if (err)
		return lib_ext_error(w, err);
	inode.i_mtime = inode.i_atime = (__u32)sec;
	if (wide) {
		inode.i_mtime_extra = extra_bits(sec, nsec);
		inode.i_atime_extra = inode.i_mtime_extra;
	}
	err = ext2fs_write_inode_full(w->fs, ino, plain, sizeof(inode));
	return lib_ext_error(w, err);
}

/*
 * A value in an inode of its own counts among the blocks of the inode that
 * has it, too; the kernel does so, the library does not.
 */
static errcode_t charge(struct lib_ext *w, ext2_ino_t ino, size_t len)
{
	uint64_t cluster = (uint64_t)w->fs->blocksize *
		(uint64_t)EXT2FS_CLUSTER_RATIO(w->fs);
	struct ext2_inode inode;
	errcode_t err = ext2fs_read_inode(w->fs, ino, &inode);

	if (!err)
		err = ext2fs_iblk_add_blocks(w->fs, &inode,
					     (len + cluster - 1) / cluster);
	return err ? err : ext2fs_write_inode(w->fs, ino, &inode);
}

int lib_ext_set_xattr(struct lib_ext *w, ext2_ino_t ino,
		      const struct pop_op *op)
{
	__u32 free_inodes = w->fs->super->s_free_inodes_count;
	struct ext2_xattr_handle *h;
	errcode_t err, last;

	/* More than the blocks for it hold is the same to a user as full. */
	if (op->value_len > w->fs->blocksize &&
	    !ext2fs_has_feature_ea_inode(w->fs->super))
		return -ENOSPC;
	/* The kernel, too, enters the feature with the first attribute. */
	ext2fs_set_feature_xattr(w->fs->super);
	ext2fs_mark_super_dirty(w->fs);
	err = ext2fs_xattrs_open(w->fs, ino, &h);
	if (err)
		return lib_ext_error(w, err);
	err = ext2fs_xattrs_read(h);
	if (!err)
		err = ext2fs_xattr_set(h, op->name, op->value, op->value_len);
	last = ext2fs_xattrs_close(&h);
	err = err ? err : last;
	if (!err && w->fs->super->s_free_inodes_count != free_inodes)
		err = charge(w, ino, op->value_len);
	return lib_ext_error(w, err);
}
