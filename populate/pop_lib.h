/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Filling in process: one constant per format, in a file of its own.  mkfs
 * has made the filesystem by then.
 */
#ifndef FSA_POP_LIB_H
#define FSA_POP_LIB_H

#include "shared/pop_runner.h"

struct pop_job;

struct pop_lib {
	const char *library;	/* its name, for the record */
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

#endif
