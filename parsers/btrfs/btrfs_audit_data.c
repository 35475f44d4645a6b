/* SPDX-License-Identifier: GPL-2.0-only */
/* All contents of files, every copy of them, against the checksum tree: what a scrub looks at. */
#include <stdio.h>
#include <stdlib.h>

#include "btrfs_audit.h"

#define AHEAD (UINT64_C(8) << 20)

struct data_check {
	struct btr_audit *a;
	uint8_t *buffer;		/* BTR_SUMS sectors */
	struct btr_sums sums;
	struct btr_sum_count count;
	uint64_t bytes, copies_bytes;	/* with checksums; read and compared */
	uint64_t prefetched;		/* logical address up to which the host was told */
};

static void tell_holder(void *arg, uint64_t logical, char *text, size_t room)
{
	struct btr_audit *a = arg;
	uint64_t root, inode;

	if (btr_extent_holder(a, logical, &root, &inode))
		snprintf(text, room, ", held by inode %llu of tree %llu", (ull)inode, (ull)root);
}

static void prefetch(struct data_check *d, uint64_t logical, uint64_t end)
{
	struct btr *b = d->a->b;

	for (uint64_t at = fsa_max(d->prefetched, logical); at < end && at < logical + AHEAD;) {
		struct btr_segment s;

		if (!btr_segment_at(b, at, fsa_min(end - at, AHEAD), &s))
			break;
		for (unsigned i = 0; i < s.copies; i++)
			if (s.copy[i].image >= 0)
				fsa_image_prefetch(b->fs->devices[s.copy[i].image].image, s.copy[i].physical, s.length);
		at += s.length;
		d->prefetched = at;
	}
}

/* Sectors within one segment on all copies there are; on none of them, what parity gives. */
static enum fsa_status check_segment(struct data_check *d, const struct btr_segment *s, size_t n)
{
	const struct btr_sum_teller teller = { tell_holder, d->a };
	struct btr *b = d->a->b;
	size_t length = n * b->sectorsize;
	bool any = false;

	d->bytes += length;
	for (unsigned m = 0; m <= s->copies; m++) {
		bool rebuilt = m == s->copies, read = true;
		struct btr_sum_count count = { 0 };
		enum fsa_status st;

		if (rebuilt ? any || btr_mirrors(b, s->logical) <= s->copies : s->copy[m].image < 0)
			continue;
		if (rebuilt)
			read = btr_read_mirror(b, s->logical, d->buffer, length, m) == FSA_OK;
		else
			read = fsa_image_read_contents(b->fs->devices[s->copy[m].image].image, s->copy[m].physical, d->buffer, length) ==
			       FSA_OK;
		st = btr_sums_compare(b, s->logical, d->buffer, read, n, &d->sums, m, &teller, &count);
		if (st == FSA_ENOMEM)
			return st;
		d->count.repaired += count.repaired;
		/* What is right nowhere is so on every copy. */
		if (!any)
			d->count.lost += count.lost;
		d->copies_bytes += length;
		any = true;
	}
	return FSA_OK;
}

static enum fsa_status check_item(void *arg, const struct btr_item *item)
{
	struct data_check *d = arg;
	struct btr *b = d->a->b;
	uint64_t logical = item->key.offset, end;
	const uint8_t *sums = item->data;
	size_t n = item->size / b->csum_size;

	if (item->key.objectid != BTRFS_EXTENT_CSUM_OBJECTID || item->key.type != BTRFS_EXTENT_CSUM_KEY ||
	    logical % b->sectorsize || !fsa_add(logical, n * b->sectorsize, &end))
		return FSA_OK;
	while (n) {
		size_t step = fsa_min(n, BTR_SUMS);
		struct btr_segment s;
		enum fsa_status st;

		prefetch(d, logical, end);
		/* Where no chunk is the item is a finding already. */
		if (!btr_segment_at(b, logical, step * b->sectorsize, &s) || s.length < b->sectorsize)
			return FSA_OK;
		step = (size_t)(s.length / b->sectorsize);
		memcpy(d->sums.bytes, sums, step * b->csum_size);
		st = check_segment(d, &s, step);
		if (st != FSA_OK)
			return st;
		sums += step * b->csum_size;
		logical += step * b->sectorsize;
		n -= step;
		if (d->a->audit->progress)
			d->a->audit->progress(d->a->audit->progress_arg, d->bytes, fsa_le64v(b->super.bytes_used));
	}
	return FSA_OK;
}

static uint64_t data_bytes(const struct btr_audit *a)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < a->n_extents; i++)
		if (a->extents[i].data)
			sum += (uint64_t)a->extents[i].sectors * a->b->sectorsize;
	return sum;
}

static void figure(struct data_check *d, const char *name, uint64_t value)
{
	if (d->a->audit->figure)
		d->a->audit->figure(d->a->audit->figure_arg, "checksums of contents", name, value, "bytes");
}

enum fsa_status btr_audit_data(struct btr_audit *a)
{
	const struct btr_root *root = btr_root_find(a->b, BTRFS_CSUM_TREE_OBJECTID);
	struct data_check *d;
	struct btr_walk w = { .b = a->b, .item = check_item, .prefetch = true };
	enum fsa_status st = FSA_OK;
	uint64_t all = data_bytes(a);

	if (!a->audit->verify_data || fsa_claims_want_owners(a->claims) || !root)
		return FSA_OK;
	d = calloc(1, sizeof(*d));
	if (d)
		d->buffer = malloc((size_t)BTR_SUMS * a->b->sectorsize);
	if (!d || !d->buffer) {
		free(d);
		return FSA_ENOMEM;
	}
	d->a = a;
	memset(d->sums.have, true, sizeof(d->sums.have));
	w.arg = d;
	st = btr_walk_root(&w, root);
	figure(d, "with a checksum", d->bytes);
	figure(d, "without one", all > d->bytes ? all - d->bytes : 0);
	figure(d, "read on all copies", d->copies_bytes);
	figure(d, "wrong, good on another copy", d->count.repaired * a->b->sectorsize);
	figure(d, "wrong, good on none", d->count.lost * a->b->sectorsize);
	free(d->buffer);
	free(d);
	return st;
}
