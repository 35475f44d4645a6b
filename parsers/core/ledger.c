/* SPDX-License-Identifier: GPL-2.0-only */
/* Claiming: the part of the ledger that runs while a parser walks. Closing is in ledger_close.c. */
#include "fsa/ledger.h"

#include <stdlib.h>
#include <string.h>

#include "ledger_state.h"

/* A shard: private sums over the ledger's common bits, or a callback. */
struct fsa_claims {
	struct fsa_ledger *ledger;
	void (*run)(void *arg, const struct fsa_run *run);
	void *arg;
	uint64_t bytes[FSA_MAX_DETAILS];
	uint64_t charged[FSA_MAX_DETAILS];
	uint64_t missing_bytes;
	uint64_t charged_missing_bytes;
};

/* Ranges of a node that were claimed before it came: its parts there are not booked again. */
struct fsa_taken {
	size_t n;
	size_t capacity;
	struct { uint64_t offset, length; } range[];	/* bytes from the start of the node */
};

struct fsa_ledger *fsa_ledger_new(const struct fsa_detail *details, unsigned n_details)
{
	struct fsa_ledger *l;

	if (n_details > FSA_MAX_DETAILS)
		return NULL;
	l = calloc(1, sizeof(*l));
	if (!l)
		return NULL;
	l->details = details;
	l->n_details = n_details;
	pthread_mutex_init(&l->lock, NULL);
	return l;
}

void fsa_ledger_free(struct fsa_ledger *l)
{
	if (!l)
		return;
	for (unsigned i = 0; i < l->n_devices; i++) {
		bitset_release(&l->device[i].allocated);
		bitset_release(&l->device[i].claimed);
		bitset_release(&l->device[i].sharable);
		bitset_release(&l->device[i].multiple);
	}
	free(l->conflicts);
	pthread_mutex_destroy(&l->lock);
	free(l);
}

enum fsa_status fsa_ledger_add_device(struct fsa_ledger *l, uint64_t blocks, uint32_t block_size,
				      uint64_t image_bytes)
{
	struct ledger_device *d;
	uint64_t bytes;

	if (l->n_devices == FSA_MAX_DEVICES || !block_size || !fsa_mul(blocks, block_size, &bytes))
		return FSA_EINVAL;
	d = &l->device[l->n_devices];
	blocks = fsa_min(blocks, image_bytes / block_size + LEDGER_BEYOND_BLOCKS);
	d->blocks = blocks;
	d->block_size = block_size;
	d->image_bytes = image_bytes;
	if (!bitset_init(&d->allocated, blocks))
		return FSA_ENOMEM;
	if (!bitset_init(&d->claimed, blocks)) {
		bitset_release(&d->allocated);
		return FSA_ENOMEM;
	}
	l->n_devices++;
	return FSA_OK;
}

static struct fsa_claims *new_claims(struct fsa_ledger *ledger)
{
	struct fsa_claims *c = calloc(1, sizeof(*c));

	if (c)
		c->ledger = ledger;
	return c;
}

struct fsa_claims *fsa_claims_to_ledger(struct fsa_ledger *ledger)
{
	return new_claims(ledger);
}

struct fsa_claims *fsa_claims_to_callback(const struct fsa_ledger *ledger,
					  void (*run)(void *arg, const struct fsa_run *run), void *arg)
{
	/* Geometry only: a callback shard never writes to the ledger. */
	struct fsa_claims *c = new_claims((struct fsa_ledger *)(uintptr_t)ledger);

	if (c) {
		c->run = run;
		c->arg = arg;
	}
	return c;
}

void fsa_claims_free(struct fsa_claims *c)
{
	struct fsa_ledger *l;

	if (!c)
		return;
	l = c->ledger;
	if (!c->run) {
		pthread_mutex_lock(&l->lock);
		for (unsigned i = 0; i < l->n_details; i++) {
			l->bytes[i] += c->bytes[i];
			l->charged[i] += c->charged[i];
		}
		l->missing_bytes += c->missing_bytes;
		l->charged_missing_bytes += c->charged_missing_bytes;
		pthread_mutex_unlock(&l->lock);
	}
	free(c);
}

bool fsa_claims_want_owners(const struct fsa_claims *c)
{
	return c->run != NULL;
}

const struct fsa_ledger *fsa_claims_ledger(const struct fsa_claims *c)
{
	return c->ledger;
}

/* --- the allocation map ---------------------------------------------------------------------------- */

/* Clips a range to the device; false when nothing is left. */
static bool clip(const struct fsa_ledger *l, unsigned device, uint64_t block, uint64_t *count)
{
	if (device >= l->n_devices || block >= l->device[device].blocks)
		return false;
	*count = fsa_min(*count, l->device[device].blocks - block);
	return *count > 0;
}

