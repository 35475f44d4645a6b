/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A session fills an image that is a block device by now: mount, fill, sync,
 * unmount, mount again and observe, mount read-only and observe.  It runs in
 * the guest, or in a child of the program with mounts of its own, and leaves
 * its result as lines in a file (pop_session.c lists them).
 */
#ifndef FSA_POP_SESSION_H
#define FSA_POP_SESSION_H

#include "pop_plan.h"

#define POP_PLAN_FILE		"plan"
#define POP_RESULT_FILE		"result"
#define POP_PROGRESS_FILE	"progress"
#define POP_KMSG_FILE		"kernel-log"

/*
 * dir: descriptor of the directory for the result; mountpoint: an existing
 * directory.  Returns 0, or a negative errno that the result explains.
 */
int pop_session(const struct pop_plan *plan, int dir, const char *mountpoint);

/* Says in a POP_PROGRESS_FILE how many files are made. */
void pop_put_progress(int fd, uint64_t files);

#endif
