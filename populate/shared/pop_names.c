/* SPDX-License-Identifier: GPL-2.0-only */
/* The table of paths: open addressing, never more than half full. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pop_names.h"
#include "pop_rand.h"

static struct pop_name *slot_of(const struct pop_names *n, const char *path)
{
	size_t i = (size_t)pop_seed_of(0, path) & (n->room - 1);

	while (n->slots[i].path && strcmp(n->slots[i].path, path))
		i = (i + 1) & (n->room - 1);
	return &n->slots[i];
}

static int grow(struct pop_names *n)
{
	struct pop_names more = { .room = n->room ? n->room * 2 : 64 };

	more.slots = calloc(more.room, sizeof(*more.slots));
	if (!more.slots)
		return -ENOMEM;
	/* What was removed is left behind. */
	for (size_t i = 0; i < n->room; i++) {
		if (n->slots[i].value) {
			*slot_of(&more, n->slots[i].path) = n->slots[i];
			more.count++;
		} else {
			free(n->slots[i].path);
		}
	}
	free(n->slots);
	*n = more;
	return 0;
}

uint64_t pop_names_get(const struct pop_names *n, const char *path)
{
	return n->room ? slot_of(n, path)->value : 0;
}

bool pop_names_known(const struct pop_names *n, const char *path)
{
	return n->room && slot_of(n, path)->path;
}

int pop_names_set(struct pop_names *n, const char *path, uint64_t value)
{
	struct pop_name *slot;

	if (n->count * 2 >= n->room && grow(n))
		return -ENOMEM;
	slot = slot_of(n, path);
	if (!slot->path) {
		slot->path = strdup(path);
		if (!slot->path)
			return -ENOMEM;
		n->count++;
	}
	slot->value = value;
	return 0;
}

int pop_names_parent(const struct pop_names *n, const char *path,
		     uint64_t *value, const char **last)
{
	const char *slash = strrchr(path, '/');
	char *dir = slash ? strndup(path, (size_t)(slash - path)) :
		strdup(".");

	if (!dir)
		return -ENOMEM;
	*last = slash ? slash + 1 : path;
	*value = pop_names_get(n, dir);
	free(dir);
	return *value ? 0 : -ENOENT;
}

void pop_names_free(struct pop_names *n)
{
	for (size_t i = 0; i < n->room; i++)
		free(n->slots[i].path);
	free(n->slots);
	*n = (struct pop_names){ 0 };
}
