/* SPDX-License-Identifier: GPL-2.0-only */
#include "table.h"

#include <libsmartcols.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

bool table_colour(void)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

	if (no_color != NULL && no_color[0] != '\0')
		return false;
	return term != NULL && strcmp(term, "dumb") != 0 && isatty(STDOUT_FILENO) == 1;
}

void table_begin(struct table *table, const struct table_column *columns, unsigned n_columns, bool headings)
{
	*table = (struct table){ .scols = scols_new_table() };
	if (table->scols == NULL) {
		table->failed = true;
		return;
	}
	scols_table_enable_noheadings(table->scols, !headings);
	/* What needs escaping is escaped already, and reversibly. */
	scols_table_enable_noencoding(table->scols, 1);
	scols_table_enable_colors(table->scols, table_colour());
	for (unsigned i = 0; i < n_columns; i++)
		table_add_column(table, &columns[i]);
}

void table_add_column(struct table *table, const struct table_column *column)
{
	int flags = 0;

	if (table->failed)
		return;
	if (column->flags & TABLE_RIGHT)
		flags |= SCOLS_FL_RIGHT;
	if (column->flags & TABLE_WRAP)
		flags |= SCOLS_FL_WRAP;
	if (column->flags & TABLE_CUT)
		flags |= SCOLS_FL_TRUNC;
	if (scols_table_new_column(table->scols, column->name, 0, flags) == NULL)
		table->failed = true;
}

void table_row(struct table *table)
{
	if (table->failed)
		return;
	table->line = scols_table_new_line(table->scols, NULL);
	table->next = 0;
	if (table->line == NULL)
		table->failed = true;
}

void table_cell(struct table *table, const char *text)
{
	if (table->failed)
		return;
	if (scols_line_set_data(table->line, table->next++, text) != 0)
		table->failed = true;
}

void table_emphasis(struct table *table, const char *colour)
{
	if (!table->failed && scols_line_set_color(table->line, colour) != 0)
		table->failed = true;
}

bool table_print(struct table *table)
{
	if (!table->failed && scols_print_table(table->scols) != 0)
		table->failed = true;
	if (table->scols != NULL)
		scols_unref_table(table->scols);
	table->scols = NULL;
	if (table->failed)
		cli_error("out of memory for a table");
	return !table->failed;
}
