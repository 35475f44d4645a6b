/* SPDX-License-Identifier: GPL-2.0-only */
/* One cell of a trial: one filesystem filled with one collection, and all that is then measured. */
#ifndef FSA_ANALYZER_TRIAL_CELL_H
#define FSA_ANALYZER_TRIAL_CELL_H

#include <jansson.h>

#include "trial_plan.h"

struct trial_cell {
	const struct trial_plan *plan;
	const struct trial_filesystem *fs;
	const char *collection;
	uint64_t sync_every;
	const char *key;	/* "ext3/size-1K", with "/sync-1000" behind it where it syncs */
	const char *image;	/* path of the image to make */
	const char *tree;	/* packed, or NULL */
	bool keep;		/* leave the image as it was filled: with its manifest, and nothing removed */
	void (*progress)(void *arg, const char *what, uint64_t done, uint64_t total);
	void *arg;
};

/*
 * Makes the image, measures, and removes it unless it is kept. The cell as JSON, with "status" "done" or "failed" (and
 * "error"); NULL when out of memory, or when a signal came in: then nothing is left of it.
 */
json_t *trial_cell_run(const struct trial_cell *cell);

#endif
