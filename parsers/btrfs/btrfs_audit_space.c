/* SPDX-License-Identifier: GPL-2.0-only */
/* Devices and chunks: superblocks, what is reserved, parity, and both kinds of free space. */
#include <stdlib.h>

#include "btrfs_audit.h"

/* Whether a superblock copy belongs at this place of a device. */
static bool has_super(const struct btr_device *d, unsigned mirror)
{
	return fsa_within(btr_super_place(mirror), BTR_SUPER_SIZE, d->total_bytes);
}

static void claim_supers(struct btr_audit *a, const struct btr_device *d)
{
	for (unsigned m = 0; m < BTR_SUPER_MIRRORS; m++) {
		struct fsa_owner owner = { .object = m ? "superblock copy" : "superblock", .number = m };

		if (has_super(d, m))
			fsa_claim_with_rest(a->claims, (unsigned)d->image, btr_block(a->b, btr_super_place(m)), 1, BTR_SUPER_SIZE,
					    m ? BTR_D_SUPER_COPY : BTR_D_SUPER, BTR_D_BESIDE_SUPER, FSA_CLAIM_UNMAPPED, &owner);
	}
}

/* Claims bytes of a device with the blocks of superblock copies left out; returns how many were left out. */
static uint64_t claim_beside_supers(struct btr_audit *a, const struct btr_device *d, uint64_t from, uint64_t to,
				    enum btr_detail detail, unsigned flags, const struct fsa_owner *owner)
{
	const struct btr *b = a->b;
	uint64_t out = 0;

	for (unsigned m = 0; m < BTR_SUPER_MIRRORS && from < to; m++) {
		uint64_t at = btr_super_place(m);

		if (!has_super(d, m) || at < from || at >= to)
			continue;
		if (at > from)
			fsa_claim(a->claims, (unsigned)d->image, btr_block(b, from), btr_block(b, at - from), detail, flags, owner);
		out += b->sectorsize;
		from = at + b->sectorsize;
	}
	if (from < to)
		fsa_claim(a->claims, (unsigned)d->image, btr_block(b, from), btr_block(b, to - from), detail, flags, owner);
	return out;
}

/* --- devices --------------------------------------------------------------------------------------------------------- */

static int compare_places(const void *x, const void *y)
{
	const struct btr_place_on *p = x, *q = y;

	if (p->device != q->device)
		return p->device < q->device ? -1 : 1;
	return (p->offset > q->offset) - (p->offset < q->offset);
}

static enum fsa_status sort_places(struct btr_audit *a)
{
	struct btr *b = a->b;

	a->places = calloc(b->n_stripes + 1, sizeof(*a->places));
	if (!a->places)
		return FSA_ENOMEM;
	for (size_t i = 0; i < b->n_chunks; i++) {
		const struct btr_chunk *c = &b->chunks[i];

		for (unsigned k = 0; k < c->n_stripes; k++) {
			const struct btr_stripe *s = &b->stripes[c->first_stripe + k];

			a->places[a->n_places++] = (struct btr_place_on){
				.device = s->device, .offset = s->offset, .length = btr_stripe_bytes(c), .chunk = i,
			};
		}
	}
	qsort(a->places, a->n_places, sizeof(*a->places), compare_places);
	for (size_t i = 0; i < a->n_places; i++) {
		const struct btr_place_on *p = &a->places[i];
		const struct btr_device *d = &b->devices[p->device];

		if (d->image >= 0 && !fsa_within(p->offset, p->length, d->total_bytes))
			fsa_find_on(b->findings, (unsigned)d->image, "chunk", b->chunks[p->chunk].logical, p->offset,
				    "%llu bytes on device %llu, which ends at %llu", (ull)p->length, (ull)d->devid, (ull)d->total_bytes);
		if (i && a->places[i - 1].device == p->device && p->offset - a->places[i - 1].offset < a->places[i - 1].length)
			fsa_find_on(b->findings, d->image < 0 ? 0 : (unsigned)d->image, "chunk", b->chunks[p->chunk].logical, p->offset,
				    "starts on device %llu inside chunk %llu", (ull)d->devid, (ull)b->chunks[a->places[i - 1].chunk].logical);
	}
	return FSA_OK;
}

/* A stretch of a device that no chunk has. */
static void claim_outside(struct btr_audit *a, const struct btr_device *d, uint64_t from, uint64_t to)
{
	struct fsa_owner owner = { .object = "device", .number = d->devid };
	uint64_t mib = fsa_min(fsa_max(from, BTR_DEVICE_RESERVED), to);

	if (from < mib) {
		claim_beside_supers(a, d, from, mib, BTR_D_FIRST_MIB, FSA_CLAIM_UNMAPPED, &owner);
		a->outside_chunks += mib - from;
	}
	if (mib < to)
		a->outside_chunks += claim_beside_supers(a, d, mib, to, BTR_D_FREE_UNALLOCATED, 0, &owner);
}

static void claim_device(struct btr_audit *a, size_t index)
{
	const struct btr_device *d = &a->b->devices[index];
	uint64_t at = 0, end = d->total_bytes / a->b->sectorsize * a->b->sectorsize;

	if (d->image < 0)
		return;
	claim_supers(a, d);
	for (size_t i = 0; i < a->n_places; i++) {
		const struct btr_place_on *p = &a->places[i];

		if (p->device != index || p->offset >= end)
			continue;
		if (p->offset > at)
			claim_outside(a, d, at, p->offset);
		at = fsa_max(at, fsa_min(p->offset + p->length, end));
	}
	if (at < end)
		claim_outside(a, d, at, end);
}

