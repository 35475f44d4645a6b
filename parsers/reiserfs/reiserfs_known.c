/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A table by object id. Ids in use lie close together, so neighbours share a chunk: some thirty bytes an object,
 * and no more than a chunk for each id that damage makes up.
 */
#include <stdlib.h>
#include <string.h>

#include "reiserfs_audit.h"

#define CHUNK_LOG 3u
#define CHUNK (1u << CHUNK_LOG)

struct rfs_known_chunk {
	uint32_t number;		/* object id >> CHUNK_LOG */
	uint8_t flags[CHUNK];
	struct rfs_known known[CHUNK];
};

static size_t slot_of(const struct rfs_known_table *t, uint32_t number)
{
	size_t i = (size_t)((number * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (t->n_slots - 1);

	while (t->slots[i] && t->chunks[t->slots[i] - 1].number != number)
		i = (i + 1) & (t->n_slots - 1);
	return i;
}

static bool more_slots(struct rfs_known_table *t)
{
	struct rfs_known_table bigger = *t;

	if (t->n * 2 < t->n_slots)
		return true;
	bigger.n_slots = t->n_slots ? t->n_slots * 2 : 256;
	bigger.slots = calloc(bigger.n_slots, sizeof(*bigger.slots));
	if (!bigger.slots)
		return false;
	for (size_t k = 0; k < t->n; k++)
		bigger.slots[slot_of(&bigger, t->chunks[k].number)] = (uint32_t)k + 1;
	free(t->slots);
	*t = bigger;
	return true;
}

static bool more_chunks(struct rfs_known_table *t)
{
	size_t room = t->room ? t->room + t->room / 2 : 64;
	struct rfs_known_chunk *p;

	if (t->n < t->room)
		return true;
	p = realloc(t->chunks, room * sizeof(*p));
	if (!p)
		return false;
	t->chunks = p;
	t->room = room;
	return true;
}

struct rfs_known *rfs_known_get(struct rfs_known_table *t, uint32_t oid, bool create, uint8_t **flags)
{
	uint32_t number = oid >> CHUNK_LOG;
	struct rfs_known_chunk *c;
	size_t slot;

	if (!t->n_slots && !create)
		return NULL;
	if (create && (!more_slots(t) || !more_chunks(t)))
		return NULL;
	slot = slot_of(t, number);
	if (!t->slots[slot]) {
		if (!create)
			return NULL;
		memset(&t->chunks[t->n], 0, sizeof(t->chunks[t->n]));
		t->chunks[t->n].number = number;
		t->slots[slot] = (uint32_t)++t->n;
	}
	c = &t->chunks[t->slots[slot] - 1];
	*flags = &c->flags[oid & (CHUNK - 1)];
	return &c->known[oid & (CHUNK - 1)];
}

void rfs_known_free(struct rfs_known_table *t)
{
	free(t->chunks);
	free(t->slots);
	memset(t, 0, sizeof(*t));
}

size_t rfs_known_count(const struct rfs_known_table *t)
{
	return t->n << CHUNK_LOG;
}

struct rfs_known *rfs_known_at(struct rfs_known_table *t, size_t k, uint32_t *oid, uint8_t **flags)
{
	struct rfs_known_chunk *c = &t->chunks[k >> CHUNK_LOG];

	*oid = (c->number << CHUNK_LOG) + (uint32_t)(k & (CHUNK - 1));
	*flags = &c->flags[k & (CHUNK - 1)];
	return &c->known[k & (CHUNK - 1)];
}
