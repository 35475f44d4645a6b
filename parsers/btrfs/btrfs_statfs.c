/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * df as the kernel makes it: btrfs_statfs, btrfs_calc_avail_data_space and btrfs_update_global_block_rsv of
 * Linux 6.1 (fs/btrfs/super.c, block-rsv.c, block-group.c), on a filesystem just mounted.
 */
#include <stdlib.h>

#include "btrfs.h"

/* --- block groups --------------------------------------------------------------------------------------------------- */

static struct btr_chunk *group_chunk(struct btr *b, const struct btr_item *item)
{
	const struct btr_chunk *c = btr_chunk_at(b, item->key.objectid);
	uint64_t at;

	btr_place(b, item->node->logical, &at);
	if (at != FSA_NO_OFFSET)
		at += item->offset;
	if (!c || c->logical != item->key.objectid || c->length != item->key.offset) {
		BTR_FIND(b, "block group", item->key.objectid, at, "%llu bytes, there is no such chunk", (ull)item->key.offset);
		return NULL;
	}
	return &b->chunks[c - b->chunks];
}

static enum fsa_status take_group(void *arg, const struct btr_item *item)
{
	struct btr *b = arg;
	struct btr_chunk *c;

	if (item->key.type != BTRFS_BLOCK_GROUP_ITEM_KEY || item->size != sizeof(struct btrfs_block_group_item))
		return FSA_OK;
	c = group_chunk(b, item);
	if (!c)
		return FSA_OK;
	c->have_group = true;
	c->group_used = FSA_LE(uint64_t, item->data, struct btrfs_block_group_item, used);
	if (FSA_LE(uint64_t, item->data, struct btrfs_block_group_item, flags) != c->type)
		BTR_FIND(b, "block group", c->logical, FSA_NO_OFFSET, "type 0x%llx, its chunk has 0x%llx",
			 (ull)FSA_LE(uint64_t, item->data, struct btrfs_block_group_item, flags), (ull)c->type);
	return FSA_OK;
}

enum fsa_status btr_block_groups(struct btr *b)
{
	const struct btr_root *tree = btr_root_find(b, BTRFS_BLOCK_GROUP_TREE_OBJECTID);
	enum fsa_status st = FSA_OK;

	if (tree && b->compat_ro & 8) {
		struct btr_walk w = { .b = b, .item = take_group, .arg = b };

		return btr_walk_root(&w, tree);
	}
	tree = btr_root_find(b, BTRFS_EXTENT_TREE_OBJECTID);
	for (size_t i = 0; tree && i < b->n_chunks && st == FSA_OK; i++) {
		struct btr_key key = { b->chunks[i].logical, BTRFS_BLOCK_GROUP_ITEM_KEY, b->chunks[i].length };

		st = btr_find_item(b, tree, key, take_group, b);
		if (st == FSA_ENOENT || st == FSA_EDAMAGED)
			st = FSA_OK;	/* the audit says so */
	}
	return st;
}

/* --- profiles ----------------------------------------------------------------------------------------------------------- */

struct profile { uint64_t bit; unsigned devs_min, dev_stripes; };

/* In the order of the kernel's list of profiles, which decides the factor when there are several. */
static const struct profile profiles[] = {
	{ BTRFS_AVAIL_ALLOC_BIT_SINGLE, 1, 1 }, { BTRFS_BLOCK_GROUP_RAID0, 1, 1 }, { BTRFS_BLOCK_GROUP_RAID1, 2, 1 },
	{ BTRFS_BLOCK_GROUP_DUP, 1, 2 }, { BTRFS_BLOCK_GROUP_RAID10, 2, 1 }, { BTRFS_BLOCK_GROUP_RAID5, 2, 1 },
	{ BTRFS_BLOCK_GROUP_RAID6, 3, 1 }, { BTRFS_BLOCK_GROUP_RAID1C3, 3, 1 }, { BTRFS_BLOCK_GROUP_RAID1C4, 4, 1 },
};
#define N_PROFILES (sizeof(profiles) / sizeof(profiles[0]))

static size_t present_devices(const struct btr *b)
{
	size_t n = 0;

	for (size_t i = 0; i < b->n_devices; i++)
		n += b->devices[i].image >= 0 && b->devices[i].in_tree && !b->devices[i].seed;
	return n;
}

