/* SPDX-License-Identifier: GPL-2.0-only */
/* What the kernel says of a mounted filesystem, as lines of the result. */
#ifndef FSA_POP_OBSERVE_H
#define FSA_POP_OBSERVE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* statfs of the current directory, as "statfs LABEL ...". */
int pop_observe_statfs(FILE *out, const char *label);

/* GNU df's line for the mount point, as "df LABEL k|i LINE". */
int pop_observe_df(FILE *out, const char *label, const char *mountpoint);

/* Every object below the current directory, as "st PATH ...". */
int pop_observe_tree(FILE *out);

/*
 * GNU tar of the current directory, with /dev/null as its archive (then it
 * reads no file's data) or through a pipe to a reader that counts.  Returns
 * 0, -ENOENT without a tar, or another negative errno.
 */
int pop_observe_tar(bool pipe_it);

/* Bytes read from a block device so far, by the kernel; false when unknown. */
bool pop_observe_reads(const char *device, uint64_t *bytes);

#endif
