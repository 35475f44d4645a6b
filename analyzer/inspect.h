/* SPDX-License-Identifier: GPL-2.0-only */
/* Everything that can be said about one inode, gathered for `stat`. */
#ifndef FSA_ANALYZER_INSPECT_H
#define FSA_ANALYZER_INSPECT_H

#include <stddef.h>

#include "open.h"

struct inspect_xattr {
	char *name;
	uint8_t *value;
	size_t length;
};

struct inspect_line {		/* of the parser's describe() */
	char *name, *value;
};

struct inspect {
	const struct opened *opened;
	struct fsa_stat stat;
	char *path;			/* as given, or found for a number; NULL: no directory names it */
	char *target;			/* of a symbolic link, or NULL */
	size_t target_length;
	struct fsa_extent *extents;	/* `bytes` is not to be followed */
	size_t n_extents, extents_room;
	struct inspect_xattr *xattrs;
	size_t n_xattrs, xattrs_room;
	struct inspect_line *lines;
	size_t n_lines, lines_room;
	bool have_purposes;
	uint64_t detail_bytes[FSA_MAX_DETAILS];	/* by index in the parser's table */
};

/*
 * Finds `path` and gathers all but the purposes. CLI_CONSISTENT, or CLI_FAILED with the reason printed and
 * nothing to free.
 */
int inspect_path(struct inspect *inspect, const struct opened *opened, const char *path);
/* Adds the purposes of their bytes to `n` objects, by one walk over everything. False: reason printed. */
bool inspect_purposes(struct inspect *inspects, size_t n);
void inspect_free(struct inspect *inspect);

#endif
