/* SPDX-License-Identifier: GPL-2.0-only */
/* The first path under which each file with several links was met. */
#ifndef FSA_ANALYZER_FIRSTPATH_H
#define FSA_ANALYZER_FIRSTPATH_H

#include <stddef.h>

#include "fsa/ref.h"

struct firstpath_slot {
	struct fsa_ref ref;
	size_t at;		/* of the path in `paths`, plus 1; 0: empty */
	size_t length;		/* 0: forgotten */
};

/* Zero-initialise. */
struct firstpath {
	struct firstpath_slot *slots;
	size_t room, count;
	char *paths;
	size_t paths_length, paths_room;
};

/*
 * Looks `ref` up, and remembers `path` for it when it is new. *first and *first_length become the path it
 * was first met under, which is valid until the next call. False when out of memory.
 */
bool firstpath_meet(struct firstpath *map, struct fsa_ref ref, const char *path, size_t length,
		    const char **first, size_t *first_length);
/* True when `ref` was met and not forgotten. */
bool firstpath_has(const struct firstpath *map, struct fsa_ref ref);
/* The path that `ref` was first met under leads to nothing: the next one will be the first. */
void firstpath_forget(struct firstpath *map, struct fsa_ref ref);
void firstpath_free(struct firstpath *map);

#endif
