/* SPDX-License-Identifier: GPL-2.0-only */
/* Figures in btrfs's own words: what `btrfs filesystem usage`, tree-stats and qgroups print. */
#include <stdio.h>

#include "btrfs_audit.h"

static void figure(struct btr_audit *a, const char *group, const char *name, uint64_t value, const char *unit)
{
	if (a->audit->figure && !fsa_claims_want_owners(a->claims))
		a->audit->figure(a->audit->figure_arg, group, name, value, unit);
}

static const char *tree_name(uint64_t id)
{
	switch (id) {
	case BTRFS_ROOT_TREE_OBJECTID: return "root";
	case BTRFS_EXTENT_TREE_OBJECTID: return "extent";
	case BTRFS_CHUNK_TREE_OBJECTID: return "chunk";
	case BTRFS_DEV_TREE_OBJECTID: return "device";
	case BTRFS_FS_TREE_OBJECTID: return "top level";
	case BTRFS_CSUM_TREE_OBJECTID: return "checksum";
	case BTRFS_QUOTA_TREE_OBJECTID: return "quota";
	case BTRFS_UUID_TREE_OBJECTID: return "uuid";
	case BTRFS_FREE_SPACE_TREE_OBJECTID: return "free space";
	case BTRFS_BLOCK_GROUP_TREE_OBJECTID: return "block group";
	case BTRFS_TREE_RELOC_OBJECTID: return "relocation";
	case BTRFS_DATA_RELOC_TREE_OBJECTID: return "data relocation";
	default: return "subvolume";
	}
}

void btr_figure_tree(struct btr_audit *a)
{
	char group[64];

	if (btr_is_subvolume(a->root->id) && a->root->id != BTRFS_FS_TREE_OBJECTID)
		snprintf(group, sizeof(group), "tree %s %llu", tree_name(a->root->id), (ull)a->root->id);
	else
		snprintf(group, sizeof(group), "tree %s", tree_name(a->root->id));
	figure(a, group, "levels", a->count.levels, "");
	figure(a, group, "nodes", a->count.nodes, "");
	figure(a, group, "leaves", a->count.leaves, "");
	figure(a, group, "items", a->count.items, "");
	figure(a, group, "bytes", (a->count.nodes + a->count.leaves) * a->b->nodesize, "bytes");
}

/* --- btrfs filesystem usage, of btrfs-progs 6.2 ------------------------------------------------------------------------------ */

/* How many bytes of devices one logical byte takes, as a fraction: parity counts here, other than in df. */
static uint64_t raw(const struct btr_chunk *c, uint64_t bytes)
{
	unsigned parity = btr_parity(c->type);

	if (parity)
		return bytes * c->n_stripes / (c->n_stripes - parity);
	return bytes * btr_copies(c->type);
}

struct usage {
	uint64_t size, allocated, used, data_raw, data_logical, data_raw_used, metadata_raw, metadata_logical;
	double max_ratio;
	bool mixed;
};

static void sum_usage(const struct btr *b, struct usage *u)
{
	*u = (struct usage){ .max_ratio = 1.0 };
	for (size_t i = 0; i < b->n_devices; i++)
		u->size += b->devices[i].total_bytes;
	for (size_t i = 0; i < b->n_chunks; i++) {
		const struct btr_chunk *c = &b->chunks[i];
		uint64_t r = raw(c, c->length);
		double ratio = (double)r / (double)c->length;

		u->allocated += r;
		u->used += raw(c, c->group_used);
		if (ratio > u->max_ratio)
			u->max_ratio = ratio;
		if (c->type & BTRFS_BLOCK_GROUP_DATA) {
			u->data_raw += r;
			u->data_logical += c->length;
			u->data_raw_used += raw(c, c->group_used);
			u->mixed |= (c->type & BTRFS_BLOCK_GROUP_METADATA) != 0;
		} else if (c->type & BTRFS_BLOCK_GROUP_METADATA) {
			u->metadata_raw += r;
			u->metadata_logical += c->length;
		}
	}
}

