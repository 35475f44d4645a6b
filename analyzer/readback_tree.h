/* SPDX-License-Identifier: GPL-2.0-only */
/* A tree into an archive: the entries in the order of a walk, the contents of files read in an order of their own. */
#ifndef FSA_ANALYZER_READBACK_TREE_H
#define FSA_ANALYZER_READBACK_TREE_H

#include "extract.h"
#include "readback_window.h"

/* As extract_tree(), byte for byte, with the reads made by `window`. */
enum fsa_status readback_tree(struct extract *x, struct fsa_fs *fs, struct fsa_ref ref, const char *name,
			      struct window *window);

#endif
