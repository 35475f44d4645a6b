/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A tree that collections clone: made from a seed in the shape of a kernel's
 * source, or packed from a directory or an archive.
 *
 * A packed tree is two files, NAME (a line an entry) and NAME.data (all
 * contents, one after the other), because the guest of user-mode Linux has
 * no library that unpacks archives:
 *
 *   fsassay-tree 1
 *   dir PATH MODE
 *   file PATH MODE MTIME SIZE OFFSET
 *   symlink PATH TARGET
 *   link PATH TARGET
 */
#ifndef FSA_POP_TREE_H
#define FSA_POP_TREE_H

#include "pop_source.h"

#define POP_TREE_FIRST_LINE	"fsassay-tree 1\n"

struct pop_tree_entry {
	char *path;
	char *target;		/* of symbolic and hard links */
	uint32_t mode;		/* with its type; 0: a hard link */
	int64_t mtime;
	uint64_t size;
	struct pop_source source;
};

struct pop_tree {
	struct pop_tree_entry *entries;	/* parents before children */
	size_t count, room;
	uint64_t files, bytes;
	int fd;			/* of the packed contents, else -1 */
};

/* How the sizes of a seeded tree are distributed. */
enum pop_tree_sizes {
	POP_TREE_KERNEL,	/* as in Linux 6.1: half below 4 KB, mean 16.5 KB */
	POP_TREE_12K		/* from 8 to 16 KB, most near 12 */
};

/* All return 0 or a negative errno; free the tree in any case. */
int pop_tree_seeded(struct pop_tree *t, uint64_t seed, uint64_t files,
		    enum pop_tree_sizes sizes);
int pop_tree_load(struct pop_tree *t, const char *name);
void pop_tree_free(struct pop_tree *t);

/* The size in a seeded tree's distribution at r of 2^32. */
uint64_t pop_tree_size_at(enum pop_tree_sizes sizes, uint32_t r);

#endif
