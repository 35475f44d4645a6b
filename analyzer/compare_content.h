/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whether images hold the same: a digest of the tree that does not depend on the format. It covers paths, types, sizes,
 * targets of symbolic links and all bytes of files, not times, owners and attributes, which formats keep differently; in any
 * order of reading, and whether zeros are stored or are holes. A lost+found at the top is the format's own and left out.
 */
#ifndef FSA_ANALYZER_COMPARE_CONTENT_H
#define FSA_ANALYZER_COMPARE_CONTENT_H

#include <stdbool.h>
#include <stdint.h>

#include "open.h"

enum content_source {
	CONTENT_NONE,		/* it could not be read */
	CONTENT_MANIFEST,	/* by the manifest beside the image: what was put there */
	CONTENT_DIGEST,		/* by reading every file */
};

struct content {
	enum content_source source;
	uint64_t objects;	/* names in the tree, without its root */
	uint64_t files;		/* names of regular files among them */
	uint64_t sum[2];	/* of the digests of all objects: their order does not matter */
};

/*
 * From IMAGE.manifest.json. False, without a word, when there is none that can be used or it is of another number of names of
 * regular files than `files`: then the image has been changed since.
 */
bool content_of_manifest(struct content *content, const char *image, uint64_t files);

/* By reading the tree. False when it cannot be read (a damaged file counts with what is readable). */
bool content_of_tree(struct content *content, const struct opened *opened);

/* Digests of different sources cannot be compared: then false. */
bool content_same(const struct content *a, const struct content *b);

#endif
