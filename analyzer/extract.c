/* SPDX-License-Identifier: GPL-2.0-only */
#include "extract.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "acl.h"
#include "firstpath.h"
#include "fsa/bytes.h"
#include "writebehind.h"

/* Holes below this are written as zeros: no filesystem would keep them as holes. */
#define LEAST_HOLE 512u
/* So many stretches of data are kept for one file; what is sparser than that gets some zeros. */
#define MAX_PIECES (1u << 20)

struct extract {
	const struct opened *opened;
	struct fsa_fs *fs;
	struct paxtar *tar;
	struct progress *progress;
	struct firstpath links;
	struct extract_counts counts;
	const char *name;		/* of the tree being added */
	size_t name_length;
	char *path;			/* of the entry: name/rest */
	size_t path_length, path_room;
	/* The regular file being added. */
	uint64_t size;
	struct paxtar_piece *pieces;
	size_t n_pieces, pieces_room;
	size_t piece;			/* the one that the next byte of data lies in or before */
	uint64_t position;
	uint64_t unreadable;
};

struct extract *extract_new_to(const struct opened *opened, struct writebehind *out, struct progress *progress)
{
	struct extract *x = calloc(1, sizeof(*x));

	if (x == NULL) {
		writebehind_free(out);
		return NULL;
	}
	x->opened = opened;
	x->fs = opened->fs;
	x->progress = progress;
	x->tar = paxtar_new_to(out);
	if (x->tar == NULL) {
		free(x);
		return NULL;
	}
	return x;
}

struct extract *extract_new(const struct opened *opened, int fd, bool (*stop)(void *arg), void *arg,
			    struct progress *progress)
{
	return extract_new_to(opened, writebehind_new(fd, stop, arg), progress);
}

void extract_free(struct extract *x)
{
	if (x == NULL)
		return;
	paxtar_free(x->tar);
	firstpath_free(&x->links);
	free(x->path);
	free(x->pieces);
	free(x);
}

int extract_error(const struct extract *x)
{
	return paxtar_error(x->tar);
}

struct extract_counts extract_counts(const struct extract *x)
{
	return x->counts;
}

/* Trouble with the output, as a status. */
static enum fsa_status output(const struct extract *x, bool good)
{
	if (good)
		return FSA_OK;
	return paxtar_error(x->tar) == ENOMEM ? FSA_ENOMEM : FSA_ESYSTEM;
}

static enum fsa_status leave_out(struct extract *x, const struct fsa_stat *stat, const char *why)
{
	x->counts.left_out++;
	fsa_find(x->opened->findings, "inode", stat->number, stat->offset, "%s: not extracted", why);
	return FSA_OK;
}

/* --- names --------------------------------------------------------------------------------------- */

char *extract_name(const char *path)
{
	char *name = malloc(strlen(path) + 2);
	size_t length = 0;

	if (name == NULL)
		return NULL;
	for (const char *p = path; *p != '\0';) {
		const size_t n = strcspn(p, "/");

		if (n == 2 && p[0] == '.' && p[1] == '.') {
			while (length != 0 && name[length - 1] != '/')
				length--;
			length -= length != 0;
		} else if (n != 0 && !(n == 1 && p[0] == '.')) {
			if (length != 0)
				name[length++] = '/';
			memcpy(name + length, p, n);
			length += n;
		}
		p += n + (p[n] == '/');
	}
	if (length == 0)
		name[length++] = '.';
	name[length] = '\0';
	return name;
}

/*
 * The walk lets no other names through; this is the last gate before the archive, where a mistake anywhere
 * else would let an image write over its reader's files.
 */
static bool is_safe(const char *path, size_t length)
{
	if (length == 0 || path[0] == '/' || memchr(path, '\0', length) != NULL)
		return false;
	for (size_t i = 0; i < length;) {
		const char *end = memchr(path + i, '/', length - i);
		const size_t n = end != NULL ? (size_t)(end - path) - i : length - i;

		if (n == 0 || (n == 2 && path[i] == '.' && path[i + 1] == '.'))
			return false;
		i += n + 1;
	}
	return path[length - 1] != '/';
}

/* Makes x->path from the tree's name and the entry's path below it. */
static bool set_path(struct extract *x, const struct fsa_walk_entry *entry)
{
	const size_t wanted = x->name_length + 1 + entry->path_length + 1;

	if (wanted > x->path_room) {
		char *bigger = realloc(x->path, wanted * 2);

		if (bigger == NULL)
			return false;
		x->path = bigger;
		x->path_room = wanted * 2;
	}
	memcpy(x->path, x->name, x->name_length);
	x->path_length = x->name_length;
	if (entry->path_length != 0) {
		x->path[x->path_length++] = '/';
		memcpy(x->path + x->path_length, entry->path, entry->path_length);
		x->path_length += entry->path_length;
	}
	x->path[x->path_length] = '\0';
	return true;
}

