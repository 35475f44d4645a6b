/* SPDX-License-Identifier: GPL-2.0-only */
/* Nodes: read from whichever copy is good, checked once, kept for a while. */
#include <stdlib.h>

#include "btrfs.h"

#define WAYS 4

static struct btr_node **cache_set(struct btr *b, uint64_t logical)
{
	uint64_t h = (logical / b->sectorsize) * UINT64_C(0x9e3779b97f4a7c15) >> 32;

	return &b->cache[h % (BTR_CACHE / WAYS) * WAYS];
}

static struct btr_node *cache_find(struct btr *b, uint64_t logical)
{
	struct btr_node **set = cache_set(b, logical);

	for (int i = 0; i < WAYS; i++)
		if (set[i] && set[i]->logical == logical) {
			set[i]->used = ++b->clock;
			set[i]->refs++;
			return set[i];
		}
	return NULL;
}

static void cache_add(struct btr *b, struct btr_node *node)
{
	struct btr_node **set = cache_set(b, node->logical), **place = &set[0];

	for (int i = 0; i < WAYS; i++) {
		if (!set[i]) {
			place = &set[i];
			break;
		}
		if (set[i]->used < (*place)->used)
			place = &set[i];
	}
	btr_node_put(*place);
	node->refs++;
	node->used = ++b->clock;
	*place = node;
}

void btr_node_put(struct btr_node *node)
{
	if (node && --node->refs == 0) {
		free(node->data);
		free(node);
	}
}

void btr_cache_free(struct btr *b)
{
	for (int i = 0; i < BTR_CACHE; i++) {
		btr_node_put(b->cache[i]);
		b->cache[i] = NULL;
	}
}

/* --- what a node says ---------------------------------------------------------------------------------------- */

static struct btr_key key_at(const struct btr_node *node, uint32_t slot)
{
	return btr_disk_key(node->data + BTR_HEADER + slot * (node->level ? BTR_PTR : BTR_ITEM));
}

#define NODE_FIND(...) fsa_find_on(b->findings, device, "tree block", node->logical, at, __VA_ARGS__)

/* Sets node->n to the entries that can be used; what stops it is a finding. */
static void check_entries(struct btr *b, struct btr_node *node)
{
	uint32_t n = FSA_LE(uint32_t, node->data, struct btr_disk_header, nritems);
	uint32_t max = (b->nodesize - BTR_HEADER) / (node->level ? BTR_PTR : BTR_ITEM);
	uint32_t end = b->nodesize - BTR_HEADER;	/* of the data that comes next */
	uint64_t at;
	unsigned device = btr_place(b, node->logical, &at);

	if (n > max) {
		NODE_FIND("%u entries, at most %u fit", n, max);
		n = max;
	}
	for (uint32_t i = 0; i < n; i++) {
		node->n = i;
		if (i && btr_key_cmp(key_at(node, i - 1), key_at(node, i)) >= 0) {
			struct btr_key k = key_at(node, i), p = key_at(node, i - 1);

			NODE_FIND("entry %u has key (%llu %u %llu), not behind (%llu %u %llu) before it", i, (ull)k.objectid, k.type,
				  (ull)k.offset, (ull)p.objectid, p.type, (ull)p.offset);
			return;
		}
		if (!node->level) {
			const uint8_t *p = node->data + BTR_HEADER + i * BTR_ITEM;
			uint32_t offset = FSA_LE(uint32_t, p, struct btr_disk_item, offset);
			uint32_t size = FSA_LE(uint32_t, p, struct btr_disk_item, size);

			/* Data grows down from the end of the leaf without a gap. */
			if (offset > end || size != end - offset || offset < (i + 1) * BTR_ITEM) {
				NODE_FIND("item %u of %u has %u bytes of data at %u, they should end at %u", i, n, size, offset, end);
				return;
			}
			end = offset;
		}
	}
	/* The last item header must not run into the data. */
	if (!node->level && n && end < n * BTR_ITEM) {
		NODE_FIND("%u item headers run into the data at %u", n, end);
		node->n = end / BTR_ITEM;
		return;
	}
	node->n = n;
}

/* --- reading ---------------------------------------------------------------------------------------------------- */

struct verdict {
	const char *what;	/* NULL: good */
	ull got, want;
	uint8_t sum[32];
};

/* Nodes of a filesystem that grew from a seed carry either's id. */
static bool known_fsid(const struct btr *b, const uint8_t *fsid)
{
	if (memcmp(fsid, b->header_fsid, 16) == 0)
		return true;
	for (size_t i = 0; i < b->n_devices; i++)
		if ((b->devices[i].seed || b->devices[i].other_super) && memcmp(fsid, b->devices[i].header_fsid, 16) == 0)
			return true;
	return false;
}

static void judge(const struct btr *b, const uint8_t *data, uint64_t logical, unsigned level, uint64_t generation,
		  struct verdict *v)
{
	uint64_t bytenr = FSA_LE(uint64_t, data, struct btr_disk_header, bytenr);
	uint64_t gen = FSA_LE(uint64_t, data, struct btr_disk_header, generation);
	unsigned lev = FSA_LE(uint8_t, data, struct btr_disk_header, level);

	v->what = NULL;
	btr_csum(b->csum_type, data + 32, b->nodesize - 32, v->sum);
	if (memcmp(v->sum, data, b->csum_size) != 0) {
		v->what = "checksum";
	} else if (bytenr != logical) {
		*v = (struct verdict){ .what = "address", .got = bytenr, .want = logical };
	} else if (!known_fsid(b, data + offsetof(struct btr_disk_header, fsid))) {
		v->what = "filesystem id";
	} else if (lev != level) {
		*v = (struct verdict){ .what = "level", .got = lev, .want = level };
	} else if (generation && gen != generation) {
		*v = (struct verdict){ .what = "generation", .got = gen, .want = generation };
	}
}

