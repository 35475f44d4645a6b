/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Findings: damage and contradictions in an image, as output. One grammar when printed:
 *   <image>: <fs>: <object> <number> @0x<offset>: <message>
 * Messages carry both values: what is there and what should be.
 */
#ifndef FSA_FINDING_H
#define FSA_FINDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FSA_NO_NUMBER UINT64_MAX
#define FSA_NO_OFFSET UINT64_MAX

struct fsa_finding {
	const char *object;	/* "inode", "group", "superblock": a static string of the parser */
	uint64_t number;	/* the object's number in the format's own counting, or FSA_NO_NUMBER */
	uint64_t offset;	/* byte offset in the image, or FSA_NO_OFFSET */
	unsigned device;	/* which image of a filesystem on several; 0 is the first */
	const char *message;	/* owned by the collection; no newline */
};

/*
 * A bounded collection: beyond its limit findings are counted and not kept, so that an image that is
 * nothing but damage cannot exhaust memory. A finding that repeats one already kept word for word is
 * dropped: two readers may pass the same broken structure.
 */
struct fsa_findings;

/* At most `limit` findings are kept (0 means the default of 10000). NULL when out of memory. */
struct fsa_findings *fsa_findings_new(size_t limit);
void fsa_findings_free(struct fsa_findings *f);

/* Adds one. `f` may be NULL: then nothing is kept. `object` must be a static string. */
void fsa_find(struct fsa_findings *f, const char *object, uint64_t number, uint64_t offset,
	      const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* As fsa_find, for a structure on another image of the same filesystem. */
void fsa_find_on(struct fsa_findings *f, unsigned device, const char *object, uint64_t number,
		 uint64_t offset, const char *fmt, ...) __attribute__((format(printf, 6, 7)));

/* While muted nothing is added: for a second walk over what was already reported. Returns what it was before. */
bool fsa_findings_mute(struct fsa_findings *f, bool mute);

size_t fsa_findings_count(const struct fsa_findings *f);	/* kept */
uint64_t fsa_findings_dropped(const struct fsa_findings *f);	/* beyond the limit */
const struct fsa_finding *fsa_findings_at(const struct fsa_findings *f, size_t index);

/* Orders by device, offset, object, number, message, so that output does not depend on walk order. */
void fsa_findings_sort(struct fsa_findings *f);

#endif
