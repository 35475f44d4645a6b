/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads that do not come out of the host's cache: its pages dropped, or O_DIRECT where some stay. */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "fsa/bytes.h"
#include "image_private.h"

/* The alignment that every device accepts: a page, and no sector is larger. */
#define DIRECT_UNIT 4096u
/* So much is asked about at a time: a byte of answer for each page. */
#define ASK (256u << 20)

/* Pages of the window in memory; true when that cannot be told. Whoever may not write to a file is told that all are. */
static bool any_resident(struct fsa_image *image)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	unsigned char *answer = malloc(ASK / page);
	bool found = answer == NULL;
	uint64_t run;

	for (uint64_t at = 0; at < image->size && !found; at += run) {
		const bool data = fsa_image_extent(image, at, &run);
		const uint64_t offset = (image->start + at) / page * page;
		size_t length;
		void *map;

		run = fsa_min(fsa_max(run, 1), ASK - page);
		if (!data)
			continue;
		length = (size_t)(image->start + at + run - offset);
		map = mmap(NULL, length, PROT_READ, MAP_SHARED, image->fd, (off_t)offset);
		if (map == MAP_FAILED) {
			found = true;
			break;
		}
		found = mincore(map, length, answer) != 0;
		for (uint64_t i = 0; i < fsa_div_up(length, page) && !found; i++)
			found = answer[i] & 1;
		munmap(map, length);
	}
	free(answer);
	return found;
}

/* True when the descriptor of its own could be had and read by. */
static bool open_direct(struct fsa_image *image)
{
	char path[64];
	unsigned char byte;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", image->fd);
	image->direct_fd = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
	if (image->direct_fd < 0)
		return false;
	image->direct = true;
	if (image->size == 0 || fsa_direct_read(image, &byte, 1, image->start) == 1)
		return true;
	image->direct = false;
	close(image->direct_fd);
	return false;
}

ssize_t fsa_direct_read(const struct fsa_image *image, void *buffer, size_t length, uint64_t offset)
{
	const uint64_t start = offset / DIRECT_UNIT * DIRECT_UNIT;
	const size_t whole = (size_t)(fsa_div_up(offset + length, DIRECT_UNIT) * DIRECT_UNIT - start);
	unsigned char *aligned = buffer;
	ssize_t got;

	if (whole == length && (uintptr_t)buffer % DIRECT_UNIT == 0)
		return fsa_pread_all(image->direct_fd, buffer, length, offset);
	aligned = aligned_alloc(DIRECT_UNIT, whole);
	if (aligned == NULL)
		return -1;
	/* At the end of the file there are fewer bytes than asked for. */
	got = fsa_pread_all(image->direct_fd, aligned, whole, start);
	if (got >= 0 && (size_t)got >= offset - start + length) {
		memcpy(buffer, aligned + (offset - start), length);
		got = (ssize_t)length;
	} else if (got >= 0) {
		got = 0;
	}
	free(aligned);
	return got;
}

enum fsa_image_cold fsa_image_go_cold(struct fsa_image *image)
{
	struct statfs fs;

	if (image->fd < 0)
		return FSA_IMAGE_WARM;
	/* There memory is the only place, and O_DIRECT means nothing. */
	if (fstatfs(image->fd, &fs) == 0 && (fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC))
		return FSA_IMAGE_WARM;
	if (image->direct)
		return FSA_IMAGE_DIRECT;
	/* Pages that were not written back yet would stay. What cannot be written back is seen below. */
	if (fdatasync(image->fd) == 0 || !image->unpacked)
		posix_fadvise(image->fd, (off_t)image->start, (off_t)image->size, POSIX_FADV_DONTNEED);
	if (!any_resident(image))
		return FSA_IMAGE_DROPPED;
	return open_direct(image) ? FSA_IMAGE_DIRECT : FSA_IMAGE_WARM;
}
