/* SPDX-License-Identifier: GPL-2.0-only */
/* What the parts of the libreiser4 writer share. */
#ifndef FSA_POP_LIB_REISER4_H
#define FSA_POP_LIB_REISER4_H

#include <reiser4/libreiser4.h>

#include "pop_lib.h"
#include "shared/pop_names.h"
#include "shared/pop_op.h"

/* A range of a regular file and where its content came from. */
struct lib_reiser4_piece {
	struct pop_source source;
	uint64_t offset, length;
};

/*
 * What is in a regular file. Kept because a file whose size crosses a limit
 * of its tail policy, and a compressed one, are written anew.
 */
struct lib_reiser4_file {
	unsigned names;
	uint64_t size;
	struct lib_reiser4_piece *pieces;	/* later ones overwrite */
	size_t count, room;
};

struct lib_reiser4_name {
	reiser4_key_t key;		/* of the stat data */
	struct lib_reiser4_file *file;	/* regular files only */
};

struct lib_reiser4 {
	struct pop_writer writer;
	aal_device_t *device;
	reiser4_fs_t *fs;
	uint32_t block_size;
	int fd;				/* for blocks of data */
	blk_t next_block;		/* where to look for free ones */
	unsigned char *buf, *packed;	/* LIB_REISER4_BUF bytes each */
	/* From paths to places in the list. */
	struct pop_names names;
	struct lib_reiser4_name *list;	/* the first stands for no place */
	size_t count, room;
};

/* The largest cluster of compressed files, and more than the smallest. */
#define LIB_REISER4_BUF	((size_t)64 * 1024)

/* lib_reiser4_file.c: data of files; return a negative errno. */
struct lib_reiser4_file *lib_reiser4_file_new(const struct pop_op *op);
void lib_reiser4_file_put(struct lib_reiser4_file *file);
/* Writes all of it; what is there is replaced. */
int lib_reiser4_fill(struct lib_reiser4 *w, reiser4_object_t *object,
		     const struct lib_reiser4_file *file);
int lib_reiser4_write(struct lib_reiser4 *w, reiser4_object_t *object,
		      struct lib_reiser4_file *file, const struct pop_op *op);
int lib_reiser4_empty(struct lib_reiser4 *w, reiser4_object_t *object);
int lib_reiser4_truncate(struct lib_reiser4 *w, reiser4_object_t *object,
			 struct lib_reiser4_file *file, uint64_t size);

/* lib_reiser4_pack.c */
/*
 * Compresses a cluster as the kernel's plugin of that number does; returns
 * its size on disk with the checksum, or 0 when it is to be stored as it is.
 */
size_t lib_reiser4_pack(unsigned plugin, const unsigned char *from,
			size_t length, unsigned char *to, size_t room);

/* lib_reiser4_inode.c: stat data; return a negative errno. */
struct lib_reiser4_attr {
	bool set_mode, set_time, set_size, set_device, set_links;
	uint32_t mode, uid, gid;	/* mode without the type */
	uint64_t size, bytes;
	uint32_t sec, nsec;
	uint32_t device, links;
};
int lib_reiser4_set_attr(struct lib_reiser4 *w, reiser4_object_t *object,
			 const struct lib_reiser4_attr *attr);

#endif
