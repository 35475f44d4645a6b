/* SPDX-License-Identifier: GPL-2.0-only */
/* A table that can be printed as text, CSV or Markdown. */
#ifndef FSA_ANALYZER_TRIAL_GRID_H
#define FSA_ANALYZER_TRIAL_GRID_H

#include <stdbool.h>
#include <stddef.h>

enum trial_format { TRIAL_TEXT, TRIAL_CSV, TRIAL_MARKDOWN };

const char *trial_format_name(enum trial_format format);

#define TRIAL_COLUMNS 24

struct trial_grid {
	const char *title;
	const char *columns[TRIAL_COLUMNS];	/* a leading '<' makes it left-aligned */
	unsigned n_columns;
	char **cells;		/* row by row */
	size_t n_cells, room;
	bool failed;		/* memory ran out */
};

/* `columns` ends with NULL; it and the title must stay. */
void trial_grid_begin(struct trial_grid *grid, const char *title, const char *const *columns);
/* The next cell, left to right, row by row. */
void trial_grid_cell(struct trial_grid *grid, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Prints (nothing when there is no row) and frees; false when memory ran out, which is said. */
bool trial_grid_print(struct trial_grid *grid, enum trial_format format);

#endif