/* --- extended attributes ------------------------------------------------------------------------- */

struct xattr_arg {
	struct extract *x;
	const struct fsa_stat *stat;
};

static enum fsa_status add_xattr(void *arg, const char *name, const void *value, size_t length)
{
	const struct xattr_arg *a = arg;
	const bool default_acl = strcmp(name, "system.posix_acl_default") == 0;
	const char *why = NULL;
	char *text;
	bool good;

	if (!default_acl && strcmp(name, "system.posix_acl_access") != 0)
		return output(a->x, paxtar_xattr(a->x->tar, name, value, length));
	text = acl_text(value, length, &why);
	if (text == NULL && why == NULL)
		return FSA_ENOMEM;
	if (text == NULL) {
		fsa_find(a->x->opened->findings, "inode", a->stat->number, a->stat->offset,
			 "%s: %s: not extracted", name, why);
		return FSA_OK;
	}
	good = paxtar_acl(a->x->tar, default_acl, text);
	free(text);
	return output(a->x, good);
}

static enum fsa_status add_xattrs(struct extract *x, const struct fsa_stat *stat)
{
	struct xattr_arg arg = { x, stat };
	enum fsa_status status;

	if (x->fs->parser->xattrs == NULL)
		return FSA_OK;
	status = x->fs->parser->xattrs(x->fs, stat->ref, add_xattr, &arg);
	/* Damage was reported by the parser and costs the attributes that it hides, nothing else. */
	if (status == FSA_ENOMEM || paxtar_error(x->tar) != 0)
		return status;
	return FSA_OK;
}

/* --- regular files ------------------------------------------------------------------------------- */

/* Bytes of a stored piece that the image really has; the rest reads as zeros, and is a finding later. */
static uint64_t stored_bytes(const struct extract *x, const struct fsa_extent *extent, uint64_t length)
{
	uint64_t size;

	if (extent->kind == FSA_EXTENT_ENCODED || extent->bytes != NULL)
		return length;
	if (extent->device >= x->fs->n_devices)
		return 0;
	size = fsa_image_size(x->fs->devices[extent->device].image);
	return extent->physical < size ? fsa_min(length, size - extent->physical) : 0;
}

static enum fsa_status note_piece(void *arg, const struct fsa_extent *extent)
{
	struct extract *x = arg;
	struct paxtar_piece *last = x->n_pieces != 0 ? &x->pieces[x->n_pieces - 1] : NULL;
	uint64_t length;

	if (extent->logical >= x->size)
		return FSA_OK;
	if (extent->kind == FSA_EXTENT_HOLE || extent->kind == FSA_EXTENT_UNWRITTEN ||
	    extent->kind == FSA_EXTENT_UNREADABLE)
		return FSA_OK;
	length = stored_bytes(x, extent, fsa_min(extent->length, x->size - extent->logical));
	if (length == 0)
		return FSA_OK;
	if (last != NULL && (extent->logical - (last->offset + last->length) < LEAST_HOLE ||
			     x->n_pieces == MAX_PIECES)) {
		last->length = extent->logical + length - last->offset;
		return FSA_OK;
	}
	if (x->n_pieces == x->pieces_room) {
		const size_t room = x->pieces_room != 0 ? x->pieces_room * 2 : 64;
		struct paxtar_piece *bigger = realloc(x->pieces, room * sizeof(*bigger));

		if (bigger == NULL)
			return FSA_ENOMEM;
		x->pieces = bigger;
		x->pieces_room = room;
	}
	x->pieces[x->n_pieces++] = (struct paxtar_piece){ extent->logical, length };
	return FSA_OK;
}

/* Where the file has data, as stretches in the archive. True when it is worth calling it sparse. */
static enum fsa_status find_pieces(struct extract *x, const struct fsa_stat *stat, bool *sparse)
{
	struct paxtar_piece *first, *last;
	enum fsa_status status;

	x->n_pieces = 0;
	status = fsa_file_extents(x->fs, stat->ref, stat->size, note_piece, x);
	if (status == FSA_ENOMEM)
		return status;
	if (x->n_pieces != 0) {
		first = &x->pieces[0];
		last = &x->pieces[x->n_pieces - 1];
		if (first->offset < LEAST_HOLE) {
			first->length += first->offset;
			first->offset = 0;
		}
		if (stat->size - (last->offset + last->length) < LEAST_HOLE)
			last->length = stat->size - last->offset;
		*sparse = x->n_pieces > 1 || first->length != stat->size;
	} else {
		*sparse = stat->size >= LEAST_HOLE;
	}
	return FSA_OK;
}

