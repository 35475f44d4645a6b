/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A trial's plan: which filesystems with which collections, and what to do with each. A file of lines
 * "KEY = VALUE" and "[NAME]"; TRIAL PLANS in the man page describes it.
 */
#ifndef FSA_ANALYZER_TRIAL_PLAN_H
#define FSA_ANALYZER_TRIAL_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <populate.h>

#include "readback.h"

#define TRIAL_LIST 16

/* One "[NAME]": a filesystem with its options. */
struct trial_filesystem {
	char *name, *fs;
	char *mkfs_options, *mount_options, *features;	/* NULL: none */
	char *documented;		/* its name in documented tables, NULL: it is in none */
	char *documented_option;	/* "mkfs_option" there, NULL: any */
	uint32_t block_size;
	enum fsa_populate_engine engine;	/* auto: the plan's */
};

struct trial_plan {
	char *title;
	char *text;			/* the whole file, by which a result is known to be of this plan */
	char *folder;			/* of the file; relative names in it start there */
	char *collections[TRIAL_LIST];
	size_t n_collections;
	uint64_t sync_every[TRIAL_LIST];
	size_t n_sync_every;		/* at least one */
	char *documented[TRIAL_LIST];	/* CSV files, as in the plan */
	size_t n_documented;
	struct trial_filesystem *filesystems;
	size_t n_filesystems;
	char *tree;			/* path, or NULL */
	uint64_t files, clones, seed, size, disk_rate;
	uint32_t timeout;
	enum fsa_populate_engine engine;
	bool passes[READBACK_PASSES], readback, cold, tar, remove;
};

/* Reads `path`. False with the reason printed (file, line, what is wrong); free the plan in any case. */
bool trial_plan_read(struct trial_plan *plan, const char *path);
void trial_plan_free(struct trial_plan *plan);

/* `name` where the plan means it: as it is when absolute, else from its folder. malloc'd; NULL: no memory. */
char *trial_plan_path(const struct trial_plan *plan, const char *name);

#endif
