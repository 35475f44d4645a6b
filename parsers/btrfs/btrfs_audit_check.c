/* SPDX-License-Identifier: GPL-2.0-only */
/* Further witnesses: checksum ranges, device extents, the free space tree, counters, reference counts. */
#include "btrfs_audit.h"

static uint64_t item_place(const struct btr_audit *a, const struct btr_item *item)
{
	uint64_t at;

	btr_place(a->b, item->node->logical, &at);
	return at == FSA_NO_OFFSET ? at : at + item->offset;
}

/* --- checksums ---------------------------------------------------------------------------------------------------------- */

static enum fsa_status check_csum(struct btr_audit *a, const struct btr_item *item)
{
	const struct btr *b = a->b;
	uint64_t start = item->key.offset, length = (uint64_t)(item->size / b->csum_size) * b->sectorsize, at = start, end;

	if (item->key.objectid != BTRFS_EXTENT_CSUM_OBJECTID || item->size % b->csum_size || start % b->sectorsize ||
	    !fsa_add(start, length, &end)) {
		BTR_FIND(a->b, "checksum item", start, item_place(a, item), "%u bytes of checksums of %u bytes each", item->size,
			 b->csum_size);
		return FSA_OK;
	}
	for (size_t i = btr_extent_behind(a, at); at < end && !a->extents_damaged; i++) {
		const struct btr_extent *e = i < a->n_extents ? &a->extents[i] : NULL;

		if (!e || e->start > at || !e->data) {
			uint64_t stop = e && e->start > at ? fsa_min(end, e->start) : end;

			BTR_FIND(a->b, "checksum item", start, item_place(a, item), "checksums for %llu bytes at %llu, where no data extent is",
				 (ull)(stop - at), (ull)at);
			break;
		}
		at = e->start + (uint64_t)e->sectors * b->sectorsize;
	}
	return btr_bits_set(a, &a->summed, start, length) ? FSA_OK : FSA_ENOMEM;
}

/* --- device extents ----------------------------------------------------------------------------------------------------- */

static void check_dev_extent(struct btr_audit *a, const struct btr_item *item)
{
	struct btr *b = a->b;
	uint64_t chunk, length;

	if (item->size != sizeof(struct btrfs_dev_extent)) {
		BTR_FIND(b, "device extent", item->key.offset, item_place(a, item), "item of %u bytes", item->size);
		return;
	}
	chunk = FSA_LE(uint64_t, item->data, struct btrfs_dev_extent, chunk_offset);
	length = FSA_LE(uint64_t, item->data, struct btrfs_dev_extent, length);
	for (size_t i = 0; i < b->n_devices; i++)
		if (b->devices[i].devid == item->key.objectid)
			b->devices[i].extent_bytes += length;
	a->dev_extents++;
	for (size_t low = 0, high = a->n_places; low < high;) {
		size_t mid = low + (high - low) / 2;
		const struct btr_place_on *p = &a->places[mid];
		uint64_t devid = b->devices[p->device].devid;

		/* Places are in the order of the device table, which need not be that of ids: look at each device's own. */
		if (devid == item->key.objectid && p->offset == item->key.offset) {
			if (b->chunks[p->chunk].logical != chunk || p->length != length)
				BTR_FIND(b, "device extent", item->key.offset, item_place(a, item),
					 "%llu bytes of chunk %llu, the chunk tree has %llu bytes of chunk %llu there", (ull)length, (ull)chunk,
					 (ull)p->length, (ull)b->chunks[p->chunk].logical);
			return;
		}
		if (b->devices[p->device].devid == item->key.objectid ? p->offset < item->key.offset
								      : p->device < a->device_index)
			low = mid + 1;
		else
			high = mid;
	}
	BTR_FIND(b, "device extent", item->key.offset, item_place(a, item), "%llu bytes on device %llu, no chunk has a stripe there",
		 (ull)length, (ull)item->key.objectid);
}

enum fsa_status btr_check_item(struct btr_audit *a, const struct btr_item *item)
{
	switch (item->key.type) {
	case BTRFS_EXTENT_CSUM_KEY:
		return check_csum(a, item);
	case BTRFS_DEV_EXTENT_KEY:
		a->device_index = 0;
		for (size_t i = 0; i < a->b->n_devices; i++)
			if (a->b->devices[i].devid == item->key.objectid)
				a->device_index = (unsigned)i;
		check_dev_extent(a, item);
		return FSA_OK;
	default:
		return FSA_OK;
	}
}

/* --- the free space tree -------------------------------------------------------------------------------------------------- */

struct free_space {
	struct btr_audit *a;
	const struct btr_chunk *group;
	uint64_t bytes, runs, want_runs;
	uint64_t run_end;		/* runs of bitmaps may go on in the next one */
	bool skip;			/* items of a group that is no more */
};

static void finish_group(struct free_space *f)
{
	const struct btr_chunk *c = f->group;
	uint64_t want;

	if (!c)
		return;
	f->group = NULL;
	want = c->length - c->group_used;
	if (f->bytes != want)
		BTR_FIND(f->a->b, "free space tree", c->logical, FSA_NO_OFFSET, "%llu bytes free in this block group, its counter leaves %llu",
			 (ull)f->bytes, (ull)want);
	else if (f->runs != f->want_runs)
		BTR_FIND(f->a->b, "free space tree", c->logical, FSA_NO_OFFSET, "%llu pieces by its item, there are %llu",
			 (ull)f->want_runs, (ull)f->runs);
}

