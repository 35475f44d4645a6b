/* SPDX-License-Identifier: GPL-2.0-only */
#include "grid.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "table.h"

const char *grid_format_name(enum grid_format format)
{
	static const char *const names[] = { "text", "csv", "markdown" };

	return names[format];
}

bool grid_take_format(enum grid_format *format, const char *name)
{
	for (enum grid_format f = GRID_TEXT; f <= GRID_MARKDOWN; f++)
		if (strcmp(name, grid_format_name(f)) == 0) {
			*format = f;
			return true;
		}
	return false;
}

void grid_begin(struct grid *grid, const char *title, const char *const *columns)
{
	*grid = (struct grid){ .title = title };
	while (columns[grid->n_columns] != NULL && grid->n_columns < GRID_COLUMNS) {
		grid->columns[grid->n_columns] = columns[grid->n_columns];
		grid->n_columns++;
	}
}

void grid_cell(struct grid *grid, const char *fmt, ...)
{
	char *text;
	va_list ap;

	if (grid->n_cells == grid->room) {
		const size_t more = grid->room != 0 ? grid->room * 2 : 128;
		char **cells = realloc(grid->cells, more * sizeof(*cells));

		if (cells == NULL) {
			grid->failed = true;
			return;
		}
		grid->cells = cells;
		grid->room = more;
	}
	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0) {
		text = NULL;
		grid->failed = true;
	}
	va_end(ap);
	if (text != NULL)
		grid->cells[grid->n_cells++] = text;
}

static const char *name_of(const char *column)
{
	return column + (*column == '<');
}

static bool print_text(const struct grid *grid)
{
	struct table table;

	printf("%s\n", grid->title);
	table_begin(&table, NULL, 0, true);
	for (unsigned i = 0; i < grid->n_columns; i++)
		table_add_column(&table, &(const struct table_column){
						 name_of(grid->columns[i]),
						 *grid->columns[i] == '<' ? TABLE_LEFT : TABLE_RIGHT });
	for (size_t i = 0; i < grid->n_cells; i++) {
		if (i % grid->n_columns == 0)
			table_row(&table);
		table_cell(&table, grid->cells[i]);
	}
	if (!table_print(&table))
		return false;
	putchar('\n');
	return true;
}

static void print_csv_cell(const char *text, bool last)
{
	if (strpbrk(text, ",\"\n") == NULL) {
		fputs(text, stdout);
	} else {
		putchar('"');
		for (; *text != '\0'; text++) {
			if (*text == '"')
				putchar('"');
			putchar(*text);
		}
		putchar('"');
	}
	putchar(last ? '\n' : ',');
}

/* The table's title is the first cell of each of its lines, so that all tables can be in one file. */
static void print_csv(const struct grid *grid)
{
	print_csv_cell("table", false);
	for (unsigned i = 0; i < grid->n_columns; i++)
		print_csv_cell(name_of(grid->columns[i]), i + 1 == grid->n_columns);
	for (size_t i = 0; i < grid->n_cells; i++) {
		if (i % grid->n_columns == 0)
			print_csv_cell(grid->title, false);
		print_csv_cell(grid->cells[i], (i + 1) % grid->n_columns == 0);
	}
	putchar('\n');
}

static void print_markdown(const struct grid *grid)
{
	printf("### %s\n\n|", grid->title);
	for (unsigned i = 0; i < grid->n_columns; i++)
		printf(" %s |", name_of(grid->columns[i]));
	printf("\n|");
	for (unsigned i = 0; i < grid->n_columns; i++)
		fputs(*grid->columns[i] == '<' ? "---|" : "---:|", stdout);
	for (size_t i = 0; i < grid->n_cells; i++) {
		if (i % grid->n_columns == 0)
			fputs("\n|", stdout);
		putchar(' ');
		for (const char *c = grid->cells[i]; *c != '\0'; c++) {
			if (*c == '|')
				putchar('\\');
			putchar(*c);
		}
		fputs(" |", stdout);
	}
	fputs("\n\n", stdout);
}

bool grid_print(struct grid *grid, enum grid_format format)
{
	bool good = !grid->failed && grid->n_cells % grid->n_columns == 0;

	if (!good)
		cli_error("out of memory");
	else if (grid->n_cells == 0)
		;
	else if (format == GRID_TEXT)
		good = print_text(grid);
	else if (format == GRID_CSV)
		print_csv(grid);
	else
		print_markdown(grid);
	for (size_t i = 0; i < grid->n_cells; i++)
		free(grid->cells[i]);
	free(grid->cells);
	*grid = (struct grid){ .title = NULL };
	return good;
}