static void figure_usage(struct btr_audit *a, const struct btr_space *space)
{
	const uint64_t threshold = UINT64_C(16) << 20;
	struct usage u;
	uint64_t unallocated, estimated, least;
	double ratio;

	sum_usage(a->b, &u);
	unallocated = u.size - u.allocated;
	ratio = u.data_logical ? (double)u.data_raw / (double)u.data_logical : 1.0;
	estimated = (uint64_t)((double)(u.data_raw - u.data_raw_used) / ratio);
	if (u.mixed)
		estimated -= fsa_min(estimated, space->reserve);
	least = estimated;
	if (unallocated >= threshold) {
		estimated += (uint64_t)((double)unallocated / ratio);
		least += (uint64_t)((double)unallocated / u.max_ratio);
	}
	figure(a, "usage", "device size", u.size, "bytes");
	figure(a, "usage", "device allocated", u.allocated, "bytes");
	figure(a, "usage", "device unallocated", unallocated, "bytes");
	figure(a, "usage", "used", u.used, "bytes");
	figure(a, "usage", "free (estimated)", estimated, "bytes");
	figure(a, "usage", "free (minimum)", least, "bytes");
	figure(a, "usage", "global reserve", space->reserve, "bytes");
	figure(a, "usage", "data ratio, in hundredths", (uint64_t)(ratio * 100 + 0.5), "");
	figure(a, "usage", "metadata ratio, in hundredths",
	       u.metadata_logical ? (u.metadata_raw * 100 + u.metadata_logical / 2) / u.metadata_logical : 100, "");
}

static void figure_groups(struct btr_audit *a)
{
	const struct btr *b = a->b;

	for (size_t i = 0; i < b->n_chunks; i++) {
		const struct btr_chunk *c = &b->chunks[i];
		uint64_t size = 0, used = 0, on_devices = 0;
		char group[64];
		bool first = true;

		for (size_t k = 0; k < b->n_chunks; k++) {
			const struct btr_chunk *o = &b->chunks[k];

			if (o->type != c->type)
				continue;
			first &= k >= i;
			size += o->length;
			used += o->group_used;
			on_devices += raw(o, o->length);
		}
		/* Once for each kind, at the first of its chunks; more kinds than a handful do not exist. */
		if (!first)
			continue;
		snprintf(group, sizeof(group), "%s, %s", btr_type_name(c->type), btr_profile_name(c->type));
		figure(a, group, "size", size, "bytes");
		figure(a, group, "used", used, "bytes");
		figure(a, group, "on devices", on_devices, "bytes");
	}
}

static void figure_subvolumes(struct btr_audit *a)
{
	const struct btr *b = a->b;

	for (size_t i = 0; i < a->n_extents; i++) {
		const struct btr_extent *e = &a->extents[i];

		if (e->owner != BTR_NOBODY && e->owner != BTR_SEVERAL)
			a->sums[e->owner].exclusive += (uint64_t)e->sectors * b->sectorsize;
		if (e->owner != BTR_NOBODY && e->owner != BTR_SEVERAL && !e->several_files)
			a->sums[e->owner].mapped_exclusive += (uint64_t)e->mapped * b->sectorsize;
	}
	for (size_t i = 0; i < b->n_roots; i++) {
		char group[64];

		if (!btr_is_subvolume(b->roots[i].id))
			continue;
		snprintf(group, sizeof(group), "subvolume %llu%s", (ull)b->roots[i].id, b->roots[i].refs ? "" : ", deleted");
		figure(a, group, "referenced", a->sums[i + 1].referenced, "bytes");
		figure(a, group, "exclusive", a->sums[i + 1].exclusive, "bytes");
		figure(a, group, "shared", a->sums[i + 1].referenced - a->sums[i + 1].exclusive, "bytes");
		figure(a, group, "contents", a->sums[i + 1].mapped, "bytes");
		figure(a, group, "contents, exclusive", a->sums[i + 1].mapped_exclusive, "bytes");
		figure(a, group, "inodes", a->sums[i + 1].files, "");
		figure(a, group, "bytes of files", a->sums[i + 1].file_bytes, "bytes");
	}
}

void btr_figures(struct btr_audit *a)
{
	struct btr_space space;

	if (fsa_claims_want_owners(a->claims) || !a->audit->figure)
		return;
	if (btr_space(a->b, &space) == FSA_OK)
		figure_usage(a, &space);
	figure_groups(a);
	figure_subvolumes(a);
	for (unsigned k = 1; k < 4; k++) {
		char group[64];

		if (!a->compressed_extents[k])
			continue;
		snprintf(group, sizeof(group), "compressed, %s", btr_compression_name(k));
		figure(a, group, "extents", a->compressed_extents[k], "");
		figure(a, group, "bytes compressed", a->compressed_bytes[k], "bytes");
		figure(a, group, "bytes of files in them", a->compressed_plain[k], "bytes");
	}
	figure(a, "extents", "bytes that no file refers to", a->unreferenced_bytes, "bytes");
}
