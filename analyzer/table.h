/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tables on stdout, by libsmartcols. Memory running out is remembered and told once, by table_print().
 * Cells are printed as they are: bytes of an image go through escape.h first.
 */
#ifndef FSA_ANALYZER_TABLE_H
#define FSA_ANALYZER_TABLE_H

#include <stdbool.h>

enum table_flags {
	TABLE_LEFT = 0,
	TABLE_RIGHT = 1,
	TABLE_WRAP = 2,		/* may be broken into several lines on a narrow terminal */
	TABLE_CUT = 4,		/* may be cut short there */
};

struct table_column {
	const char *name;
	unsigned flags;		/* enum table_flags */
};

struct table {
	struct libscols_table *scols;
	struct libscols_line *line;
	unsigned next;
	bool failed;
};

void table_begin(struct table *table, const struct table_column *columns, unsigned n_columns, bool headings);
void table_add_column(struct table *table, const struct table_column *column);
void table_row(struct table *table);			/* starts a row ... */
void table_cell(struct table *table, const char *text);	/* ... and fills it from the left; copied */
/* Emphasis of the whole current row on a terminal: "bold", "red". */
void table_emphasis(struct table *table, const char *colour);
/* Prints and frees; false (and a message) when something failed. */
bool table_print(struct table *table);

/* True when stdout is a terminal that wants colour; NO_COLOR is respected. */
bool table_colour(void);

#endif
