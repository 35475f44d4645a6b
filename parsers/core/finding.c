/* SPDX-License-Identifier: GPL-2.0-only */
#include "fsa/finding.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_LIMIT 10000

struct fsa_findings {
	struct fsa_finding *list;
	size_t count;
	size_t capacity;
	size_t limit;
	uint64_t dropped;
	bool muted;
	/* Open-addressing set of the hashes of what is kept, for dropping repetitions. */
	uint64_t *hashes;
	size_t hash_slots;	/* power of two, at least twice the count */
};

struct fsa_findings *fsa_findings_new(size_t limit)
{
	struct fsa_findings *f = calloc(1, sizeof(*f));

	if (f)
		f->limit = limit ? limit : DEFAULT_LIMIT;
	return f;
}

void fsa_findings_free(struct fsa_findings *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->count; i++)
		free((char *)(uintptr_t)f->list[i].message);
	free(f->list);
	free(f->hashes);
	free(f);
}

static uint64_t hash_bytes(uint64_t h, const void *data, size_t length)
{
	const uint8_t *p = data;

	for (size_t i = 0; i < length; i++)
		h = (h ^ p[i]) * 0x100000001b3u;
	return h;
}

static uint64_t finding_hash(const struct fsa_finding *x)
{
	uint64_t h = 0xcbf29ce484222325u;

	h = hash_bytes(h, x->object, strlen(x->object));
	h = hash_bytes(h, &x->number, sizeof(x->number));
	h = hash_bytes(h, &x->offset, sizeof(x->offset));
	h = hash_bytes(h, &x->device, sizeof(x->device));
	h = hash_bytes(h, x->message, strlen(x->message));
	return h ? h : 1;
}

static void insert_hash(uint64_t *slots, size_t n, uint64_t h)
{
	size_t i = (size_t)h & (n - 1);

	while (slots[i])
		i = (i + 1) & (n - 1);
	slots[i] = h;
}

static bool known_hash(const struct fsa_findings *f, uint64_t h)
{
	if (!f->hash_slots)
		return false;
	for (size_t i = (size_t)h & (f->hash_slots - 1); f->hashes[i]; i = (i + 1) & (f->hash_slots - 1))
		if (f->hashes[i] == h)
			return true;
	return false;
}

/* Makes room for one more in the list and in the set; false when memory ran out. */
static bool grow(struct fsa_findings *f)
{
	if (f->count == f->capacity) {
		size_t n = f->capacity ? f->capacity * 2 : 64;
		struct fsa_finding *list = realloc(f->list, n * sizeof(*list));

		if (!list)
			return false;
		f->list = list;
		f->capacity = n;
	}
	if (f->hash_slots < 2 * f->capacity) {
		size_t n = 4 * f->capacity;
		uint64_t *slots = calloc(n, sizeof(*slots));

		if (!slots)
			return false;
		for (size_t i = 0; i < f->hash_slots; i++)
			if (f->hashes[i])
				insert_hash(slots, n, f->hashes[i]);
		free(f->hashes);
		f->hashes = slots;
		f->hash_slots = n;
	}
	return true;
}

static void find_va(struct fsa_findings *f, unsigned device, const char *object, uint64_t number,
		    uint64_t offset, const char *fmt, va_list ap)
{
	struct fsa_finding x = { .object = object, .number = number, .offset = offset, .device = device };
	char text[1024];
	uint64_t h;

	if (!f || f->muted)
		return;
	if (f->count >= f->limit) {
		f->dropped++;
		return;
	}
	vsnprintf(text, sizeof(text), fmt, ap);
	x.message = text;
	h = finding_hash(&x);
	if (known_hash(f, h))
		return;
	x.message = strdup(text);
	if (!x.message || !grow(f)) {
		free((char *)(uintptr_t)x.message);
		f->dropped++;
		return;
	}
	insert_hash(f->hashes, f->hash_slots, h);
	f->list[f->count++] = x;
}

void fsa_find(struct fsa_findings *f, const char *object, uint64_t number, uint64_t offset,
	      const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	find_va(f, 0, object, number, offset, fmt, ap);
	va_end(ap);
}

void fsa_find_on(struct fsa_findings *f, unsigned device, const char *object, uint64_t number,
		 uint64_t offset, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	find_va(f, device, object, number, offset, fmt, ap);
	va_end(ap);
}

bool fsa_findings_mute(struct fsa_findings *f, bool mute)
{
	bool was = f && f->muted;

	if (f)
		f->muted = mute;
	return was;
}

size_t fsa_findings_count(const struct fsa_findings *f)
{
	return f ? f->count : 0;
}

uint64_t fsa_findings_dropped(const struct fsa_findings *f)
{
	return f ? f->dropped : 0;
}

const struct fsa_finding *fsa_findings_at(const struct fsa_findings *f, size_t index)
{
	return f && index < f->count ? &f->list[index] : NULL;
}

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_findings(const void *pa, const void *pb)
{
	const struct fsa_finding *a = pa, *b = pb;
	int c = compare_u64(a->device, b->device);

	if (!c)
		c = compare_u64(a->offset, b->offset);
	if (!c)
		c = strcmp(a->object, b->object);
	if (!c)
		c = compare_u64(a->number, b->number);
	return c ? c : strcmp(a->message, b->message);
}

void fsa_findings_sort(struct fsa_findings *f)
{
	if (f && f->count)
		qsort(f->list, f->count, sizeof(*f->list), compare_findings);
}
