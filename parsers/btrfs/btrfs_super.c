/* SPDX-License-Identifier: GPL-2.0-only */
/* Superblocks: finding the best copy, deciding whether what it says can be true, joining devices. */
#include <gcrypt.h>
#include <stdio.h>
#include <stdlib.h>

#include "btrfs.h"

bool btr_room(void **array, size_t *room, size_t count, size_t size)
{
	size_t n = *room ? *room * 2 : 64;
	void *p;

	if (count < *room)
		return true;
	p = realloc(*array, n * size);
	if (!p)
		return false;
	*array = p;
	*room = n;
	return true;
}

/* 64 KiB, 64 MiB, 256 GiB. */
uint64_t btr_super_place(unsigned mirror)
{
	return mirror ? UINT64_C(16384) << (12 * mirror) : BTR_SUPER_OFFSET;
}

static bool has_magic(const struct btr_disk_super *s)
{
	return memcmp(s->magic, BTR_SUPER_MAGIC, 8) == 0;
}

struct super_sums { uint8_t want[32]; unsigned size; bool good; };

static void check_sum(const struct btr_disk_super *s, struct super_sums *sums)
{
	unsigned type = fsa_le16v(s->csum_type);

	sums->size = btr_csum_size(type);
	btr_csum(type, (const uint8_t *)s + sizeof(s->csum), sizeof(*s) - sizeof(s->csum), sums->want);
	sums->good = sums->size && memcmp(s->csum, sums->want, sums->size) == 0;
}

/* The copy to use on one image: the first good one, else the first that looks like one. */
static bool best_copy(struct fsa_image *image, struct btr_disk_super *super, uint64_t *offset)
{
	struct btr_disk_super s;
	bool found = false;

	for (unsigned m = 0; m < BTR_SUPER_MIRRORS; m++) {
		struct super_sums sums;

		if (fsa_image_read(image, btr_super_place(m), &s, sizeof(s)) != FSA_OK || !has_magic(&s))
			continue;
		/* A copy that was moved with the bytes around it (an image inside an image) is not ours. */
		if (fsa_le64v(s.bytenr) != btr_super_place(m))
			continue;
		check_sum(&s, &sums);
		if (found && !sums.good)
			continue;
		*super = s;
		*offset = btr_super_place(m);
		found = true;
		if (sums.good)
			break;
	}
	return found;
}

/* Every copy on every device against the one in use. */
void btr_report_super_copies(struct btr *b)
{
	for (size_t d = 0; d < b->n_devices; d++) {
		const struct btr_device *device = &b->devices[d];

		if (device->image < 0)
			continue;
		for (unsigned m = 0; m < BTR_SUPER_MIRRORS; m++) {
			uint64_t at = btr_super_place(m);
			struct btr_csum_text got, want;
			struct super_sums sums;
			struct btr_disk_super s;

			if (!fsa_within(at, sizeof(s), device->total_bytes) ||
			    fsa_read(b->fs, (unsigned)device->image, at, &s, sizeof(s), "superblock", m) != FSA_OK)
				continue;
			if (!has_magic(&s)) {
				fsa_find_on(b->findings, (unsigned)device->image, "superblock", m, at,
					    "no superblock here, there should be a copy");
				continue;
			}
			check_sum(&s, &sums);
			if (!sums.good)
				fsa_find_on(b->findings, (unsigned)device->image, "superblock", m, at,
					    "checksum %s, computed %s", btr_csum_print(s.csum, b->csum_size, &got),
					    btr_csum_print(sums.want, b->csum_size, &want));
			/* A seed stays at the generation in which it was one. */
			else if (fsa_le64v(s.generation) != b->generation && !device->other_super)
				fsa_find_on(b->findings, (unsigned)device->image, "superblock", m, at,
					    "generation %llu, the superblock in use has %llu",
					    (ull)fsa_le64v(s.generation), (ull)b->generation);
		}
	}
}

