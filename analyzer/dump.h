/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A whole filesystem as a dump(8) stream, level 0, in the format of 4.4BSD as Linux's dump writes it: what
 * restore(8) lists and restores, whatever the filesystem was.
 *
 * What that format cannot carry is counted: see struct dump_counts.
 */
#ifndef FSA_ANALYZER_DUMP_H
#define FSA_ANALYZER_DUMP_H

#include "open.h"
#include "progress.h"
#include "window.h"
#include "writebehind.h"

struct dump;

/* `out` becomes the dump's and is freed with it, at once when this returns NULL (out of memory). */
struct dump *dump_new(const struct opened *opened, struct writebehind *out, enum window_order order,
		      struct progress *progress);
void dump_free(struct dump *d);

/*
 * Writes all of it. Damage becomes findings and costs what it hides: the stream stays whole. What is returned
 * otherwise is trouble with the program or its output, and the stream is worth nothing then.
 */
enum fsa_status dump_write(struct dump *d);

/* errno of the output when that failed, else 0. */
int dump_error(const struct dump *d);
/* Bytes written so far. */
uint64_t dump_bytes(const struct dump *d);

struct dump_counts {
	uint64_t inodes;	/* in the stream */
	uint64_t encrypted;	/* files whose contents stay as they are encrypted */
	uint64_t incomplete;	/* files with zeros in place of bytes that could not be read */
	uint64_t left_out;	/* for damage, or because the format has no room */
	uint64_t renumbered;	/* inodes that have another number than on the image */
	uint64_t xattrs;	/* attributes that do not fit: another namespace, or more than 4 KiB */
	uint64_t devices;	/* whose number restore(8) cannot make: a minor above 524287 */
	uint64_t times;		/* inodes with a time before 1970 or after 2106 */
};
struct dump_counts dump_counts(const struct dump *d);

#endif
