/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Everything but directories. A file goes out in stretches of up to 512 records of 1 KiB, each after a header that
 * says which of them are there and which are holes.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "dump_private.h"
#include "fsa/bytes.h"

#define STRETCH ((uint64_t)DUMP_ADDRS * DUMP_RECORD)
/* So many runs of data are kept for one file; what is in more pieces than that gets some zeros. */
#define MOST_RUNS (1u << 20)
/* restore(8) gives up altogether on a longer one. */
#define MOST_TARGET 4095u

struct writer {
	struct dump *d;
	const struct dumped *dumped;
	const struct dump_inode *inode;
	uint64_t position;
	size_t run;		/* the first that ends behind the position */
	uint64_t unreadable;
};

/* --- where there is data ------------------------------------------------------------------------- */

struct finder {
	struct dump *d;
	uint64_t size;
};

static enum fsa_status note_run(void *arg, const struct fsa_extent *extent)
{
	const struct finder *f = arg;
	struct dump *d = f->d;
	struct dump_run *last = d->n_runs != 0 ? &d->runs[d->n_runs - 1] : NULL;
	uint64_t start, end;

	if (extent->logical >= f->size || extent->kind == FSA_EXTENT_HOLE || extent->kind == FSA_EXTENT_UNWRITTEN ||
	    extent->kind == FSA_EXTENT_UNREADABLE)
		return FSA_OK;
	start = extent->logical / DUMP_RECORD;
	end = fsa_div_up(extent->logical + fsa_min(extent->length, f->size - extent->logical), DUMP_RECORD);
	if (last != NULL && (start <= last->end || d->n_runs == MOST_RUNS)) {
		last->end = fsa_max(last->end, end);
		return FSA_OK;
	}
	if (d->n_runs == d->runs_room) {
		const size_t room = d->runs_room != 0 ? d->runs_room * 2 : 64;
		struct dump_run *bigger = realloc(d->runs, room * sizeof(*bigger));

		if (bigger == NULL)
			return FSA_ENOMEM;
		d->runs = bigger;
		d->runs_room = room;
	}
	d->runs[d->n_runs++] = (struct dump_run){ start, end };
	return FSA_OK;
}

/* --- stretches ----------------------------------------------------------------------------------- */

static bool put_header(struct writer *w)
{
	struct dump *d = w->d;
	const uint64_t first = w->position / DUMP_RECORD;
	const uint64_t records = fsa_div_up(w->inode->size, DUMP_RECORD);
	const uint64_t end = first + fsa_min(records - first, DUMP_ADDRS);
	uint8_t follows[DUMP_ADDRS] = { 0 };
	const struct dump_header header = {
		.type = first == 0 ? DUMP_INODE : DUMP_ADDR,
		.number = w->dumped->dumped,
		.count = (uint32_t)(end - first),
		.inode = w->inode,
		.follows = follows,
	};

	for (size_t i = w->run; i < d->n_runs && d->runs[i].start < end; i++) {
		const uint64_t from = fsa_max(d->runs[i].start, first), to = fsa_min(d->runs[i].end, end);

		if (from < to)
			memset(follows + (from - first), 1, (size_t)(to - from));
	}
	return dump_put_header(&d->stream, &header);
}

/* Of `length` bytes at the position, within one stretch: what lies in runs. */
static bool put_part(struct writer *w, const uint8_t *data, uint64_t length)
{
	struct dump *d = w->d;
	const uint64_t end = w->position + length;

	while (w->run < d->n_runs) {
		const struct dump_run *run = &d->runs[w->run];
		const uint64_t from = fsa_max(w->position, run->start * DUMP_RECORD);
		const uint64_t to = fsa_min(end, run->end * DUMP_RECORD);

		if (from < to && !dump_put(&d->stream, data != NULL ? data + (from - w->position) : NULL, to - from))
			return false;
		if (run->end * DUMP_RECORD > end)
			break;
		w->run++;
	}
	return true;
}

static enum fsa_status write_bytes(void *arg, const void *bytes, uint64_t length, bool unreadable)
{
	struct writer *w = arg;
	const uint8_t *data = bytes;

	if (unreadable)
		w->unreadable += length;
	while (length != 0) {
		const uint64_t step = fsa_min(length, STRETCH - w->position % STRETCH);

		if ((w->position % STRETCH == 0 && !put_header(w)) || !put_part(w, data, step))
			return dump_output(w->d, false);
		w->position += step;
		length -= step;
		data = data != NULL ? data + step : NULL;
	}
	return FSA_OK;
}