/* BTRFS_FEATURE_INCOMPAT_METADATA_UUID: nodes keep the id that the filesystem was made with. */
static const uint8_t *header_fsid(const struct btr_disk_super *s)
{
	return fsa_le64v(s->incompat_flags) & UINT64_C(0x400) ? s->metadata_uuid : s->fsid;
}

#define REFUSE(...) return fsa_fail(err, FSA_EDAMAGED, __VA_ARGS__)

static enum fsa_status read_shape(struct btr *b, const char *image, struct fsa_error *err)
{
	const struct btr_disk_super *s = &b->super;
	ull at = b->super_offset;

	b->csum_type = fsa_le16v(s->csum_type);
	b->csum_size = btr_csum_size(b->csum_type);
	if (!b->csum_size)
		return fsa_fail(err, FSA_EUNSUPPORTED, "%s: btrfs: superblock @0x%llx: checksum type %u, 0 to 3 are known",
				image, at, b->csum_type);
	b->sectorsize = fsa_le32v(s->sectorsize);
	b->nodesize = fsa_le32v(s->nodesize);
	if (!fsa_is_power_of_two(b->sectorsize) || b->sectorsize < 4096 || b->sectorsize > 65536)
		REFUSE("%s: btrfs: superblock @0x%llx: sectors of %u bytes, 4096 to 65536 are possible", image, at,
		       b->sectorsize);
	if (!fsa_is_power_of_two(b->nodesize) || b->nodesize < b->sectorsize ||
	    b->nodesize > BTRFS_MAX_METADATA_BLOCKSIZE)
		REFUSE("%s: btrfs: superblock @0x%llx: nodes of %u bytes, %u to 65536 are possible", image, at, b->nodesize,
		       b->sectorsize);
	if (fsa_le32v(s->sys_chunk_array_size) > BTR_SYS_CHUNK_ARRAY)
		REFUSE("%s: btrfs: superblock @0x%llx: system chunk array of %u bytes, at most %u fit", image, at,
		       fsa_le32v(s->sys_chunk_array_size), BTR_SYS_CHUNK_ARRAY);
	if (s->root_level >= BTR_MAX_LEVEL || s->chunk_root_level >= BTR_MAX_LEVEL || s->log_root_level >= BTR_MAX_LEVEL)
		REFUSE("%s: btrfs: superblock @0x%llx: levels %u, %u, %u of the root, chunk and log tree, at most 7", image,
		       at, s->root_level, s->chunk_root_level, s->log_root_level);
	b->generation = fsa_le64v(s->generation);
	b->incompat = fsa_le64v(s->incompat_flags);
	b->compat_ro = fsa_le64v(s->compat_ro_flags);
	memcpy(b->header_fsid, header_fsid(s), 16);
	return FSA_OK;
}

static enum fsa_status add_device(struct btr *b, const struct btr_disk_super *s, int image, bool other)
{
	const uint8_t *item = s->dev_item;
	struct btr_device *d;

	if (!btr_room((void **)&b->devices, &b->devices_room, b->n_devices, sizeof(*b->devices)))
		return FSA_ENOMEM;
	d = &b->devices[b->n_devices++];
	*d = (struct btr_device){
		.devid = FSA_LE(uint64_t, item, struct btrfs_dev_item, devid),
		.total_bytes = FSA_LE(uint64_t, item, struct btrfs_dev_item, total_bytes),
		.bytes_used = FSA_LE(uint64_t, item, struct btrfs_dev_item, bytes_used),
		.image = image,
		.other_super = other,
	};
	memcpy(d->header_fsid, header_fsid(s), 16);
	memcpy(d->uuid, item + offsetof(struct btrfs_dev_item, uuid), 16);
	return FSA_OK;
}

/* Each image's own device, from the best superblock on it; the newest of all is the one in use. */
static enum fsa_status read_supers(struct btr *b, struct fsa_error *err)
{
	struct fsa_fs *fs = b->fs;

