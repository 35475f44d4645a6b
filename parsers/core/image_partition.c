/* SPDX-License-Identifier: GPL-2.0-only */
/* Partition tables, and the choice of the window: whole image, offset, or a partition. */
#include <blkid/blkid.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fsa/bytes.h"
#include "fsa/parser.h"
#include "image_private.h"

typedef unsigned long long ull;

/* Offsets in a GPT header (UEFI specification, section "GPT Header"). */
#define GPT_MAGIC "EFI PART"
#define GPT_ALTERNATE_LBA 32

#define MAX_PARTITIONS 1024

/* Where a GPT's header and entries lie at the latest, for any sane table. */
#define GPT_AREA_BYTES (1024 * 1024)

static bool gpt_header(int fd, unsigned sector, uint64_t *last_sector)
{
	unsigned char header[GPT_ALTERNATE_LBA + 8];

	if (fsa_pread_all(fd, header, sizeof(header), sector) != (ssize_t)sizeof(header) ||
	    memcmp(header, GPT_MAGIC, 8) != 0)
		return false;
	*last_sector = fsa_get_le64(header + GPT_ALTERNATE_LBA);
	return true;
}

/*
 * libblkid refuses a GPT that promises more than the device holds, as it is on a truncated disk. So it is
 * shown a disk of the size that this one once had, of which there is only the start. -1 when that fails.
 */
static int whole_gpt_disk(int fd, uint64_t disk_size)
{
	unsigned char *start = malloc(GPT_AREA_BYTES);
	int copy = memfd_create("gpt", MFD_CLOEXEC);
	ssize_t got = start ? fsa_pread_all(fd, start, GPT_AREA_BYTES, 0) : -1;

	if (copy >= 0 && (got <= 0 || ftruncate(copy, (off_t)disk_size) != 0 || pwrite(copy, start, (size_t)got, 0) != got)) {
		close(copy);
		copy = -1;
	}
	free(start);
	return copy;
}

static void read_entry(blkid_partition from, struct fsa_partition *p)
{
	/* libblkid counts in units of 512 bytes whatever the sector size is. */
	uint64_t start = (uint64_t)blkid_partition_get_start(from), size = (uint64_t)blkid_partition_get_size(from);
	const char *type = blkid_partition_get_type_string(from);

	p->number = (unsigned)blkid_partition_get_partno(from);
	p->start = start < UINT64_MAX / 512 ? start * 512 : UINT64_MAX;
	p->size = size < UINT64_MAX / 512 ? size * 512 : UINT64_MAX;
	p->extended = blkid_partition_is_extended(from) != 0;
	if (type)
		snprintf(p->type, sizeof(p->type), "%s", type);
	else
		snprintf(p->type, sizeof(p->type), "0x%02x", (unsigned)blkid_partition_get_type(from) & 0xffff);
}

/* The part of the partition that the image holds; 0 when it starts behind the end. */
static uint64_t clipped_size(const struct fsa_partition *p, uint64_t image_size)
{
	if (p->start >= image_size)
		return 0;
	return p->size < image_size - p->start ? p->size : image_size - p->start;
}

enum fsa_status fsa_partitions_read(int fd, uint64_t size, bool contents, struct fsa_partitions *out)
{
	uint64_t last;
	enum fsa_status st = FSA_OK;
	unsigned sector = 0;
	int table_fd = fd;
	blkid_partlist list;
	blkid_probe probe;
	int count;

