/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Directories of a dump: entries of 4.4BSD (number, length of the record, type, length of the name, the name with
 * a NUL), each within a block of 512 bytes, the last of a block reaching to its end.
 */
#include <stdlib.h>
#include <string.h>

#include "dump_private.h"

#define ENTRY_HEAD 8u
/* restore(8) takes a larger one for a number with its halves swapped. */
#define MOST_BYTES 0xfffffffu

bool dump_reserve(struct dump_text *text, size_t more)
{
	size_t room = text->room != 0 ? text->room : 4096;
	uint8_t *bigger;

	if (more <= text->room - text->length)
		return true;
	while (room - text->length < more)
		room *= 2;
	bigger = realloc(text->data, room);
	if (bigger == NULL)
		return false;
	text->data = bigger;
	text->room = room;
	return true;
}

struct maker {
	struct dump *d;
	const struct dumped *directory;
	size_t last;		/* where the last entry starts */
	size_t count;
	bool full;
};

static uint8_t type_in_entry(enum fsa_type type)
{
	switch (type) {
	case FSA_TYPE_FIFO: return 1;
	case FSA_TYPE_CHARDEV: return 2;
	case FSA_TYPE_DIRECTORY: return 4;
	case FSA_TYPE_BLOCKDEV: return 6;
	case FSA_TYPE_REGULAR: return 8;
	case FSA_TYPE_SYMLINK: return 10;
	case FSA_TYPE_SOCKET: return 12;
	default: return 0;
	}
}

/* Lengthens the last entry up to the end of its block. */
static void close_block(struct maker *m)
{
	struct dump_text *text = &m->d->text;
	const size_t rest = (DUMP_DIRBLOCK - text->length % DUMP_DIRBLOCK) % DUMP_DIRBLOCK;
	size_t length;

	if (rest == 0)
		return;
	memset(text->data + text->length, 0, rest);
	text->length += rest;
	length = text->length - m->last;
	text->data[m->last + 4] = (uint8_t)length;
	text->data[m->last + 5] = (uint8_t)(length >> 8);
}

static enum fsa_status put_entry(struct maker *m, uint32_t number, enum fsa_type type, const char *name, size_t length)
{
	struct dump_text *text = &m->d->text;
	const size_t size = (ENTRY_HEAD + length + 1 + 3) / 4 * 4;
	uint8_t *entry;

	if (!dump_reserve(text, DUMP_DIRBLOCK + size))
		return FSA_ENOMEM;
	if (size > DUMP_DIRBLOCK - text->length % DUMP_DIRBLOCK)
		close_block(m);
	entry = text->data + text->length;
	memset(entry, 0, size);
	for (unsigned i = 0; i < 4; i++)
		entry[i] = (uint8_t)(number >> 8 * i);
	entry[4] = (uint8_t)size;
	entry[5] = (uint8_t)(size >> 8);
	entry[6] = type_in_entry(type);
	entry[7] = (uint8_t)length;
	memcpy(entry + ENTRY_HEAD, name, length);
	m->last = text->length;
	text->length += size;
	m->count++;
	return FSA_OK;
}

/* --- names met so far ---------------------------------------------------------------------------- */

static size_t slot_of(const struct maker *m, const uint32_t *slots, size_t room, const char *name, size_t length)
{
	uint64_t h = length;
	size_t i;

	for (size_t n = 0; n < length; n++)
		h = (h ^ (uint8_t)name[n]) * 0x100000001b3u;
	for (i = (size_t)(h ^ h >> 29) & (room - 1); slots[i] != 0; i = (i + 1) & (room - 1)) {
		const uint8_t *entry = m->d->text.data + (slots[i] - 1);

		if (entry[7] == length && memcmp(entry + ENTRY_HEAD, name, length) == 0)
			break;
	}
	return i;
}

static bool make_slots(struct maker *m, size_t room)
{
	struct dump *d = m->d;
	uint32_t *slots = calloc(room, sizeof(*slots));

	if (slots == NULL)
		return false;
	for (size_t i = 0; i < d->names_room; i++)
		if (d->names[i] != 0) {
			const uint8_t *entry = d->text.data + (d->names[i] - 1);

			slots[slot_of(m, slots, room, (const char *)entry + ENTRY_HEAD, entry[7])] = d->names[i];
		}
	free(d->names);
	d->names = slots;
	d->names_room = room;
	return true;
}

/* --- the directory ------------------------------------------------------------------------------- */

