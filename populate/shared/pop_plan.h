/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a session is to do: it travels to the guest as a small text file.
 * Strings belong to the plan; free with pop_plan_free().
 */
#ifndef FSA_POP_PLAN_H
#define FSA_POP_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "collection.h"

struct pop_plan {
	char *device;		/* block device of the image */
	char *mount_type;
	char *mount_options;	/* "" for none */
	char *collection;
	uint64_t files;
	uint64_t file_size;
	uint64_t seed;
	uint64_t sync_every;
	uint64_t clones;
	uint64_t remove;	/* 1: empty what is there, fill nothing */
	uint64_t tar;		/* 1: time GNU tar too */
	char *tree;		/* name of a packed tree, "" for none */
	const struct pop_tree *loaded;	/* it, not of the file */
	/*
	 * Not 0: the format has seconds of 32 bits with a sign and no parts of
	 * them, of which its driver knows nothing (ext of revision 0).
	 */
	uint64_t old_times;
};

/* Both return 0 or a negative errno; dir is a directory's descriptor. */
int pop_plan_write(const struct pop_plan *plan, int dir, const char *name);
int pop_plan_read(struct pop_plan *plan, int dir, const char *name);
void pop_plan_free(struct pop_plan *plan);

#endif
