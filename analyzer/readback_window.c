/* SPDX-License-Identifier: GPL-2.0-only */
#include "readback_window.h"

#include <stdlib.h>

#include "fsa/bytes.h"

/* What lies this near is read along: one read of both costs less than two. */
#define NEAR (16u << 10)
#define READ_AT_ONCE (1u << 20)
/* The host is told of what comes up to so far ahead. */
#define AHEAD (8u << 20)

struct range {
	uint64_t offset, length;
	uint64_t number;	/* of the inode */
	size_t index;		/* keeps the order of one inode's pieces */
	unsigned device;
};

/* Ranges that lie together, at one place in memory. */
struct run {
	uint64_t offset, length;
	size_t at;		/* in the buffer */
	unsigned device;
	bool bad;		/* a part of it could not be read */
};

struct window {
	struct fsa_fs *fs;
	enum window_order order;
	size_t limit;
	uint64_t noted;		/* bytes of the ranges */
	struct range *ranges;
	size_t n_ranges, ranges_room;
	struct run *runs;
	size_t n_runs, runs_room;
	struct fsa_image_held *held;
	size_t held_room;
	uint8_t *buffer;
	size_t buffer_room;
	uint64_t size;		/* of the file being noted */
	uint64_t number;
};

struct window *window_new(struct fsa_fs *fs, enum window_order order, size_t bytes)
{
	struct window *w = calloc(1, sizeof(*w));

	if (w == NULL)
		return NULL;
	w->fs = fs;
	w->order = order;
	w->limit = bytes;
	return w;
}

void window_free(struct window *w)
{
	if (w == NULL)
		return;
	window_clear(w);
	free(w->ranges);
	free(w->runs);
	free(w->held);
	free(w->buffer);
	free(w);
}

void window_clear(struct window *w)
{
	for (unsigned d = 0; d < w->fs->n_devices; d++)
		if (w->fs->devices[d].image != NULL)
			fsa_image_hold(w->fs->devices[d].image, NULL, 0);
	w->n_ranges = 0;
	w->noted = 0;
}

/* Doubles an array when it is full; false when out of memory. */
static bool grow(void **array, size_t *room, size_t wanted, size_t unit)
{
	size_t bigger = *room != 0 ? *room : 256;
	void *moved;

	if (wanted <= *room)
		return true;
	while (bigger < wanted)
		bigger *= 2;
	moved = realloc(*array, bigger * unit);
	if (moved == NULL)
		return false;
	*array = moved;
	*room = bigger;
	return true;
}

/* The part of an extent that stands in the image, if any. */
static bool find_stored(const struct window *w, const struct fsa_extent *extent, uint64_t *length)
{
	uint64_t size;

	if (extent->logical >= w->size || extent->bytes != NULL || extent->physical == FSA_NO_OFFSET ||
	    extent->device >= w->fs->n_devices || w->fs->devices[extent->device].image == NULL)
		return false;
	switch (extent->kind) {
	case FSA_EXTENT_DATA:
	case FSA_EXTENT_PACKED:
		*length = fsa_min(extent->length, w->size - extent->logical);
		break;
	case FSA_EXTENT_ENCODED:
		*length = extent->encoded_length;
		break;
	default:
		return false;
	}
	size = fsa_image_size(w->fs->devices[extent->device].image);
	if (extent->physical >= size)
		return false;
	*length = fsa_min(*length, size - extent->physical);
	return *length != 0;
}

static enum fsa_status note_extent(void *arg, const struct fsa_extent *extent)
{
	struct window *w = arg;
	struct range *last = w->n_ranges != 0 ? &w->ranges[w->n_ranges - 1] : NULL;
	void *ranges = w->ranges;
	uint64_t length;

	if (!find_stored(w, extent, &length))
		return FSA_OK;
	w->noted += length;
	if (last != NULL && last->number == w->number && last->device == extent->device &&
	    last->offset + last->length == extent->physical) {
		last->length += length;
		return FSA_OK;
	}
	if (!grow(&ranges, &w->ranges_room, w->n_ranges + 1, sizeof(*w->ranges)))
		return FSA_ENOMEM;
	w->ranges = ranges;
	w->ranges[w->n_ranges] = (struct range){
		.offset = extent->physical,
		.length = length,
		.number = w->number,
		.index = w->n_ranges,
		.device = extent->device,
	};
	w->n_ranges++;
	return FSA_OK;
}

enum fsa_status window_note(struct window *w, struct fsa_ref ref, uint64_t number, uint64_t size, bool *fits)
{
	const size_t before = w->n_ranges;
	const uint64_t noted = w->noted;
	enum fsa_status status;

	*fits = true;
	if (w->order == WINDOW_DIRECTORY || size == 0)
		return FSA_OK;
	w->size = size;
	w->number = number;
	/* Damage is told by whoever reads the file: what was found of it up to there is good enough here. */
	fsa_findings_mute(w->fs->findings, true);
	status = fsa_file_extents(w->fs, ref, size, note_extent, w);
	fsa_findings_mute(w->fs->findings, false);
	if (status == FSA_ENOMEM)
		return status;
	/* One file may fill what window_full() leaves, and no more. */
	if (w->noted - noted > w->limit / 4) {
		w->n_ranges = before;
		w->noted = noted;
		*fits = false;
	}
	return FSA_OK;
}

