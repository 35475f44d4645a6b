/* SPDX-License-Identifier: GPL-2.0-only */
#include "readback_sink.h"

#include <stdio.h>
#include <stdlib.h>
#include <xxhash.h>

struct readback_sink {
	XXH3_state_t *state;
	uint64_t bytes;
};

struct readback_sink *readback_sink_new(void)
{
	struct readback_sink *sink = calloc(1, sizeof(*sink));

	if (sink == NULL)
		return NULL;
	sink->state = XXH3_createState();
	if (sink->state == NULL || XXH3_128bits_reset(sink->state) != XXH_OK) {
		readback_sink_free(sink);
		return NULL;
	}
	return sink;
}

void readback_sink_free(struct readback_sink *sink)
{
	if (sink == NULL)
		return;
	XXH3_freeState(sink->state);
	free(sink);
}

int readback_sink_take(void *arg, const void *data, size_t length)
{
	struct readback_sink *sink = arg;

	/* It fails on a missing state only. */
	XXH3_128bits_update(sink->state, data, length);
	sink->bytes += length;
	return 0;
}

uint64_t readback_sink_bytes(const struct readback_sink *sink)
{
	return sink->bytes;
}

void readback_sink_digest(const struct readback_sink *sink, char text[READBACK_DIGEST_TEXT])
{
	XXH128_canonical_t digest;

	XXH128_canonicalFromHash(&digest, XXH3_128bits_digest(sink->state));
	for (unsigned i = 0; i < sizeof(digest.digest); i++)
		snprintf(text + (size_t)2 * i, 3, "%02x", digest.digest[i]);
}
