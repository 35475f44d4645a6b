/* SPDX-License-Identifier: GPL-2.0-only */
/* The list of collections. */
#include <string.h>

#include "collection.h"

#define SIZE_FILES	10000

static const struct pop_collection collections[] = {
	{ .name = "size-10M", .what = "10 000 files of 10^7 bytes in one directory",
	  .files = SIZE_FILES, .file_size = 10000000,
	  .run = pop_size_run, .need = pop_size_need },
	{ .name = "size-1M", .what = "10 000 files of 10^6 bytes in one directory",
	  .files = SIZE_FILES, .file_size = 1000000,
	  .run = pop_size_run, .need = pop_size_need },
	{ .name = "size-100K", .what = "10 000 files of 10^5 bytes in one directory",
	  .files = SIZE_FILES, .file_size = 100000,
	  .run = pop_size_run, .need = pop_size_need },
	{ .name = "size-10K", .what = "10 000 files of 10^4 bytes in one directory",
	  .files = SIZE_FILES, .file_size = 10000,
	  .run = pop_size_run, .need = pop_size_need },
	{ .name = "size-1K", .what = "10 000 files of 10^3 bytes in one directory",
	  .files = SIZE_FILES, .file_size = 1000,
	  .run = pop_size_run, .need = pop_size_need },
	{ .name = "size-100B", .what = "10 000 files of 100 bytes in one directory",
	  .files = SIZE_FILES, .file_size = 100,
	  .run = pop_size_run, .need = pop_size_need },
	{ .name = "clones", .what = "a kernel's source tree and copies of it",
	  .files = 15000, .clones = 5, .takes_tree = true,
	  .run = pop_clones_run, .need = pop_clones_need },
	{ .name = "small-12K",
	  .what = "files of about 12 KB, trees of hard links to them, "
		  "a quarter the same and then linked",
	  .files = 10000, .clones = 2,
	  .run = pop_small_run, .need = pop_small_need },
	{ .name = "mixed",
	  .what = "a tree with every kind of object a server holds",
	  .files = 300, .run = pop_mixed_run, .need = pop_mixed_need },
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
	if (!args->clones)
		args->clones = c->clones;
	return c;
}
