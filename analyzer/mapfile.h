/* SPDX-License-Identifier: GPL-2.0-only */
/* The used parts of an image as a mapfile of GNU ddrescue. */
#ifndef FSA_ANALYZER_MAPFILE_H
#define FSA_ANALYZER_MAPFILE_H

#include "runmap.h"

/*
 * Writes `path` ("-": standard output): what is in use as '+' (finished), what is free, or outside the
 * filesystem, as '?' (not tried), counted from the start of the first image's file. As a domain mapfile
 * (ddrescue --domain-mapfile) it restricts a rescue to the used blocks. FSA_STOP: failed, and the reason
 * is printed.
 */
enum fsa_status mapfile_write(const char *path, const struct opened *opened, const struct fsa_ledger *ledger,
			      struct runmap_sums *sums);

#endif
