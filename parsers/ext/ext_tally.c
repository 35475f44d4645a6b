/* SPDX-License-Identifier: GPL-2.0-only */
#include "ext_tally.h"

#include <stdlib.h>
#include <string.h>

static size_t place(const struct ext_tally *t, uint64_t key)
{
	size_t i = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (t->slots - 1);

	while (t->slot[i].key && t->slot[i].key != key)
		i = (i + 1) & (t->slots - 1);
	return i;
}

static bool grow(struct ext_tally *t)
{
	struct ext_tally bigger = { .slots = t->slots ? t->slots * 2 : 64, .count = t->count };

	bigger.slot = calloc(bigger.slots, sizeof(*bigger.slot));
	if (!bigger.slot)
		return false;
	for (size_t i = 0; i < t->slots; i++)
		if (t->slot[i].key)
			bigger.slot[place(&bigger, t->slot[i].key)] = t->slot[i];
	free(t->slot);
	*t = bigger;
	return true;
}

int64_t *ext_tally_find(const struct ext_tally *t, uint64_t key)
{
	size_t i;

	if (!t->slots)
		return NULL;
	i = place(t, key);
	return t->slot[i].key ? &t->slot[i].value : NULL;
}

int64_t *ext_tally_at(struct ext_tally *t, uint64_t key, int64_t initial, bool *made)
{
	int64_t *value = ext_tally_find(t, key);
	size_t i;

	*made = !value;
	if (value)
		return value;
	if (2 * (t->count + 1) > t->slots && !grow(t))
		return NULL;
	i = place(t, key);
	t->slot[i] = (struct ext_tally_slot){ .key = key, .value = initial };
	t->count++;
	return &t->slot[i].value;
}

void ext_tally_free(struct ext_tally *t)
{
	free(t->slot);
	memset(t, 0, sizeof(*t));
}
