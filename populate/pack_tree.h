/* SPDX-License-Identifier: GPL-2.0-only */
/* Packing a directory or an archive for the collection clones. */
#ifndef FSA_POP_PACK_TREE_H
#define FSA_POP_PACK_TREE_H

#include <stdbool.h>

/*
 * Packs the directory or archive (any that libarchive reads) at from into
 * the new files name and name.data, see shared/pop_tree.h.  stop (may be
 * NULL) ends it.  Returns 0 or -1 with *why set, malloc'ed.
 */
int pop_pack_tree(const char *from, const char *name,
		  bool (*stop)(void *ctx), void *ctx, char **why);

/* Whether there is a packed tree of that name. */
bool pop_is_packed_tree(const char *name);

#endif
