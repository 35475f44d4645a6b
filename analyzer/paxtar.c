/* SPDX-License-Identifier: GPL-2.0-only */
#include "paxtar.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "escape.h"
#include "writebehind.h"

#define BLOCK 512u
#define RECORD (64u * BLOCK)	/* archives end on a multiple of this, as with tar -b 64 */

/* The ustar header: octal numbers, NUL-padded strings. */
struct header {
	char name[100];
	char mode[8];
	char uid[8];
	char gid[8];
	char size[12];
	char mtime[12];
	char checksum[8];
	char type;
	char link[100];
	char magic[6];
	char version[2];
	char user[32];
	char group[32];
	char major[8];
	char minor[8];
	char prefix[155];
	char rest[12];
};
_Static_assert(sizeof(struct header) == BLOCK, "a tar header is one block");

struct text {
	char *data;
	size_t length, room;
};

struct paxtar {
	struct writebehind *out;
	int error;
	uint64_t bytes;		/* of the archive so far */
	uint64_t left;		/* data that the current entry still owes */
	struct text extra;	/* xattr and ACL records for the next header */
	struct text records;	/* all records of the header being made */
	struct text map;	/* of a sparse file */
};

struct paxtar *paxtar_new_to(struct writebehind *out)
{
	struct paxtar *tar = out != NULL ? calloc(1, sizeof(*tar)) : NULL;

	if (tar == NULL) {
		writebehind_free(out);
		return NULL;
	}
	tar->out = out;
	return tar;
}

struct paxtar *paxtar_new(int fd, bool (*stop)(void *arg), void *arg)
{
	return paxtar_new_to(writebehind_new(fd, stop, arg));
}

void paxtar_free(struct paxtar *tar)
{
	if (tar == NULL)
		return;
	writebehind_free(tar->out);
	free(tar->extra.data);
	free(tar->records.data);
	free(tar->map.data);
	free(tar);
}

int paxtar_error(const struct paxtar *tar)
{
	return tar->error;
}

uint64_t paxtar_bytes(const struct paxtar *tar)
{
	return tar->bytes;
}

static bool fail(struct paxtar *tar, int error)
{
	if (tar->error == 0)
		tar->error = error;
	return false;
}

/* --- output -------------------------------------------------------------------------------------- */

/* NULL are zeros. */
static bool put(struct paxtar *tar, const void *data, uint64_t length)
{
	if (tar->error != 0)
		return false;
	tar->bytes += length;
	if (writebehind_put(tar->out, data, length))
		return true;
	return fail(tar, writebehind_error(tar->out));
}

static bool pad(struct paxtar *tar)
{
	return put(tar, NULL, (BLOCK - tar->bytes % BLOCK) % BLOCK);
}

/* --- records ------------------------------------------------------------------------------------- */

static bool append(struct text *text, const void *data, size_t length)
{
	if (length > text->room - text->length) {
		size_t room = text->room != 0 ? text->room : 1024;
		char *bigger;

		while (room - text->length < length) {
			if (room > SIZE_MAX / 2)
				return false;
			room *= 2;
		}
		bigger = realloc(text->data, room);
		if (bigger == NULL)
			return false;
		text->data = bigger;
		text->room = room;
	}
	if (length != 0)
		memcpy(text->data + text->length, data, length);
	text->length += length;
	return true;
}

static size_t digits(size_t n)
{
	size_t count = 1;

	for (; n >= 10; n /= 10)
		count++;
	return count;
}

/* `value` in decimal with at least `width` digits, without a NUL; returns the length, at most 20. */
static size_t decimal(char *out, uint64_t value, size_t width)
{
	size_t length = 1;

	for (uint64_t v = value; v >= 10; v /= 10)
		length++;
	if (length < width)
		length = width;
	for (size_t i = length; i-- > 0; value /= 10)
		out[i] = (char)('0' + value % 10);
	return length;
}

