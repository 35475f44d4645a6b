/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An output file that is there complete or not at all: written under a temporary name beside its own, put
 * in place at the end, taken away when something fails or a signal says to stop. What is not a regular
 * file (a device, a fifo) is written to directly.
 */
#ifndef FSA_ANALYZER_OUTFILE_H
#define FSA_ANALYZER_OUTFILE_H

#include <stdbool.h>

#include "open.h"

struct outfile {
	char *path;		/* where it ends up */
	char *temporary;	/* NULL when written to directly */
	int fd;
};

/*
 * Opens `path` for writing. Refuses a path that is one of the opened images. False with the reason
 * printed. Between this and outfile_end() SIGINT, SIGTERM and SIGHUP only set what outfile_stopped()
 * tells, and SIGPIPE is ignored: writes fail with EPIPE instead.
 */
bool outfile_begin(struct outfile *out, const char *path, const struct opened *opened);
/* The same for standard output, which has no name to be careful with. */
void outfile_begin_stdout(struct outfile *out);

/* A signal asked to stop. `arg` is not used: the form is that of a callback. */
bool outfile_stopped(void *arg);

/*
 * Puts the file in place when `good`, else takes it away. Failures are printed. When a signal came in it is
 * raised again with its usual effect, after the clean-up. False when the file is not in place.
 */
bool outfile_end(struct outfile *out, bool good);

#endif
