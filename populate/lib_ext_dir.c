/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Entries of directories through libext2fs.  Its own functions search the
 * directory from its start, for each name: here a new name, of which the
 * caller knows that it is new, goes into the last block or into one behind
 * it, and a name is removed from the block that it was put into.
 */
#include <stdlib.h>
#include <string.h>

#include "lib_ext.h"

/* Bytes of a record with a name of that length. */
static unsigned int record_size(size_t name_len)
{
	return (unsigned int)(8 + name_len + 3) & ~3U;
}

/* Where the records end: a checksum lies behind them. */
static unsigned int records_end(const struct lib_ext *w)
{
	return w->fs->blocksize -
		(ext2fs_has_feature_metadata_csum(w->fs->super) ?
		 (unsigned int)sizeof(struct ext2_dir_entry_tail) : 0);
}

static struct ext2_dir_entry *record_at(struct lib_ext *w, unsigned int at)
{
	return (struct ext2_dir_entry *)(void *)(w->block + at);
}

/* Its length, 0 where the block makes no sense. */
static unsigned int length_at(struct lib_ext *w, unsigned int at)
{
	unsigned int length;

	if (at + 8 > records_end(w) ||
	    ext2fs_get_rec_len(w->fs, record_at(w, at), &length) ||
	    length < 8 || length > records_end(w) - at)
		return 0;
	return length;
}

static errcode_t fill_record(struct lib_ext *w, unsigned int at,
			     unsigned int length, const char *name,
			     ext2_ino_t ino, int type)
{
	struct ext2_dir_entry *e = record_at(w, at);
	int len = (int)strlen(name);

	e->inode = ino;
	ext2fs_dirent_set_name_len(e, len);
	ext2fs_dirent_set_file_type(e, 0);
	if (ext2fs_has_feature_filetype(w->fs->super))
		ext2fs_dirent_set_file_type(e, type);
	memcpy(e->name, name, (size_t)len);
	return ext2fs_set_rec_len(w->fs, length, e);
}

/* Puts it into the block in memory; EXT2_ET_DIR_NO_SPACE when it is full. */
static errcode_t put(struct lib_ext *w, const char *name, ext2_ino_t ino,
		     int type)
{
	unsigned int want = record_size(strlen(name)), length, used;
	errcode_t err;

	for (unsigned int at = 0; at < records_end(w); at += length) {
		struct ext2_dir_entry *e = record_at(w, at);

		length = length_at(w, at);
		if (!length)
			return EXT2_ET_DIR_CORRUPTED;
		used = e->inode ? record_size((size_t)
			ext2fs_dirent_name_len(e)) : 0;
		if (length < used + want)
			continue;
		if (used) {
			err = ext2fs_set_rec_len(w->fs, used, e);
			if (err)
				return err;
		}
		return fill_record(w, at + used, length - used, name, ino,
				   type);
	}
	return EXT2_ET_DIR_NO_SPACE;
}

/* A block more, empty, in memory. */
static errcode_t append(struct lib_ext *w, ext2_ino_t dir,
			struct ext2_inode *inode, blk64_t logical,
			blk64_t *physical)
{
	char *empty;
	errcode_t err = ext2fs_bmap2(w->fs, dir, inode, NULL, BMAP_ALLOC,
				     logical, NULL, physical);

	if (!err)
		err = ext2fs_new_dir_block(w->fs, 0, 0, &empty);
	if (err)
		return err;
	memcpy(w->block, empty, w->fs->blocksize);
	ext2fs_free_mem(&empty);
	err = ext2fs_inode_size_set(w->fs, inode, (ext2_off64_t)
		((logical + 1) * w->fs->blocksize));
	return err ? err : ext2fs_write_inode(w->fs, dir, inode);
}

static errcode_t read_block(struct lib_ext *w, ext2_ino_t dir,
			    struct ext2_inode *inode, blk64_t logical,
			    blk64_t *physical)
{
	errcode_t err = ext2fs_bmap2(w->fs, dir, inode, NULL, 0, logical,
				     NULL, physical);

	if (!err && !*physical)
		err = EXT2_ET_DIR_CORRUPTED;
	return err ? err : ext2fs_read_dir_block4(w->fs, *physical, w->block,
						  0, dir);
}

errcode_t lib_ext_enter(struct lib_ext *w, ext2_ino_t dir, const char *name,
			ext2_ino_t ino, int type, uint32_t *block)
{
	struct ext2_inode inode;
	blk64_t logical, physical;
	errcode_t err = ext2fs_read_inode(w->fs, dir, &inode);

	*block = 0;
	if (!err && inode.i_flags & EXT4_INLINE_DATA_FL) {
		err = ext2fs_link(w->fs, dir, name, ino, type);
		if (err != EXT2_ET_DIR_NO_SPACE)
			return err;
		/* Out of the inode, into the first block. */
		err = ext2fs_expand_dir(w->fs, dir);
		if (!err)
			err = ext2fs_read_inode(w->fs, dir, &inode);
	}
	if (err)
		return err;
	logical = EXT2_I_SIZE(&inode) / w->fs->blocksize;
	if (!logical)
		return EXT2_ET_DIR_CORRUPTED;
	err = read_block(w, dir, &inode, --logical, &physical);
	if (!err)
		err = put(w, name, ino, type);
	if (err == EXT2_ET_DIR_NO_SPACE) {
		err = append(w, dir, &inode, ++logical, &physical);
		if (!err)
			err = put(w, name, ino, type);
	}
	*block = (uint32_t)logical;
	return err ? err : ext2fs_write_dir_block4(w->fs, physical, w->block,
						   0, dir);
}

errcode_t lib_ext_leave(struct lib_ext *w, ext2_ino_t dir, const char *name,
			ext2_ino_t ino, uint32_t block)
{
	unsigned int length, last = 0;
	struct ext2_inode inode;
	blk64_t physical;
	errcode_t err = ext2fs_read_inode(w->fs, dir, &inode);

	if (!err && (inode.i_flags & EXT4_INLINE_DATA_FL ||
		     block == LIB_EXT_ANY_BLOCK))
		return ext2fs_unlink(w->fs, dir, name, ino, 0);
	if (!err)
		err = read_block(w, dir, &inode, block, &physical);
	for (unsigned int at = 0; !err && at < records_end(w); at += length) {
		struct ext2_dir_entry *e = record_at(w, at);

		length = length_at(w, at);
		if (!length)
			return EXT2_ET_DIR_CORRUPTED;
		if (e->inode != ino ||
		    (size_t)ext2fs_dirent_name_len(e) != strlen(name) ||
		    memcmp(e->name, name, strlen(name))) {
			last = at;
			continue;
		}
		e->inode = 0;
		/* All but the first become part of the one before. */
		if (at)
			err = ext2fs_set_rec_len(w->fs, at + length - last,
						 record_at(w, last));
		return err ? err : ext2fs_write_dir_block4(w->fs, physical,
							   w->block, 0, dir);
	}
	return err ? err : EXT2_ET_DIR_CORRUPTED;
}
