/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Blocks of zeros in an image become holes: formats that zero their journal
 * and their tables would otherwise take that room.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pop_job.h"

#define CHUNK	((size_t)1 << 20)
#define BLOCK	((size_t)4096)

static bool is_zero(const unsigned char *p, size_t n)
{
	return !*p && !memcmp(p, p + 1, n - 1);
}

static int dig_chunk(int fd, off_t at, const unsigned char *buf, size_t n)
{
	size_t from = 0;

	while (from < n) {
		size_t end = from;

		while (end < n && n - end >= BLOCK && is_zero(buf + end, BLOCK))
			end += BLOCK;
		if (end > from &&
		    fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
			      at + (off_t)from, (off_t)(end - from)))
			return -errno;
		from = end > from ? end : from + BLOCK;
	}
	return 0;
}

int pop_dig_holes(const struct pop_job *job, const char *image)
{
	int fd = open(image, O_RDWR | O_CLOEXEC);
	unsigned char *buf = malloc(CHUNK);
	off_t at = 0, end;
	int ret = fd < 0 ? -errno : buf ? 0 : -ENOMEM;

	while (!ret && (at = lseek(fd, at, SEEK_DATA)) >= 0) {
		end = lseek(fd, at, SEEK_HOLE);
		for (at -= at % (off_t)BLOCK; !ret && at < end;) {
			ssize_t n = pread(fd, buf, CHUNK, at);

			if (n <= 0)
				ret = n ? -errno : -EIO;
			else
				ret = dig_chunk(fd, at, buf, (size_t)n);
			at += n;
			if (!ret && pop_interrupted(job))
				ret = -EINTR;
		}
	}
	free(buf);
	if (fd >= 0)
		close(fd);
	/* Where the host's filesystem has no holes there is nothing to gain. */
	return ret == -EOPNOTSUPP ? 0 : ret;
}
