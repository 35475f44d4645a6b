/* SPDX-License-Identifier: GPL-2.0-only */
/* A tree into an archive: the entries in the order of a walk, the contents of files read in an order of their own. */
#ifndef FSA_ANALYZER_EXTRACT_TREE_H
#define FSA_ANALYZER_EXTRACT_TREE_H

#include "extract.h"
#include "window.h"

/*
 * Adds what lies at `ref` and below it under `name` ("." for the root of the image), which must be a safe
 * relative path. What is added does not depend on the order of reading. Damage becomes findings. What is returned
 * otherwise is trouble with the program or its output, and the archive is worth nothing then.
 */
enum fsa_status extract_tree(struct extract *x, struct fsa_fs *fs, struct fsa_ref ref, const char *name,
			     struct window *window);

#endif
