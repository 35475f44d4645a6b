/* SPDX-License-Identifier: GPL-2.0-only */
#include "window.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "fsa/bytes.h"

/* What lies this near is read along: one read of both costs less than two. */
#define NEAR (16u << 10)
#define READ_AT_ONCE (1u << 20)
/* The host is told of what comes up to so far ahead. */
#define AHEAD (8u << 20)
/*
 * What comes in the order of the image already gains little by waiting for more, and the processor's cache still has
 * so much of it when it is handed out. In order is where at most one range in so many goes back; a whole window is
 * looked at before that is said of an image.
 */
#define IN_ORDER (2u << 20)
#define ONE_BACK_IN 8u
/* Ranges of one file at most, and enough of all to read them. */
#define MOST_RANGES 32768u

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

/* What is noted, being read, or handed out. */
#define PARTS 3u

struct part {
	struct window *window;
	uint64_t noted;		/* bytes of the ranges */
	struct range *ranges;
	size_t n_ranges, ranges_room;
	struct run *runs;
	size_t n_runs, runs_room;
	struct fsa_image_held *held;
	size_t held_room;
	uint8_t *buffer;	/* of window->limit bytes */
	bool threaded;		/* the thread reads it */
	pthread_t thread;
};

struct window {
	struct fsa_fs *fs;
	enum window_order order;
	uint8_t *memory;	/* of all parts; NULL when nothing is read ahead */
	size_t limit;		/* bytes of one part */
	struct part parts[PARTS];
	struct part *noting, *reading, *ready;
	/* The file being noted: */
	uint64_t size, number;
	size_t first;		/* of its ranges */
	uint64_t noted;		/* before it */
	uint64_t end;		/* of the last range noted */
	unsigned device;
	/* All that was noted: ranges, and those that start before the end of the one before. */
	uint64_t bytes_so_far, ranges_so_far, back_so_far;
};

static const char *const order_names[] = { "directory", "inode", "physical" };

const char *window_order_name(enum window_order order)
{
	return order_names[order];
}

bool window_find_order(const char *name, enum window_order *order)
{
	for (enum window_order o = WINDOW_DIRECTORY; o <= WINDOW_PHYSICAL; o++)
		if (strcmp(name, order_names[o]) == 0) {
			*order = o;
			return true;
		}
	return false;
}

bool window_reads_ahead(const struct window *w)
{
	return w->order != WINDOW_DIRECTORY;
}

const void *window_memory(const struct window *w, size_t *length)
{
	*length = w->memory != NULL ? PARTS * w->limit : 0;
	return w->memory;
}

struct window *window_new(struct fsa_fs *fs, enum window_order order, size_t bytes)
{
	struct window *w = calloc(1, sizeof(*w));

	if (w == NULL)
		return NULL;
	w->fs = fs;
	w->order = order;
	w->limit = bytes / PARTS;
	/* All at once: what is not touched costs nothing. */
	if (window_reads_ahead(w)) {
		w->memory = malloc(PARTS * w->limit);
		if (w->memory == NULL) {
			free(w);
			return NULL;
		}
	}
	for (unsigned i = 0; i < PARTS; i++) {
		w->parts[i].window = w;
		w->parts[i].buffer = w->memory != NULL ? w->memory + i * w->limit : NULL;
	}
	w->noting = &w->parts[0];
	w->reading = &w->parts[1];
	w->ready = &w->parts[2];
	return w;
}

static void stop_reading(struct part *part)
{
	if (part->threaded)
		pthread_join(part->thread, NULL);
	part->threaded = false;
}

static void release(const struct window *w)
{
	for (unsigned d = 0; d < w->fs->n_devices; d++)
		if (w->fs->devices[d].image != NULL)
			fsa_image_hold(w->fs->devices[d].image, NULL, 0);
}