static void set_map(struct fsa_claims *c, unsigned device, uint64_t block, uint64_t count, bool allocated)
{
	struct fsa_ledger *l = c->ledger;
	struct bitset *set;
	bool ok;

	if (c->run || !clip(l, device, block, &count))
		return;
	set = &l->device[device].allocated;
	pthread_mutex_lock(&l->lock);
	ok = allocated ? bitset_set(set, block, count, NULL, NULL, NULL) : bitset_clear(set, block, count);
	if (!ok)
		l->failed = FSA_ENOMEM;
	pthread_mutex_unlock(&l->lock);
}

void fsa_map_allocated(struct fsa_claims *c, unsigned device, uint64_t block, uint64_t count)
{
	set_map(c, device, block, count, true);
}

void fsa_map_free(struct fsa_claims *c, unsigned device, uint64_t block, uint64_t count)
{
	set_map(c, device, block, count, false);
}

/* Bit `bit` of an on-disk bitmap, lowest bit of a byte first. */
static bool map_bit(const uint8_t *bitmap, uint64_t bit)
{
	return bitmap[bit / 8] >> (bit % 8) & 1;
}

/* The end of the run of equal bits that starts at `from`. */
static uint64_t map_run_end(const uint8_t *bitmap, uint64_t from, uint64_t bits)
{
	bool value = map_bit(bitmap, from);
	uint64_t flip = value ? ~UINT64_C(0) : 0, at = from + 1;

	while (at < bits) {
		if (at % 8 == 0 && bits - at >= 64) {
			uint64_t w = fsa_get_le64(bitmap + at / 8) ^ flip;

			if (!w) {
				at += 64;
				continue;
			}
			return at + (unsigned)__builtin_ctzll(w);
		}
		if (map_bit(bitmap, at) != value)
			return at;
		at++;
	}
	return bits;
}

void fsa_map_bitmap(struct fsa_claims *c, unsigned device, uint64_t block, const void *bitmap, uint64_t bits)
{
	for (uint64_t at = 0; at < bits;) {
		uint64_t end = map_run_end(bitmap, at, bits);

		if (map_bit(bitmap, at))
			fsa_map_allocated(c, device, block + at, end - at);
		at = end;
	}
}

/* --- claims ---------------------------------------------------------------------------------------- */

/* Bytes that a walk books for one claim or node, and what was there before. */
struct booking {
	struct fsa_ledger *ledger;
	struct ledger_device *d;
	unsigned device;
	unsigned flags;
	uint64_t node_start;		/* byte offset of the node, for `taken` */
	uint64_t taken_bytes;		/* inside the image, claimed before */
	struct fsa_taken **taken;	/* NULL: ranges are not wanted */
};

static void keep_taken(struct booking *b, uint64_t start, uint64_t length)
{
	struct fsa_taken *t = *b->taken;

	if (!t || t->n == t->capacity) {
		size_t n = t ? t->capacity * 2 : 8;

		t = realloc(t, sizeof(*t) + n * sizeof(t->range[0]));
		if (!t) {
			b->ledger->failed = FSA_ENOMEM;
			return;
		}
		if (!*b->taken)
			t->n = 0;
		t->capacity = n;
		*b->taken = t;
	}
	t->range[t->n].offset = start - b->node_start;
	t->range[t->n].length = length;
	t->n++;
}

static void keep_conflict(struct fsa_ledger *l, unsigned device, uint64_t block, uint64_t count)
{
	l->conflict_blocks += count;
	l->conflict_ranges++;
	if (!l->conflicts) {
		l->conflicts = calloc(LEDGER_MAX_CONFLICTS, sizeof(*l->conflicts));
		if (!l->conflicts)
			return;
	}
	if (l->n_conflicts < LEDGER_MAX_CONFLICTS)
		l->conflicts[l->n_conflicts++] =
			(struct fsa_range){ .device = device, .block = block, .count = count };
}

static bool share_bits(struct ledger_device *d)
{
	if (d->sharing)
		return true;
	if (!bitset_init(&d->sharable, d->blocks))
		return false;
	if (!bitset_init(&d->multiple, d->blocks)) {
		bitset_release(&d->sharable);
		return false;
	}
	d->sharing = true;
	return true;
}

