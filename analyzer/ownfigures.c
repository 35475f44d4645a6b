/* SPDX-License-Identifier: GPL-2.0-only */
#include "ownfigures.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "escape.h"
#include "format.h"
#include "table.h"

void ownfigures_add(void *arg, const char *group, const char *name, uint64_t value, const char *unit)
{
	struct ownfigures *f = arg;
	struct ownfigure one = { .value = value };

	if (f->count == f->room && f->count < OWNFIGURES_LIMIT) {
		size_t room = f->room ? f->room * 2 : 64;
		struct ownfigure *list = realloc(f->list, room * sizeof(*list));

		if (list != NULL) {
			f->list = list;
			f->room = room;
		}
	}
	if (f->count == f->room || f->count >= OWNFIGURES_LIMIT) {
		f->dropped++;
		return;
	}
	one.group = strdup(group);
	one.name = strdup(name);
	snprintf(one.unit, sizeof(one.unit), "%s", unit);
	if (one.group == NULL || one.name == NULL) {
		free(one.group);
		free(one.name);
		f->dropped++;
		return;
	}
	f->list[f->count++] = one;
}

void ownfigures_free(struct ownfigures *f)
{
	for (size_t i = 0; i < f->count; i++) {
		free(f->list[i].group);
		free(f->list[i].name);
	}
	free(f->list);
	*f = (struct ownfigures){ 0 };
}

/* The rows of one group, wherever they stand: parsers need not deliver them together. */
static bool print_group(const struct ownfigures *f, const char *group, bool bytes)
{
	static const struct table_column columns[] = {
		{ "FIGURE", TABLE_LEFT },
		{ "VALUE", TABLE_RIGHT },
	};
	struct table table;

	table_begin(&table, columns, 2, false);
	for (size_t i = 0; i < f->count; i++) {
		const struct ownfigure *one = &f->list[i];
		struct format_text value;
		char *name;

		if (strcmp(one->group, group) != 0)
			continue;
		value = strcmp(one->unit, "bytes") == 0 ? format_size(one->value, bytes) : format_count(one->value);
		name = escape_new(one->name, strlen(one->name));
		table_row(&table);
		table_cell(&table, name != NULL ? name : "?");
		table_cell(&table, value.text);
		free(name);
	}
	return table_print(&table);
}

static bool seen_before(const struct ownfigures *f, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (strcmp(f->list[i].group, f->list[index].group) == 0)
			return true;
	return false;
}

bool ownfigures_print(const struct ownfigures *f, bool bytes, bool all)
{
	const char *last = "";

	for (size_t i = 0; i < f->count; i++) {
		if (strcmp(f->list[i].group, last) == 0 || seen_before(f, i))
			continue;
		last = f->list[i].group;
		if (!all && strcmp(last, OWNFIGURES_SHORT) != 0)
			continue;
		printf("\nAs tools of the format say: ");
		escape_print(stdout, last, strlen(last));
		putchar('\n');
		if (!print_group(f, last, bytes))
			return false;
	}
	return true;
}