static bool is_proper(const struct fsa_dirent *entry)
{
	const char *name = entry->name;
	const size_t length = entry->name_length;

	if (length == 0 || length > 255 || memchr(name, '/', length) != NULL || memchr(name, '\0', length) != NULL)
		return false;
	return name[0] != '.' || length > 2 || (length == 2 && name[1] != '.');
}

/* What is wrong with a name or an inode was told when the tree was walked. */
static enum fsa_status add_entry(void *arg, const struct fsa_dirent *entry)
{
	struct maker *m = arg;
	struct dump *d = m->d;
	struct dumped *target = is_proper(entry) ? dump_find(&d->inodes, entry->ref) : NULL;
	enum fsa_status status;
	size_t slot;

	if (target == NULL || m->full)
		return FSA_OK;
	/* A directory has one name, the one it was entered by. */
	if (target->directory && (target->named || &d->inodes.list[target->parent] != m->directory))
		return FSA_OK;
	if ((m->count + 1) * 2 > d->names_room && !make_slots(m, d->names_room * 2))
		return FSA_ENOMEM;
	slot = slot_of(m, d->names, d->names_room, entry->name, entry->name_length);
	if (d->names[slot] != 0)
		return FSA_OK;
	if (d->text.length > MOST_BYTES - 2 * DUMP_DIRBLOCK) {
		fsa_find(d->opened->findings, "directory", m->directory->number, FSA_NO_OFFSET,
			 "has more than %u bytes of entries: the rest is not dumped", MOST_BYTES);
		d->counts.left_out++;
		m->full = true;
		return FSA_OK;
	}
	status = put_entry(m, target->dumped, target->directory ? FSA_TYPE_DIRECTORY : entry->type, entry->name,
			   entry->name_length);
	if (status != FSA_OK)
		return status;
	d->names[slot] = (uint32_t)m->last + 1;
	target->named |= target->directory;
	return FSA_OK;
}

static enum fsa_status make_directory(struct dump *d, struct dumped *inode)
{
	struct maker m = { .d = d, .directory = inode };
	enum fsa_status status;

	d->text.length = 0;
	if (d->names_room == 0 && !make_slots(&m, 256))
		return FSA_ENOMEM;
	memset(d->names, 0, d->names_room * sizeof(*d->names));
	status = put_entry(&m, inode->dumped, FSA_TYPE_DIRECTORY, ".", 1);
	if (status == FSA_OK)
		status = put_entry(&m, d->inodes.list[inode->parent].dumped, FSA_TYPE_DIRECTORY, "..", 2);
	if (status == FSA_OK)
		status = d->fs->parser->readdir(d->fs, inode->ref, add_entry, &m);
	/* Damage costs the entries that could not be read. */
	if (status == FSA_ENOMEM)
		return status;
	close_block(&m);
	return FSA_OK;
}

static enum fsa_status put_directory(struct dump *d, const struct dumped *dumped, const struct dump_inode *inode)
{
	const size_t records = (d->text.length + DUMP_RECORD - 1) / DUMP_RECORD;
	uint8_t follows[DUMP_ADDRS];

	memset(follows, 1, sizeof(follows));
	for (size_t done = 0; done < records; done += DUMP_ADDRS) {
		const size_t count = records - done < DUMP_ADDRS ? records - done : DUMP_ADDRS;
		const size_t from = done * DUMP_RECORD;
		const size_t to = from + count * DUMP_RECORD < d->text.length ? from + count * DUMP_RECORD
									      : d->text.length;
		const struct dump_header header = {
			.type = done == 0 ? DUMP_INODE : DUMP_ADDR,
			.number = dumped->dumped,
			.count = (uint32_t)count,
			.inode = inode,
			.follows = follows,
		};

		if (!dump_put_header(&d->stream, &header) || !dump_put(&d->stream, d->text.data + from, to - from) ||
		    !dump_pad(&d->stream))
			return dump_output(d, false);
	}
	return FSA_OK;
}

enum fsa_status dump_directory(struct dump *d, struct dumped *dumped)
{
	struct dump_inode inode;
	struct fsa_stat stat;
	enum fsa_status status;

	status = d->fs->parser->stat(d->fs, dumped->ref, &stat);
	if (status == FSA_ENOMEM)
		return status;
	/* It could be read when the tree was walked: the host fails now, and an empty one keeps its name. */
	if (status != FSA_OK)
		stat = (struct fsa_stat){ .mode = 040700 };
	status = make_directory(d, dumped);
	if (status != FSA_OK)
		return status;
	dump_set_inode(d, &stat, &inode);
	inode.size = d->text.length;
	status = put_directory(d, dumped, &inode);
	if (status != FSA_OK)
		return status;
	d->counts.inodes++;
	return dump_xattrs(d, dumped, &inode);
}
