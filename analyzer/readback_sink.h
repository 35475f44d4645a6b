/* SPDX-License-Identifier: GPL-2.0-only */
/* Where the bytes of a pass go: they are counted and their digest is taken, nothing is kept. */
#ifndef FSA_ANALYZER_READBACK_SINK_H
#define FSA_ANALYZER_READBACK_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The digest is XXH3 with 128 bits, as `xxhsum -H2` prints it. */
#define READBACK_DIGEST_NAME "xxh128"
#define READBACK_DIGEST_TEXT 33		/* digits and a NUL */

struct readback_sink;

struct readback_sink *readback_sink_new(void);	/* NULL: out of memory */
void readback_sink_free(struct readback_sink *sink);
/* The form of writebehind_fn; `sink` is a struct readback_sink. Always 0. */
int readback_sink_take(void *sink, const void *data, size_t length);
uint64_t readback_sink_bytes(const struct readback_sink *sink);
void readback_sink_digest(const struct readback_sink *sink, char text[READBACK_DIGEST_TEXT]);

#endif
