/* SPDX-License-Identifier: GPL-2.0-only */
#include "listing.h"

#include <stdlib.h>
#include <string.h>

#include "name.h"

bool fsa_grow(void **data, size_t *room, size_t wanted, size_t unit)
{
	size_t new_room = *room ? *room : 64;
	void *p;

	if (wanted <= *room)
		return true;
	while (new_room < wanted) {
		if (new_room > SIZE_MAX / 2)
			return false;
		new_room *= 2;
	}
	if (new_room > SIZE_MAX / unit)
		return false;
	p = realloc(*data, new_room * unit);
	if (!p)
		return false;
	*data = p;
	*room = new_room;
	return true;
}

bool fsa_bytes_append(struct fsa_text *b, const char *data, size_t length)
{
	void *p = b->data;
	bool ok = fsa_grow(&p, &b->room, b->length + length + 1, 1);

	b->data = p;
	if (!ok)
		return false;
	memcpy(b->data + b->length, data, length);
	b->length += length;
	b->data[b->length] = '\0';
	return true;
}

uint64_t fsa_mix(uint64_t h)
{
	h ^= h >> 32;
	h *= 0xd6e8feb86659fd93u;
	h ^= h >> 32;
	h *= 0xd6e8feb86659fd93u;
	return h ^ h >> 32;
}

static uint64_t hash_name(const char *name, size_t length)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (size_t i = 0; i < length; i++)
		h = (h ^ (unsigned char)name[i]) * 0x100000001b3u;
	return fsa_mix(h);
}

static size_t index_slot(const struct listing *l, const char *name, size_t length)
{
	size_t i = (size_t)hash_name(name, length) & (l->index_room - 1);

	while (l->index[i]) {
		const struct listed *e = &l->entries[l->index[i] - 1];

		if (e->name_length == length && memcmp(l->names.data + e->name, name, length) == 0)
			break;
		i = (i + 1) & (l->index_room - 1);
	}
	return i;
}

static bool index_grow(struct listing *l)
{
	size_t room = l->index_room ? l->index_room * 2 : 64;
	uint32_t *bigger;

	if ((l->count + 1) * 2 <= l->index_room)
		return true;
	if (l->count >= UINT32_MAX / 4)
		return false;
	bigger = calloc(room, sizeof(*bigger));
	if (!bigger)
		return false;
	free(l->index);
	l->index = bigger;
	l->index_room = room;
	for (size_t i = 0; i < l->count; i++) {
		const struct listed *e = &l->entries[i];

		l->index[index_slot(l, l->names.data + e->name, e->name_length)] = (uint32_t)(i + 1);
	}
	return true;
}

static enum fsa_status list_entry(void *arg, const struct fsa_dirent *entry)
{
	struct listing *l = arg;
	const char *trouble = fsa_name_trouble(entry->name, entry->name_length);
	struct fsa_shown_name shown;
	struct listed *e;
	void *p = l->entries;
	size_t slot;
	bool ok;

	if (trouble) {
		fsa_find(l->fs->findings, "directory", l->directory, entry->offset,
			 "name \"%s\" of inode %llu %s: left out",
			 fsa_show_name(&shown, entry->name, entry->name_length),
			 (unsigned long long)entry->number, trouble);
		return FSA_OK;
	}
	if (!index_grow(l))
		return FSA_ENOMEM;
	slot = index_slot(l, entry->name, entry->name_length);
	if (l->index[slot]) {
		/* Two things under one name: unpacking them would write the one through the other. */
		fsa_find(l->fs->findings, "directory", l->directory, entry->offset,
			 "name \"%s\" of inode %llu is already that of inode %llu: left out",
			 fsa_show_name(&shown, entry->name, entry->name_length),
			 (unsigned long long)entry->number,
			 (unsigned long long)l->entries[l->index[slot] - 1].number);
		return FSA_OK;
	}
	ok = fsa_grow(&p, &l->room, l->count + 1, sizeof(*l->entries));
	l->entries = p;
	if (!ok)
		return FSA_ENOMEM;
	e = &l->entries[l->count];
	*e = (struct listed){
		.ref = entry->ref,
		.number = entry->number,
		.offset = entry->offset,
		.name = l->names.length,
		.name_length = (uint32_t)entry->name_length,
		.type = (uint8_t)entry->type,
		.encrypted = entry->encrypted,
	};
	if (!fsa_bytes_append(&l->names, entry->name, entry->name_length))
		return FSA_ENOMEM;
	l->index[slot] = (uint32_t)++l->count;
	return FSA_OK;
}

static void reset(struct listing *l)
{
	l->count = 0;
	l->names.length = 0;
	/* The index of a huge directory would be cleared again for each small one after it. */
	if (l->index_room > 4096) {
		free(l->index);
		l->index = NULL;
		l->index_room = 0;
	} else if (l->index) {
		memset(l->index, 0, l->index_room * sizeof(*l->index));
	}
}

enum fsa_status fsa_listing_read(struct listing *l, struct fsa_ref ref, uint64_t directory)
{
	reset(l);
	l->directory = directory;
	return l->fs->parser->readdir(l->fs, ref, list_entry, l);
}

void fsa_listing_free(struct listing *l)
{
	free(l->entries);
	free(l->names.data);
	free(l->index);
}