/* Which of several profiles new chunks would get. */
static const struct profile *alloc_profile(const struct btr *b, uint64_t bits)
{
	static const uint64_t order[] = {
		BTRFS_BLOCK_GROUP_RAID1C4, BTRFS_BLOCK_GROUP_RAID6, BTRFS_BLOCK_GROUP_RAID1C3, BTRFS_BLOCK_GROUP_RAID5,
		BTRFS_BLOCK_GROUP_RAID10, BTRFS_BLOCK_GROUP_RAID1, BTRFS_BLOCK_GROUP_DUP, BTRFS_BLOCK_GROUP_RAID0,
		BTRFS_AVAIL_ALLOC_BIT_SINGLE,
	};
	size_t devices = present_devices(b);

	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		for (size_t k = 0; k < N_PROFILES; k++)
			if (profiles[k].bit == order[i] && (bits & order[i] || order[i] == BTRFS_AVAIL_ALLOC_BIT_SINGLE) &&
			    devices >= profiles[k].devs_min)
				return &profiles[k];
	return &profiles[0];
}

uint64_t btr_global_reserve(const struct btr *b)
{
	static const uint64_t trees[] = {
		BTRFS_EXTENT_TREE_OBJECTID, BTRFS_CSUM_TREE_OBJECTID, BTRFS_FREE_SPACE_TREE_OBJECTID, BTRFS_BLOCK_GROUP_TREE_OBJECTID,
	};
	const uint64_t unlink_units = 6;
	uint64_t bytes = 0, items = 1, least, one = UINT64_C(2) * BTR_MAX_LEVEL * b->nodesize;

	for (size_t i = 0; i < sizeof(trees) / sizeof(trees[0]); i++) {
		const struct btr_root *r = btr_root_find(b, trees[i]);

		if (!r)
			continue;
		bytes += r->used_bytes;
		items++;
	}
	items += unlink_units;
	/* Delayed references cost twice as much with a free space tree. */
	least = one * items + one * unlink_units * (b->compat_ro & 1 ? 2 : 1);
	return fsa_min(fsa_max(bytes, least), UINT64_C(512) << 20);
}

static bool on_seed(const struct btr *b, const struct btr_chunk *c)
{
	for (unsigned i = 0; i < c->n_stripes; i++)
		if (b->devices[b->stripes[c->first_stripe + i].device].seed)
			return true;
	return false;
}

enum fsa_status btr_space(struct btr *b, struct btr_space *space)
{
	*space = (struct btr_space){ .n = 0 };
	for (size_t i = 0; i < b->n_chunks; i++) {
		const struct btr_chunk *c = &b->chunks[i];
		uint64_t type = c->type & BTRFS_BLOCK_GROUP_TYPE_MASK, profile = c->type & BTRFS_BLOCK_GROUP_PROFILE_MASK;
		struct btr_group_sum *s = NULL;

		for (unsigned k = 0; k < space->n; k++)
			if (space->sum[k].type == type)
				s = &space->sum[k];
		if (!s) {
			if (space->n == sizeof(space->sum) / sizeof(space->sum[0]))
				continue;
			s = &space->sum[space->n++];
			s->type = type;
		}
		s->profiles |= profile ? profile : BTRFS_AVAIL_ALLOC_BIT_SINGLE;
		s->total += c->length;
		s->used += c->group_used;
		s->disk_total += c->length * btr_copies(c->type);
		s->disk_used += c->group_used * btr_copies(c->type);
	}
	/* Where redundant groups exist, the kernel writes no more to groups without redundancy; to seeds it never does. */
	for (unsigned k = 0; k < space->n; k++) {
		struct btr_group_sum *s = &space->sum[k];
		uint64_t bit = alloc_profile(b, s->profiles)->bit;
		bool redundant = !(bit & (BTRFS_BLOCK_GROUP_RAID0 | BTRFS_AVAIL_ALLOC_BIT_SINGLE));

		for (size_t i = 0; i < b->n_chunks; i++) {
			const struct btr_chunk *c = &b->chunks[i];
			uint64_t profile = c->type & BTRFS_BLOCK_GROUP_PROFILE_MASK;

			if ((c->type & BTRFS_BLOCK_GROUP_TYPE_MASK) == s->type && c->group_used <= c->length &&
			    (on_seed(b, c) || (redundant && (!profile || profile == BTRFS_BLOCK_GROUP_RAID0))))
				s->read_only_free += (c->length - c->group_used) * btr_copies(c->type);
		}
	}
	space->reserve = btr_global_reserve(b);
	return FSA_OK;
}

/* --- space that new data chunks could take ---------------------------------------------------------------------------- */

static int descending(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (x[0] < y[0]) - (x[0] > y[0]);
}