/* Blocks that already had an owner: shared where both agree, in conflict otherwise. */
static void claimed_again(void *arg, uint64_t block, uint64_t count)
{
	struct booking *b = arg;
	struct ledger_device *d = b->d;
	uint64_t bytes = ledger_in_image(d, block * d->block_size, count * d->block_size);

	b->taken_bytes += bytes;
	if (b->taken)
		keep_taken(b, block * d->block_size, count * d->block_size);
	while (count) {
		uint64_t run = count;
		bool sharable = d->sharing && (b->flags & FSA_CLAIM_SHARED) &&
				bitset_run(&d->sharable, block, count, &run);

		if (sharable) {
			uint64_t fresh = 0;
			uint64_t extra = ledger_in_image(d, block * d->block_size, run * d->block_size);

			if (!bitset_set(&d->multiple, block, run, &fresh, NULL, NULL))
				b->ledger->failed = FSA_ENOMEM;
			b->ledger->shared_blocks += fresh;
			b->ledger->shared_extra_bytes += extra;
			if (b->flags & FSA_CLAIM_CHARGED)
				b->ledger->charged_extra_bytes += extra;
		} else {
			keep_conflict(b->ledger, b->device, block, run);
			if (b->flags & FSA_CLAIM_CHARGED)
				b->ledger->charged_conflict_bytes +=
					ledger_in_image(d, block * d->block_size, run * d->block_size);
		}
		block += run;
		count -= run;
	}
}

/* Marks those blocks of a shared claim that have no owner yet as ones that may get a second one. */
static bool allow_sharing(struct ledger_device *d, uint64_t block, uint64_t count)
{
	if (!share_bits(d))
		return false;
	while (count) {
		uint64_t run;

		if (!bitset_run(&d->claimed, block, count, &run) &&
		    !bitset_set(&d->sharable, block, run, NULL, NULL, NULL))
			return false;
		block += run;
		count -= run;
	}
	return true;
}

/*
 * Marks blocks as claimed. Returns the bytes of them that are booked now for the first time and lie in
 * the image; *missing gets the bytes that lie behind its end.
 */
static uint64_t take(struct booking *b, uint64_t block, uint64_t count, uint64_t *missing)
{
	struct ledger_device *d = b->d;
	struct fsa_ledger *l = b->ledger;
	uint64_t all = count * d->block_size;
	uint64_t inside = ledger_in_image(d, block * d->block_size, all);
	bool ok = true;

	pthread_mutex_lock(&l->lock);
	if (b->flags & FSA_CLAIM_SHARED)
		ok = allow_sharing(d, block, count);
	ok = ok && bitset_set(&d->claimed, block, count, NULL, claimed_again, b);
	if (ok && (b->flags & FSA_CLAIM_UNMAPPED)) {
		uint64_t fresh = 0;

		ok = bitset_set(&d->allocated, block, count, &fresh, NULL, NULL);
		l->unmapped_blocks += fresh;
	}
	if (!ok)
		l->failed = FSA_ENOMEM;
	pthread_mutex_unlock(&l->lock);
	*missing = all - inside;
	return inside - b->taken_bytes;
}

static void note_missing(struct fsa_claims *c, uint64_t bytes, unsigned flags)
{
	c->missing_bytes += bytes;
	if (flags & FSA_CLAIM_CHARGED)
		c->charged_missing_bytes += bytes;
}

static bool valid_range(const struct fsa_ledger *l, unsigned device, uint64_t block, uint64_t count)
{
	return device < l->n_devices && fsa_within(block, count, l->device[device].blocks);
}

static void send_run(struct fsa_claims *c, unsigned device, uint64_t offset, uint64_t length, unsigned detail,
		     unsigned flags, const struct fsa_owner *owner)
{
	struct fsa_run run = {
		.device = device, .offset = offset, .length = length,
		.detail = detail, .flags = flags, .owner = owner,
	};

	if (length)
		c->run(c->arg, &run);
}

static void book(struct fsa_claims *c, unsigned detail, uint64_t bytes, unsigned flags)
{
	c->bytes[detail] += bytes;
	if (flags & FSA_CLAIM_CHARGED)
		c->charged[detail] += bytes;
}

bool fsa_claim(struct fsa_claims *c, unsigned device, uint64_t block, uint64_t count, unsigned detail,
	       unsigned flags, const struct fsa_owner *owner)
{
	struct fsa_ledger *l = c->ledger;
	struct ledger_device *d;
	struct booking b;
	uint64_t missing;

	if (!valid_range(l, device, block, count) || detail >= l->n_details)
		return false;
	d = &l->device[device];
	if (c->run) {
		send_run(c, device, block * d->block_size, count * d->block_size, detail, flags, owner);
		return true;
	}
	if (l->details[detail].purpose == FSA_FREE) {
		c->bytes[detail] += ledger_in_image(d, block * d->block_size, count * d->block_size);
		return true;
	}
	b = (struct booking){ .ledger = l, .d = d, .device = device, .flags = flags };
	book(c, detail, take(&b, block, count, &missing), flags);
	note_missing(c, missing, flags);
	return true;
}

