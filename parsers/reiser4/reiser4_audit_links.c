/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names against link counts. The walk keeps one sum for all of them; only when it does not come out even is
 * every object looked at by itself.
 */
#include <stdlib.h>

#include "reiser4_audit.h"

uint64_t r4_link_hash(struct fsa_ref ref)
{
	uint64_t h = ref.word[0] * UINT64_C(0x9e3779b97f4a7c15);

	h = (h ^ h >> 32 ^ ref.word[1]) * UINT64_C(0xd6e8feb86659fd93);
	h = (h ^ h >> 32 ^ ref.word[2]) * UINT64_C(0xa0761d6478bd642f);
	return h ^ h >> 29;
}

/* mkfs counts one more for the root than there are names: its "." and ".." and what it is to the tree. */
uint64_t r4_link_names(const struct r4_key *key, const struct r4_stat *stat)
{
	bool root = key->locality == (R4_ROOT_LOCALITY << 4 | R4_KEY_STAT) && key->objectid == R4_ROOT_OID;

	return root && stat->links ? stat->links - 1u : stat->links;
}

struct link {
	struct fsa_ref ref;
	uint64_t links;		/* by the stat data */
	uint64_t names;
	uint64_t offset;	/* of the stat data, or of the entry */
	bool object;
};

struct links {
	struct r4 *r;
	const struct r4_cursor *c;
	struct link *list;
	size_t count, room;
};

static enum fsa_status add(struct links *l, const struct link *link)
{
	if (l->count == l->room) {
		size_t room = l->room ? l->room * 2 : 1024;
		struct link *list = realloc(l->list, room * sizeof(*list));

		if (!list)
			return FSA_ENOMEM;
		l->list = list;
		l->room = room;
	}
	l->list[l->count++] = *link;
	return FSA_OK;
}

static enum fsa_status add_name(void *arg, const struct r4_entry *e)
{
	struct links *l = arg;
	struct link link = { .ref = e->ref, .names = 1, .offset = r4_at(l->r, l->c->node.block) + e->offset };

	return add(l, &link);
}

static int compare_links(const void *a, const void *b)
{
	const struct link *x = a, *y = b;

	for (int i = 0; i < 3; i++)
		if (x->ref.word[i] != y->ref.word[i])
			return x->ref.word[i] < y->ref.word[i] ? -1 : 1;
	/* The object first. */
	return y->object - x->object;
}

static void report(const struct links *l)
{
	for (size_t i = 0, k; i < l->count; i = k) {
		const struct link *first = &l->list[i];
		uint64_t names = 0;

		for (k = i; k < l->count && fsa_ref_equal(l->list[k].ref, first->ref); k++)
			names += l->list[k].names;
		if (!first->object)
			R4_FIND(l->r, "object", first->ref.word[2], first->offset, "named by %llu entries and has no stat data", (ull)names);
		else if (!names && first->links)
			R4_FIND(l->r, "object", first->ref.word[2], first->offset, "link count %llu and no directory names it", (ull)first->links);
		else if (names != first->links)
			R4_FIND(l->r, "object", first->ref.word[2], first->offset, "link count %llu, %llu entries name it", (ull)first->links, (ull)names);
	}
}

enum fsa_status r4_audit_links(struct r4_audit_state *s)
{
	struct links l = { .r = s->r };
	struct r4_cursor c;
	struct r4_item item;
	struct r4_stat stat;
	enum fsa_status st;

	if (!s->link_sum)
		return FSA_OK;
	l.c = &c;
	st = r4_cursor_open(&c, s->r, NULL);
	while (st == FSA_OK && (st = r4_cursor_next(&c, &item)) == FSA_OK) {
		if (item.plugin == R4_ITEM_ENTRIES || item.plugin == R4_ITEM_SIMPLE_ENTRY) {
			st = r4_entries(s->r, &c.node, &item, add_name, &l);
		} else if (item.plugin == R4_ITEM_STAT && r4_stat_decode(s->r, &c.node, &item, &stat)) {
			struct link link = {
				.ref = r4_ref_of(&item.key), .links = r4_link_names(&item.key, &stat), .offset = r4_at(s->r, c.node.block) + item.offset, .object = true,
			};

			st = add(&l, &link);
		}
	}
	r4_cursor_close(&c);
	if (st == FSA_ENOENT || st == FSA_EDAMAGED)
		st = FSA_OK;
	if (st == FSA_OK && l.count) {
		qsort(l.list, l.count, sizeof(*l.list), compare_links);
		report(&l);
	}
	free(l.list);
	return st;
}