static void take_free(struct free_space *f, uint64_t start, uint64_t length)
{
	size_t i = btr_extent_behind(f->a, start);

	f->bytes += length;
	f->runs += f->run_end != start;
	f->run_end = start + length;
	if (!f->a->extents_damaged && i < f->a->n_extents && f->a->extents[i].start < start + length)
		BTR_FIND(f->a->b, "free space tree", start, FSA_NO_OFFSET, "%llu bytes free, the extent at %llu lies there", (ull)length,
			 (ull)f->a->extents[i].start);
}

static void take_bitmap(struct free_space *f, const struct btr_item *item)
{
	uint64_t ss = f->a->b->sectorsize, bits = item->key.offset / ss;

	if (bits > (uint64_t)item->size * 8) {
		BTR_FIND(f->a->b, "free space tree", item->key.objectid, item_place(f->a, item), "bitmap of %u bytes for %llu sectors",
			 item->size, (ull)bits);
		return;
	}
	for (uint64_t at = 0, run; at < bits; at += run) {
		bool set = item->data[at / 8] >> (at % 8) & 1;

		for (run = 1; at + run < bits && (item->data[(at + run) / 8] >> ((at + run) % 8) & 1) == set; run++)
			;
		if (set)
			take_free(f, item->key.objectid + at * ss, run * ss);
	}
}

static enum fsa_status take_free_item(void *arg, const struct btr_item *item)
{
	struct free_space *f = arg;
	uint64_t end;

	if (item->key.type == BTRFS_FREE_SPACE_INFO_KEY) {
		const struct btr_chunk *c = btr_chunk_at(f->a->b, item->key.objectid);

		finish_group(f);
		if (item->size != sizeof(struct btrfs_free_space_info)) {
			BTR_FIND(f->a->b, "free space tree", item->key.objectid, item_place(f->a, item), "item of %u bytes", item->size);
			return FSA_OK;
		}
		/* mkfs.btrfs leaves those of its first, temporary groups behind; the checker and the kernel pass over them. */
		f->skip = !c || c->logical != item->key.objectid || c->length != item->key.offset;
		if (f->skip)
			return FSA_OK;
		*f = (struct free_space){
			.a = f->a, .group = c, .run_end = UINT64_MAX,
			.want_runs = FSA_LE(uint32_t, item->data, struct btrfs_free_space_info, extent_count),
		};
		return FSA_OK;
	}
	if (item->key.type != BTRFS_FREE_SPACE_EXTENT_KEY && item->key.type != BTRFS_FREE_SPACE_BITMAP_KEY)
		return FSA_OK;
	if (f->skip)
		return FSA_OK;
	if (!f->group || !fsa_add(item->key.objectid, item->key.offset, &end) || item->key.objectid < f->group->logical ||
	    end > f->group->logical + f->group->length) {
		BTR_FIND(f->a->b, "free space tree", item->key.objectid, item_place(f->a, item), "%llu bytes lie outside the block group",
			 (ull)item->key.offset);
		return FSA_OK;
	}
	if (item->key.type == BTRFS_FREE_SPACE_BITMAP_KEY)
		take_bitmap(f, item);
	else
		take_free(f, item->key.objectid, item->key.offset);
	return FSA_OK;
}

enum fsa_status btr_check_free_space(struct btr_audit *a)
{
	const struct btr_root *root = btr_root_find(a->b, BTRFS_FREE_SPACE_TREE_OBJECTID);
	struct free_space f = { .a = a };
	struct btr_walk w = { .b = a->b, .item = take_free_item, .arg = &f };
	enum fsa_status st;

	/* Without the second bit an old kernel wrote since, and the tree is made anew at the next mount. */
	if (!root || (a->b->compat_ro & 3) != 3 || fsa_claims_want_owners(a->claims))
		return FSA_OK;
	st = btr_walk_root(&w, root);
	if (!w.damaged)
		finish_group(&f);
	return st;
}

/* --- counters --------------------------------------------------------------------------------------------------------------- */

static void check_references(struct btr_audit *a)
{
	/* With a part missing or a log to come, what was met is less than what there is. */
	if (a->damaged || a->extents_damaged || fsa_le64v(a->b->super.log_root))
		return;
	for (size_t i = 0; i < a->n_extents; i++) {
		const struct btr_extent *e = &a->extents[i];

		if (e->seen != e->refs) {
			uint64_t at;
			unsigned device = btr_place(a->b, e->start, &at);

			fsa_find_on(a->b->findings, device, "extent", e->start, at, "%u references by the extent tree, %u were found",
				    e->refs, e->seen);
		}
	}
}

void btr_check_totals(struct btr_audit *a)
{
	struct btr *b = a->b;
	uint64_t used = 0;

	for (size_t i = 0; i < b->n_chunks; i++)
		used += b->chunks[i].group_used;
	if (used != fsa_le64v(b->super.bytes_used))
		BTR_FIND(b, "superblock", 0, b->super_offset, "%llu bytes used, the block groups have %llu",
			 (ull)fsa_le64v(b->super.bytes_used), (ull)used);
	for (size_t i = 0; i < b->n_devices; i++) {
		if (b->devices[i].in_tree && !a->damaged && b->devices[i].bytes_used != b->devices[i].extent_bytes)
			BTR_FIND(b, "device", b->devices[i].devid, FSA_NO_OFFSET, "%llu bytes in chunks by its item, its extents have %llu",
				 (ull)b->devices[i].bytes_used, (ull)b->devices[i].extent_bytes);
		b->devices[i].extent_bytes = 0;
	}
	if (a->dev_extents != a->n_places && !a->damaged)
		BTR_FIND(b, "device tree", FSA_NO_NUMBER, FSA_NO_OFFSET, "%llu device extents, the chunks have %zu stripes",
			 (ull)a->dev_extents, a->n_places);
	check_references(a);
}
