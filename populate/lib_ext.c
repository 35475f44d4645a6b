/* SPDX-License-Identifier: GPL-2.0-only */
/* Filling ext2, ext3 and ext4 in process: libext2fs as a writer. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "lib_ext.h"

/* Links that ext4 allows. */
#define LINK_MAX_EXT	65000

int lib_ext_error(struct lib_ext *w, errcode_t err)
{
	if (!err)
		return 0;
	w->last = err;
	/* Below the library's own tables lie the system's. */
	if (err > 0 && err < 256)
		return -(int)err;
	switch (err) {
	case EXT2_ET_NO_MEMORY:
		return -ENOMEM;
	case EXT2_ET_BLOCK_ALLOC_FAIL:
	case EXT2_ET_INODE_ALLOC_FAIL:
	case EXT2_ET_EA_NO_SPACE:
		return -ENOSPC;
	case EXT2_ET_FILE_TOO_BIG:
		return -EFBIG;
	default:
		return -EIO;
	}
}

static int remember(struct lib_ext *w, const char *path, ext2_ino_t ino,
		    uint32_t block)
{
	return pop_names_set(&w->names, path, ino | (uint64_t)block << 32);
}

/* Number and place of a name; of an image that was filled before once from the disk. */
static uint64_t value_of(struct lib_ext *w, const char *path)
{
	ext2_ino_t ino;

	if (!pop_names_known(&w->names, path) &&
	    !ext2fs_namei(w->fs, EXT2_ROOT_INO, EXT2_ROOT_INO, path, &ino))
		remember(w, path, ino, LIB_EXT_ANY_BLOCK);
	return pop_names_get(&w->names, path);
}

static ext2_ino_t ino_of(struct lib_ext *w, const char *path)
{
	return (ext2_ino_t)value_of(w, path);
}

/* The directory that a path lies in, and its last part. */
static int parent_of(struct lib_ext *w, const char *path, ext2_ino_t *dir,
		     const char **name)
{
	uint64_t value;
	int ret = pop_names_parent(&w->names, path, &value, name);

	if (ret == -ENOENT && *name != path) {
		char *up = strndup(path, (size_t)(*name - path) - 1);

		if (!up)
			return -ENOMEM;
		value = value_of(w, up);
		ret = value ? 0 : -ENOENT;
		free(up);
	}
	*dir = (ext2_ino_t)value;
	return ret;
}

static int file_type(uint32_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG: return EXT2_FT_REG_FILE;
	case S_IFDIR: return EXT2_FT_DIR;
	case S_IFLNK: return EXT2_FT_SYMLINK;
	case S_IFCHR: return EXT2_FT_CHRDEV;
	case S_IFBLK: return EXT2_FT_BLKDEV;
	case S_IFIFO: return EXT2_FT_FIFO;
	case S_IFSOCK: return EXT2_FT_SOCK;
	default: return EXT2_FT_UNKNOWN;
	}
}

static int make_dir(struct lib_ext *w, ext2_ino_t dir, ext2_ino_t ino,
		    const struct pop_op *op)
{
	errcode_t err = ext2fs_mkdir(w->fs, dir, ino, NULL);

	if (err)
		return lib_ext_error(w, err);
	return lib_ext_set_attr(w, ino, op->mode, op->uid, op->gid);
}

static int make_symlink(struct lib_ext *w, ext2_ino_t dir, ext2_ino_t ino,
			const struct pop_op *op)
{
	errcode_t err;

	if (strlen(op->target) >= w->fs->blocksize)
		return -ENAMETOOLONG;
	err = ext2fs_symlink(w->fs, dir, ino, NULL, op->target);
	if (err)
		return lib_ext_error(w, err);
	return lib_ext_set_attr(w, ino, 0777, op->uid, op->gid);
}

static int make_node(struct lib_ext *w, ext2_ino_t ino,
		     const struct pop_op *op)
{
	struct ext2_inode inode = { 0 };

	inode.i_mode = (__u16)op->mode;
	inode.i_links_count = 1;
	lib_ext_owner(&inode, op->uid, op->gid);
	if (S_ISCHR(op->mode) || S_ISBLK(op->mode)) {
		/* The old form as long as it holds the numbers. */
		if (op->major < 256 && op->minor < 256)
			inode.i_block[0] = op->major << 8 | op->minor;
		else
			inode.i_block[1] = (op->minor & 0xff) |
				op->major << 8 | (op->minor & ~0xffU) << 12;
	}
	ext2fs_inode_alloc_stats2(w->fs, ino, 1, 0);
	return lib_ext_error(w, ext2fs_write_new_inode(w->fs, ino, &inode));
}

