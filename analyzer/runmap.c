/* SPDX-License-Identifier: GPL-2.0-only */
#include "runmap.h"

#include <stdlib.h>
#include <string.h>

#include "fsa/bytes.h"
#include "progress.h"

/* 40 bytes each. */
#define MAX_RUNS (1u << 20)

struct stretch {
	uint64_t offset, length;
	const char *object;
	uint64_t number;
	uint32_t order;		/* of being claimed, among equals in place */
	uint16_t detail;
};

/* The part of a device that one walk collects: [from, end). */
struct window {
	unsigned device;
	uint64_t from, end;
	struct stretch *stretches;
	size_t n, room, limit;
	uint32_t order;
	bool failed;
};

static int by_offset(const void *a, const void *b)
{
	const struct stretch *x = a, *y = b;

	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* Gives up the rear half of what was collected: the next walk will come for it. */
static bool narrow(struct window *w)
{
	uint64_t cut;
	size_t kept = 0;

	qsort(w->stretches, w->n, sizeof(*w->stretches), by_offset);
	cut = w->stretches[w->n / 2].offset;
	if (cut <= w->from || cut <= w->stretches[0].offset)
		return false;
	for (size_t i = 0; i < w->n; i++)
		if (w->stretches[i].offset < cut)
			w->stretches[kept++] = w->stretches[i];
	w->n = kept;
	w->end = cut;
	return true;
}

static bool make_room(struct window *w)
{
	struct stretch *bigger;
	size_t room;

	if (w->n < w->room)
		return true;
	if (w->room >= w->limit && narrow(w))
		return true;
	/* Also when so many lie on one place that no cut is possible: damage, or much sharing. */
	room = w->room != 0 ? w->room * 2 : (size_t)fsa_min(w->limit, 1024);
	bigger = reallocarray(w->stretches, room, sizeof(*bigger));
	if (bigger == NULL)
		return false;
	w->stretches = bigger;
	w->room = room;
	return true;
}

static void collect(void *arg, const struct fsa_run *run)
{
	struct window *w = arg;
	uint64_t end;

	if (run->device != w->device || w->failed || !fsa_add(run->offset, run->length, &end))
		return;
	if (end <= w->from || run->offset >= w->end)
		return;
	if (!make_room(w)) {
		w->failed = true;
		return;
	}
	/* Making room may have moved the end. */
	if (run->offset >= w->end)
		return;
	w->stretches[w->n++] = (struct stretch){
		.offset = run->offset,
		.length = run->length,
		.object = run->owner != NULL ? run->owner->object : NULL,
		.number = run->owner != NULL ? run->owner->number : FSA_NO_NUMBER,
		.order = w->order,
		.detail = (uint16_t)run->detail,
	};
	if (w->order != UINT32_MAX)
		w->order++;
}

static enum fsa_status walk_window(const struct opened *opened, const struct fsa_ledger *ledger,
				   struct window *w)
{
	struct progress progress;
	struct fsa_audit audit = { .progress = progress_audit, .progress_arg = &progress };
	enum fsa_status status;

	audit.claims = fsa_claims_to_callback(ledger, collect, w);
	if (audit.claims == NULL)
		return FSA_ENOMEM;
	progress_begin(&progress, "mapping", opened->argument);
	/* Whatever is wrong was said by the audit that closed the ledger. */
	fsa_findings_mute(opened->findings, true);
	status = opened->fs->parser->audit(opened->fs, &audit);
	fsa_findings_mute(opened->findings, false);
	progress_end(&progress);
	fsa_claims_free(audit.claims);
	if (w->failed)
		return FSA_ENOMEM;
	if (w->n != 0)
		qsort(w->stretches, w->n, sizeof(*w->stretches), by_offset);
	return status;
}

/* --- tiles --------------------------------------------------------------------------------------- */

struct tiler {
	const struct opened *opened;
	const struct fsa_ledger *ledger;
	runmap_fn tile;
	void *arg;
	struct runmap_sums *sums;
	bool pending;
	struct runmap_tile last;	/* held back: its neighbour may belong to it */
};

static enum fsa_status hand_out(struct tiler *t)
{
	if (!t->pending)
		return FSA_OK;
	t->pending = false;
	t->sums->total += t->last.length;
	if (t->last.unexplained)
		t->sums->unexplained += t->last.length;
	else
		t->sums->purpose[t->last.purpose] += t->last.length;
	return t->tile(t->arg, &t->last);
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static enum fsa_status add_tile(struct tiler *t, const struct runmap_tile *tile)
{
	struct runmap_tile *last = &t->last;
	enum fsa_status status;

	if (tile->length == 0)
		return FSA_OK;
	if (t->pending && last->device == tile->device && last->offset + last->length == tile->offset &&
	    last->purpose == tile->purpose && last->number == tile->number && last->shared == tile->shared &&
	    last->unexplained == tile->unexplained && same_text(last->detail, tile->detail) &&
	    same_text(last->object, tile->object)) {
		last->length += tile->length;
		return FSA_OK;
	}
	status = hand_out(t);
	t->last = *tile;
	t->pending = true;
	return status;
}

/* What nothing claims between two claims, as the ledger sees it. */
static enum fsa_status add_gap(struct tiler *t, unsigned device, uint64_t from, uint64_t end)
{
	const uint64_t size = fsa_ledger_block_size(t->ledger, device);
	const uint64_t blocks = fsa_ledger_blocks(t->ledger, device);
	enum fsa_status status = FSA_OK;

	while (from < end && status == FSA_OK) {
		const uint64_t block = from / size;
		struct runmap_tile tile = {
			.device = device, .offset = from, .number = FSA_NO_NUMBER, .purpose = FSA_OUTSIDE,
		};
		uint64_t run = 0, next = end;

		if (block < blocks) {
			switch (fsa_ledger_state(t->ledger, device, block, &run)) {
			case FSA_BLOCK_FREE:
				tile.purpose = FSA_FREE;
				break;
			case FSA_BLOCK_LOST:
				tile.purpose = FSA_LOST;
				break;
			case FSA_BLOCK_CLAIMED:
				tile.purpose = FSA_NODE_FREE;
				tile.unexplained = true;
				break;
			}
			next = fsa_min(end, (block + fsa_max(run, 1)) * size);
		}
		tile.length = next - from;
		status = add_tile(t, &tile);
		from = next;
	}
	return status;
}

static enum fsa_status tile_window(struct tiler *t, const struct window *w)
{
	const struct fsa_detail *details = t->opened->fs->parser->details;
	uint64_t position = w->from;
	enum fsa_status status = FSA_OK;

	for (size_t i = 0; i < w->n && status == FSA_OK; i++) {
		const struct stretch *s = &w->stretches[i];
		const uint64_t from = fsa_max(s->offset, w->from);
		const uint64_t end = fsa_min(s->offset + s->length, w->end);
		struct runmap_tile tile = {
			.device = w->device, .purpose = details[s->detail].purpose,
			.detail = details[s->detail].name, .object = s->object, .number = s->number,
		};

		if (from >= end)
			continue;
		if (from < position && t->pending)
			t->last.shared = true;
		if (end <= position)
			continue;
		if (from > position)
			status = add_gap(t, w->device, position, from);
		tile.shared = from < position;
		tile.offset = fsa_max(from, position);
		tile.length = end - tile.offset;
		position = end;
		if (status == FSA_OK)
			status = add_tile(t, &tile);
	}
	if (status == FSA_OK)
		status = add_gap(t, w->device, position, w->end);
	return status;
}

static enum fsa_status tile_device(struct tiler *t, unsigned device, size_t limit)
{
	const uint64_t size = fsa_image_size(t->opened->fs->devices[device].image);
	struct window w = { .device = device, .limit = limit };
	enum fsa_status status = FSA_OK;

	while (w.from < size && status == FSA_OK) {
		w.end = size;
		w.n = 0;
		w.order = 0;
		status = walk_window(t->opened, t->ledger, &w);
		if (status == FSA_OK)
			status = tile_window(t, &w);
		w.from = w.end;
	}
	free(w.stretches);
	return status;
}

enum fsa_status runmap_walk_within(const struct opened *opened, const struct fsa_ledger *ledger, size_t limit,
				   runmap_fn tile, void *arg, struct runmap_sums *sums)
{
	struct tiler t = { .opened = opened, .ledger = ledger, .tile = tile, .arg = arg, .sums = sums };
	enum fsa_status status = FSA_OK;

	memset(sums, 0, sizeof(*sums));
	for (unsigned i = 0; i < fsa_ledger_devices(ledger) && i < opened->fs->n_devices && status == FSA_OK; i++)
		status = tile_device(&t, i, limit);
	if (status == FSA_OK)
		status = hand_out(&t);
	return status;
}

enum fsa_status runmap_walk(const struct opened *opened, const struct fsa_ledger *ledger, runmap_fn tile,
			    void *arg, struct runmap_sums *sums)
{
	return runmap_walk_within(opened, ledger, MAX_RUNS, tile, arg, sums);
}
