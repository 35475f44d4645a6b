/* SPDX-License-Identifier: GPL-2.0-only */
/* A table that can be printed as text, CSV or Markdown. */
#ifndef FSA_ANALYZER_GRID_H
#define FSA_ANALYZER_GRID_H

#include <stdbool.h>
#include <stddef.h>

enum grid_format { GRID_TEXT, GRID_CSV, GRID_MARKDOWN };

const char *grid_format_name(enum grid_format format);
/* By its name; false when it is none. */
bool grid_take_format(enum grid_format *format, const char *name);

#define GRID_COLUMNS 24

struct grid {
	const char *title;
	const char *columns[GRID_COLUMNS];	/* a leading '<' makes it left-aligned */
	unsigned n_columns;
	char **cells;		/* row by row */
	size_t n_cells, room;
	bool failed;		/* memory ran out */
};

/* `columns` ends with NULL; it and the title must stay. */
void grid_begin(struct grid *grid, const char *title, const char *const *columns);
/* The next cell, left to right, row by row. */
void grid_cell(struct grid *grid, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Prints (nothing when there is no row) and frees; false when memory ran out, which is said. */
bool grid_print(struct grid *grid, enum grid_format format);

#endif
