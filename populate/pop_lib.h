/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Filling in process: one constant per format, in a file of its own.  mkfs
 * has made the filesystem by then.
 */
#ifndef FSA_POP_LIB_H
#define FSA_POP_LIB_H

#include "shared/pop_runner.h"

struct pop_job;

/* What of the files' times comes into the image. */
enum pop_times { POP_TIMES_ALL, POP_TIMES_SECONDS, POP_TIMES_NONE };

struct pop_lib {
	const char *library;	/* its name, for the record */
	enum pop_times times;
	/*
	 * Where only mkfs itself fills, from what it is given: does all of
	 * it, mkfs too, and the rest here is NULL.  Returns as the engines.
	 */
	int (*make)(struct pop_job *job, char **why);
	/*
	 * Opens the image for the writer; on error returns a negative errno
	 * and a reason.
	 */
	int (*open)(const char *image, struct pop_writer **writer, char *why,
		    size_t why_size);
	/* Writes everything out when ret is 0; frees the writer always. */
	int (*close)(struct pop_writer *writer, int ret, char *why,
		     size_t why_size);
	/* After a good close: what the library leaves to other programs. */
	int (*finish)(struct pop_job *job);
};

extern const struct pop_lib pop_lib_ext;
extern const struct pop_lib pop_lib_reiser4;
extern const struct pop_lib pop_lib_xfs;
extern const struct pop_lib pop_lib_btrfs;

#endif