static void report(struct btr *b, uint64_t logical, unsigned mirror, const uint8_t *data, const struct verdict *v)
{
	struct btr_csum_text got, want;
	struct btr_segment s;
	unsigned device = 0;
	uint64_t at = FSA_NO_OFFSET;
	bool rebuilt = true;

	if (btr_segment_at(b, logical, 1, &s) && mirror < s.copies) {
		rebuilt = false;
		at = s.copy[mirror].physical;
		device = s.copy[mirror].image < 0 ? 0 : (unsigned)s.copy[mirror].image;
	}
	if (strcmp(v->what, "checksum") == 0)
		fsa_find_on(b->findings, device, "tree block", logical, at, "copy %u%s has checksum %s, computed %s", mirror + 1,
			    rebuilt ? ", made from parity," : "", btr_csum_print(data, b->csum_size, &got),
			    btr_csum_print(v->sum, b->csum_size, &want));
	else if (strcmp(v->what, "filesystem id") == 0)
		fsa_find_on(b->findings, device, "tree block", logical, at, "copy %u carries the id of another filesystem", mirror + 1);
	else
		fsa_find_on(b->findings, device, "tree block", logical, at, "copy %u has %s %llu, expected %llu", mirror + 1, v->what,
			    v->got, v->want);
}

/* A device that is missing is said once, not for every block. */
static bool copy_missing(const struct btr *b, uint64_t logical, unsigned mirror)
{
	struct btr_segment s;

	return btr_segment_at(b, logical, 1, &s) && mirror < s.copies && s.copy[mirror].image < 0;
}

/* Reads until a copy is good; the others are compared with it when asked to. */
static enum fsa_status read_copies(struct btr *b, uint64_t logical, unsigned level, uint64_t generation, uint8_t *data,
				   unsigned *good)
{
	unsigned mirrors = btr_mirrors(b, logical);
	uint8_t *other = NULL;
	bool tried = false;

	*good = UINT32_MAX;
	for (unsigned m = 0; m < mirrors; m++) {
		uint8_t *into = data;
		struct verdict v;
		enum fsa_status st;

		if (*good != UINT32_MAX) {
			struct btr_segment s;

			/* What parity would give needs no comparing: it lies in no place of its own. */
			if (!b->verify_copies || !btr_segment_at(b, logical, 1, &s) || m >= s.copies)
				break;
			if (!other && !(other = malloc(b->nodesize)))
				return FSA_ENOMEM;
			into = other;
		}
		if (copy_missing(b, logical, m))
			continue;
		st = btr_read_mirror(b, logical, into, b->nodesize, m);
		if (st == FSA_ENOMEM) {
			free(other);
			return st;
		}
		if (st != FSA_OK) {
			uint64_t at;
			unsigned device = btr_place(b, logical, &at);

			if (m < btr_copies(btr_chunk_at(b, logical)->type))
				fsa_find_on(b->findings, device, "tree block", logical, at, "copy %u cannot be read: %s", m + 1,
					    fsa_status_name(st));
			continue;
		}
		tried = true;
		if (into == other && memcmp(other, data, b->nodesize) == 0)
			continue;
		judge(b, into, logical, level, generation, &v);
		if (v.what && (m < btr_copies(btr_chunk_at(b, logical)->type) || m + 1 == mirrors))
			report(b, logical, m, into, &v);
		else if (v.what)
			continue;	/* a guess at which stripes are right: it lies in no place, and another may follow */
		else if (into == data)
			*good = m;
		else
			fsa_find(b->findings, "tree block", logical, FSA_NO_OFFSET, "copies %u and %u are both good and differ",
				 *good + 1, m + 1);
	}
	free(other);
	if (*good == UINT32_MAX && !tried)
		BTR_FIND(b, "tree block", logical, FSA_NO_OFFSET, "no copy of it can be read");
	return FSA_OK;
}

enum fsa_status btr_node_get(struct btr *b, uint64_t logical, unsigned level, uint64_t generation, struct btr_node **result)
{
	struct btr_node *node = cache_find(b, logical);
	enum fsa_status st;
	unsigned good;

	*result = NULL;
	if (node) {
		if (node->level == level && (!generation || node->generation == generation)) {
			*result = node;
			return FSA_OK;
		}
		btr_node_put(node);
	}
	if (logical % b->sectorsize || !btr_chunk_at(b, logical)) {
		BTR_FIND(b, "tree block", logical, FSA_NO_OFFSET, "no chunk holds this address");
		return FSA_EDAMAGED;
	}
	node = calloc(1, sizeof(*node));
	if (node)
		node->data = malloc(b->nodesize);
	if (!node || !node->data) {
		free(node);
		return FSA_ENOMEM;
	}
	node->refs = 1;
	node->logical = logical;
	st = read_copies(b, logical, level, generation, node->data, &good);
	if (st != FSA_OK || good == UINT32_MAX) {
		btr_node_put(node);
		return st == FSA_OK ? FSA_EDAMAGED : st;
	}
	node->level = level;
	node->generation = FSA_LE(uint64_t, node->data, struct btr_disk_header, generation);
	node->owner = FSA_LE(uint64_t, node->data, struct btr_disk_header, owner);
	check_entries(b, node);
	cache_add(b, node);
	*result = node;
	return FSA_OK;
}
