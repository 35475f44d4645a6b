/* SPDX-License-Identifier: GPL-2.0-only */
/* Closing the books: claims against the allocation map, block by block, as runs. */
#include <string.h>

#include "ledger_state.h"

/*
 * The map's and the claims' opinion of a block, and how many blocks from there on share both. The ends of
 * both runs are kept, so that a long run on one side is not measured again for every short one opposite.
 */
struct verdict {
	bool allocated;
	bool claimed;
	uint64_t run;
	uint64_t allocated_end, claimed_end;
};

static void judge(const struct ledger_device *d, uint64_t block, struct verdict *v)
{
	uint64_t run;

	if (block >= v->allocated_end) {
		v->allocated = bitset_run(&d->allocated, block, UINT64_MAX, &run);
		v->allocated_end = block + run;
	}
	if (block >= v->claimed_end) {
		v->claimed = bitset_run(&d->claimed, block, UINT64_MAX, &run);
		v->claimed_end = block + run;
	}
	v->run = fsa_min(v->allocated_end, v->claimed_end) - block;
}

static unsigned log2_floor(uint64_t v)
{
	return 63 - (unsigned)__builtin_clzll(v);
}

static void count_free_run(struct fsa_ledger_result *r, uint64_t *length)
{
	if (*length) {
		r->free_runs[log2_floor(*length)]++;
		r->free_run_blocks[log2_floor(*length)] += *length;
	}
	*length = 0;
}

static void close_device(const struct ledger_device *d, struct fsa_ledger_result *r)
{
	uint64_t free_run = 0;	/* free in the map, gathered over claimed and unclaimed stretches */
	uint64_t fs_bytes = d->blocks * d->block_size;
	struct verdict v = { 0 };

	r->image_bytes += d->image_bytes;
	if (d->image_bytes > fs_bytes)
		r->purpose_bytes[FSA_OUTSIDE] += d->image_bytes - fs_bytes;
	for (uint64_t at = 0; at < d->blocks; at += v.run) {
		uint64_t all, inside;

		judge(d, at, &v);
		all = v.run * d->block_size;
		inside = ledger_in_image(d, at * d->block_size, all);
		if (v.allocated)
			r->allocated_blocks += v.run;
		else
			r->map_free_blocks += v.run;
		if (v.claimed)
			r->claimed_blocks += v.run;
		if (v.allocated && !v.claimed) {
			r->lost_blocks += v.run;
			r->purpose_bytes[FSA_LOST] += inside;
		} else if (!v.allocated && v.claimed) {
			r->used_free_blocks += v.run;
		} else if (!v.allocated) {
			r->purpose_bytes[FSA_FREE] += inside;
		}
		if (!v.claimed)
			r->missing_bytes += all - inside;
		if (!v.allocated)
			free_run += v.run;
		else
			count_free_run(r, &free_run);
	}
	count_free_run(r, &free_run);
}

enum fsa_status fsa_ledger_close(struct fsa_ledger *l, struct fsa_ledger_result *r)
{
	uint64_t sum = 0, free_details = 0;

	memset(r, 0, sizeof(*r));
	if (l->failed != FSA_OK)
		return l->failed;
	r->detail_bytes = l->bytes;
	r->charged_bytes = l->charged;
	r->missing_bytes = l->missing_bytes;
	r->unmapped_blocks = l->unmapped_blocks;
	r->conflict_blocks = l->conflict_blocks;
	r->shared_blocks = l->shared_blocks;
	r->shared_extra_bytes = l->shared_extra_bytes;
	r->charged_extra_bytes = l->charged_extra_bytes;
	r->charged_conflict_bytes = l->charged_conflict_bytes;
	r->charged_missing_bytes = l->charged_missing_bytes;
	for (unsigned i = 0; i < l->n_devices; i++)
		close_device(&l->device[i], r);
	for (unsigned i = 0; i < l->n_details; i++) {
		if (l->details[i].purpose == FSA_FREE)
			free_details += l->bytes[i];
		else
			r->purpose_bytes[l->details[i].purpose] += l->bytes[i];
	}
	if (free_details < r->purpose_bytes[FSA_FREE])
		r->plain_free_bytes = r->purpose_bytes[FSA_FREE] - free_details;
	for (unsigned p = 0; p < FSA_PURPOSES; p++)
		sum += r->purpose_bytes[p];
	/* Holds by construction; were it ever not so, a wrong ledger must not be shown as a right one. */
	return sum == r->image_bytes ? FSA_OK : FSA_EINVAL;
}

static size_t keep(struct fsa_range *ranges, size_t limit, size_t n, unsigned device, uint64_t block,
		   uint64_t count)
{
	if (n < limit)
		ranges[n++] = (struct fsa_range){ .device = device, .block = block, .count = count };
	return n;
}

size_t fsa_ledger_ranges(const struct fsa_ledger *l, enum fsa_range_kind kind, struct fsa_range *ranges,
			 size_t limit, uint64_t *total)
{
	size_t n = 0;

	*total = 0;
	if (kind == FSA_RANGE_CONFLICT) {
		for (size_t i = 0; i < l->n_conflicts && n < limit; i++)
			ranges[n++] = l->conflicts[i];
		*total = l->conflict_ranges;
		return n;
	}
	for (unsigned i = 0; i < l->n_devices; i++) {
		const struct ledger_device *d = &l->device[i];
		struct verdict v = { 0 };

		for (uint64_t at = 0; at < d->blocks; at += v.run) {
			judge(d, at, &v);
			if (v.allocated != v.claimed && v.allocated == (kind == FSA_RANGE_LOST)) {
				n = keep(ranges, limit, n, i, at, v.run);
				(*total)++;
			}
		}
	}
	return n;
}

enum fsa_block_state fsa_ledger_state(const struct fsa_ledger *l, unsigned device, uint64_t block,
				      uint64_t *run)
{
	struct verdict v = { 0 };

	judge(&l->device[device], block, &v);
	*run = v.run;
	if (v.claimed)
		return FSA_BLOCK_CLAIMED;
	return v.allocated ? FSA_BLOCK_LOST : FSA_BLOCK_FREE;
}

unsigned fsa_ledger_devices(const struct fsa_ledger *l)
{
	return l->n_devices;
}

uint32_t fsa_ledger_block_size(const struct fsa_ledger *l, unsigned device)
{
	return l->device[device].block_size;
}

uint64_t fsa_ledger_blocks(const struct fsa_ledger *l, unsigned device)
{
	return l->device[device].blocks;
}

uint64_t fsa_ledger_memory(const struct fsa_ledger *l)
{
	uint64_t sum = sizeof(*l);

	for (unsigned i = 0; i < l->n_devices; i++)
		sum += l->device[i].allocated.heap_bytes + l->device[i].claimed.heap_bytes +
		       l->device[i].sharable.heap_bytes + l->device[i].multiple.heap_bytes;
	if (l->conflicts)
		sum += LEDGER_MAX_CONFLICTS * sizeof(*l->conflicts);
	return sum;
}