/* A header and nothing behind it. */
static enum fsa_status put_plain(struct dump *d, const struct dumped *dumped, const struct dump_inode *inode)
{
	const struct dump_header header = { .type = DUMP_INODE, .number = dumped->dumped, .inode = inode };

	return dump_output(d, dump_put_header(&d->stream, &header));
}

static enum fsa_status put_regular(struct dump *d, const struct dumped *dumped, const struct dump_inode *inode)
{
	struct writer w = { .d = d, .dumped = dumped, .inode = inode };
	struct finder finder = { d, inode->size };
	enum fsa_status status;

	if (inode->size == 0)
		return put_plain(d, dumped, inode);
	d->n_runs = 0;
	status = fsa_file_extents(d->fs, dumped->ref, inode->size, note_run, &finder);
	if (status == FSA_ENOMEM)
		return status;
	status = fsa_file_read(d->fs, dumped->ref, inode->size, write_bytes, &w);
	if (status != FSA_OK)
		return status;
	if (w.unreadable != 0) {
		d->counts.incomplete++;
		fsa_find(d->opened->findings, "inode", dumped->number, FSA_NO_OFFSET,
			 "%" PRIu64 " of %" PRIu64 " bytes cannot be read: zeros are dumped in their place",
			 w.unreadable, inode->size);
	}
	return dump_output(d, dump_pad(&d->stream));
}

/* --- symbolic links ------------------------------------------------------------------------------ */

static enum fsa_status put_target(struct dump *d, const struct dumped *dumped, struct dump_inode *inode,
				  const char *target, size_t length)
{
	uint8_t follows[MOST_TARGET / DUMP_RECORD + 1];
	const struct dump_header header = {
		.type = DUMP_INODE,
		.number = dumped->dumped,
		.count = (uint32_t)fsa_div_up(length, DUMP_RECORD),
		.inode = inode,
		.follows = follows,
	};

	memset(follows, 1, sizeof(follows));
	inode->size = length;
	return dump_output(d, dump_put_header(&d->stream, &header) && dump_put(&d->stream, target, length) &&
			      dump_pad(&d->stream));
}

static enum fsa_status put_symlink(struct dump *d, const struct dumped *dumped, struct dump_inode *inode)
{
	enum fsa_status status = FSA_EUNSUPPORTED;
	const char *why = NULL;
	char *target = NULL;
	size_t length = 0;

	if (d->fs->parser->readlink != NULL)
		status = d->fs->parser->readlink(d->fs, dumped->ref, &target, &length);
	if (status == FSA_ENOMEM)
		return status;
	if (status != FSA_OK || target == NULL)
		why = "target of the symbolic link cannot be read";
	else if (length == 0 || memchr(target, '\0', length) != NULL)
		why = "target of the symbolic link is empty or holds a NUL byte";
	else if (length > MOST_TARGET)
		why = "target of the symbolic link is longer than 4095 bytes";
	if (why == NULL) {
		status = put_target(d, dumped, inode, target, length);
	} else {
		d->counts.left_out++;
		fsa_find(d->opened->findings, "inode", dumped->number, FSA_NO_OFFSET, "%s: not dumped", why);
		/* The maps in front have it: one without a target is passed over by restore(8). */
		inode->size = 0;
		status = put_plain(d, dumped, inode);
	}
	free(target);
	return status;
}

/* --- any of them --------------------------------------------------------------------------------- */

enum fsa_status dump_file(struct dump *d, const struct dumped *dumped, const struct fsa_stat *stat)
{
	struct dump_inode inode;
	enum fsa_status status;

	dump_set_inode(d, stat, &inode);
	if (stat->type == FSA_TYPE_REGULAR) {
		d->counts.encrypted += (stat->flags & FSA_OBJECT_ENCRYPTED) != 0;
		status = put_regular(d, dumped, &inode);
	} else if (stat->type == FSA_TYPE_SYMLINK) {
		status = put_symlink(d, dumped, &inode);
	} else {
		inode.size = 0;
		status = put_plain(d, dumped, &inode);
	}
	if (status != FSA_OK)
		return status;
	d->counts.inodes++;
	return dump_xattrs(d, dumped, &inode);
}
