/* SPDX-License-Identifier: GPL-2.0-only */
/* Directory items: heads of entries from the front, names from the end downwards. */
#include <stdlib.h>
#include <string.h>

#include "reiserfs.h"

enum fsa_status rfs_dir_entries(struct rfs *r, const struct rfs_item *item, rfs_entry_fn fn, void *arg)
{
	const struct rfs_entry_head *heads = (const struct rfs_entry_head *)(const void *)item->body;
	uint32_t end = item->length, first_name = (uint32_t)item->count * (uint32_t)sizeof(*heads);
	enum fsa_status st = FSA_OK;

	if (first_name > item->length) {
		RFS_FIND(r, "directory", item->key.oid, item->offset, "%u entries need %u bytes for their heads, the item has %u", item->count,
			 first_name, item->length);
		return FSA_OK;
	}
	for (unsigned k = 0; k < item->count && st == FSA_OK; k++) {
		uint32_t at = fsa_le16v(heads[k].location);
		const uint8_t *zero;
		struct rfs_entry e = {
			.offset = fsa_le32v(heads[k].offset), .dir = fsa_le32v(heads[k].dir_id), .oid = fsa_le32v(heads[k].objectid),
			.state = fsa_le16v(heads[k].state), .image_offset = item->offset + k * sizeof(*heads),
		};

		if (at < first_name || at >= end) {
			RFS_FIND(r, "directory", item->key.oid, e.image_offset, "entry %u has its name at byte %u of the item, possible are %u to "
				 "%u: this and what follows is not read", k, at, first_name, end ? end - 1 : 0);
			return FSA_OK;
		}
		e.name = item->body + at;
		e.name_length = end - at;
		end = at;
		if (e.state & RFS_ENTRY_WITH_STAT && e.name_length > sizeof(struct rfs_stat_v2))
			e.name_length -= (uint32_t)sizeof(struct rfs_stat_v2);
		/* Filled up with zeros, but in directories that 3.5 made. */
		zero = memchr(e.name, 0, e.name_length);
		if (zero)
			e.name_length = (uint32_t)(zero - e.name);
		st = fn(arg, &e);
	}
	return st;
}

struct lister {
	rfs_entry_fn fn;
	void *arg;
};

static enum fsa_status list(void *arg, const struct rfs_entry *e)
{
	struct lister *l = arg;

	if (!(e->state & RFS_ENTRY_VISIBLE) || e->offset == RFS_DOT_OFFSET || e->offset == RFS_DOT_DOT_OFFSET)
		return FSA_OK;
	return l->fn(l->arg, e);
}

static bool of_directory(const struct rfs_item *item, uint32_t dir, uint32_t oid)
{
	return item->key.dir == dir && item->key.oid == oid;
}

enum fsa_status rfs_dir_each(struct rfs *r, uint32_t dir, uint32_t oid, rfs_entry_fn fn, void *arg)
{
	struct rfs_key key = { .dir = dir, .oid = oid, .offset = RFS_DOT_OFFSET };
	struct lister l = { .fn = fn, .arg = arg };
	struct rfs_cursor *c = rfs_cursor_take(r);
	struct rfs_item item;
	enum fsa_status st;

	if (!c)
		return FSA_ENOMEM;
	st = rfs_seek(c, &key, false, &item);
	while (st == FSA_OK && of_directory(&item, dir, oid)) {
		if (item.key.type == RFS_DIRENTRY)
			st = rfs_dir_entries(r, &item, list, &l);
		if (st == FSA_OK)
			st = rfs_next(c, &item);
	}
	rfs_cursor_give(c);
	return st == FSA_ENOENT ? FSA_OK : st;
}

/* --- one name ---------------------------------------------------------------------------------------- */

struct search {
	const char *name;
	size_t length;
	bool found;
	struct rfs_key key;
};

static enum fsa_status compare(void *arg, const struct rfs_entry *e)
{
	struct search *s = arg;

	if (e->name_length != s->length || memcmp(e->name, s->name, s->length) != 0)
		return FSA_OK;
	s->found = true;
	s->key = (struct rfs_key){ .dir = e->dir, .oid = e->oid };
	return FSA_STOP;
}

/* Looks only at the items that can hold the name's hash; names of one hash differ in the low seven bits. */
static enum fsa_status find_by_hash(struct rfs *r, uint32_t dir, uint32_t oid, struct search *s)
{
	uint32_t hash = rfs_hash(r->hash, (const uint8_t *)s->name, s->length);
	struct rfs_key key = { .dir = dir, .oid = oid, .offset = hash, .type = RFS_DIRENTRY };
	struct lister l = { .fn = compare, .arg = s };
	struct rfs_cursor *c = rfs_cursor_take(r);
	struct rfs_item item;
	enum fsa_status st;

	if (!c)
		return FSA_ENOMEM;
	st = rfs_seek(c, &key, true, &item);
	while (st == FSA_OK && of_directory(&item, dir, oid) && item.key.offset <= (hash | ~RFS_HASH_MASK)) {
		if (item.key.type == RFS_DIRENTRY)
			st = rfs_dir_entries(r, &item, list, &l);
		if (st == FSA_OK)
			st = rfs_next(c, &item);
	}
	rfs_cursor_give(c);
	return st;
}

enum fsa_status rfs_dir_find(struct rfs *r, uint32_t dir, uint32_t oid, const char *name, struct rfs_key *found)
{
	struct search s = { .name = name, .length = strlen(name) };
	enum fsa_status st;

	if (rfs_hash_known(r->hash)) {
		st = find_by_hash(r, dir, oid, &s);
		/* Where the search ended before the first item of a leaf the name may still be in the leaf before. */
		if (st == FSA_ENOENT && !s.found)
			st = rfs_dir_each(r, dir, oid, compare, &s);
	} else {
		st = rfs_dir_each(r, dir, oid, compare, &s);
	}
	if (s.found) {
		*found = s.key;
		return FSA_OK;
	}
	return st == FSA_OK ? FSA_ENOENT : st;
}

/* --- reading ------------------------------------------------------------------------------------------- */

struct reader {
	struct rfs *r;
	bool root;
	fsa_dirent_fn fn;
	void *arg;
};

static enum fsa_status emit(void *arg, const struct rfs_entry *e)
{
	struct reader *d = arg;
	struct fsa_dirent entry = {
		.name = (const char *)e->name, .name_length = e->name_length, .ref = rfs_ref(e->dir, e->oid), .number = e->oid,
		.type = FSA_TYPE_UNKNOWN, .offset = e->image_offset,
	};

	/* The tree of attributes: shown as attributes, not as files. */
	if (d->root && e->name_length == strlen(RFS_PRIV_ROOT) && memcmp(e->name, RFS_PRIV_ROOT, e->name_length) == 0)
		return FSA_OK;
	return d->fn(d->arg, &entry);
}

enum fsa_status rfs_readdir(struct fsa_fs *fs, struct fsa_ref ref, fsa_dirent_fn fn, void *arg)
{
	struct rfs_key key = rfs_ref_key(ref);
	struct reader d = { .r = rfs_of(fs), .root = key.oid == RFS_ROOT_OBJECTID && key.dir == RFS_ROOT_DIR_ID, .fn = fn, .arg = arg };

	return rfs_dir_each(d.r, key.dir, key.oid, emit, &d);
}
