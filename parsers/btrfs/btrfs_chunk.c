/* SPDX-License-Identifier: GPL-2.0-only */
/* Chunks: from logical addresses to places on devices, for every profile. */
#include <stdio.h>
#include <stdlib.h>

#include "btrfs.h"

unsigned btr_copies(uint64_t type)
{
	if (type & BTRFS_BLOCK_GROUP_RAID1C4)
		return 4;
	if (type & BTRFS_BLOCK_GROUP_RAID1C3)
		return 3;
	return type & (BTRFS_BLOCK_GROUP_RAID1 | BTRFS_BLOCK_GROUP_DUP | BTRFS_BLOCK_GROUP_RAID10) ? 2 : 1;
}

unsigned btr_parity(uint64_t type)
{
	return type & BTRFS_BLOCK_GROUP_RAID6 ? 2 : type & BTRFS_BLOCK_GROUP_RAID5 ? 1 : 0;
}

unsigned btr_data_stripes(const struct btr_chunk *c)
{
	if (c->type & BTRFS_BLOCK_GROUP_RAID0)
		return c->n_stripes;
	if (c->type & BTRFS_BLOCK_GROUP_RAID10)
		return c->n_stripes / c->sub_stripes;
	if (btr_parity(c->type))
		return c->n_stripes - btr_parity(c->type);
	return 1;
}

uint64_t btr_stripe_bytes(const struct btr_chunk *c)
{
	return c->length / btr_data_stripes(c);
}

