/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every figure that is derived from objects and ledger, each defined here and nowhere else. The man page
 * gives the same definitions in prose.
 *
 * Sums are modulo 2^64: a few sparse files of the largest size overflow them, and differences of such sums
 * still come out right.
 */
#ifndef FSA_ANALYZER_FIGURES_H
#define FSA_ANALYZER_FIGURES_H

#include <stdbool.h>
#include <stdint.h>

#include "fsa/parser.h"

enum figures_group {
	FIGURES_REGULAR,
	FIGURES_DIRECTORY,
	FIGURES_SYMLINK,
	FIGURES_OTHER,		/* devices, fifos, sockets */
	FIGURES_NAMED,		/* the groups above: what `du` adds up */
	FIGURES_INTERNAL = FIGURES_NAMED,	/* journal, quota files: no name */
	FIGURES_UNREFERENCED,	/* deleted while open, or in no directory */
	FIGURES_GROUPS
};

/* Sums over the objects of a group; all bytes. */
struct figures_sums {
	uint64_t count;
	uint64_t size;
	uint64_t data;		/* in own blocks, up to end of file */
	uint64_t packed;	/* in tails or inline */
	uint64_t slack;
	uint64_t preallocated;
	uint64_t mapping;
	uint64_t xattr;
	uint64_t other;		/* verity trees */
	uint64_t uncharged;	/* of all these, without a block: compression, missing devices */
	uint64_t st_bytes;	/* st_blocks * 512 */
};

/* Regular files by size. Class 0 holds size 0, class i sizes from 2^(i-1) to 2^i - 1. */
#define FIGURES_CLASSES 65

struct figures_class {
	uint64_t files;
	uint64_t size;		/* sum of st_size */
	uint64_t stored;	/* payload: data + packed */
	uint64_t slack;
	uint64_t overhead;	/* slack + preallocated + mapping, xattr, other blocks + cost of packing */
};

/* Of those whose packed bytes are 2^(i-1) to 2^i - 1 many. */
struct figures_packed_class {
	uint64_t files, bytes, cost, unpacked;
	uint64_t uncharged;
};

/* Regular files with a packed tail, or with inline data. */
struct figures_packed {
	uint64_t files;
	uint64_t bytes;
	uint64_t cost;		/* item headers, keys */
	uint64_t unpacked;	/* whole blocks that the bytes would take in blocks of their own */
	uint64_t uncharged;	/* of bytes, what compression keeps off the image */
	int64_t saved;		/* unpacked - (bytes - uncharged) - cost */
	struct figures_packed_class sizes[FIGURES_CLASSES];
};

struct figures {
	struct figures_sums groups[FIGURES_GROUPS];
	struct figures_class classes[FIGURES_CLASSES];
	struct figures_packed tails, inlined;
	uint64_t hard_links;		/* names of files beyond the first of each */
	/* Fragmentation of regular files with data in own blocks. */
	uint64_t extent_files;
	uint64_t extents;
	uint64_t one_piece;
	uint64_t extent_data;		/* data bytes in those extents */
	uint64_t most_extents;
	uint64_t pieces[64];		/* files with 2^i .. 2^(i+1)-1 extents */

	/* Set by figures_finish(). */
	uint64_t fs_bytes;		/* image bytes that belong to the filesystem: image - outside */
	uint64_t used;			/* fs_bytes - free */
	uint64_t payload;		/* regular files' data + packed */
	double efficiency;		/* payload / used; 0 when nothing is used */
	double overhead_per_file;	/* (used - payload) / files; 0 without files */
	double leaf_fill, branch_fill, twig_fill;	/* used / size of such nodes; 0 when there are none */
	uint64_t leaf_nodes, branch_nodes, twig_nodes;
	uint64_t free_run_count;	/* stretches of free blocks */
	uint64_t free_run_blocks;
};

void figures_add(struct figures *figures, const struct fsa_object *object);
void figures_finish(struct figures *figures, const struct fsa_ledger_result *ledger,
		    const struct fsa_audit *audit);

/* Bytes of a group's own blocks, as far as the objects tell: what should stand behind its st_blocks. */
uint64_t figures_own_bytes(const struct figures_sums *sums);

/* What packing saves of a class. */
int64_t figures_packed_saved(const struct figures_packed_class *class);

/* Smallest and largest size of a class. */
uint64_t figures_class_least(unsigned index);
uint64_t figures_class_most(unsigned index);

#endif