static enum fsa_status unallocated(const struct btr *b, const struct profile *p, uint64_t *bytes)
{
	uint64_t *avail = calloc(b->n_devices + 1, sizeof(*avail));
	uint64_t least = p->dev_stripes * BTR_STRIPE_LEN;
	size_t n = 0, stripes = 1;

	*bytes = 0;
	if (!avail)
		return FSA_ENOMEM;
	if (p->bit & BTRFS_BLOCK_GROUP_RAID0)
		stripes = present_devices(b);
	else if (p->bit & BTRFS_BLOCK_GROUP_RAID1_MASK)
		stripes = btr_copies(p->bit);
	else if (p->bit & BTRFS_BLOCK_GROUP_RAID10)
		stripes = 4;
	for (size_t i = 0; i < b->n_devices; i++) {
		const struct btr_device *d = &b->devices[i];
		uint64_t room;

		if (d->image < 0 || !d->in_tree || d->seed || d->bytes_used > d->total_bytes)
			continue;
		room = (d->total_bytes - d->bytes_used) / BTR_STRIPE_LEN * BTR_STRIPE_LEN;
		if (room > BTR_DEVICE_RESERVED + least)
			avail[n++] = room - BTR_DEVICE_RESERVED;
	}
	qsort(avail, n, sizeof(*avail), descending);
	/* From the smallest device up: what it has left, in as many stripes as the profile takes. */
	while (n && n >= p->devs_min) {
		uint64_t room = avail[n - 1];

		stripes = (size_t)fsa_min(stripes, n);
		if (room >= least) {
			*bytes += room * stripes;
			for (size_t k = n - stripes; k < n; k++)
				avail[k] -= room;
		}
		n--;
	}
	free(avail);
	return FSA_OK;
}

enum fsa_status btr_statfs(struct fsa_fs *fs, bool read_only, struct fsa_statfs *s)
{
	struct btr *b = btr_of(fs);
	uint64_t total = fsa_le64v(b->super.total_bytes), used = 0, data_free = 0, data_ro = 0, room = 0, blocks, scaled;
	uint64_t ss = b->sectorsize;
	const struct profile *data_profile = &profiles[0];
	unsigned factor = 1;
	struct btr_space space;
	enum fsa_status st = btr_space(b, &space);

	/* Up to Linux 6.1 the same for both; newer kernels count no new chunks on a read-only mount. */
	(void)read_only;
	if (st != FSA_OK)
		return st;
	for (unsigned k = 0; k < space.n; k++) {
		const struct btr_group_sum *g = &space.sum[k];

		used += g->disk_used;
		if (!(g->type & BTRFS_BLOCK_GROUP_DATA))
			continue;
		data_free += g->disk_total - g->disk_used;
		data_ro += g->read_only_free;
		data_profile = alloc_profile(b, g->profiles);
		for (size_t i = 0; i < N_PROFILES; i++)
			if (g->profiles & profiles[i].bit)
				factor = btr_copies(profiles[i].bit);
	}
	st = unallocated(b, data_profile, &room);
	if (st != FSA_OK)
		return st;
	*s = (struct fsa_statfs){ .block_size = b->sectorsize, .kernel = "Linux 6.1 btrfs" };
	blocks = total / factor / ss;
	fsa_statfs_add(s, FSA_DF_SIZE, (int64_t)(total / ss), "all devices, by the superblock");
	if (factor > 1)
		fsa_statfs_add(s, FSA_DF_SIZE, (int64_t)(blocks - total / ss), "divided by the number of copies of data");
	scaled = used / factor / ss;
	fsa_statfs_add(s, FSA_DF_FREE, (int64_t)((total - used) / ss), "all devices less the used counters of the block groups");
	fsa_statfs_add(s, FSA_DF_FREE, (int64_t)(blocks - scaled - (total - used) / ss), "divided by the number of copies of data");
	fsa_statfs_add(s, FSA_DF_FREE, -(int64_t)fsa_min(space.reserve / ss, s->free), "global reserve");
	fsa_statfs_add(s, FSA_DF_AVAILABLE, (int64_t)((data_free - data_ro) / factor / ss), "free in data chunks");
	/* Added as bytes and then cut to blocks. */
	fsa_statfs_add(s, FSA_DF_AVAILABLE,
		       (int64_t)(((data_free - data_ro) / factor + room / factor) / ss - (data_free - data_ro) / factor / ss),
		       "what new data chunks could hold");
	return FSA_OK;
}