void fsa_split_begin(struct fsa_split *s, struct fsa_claims *c, unsigned device, uint64_t block, uint64_t count,
		     unsigned flags, const struct fsa_owner *owner)
{
	struct fsa_ledger *l = c->ledger;
	struct ledger_device *d;
	struct booking b;
	uint64_t missing = 0;

	memset(s, 0, sizeof(*s));
	s->claims = c;
	s->device = device;
	s->flags = flags;
	s->owner = owner;
	s->valid = valid_range(l, device, block, count);
	if (!s->valid)
		return;
	d = &l->device[device];
	s->start = block * d->block_size;
	s->size = count * d->block_size;
	if (c->run)
		return;
	b = (struct booking){
		.ledger = l, .d = d, .device = device, .flags = flags,
		.node_start = s->start, .taken = &s->taken,
	};
	s->fresh = take(&b, block, count, &missing);
	note_missing(c, missing, flags);
}

/* How much of [offset, offset + length) of the node is new and lies in the image. */
static uint64_t fresh_bytes(const struct fsa_split *s, uint64_t offset, uint64_t length)
{
	const struct ledger_device *d = &s->claims->ledger->device[s->device];
	uint64_t end = offset + ledger_in_image(d, s->start + offset, length);
	uint64_t fresh = end - offset;

	if (!s->taken)
		return fresh;
	for (size_t i = 0; i < s->taken->n; i++) {
		uint64_t from = fsa_max(offset, s->taken->range[i].offset);
		uint64_t to = fsa_min(end, s->taken->range[i].offset + s->taken->range[i].length);

		if (to > from)
			fresh -= to - from;
	}
	return fresh;
}

/*
 * Most files end inside a block, so this comes once a file: no array of details is set up and added up unless
 * some of the blocks had an owner before or lie behind the end of the image.
 */
bool fsa_claim_with_rest(struct fsa_claims *c, unsigned device, uint64_t block, uint64_t count, uint64_t bytes,
			 unsigned detail, unsigned rest_detail, unsigned flags, const struct fsa_owner *owner)
{
	struct fsa_ledger *l = c->ledger;
	struct fsa_taken *taken = NULL;
	struct fsa_split node;
	struct ledger_device *d;
	struct booking b;
	uint64_t missing, start, size;

	if (!valid_range(l, device, block, count) || detail >= l->n_details || rest_detail >= l->n_details)
		return false;
	d = &l->device[device];
	start = block * d->block_size;
	size = count * d->block_size;
	bytes = fsa_min(bytes, size);
	if (c->run) {
		send_run(c, device, start, bytes, detail, flags, owner);
		send_run(c, device, start + bytes, size - bytes, rest_detail, flags, owner);
		return true;
	}
	b = (struct booking){ .ledger = l, .d = d, .device = device, .flags = flags, .node_start = start, .taken = &taken };
	take(&b, block, count, &missing);
	note_missing(c, missing, flags);
	if (!taken && !missing) {
		book(c, detail, bytes, flags);
		book(c, rest_detail, size - bytes, flags);
		return true;
	}
	node = (struct fsa_split){ .claims = c, .device = device, .start = start, .size = size, .taken = taken };
	book(c, detail, fresh_bytes(&node, 0, bytes), flags);
	book(c, rest_detail, fresh_bytes(&node, bytes, size - bytes), flags);
	free(taken);
	return true;
}

void fsa_split_part(struct fsa_split *s, uint64_t offset, uint64_t length, unsigned detail,
		    const struct fsa_owner *owner)
{
	struct fsa_claims *c = s->claims;

	if (!s->valid || !length)
		return;
	if (detail >= c->ledger->n_details || !fsa_within(offset, length, s->size) ||
	    length > s->size - s->parts) {
		s->overfull = true;
		return;
	}
	s->parts += length;
	if (c->run)
		send_run(c, s->device, s->start + offset, length, detail, s->flags, owner ? owner : s->owner);
	else
		s->bytes[detail] += fresh_bytes(s, offset, length);
}

bool fsa_split_end(struct fsa_split *s, unsigned rest_detail)
{
	struct fsa_claims *c = s->claims;
	uint64_t booked = 0;

	if (!s->valid)
		return false;
	if (!c->run) {
		for (unsigned i = 0; i < c->ledger->n_details; i++)
			booked += s->bytes[i];
		if (booked <= s->fresh) {
			s->bytes[rest_detail] += s->fresh - booked;
		} else {
			/* Overlapping parts: only possible when the node is damaged; keep the sum right. */
			uint64_t excess = booked - s->fresh;

			s->overfull = true;
			for (unsigned i = c->ledger->n_details; excess && i-- > 0;) {
				uint64_t cut = fsa_min(excess, s->bytes[i]);

				s->bytes[i] -= cut;
				excess -= cut;
			}
		}
		for (unsigned i = 0; i < c->ledger->n_details; i++)
			if (s->bytes[i])
				book(c, i, s->bytes[i], s->flags);
		free(s->taken);
		s->taken = NULL;
	}
	return !s->overfull && s->parts == s->size;
}