/* "LENGTH KEY=VALUE\n", where the length counts its own digits too. */
static bool add_record(struct paxtar *tar, struct text *text, const char *key, const void *value, size_t length)
{
	const size_t bare = strlen(key) + length + 3;
	size_t whole = bare + digits(bare);
	char number[32];
	size_t n;

	whole = bare + digits(whole);
	n = decimal(number, whole, 1);
	number[n++] = ' ';
	if (append(text, number, n) && append(text, key, strlen(key)) && append(text, "=", 1) &&
	    append(text, value, length) && append(text, "\n", 1))
		return true;
	return fail(tar, ENOMEM);
}

static bool add_number(struct paxtar *tar, const char *key, uint64_t value)
{
	char text[32];

	return add_record(tar, &tar->records, key, text, decimal(text, value, 1));
}

static bool add_time(struct paxtar *tar, const char *key, const struct paxtar_time *time)
{
	uint64_t seconds = (uint64_t)time->sec;
	uint32_t nsec = time->nsec;
	char text[48];
	size_t length = 0;

	if (!time->set)
		return true;
	/* -1.25 is stored as second -2 and 750000000 ns forward: as a decimal both count backwards. */
	if (time->sec < 0) {
		seconds = 0 - seconds;
		if (nsec != 0) {
			seconds--;
			nsec = 1000000000 - nsec;
		}
	}
	if (time->sec < 0)
		text[length++] = '-';
	length += decimal(text + length, seconds, 1);
	if (nsec != 0) {
		text[length++] = '.';
		length += decimal(text + length, nsec, 9);
		while (text[length - 1] == '0')
			length--;
	}
	return add_record(tar, &tar->records, key, text, length);
}

bool paxtar_xattr(struct paxtar *tar, const char *name, const void *value, size_t length)
{
	/* The key ends at the first '=': GNU tar and star write that, and '%', in hex. */
	struct text key = { NULL, 0, 0 };
	bool ok = append(&key, "SCHILY.xattr.", 13);

	for (const char *p = name; ok && *p != '\0'; p++) {
		if (*p == '=')
			ok = append(&key, "%3D", 3);
		else if (*p == '%')
			ok = append(&key, "%25", 3);
		else
			ok = append(&key, p, 1);
	}
	ok = ok && append(&key, "", 1);
	if (ok)
		add_record(tar, &tar->extra, key.data, value, length);
	else
		fail(tar, ENOMEM);
	free(key.data);
	return tar->error == 0;
}

bool paxtar_acl(struct paxtar *tar, bool default_acl, const char *text)
{
	return add_record(tar, &tar->extra, default_acl ? "SCHILY.acl.default" : "SCHILY.acl.access", text,
			  strlen(text));
}

void paxtar_forget(struct paxtar *tar)
{
	tar->extra.length = 0;
}

/* --- headers ------------------------------------------------------------------------------------- */

/*
 * A number in octal, `size` bytes with a NUL at the end; what does not fit becomes base 256, which all
 * common readers know and which a pax record beside it overrides anyway.
 */
static void set_number(char *field, size_t size, uint64_t value)
{
	const unsigned bits = (unsigned)(size - 1) * 3;

	if (bits < 64 && value >> bits != 0) {
		for (size_t i = size; i-- > 1; value >>= 8)
			field[i] = (char)(value & 0xff);
		field[0] = (char)0x80;
		return;
	}
	field[size - 1] = '\0';
	for (size_t i = size - 1; i-- > 0; value >>= 3)
		field[i] = (char)('0' + (value & 7));
}

static void set_string(char *field, size_t size, const char *bytes, size_t length)
{
	memcpy(field, bytes, length < size ? length : size);
}

static bool put_header(struct paxtar *tar, struct header *header)
{
	unsigned sum = 0;

	memcpy(header->magic, "ustar", 6);
	memcpy(header->version, "00", 2);
	memset(header->checksum, ' ', sizeof(header->checksum));
	for (size_t i = 0; i < sizeof(*header); i++)
		sum += ((const uint8_t *)header)[i];
	set_number(header->checksum, 7, sum);
	return put(tar, header, sizeof(*header));
}

