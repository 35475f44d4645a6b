/* SPDX-License-Identifier: GPL-2.0-only */
#include "trial_documented.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

#define MOST_COLUMNS 40

/* Splits a line at its commas, in place: these tables quote nothing. */
static unsigned split(char *line, char *cells[MOST_COLUMNS])
{
	unsigned n = 0;
	char *cell;

	line[strcspn(line, "\r\n")] = '\0';
	while (n < MOST_COLUMNS && (cell = strsep(&line, ",")) != NULL)
		cells[n++] = cell;
	return line != NULL ? MOST_COLUMNS + 1 : n;
}

static json_t *load_table(FILE *file, const char *path)
{
	char *line = NULL, *names = NULL, *heading[MOST_COLUMNS], *cell[MOST_COLUMNS];
	json_t *rows = json_array();
	unsigned columns = 0, number = 1;
	size_t room = 0;

	if (getline(&names, &room, file) > 0)
		columns = split(names, heading);
	room = 0;
	while (rows != NULL && getline(&line, &room, file) > 0) {
		json_t *row = json_object();
		const unsigned n = split(line, cell);

		number++;
		if (n != columns) {
			cli_error("%s: line %u has not as many cells as the first one", path, number);
			json_decref(row);
			json_decref(rows);
			rows = NULL;
			break;
		}
		for (unsigned i = 0; i < columns; i++)
			json_object_set_new(row, heading[i], json_string(cell[i]));
		json_array_append_new(rows, row);
	}
	if (rows != NULL && json_array_size(rows) == 0) {
		cli_error("%s: is no table", path);
		json_decref(rows);
		rows = NULL;
	}
	free(line);
	free(names);
	return rows;
}

json_t *trial_documented_load(const struct trial_plan *plan)
{
	json_t *all = json_object();

	for (size_t i = 0; all != NULL && i < plan->n_documented; i++) {
		const char *slash = strrchr(plan->documented[i], '/');
		char *path = trial_plan_path(plan, plan->documented[i]);
		FILE *file = path != NULL ? fopen(path, "re") : NULL;
		json_t *table = NULL;

		if (file == NULL)
			cli_error("%s: %s", path != NULL ? path : plan->documented[i], strerror(errno));
		else
			table = load_table(file, path);
		if (file != NULL)
			fclose(file);
		free(path);
		if (table == NULL || json_object_set_new(all, slash != NULL ? slash + 1 : plan->documented[i], table) != 0) {
			json_decref(all);
			all = NULL;
		}
	}
	return all;
}

const json_t *trial_documented_find(const json_t *documented, const char *const *headings, const char **name)
{
	const char *key;
	json_t *table;

	json_object_foreach((json_t *)(uintptr_t)documented, key, table) {
		const json_t *first = json_array_get(table, 0);
		size_t i = 0;

		while (headings[i] != NULL && json_object_get(first, headings[i]) != NULL)
			i++;
		if (headings[i] != NULL)
			continue;
		if (name != NULL)
			*name = key;
		return table;
	}
	return NULL;
}

const char *trial_documented_text(const json_t *row, const char *heading)
{
	const char *text = json_string_value(json_object_get(row, heading));

	return text != NULL ? text : "";
}

bool trial_documented_number(const json_t *row, const char *heading, double *value)
{
	const char *text = trial_documented_text(row, heading);
	char *end;

	*value = strtod(text, &end);
	return end != text && *end == '\0';
}

bool trial_documented_human(const char *text, double *least, double *most)
{
	static const char units[] = "KMGTP";
	const char *dot = strchr(text, '.'), *unit;
	double scale = 1, step = 1;
	char *end;
	const double value = strtod(text, &end);

	if (end == text)
		return false;
	unit = *end != '\0' ? strchr(units, *end) : NULL;
	if (*end != '\0' && (unit == NULL || end[1] != '\0'))
		return false;
	for (; unit != NULL && unit >= units; unit--)
		scale *= 1024;
	if (dot != NULL && dot < end)
		step = 0.1;
	*most = value * scale;
	*least = (value - step) * scale;
	return true;
}
