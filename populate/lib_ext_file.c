/* SPDX-License-Identifier: GPL-2.0-only */
/* Data of files through libext2fs. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "lib_ext.h"
#include "shared/pop_rand.h"

static int extents(const struct lib_ext *w)
{
	return ext2fs_has_feature_extents(w->fs->super) != 0;
}

/*
 * The largest file, as the kernel counts it: block numbers of 32 bits, or
 * what the three levels of indirect blocks reach and, without huge_file, an
 * inode's 32-bit number of sectors.
 */
static uint64_t max_size(const struct lib_ext *w)
{
	uint64_t bs = w->fs->blocksize, per = bs / 4;
	uint64_t blocks = UINT32_MAX;

	if (extents(w))
		return blocks * bs;
	if (12 + per + per * per + per * per * per < blocks)
		blocks = 12 + per + per * per + per * per * per;
	if (!ext2fs_has_feature_huge_file(w->fs->super) &&
	    blocks > UINT32_MAX / (bs / 512))
		blocks = UINT32_MAX / (bs / 512);
	return blocks * bs;
}

static errcode_t write_range(struct lib_ext *w, ext2_file_t file,
			     const struct pop_source *source,
			     const struct pop_range *range)
{
	uint64_t at = range->offset, end = range->offset + range->length;
	errcode_t err = ext2fs_file_llseek(file, at, EXT2_SEEK_SET, NULL);

	while (!err && at < end) {
		uint64_t left = end - at;
		unsigned int n = left < LIB_EXT_BUF ? (unsigned int)left :
			(unsigned int)LIB_EXT_BUF;
		unsigned int written = 0;

		/* Numbers below the library's own are errno. */
		err = -pop_source_read(source, at, w->buf, n);
		if (!err)
			err = ext2fs_file_write(file, w->buf, n, &written);
		if (!err && written != n)
			err = EXT2_ET_SHORT_WRITE;
		at += n;
	}
	return err;
}

static int write_ranges(struct lib_ext *w, ext2_ino_t ino,
			const struct pop_op *op, bool set_size)
{
	ext2_file_t file;
	errcode_t err, last;
	__u64 size;

	for (size_t i = 0; i < op->data_count; i++)
		if (op->data[i].offset + op->data[i].length > max_size(w))
			return -EFBIG;
	err = ext2fs_file_open(w->fs, ino, EXT2_FILE_WRITE, &file);
	if (err)
		return lib_ext_error(w, err);
	for (size_t i = 0; !err && i < op->data_count; i++)
		err = write_range(w, file, &op->source, &op->data[i]);
	if (!err)
		err = ext2fs_file_get_lsize(file, &size);
	if (!err && set_size && size != op->size)
		err = ext2fs_file_set_size2(file, (ext2_off64_t)op->size);
	last = ext2fs_file_close(file);
	return lib_ext_error(w, err ? err : last);
}

/* Small files go into the inode where it can hold data. */
static bool wants_inline(const struct lib_ext *w, const struct pop_op *op)
{
	return ext2fs_has_feature_inline_data(w->fs->super) &&
		op->size < w->fs->blocksize && op->size < 4096 &&
		(op->size == 0 || (op->data_count == 1 &&
				   op->data[0].offset == 0 &&
				   op->data[0].length == op->size));
}

/*
 * A file in one piece gets its blocks at once: one after the other costs a
 * search of the map each.  Only blocks that are filled from end to end: the
 * library would keep what lies behind the data in others.
 */
static errcode_t allocate(struct lib_ext *w, ext2_ino_t ino,
			  const struct pop_op *op)
{
	uint64_t bs = w->fs->blocksize, first, end;

	if (op->data_count != 1 || op->data[0].length < 8 * bs)
		return 0;
	first = (op->data[0].offset + bs - 1) / bs;
	end = (op->data[0].offset + op->data[0].length) / bs;
	return ext2fs_fallocate(w->fs, EXT2_FALLOCATE_FORCE_INIT, ino, NULL,
				~0ULL, first, end - first);
}

