/* SPDX-License-Identifier: GPL-2.0-only */
/* What the parts of the libext2fs writer share. */
#ifndef FSA_POP_LIB_EXT_H
#define FSA_POP_LIB_EXT_H

#include <ext2fs/ext2_fs.h>
#include <ext2fs/ext2fs.h>
#include <et/com_err.h>

#include "pop_lib.h"
#include "shared/pop_names.h"
#include "shared/pop_op.h"

struct lib_ext {
	struct pop_writer writer;
	ext2_filsys fs;
	unsigned char *buf;
	char *block;		/* one, of a directory */
	/*
	 * The inode of each path, and shifted by 32 the block of the directory
	 * that names it: looking it up on the disk is a linear search.
	 */
	struct pop_names names;
	errcode_t last;		/* the library's own words for a failure */
};

/* A library's error as a negative errno, remembered for the message. */
int lib_ext_error(struct lib_ext *w, errcode_t err);

/*
 * lib_ext_dir.c: a new name into a directory, and which of its blocks it is
 * in; and a name out of that block.
 */
errcode_t lib_ext_enter(struct lib_ext *w, ext2_ino_t dir, const char *name,
			ext2_ino_t ino, int type, uint32_t *block);
/* As a place: not known, to be searched for. */
#define LIB_EXT_ANY_BLOCK	UINT32_MAX

errcode_t lib_ext_leave(struct lib_ext *w, ext2_ino_t dir, const char *name,
			ext2_ino_t ino, uint32_t block);

/* lib_ext_file.c: operations on a file's data; return a negative errno. */
int lib_ext_create(struct lib_ext *w, ext2_ino_t dir, ext2_ino_t ino,
		   const struct pop_op *op);
int lib_ext_write(struct lib_ext *w, ext2_ino_t ino, const struct pop_op *op);
int lib_ext_truncate(struct lib_ext *w, ext2_ino_t ino, uint64_t size);
int lib_ext_prealloc(struct lib_ext *w, ext2_ino_t ino,
		     const struct pop_op *op);

/* lib_ext_inode.c: attributes. */
int lib_ext_set_attr(struct lib_ext *w, ext2_ino_t ino, uint32_t mode,
		     uint32_t uid, uint32_t gid);
int lib_ext_set_time(struct lib_ext *w, ext2_ino_t ino, int64_t sec,
		     uint32_t nsec);
int lib_ext_set_xattr(struct lib_ext *w, ext2_ino_t ino,
		      const struct pop_op *op);
void lib_ext_owner(struct ext2_inode *inode, uint32_t uid, uint32_t gid);

/* lib_ext_quota.c */
int lib_ext_finish(struct pop_job *job);

#define LIB_EXT_BUF	((size_t)256 * 1024)

#endif