/* --- around superblocks -------------------------------------------------------------------------------------------------- */

static bool exclude(struct btr_audit *a, uint64_t logical, uint64_t length)
{
	for (size_t i = 0; i < a->n_excluded; i++)
		if (a->excluded[i].logical == logical && a->excluded[i].length == length)
			return true;
	if (!btr_room((void **)&a->excluded, &a->excluded_room, a->n_excluded, sizeof(*a->excluded)))
		return false;
	a->excluded[a->n_excluded++] = (struct btr_range){ logical, length };
	return true;
}

/*
 * Logical ranges that the kernel keeps free because a superblock copy lies in one of their stripes
 * (exclude_super_stripes): the stripe of 64 KiB, with parity the whole row.
 */
static bool exclude_chunk(struct btr_audit *a, const struct btr_chunk *c)
{
	const struct btr *b = a->b;
	unsigned data = btr_data_stripes(c);
	uint64_t bytes = btr_stripe_bytes(c);

	if (c->logical < BTR_SUPER_OFFSET && !exclude(a, c->logical, fsa_min(BTR_SUPER_OFFSET - c->logical, c->length)))
		return false;
	for (unsigned i = 0; i < c->n_stripes; i++) {
		const struct btr_stripe *s = &b->stripes[c->first_stripe + i];

		for (unsigned m = 0; m < BTR_SUPER_MIRRORS; m++) {
			uint64_t at = btr_super_place(m), row, rest, logical, length = BTR_STRIPE_LEN;

			if (at < s->offset || at - s->offset >= bytes)
				continue;
			row = (at - s->offset) / BTR_STRIPE_LEN;
			rest = (at - s->offset) % BTR_STRIPE_LEN;
			if (c->type & BTRFS_BLOCK_GROUP_RAID0) {
				logical = c->logical + (row * data + i) * BTR_STRIPE_LEN + rest;
			} else if (c->type & BTRFS_BLOCK_GROUP_RAID10) {
				logical = c->logical + (row * data + i / c->sub_stripes) * BTR_STRIPE_LEN + rest;
			} else if (btr_parity(c->type)) {
				length = BTR_STRIPE_LEN * data;
				logical = c->logical + row * length + rest;
			} else {
				logical = c->logical + row * BTR_STRIPE_LEN + rest;
			}
			if (!exclude(a, logical, fsa_min(length, c->logical + c->length - logical)))
				return false;
		}
	}
	return true;
}

static int compare_ranges(const void *x, const void *y)
{
	const struct btr_range *p = x, *q = y;

	return (p->logical > q->logical) - (p->logical < q->logical);
}

static void claim_stretch(struct btr_audit *a, unsigned device, uint64_t physical, uint64_t length, enum btr_detail detail,
			  unsigned flags, const struct fsa_owner *owner)
{
	const struct btr_device *d = &a->b->devices[device];

	if (d->image >= 0)
		claim_beside_supers(a, d, physical, physical + length, detail, flags, owner);
}

static void claim_excluded(struct btr_audit *a)
{
	struct btr *b = a->b;

	for (size_t i = 0; i < a->n_excluded; i++) {
		uint64_t logical = a->excluded[i].logical, left = a->excluded[i].length;
		const struct btr_chunk *c = btr_chunk_at(b, logical);
		struct fsa_owner owner = { .object = "chunk", .number = c->logical };

		if (btr_parity(c->type)) {
			uint64_t row = (logical - c->logical) / (BTR_STRIPE_LEN * btr_data_stripes(c));

			for (unsigned k = 0; k < c->n_stripes; k++) {
				const struct btr_stripe *s = &b->stripes[c->first_stripe + k];

				claim_stretch(a, s->device, s->offset + row * BTR_STRIPE_LEN, BTR_STRIPE_LEN, BTR_D_BESIDE_SUPER,
					      FSA_CLAIM_UNMAPPED, &owner);
			}
			continue;
		}
		while (left) {
			struct btr_segment s;

			if (!btr_segment_at(b, logical, left, &s))
				break;
			for (unsigned k = 0; k < s.copies; k++)
				claim_stretch(a, b->stripes[c->first_stripe + s.copy[k].stripe].device, s.copy[k].physical, s.length,
					      BTR_D_BESIDE_SUPER, FSA_CLAIM_UNMAPPED, &owner);
			logical += s.length;
			left -= s.length;
		}
	}
}

enum fsa_status btr_audit_space(struct btr_audit *a)
{
	enum fsa_status st = sort_places(a);

	for (size_t i = 0; i < a->b->n_chunks && st == FSA_OK; i++)
		if (!exclude_chunk(a, &a->b->chunks[i]))
			st = FSA_ENOMEM;
	if (st != FSA_OK)
		return st;
	if (a->n_excluded > 1)
		qsort(a->excluded, a->n_excluded, sizeof(*a->excluded), compare_ranges);
	for (size_t i = 0; i < a->b->n_devices; i++)
		claim_device(a, i);
	claim_excluded(a);
	return FSA_OK;
}