bool window_full(const struct window *w)
{
	return w->noted >= w->limit / 2;
}

/* --- reading ------------------------------------------------------------------------------------- */

static int by_place(const void *left, const void *right)
{
	const struct range *a = left, *b = right;

	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	return a->offset != b->offset ? (a->offset < b->offset ? -1 : 1) : 0;
}

static int by_number(const void *left, const void *right)
{
	const struct range *a = left, *b = right;

	if (a->number != b->number)
		return a->number < b->number ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

/* Puts ranges that overlap, touch or nearly do into runs, and gives each its place in the buffer. */
static bool make_runs(struct window *w)
{
	const uint64_t near = w->order == WINDOW_PHYSICAL ? NEAR : 0;
	uint64_t spare = w->limit / 4;	/* for bytes between ranges */
	struct run *run = NULL;
	void *runs;
	size_t at = 0;

	w->n_runs = 0;
	qsort(w->ranges, w->n_ranges, sizeof(*w->ranges), by_place);
	for (size_t i = 0; i < w->n_ranges; i++) {
		const struct range *r = &w->ranges[i];
		const uint64_t end = run != NULL ? run->offset + run->length : 0;

		if (run != NULL && run->device == r->device &&
		    (r->offset <= end || (r->offset - end <= fsa_min(near, spare)))) {
			spare -= r->offset > end ? r->offset - end : 0;
			run->length = fsa_max(end, r->offset + r->length) - run->offset;
			continue;
		}
		if (run != NULL)
			at += (size_t)run->length;
		runs = w->runs;
		if (!grow(&runs, &w->runs_room, w->n_runs + 1, sizeof(*w->runs)))
			return false;
		w->runs = runs;
		run = &w->runs[w->n_runs++];
		*run = (struct run){ r->offset, r->length, at, r->device, false };
	}
	if (run != NULL)
		at += (size_t)run->length;
	if (at > w->buffer_room) {
		free(w->buffer);
		w->buffer = malloc(at);
		w->buffer_room = w->buffer != NULL ? at : 0;
	}
	return w->n_runs == 0 || w->buffer != NULL;
}

static void read_part(struct window *w, struct run *run, uint64_t offset, uint64_t length)
{
	struct fsa_image *image = w->fs->devices[run->device].image;

	while (length != 0) {
		const size_t step = (size_t)fsa_min(length, READ_AT_ONCE);

		if (fsa_image_read_contents(image, offset, w->buffer + run->at + (offset - run->offset), step) != FSA_OK)
			run->bad = true;
		offset += step;
		length -= step;
	}
}

static void read_runs(struct window *w)
{
	uint64_t ahead = 0;	/* bytes announced and not yet read */
	size_t announced = 0;

	for (size_t i = 0; i < w->n_runs; i++) {
		for (; announced < w->n_runs && ahead < AHEAD; announced++) {
			const struct run *next = &w->runs[announced];

			fsa_image_prefetch(w->fs->devices[next->device].image, next->offset, next->length);
			ahead += next->length;
		}
		read_part(w, &w->runs[i], w->runs[i].offset, w->runs[i].length);
		ahead -= w->runs[i].length;
	}
}

/* The run that a range is part of. */
static struct run *run_of(struct window *w, const struct range *r)
{
	size_t low = 0, high = w->n_runs;

	while (high - low > 1) {
		const size_t middle = low + (high - low) / 2;
		const struct run *run = &w->runs[middle];

		if (run->device < r->device || (run->device == r->device && run->offset <= r->offset))
			low = middle;
		else
			high = middle;
	}
	return &w->runs[low];
}

static void read_by_inode(struct window *w)
{
	qsort(w->ranges, w->n_ranges, sizeof(*w->ranges), by_number);
	for (size_t i = 0; i < w->n_ranges; i++)
		read_part(w, run_of(w, &w->ranges[i]), w->ranges[i].offset, w->ranges[i].length);
}

/* Runs are in the order of devices and offsets, so each device's are a stretch of the list. */
static bool hold_runs(struct window *w)
{
	size_t n = 0, first = 0;
	void *held = w->held;

	if (!grow(&held, &w->held_room, w->n_runs, sizeof(*w->held)))
		return false;
	w->held = held;
	for (size_t i = 0; i < w->n_runs; i++) {
		const struct run *run = &w->runs[i];

		if (!run->bad)
			w->held[n++] = (struct fsa_image_held){ run->offset, (size_t)run->length, w->buffer + run->at };
		if (i + 1 == w->n_runs || w->runs[i + 1].device != run->device) {
			fsa_image_hold(w->fs->devices[run->device].image, w->held + first, n - first);
			first = n;
		}
	}
	return true;
}

enum fsa_status window_fill(struct window *w)
{
	if (w->n_ranges == 0)
		return FSA_OK;
	if (!make_runs(w))
		return FSA_ENOMEM;
	if (w->order == WINDOW_PHYSICAL)
		read_runs(w);
	else
		read_by_inode(w);
	return hold_runs(w) ? FSA_OK : FSA_ENOMEM;
}
