/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Checksums of file contents: found in their tree, compared with what was read, and where they differ the other
 * copies and what parity gives are tried. Nothing is written: a good copy replaces the bad one in memory.
 */
#include <stdio.h>
#include <stdlib.h>

#include "btrfs.h"

#define NOBODY UINT32_MAX

/* --- looking them up --------------------------------------------------------------------------------------- */

struct collector {
	const struct btr *b;
	uint64_t start, end;
	struct btr_sums *sums;
};

static enum fsa_status collect(void *arg, const struct btr_item *item)
{
	struct collector *c = arg;
	uint64_t ss = c->b->sectorsize, at = item->key.offset;

	if (item->key.objectid != BTRFS_EXTENT_CSUM_OBJECTID || item->key.type != BTRFS_EXTENT_CSUM_KEY || at >= c->end)
		return FSA_STOP;
	for (uint32_t i = 0; i < item->size / c->b->csum_size; i++) {
		uint64_t sector = at + i * ss;
		size_t k;

		if (sector < at || sector >= c->end)
			break;
		if (sector < c->start || (sector - c->start) % ss)
			continue;
		k = (size_t)((sector - c->start) / ss);
		memcpy(c->sums->bytes + k * c->b->csum_size, item->data + i * c->b->csum_size, c->b->csum_size);
		c->sums->have[k] = true;
	}
	return FSA_OK;
}

/* Those of `n` sectors from `logical` on; some may have none. */
static enum fsa_status look_up(struct btr *b, uint64_t logical, size_t n, struct btr_sums *sums)
{
	const struct btr_root *root = btr_root_find(b, BTRFS_CSUM_TREE_OBJECTID);
	struct collector c = { .b = b, .start = logical, .end = logical + n * b->sectorsize, .sums = sums };
	struct btr_walk w = { .b = b, .item = collect, .arg = &c };
	struct btr_key key = { BTRFS_EXTENT_CSUM_OBJECTID, BTRFS_EXTENT_CSUM_KEY, logical };
	enum fsa_status st;

	memset(sums->have, 0, sizeof(sums->have));
	if (!root)
		return FSA_OK;
	/* The item that holds the first one may have started before it. */
	st = btr_key_before(b, root, key, &w.from);
	if (st == FSA_ENOENT)
		w.from = key;
	else if (st != FSA_OK)
		return st == FSA_ENOMEM ? st : FSA_OK;
	st = btr_walk_root(&w, root);
	return st == FSA_ENOMEM ? st : FSA_OK;
}

/* --- comparing ----------------------------------------------------------------------------------------------- */

/* Sectors of one copy that are wrong one behind the other, told in one finding. */
struct run {
	uint64_t logical;
	size_t sectors;
	unsigned good;			/* the way that gave right bytes, or NOBODY */
	uint8_t stored[32], computed[32];	/* of the first */
	bool unread;
};

static void report(struct btr *b, const struct run *r, unsigned mirror, const struct btr_sum_teller *teller)
{
	struct btr_csum_text stored, computed;
	char good[48] = "no copy is good", who[96] = "", copy[48];
	struct btr_segment s;
	uint64_t at = FSA_NO_OFFSET;
	unsigned device = 0;

	if (!btr_segment_at(b, r->logical, 1, &s))
		return;
	snprintf(copy, sizeof(copy), "copy %u", mirror + 1);
	if (mirror >= s.copies) {
		snprintf(copy, sizeof(copy), "what parity gives");
		device = btr_place(b, r->logical, &at);
	} else if (s.copy[mirror].image >= 0) {
		at = s.copy[mirror].physical;
		device = (unsigned)s.copy[mirror].image;
	}
	if (r->good != NOBODY && r->good >= s.copies)
		snprintf(good, sizeof(good), "parity gives a good one");
	else if (r->good != NOBODY)
		snprintf(good, sizeof(good), "copy %u is good", r->good + 1);
	if (teller)
		teller->tell(teller->arg, r->logical, who, sizeof(who));
	if (r->unread)
		fsa_find_on(b->findings, device, "data", r->logical, at, "%s of %zu bytes cannot be read; %s%s", copy,
			    r->sectors * b->sectorsize, good, who);
	else
		fsa_find_on(b->findings, device, "data", r->logical, at, "%s of %zu bytes: the checksum tree has %s, computed %s; %s%s",
			    copy, r->sectors * b->sectorsize, btr_csum_print(r->stored, b->csum_size, &stored),
			    btr_csum_print(r->computed, b->csum_size, &computed), good, who);
}

/* Another way to have a sector than `mirror`; `want` NULL: any that can be read. */
static enum fsa_status find_good(struct btr *b, uint64_t logical, unsigned mirror, const uint8_t *want, uint8_t *out, unsigned *good)
{
	unsigned n = btr_mirrors(b, logical);
	uint8_t sum[32];