int lib_ext_create(struct lib_ext *w, ext2_ino_t dir, ext2_ino_t ino,
		   const struct pop_op *op)
{
	struct ext2_inode inode = { 0 };
	bool in_inode = wants_inline(w, op);
	ext2_extent_handle_t handle;
	errcode_t err = 0;

	(void)dir;
	if (op->size > max_size(w))
		return -EFBIG;
	inode.i_mode = (__u16)(LINUX_S_IFREG | (op->mode & 07777));
	inode.i_links_count = 1;
	lib_ext_owner(&inode, op->uid, op->gid);
	if (in_inode) {
		inode.i_flags |= EXT4_INLINE_DATA_FL;
	} else if (extents(w)) {
		/* Opening an empty map writes its head into the inode. */
		inode.i_flags |= EXT4_EXTENTS_FL;
		err = ext2fs_extent_open2(w->fs, ino, &inode, &handle);
		if (!err)
			ext2fs_extent_free(handle);
	}
	if (!err)
		err = ext2fs_write_new_inode(w->fs, ino, &inode);
	if (err)
		return lib_ext_error(w, err);
	ext2fs_inode_alloc_stats2(w->fs, ino, 1, 0);
	if (in_inode)
		err = ext2fs_inline_data_init(w->fs, ino);
	else
		err = allocate(w, ino, op);
	if (err)
		return lib_ext_error(w, err);
	return write_ranges(w, ino, op, true);
}

/*
 * Out of the inode and into blocks.  The library does that when a write no
 * longer fits, so such a write is made and taken back.  Its own change over in
 * the midst of a larger write runs past its buffer (1.47.0).
 */
static errcode_t leave_inode(struct lib_ext *w, ext2_ino_t ino)
{
	static const char one;
	struct ext2_inode inode;
	ext2_file_t file;
	unsigned int written;
	__u64 size;
	errcode_t err, last;

	err = ext2fs_read_inode(w->fs, ino, &inode);
	if (err || !(inode.i_flags & EXT4_INLINE_DATA_FL))
		return err;
	err = ext2fs_file_open(w->fs, ino, EXT2_FILE_WRITE, &file);
	if (err)
		return err;
	err = ext2fs_file_get_lsize(file, &size);
	if (!err)
		err = ext2fs_file_llseek(file, 16 * w->fs->blocksize,
					 EXT2_SEEK_SET, NULL);
	if (!err)
		err = ext2fs_file_write(file, &one, 1, &written);
	if (!err)
		err = ext2fs_file_set_size2(file, (ext2_off64_t)size);
	last = ext2fs_file_close(file);
	return err ? err : last;
}

int lib_ext_write(struct lib_ext *w, ext2_ino_t ino, const struct pop_op *op)
{
	errcode_t err = leave_inode(w, ino);

	return err ? lib_ext_error(w, err) : write_ranges(w, ino, op, false);
}

int lib_ext_truncate(struct lib_ext *w, ext2_ino_t ino, uint64_t size)
{
	ext2_file_t file;
	errcode_t err, last;

	if (size > max_size(w))
		return -EFBIG;
	err = leave_inode(w, ino);
	if (!err)
		err = ext2fs_file_open(w->fs, ino, EXT2_FILE_WRITE, &file);
	if (err)
		return lib_ext_error(w, err);
	err = ext2fs_file_set_size2(file, (ext2_off64_t)size);
	last = ext2fs_file_close(file);
	return lib_ext_error(w, err ? err : last);
}

int lib_ext_prealloc(struct lib_ext *w, ext2_ino_t ino,
		     const struct pop_op *op)
{
	uint64_t bs = w->fs->blocksize;
	uint64_t end = op->range.offset + op->range.length;
	struct ext2_inode inode;
	errcode_t err;

	if (!extents(w))
		return -EOPNOTSUPP;
	if (end > max_size(w))
		return -EFBIG;
	err = leave_inode(w, ino);
	if (!err)
		err = ext2fs_fallocate(w->fs, EXT2_FALLOCATE_FORCE_UNINIT,
			ino, NULL, ~0ULL, op->range.offset / bs,
			(end + bs - 1) / bs - op->range.offset / bs);
	if (err || op->keep_size)
		return lib_ext_error(w, err);
	err = ext2fs_read_inode(w->fs, ino, &inode);
	if (!err && EXT2_I_SIZE(&inode) < end) {
		err = ext2fs_inode_size_set(w->fs, &inode, (ext2_off64_t)end);
		if (!err)
			err = ext2fs_write_inode(w->fs, ino, &inode);
	}
	return lib_ext_error(w, err);
}
