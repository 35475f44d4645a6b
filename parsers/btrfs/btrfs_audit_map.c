/* SPDX-License-Identifier: GPL-2.0-only */
/* Extents of each chunk laid onto its devices: the allocation map, free space between them, parity beside them. */
#include "btrfs_audit.h"

static void map_allocated(struct btr_audit *a, uint64_t logical, uint64_t length)
{
	struct btr *b = a->b;

	while (length) {
		struct btr_segment s;

		if (!btr_segment_at(b, logical, length, &s))
			return;
		for (unsigned i = 0; i < s.copies; i++)
			if (s.copy[i].image >= 0)
				fsa_map_allocated(a->claims, (unsigned)s.copy[i].image, btr_block(b, s.copy[i].physical),
						  btr_block(b, s.length));
		logical += s.length;
		length -= s.length;
	}
}

/* Where one chunk's extents and excluded ranges begin in their arrays. */
struct cursor { size_t extent, excluded; };

static uint64_t extent_end(const struct btr *b, const struct btr_extent *e)
{
	return e->start + (uint64_t)e->sectors * b->sectorsize;
}

/* Extents to the map, what is between them and not excluded to free space. */
static void map_chunk(struct btr_audit *a, const struct btr_chunk *c, struct cursor *at)
{
	const struct btr *b = a->b;
	struct fsa_owner owner = { .object = "chunk", .number = c->logical };
	uint64_t next = c->logical, end = c->logical + c->length, used = 0;

	while (next < end) {
		const struct btr_extent *e = at->extent < a->n_extents ? &a->extents[at->extent] : NULL;
		const struct btr_range *x = at->excluded < a->n_excluded ? &a->excluded[at->excluded] : NULL;
		uint64_t e_start = e && e->start < end ? e->start : end, x_start = x && x->logical < end ? x->logical : end;
		uint64_t stop = fsa_min(e_start, x_start);

		if (stop > next)
			btr_claim(a, next, stop - next, BTR_D_FREE_IN_CHUNK, 0, &owner);
		if (stop == end)
			break;
		if (stop == e_start) {
			map_allocated(a, e->start, (uint64_t)e->sectors * b->sectorsize);
			used += (uint64_t)e->sectors * b->sectorsize;
			next = fsa_max(next, extent_end(b, e));
			at->extent++;
		} else {
			next = fsa_max(next, x->logical + x->length);
			at->excluded++;
		}
	}
	while (at->excluded < a->n_excluded && a->excluded[at->excluded].logical < end)
		at->excluded++;
	if (!c->have_group)
		BTR_FIND(a->b, "chunk", c->logical, FSA_NO_OFFSET, "there is no block group for its %llu bytes", (ull)c->length);
	else if (c->group_used != used && !a->extents_damaged)
		BTR_FIND(a->b, "block group", c->logical, FSA_NO_OFFSET, "%llu bytes used by its counter, its extents have %llu",
			 (ull)c->group_used, (ull)used);
}

/* --- parity ------------------------------------------------------------------------------------------------------------ */

static bool row_excluded(const struct btr_audit *a, uint64_t logical, uint64_t length)
{
	for (size_t i = 0; i < a->n_excluded; i++)
		if (a->excluded[i].logical < logical + length && logical < a->excluded[i].logical + a->excluded[i].length)
			return true;
	return false;
}

/* Sectors of one row's stripes in use, as bits. */
static void claim_row(struct btr_audit *a, const struct btr_chunk *c, uint64_t row, uint64_t mask, uint64_t height)
{
	const struct btr *b = a->b;
	struct fsa_owner owner = { .object = "chunk", .number = c->logical };
	unsigned sectors = (unsigned)btr_block(b, height), data = btr_data_stripes(c);

	for (unsigned p = 0; p < btr_parity(c->type); p++) {
		unsigned stripe = (unsigned)((data + p + row) % c->n_stripes);
		const struct btr_stripe *s = &b->stripes[c->first_stripe + stripe];
		int image = b->devices[s->device].image;
		uint64_t first = btr_block(b, s->offset + row * BTR_STRIPE_LEN);

		for (unsigned k = 0, run; k < sectors; k += run) {
			bool used = mask >> k & 1;

			for (run = 1; k + run < sectors && (mask >> (k + run) & 1) == used; run++)
				;
			if (!used)
				a->parity_free += run * (uint64_t)b->sectorsize;
			if (image >= 0)
				fsa_claim(a->claims, (unsigned)image, first + k, run, used ? BTR_D_PARITY : BTR_D_FREE_IN_CHUNK,
					  used ? FSA_CLAIM_UNMAPPED : 0, &owner);
		}
	}
}

/* Parity of a sector is in use as soon as one of the data sectors above it is. */
static void map_parity(struct btr_audit *a, const struct btr_chunk *c, size_t first_extent)
{
	const struct btr *b = a->b;
	unsigned data = btr_data_stripes(c);
	uint64_t width = BTR_STRIPE_LEN * data, rows = fsa_div_up(btr_stripe_bytes(c), BTR_STRIPE_LEN);
	size_t i = first_extent;

	for (uint64_t row = 0; row < rows; row++) {
		uint64_t start = c->logical + row * width, end = start + width, mask = 0;
		uint64_t height = fsa_min(BTR_STRIPE_LEN, btr_stripe_bytes(c) - row * BTR_STRIPE_LEN);

		for (; i < a->n_extents && a->extents[i].start < end; i++) {
			uint64_t from = fsa_max(a->extents[i].start, start), to = fsa_min(extent_end(b, &a->extents[i]), end);

			for (uint64_t at = from; at < to; at += b->sectorsize)
				mask |= UINT64_C(1) << btr_block(b, (at - start) % BTR_STRIPE_LEN);
			if (extent_end(b, &a->extents[i]) > end)
				break;
		}
		if (!row_excluded(a, start, width))
			claim_row(a, c, row, mask, height);
	}
}

/* Free blocks by the filesystem's own counters, to be compared with the map. */
static void count_free(struct btr_audit *a)
{
	const struct btr *b = a->b;
	uint64_t free_bytes = 0;

	for (size_t i = 0; i < b->n_devices; i++)
		free_bytes += b->devices[i].total_bytes / b->sectorsize * b->sectorsize - b->devices[i].bytes_used;
	free_bytes -= a->outside_chunks;
	for (size_t i = 0; i < b->n_chunks; i++) {
		const struct btr_chunk *c = &b->chunks[i];
		uint64_t n = c->length - c->group_used;

		for (size_t k = 0; k < a->n_excluded; k++)
			if (a->excluded[k].logical >= c->logical && a->excluded[k].logical - c->logical < c->length)
				n -= a->excluded[k].length;
		free_bytes += n * btr_copies(c->type);
	}
	free_bytes += a->parity_free;
	a->audit->counters = (struct fsa_counters){
		/* With devices missing the counters speak of more than there is. */
		.have_free_blocks = !b->degraded, .free_blocks = btr_block(b, free_bytes),
		/* Blocks of a log tree are in no counter. */
		.lazy = fsa_le64v(b->super.log_root) != 0,
	};
}

enum fsa_status btr_audit_map(struct btr_audit *a)
{
	struct cursor at = { 0, 0 };

	for (size_t i = 0; i < a->b->n_chunks; i++) {
		const struct btr_chunk *c = &a->b->chunks[i];
		size_t first;

		/* Every extent lies in a chunk: it was dropped otherwise. */
		first = at.extent;
		map_chunk(a, c, &at);
		if (btr_parity(c->type))
			map_parity(a, c, first);
	}
	count_free(a);
	return FSA_OK;
}