static bool is_ascii(const char *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if ((unsigned char)bytes[i] >= 0x80)
			return false;
	return true;
}

/* The records that a ustar header cannot hold; a directory's slash is part of `path` already. */
static bool make_records(struct paxtar *tar, const struct paxtar_entry *entry, const struct text *path,
			 uint64_t stored)
{
	const struct header *h = NULL;
	const bool path_record = path->length > sizeof(h->name) || !is_ascii(path->data, path->length);
	const bool link_record = entry->link != NULL && (entry->link_length > sizeof(h->link) ||
							 !is_ascii(entry->link, entry->link_length));

	tar->records.length = 0;
	/* Without it a reader would take the names for UTF-8. */
	if ((path_record && !escape_is_utf8(path->data, path->length)) ||
	    (link_record && !escape_is_utf8(entry->link, entry->link_length)))
		add_record(tar, &tar->records, "hdrcharset", "BINARY", 6);
	if (entry->sparse) {
		add_number(tar, "GNU.sparse.major", 1);
		add_number(tar, "GNU.sparse.minor", 0);
		add_record(tar, &tar->records, "GNU.sparse.name", path->data, path->length);
		add_number(tar, "GNU.sparse.realsize", entry->size);
	} else if (path_record) {
		add_record(tar, &tar->records, "path", path->data, path->length);
	}
	if (link_record)
		add_record(tar, &tar->records, "linkpath", entry->link, entry->link_length);
	if (stored > 077777777777u)
		add_number(tar, "size", stored);
	if (entry->uid > 07777777)
		add_number(tar, "uid", entry->uid);
	if (entry->gid > 07777777)
		add_number(tar, "gid", entry->gid);
	add_time(tar, "mtime", &entry->mtime);
	add_time(tar, "atime", &entry->atime);
	add_time(tar, "ctime", &entry->ctime);
	if (tar->extra.length != 0 && !append(&tar->records, tar->extra.data, tar->extra.length))
		fail(tar, ENOMEM);
	tar->extra.length = 0;
	return tar->error == 0;
}

/* The map in front of a sparse file's data: decimal lines, padded to a block. */
static bool make_map(struct paxtar *tar, const struct paxtar_entry *entry, uint64_t *data_bytes)
{
	const struct paxtar_piece *last = entry->n_pieces != 0 ? &entry->pieces[entry->n_pieces - 1] : NULL;
	/* A piece of no length at the end of the file says where that is, as GNU tar does. */
	const bool tail = last == NULL || last->offset + last->length < entry->size;
	char line[64];

	*data_bytes = 0;
	tar->map.length = 0;
	snprintf(line, sizeof(line), "%zu\n", entry->n_pieces + tail);
	if (!append(&tar->map, line, strlen(line)))
		return fail(tar, ENOMEM);
	for (size_t i = 0; i < entry->n_pieces + tail; i++) {
		const struct paxtar_piece end = { entry->size, 0 };
		const struct paxtar_piece *piece = i < entry->n_pieces ? &entry->pieces[i] : &end;

		snprintf(line, sizeof(line), "%" PRIu64 "\n%" PRIu64 "\n", piece->offset, piece->length);
		if (!append(&tar->map, line, strlen(line)))
			return fail(tar, ENOMEM);
		*data_bytes += piece->length;
	}
	while (tar->map.length % BLOCK != 0)
		if (!append(&tar->map, "", 1))
			return fail(tar, ENOMEM);
	return true;
}

static void set_name(struct header *header, const struct paxtar_entry *entry, const struct text *path)
{
	static const char sparse[] = "./GNUSparseFile.0/";
	const char *base;

	if (!entry->sparse) {
		set_string(header->name, sizeof(header->name), path->data, path->length);
		return;
	}
	/* A reader that knows no sparse files must not take the map for the file. */
	base = memrchr(path->data, '/', path->length);
	base = base != NULL ? base + 1 : path->data;
	memcpy(header->name, sparse, sizeof(sparse) - 1);
	set_string(header->name + sizeof(sparse) - 1, sizeof(header->name) - (sizeof(sparse) - 1), base,
		   path->length - (size_t)(base - path->data));
}

