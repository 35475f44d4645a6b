/* SPDX-License-Identifier: GPL-2.0-only */
/* A format made up for tests: a table of inodes and an image of bytes. */
#ifndef FSA_TESTS_MOCK_FS_H
#define FSA_TESTS_MOCK_FS_H

#include "fsa/read.h"

struct mock_name {
	const char *name;
	size_t length;		/* 0: strlen */
	uint64_t inode;
	bool typed;		/* the entry tells the type */
};

struct mock_inode {
	enum fsa_type type;
	uint64_t size;
	const struct mock_name *names;
	size_t n_names;
	const struct fsa_extent *extents;
	size_t n_extents;
	enum fsa_status after;	/* what extents or readdir return at their end */
};

struct mock {
	const struct mock_inode *inodes;
	size_t n_inodes;
	unsigned decodes;
	uint64_t chain;		/* inodes from here on are made up: each holds the next one */
};

#define MOCK_IMAGE_SIZE (3u << 20)

struct mock_fs {
	struct fsa_fs fs;
	struct mock mock;
	uint8_t *bytes;		/* of the image */
};

/* The reference of inode `number`. */
struct fsa_ref mock_ref(uint64_t number);

void mock_begin(struct mock_fs *f, const struct mock_inode *inodes, size_t n);
void mock_end(struct mock_fs *f);
/* True when some finding holds `text`. */
bool mock_found(const struct mock_fs *f, const char *text);

#define DIR_OF(list) .type = FSA_TYPE_DIRECTORY, .names = list, .n_names = sizeof(list) / sizeof(list[0])
#define FILE_OF(list, bytes) .type = FSA_TYPE_REGULAR, .size = bytes, .extents = list, \
	.n_extents = sizeof(list) / sizeof(list[0])

#endif
