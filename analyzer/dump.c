/* SPDX-License-Identifier: GPL-2.0-only */
/* The stream as a whole: a head, two maps, directories, everything else, an end. */
#include "dump.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dump_private.h"
#include "fsa/bytes.h"

/* Files that are read ahead of at a time. */
#define BATCH 4096u

struct dump *dump_new(const struct opened *opened, struct writebehind *out, enum window_order order,
		      struct progress *progress)
{
	struct dump *d = out != NULL ? calloc(1, sizeof(*d)) : NULL;
	const void *memory;
	size_t length;

	if (d == NULL) {
		writebehind_free(out);
		return NULL;
	}
	d->opened = opened;
	d->fs = opened->fs;
	d->progress = progress;
	d->stream.out = out;
	d->window = window_new(opened->fs, order, WINDOW_BYTES);
	if (d->window == NULL) {
		dump_free(d);
		return NULL;
	}
	memory = window_memory(d->window, &length);
	writebehind_lend(out, memory, length);
	return d;
}

void dump_free(struct dump *d)
{
	if (d == NULL)
		return;
	writebehind_free(d->stream.out);
	window_free(d->window);
	dump_inodes_free(&d->inodes);
	free(d->text.data);
	free(d->names);
	free(d->runs);
	free(d);
}

int dump_error(const struct dump *d)
{
	return d->stream.error;
}

uint64_t dump_bytes(const struct dump *d)
{
	return d->stream.bytes;
}

struct dump_counts dump_counts(const struct dump *d)
{
	return d->counts;
}

enum fsa_status dump_output(const struct dump *d, bool good)
{
	if (good)
		return FSA_OK;
	return d->stream.error == ENOMEM ? FSA_ENOMEM : FSA_ESYSTEM;
}

/* --- inodes -------------------------------------------------------------------------------------- */

static bool time_fits(const struct fsa_time *time)
{
	return !time->set || (time->sec >= 0 && time->sec <= UINT32_MAX);
}

/* As the kernel of Linux numbers devices in 32 bits: 12 of the major, 20 of the minor. */
static uint32_t device_number(const struct fsa_stat *stat)
{
	return (stat->rdev_minor & 0xff) | (stat->rdev_major & 0xfff) << 8 | (stat->rdev_minor & 0xfff00) << 12;
}

void dump_set_inode(struct dump *d, const struct fsa_stat *stat, struct dump_inode *inode)
{
	const bool device = stat->type == FSA_TYPE_CHARDEV || stat->type == FSA_TYPE_BLOCKDEV;

	*inode = (struct dump_inode){
		.mode = stat->mode,
		.links = stat->links,
		.size = stat->size,
		.atime = stat->atime,
		.mtime = stat->mtime,
		.ctime = stat->ctime,
		.rdev = device ? device_number(stat) : 0,
		.blocks = stat->st_blocks,
		.attributes = stat->type == FSA_TYPE_REGULAR || stat->type == FSA_TYPE_DIRECTORY ? stat->attributes : 0,
		.generation = (uint32_t)stat->generation,
		.uid = stat->uid,
		.gid = stat->gid,
	};
	/* restore(8) keeps the number in a signed int. */
	d->counts.devices += device && (stat->rdev_major > 0xfff || stat->rdev_minor > 0x7ffff);
	d->counts.times += !time_fits(&stat->atime) || !time_fits(&stat->mtime);
}

static enum fsa_status put_directories(struct dump *d)
{
	enum fsa_status status = FSA_OK;

	for (size_t i = 0; i < d->inodes.count && status == FSA_OK; i++)
		if (d->inodes.list[i].directory)
			status = dump_directory(d, &d->inodes.list[i]);
	return status;
}

/* Files that wait for their contents to be in the window. */
struct batch {
	const struct dumped *dumped[BATCH];
	struct fsa_stat stats[BATCH];
	size_t count;
};

struct batches {
	struct batch *noted, *reading;
};

/* What `good` says of the output, with the reason kept. */
static bool written(struct dump *d, bool good)
{
	if (!good)
		d->stream.error = writebehind_error(d->stream.out);
	return good;
}

/* What was noted begins to be read, and what was being read goes out. */
static enum fsa_status turn(struct dump *d, struct batches *b)
{
	struct batch *ready = b->reading;
	/* What is lent to the writer changes now. */
	enum fsa_status status = dump_output(d, written(d, writebehind_settle(d->stream.out)));

	if (status == FSA_OK)
		status = window_turn(d->window);

	for (size_t i = 0; i < ready->count && status == FSA_OK; i++) {
		status = dump_file(d, ready->dumped[i], &ready->stats[i]);
		if (d->progress != NULL)
			progress_show(d->progress, NULL, d->stream.bytes, 0, true);
	}
	ready->count = 0;
	b->reading = b->noted;
	b->noted = ready;
	return status;
}

static enum fsa_status drain(struct dump *d, struct batches *b)
{
	enum fsa_status status = turn(d, b);

