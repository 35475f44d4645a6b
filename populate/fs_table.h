/* SPDX-License-Identifier: GPL-2.0-only */
/* The filesystems that can be made and filled, a row each. */
#ifndef FSA_POP_FS_TABLE_H
#define FSA_POP_FS_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pop_lib.h"

struct pop_fs {
	const char *name;
	/* Words before the options, the program first; NULL ends them. */
	const char *mkfs[8];
	const char *block_option;	/* "-b", or "-b size=%" */
	const char *features_option;	/* "-O", NULL: there is none */
	const char *version_option;	/* prints the version */
	const char *mount_type;		/* NULL: no kernel mounts it */
	bool not_in_uml;		/* user-mode Linux has no driver for it: not worth a boot */
	const char *mount_options;
	const char *log_first[6];	/* words that make the log by itself */
	const char *log_mkfs;		/* option naming a log image, as above */
	bool log_sized;			/* ",size=BYTES" follows its name */
	const char *log_mount;		/* mount option naming its device */
	/* Enters the device number of the log; or NULL.  See log_tie.c. */
	int (*tie_log)(int image, int log, uint32_t number);
	const char *device_mount;	/* option naming a further device */
	bool lib_first;			/* no kernel as released mounts it */
	uint64_t min_size;		/* bytes */
	bool ext;			/* of the ext family */
	const struct pop_lib *lib;	/* in-process filler, or NULL */
};

int pop_tie_log_jfs(int image, int log, uint32_t number);
int pop_tie_log_reiserfs(int image, int log, uint32_t number);

const struct pop_fs *pop_fs_at(size_t index);
const struct pop_fs *pop_fs_find(const char *name);

#endif
