/* SPDX-License-Identifier: GPL-2.0-only */
/* A tree, or parts of one, as a pax archive. */
#ifndef FSA_ANALYZER_EXTRACT_H
#define FSA_ANALYZER_EXTRACT_H

#include "fsa/read.h"

#include "open.h"
#include "paxtar.h"
#include "progress.h"

struct extract;

/* `stop` as in paxtar_new(). NULL when out of memory. */
struct extract *extract_new(const struct opened *opened, int fd, bool (*stop)(void *arg), void *arg,
			    struct progress *progress);
/* The same to `out`, which becomes the archive's and is freed with it (at once when this returns NULL). */
struct extract *extract_new_to(const struct opened *opened, struct writebehind *out, struct progress *progress);
void extract_free(struct extract *x);

/*
 * Entry by entry, for the one that walks the tree (extract_tree.h): extract_begin() says under which name
 * (which must stay valid), then each entry of a walk is added in the walk's order.
 */
void extract_begin(struct extract *x, const char *name);
enum fsa_status extract_entry(void *x, const struct fsa_walk_entry *entry);
/* True when the contents of `ref`, a file with several links, are in the archive already. */
bool extract_has(const struct extract *x, struct fsa_ref ref);
/* As those of writebehind.h. */
void extract_lend(struct extract *x, const void *bytes, size_t length);
enum fsa_status extract_settle(struct extract *x);
enum fsa_status extract_flush(struct extract *x);
/* Ends the archive. */
enum fsa_status extract_finish(struct extract *x);

/* errno of the output when that failed, else 0. */
int extract_error(const struct extract *x);

struct extract_counts {
	uint64_t entries;	/* in the archive */
	uint64_t sockets;	/* left out: tar has no word for them */
	uint64_t encrypted;	/* files whose contents stay as they are encrypted */
	uint64_t incomplete;	/* files with zeros in place of bytes that could not be read */
	uint64_t left_out;	/* for damage */
};
struct extract_counts extract_counts(const struct extract *x);

/*
 * The path as it stands in the archive: relative, without "." and ".." (which are resolved as in
 * fsa_lookup), "." for the root. malloc'd, NULL when out of memory.
 */
char *extract_name(const char *path);

#endif