	*good = NOBODY;
	for (unsigned m = 0; m < n; m++) {
		enum fsa_status st = m == mirror ? FSA_EIO : btr_read_mirror(b, logical, out, b->sectorsize, m);

		if (st == FSA_ENOMEM)
			return st;
		if (st != FSA_OK)
			continue;
		if (want)
			btr_csum(b->csum_type, out, b->sectorsize, sum);
		if (!want || memcmp(sum, want, b->csum_size) == 0) {
			*good = m;
			break;
		}
	}
	return FSA_OK;
}

/* True when it was put to the run, false when the run has to be told first. */
static bool extend(struct run *r, uint64_t logical, uint32_t ss, unsigned good, bool unread)
{
	if (!r->sectors || r->logical + r->sectors * ss != logical || r->good != good || r->unread != unread)
		return false;
	r->sectors++;
	return true;
}

enum fsa_status btr_sums_compare(struct btr *b, uint64_t logical, uint8_t *bytes, bool read, size_t n, const struct btr_sums *sums,
				 unsigned mirror, const struct btr_sum_teller *teller, struct btr_sum_count *count)
{
	struct run run = { .sectors = 0 };
	uint8_t *other = NULL;
	enum fsa_status st = FSA_OK, result = FSA_OK;
	uint32_t ss = b->sectorsize;

	for (size_t i = 0; i < n; i++) {
		const uint8_t *want = sums->have[i] ? sums->bytes + i * b->csum_size : NULL;
		uint64_t at = logical + i * ss;
		uint8_t sum[32] = { 0 };
		unsigned good;

		if (read && want)
			btr_csum(b->csum_type, bytes + i * ss, ss, sum);
		if (read && (!want || memcmp(sum, want, b->csum_size) == 0))
			continue;
		if (!other && !(other = malloc(ss))) {
			st = FSA_ENOMEM;
			break;
		}
		st = find_good(b, at, mirror, want, other, &good);
		if (st != FSA_OK)
			break;
		if (good == NOBODY) {
			result = FSA_EDAMAGED;
			count->lost++;
		} else {
			count->repaired++;
			memcpy(bytes + i * ss, other, ss);
		}
		if (extend(&run, at, ss, good, !read))
			continue;
		if (run.sectors)
			report(b, &run, mirror, teller);
		run = (struct run){ .logical = at, .sectors = 1, .good = good, .unread = !read };
		if (want)
			memcpy(run.stored, want, b->csum_size);
		memcpy(run.computed, sum, sizeof(sum));
	}
	if (run.sectors)
		report(b, &run, mirror, teller);
	free(other);
	return st != FSA_OK ? st : result;
}

/* --- contents that were read ---------------------------------------------------------------------------------- */

static unsigned first_present(const struct btr_segment *s)
{
	unsigned i = 0;

	while (i < s->copies && s->copy[i].image < 0)
		i++;
	return i;
}

/* Whole sectors within one segment, read from `mirror`: true when there is nothing to say against them. */
static bool sectors_right(struct btr *b, uint64_t logical, const uint8_t *bytes, size_t n)
{
	while (n) {
		size_t step = fsa_min(n, BTR_SUMS);
		struct btr_sums sums;
		uint8_t sum[32];

		if (look_up(b, logical, step, &sums) != FSA_OK)
			return false;
		for (size_t i = 0; i < step; i++, bytes += b->sectorsize) {
			if (!sums.have[i])
				continue;
			btr_csum(b->csum_type, bytes, b->sectorsize, sum);
			if (memcmp(sum, sums.bytes + i * b->csum_size, b->csum_size) != 0)
				return false;
		}
		logical += step * b->sectorsize;
		n -= step;
	}
	return true;
}

/* The same, and put right in place what another copy has. `read` false: `mirror` gave nothing. */
static enum fsa_status repair_sectors(struct btr *b, uint64_t logical, uint8_t *bytes, bool read, size_t n, unsigned mirror)
{
	enum fsa_status result = FSA_OK;

	while (n) {
		size_t step = fsa_min(n, BTR_SUMS);
		struct btr_sum_count count = { 0 };
		struct btr_sums sums;
		enum fsa_status st = look_up(b, logical, step, &sums);

		if (st == FSA_OK)
			st = btr_sums_compare(b, logical, bytes, read, step, &sums, mirror, NULL, &count);
		if (st == FSA_ENOMEM)
			return st;
		if (st != FSA_OK)
			result = st;
		bytes += step * b->sectorsize;
		logical += step * b->sectorsize;
		n -= step;
	}
	return result;
}

