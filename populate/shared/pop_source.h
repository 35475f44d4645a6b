/* SPDX-License-Identifier: GPL-2.0-only */
/* Where the bytes of a file come from: a seed, or a packed tree (pop_tree.h). */
#ifndef FSA_POP_SOURCE_H
#define FSA_POP_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pop_source {
	uint64_t seed;
	bool packed;		/* then the bytes lie in fd from at onwards */
	int fd;
	uint64_t at;
};

/*
 * The bytes at [offset, offset + len) of it.  Returns 0 or a negative errno;
 * only packed ones can fail.
 */
int pop_source_read(const struct pop_source *s, uint64_t offset, void *buf,
		    size_t len);

/* Equal sources of one size are equal content. */
bool pop_source_same(const struct pop_source *a, const struct pop_source *b);

#endif
