/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Directory entries. Short names are the key itself, 7 bytes and one or two words; longer ones leave their
 * first bytes and a hash in the key and are stored whole behind the key of the object.
 */
#include <string.h>

#include "reiser4.h"

#define NAME_ROOM 24u

/* A word holds up to 8 bytes of a name, the first one highest; NULs are no part of it. */
static size_t unpack(uint64_t word, char *name, size_t length)
{
	for (; word; word <<= 8)
		name[length++] = (char)(word >> 56);
	return length;
}

static size_t name_in_key(const struct r4 *r, const struct r4_key *k, char name[NAME_ROOM])
{
	size_t length;

	if (!k->ordering && !k->objectid && !k->offset) {
		name[0] = '.';
		return 1;
	}
	if (r->large_keys) {
		length = unpack((k->ordering & ~R4_NAME_FIBRE) << 8, name, 0);
		length = unpack(k->objectid, name, length);
	} else {
		length = unpack((k->objectid & ~R4_NAME_FIBRE) << 8, name, 0);
	}
	return unpack(k->offset, name, length);
}

static bool is_hashed(const struct r4 *r, const struct r4_key *k)
{
	return (r->large_keys ? k->ordering : k->objectid) & R4_NAME_HASHED;
}

/* An entry's body: the object's key without its offset, then the name when the key does not hold it. */
static bool read_body(struct r4 *r, const struct r4_node *n, const struct r4_item *item, unsigned at, struct r4_entry *e, char short_name[NAME_ROOM])
{
	unsigned id_bytes = r->key_bytes - 8;
	const uint8_t *p = item->body + at;
	const void *nul;

	if (at > item->length || id_bytes > item->length - at)
		return false;
	e->offset = item->offset + at;
	e->ref.word[0] = fsa_get_le64(p);
	e->ref.word[1] = r->large_keys ? fsa_get_le64(p + 8) : 0;
	e->ref.word[2] = fsa_get_le64(p + id_bytes - 8);
	if (item->plugin == R4_ITEM_ENTRIES && !is_hashed(r, &e->key)) {
		e->name = short_name;
		e->length = name_in_key(r, &e->key, short_name);
		return true;
	}
	nul = memchr(p + id_bytes, 0, item->length - at - id_bytes);
	if (!nul)
		return false;
	e->name = (const char *)p + id_bytes;
	e->length = (size_t)((const char *)nul - e->name);
	(void)n;
	return true;
}

enum fsa_status r4_entries(struct r4 *r, const struct r4_node *n, const struct r4_item *item, r4_entry_fn entry, void *arg)
{
	unsigned hash_bytes = r->key_bytes - 8, unit = hash_bytes + 2;
	unsigned count = item->length >= 2 ? fsa_get_le16(item->body) : 0;
	ull at = r4_at(r, n->block) + item->offset;
	char short_name[NAME_ROOM];
	struct r4_entry e;
	enum fsa_status st = FSA_OK;

	if (item->plugin == R4_ITEM_SIMPLE_ENTRY) {
		e.key = item->key;
		if (read_body(r, n, item, 0, &e, short_name))
			return entry(arg, &e);
		R4_FIND(r, "directory", r4_key_locality(&item->key), at, "entry of %u bytes has no end", item->length);
		r->bad_entries++;
		return FSA_OK;
	}
	if (item->length < 2 || count > (item->length - 2) / unit) {
		R4_FIND(r, "directory", r4_key_locality(&item->key), at, "item of %u bytes with %u entries, room is for %u", item->length, count,
			item->length < 2 ? 0 : (item->length - 2) / unit);
		r->bad_entries++;
		return FSA_OK;
	}
	for (unsigned i = 0; i < count && st == FSA_OK; i++) {
		const uint8_t *p = item->body + 2 + (size_t)i * unit;
		unsigned body = fsa_get_le16(p + hash_bytes);

		e.key = (struct r4_key){
			.locality = item->key.locality,
			.ordering = r->large_keys ? fsa_get_le64(p) : 0,
			.objectid = fsa_get_le64(p + hash_bytes - 16),
			.offset = fsa_get_le64(p + hash_bytes - 8),
		};
		if (body < 2 + count * unit || !read_body(r, n, item, body, &e, short_name)) {
			R4_FIND(r, "directory", r4_key_locality(&item->key), at, "entry %u at byte %u has no end within the %u bytes of its item", i,
				body, item->length);
			r->bad_entries++;
			continue;
		}
		st = entry(arg, &e);
	}
	return st;
}

struct reader {
	struct r4 *r;
	const struct r4_node *n;
	fsa_dirent_fn entry;
	void *arg;
};

static enum fsa_status pass_on(void *arg, const struct r4_entry *e)
{
	struct reader *d = arg;
	struct fsa_dirent out = {
		.name = e->name, .name_length = e->length, .ref = e->ref, .number = e->ref.word[2], .type = FSA_TYPE_UNKNOWN,
		.offset = r4_at(d->r, d->n->block) + e->offset,
	};

	if ((e->length == 1 && e->name[0] == '.') || (e->length == 2 && e->name[0] == '.' && e->name[1] == '.'))
		return FSA_OK;
	return d->entry(d->arg, &out);
}

enum fsa_status r4_readdir(struct fsa_fs *fs, struct fsa_ref ref, fsa_dirent_fn entry, void *arg)
{
	struct r4 *r = r4_of(fs);
	/* All names of a directory lie under its own id as locality. */
	struct r4_key key = { .locality = ref.word[2] << 4 | R4_KEY_NAME };
	struct r4_cursor c;
	struct r4_item item;
	struct reader d = { .r = r, .n = &c.node, .entry = entry, .arg = arg };
	enum fsa_status st = r4_cursor_open(&c, r, &key);

	while (st == FSA_OK && (st = r4_cursor_next(&c, &item)) == FSA_OK) {
		if (r4_key_compare(&item.key, &key) < 0)
			continue;
		if (item.key.locality != key.locality)
			break;
		if (item.plugin == R4_ITEM_ENTRIES || item.plugin == R4_ITEM_SIMPLE_ENTRY)
			st = r4_entries(r, &c.node, &item, pass_on, &d);
	}
	if (st == FSA_ENOENT)
		st = FSA_OK;
	if (st == FSA_OK && c.damaged)
		st = FSA_EDAMAGED;
	r4_cursor_close(&c);
	return st;
}