const char *btr_profile_name(uint64_t type)
{
	static const struct { uint64_t bit; const char *name; } names[] = {
		{ BTRFS_BLOCK_GROUP_RAID0, "RAID0" }, { BTRFS_BLOCK_GROUP_RAID1, "RAID1" },
		{ BTRFS_BLOCK_GROUP_DUP, "DUP" }, { BTRFS_BLOCK_GROUP_RAID10, "RAID10" },
		{ BTRFS_BLOCK_GROUP_RAID5, "RAID5" }, { BTRFS_BLOCK_GROUP_RAID6, "RAID6" },
		{ BTRFS_BLOCK_GROUP_RAID1C3, "RAID1C3" }, { BTRFS_BLOCK_GROUP_RAID1C4, "RAID1C4" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (type & names[i].bit)
			return names[i].name;
	return "single";
}

const char *btr_type_name(uint64_t type)
{
	bool data = type & BTRFS_BLOCK_GROUP_DATA, metadata = type & BTRFS_BLOCK_GROUP_METADATA;

	if (data && metadata)
		return "Data+Metadata";
	return data ? "Data" : metadata ? "Metadata" : type & BTRFS_BLOCK_GROUP_SYSTEM ? "System" : "none";
}

/* --- what chunk items say -------------------------------------------------------------------------------- */

static size_t first_behind(const struct btr *b, uint64_t logical)
{
	size_t low = 0, high = b->n_chunks;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (b->chunks[mid].logical <= logical)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

const struct btr_chunk *btr_chunk_at(const struct btr *b, uint64_t logical)
{
	size_t i = first_behind(b, logical);
	const struct btr_chunk *c = i ? &b->chunks[i - 1] : NULL;

	return c && logical - c->logical < c->length ? c : NULL;
}

static unsigned device_of(struct btr *b, uint64_t devid, const uint8_t *uuid)
{
	for (size_t i = 0; i < b->n_devices; i++)
		if (b->devices[i].devid == devid)
			return (unsigned)i;
	if (!btr_room((void **)&b->devices, &b->devices_room, b->n_devices, sizeof(*b->devices)))
		return UINT32_MAX;
	b->devices[b->n_devices] = (struct btr_device){ .devid = devid, .image = -1 };
	memcpy(b->devices[b->n_devices].uuid, uuid, 16);
	return (unsigned)b->n_devices++;
}

/* The kernel makes them of 10 GiB at most; the bound keeps sets of bits over them small. */
#define MAX_CHUNK (UINT64_C(1) << 40)
#define MAX_DEVICE (UINT64_C(1) << 50)

/* The shape of a chunk: what is wrong with it, or NULL. Rules as in the kernel's tree checker. */
static const char *shape(const struct btr *b, const struct btr_chunk *c, uint64_t stripe_len)
{
	uint64_t profile = c->type & BTRFS_BLOCK_GROUP_PROFILE_MASK;
	uint64_t end;

	if (!c->length || c->length % b->sectorsize || c->logical % b->sectorsize || !fsa_add(c->logical, c->length, &end))
		return "its address and length are not whole sectors";
	if (stripe_len != BTR_STRIPE_LEN)
		return "its stripe length is not 65536";
	if (!(c->type & BTRFS_BLOCK_GROUP_TYPE_MASK))
		return "it holds neither data nor metadata";
	if (c->length > MAX_CHUNK)
		return "it is larger than any chunk";
	if (profile && !fsa_is_power_of_two(profile))
		return "it has several profiles";
	if (c->n_stripes == 0 || c->n_stripes > BTR_MAX_STRIPES)
		return "its number of stripes is impossible";
	if (profile == 0 && c->n_stripes != 1)
		return "its number of stripes does not fit its profile";
	if (profile & (BTRFS_BLOCK_GROUP_DUP | BTRFS_BLOCK_GROUP_RAID1_MASK) && c->n_stripes != btr_copies(c->type))
		return "its number of stripes does not fit its profile";
	if (profile & BTRFS_BLOCK_GROUP_RAID10 && (c->sub_stripes != 2 || c->n_stripes % 2))
		return "its sub-stripes do not fit its profile";
	if (btr_parity(c->type) && c->n_stripes <= btr_parity(c->type))
		return "it has no stripe for data";
	if (c->length % btr_data_stripes(c) || btr_stripe_bytes(c) % b->sectorsize)
		return "its length is not divided evenly by its stripes";
	return NULL;
}

/* Adds one chunk item. Damage is a finding and FSA_OK. */
static enum fsa_status add_chunk(struct btr *b, uint64_t logical, const uint8_t *data, size_t size, uint64_t at,
				 bool again)
{
	struct btr_chunk c = { .logical = logical, .first_stripe = b->n_stripes };
	const uint8_t *p = data + offsetof(struct btrfs_chunk, stripe);
	const char *trouble;
	size_t place;

	if (size < sizeof(struct btrfs_chunk)) {
		BTR_FIND(b, "chunk", logical, at, "item of %zu bytes, at least %zu are needed", size, sizeof(struct btrfs_chunk));
		return FSA_OK;
	}
	c.length = FSA_LE(uint64_t, data, struct btrfs_chunk, length);
	c.type = FSA_LE(uint64_t, data, struct btrfs_chunk, type);
	c.n_stripes = FSA_LE(uint16_t, data, struct btrfs_chunk, num_stripes);
	c.sub_stripes = FSA_LE(uint16_t, data, struct btrfs_chunk, sub_stripes);
	trouble = shape(b, &c, FSA_LE(uint64_t, data, struct btrfs_chunk, stripe_len));
	if (!trouble && offsetof(struct btrfs_chunk, stripe) + c.n_stripes * sizeof(struct btrfs_stripe) > size)
		trouble = "its stripes do not fit into its item";
	if (trouble) {
		BTR_FIND(b, "chunk", logical, at, "%llu bytes, type 0x%llx, %u stripes: %s", (ull)c.length, (ull)c.type,
			 c.n_stripes, trouble);
		return FSA_OK;
	}
	place = first_behind(b, logical);
	if (place && b->chunks[place - 1].logical == logical && b->chunks[place - 1].length == c.length && again)
		return FSA_OK;		/* the superblock's list had it */
	if ((place && logical - b->chunks[place - 1].logical < b->chunks[place - 1].length) ||
	    (place < b->n_chunks && b->chunks[place].logical - logical < c.length)) {
		const struct btr_chunk *o = place && logical - b->chunks[place - 1].logical < b->chunks[place - 1].length
					    ? &b->chunks[place - 1] : &b->chunks[place];

		BTR_FIND(b, "chunk", logical, at, "%llu bytes overlap the chunk at %llu of %llu bytes", (ull)c.length,
			 (ull)o->logical, (ull)o->length);
		return FSA_OK;
	}
	for (unsigned i = 0; i < c.n_stripes; i++, p += sizeof(struct btrfs_stripe)) {
		struct btr_stripe s = {
			.device = device_of(b, FSA_LE(uint64_t, p, struct btrfs_stripe, devid),
					    p + offsetof(struct btrfs_stripe, dev_uuid)),
			.offset = FSA_LE(uint64_t, p, struct btrfs_stripe, offset),
		};
		uint64_t end;

		if (s.device == UINT32_MAX ||
		    !btr_room((void **)&b->stripes, &b->stripes_room, b->n_stripes, sizeof(*b->stripes)))
			return FSA_ENOMEM;
		if (s.offset % b->sectorsize || !fsa_add(s.offset, btr_stripe_bytes(&c), &end)) {
			BTR_FIND(b, "chunk", logical, at, "stripe %u starts at %llu of device %llu, which is no sector", i,
				 (ull)s.offset, (ull)b->devices[s.device].devid);
			b->n_stripes = c.first_stripe;
			return FSA_OK;
		}
		b->stripes[b->n_stripes++] = s;
	}
	if (!btr_room((void **)&b->chunks, &b->chunks_room, b->n_chunks, sizeof(*b->chunks)))
		return FSA_ENOMEM;
	memmove(b->chunks + place + 1, b->chunks + place, (b->n_chunks - place) * sizeof(*b->chunks));
	b->chunks[place] = c;
	b->n_chunks++;
	return FSA_OK;
}

/* The superblock's own list of system chunks, in which the chunk tree lies. */
enum fsa_status btr_chunks_from_super(struct btr *b, struct fsa_error *err)
{
	const uint8_t *p = b->super.sys_chunk_array;
	size_t left = fsa_le32v(b->super.sys_chunk_array_size);
	uint64_t at = b->super_offset + offsetof(struct btr_disk_super, sys_chunk_array);
	const char *name = fsa_image_name(b->fs->devices[b->super_image].image);

	while (left >= sizeof(struct btrfs_disk_key) + sizeof(struct btrfs_chunk)) {
		struct btr_key key = btr_disk_key(p);
		const uint8_t *item = p + sizeof(struct btrfs_disk_key);
		size_t size = offsetof(struct btrfs_chunk, stripe) +
			      FSA_LE(uint16_t, item, struct btrfs_chunk, num_stripes) * sizeof(struct btrfs_stripe);

		if (key.type != BTRFS_CHUNK_ITEM_KEY || size > left - sizeof(struct btrfs_disk_key))
			break;
		if (add_chunk(b, key.offset, item, size, at, false) != FSA_OK)
			return fsa_fail(err, FSA_ENOMEM, "%s: out of memory", name);
		size += sizeof(struct btrfs_disk_key);
		p += size;
		left -= size;
		at += size;
	}
	if (left)
		BTR_FIND(b, "superblock", 0, at, "%zu bytes of the system chunk array make no chunk", left);
	return FSA_OK;
}

static void take_device(struct btr *b, const struct btr_item *item, uint64_t at)
{
	const uint8_t *p = item->data;
	struct btr_device *d;
	unsigned i;

	if (item->size < sizeof(struct btrfs_dev_item) ||
	    FSA_LE(uint64_t, p, struct btrfs_dev_item, devid) != item->key.offset) {
		BTR_FIND(b, "device", item->key.offset, at, "device item of %u bytes for device %llu", item->size,
			 item->size < 8 ? 0 : (ull)FSA_LE(uint64_t, p, struct btrfs_dev_item, devid));
		return;
	}
	i = device_of(b, item->key.offset, p + offsetof(struct btrfs_dev_item, uuid));
	if (i == UINT32_MAX)
		return;
	d = &b->devices[i];
	d->in_tree = true;
	d->seed = memcmp(p + offsetof(struct btrfs_dev_item, fsid), b->super.fsid, 16) != 0;
	/* The image of another filesystem is a seed only when it is that device. */
	if (d->other_super && memcmp(d->uuid, p + offsetof(struct btrfs_dev_item, uuid), 16) != 0)
		d->seed = false;
	if (d->image < 0)
		memcpy(d->header_fsid, p + offsetof(struct btrfs_dev_item, fsid), 16);
	d->total_bytes = FSA_LE(uint64_t, p, struct btrfs_dev_item, total_bytes);
	d->bytes_used = FSA_LE(uint64_t, p, struct btrfs_dev_item, bytes_used);
}

static enum fsa_status take_item(void *arg, const struct btr_item *item)
{
	struct btr *b = arg;
	uint64_t at;

	btr_place(b, item->node->logical, &at);
	if (at != FSA_NO_OFFSET)
		at += item->offset;
	if (item->key.type == BTRFS_CHUNK_ITEM_KEY)
		return add_chunk(b, item->key.offset, item->data, item->size, at, true);
	if (item->key.type == BTRFS_DEV_ITEM_KEY)
		take_device(b, item, at);
	return FSA_OK;
}

/* Devices and the space that chunks take on them. */
static void check_devices(struct btr *b)
{
	uint64_t want = fsa_le64v(b->super.num_devices), total = 0;
	size_t in_tree = 0;

	for (size_t i = 0; i < b->n_devices; i++) {
		struct btr_device *d = &b->devices[i];

		in_tree += d->in_tree;
		total += d->total_bytes;
		if (!d->in_tree)
			BTR_FIND(b, "device", d->devid, FSA_NO_OFFSET, "the chunk tree does not know it");
		if (d->image < 0) {
			b->degraded = true;
			BTR_FIND(b, "device", d->devid, FSA_NO_OFFSET, "%s of %llu bytes is missing",
				 d->seed ? "seed device" : "device", (ull)d->total_bytes);
		} else if (fsa_image_size(b->fs->devices[d->image].image) < d->total_bytes) {
			fsa_find_on(b->findings, (unsigned)d->image, "device", d->devid, FSA_NO_OFFSET,
				    "%llu bytes long, the image holds %llu", (ull)d->total_bytes,
				    (ull)fsa_image_size(b->fs->devices[d->image].image));
			/* A size that no device has would only make the books endless. */
			if (d->total_bytes > MAX_DEVICE)
				d->total_bytes = fsa_image_size(b->fs->devices[d->image].image);
		}
	}
	if (in_tree != want)
		BTR_FIND(b, "superblock", 0, b->super_offset, "%llu devices, the chunk tree has %zu", (ull)want, in_tree);
	if (total != fsa_le64v(b->super.total_bytes))
		BTR_FIND(b, "superblock", 0, b->super_offset, "%llu bytes in all, the devices have %llu",
			 (ull)fsa_le64v(b->super.total_bytes), (ull)total);
}

enum fsa_status btr_chunks_from_tree(struct btr *b, struct fsa_error *err)
{
	struct btr_root root = btr_chunk_root(b);
	struct btr_walk w = { .b = b, .item = take_item, .arg = b };
	const char *name = fsa_image_name(b->fs->devices[b->super_image].image);
	struct btr_node *node;
	enum fsa_status st;

	/* Without its root nothing can be said; a hole further down is a finding. */
	st = btr_node_get(b, root.bytenr, root.level, root.generation, &node);
	if (st != FSA_OK) {
		if (st == FSA_ENOMEM)
			return fsa_fail(err, st, "%s: out of memory", name);
		return fsa_fail(err, FSA_EDAMAGED, "%s: btrfs: superblock @0x%llx: no copy of the chunk tree's root at %llu can be read%s",
				name, (ull)b->super_offset, (ull)root.bytenr,
				b->fs->n_devices < fsa_le64v(b->super.num_devices) ? "; not all devices are given" : "");
	}
	btr_node_put(node);
	st = btr_walk_root(&w, &root);
	if (st != FSA_OK)
		return fsa_fail(err, st, "%s: %s", name, fsa_status_name(st));
	for (size_t i = 0; i < b->n_chunks; i++) {
		b->chunks[i].base = b->chunk_bytes;
		b->chunk_bytes += b->chunks[i].length;
	}
	check_devices(b);
	return FSA_OK;
}

/* --- where bytes lie --------------------------------------------------------------------------------------- */

static void put_copy(const struct btr *b, const struct btr_chunk *c, struct btr_segment *s, unsigned stripe, uint64_t in_stripe)
{
	const struct btr_stripe *t = &b->stripes[c->first_stripe + stripe];

	s->copy[s->copies].stripe = stripe;
	s->copy[s->copies].image = b->devices[t->device].image;
	s->copy[s->copies].physical = t->offset + in_stripe;
	s->copies++;
}

bool btr_segment_at(const struct btr *b, uint64_t logical, uint64_t max, struct btr_segment *s)
{
	const struct btr_chunk *c = btr_chunk_at(b, logical);
	uint64_t at, stripe_nr, rest, row;
	unsigned data;

	if (!c)
		return false;
	at = logical - c->logical;
	*s = (struct btr_segment){ .logical = logical, .length = fsa_min(max, c->length - at) };
	if (!(c->type & (BTRFS_BLOCK_GROUP_RAID0 | BTRFS_BLOCK_GROUP_RAID10 | BTRFS_BLOCK_GROUP_RAID56_MASK))) {
		for (unsigned i = 0; i < c->n_stripes; i++)
			put_copy(b, c, s, i, at);
		return true;
	}
	data = btr_data_stripes(c);
	stripe_nr = at / BTR_STRIPE_LEN;
	rest = at % BTR_STRIPE_LEN;
	row = stripe_nr / data;
	s->length = fsa_min(s->length, BTR_STRIPE_LEN - rest);
	if (c->type & BTRFS_BLOCK_GROUP_RAID10) {
		unsigned first = (unsigned)(stripe_nr % data) * c->sub_stripes;

		for (unsigned i = 0; i < c->sub_stripes; i++)
			put_copy(b, c, s, first + i, row * BTR_STRIPE_LEN + rest);
	} else if (c->type & BTRFS_BLOCK_GROUP_RAID0) {
		put_copy(b, c, s, (unsigned)(stripe_nr % data), row * BTR_STRIPE_LEN + rest);
	} else {
		/* Each row starts one stripe further to the right, so that parity wanders over the devices. */
		put_copy(b, c, s, (unsigned)((stripe_nr % data + row) % c->n_stripes), row * BTR_STRIPE_LEN + rest);
	}
	return true;
}

unsigned btr_place(const struct btr *b, uint64_t logical, uint64_t *offset)
{
	struct btr_segment s;

	*offset = FSA_NO_OFFSET;
	if (!btr_segment_at(b, logical, 1, &s))
		return 0;
	for (unsigned i = 0; i < s.copies; i++)
		if (s.copy[i].image >= 0) {
			*offset = s.copy[i].physical;
			return (unsigned)s.copy[i].image;
		}
	return 0;
}
