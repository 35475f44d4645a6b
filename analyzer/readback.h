/* SPDX-License-Identifier: GPL-2.0-only */
/* Timed passes over an image: all of its bytes, a tar of its tree, a dump of it. */
#ifndef FSA_ANALYZER_READBACK_H
#define FSA_ANALYZER_READBACK_H

#include "dump.h"
#include "extract.h"
#include "open.h"
#include "readback_sink.h"
#include "window.h"

enum readback_pass { READBACK_DD, READBACK_TAR, READBACK_DUMP, READBACK_PASSES };

struct readback_options {
	bool passes[READBACK_PASSES];
	enum window_order order;	/* of tar and dump */
	size_t block_size;		/* dd: bytes of one read */
	bool have_count;
	uint64_t count;			/* dd: so many of them */
	bool used;			/* dd: only what the map says is in use */
	bool cold;			/* the image's pages are dropped before each run */
	unsigned runs;
};

/* Reads of one kind that went to the host. */
struct readback_reads {
	uint64_t reads, bytes;
	uint64_t backward;	/* reads that start before the end of the one before, on the same image */
};

struct readback_run {
	bool complete;		/* false: a signal ended it, the figures are those of that moment */
	enum fsa_image_cold cold;	/* of all images the warmest */
	double real, user, sys;	/* seconds */
	uint64_t bytes;		/* of the pass: what the digest is of */
	struct readback_reads contents, metadata;
	uint64_t entries;	/* tar: in the archive; dump: inodes */
	uint64_t left_out, incomplete;
	char digest[READBACK_DIGEST_TEXT];
};

struct readback_result {
	enum readback_pass pass;
	struct readback_run *runs;	/* in the order of their making */
	unsigned n_runs;
};

/* A stretch of an image that dd reads. */
struct readback_range {
	unsigned image;
	uint64_t offset, length;
};

const char *readback_pass_name(enum readback_pass pass);

/*
 * Makes the runs of one pass. CLI_CONSISTENT, or CLI_FAILED with the reason printed; findings are for the
 * caller. A signal ends it early: then the last run, if any, is not complete.
 */
int readback_run_pass(struct readback_result *result, struct opened *opened, enum readback_pass pass,
		      const struct readback_options *options);
void readback_free(struct readback_result *result);

/* The runs with the shortest, middle and longest time among those that are complete; NULL: there is none. */
struct readback_chosen {
	const struct readback_run *least, *median, *most;
};
struct readback_chosen readback_choose(const struct readback_result *result);

#endif
