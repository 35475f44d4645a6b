/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What directories say of themselves against what they hold: size is the number of names, "." and ".." included, the byte
 * count what the items take without the number of names at their front. Names lie far from the stat data, under the
 * directory's own id, so the walk keeps one sum for all; only when it does not come out even is each looked at.
 */
#include <stdlib.h>

#include "reiser4_audit.h"

struct directory {
	uint64_t id, names, bytes;
	uint64_t offset;	/* of the stat data */
	bool object, counts_bytes;
};

struct directories {
	struct directory *list;
	size_t count, room;
};

/* Unlike sums for numbers and for bytes, so that one cannot make up for the other. */
static uint64_t weight(uint64_t id, uint64_t names, uint64_t bytes)
{
	struct fsa_ref ref = { .word = { id } };
	uint64_t h = r4_link_hash(ref);

	return h * names + (h * h | 1) * bytes;
}

static bool is_directory(const struct r4_stat *stat)
{
	return stat->light && stat->type == FSA_TYPE_DIRECTORY;
}

void r4_audit_dir_stat(struct r4_audit_state *s, const struct r4_key *key, const struct r4_stat *stat)
{
	if (is_directory(stat))
		s->dir_sum -= weight(key->objectid, stat->size, stat->bytes);
}

static uint64_t names_in(const struct r4_item *item)
{
	return item->length < 2 ? 0 : fsa_get_le16(item->body);
}

void r4_audit_dir_item(struct r4_audit_state *s, const struct r4_item *item)
{
	s->dir_sum += weight(r4_key_locality(&item->key), names_in(item), item->length - fsa_min(item->length, 2));
}

static enum fsa_status add(struct directories *d, const struct directory *one)
{
	if (d->count == d->room) {
		size_t room = d->room ? d->room * 2 : 256;
		struct directory *list = realloc(d->list, room * sizeof(*list));

		if (!list)
			return FSA_ENOMEM;
		d->list = list;
		d->room = room;
	}
	d->list[d->count++] = *one;
	return FSA_OK;
}

static int compare(const void *a, const void *b)
{
	const struct directory *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	/* The object first. */
	return y->object - x->object;
}

static void report(struct r4 *r, const struct directories *d)
{
	for (size_t i = 0, k; i < d->count; i = k) {
		const struct directory *first = &d->list[i];
		uint64_t names = 0, bytes = 0;

		for (k = i + first->object; k < d->count && d->list[k].id == first->id && !d->list[k].object; k++) {
			names += d->list[k].names;
			bytes += d->list[k].bytes;
		}
		/* Names without a directory: the links tell. Two stat data of one id: named where they were met. */
		if (!first->object)
			continue;
		if (names != first->names)
			R4_FIND(r, "object", first->id, first->offset, "directory of size %llu, it holds %llu names", (ull)first->names, (ull)names);
		if (first->counts_bytes && bytes != first->bytes)
			R4_FIND(r, "object", first->id, first->offset, "byte count %llu, the items of the directory hold %llu", (ull)first->bytes,
				(ull)bytes);
	}
}

enum fsa_status r4_audit_dirs(struct r4_audit_state *s)
{
	struct directories d = { .list = NULL };
	struct r4_cursor c;
	struct r4_item item;
	struct r4_stat stat;
	enum fsa_status st;

	if (!s->dir_sum)
		return FSA_OK;
	st = r4_cursor_open(&c, s->r, NULL);
	while (st == FSA_OK && (st = r4_cursor_next(&c, &item)) == FSA_OK) {
		struct directory one = { .id = r4_key_locality(&item.key), .names = names_in(&item), .bytes = item.length - fsa_min(item.length, 2) };

		if (item.plugin == R4_ITEM_STAT) {
			if (!r4_stat_decode(s->r, &c.node, &item, &stat) || !is_directory(&stat))
				continue;
			one = (struct directory){
				.id = item.key.objectid, .names = stat.size, .bytes = stat.bytes, .object = true,
				.counts_bytes = stat.unix_fields, .offset = r4_at(s->r, c.node.block) + item.offset,
			};
		} else if (item.plugin != R4_ITEM_ENTRIES) {
			continue;
		}
		st = add(&d, &one);
	}
	r4_cursor_close(&c);
	if (st == FSA_ENOENT || st == FSA_EDAMAGED)
		st = FSA_OK;
	if (st == FSA_OK && d.count) {
		qsort(d.list, d.count, sizeof(*d.list), compare);
		report(s->r, &d);
	}
	free(d.list);
	return st;
}