/* The part of the file's bytes that lies in a stretch of data goes to the archive. */
static enum fsa_status write_bytes(void *arg, const void *data, uint64_t length, bool unreadable)
{
	struct extract *x = arg;
	const uint64_t end = x->position + length;
	const uint8_t *bytes = data;

	if (unreadable)
		x->unreadable += length;
	while (x->piece < x->n_pieces && x->position < end) {
		const struct paxtar_piece *piece = &x->pieces[x->piece];
		const uint64_t from = fsa_max(x->position, piece->offset);
		const uint64_t to = fsa_min(end, piece->offset + piece->length);

		if (from >= end)
			break;
		if (from < to && !paxtar_data(x->tar, bytes != NULL ? bytes + (from - (end - length)) : NULL,
					      to - from))
			return output(x, false);
		if (to == piece->offset + piece->length)
			x->piece++;
		x->position = fsa_max(x->position, to);
	}
	x->position = end;
	return FSA_OK;
}

static enum fsa_status add_contents(struct extract *x, const struct fsa_stat *stat, struct paxtar_entry *entry)
{
	enum fsa_status status;

	x->size = stat->size;
	x->position = 0;
	x->piece = 0;
	x->unreadable = 0;
	status = find_pieces(x, stat, &entry->sparse);
	if (status != FSA_OK)
		return status;
	entry->size = stat->size;
	entry->pieces = x->pieces;
	entry->n_pieces = x->n_pieces;
	if (!entry->sparse) {
		/* All of it, zeros that are too few to be a hole included. */
		if (x->pieces == NULL) {
			x->pieces = calloc(64, sizeof(*x->pieces));
			x->pieces_room = 64;
		}
		if (x->pieces == NULL)
			return FSA_ENOMEM;
		x->pieces[0] = (struct paxtar_piece){ 0, stat->size };
		x->n_pieces = 1;
	}
	if (!paxtar_header(x->tar, entry))
		return output(x, false);
	if (stat->size != 0) {
		status = fsa_file_read(x->fs, stat->ref, stat->size, write_bytes, x);
		if (status != FSA_OK)
			return status;
	}
	if (x->unreadable != 0) {
		x->counts.incomplete++;
		fsa_find(x->opened->findings, "inode", stat->number, stat->offset,
			 "%" PRIu64 " of %" PRIu64 " bytes cannot be read: zeros are extracted in their place",
			 x->unreadable, stat->size);
	}
	return FSA_OK;
}

/* --- entries ------------------------------------------------------------------------------------- */

static struct paxtar_time tar_time(const struct fsa_time *time)
{
	return (struct paxtar_time){ time->sec, time->nsec < 1000000000 ? time->nsec : 0, time->set };
}

/* What a directory, device or fifo is: a header and nothing behind it. */
static enum fsa_status add_plain(struct extract *x, const struct fsa_stat *stat, struct paxtar_entry *entry)
{
	enum fsa_status status = add_xattrs(x, stat);

	if (status != FSA_OK)
		return status;
	return output(x, paxtar_header(x->tar, entry));
}

static enum fsa_status add_symlink(struct extract *x, const struct fsa_stat *stat, struct paxtar_entry *entry)
{
	enum fsa_status status = FSA_EUNSUPPORTED;
	char *target = NULL;
	size_t length = 0;

	if (x->fs->parser->readlink != NULL)
		status = x->fs->parser->readlink(x->fs, stat->ref, &target, &length);
	if (status == FSA_ENOMEM)
		return status;
	if (status != FSA_OK || target == NULL)
		return leave_out(x, stat, "target of the symbolic link cannot be read");
	if (length == 0 || memchr(target, '\0', length) != NULL) {
		free(target);
		return leave_out(x, stat, "target of the symbolic link is empty or holds a NUL byte");
	}
	entry->link = target;
	entry->link_length = length;
	status = add_plain(x, stat, entry);
	free(target);
	return status;
}

static enum fsa_status add_regular(struct extract *x, const struct fsa_stat *stat, struct paxtar_entry *entry)
{
	enum fsa_status status;

	if (stat->size > INT64_MAX)
		return leave_out(x, stat, "size of the file is above 2^63 - 1");
	if (x->fs->parser->extents == NULL)
		return leave_out(x, stat, "contents of files cannot be read in this format");
	if (stat->flags & FSA_OBJECT_ENCRYPTED)
		x->counts.encrypted++;
	status = add_xattrs(x, stat);
	if (status != FSA_OK)
		return status;
	return add_contents(x, stat, entry);
}