bool paxtar_header(struct paxtar *tar, const struct paxtar_entry *entry)
{
	struct header header = { .type = (char)entry->type };
	struct text path = { NULL, 0, 0 };
	uint64_t data_bytes = entry->type == PAXTAR_REGULAR ? entry->size : 0;
	uint64_t stored;

	if (tar->error != 0)
		return false;
	tar->map.length = 0;
	if (!append(&path, entry->path, entry->path_length) ||
	    (entry->type == PAXTAR_DIRECTORY && !append(&path, "/", 1))) {
		free(path.data);
		return fail(tar, ENOMEM);
	}
	if (entry->sparse)
		make_map(tar, entry, &data_bytes);
	stored = tar->map.length + data_bytes;
	if (tar->error == 0 && make_records(tar, entry, &path, stored) && tar->records.length != 0) {
		struct header extended = { .type = 'x' };

		set_string(extended.name, sizeof(extended.name), "././@PaxHeader", 14);
		set_number(extended.mode, sizeof(extended.mode), 0644);
		set_number(extended.uid, sizeof(extended.uid), 0);
		set_number(extended.gid, sizeof(extended.gid), 0);
		set_number(extended.size, sizeof(extended.size), tar->records.length);
		set_number(extended.mtime, sizeof(extended.mtime), 0);
		if (put_header(tar, &extended) && put(tar, tar->records.data, tar->records.length))
			pad(tar);
	}
	if (tar->error == 0) {
		const bool device = entry->type == PAXTAR_CHARDEV || entry->type == PAXTAR_BLOCKDEV;
		const int64_t sec = entry->mtime.set ? entry->mtime.sec : 0;

		set_name(&header, entry, &path);
		set_number(header.mode, sizeof(header.mode), entry->mode & 07777);
		set_number(header.uid, sizeof(header.uid), entry->uid);
		set_number(header.gid, sizeof(header.gid), entry->gid);
		set_number(header.size, sizeof(header.size), stored);
		set_number(header.mtime, sizeof(header.mtime), sec < 0 || sec > 077777777777 ? 0 : (uint64_t)sec);
		set_number(header.major, sizeof(header.major), device ? entry->rdev_major : 0);
		set_number(header.minor, sizeof(header.minor), device ? entry->rdev_minor : 0);
		if (entry->link != NULL)
			set_string(header.link, sizeof(header.link), entry->link, entry->link_length);
		if (put_header(tar, &header) && tar->map.length != 0)
			put(tar, tar->map.data, tar->map.length);
	}
	free(path.data);
	tar->left = data_bytes;
	return tar->error == 0;
}

bool paxtar_data(struct paxtar *tar, const void *data, uint64_t length)
{
	if (length > tar->left)
		return fail(tar, EINVAL);
	tar->left -= length;
	return put(tar, data, length);
}

bool paxtar_end_entry(struct paxtar *tar)
{
	if (tar->left != 0)
		return fail(tar, EINVAL);
	return pad(tar);
}

void paxtar_lend(struct paxtar *tar, const void *bytes, size_t length)
{
	writebehind_lend(tar->out, bytes, length);
}

bool paxtar_settle(struct paxtar *tar)
{
	if (tar->error != 0)
		return false;
	return writebehind_settle(tar->out) || fail(tar, writebehind_error(tar->out));
}

bool paxtar_flush(struct paxtar *tar)
{
	if (tar->error != 0)
		return false;
	return writebehind_flush(tar->out) || fail(tar, writebehind_error(tar->out));
}

bool paxtar_finish(struct paxtar *tar)
{
	if (!put(tar, NULL, 2 * BLOCK) || !put(tar, NULL, (RECORD - tar->bytes % RECORD) % RECORD))
		return false;
	return paxtar_flush(tar);
}