	memset(out, 0, sizeof(*out));
	if (size > INT64_MAX)
		return FSA_OK;
	if (gpt_header(fd, 512, &last))
		sector = 512;
	else if (gpt_header(fd, 4096, &last))
		sector = 4096;
	probe = blkid_new_probe();
	if (!probe)
		return FSA_ENOMEM;
	if (sector && last < (uint64_t)INT64_MAX / sector - 1 && (last + 1) * sector > size) {
		table_fd = whole_gpt_disk(fd, (last + 1) * sector);
		if (table_fd < 0)
			table_fd = fd;
	}
	/* Size 0: to the end of the file. */
	if (blkid_probe_set_device(probe, table_fd, 0, table_fd == fd ? (blkid_loff_t)size : 0) != 0 ||
	    (sector && blkid_probe_set_sectorsize(probe, sector) != 0) ||
	    blkid_probe_enable_superblocks(probe, 0) != 0 || blkid_probe_enable_partitions(probe, 1) != 0)
		goto out;
	list = blkid_probe_get_partitions(probe);
	count = list ? blkid_partlist_numof_partitions(list) : 0;
	if (list && blkid_partlist_get_table(list))
		snprintf(out->table, sizeof(out->table), "%s",
			 blkid_parttable_get_type(blkid_partlist_get_table(list)));
	if (count <= 0)
		goto out;
	out->list = calloc((size_t)count, sizeof(*out->list));
	if (!out->list) {
		st = FSA_ENOMEM;
		goto out;
	}
	for (int i = 0; i < count && out->count < MAX_PARTITIONS; i++) {
		blkid_partition entry = blkid_partlist_get_partition(list, i);
		struct fsa_partition *p = &out->list[out->count];
		struct fsa_probed probed;

		if (!entry)
			continue;
		read_entry(entry, p);
		out->count++;
		if (!contents || p->extended || clipped_size(p, size) == 0)
			continue;
		fsa_probe(fd, p->start, clipped_size(p, size), false, &probed);
		memcpy(p->content, probed.type, sizeof(p->content));
	}
out:
	blkid_free_probe(probe);
	if (table_fd != fd)
		close(table_fd);
	return st;
}

/* --- the choice ------------------------------------------------------------------------------------- */

static const char *list_partitions(const struct fsa_partitions *parts, uint64_t size, struct fsa_list_text *text)
{
	memset(text, 0, sizeof(*text));
	for (size_t i = 0; i < parts->count; i++) {
		const struct fsa_partition *p = &parts->list[i];
		const char *content = p->content;

		if (p->extended)
			content = "extended partition";
		else if (p->start >= size)
			content = "behind the end of the image";
		else if (!*content)
			content = "nothing recognised";
		fsa_list_add(text, "%u: start %llu, %llu bytes, type %s, %s", p->number, (ull)p->start, (ull)p->size,
			     p->type, content);
	}
	return fsa_list_end(text);
}

static enum fsa_status set_window(struct fsa_image *image, uint64_t start, uint64_t size,
				  const struct fsa_probed *probed, struct fsa_error *err)
{
	image->start = start;
	image->size = size;
	if (probed->several[0])
		fsa_image_add_remark(image, "holds signatures of several kinds: %s", probed->several);
	if (probed->type[0]) {
		image->content = strdup(probed->type);
		if (!image->content)
			return fsa_fail(err, FSA_ENOMEM, "%s: out of memory", image->name);
	}
	return FSA_OK;
}

static enum fsa_status take_partition(struct fsa_image *image, const struct fsa_partition *p, struct fsa_error *err)
{
	uint64_t size = clipped_size(p, image->file_size);
	struct fsa_probed probed;

	if (p->extended)
		return fsa_fail(err, FSA_EINVAL,
				"%s: partition %u is an extended partition, its contents are partitions 5 and up",
				image->name, p->number);
	if (p->start >= image->file_size)
		return fsa_fail(err, FSA_ERANGE, "%s: partition %u starts at %llu, the image ends at %llu", image->name,
				p->number, (ull)p->start, (ull)image->file_size);
	if (size == 0)
		return fsa_fail(err, FSA_EINVAL, "%s: partition %u is empty", image->name, p->number);
	if (size < p->size)
		fsa_image_add_remark(image, "partition %u of %llu bytes at %llu is cut off: the image ends at %llu",
				     p->number, (ull)p->size, (ull)p->start, (ull)image->file_size);
	fsa_probe(image->fd, p->start, size, false, &probed);
	if (probed.member)
		return fsa_member_refuse(probed.type, image->name, NULL, err);
	return set_window(image, p->start, size, &probed, err);
}

static enum fsa_status take_number(struct fsa_image *image, const struct fsa_partitions *parts, unsigned number,
				   struct fsa_error *err)
{
	struct fsa_list_text text;

