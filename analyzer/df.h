/* SPDX-License-Identifier: GPL-2.0-only */
/* What GNU df prints for a statfs(2) result: its rounding, its percentage, its columns. */
#ifndef FSA_ANALYZER_DF_H
#define FSA_ANALYZER_DF_H

#include <limits.h>
#include <stdint.h>
#include <stdio.h>

#include "fsa/parser.h"

#define DF_NO_PERCENT INT_MIN	/* df prints "-" */

/* Used is negative where a damaged filesystem has more free than there is; df shows it so. */
struct df_line {
	uint64_t size_kib;		/* each rounded up on its own, as df does */
	int64_t used_kib;
	uint64_t available_kib;
	int use_percent;
};

struct df_inodes {
	uint64_t total;
	int64_t used;
	uint64_t available;
	int use_percent;
};

struct df_line df_line(const struct fsa_statfs *statfs);
struct df_inodes df_inodes(const struct fsa_statfs *statfs);

/* Header and line with df's column widths; `source` is what stands for the device. */
void df_print(FILE *out, const char *source, const struct df_line *line);
void df_print_inodes(FILE *out, const char *source, const struct df_inodes *inodes);

#endif