	for (unsigned i = 0; i < fs->n_devices; i++) {
		const char *name = fsa_image_name(fs->devices[i].image);
		struct btr_disk_super s;
		uint64_t offset;
		bool other;

		if (!best_copy(fs->devices[i].image, &s, &offset)) {
			if (i == 0)
				return FSA_ENOENT;
			return fsa_fail(err, FSA_EINVAL, "%s: no btrfs superblock: not a device of this filesystem", name);
		}
		/* Unless the chunk tree knows it as a seed it does not belong here. */
		other = i > 0 && memcmp(s.fsid, b->super.fsid, 16) != 0;
		for (size_t k = 0; k < b->n_devices; k++)
			if (memcmp(b->devices[k].uuid, s.dev_item + offsetof(struct btrfs_dev_item, uuid), 16) == 0)
				return fsa_fail(err, FSA_EINVAL, "%s: the same device as %s", name,
						fsa_image_name(fs->devices[k].image));
		if (add_device(b, &s, (int)i, other) != FSA_OK)
			return fsa_fail(err, FSA_ENOMEM, "%s: out of memory", name);
		if (i == 0 || (!other && fsa_le64v(s.generation) > fsa_le64v(b->super.generation))) {
			b->super = s;
			b->super_offset = offset;
			b->super_image = i;
		}
	}
	return FSA_OK;
}

static enum fsa_status open_trees(struct btr *b, const char *name, struct fsa_error *err)
{
	enum fsa_status st = read_shape(b, name, err);

	if (st == FSA_OK)
		st = btr_features(b, name, b->fs->options.force, err);
	if (st == FSA_OK)
		st = btr_chunks_from_super(b, err);
	if (st == FSA_OK)
		st = btr_chunks_from_tree(b, err);
	for (size_t i = 0; i < b->n_devices && st == FSA_OK; i++)
		if (b->devices[i].other_super && !b->devices[i].seed)
			st = fsa_fail(err, FSA_EINVAL, "%s: a device of another btrfs than %s",
				      fsa_image_name(b->fs->devices[b->devices[i].image].image), name);
	if (st == FSA_OK) {
		btr_report_super_copies(b);
		st = btr_read_roots(b, err);
	}
	if (st == FSA_OK)
		st = btr_block_groups(b);
	if (st == FSA_OK)
		st = btr_pick_subvolume(b, err);
	return st;
}

enum fsa_status btr_open(struct fsa_fs *fs, struct fsa_error *err)
{
	const char *name = fsa_image_name(fs->devices[0].image);
	struct btr *b = calloc(1, sizeof(*b));
	enum fsa_status st;

	if (!b)
		return fsa_fail(err, FSA_ENOMEM, "%s: out of memory", name);
	/* The library wants to be asked for its version before anything else; more than once does no harm. */
	gcry_check_version(NULL);
	b->fs = fs;
	b->findings = fs->findings;
	st = read_supers(b, err);
	fs->state = b;
	if (st == FSA_OK)
		st = open_trees(b, name, err);
	if (st != FSA_OK) {
		btr_close(fs);
		if (st == FSA_ENOMEM)
			fsa_fail(err, st, "%s: out of memory", name);
	}
	return st;
}

void btr_close(struct fsa_fs *fs)
{
	struct btr *b = btr_of(fs);

	btr_cache_free(b);
	free(b->devices);
	free(b->chunks);
	free(b->stripes);
	free(b->roots);
	free(b);
	fs->state = NULL;
}

static void hex(char text[64], const uint8_t *id)
{
	size_t n = (size_t)snprintf(text, 64, "btrfs ");

	for (int i = 0; i < 16; i++)
		n += (size_t)snprintf(text + n, 64 - n, "%02x", id[i]);
}

enum fsa_status btr_device_group(struct fsa_image *image, struct fsa_group *group)
{
	struct btr_disk_super s;
	uint64_t offset;

	if (!best_copy(image, &s, &offset))
		return FSA_ENOENT;
	hex(group->id, s.fsid);
	hex(group->member, s.dev_item + offsetof(struct btrfs_dev_item, uuid));
	group->members = (unsigned)fsa_min(fsa_le64v(s.num_devices), FSA_MAX_DEVICES);
	return FSA_OK;
}
