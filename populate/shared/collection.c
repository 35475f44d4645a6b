/* SPDX-License-Identifier: GPL-2.0-only */
/* The list of collections. */
#include <string.h>

#include "collection.h"

#define SIZE_FILES	10000

static const struct pop_collection collections[] = {
	{ "size-10M", "10 000 files of 10^7 bytes in one directory",
	  SIZE_FILES, 10000000, pop_size_run, pop_size_need },
	{ "size-1M", "10 000 files of 10^6 bytes in one directory",
	  SIZE_FILES, 1000000, pop_size_run, pop_size_need },
	{ "size-100K", "10 000 files of 10^5 bytes in one directory",
	  SIZE_FILES, 100000, pop_size_run, pop_size_need },
	{ "size-10K", "10 000 files of 10^4 bytes in one directory",
	  SIZE_FILES, 10000, pop_size_run, pop_size_need },
	{ "size-1K", "10 000 files of 10^3 bytes in one directory",
	  SIZE_FILES, 1000, pop_size_run, pop_size_need },
	{ "size-100B", "10 000 files of 100 bytes in one directory",
	  SIZE_FILES, 100, pop_size_run, pop_size_need },
	{ "mixed", "a tree with every kind of object a server holds",
	  300, 0, pop_mixed_run, pop_mixed_need },
};

const struct pop_collection *pop_collection_at(size_t index)
{
	if (index >= sizeof(collections) / sizeof(collections[0]))
		return NULL;
	return &collections[index];
}

const struct pop_collection *pop_collection_find(const char *name)
{
	const struct pop_collection *c;

	for (size_t i = 0; (c = pop_collection_at(i)); i++)
		if (!strcmp(c->name, name))
			return c;
	return NULL;
}

const struct pop_collection *
pop_collection_complete(struct pop_collection_args *args)
{
	const struct pop_collection *c = pop_collection_find(args->name);

	if (!c)
		return NULL;
	if (!args->files)
		args->files = c->files;
	if (!args->file_size)
		args->file_size = c->file_size;
	return c;
}