void window_free(struct window *w)
{
	if (w == NULL)
		return;
	stop_reading(w->reading);
	release(w);
	for (unsigned i = 0; i < PARTS; i++) {
		free(w->parts[i].ranges);
		free(w->parts[i].runs);
		free(w->parts[i].held);
	}
	free(w->memory);
	free(w);
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
	struct part *part = w->noting;
	struct range *last = part->n_ranges > w->first ? &part->ranges[part->n_ranges - 1] : NULL;
	void *ranges = part->ranges;
	uint64_t length;

	if (!find_stored(w, extent, &length))
		return FSA_OK;
	part->noted += length;
	/* One file may fill what window_full() leaves, and no more. */
	if (part->noted - w->noted > w->limit / 4 || part->n_ranges - w->first == MOST_RANGES)
		return FSA_STOP;
	if (last != NULL && last->device == extent->device &&
	    last->offset + last->length == extent->physical) {
		last->length += length;
		w->end = last->offset + last->length;
		return FSA_OK;
	}
	if (!grow(&ranges, &part->ranges_room, part->n_ranges + 1, sizeof(*part->ranges)))
		return FSA_ENOMEM;
	part->ranges = ranges;
	part->ranges[part->n_ranges] = (struct range){
		.offset = extent->physical,
		.length = length,
		.number = w->number,
		.index = part->n_ranges,
		.device = extent->device,
	};
	part->n_ranges++;
	w->ranges_so_far++;
	w->back_so_far += extent->device != w->device || extent->physical < w->end;
	w->end = extent->physical + length;
	w->device = extent->device;
	return FSA_OK;
}

enum fsa_status window_note(struct window *w, struct fsa_ref ref, uint64_t number, uint64_t size, bool *fits)
{
	struct part *part = w->noting;
	enum fsa_status status;

	*fits = true;
	if (!window_reads_ahead(w) || size == 0)
		return FSA_OK;
	w->size = size;
	w->number = number;
	w->first = part->n_ranges;
	w->noted = part->noted;
	/* Damage is told by whoever reads the file: what was found of it up to there is good enough here. */
	fsa_findings_mute(w->fs->findings, true);
	status = fsa_file_extents(w->fs, ref, size, note_extent, w);
	fsa_findings_mute(w->fs->findings, false);
	if (status == FSA_STOP) {
		part->n_ranges = w->first;
		part->noted = w->noted;
		*fits = false;
	}
	return status == FSA_ENOMEM ? status : FSA_OK;
}

