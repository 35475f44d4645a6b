/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A window over what will be read next: the contents of the next files are noted, read in an order of their
 * own (that of the image, say) with big reads, and kept in memory until they are handed out in the order in which
 * they were noted. Memory is bounded by the window, files too large for it are left to be read as they come.
 */
#ifndef FSA_ANALYZER_WINDOW_H
#define FSA_ANALYZER_WINDOW_H

#include "fsa/read.h"

enum window_order {
	WINDOW_DIRECTORY,	/* nothing is read ahead: each file when its turn comes */
	WINDOW_INODE,		/* file by file, by inode number */
	WINDOW_PHYSICAL,	/* by offset on the image, pieces near each other at once */
};

#define WINDOW_BYTES (64u << 20)	/* what a window holds at most, by default */

/* The order's word on the command line, and the other way round: false when there is no such order. */
const char *window_order_name(enum window_order order);
bool window_find_order(const char *name, enum window_order *order);

struct window;

/* NULL when out of memory. */
struct window *window_new(struct fsa_fs *fs, enum window_order order, size_t bytes);
void window_free(struct window *w);

/* False: each file is read when its turn comes, and there is nothing to wait for. */
bool window_reads_ahead(const struct window *w);
/* What is read ahead lies here, and what was handed out stays there until the next but one window_turn(). */
const void *window_memory(const struct window *w, size_t *length);
/*
 * Notes the contents of a file of `size` bytes for the next window_turn(). *fits false: it is too large and was
 * not noted; what was noted before it should be handed out first.
 */
enum fsa_status window_note(struct window *w, struct fsa_ref ref, uint64_t number, uint64_t size, bool *fits);
/* True when enough is noted: time to turn. */
bool window_full(const struct window *w);
/*
 * What was noted since the last call begins to be read, by a thread. What was noted before the last call is there
 * now: reads of it come from memory until the next call, so this is the time to hand it out. Two calls with nothing
 * noted between them leave nothing to be read. What could not be read is left for those who ask for it, with their
 * own findings.
 */
enum fsa_status window_turn(struct window *w);

#endif
