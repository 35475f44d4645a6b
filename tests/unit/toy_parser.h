/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A filesystem format of our own invention, for tests of what stands above the formats: small enough to be
 * known byte by byte, with faults that can be switched on.
 *
 * 256 blocks of 512 bytes: superblock, bitmap, 8 blocks of inodes (128 bytes each, 32 in all), the rest for
 * files. The tree that toy_make() lays down:
 *
 *	/			inode 1, one block
 *	/hello			inode 2, 1000 bytes in 2 blocks, second name /dir/hard
 *	/dir			inode 3, one block
 *	/dir/big		inode 4, 10000 bytes: blocks 0-7, a hole of 4 blocks, blocks 12-19
 *	/link			inode 5, symbolic link to "hello", its target in the inode
 *	/dir/small		inode 6, 20 bytes inline
 *	/dir/\xff\x01		inode 7, empty, a name that is not UTF-8
 *	(no name)		inode 8, internal, 4 blocks: the journal
 */
#ifndef TOY_PARSER_H
#define TOY_PARSER_H

#include "fsa/parser.h"

#define TOY_BLOCK 512u
#define TOY_BLOCKS 256u
#define TOY_SIZE ((size_t)TOY_BLOCK * TOY_BLOCKS)

enum toy_faults {
	TOY_LOST = 1,		/* blocks 200-202 are allocated and belong to nothing */
	TOY_CONFLICT = 2,	/* the first block of /dir/big is the first of /hello */
	TOY_USED_FREE = 4,	/* the second block of /hello is free in the map */
	TOY_COUNTER = 8,	/* the free counter is 7 too high */
	TOY_LAZY = 16,		/* ... and the format keeps it lazily */
	TOY_ST_BLOCKS = 32,	/* st_blocks of /dir/big is 2 more than it has */
};

/* What the healthy image holds. */
#define TOY_USED_BLOCKS 34u	/* 10 metadata, 2 directories, 2 + 16 files, 4 journal */
#define TOY_SIZES 11020u
#define TOY_PAYLOAD (1000u + 10000u - 4u * TOY_BLOCK + 20u)

void toy_make(uint8_t image[TOY_SIZE], unsigned faults);

extern const struct fsa_parser toy_parser;

/* An open filesystem over the bytes, which must outlive it: close with fsa_close, then the image. */
enum fsa_status toy_open(const uint8_t *bytes, size_t size, struct fsa_findings *findings,
			 struct fsa_image **image, struct fsa_fs **fs);

#endif
