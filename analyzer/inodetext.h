/* SPDX-License-Identifier: GPL-2.0-only */
/* What an inode holds, in words. By value, so that several fit into one printf. */
#ifndef FSA_ANALYZER_INODETEXT_H
#define FSA_ANALYZER_INODETEXT_H

#include "fsa/parser.h"

struct inodetext {
	char text[48];
};

/* "drwxr-xr-x", as ls prints it. */
struct inodetext inodetext_mode(enum fsa_type type, uint32_t mode);
/*
 * ISO 8601, always UTC, so that it is the same wherever it is printed: "2004-02-29T11:22:33Z", with nine
 * decimals when `nanoseconds`. "-" when the time is not set; "@SECONDS" when no calendar has such a year.
 */
struct inodetext inodetext_time(const struct fsa_time *time, bool nanoseconds);
/* "regular file", "directory" and so on; static. */
const char *inodetext_type(enum fsa_type type);
/* One word for JSON: "file", "directory", "symlink", ...; static. */
const char *inodetext_type_word(enum fsa_type type);
const char *inodetext_extent_kind(enum fsa_extent_kind kind);	/* "data", "hole", ...; static */

#endif