bool window_full(const struct window *w)
{
	const struct part *part = w->noting;

	if (w->order == WINDOW_PHYSICAL && part->noted >= IN_ORDER && w->bytes_so_far >= w->limit / 2 &&
	    w->back_so_far <= w->ranges_so_far / ONE_BACK_IN)
		return true;
	return part->noted >= w->limit / 2 || part->n_ranges >= MOST_RANGES;
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
static bool make_runs(struct part *part)
{
	const struct window *w = part->window;
	const uint64_t near = w->order == WINDOW_PHYSICAL ? NEAR : 0;
	uint64_t spare = w->limit / 4;	/* for bytes between ranges */
	struct run *run = NULL;
	void *runs;
	size_t at = 0;

	part->n_runs = 0;
	if (part->n_ranges != 0)
		qsort(part->ranges, part->n_ranges, sizeof(*part->ranges), by_place);
	for (size_t i = 0; i < part->n_ranges; i++) {
		const struct range *r = &part->ranges[i];
		const uint64_t end = run != NULL ? run->offset + run->length : 0;

		if (run != NULL && run->device == r->device &&
		    (r->offset <= end || (r->offset - end <= fsa_min(near, spare)))) {
			spare -= r->offset > end ? r->offset - end : 0;
			run->length = fsa_max(end, r->offset + r->length) - run->offset;
			continue;
		}
		if (run != NULL)
			at += (size_t)run->length;
		runs = part->runs;
		if (!grow(&runs, &part->runs_room, part->n_runs + 1, sizeof(*part->runs)))
			return false;
		part->runs = runs;
		run = &part->runs[part->n_runs++];
		*run = (struct run){ r->offset, r->length, at, r->device, false };
	}
	if (run != NULL)
		at += (size_t)run->length;
	return at <= w->limit;
}

static void read_piece(struct part *part, struct run *run, uint64_t offset, uint64_t length)
{
	struct fsa_image *image = part->window->fs->devices[run->device].image;

	while (length != 0) {
		const size_t step = (size_t)fsa_min(length, READ_AT_ONCE);

		if (fsa_image_read_contents(image, offset, part->buffer + run->at + (offset - run->offset), step) != FSA_OK)
			run->bad = true;
		offset += step;
		length -= step;
	}
}

static void read_runs(struct part *part)
{
	uint64_t ahead = 0;	/* bytes announced and not yet read */
	size_t announced = 0;

	for (size_t i = 0; i < part->n_runs; i++) {
		for (; announced < part->n_runs && ahead < AHEAD; announced++) {
			const struct run *next = &part->runs[announced];

			fsa_image_prefetch(part->window->fs->devices[next->device].image, next->offset, next->length);
			ahead += next->length;
		}
		read_piece(part, &part->runs[i], part->runs[i].offset, part->runs[i].length);
		ahead -= part->runs[i].length;
	}
}

/* The run that a range is part of. */
static struct run *run_of(struct part *part, const struct range *r)
{
	size_t low = 0, high = part->n_runs;

	while (high - low > 1) {
		const size_t middle = low + (high - low) / 2;
		const struct run *run = &part->runs[middle];

		if (run->device < r->device || (run->device == r->device && run->offset <= r->offset))
			low = middle;
		else
			high = middle;
	}
	return &part->runs[low];
}

static void read_by_inode(struct part *part)
{
	qsort(part->ranges, part->n_ranges, sizeof(*part->ranges), by_number);
	for (size_t i = 0; i < part->n_ranges; i++)
		read_piece(part, run_of(part, &part->ranges[i]), part->ranges[i].offset, part->ranges[i].length);
}

/* Runs are in the order of devices and offsets, so each device's are a stretch of the list. */
static bool hold_runs(struct part *part)
{
	size_t n = 0, first = 0;
	void *held = part->held;

	release(part->window);
	if (!grow(&held, &part->held_room, part->n_runs, sizeof(*part->held)))
		return false;
	part->held = held;
	for (size_t i = 0; i < part->n_runs; i++) {
		const struct run *run = &part->runs[i];

		if (!run->bad)
			part->held[n++] = (struct fsa_image_held){ run->offset, (size_t)run->length, part->buffer + run->at };
		if (i + 1 == part->n_runs || part->runs[i + 1].device != run->device) {
			fsa_image_hold(part->window->fs->devices[run->device].image, part->held + first, n - first);
			first = n;
		}
	}
	return true;
}

static void *read_whole(void *arg)
{
	struct part *part = arg;

	if (part->window->order == WINDOW_PHYSICAL)
		read_runs(part);
	else
		read_by_inode(part);
	return NULL;
}

/* The signals of the user are for those who write, and who ask whether to stop. */
static void start_reading(struct part *part)
{
	sigset_t all, before;

	sigfillset(&all);
	if (pthread_sigmask(SIG_SETMASK, &all, &before) == 0) {
		part->threaded = pthread_create(&part->thread, NULL, read_whole, part) == 0;
		pthread_sigmask(SIG_SETMASK, &before, NULL);
	}
	/* Where no thread can be had, it is read here and now. */
	if (!part->threaded)
		read_whole(part);
}

enum fsa_status window_turn(struct window *w)
{
	struct part *done = w->ready, *ready = w->reading, *reading = w->noting;

	/* Nobody reads now, so that what is held may change. */
	stop_reading(ready);
	if (!hold_runs(ready) || !make_runs(reading))
		return FSA_ENOMEM;
	if (reading->n_runs != 0)
		start_reading(reading);
	w->bytes_so_far += reading->noted;
	/* Its buffer is still being written out, its list is free. */
	done->n_ranges = 0;
	done->noted = 0;
	w->noting = done;
	w->ready = ready;
	w->reading = reading;
	return FSA_OK;
}
