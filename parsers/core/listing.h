/* SPDX-License-Identifier: GPL-2.0-only */
/* The entries of one directory, read completely, without names that no tree may hold. */
#ifndef FSA_CORE_LISTING_H
#define FSA_CORE_LISTING_H

#include "fsa/parser.h"

/* Bytes that grow; a NUL stands behind them once there are any. */
struct fsa_text {
	char *data;
	size_t length;
	size_t room;
};

/* Makes room for `wanted` elements of `unit` bytes; false when out of memory. */
bool fsa_grow(void **data, size_t *room, size_t wanted, size_t unit);
bool fsa_bytes_append(struct fsa_text *b, const char *data, size_t length);
/* Spreads a number over all bits of another, for hash tables. */
uint64_t fsa_mix(uint64_t h);

struct listed {
	struct fsa_ref ref;
	uint64_t number;
	uint64_t offset;
	size_t name;			/* where it starts in `names` */
	uint32_t name_length;
	uint8_t type;
	bool encrypted;
	bool enter;			/* a directory that is to be entered */
};

struct listing {
	struct fsa_fs *fs;
	uint64_t directory;		/* its number, for findings */
	struct listed *entries;
	size_t count;
	size_t room;
	struct fsa_text names;
	uint32_t *index;		/* hash of names: entry + 1, or 0 */
	size_t index_room;
};

/*
 * Reads the directory `ref`, whose number is `directory`, in place of what was listed before. Names that
 * no tree may hold and names that come twice are findings and are left out. What readdir returns.
 */
enum fsa_status fsa_listing_read(struct listing *l, struct fsa_ref ref, uint64_t directory);
void fsa_listing_free(struct listing *l);

#endif
