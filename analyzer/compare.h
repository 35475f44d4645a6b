/* SPDX-License-Identifier: GPL-2.0-only */
/* What `compare` keeps of each image: numbers only, so that no image stays open while the next is read. */
#ifndef FSA_ANALYZER_COMPARE_H
#define FSA_ANALYZER_COMPARE_H

#include "assay.h"
#include "compare_content.h"
#include "df.h"
#include "grid.h"

struct compare_column {
	const char *argument;
	char type[16];
	uint32_t block_size;
	struct figures figures;
	uint64_t image_bytes;
	uint64_t purpose_bytes[FSA_PURPOSES];
	uint64_t du, file_sizes;
	bool have_df;
	struct df_line df;
	uint64_t findings;
	struct content content;		/* by the manifest or by reading, the same way of all */
	unsigned efficiency_rank;	/* 1 is best; equal ones share a rank */
	unsigned packing_rank;		/* 0: packs nothing */
};

void compare_fill(struct compare_column *column, const struct assay *assay);
void compare_rank(struct compare_column *columns, unsigned n);

/* Bytes saved by tails and inline data, as a share of what would be used without them; 0 for none. */
double compare_packing(const struct compare_column *column);

/* Do all hold the same number of files and links, and the same sum of sizes? */
bool compare_same_content(const struct compare_column *columns, unsigned n);

struct compare_options {
	bool bytes;
	bool verbose;		/* rows in which every image has 0, too */
	bool no_headings;
	enum grid_format format;
};

/* Do all hold the same, by their content? Only when all were looked at in one way. */
bool compare_equal_trees(const struct compare_column *columns, unsigned n);

/*
 * Bytes that a file of each class of sizes takes on the average, one column an image: what is stored of it, slack, what maps
 * it, and the cost of packing.
 */
bool compare_print_classes(const struct compare_column *columns, unsigned n, const struct compare_options *options);

/* The table on stdout; false when memory ran out (said already). */
bool compare_print(const struct compare_column *columns, unsigned n, const struct compare_options *options);

#endif
