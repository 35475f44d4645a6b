/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A window over what will be read next: the contents of the next files are noted, read in an order of their
 * own (that of the image, say) with big reads, and kept in memory until they are handed out in the order in which
 * they were noted. Memory is bounded by the window, files too large for it are left to be read as they come.
 */
#ifndef FSA_ANALYZER_READBACK_WINDOW_H
#define FSA_ANALYZER_READBACK_WINDOW_H

#include "fsa/read.h"

enum window_order {
	WINDOW_DIRECTORY,	/* nothing is read ahead: each file when its turn comes */
	WINDOW_INODE,		/* file by file, by inode number */
	WINDOW_PHYSICAL,	/* by offset on the image, pieces near each other at once */
};

#define WINDOW_BYTES (64u << 20)	/* what a window holds at most, by default */

struct window;

/* NULL when out of memory. */
struct window *window_new(struct fsa_fs *fs, enum window_order order, size_t bytes);
void window_free(struct window *w);

/*
 * Notes the contents of a file of `size` bytes for the next window_fill(). *fits false: it is too large and was
 * not noted; what was noted before it should be filled and handed out first.
 */
enum fsa_status window_note(struct window *w, struct fsa_ref ref, uint64_t number, uint64_t size, bool *fits);
/* True when enough is noted: time to fill. */
bool window_full(const struct window *w);
/*
 * Reads what was noted. From then on reads of it come from memory, until the next window_clear(). What could
 * not be read is left for those who ask for it, with their own findings.
 */
enum fsa_status window_fill(struct window *w);
void window_clear(struct window *w);

#endif