static int make_file(struct lib_ext *w, ext2_ino_t dir, ext2_ino_t ino,
		     const struct pop_op *op)
{
	int ret = lib_ext_create(w, dir, ino, op);

	return ret ? ret :
		lib_ext_set_time(w, ino, op->mtime, op->mtime_nsec);
}

static int make(struct lib_ext *w, const struct pop_op *op)
{
	uint32_t type = op->kind == POP_MKDIR ? S_IFDIR :
		op->kind == POP_CREATE ? S_IFREG :
		op->kind == POP_SYMLINK ? S_IFLNK : op->mode & S_IFMT;
	uint32_t block = 0;
	ext2_ino_t dir, ino;
	const char *name;
	int ret = parent_of(w, op->path, &dir, &name);

	if (!ret && strlen(name) > EXT2_NAME_LEN)
		ret = -ENAMETOOLONG;
	if (!ret)
		ret = lib_ext_error(w, ext2fs_new_inode(w->fs, dir,
			(int)(type | 0600), 0, &ino));
	if (ret)
		return ret;
	switch (op->kind) {
	case POP_MKDIR:
		ret = make_dir(w, dir, ino, op);
		break;
	case POP_SYMLINK:
		ret = make_symlink(w, dir, ino, op);
		break;
	case POP_MKNOD:
		ret = make_node(w, ino, op);
		break;
	default:
		ret = make_file(w, dir, ino, op);
		break;
	}
	if (!ret)
		ret = lib_ext_error(w, lib_ext_enter(w, dir, name, ino,
						     file_type(type), &block));
	return ret ? ret : remember(w, op->path, ino, block);
}

static int make_link(struct lib_ext *w, const struct pop_op *op)
{
	ext2_ino_t dir, ino = ino_of(w, op->target);
	struct ext2_inode inode;
	uint32_t block = 0;
	const char *name;
	int ret = ino ? parent_of(w, op->path, &dir, &name) : -ENOENT;

	if (!ret)
		ret = lib_ext_error(w, ext2fs_read_inode(w->fs, ino, &inode));
	if (!ret && inode.i_links_count >= LINK_MAX_EXT)
		ret = -EMLINK;
	if (!ret)
		ret = lib_ext_error(w, lib_ext_enter(w, dir, name, ino,
			file_type(inode.i_mode), &block));
	if (ret)
		return ret;
	inode.i_links_count++;
	ret = lib_ext_error(w, ext2fs_write_inode(w->fs, ino, &inode));
	return ret ? ret : remember(w, op->path, ino, block);
}

/* Blocks, attributes and the inode itself become free. */
static errcode_t drop(struct lib_ext *w, ext2_ino_t ino,
		      struct ext2_inode_large *inode, int dir)
{
	struct ext2_inode *plain = (struct ext2_inode *)(void *)inode;
	errcode_t err = ext2fs_free_ext_attr(w->fs, ino, inode);

	if (err)
		return err;
	if (ext2fs_inode_has_valid_blocks2(w->fs, plain)) {
		err = ext2fs_punch(w->fs, ino, plain, NULL, 0, ~0ULL);
		if (err)
			return err;
	}
	inode->i_links_count = 0;
	inode->i_dtime = (__u32)time(NULL);
	err = ext2fs_write_inode_full(w->fs, ino, plain, sizeof(*inode));
	ext2fs_inode_alloc_stats2(w->fs, ino, -1, dir);
	return err;
}