	return status == FSA_OK ? turn(d, b) : status;
}

static enum fsa_status add_file(struct dump *d, struct batches *b, const struct dumped *dumped)
{
	struct batch *batch = b->noted;
	struct fsa_stat *stat = &batch->stats[batch->count];
	enum fsa_status status = d->fs->parser->stat(d->fs, dumped->ref, stat);
	bool fits = true;

	if (status == FSA_ENOMEM)
		return status;
	/* It could be read when the tree was walked: the host fails now, and a finding says so. */
	if (status != FSA_OK)
		*stat = (struct fsa_stat){ .ref = dumped->ref, .number = dumped->number, .mode = 0100600,
					   .type = FSA_TYPE_REGULAR };
	if (stat->type == FSA_TYPE_REGULAR) {
		status = window_note(d->window, dumped->ref, dumped->number, stat->size, &fits);
		if (status != FSA_OK)
			return status;
	}
	batch->dumped[batch->count++] = dumped;
	if (!fits || !window_reads_ahead(d->window))
		return drain(d, b);
	return window_full(d->window) || batch->count == BATCH ? turn(d, b) : FSA_OK;
}

static enum fsa_status put_files(struct dump *d)
{
	struct batch *memory = calloc(2, sizeof(*memory));
	struct batches batches = { .noted = memory, .reading = memory != NULL ? memory + 1 : NULL };
	enum fsa_status status = FSA_OK;

	if (memory == NULL)
		return FSA_ENOMEM;
	for (size_t i = 0; i < d->inodes.count && status == FSA_OK; i++)
		if (!d->inodes.list[i].directory)
			status = add_file(d, &batches, &d->inodes.list[i]);
	if (status == FSA_OK)
		status = drain(d, &batches);
	free(memory);
	return status;
}

/* --- head, maps, end ----------------------------------------------------------------------------- */

/* What is too long is cut, and a NUL always follows. */
static void set_text(char *field, size_t size, const char *text)
{
	memcpy(field, text, strnlen(text, size - 1));
}

static void set_head(struct dump *d)
{
	const struct fsa_summary *summary = &d->opened->summary;
	char device[sizeof(summary->type) + sizeof(summary->uuid) + 8];

	d->stream.date = d->inodes.date;
	set_text(d->stream.label, sizeof(d->stream.label), summary->label[0] != '\0' ? summary->label : "none");
	snprintf(device, sizeof(device), "%s%s%s", summary->type, summary->uuid[0] != '\0' ? " UUID=" : "", summary->uuid);
	set_text(d->stream.device, sizeof(d->stream.device), device);
	set_text(d->stream.filesystem, sizeof(d->stream.filesystem), "/");
	set_text(d->stream.host, sizeof(d->stream.host), "fsassay");
}

/* All inodes of the stream, a bit each, number 1 first. For level 0 both maps are the same. */
static bool put_map(struct dump *d, enum dump_record_type type)
{
	const uint64_t bytes = fsa_div_up(d->inodes.highest / 8 + 1, DUMP_RECORD) * DUMP_RECORD;
	const struct dump_inode inode = { .size = bytes };
	const struct dump_header header = {
		.type = type,
		.number = d->inodes.highest,
		.count = (uint32_t)(bytes / DUMP_RECORD),
		.inode = &inode,
	};
	size_t next = 0;

	if (!dump_put_header(&d->stream, &header))
		return false;
	for (uint64_t start = 0; start < bytes; start += DUMP_RECORD) {
		uint8_t map[DUMP_RECORD] = { 0 };

		for (; next < d->inodes.count; next++) {
			const uint64_t bit = d->inodes.list[next].dumped - 1;

			if (bit / 8 >= start + DUMP_RECORD)
				break;
			map[bit / 8 - start] |= (uint8_t)(1 << bit % 8);
		}
		if (!dump_put(&d->stream, map, sizeof(map)))
			return false;
	}
	return true;
}

static bool put_end(struct dump *d)
{
	const struct dump_header header = { .type = DUMP_END, .number = d->inodes.highest };

	do {
		if (!dump_put_header(&d->stream, &header))
			return false;
	} while (d->stream.bytes % (DUMP_RECORDS_AT_ONCE * DUMP_RECORD) != 0);
	return written(d, writebehind_flush(d->stream.out));
}

enum fsa_status dump_write(struct dump *d)
{
	const struct dump_header head = { .type = DUMP_TAPE, .flags = DUMP_NEW_HEADER };
	enum fsa_status status;

	status = dump_collect(d);
	if (status != FSA_OK)
		return status;
	set_head(d);
	status = dump_output(d, dump_put_header(&d->stream, &head) && put_map(d, DUMP_CLRI) && put_map(d, DUMP_BITS));
	if (status == FSA_OK)
		status = put_directories(d);
	if (status == FSA_OK)
		status = put_files(d);
	return status == FSA_OK ? dump_output(d, put_end(d)) : status;
}
