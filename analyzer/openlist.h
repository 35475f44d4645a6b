/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The IMAGE arguments of a command that takes several: images that are devices of one filesystem (btrfs) are
 * opened together, at the place of the first of them.
 */
#ifndef FSA_ANALYZER_OPENLIST_H
#define FSA_ANALYZER_OPENLIST_H

#include "open.h"

struct openlist;

/* NULL when out of memory (said already). The arguments and options are borrowed. */
struct openlist *openlist_new(char **arguments, unsigned n, const struct open_options *options);
void openlist_free(struct openlist *list);

/*
 * Opens the next filesystem: true, and *status as of open_argument(). False: there is none left. Images that come
 * later are opened early only when a filesystem on several devices comes before them.
 */
bool openlist_next(struct openlist *list, struct opened *opened, int *status);

#endif