	for (size_t i = 0; i < parts->count; i++)
		if (parts->list[i].number == number)
			return take_partition(image, &parts->list[i], err);
	if (parts->count == 0)
		return fsa_fail(err, FSA_ENOENT, "%s: has no partition %u: no partition table is recognised",
				image->name, number);
	return fsa_fail(err, FSA_ENOENT, "%s: has no partition %u, but:%s", image->name, number,
			list_partitions(parts, image->file_size, &text));
}

/* Partitions that hold a format of ours; external logs count only where there is nothing else. */
static size_t count_candidates(const struct fsa_partitions *parts, const struct fsa_partition **first)
{
	size_t n = 0;

	for (int main_only = 1; main_only >= 0 && n == 0; main_only--)
		for (size_t i = 0; i < parts->count; i++)
			if (fsa_content_is_ours(parts->list[i].content, main_only == 1) && n++ == 0)
				*first = &parts->list[i];
	return n;
}

static enum fsa_status take_whole(struct fsa_image *image, const struct fsa_probed *probed, const char *path,
				  struct fsa_error *err)
{
	if (probed->member)
		return fsa_member_refuse(probed->type, image->name, path, err);
	return set_window(image, 0, image->file_size, probed, err);
}

static enum fsa_status pick(struct fsa_image *image, const struct fsa_probed *whole, const char *path,
			    const struct fsa_partitions *parts, struct fsa_error *err)
{
	const struct fsa_partition *first = NULL;
	struct fsa_list_text text;
	size_t n;

	if (fsa_content_is_ours(whole->type, false)) {
		if (parts->count)
			fsa_image_add_remark(image, "has a partition table (%s) as well, which is not used", parts->table);
		return take_whole(image, whole, path, err);
	}
	if (parts->count == 0) {
		if (parts->table[0])
			fsa_image_add_remark(image, "has a partition table (%s) without partitions", parts->table);
		return take_whole(image, whole, path, err);
	}
	n = count_candidates(parts, &first);
	if (n == 1) {
		fsa_image_add_remark(image, "partition %u (%s, %llu bytes at %llu) was taken, the only candidate of %zu",
				     first->number, first->content, (ull)first->size, (ull)first->start, parts->count);
		return take_partition(image, first, err);
	}
	if (n > 1)
		return fsa_fail(err, FSA_EINVAL, "%s: %zu partitions are candidates, choose one as %s@N:%s", image->name,
				n, image->name, list_partitions(parts, image->file_size, &text));
	/* No candidate: a bootable CD image, or a filesystem not ours whose boot sector looks like a table. */
	if (whole->type[0] || whole->several[0])
		return take_whole(image, whole, path, err);
	return fsa_fail(err, FSA_EUNSUPPORTED,
			"%s: no partition holds a filesystem that fsassay reads (%s@N takes one all the same):%s",
			image->name, image->name, list_partitions(parts, image->file_size, &text));
}

enum fsa_status fsa_choose_window(struct fsa_image *image, const struct fsa_image_options *options,
				  struct fsa_error *err)
{
	struct fsa_partitions parts;
	struct fsa_probed probed;
	enum fsa_status st;

	if (options->raw || options->have_offset) {
		uint64_t start = options->have_offset ? options->offset_bytes : 0;

		if (start >= image->file_size)
			return fsa_fail(err, FSA_ERANGE, "%s: offset %llu lies behind the end of the image at %llu",
					image->name, (ull)start, (ull)image->file_size);
		/* Who gives a place knows what lies there: half of a mirror reads like the filesystem on it. */
		fsa_probe(image->fd, start, image->file_size - start, true, &probed);
		return set_window(image, start, image->file_size - start, &probed, err);
	}
	st = fsa_partitions_read(image->fd, image->file_size, true, &parts);
	if (st != FSA_OK)
		return fsa_fail(err, st, "%s: out of memory", image->name);
	if (options->partition) {
		st = take_number(image, &parts, options->partition, err);
	} else {
		fsa_probe(image->fd, 0, image->file_size, false, &probed);
		st = pick(image, &probed, image->unpacked ? NULL : image->name, &parts, err);
	}
	free(parts.list);
	return st;
}
