/* SPDX-License-Identifier: GPL-2.0-only */
/* Writes operations through the kernel, below the current directory. */
#ifndef FSA_POP_WRITER_POSIX_H
#define FSA_POP_WRITER_POSIX_H

#include "pop_runner.h"

struct pop_writer_posix {
	struct pop_writer writer;
	int root;		/* of the filesystem to sync */
	unsigned char *buf;
	bool old_times;		/* see pop_plan.h */
};

/* Returns 0 or a negative errno. */
int pop_writer_posix_init(struct pop_writer_posix *w);
void pop_writer_posix_free(struct pop_writer_posix *w);

#endif
