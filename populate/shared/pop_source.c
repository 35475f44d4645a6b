/* SPDX-License-Identifier: GPL-2.0-only */
/* Content: made from a seed, or read from a packed tree. */
#include <errno.h>
#include <unistd.h>

#include "pop_rand.h"
#include "pop_source.h"

int pop_source_read(const struct pop_source *s, uint64_t offset, void *buf,
		    size_t len)
{
	char *to = buf;

	if (!s->packed) {
		pop_content(s->seed, offset, buf, len);
		return 0;
	}
	while (len) {
		ssize_t n = pread(s->fd, to, len, (off_t)(s->at + offset));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		/* The packed tree is cut short. */
		if (n == 0)
			return -EIO;
		to += n;
		offset += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

bool pop_source_same(const struct pop_source *a, const struct pop_source *b)
{
	if (a->packed != b->packed)
		return false;
	return a->packed ? a->fd == b->fd && a->at == b->at :
		a->seed == b->seed;
}