/* A piece of a file as far as it lies in one segment and is whole sectors, or a part of one. */
struct step { uint64_t logical; size_t length; unsigned mirror; bool whole; };

static bool next_step(const struct btr *b, uint64_t logical, size_t length, struct step *step)
{
	uint64_t head = logical % b->sectorsize;
	struct btr_segment s;

	if (!btr_segment_at(b, logical, length, &s))
		return false;
	*step = (struct step){ .logical = logical, .length = (size_t)s.length, .mirror = first_present(&s) };
	step->whole = !head && step->length >= b->sectorsize;
	if (step->whole)
		step->length -= step->length % b->sectorsize;
	else
		step->length = (size_t)fsa_min(step->length, b->sectorsize - head);
	return true;
}

/* The whole sector of which a part was read: the checksum is of all of it. */
static enum fsa_status read_around(struct btr *b, const struct step *step, uint8_t *whole)
{
	return btr_read_mirror(b, step->logical - step->logical % b->sectorsize, whole, b->sectorsize, step->mirror);
}

static bool step_right(struct btr *b, const struct step *step, const uint8_t *bytes, uint8_t *whole)
{
	uint64_t head = step->logical % b->sectorsize;

	if (step->whole)
		return sectors_right(b, step->logical, bytes, step->length / b->sectorsize);
	return read_around(b, step, whole) == FSA_OK && memcmp(whole + head, bytes, step->length) == 0 &&
	       sectors_right(b, step->logical - head, whole, 1);
}

static enum fsa_status repair_step(struct btr *b, const struct step *step, uint8_t *bytes, bool read, uint8_t *whole)
{
	uint64_t head = step->logical % b->sectorsize;
	enum fsa_status st;

	if (step->whole)
		return repair_sectors(b, step->logical, bytes, read, step->length / b->sectorsize, step->mirror);
	read = read && read_around(b, step, whole) == FSA_OK;
	st = repair_sectors(b, step->logical - head, whole, read, 1, step->mirror);
	if (st == FSA_OK)
		memcpy(bytes, whole + head, step->length);
	return st;
}

static bool all_right(struct btr *b, uint64_t at, const uint8_t *bytes, size_t length, uint8_t *whole)
{
	struct step step;

	for (; length; at += step.length, bytes += step.length, length -= step.length)
		if (!next_step(b, at, length, &step) || !step_right(b, &step, bytes, whole))
			return false;
	return true;
}

enum fsa_status btr_verify(struct fsa_fs *fs, const struct fsa_extent *x, const void *bytes, size_t length, void *repaired,
			   bool *changed)
{
	struct btr *b = btr_of(fs);
	uint64_t at = x->cookie[0] + x->logical;
	enum fsa_status result = FSA_OK;
	uint8_t *out = repaired, *whole;
	struct step step;

	*changed = false;
	if (x->cookie[1] & BTR_COOKIE_NO_SUMS && bytes)
		return FSA_OK;
	whole = malloc(b->sectorsize);
	if (!whole)
		return FSA_ENOMEM;
	if (bytes && all_right(b, at, bytes, length, whole)) {
		free(whole);
		return FSA_OK;
	}
	if (bytes && bytes != repaired)
		memcpy(repaired, bytes, length);
	*changed = true;
	for (; length; at += step.length, out += step.length, length -= step.length) {
		enum fsa_status st = FSA_EDAMAGED;

		if (next_step(b, at, length, &step))
			st = repair_step(b, &step, out, bytes != NULL, whole);
		else
			step.length = length;
		if (st != FSA_OK)
			result = st;
		if (st == FSA_ENOMEM)
			break;
	}
	free(whole);
	return result;
}

enum fsa_status btr_read_data(struct btr *b, uint64_t logical, uint8_t *buffer, size_t length)
{
	enum fsa_status result = FSA_OK;

	while (length) {
		enum fsa_status st = FSA_EIO;
		struct btr_segment s;
		unsigned n, mirror;

		if (!btr_segment_at(b, logical, length, &s))
			return FSA_ERANGE;
		n = btr_mirrors(b, logical);
		for (mirror = 0; mirror < n; mirror++) {
			st = btr_read_mirror(b, logical, buffer, (size_t)s.length, mirror);
			if (st == FSA_OK || st == FSA_ENOMEM)
				break;
		}
		if (st == FSA_OK)
			st = repair_sectors(b, logical, buffer, true, (size_t)(s.length / b->sectorsize), mirror);
		if (st == FSA_ENOMEM)
			return st;
		if (st != FSA_OK)
			result = st;
		buffer += s.length;
		logical += s.length;
		length -= (size_t)s.length;
	}
	return result;
}