/* True when the object is in the archive already under another path, which becomes the entry's link. */
static enum fsa_status find_link(struct extract *x, const struct fsa_stat *stat, struct paxtar_entry *entry,
				 bool *is_link)
{
	*is_link = false;
	if (stat->links < 2 || stat->type == FSA_TYPE_DIRECTORY)
		return FSA_OK;
	if (!firstpath_meet(&x->links, stat->ref, x->path, x->path_length, &entry->link, &entry->link_length))
		return FSA_ENOMEM;
	/* The same path again (a tree named twice) is the file again: a link to itself would destroy it. */
	*is_link = entry->link_length != x->path_length ||
		   memcmp(entry->link, x->path, x->path_length) != 0;
	if (!*is_link)
		entry->link = NULL;
	return FSA_OK;
}

static enum fsa_status add_object(struct extract *x, const struct fsa_stat *stat)
{
	struct paxtar_entry entry = {
		.path = x->path,
		.path_length = x->path_length,
		.mode = stat->mode & 07777,
		.uid = stat->uid,
		.gid = stat->gid,
		.rdev_major = stat->rdev_major,
		.rdev_minor = stat->rdev_minor,
		.mtime = tar_time(&stat->mtime),
		.atime = tar_time(&stat->atime),
		.ctime = tar_time(&stat->ctime),
	};
	const uint64_t left_out = x->counts.left_out;
	enum fsa_status status;
	bool is_link;

	if (stat->type == FSA_TYPE_SOCKET) {
		x->counts.sockets++;
		return FSA_OK;
	}
	paxtar_forget(x->tar);
	status = find_link(x, stat, &entry, &is_link);
	if (status != FSA_OK)
		return status;
	if (is_link) {
		entry.type = PAXTAR_HARD_LINK;
		status = output(x, paxtar_header(x->tar, &entry));
	} else {
		switch (stat->type) {
		case FSA_TYPE_REGULAR:
			entry.type = PAXTAR_REGULAR;
			status = add_regular(x, stat, &entry);
			break;
		case FSA_TYPE_DIRECTORY:
			entry.type = PAXTAR_DIRECTORY;
			status = add_plain(x, stat, &entry);
			break;
		case FSA_TYPE_SYMLINK:
			entry.type = PAXTAR_SYMLINK;
			status = add_symlink(x, stat, &entry);
			break;
		case FSA_TYPE_CHARDEV:
			entry.type = PAXTAR_CHARDEV;
			status = add_plain(x, stat, &entry);
			break;
		case FSA_TYPE_BLOCKDEV:
			entry.type = PAXTAR_BLOCKDEV;
			status = add_plain(x, stat, &entry);
			break;
		case FSA_TYPE_FIFO:
			entry.type = PAXTAR_FIFO;
			status = add_plain(x, stat, &entry);
			break;
		default:
			return leave_out(x, stat, "inode is of no known type");
		}
	}
	if (status == FSA_OK && x->counts.left_out != left_out && stat->links > 1)
		firstpath_forget(&x->links, stat->ref);
	if (status != FSA_OK || x->counts.left_out != left_out)
		return status;
	x->counts.entries++;
	return output(x, paxtar_end_entry(x->tar));
}

enum fsa_status extract_entry(void *arg, const struct fsa_walk_entry *entry)
{
	struct extract *x = arg;

	if (x->progress != NULL)
		progress_show(x->progress, NULL, paxtar_bytes(x->tar), 0, true);
	if (entry->stat == NULL) {
		/* The parser has said what is wrong with the inode; here is who misses it. */
		x->counts.left_out++;
		fsa_find(x->opened->findings, "inode",
			 entry->entry != NULL ? entry->entry->number : FSA_NO_NUMBER,
			 entry->entry != NULL ? entry->entry->offset : FSA_NO_OFFSET,
			 "inode cannot be read: /%.300s is not extracted", entry->path);
		return FSA_OK;
	}
	if (!set_path(x, entry))
		return FSA_ENOMEM;
	if (!is_safe(x->path, x->path_length))
		return leave_out(x, entry->stat, "path would leave the place of extraction");
	return add_object(x, entry->stat);
}

void extract_begin(struct extract *x, const char *name)
{
	x->name = name;
	x->name_length = strlen(name);
}

bool extract_has(const struct extract *x, struct fsa_ref ref)
{
	return firstpath_has(&x->links, ref);
}

void extract_lend(struct extract *x, const void *bytes, size_t length)
{
	paxtar_lend(x->tar, bytes, length);
}

enum fsa_status extract_settle(struct extract *x)
{
	return output(x, paxtar_settle(x->tar));
}

enum fsa_status extract_flush(struct extract *x)
{
	return output(x, paxtar_flush(x->tar));
}

enum fsa_status extract_finish(struct extract *x)
{
	return output(x, paxtar_finish(x->tar));
}
