/* SPDX-License-Identifier: GPL-2.0-only */
/* For formats that mkfs itself fills: what no mkfs takes over as it is. */
#ifndef FSA_POP_LIB_TREE_H
#define FSA_POP_LIB_TREE_H

#include "shared/pop_op.h"

/*
 * Whether the operation leaves a hole or a preallocated part in a file: the
 * mkfs programs write zeros there.  size: of the file before it.
 */
bool lib_tree_hole(const struct pop_op *op, uint64_t size);

#endif