static int remove_name(struct lib_ext *w, const struct pop_op *op)
{
	uint64_t value = value_of(w, op->path);
	ext2_ino_t dir, ino = (ext2_ino_t)value;
	int is_dir = op->kind == POP_RMDIR;
	struct ext2_inode_large inode;
	struct ext2_inode *plain = (struct ext2_inode *)(void *)&inode;
	const char *name;
	errcode_t err;
	int ret = ino ? parent_of(w, op->path, &dir, &name) : -ENOENT;

	if (ret)
		return ret;
	err = ext2fs_read_inode_full(w->fs, ino, plain, sizeof(inode));
	if (!err)
		err = lib_ext_leave(w, dir, name, ino,
				    (uint32_t)(value >> 32));
	if (!err && (is_dir || inode.i_links_count == 1)) {
		err = drop(w, ino, &inode, is_dir);
	} else if (!err) {
		inode.i_links_count--;
		err = ext2fs_write_inode_full(w->fs, ino, plain,
					      sizeof(inode));
	}
	/* The entry ".." of a directory counts for its parent. */
	if (!err && is_dir) {
		struct ext2_inode up;

		err = ext2fs_read_inode(w->fs, dir, &up);
		if (!err && up.i_links_count > 1) {
			up.i_links_count--;
			err = ext2fs_write_inode(w->fs, dir, &up);
		}
	}
	return err ? lib_ext_error(w, err) :
		pop_names_set(&w->names, op->path, 0);
}

static int ext_apply(struct pop_writer *writer, const struct pop_op *op)
{
	struct lib_ext *w = (struct lib_ext *)(void *)writer;
	ext2_ino_t ino;

	switch (op->kind) {
	case POP_MKDIR:
	case POP_CREATE:
	case POP_SYMLINK:
	case POP_MKNOD:
		return make(w, op);
	case POP_LINK:
		return make_link(w, op);
	case POP_UNLINK:
	case POP_RMDIR:
		return remove_name(w, op);
	default:
		break;
	}
	ino = ino_of(w, op->path);
	if (!ino)
		return -ENOENT;
	switch (op->kind) {
	case POP_WRITE:
		return lib_ext_write(w, ino, op);
	case POP_TRUNCATE:
		return lib_ext_truncate(w, ino, op->size);
	case POP_PREALLOC:
		return lib_ext_prealloc(w, ino, op);
	case POP_SETXATTR:
		return lib_ext_set_xattr(w, ino, op);
	case POP_SETATTR:
		return lib_ext_set_attr(w, ino, op->mode, op->uid, op->gid);
	default:
		return lib_ext_set_time(w, ino, op->mtime, op->mtime_nsec);
	}
}

static int ext_sync(struct pop_writer *writer)
{
	struct lib_ext *w = (struct lib_ext *)(void *)writer;

	return lib_ext_error(w, ext2fs_flush(w->fs));
}

static void ext_free(struct lib_ext *w)
{
	pop_names_free(&w->names);
	free(w->buf);
	free(w->block);
	free(w);
}

static int ext_open(const char *image, struct pop_writer **writer, char *why,
		    size_t why_size)
{
	struct lib_ext *w = calloc(1, sizeof(*w));
	errcode_t err;
	int ret = w ? 0 : -ENOMEM;

	if (w) {
		w->buf = malloc(LIB_EXT_BUF);
		w->block = malloc(EXT2_MAX_BLOCK_SIZE);
	}
	if (!w || !w->buf || !w->block) {
		if (w)
			ext_free(w);
		snprintf(why, why_size, "%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	w->writer = (struct pop_writer){ .apply = ext_apply, .sync = ext_sync };
	err = ext2fs_open(image, EXT2_FLAG_RW | EXT2_FLAG_64BITS, 0, 0,
			  unix_io_manager, &w->fs);
	if (err) {
		snprintf(why, why_size, "%s", error_message(err));
		ext_free(w);
		return -EIO;
	}
	err = ext2fs_read_bitmaps(w->fs);
	if (err) {
		snprintf(why, why_size, "%s", error_message(err));
		ret = -EIO;
	} else {
		ret = remember(w, ".", EXT2_ROOT_INO, 0);
	}
	if (ret) {
		ext2fs_free(w->fs);
		ext_free(w);
		return ret;
	}
	*writer = &w->writer;
	return 0;
}

static int ext_close(struct pop_writer *writer, int ret, char *why,
		     size_t why_size)
{
	struct lib_ext *w = (struct lib_ext *)(void *)writer;
	errcode_t err = ret ? w->last : 0;

	if (ret)
		ext2fs_free(w->fs);
	else
		err = ext2fs_close(w->fs);
	if (err)
		snprintf(why, why_size, "%s", error_message(err));
	ext_free(w);
	return ret ? 0 : err ? -EIO : 0;
}

const struct pop_lib pop_lib_ext = {
	.library = "libext2fs",
	.open = ext_open,
	.close = ext_close,
	.finish = lib_ext_finish,
};
