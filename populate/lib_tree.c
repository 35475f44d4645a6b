/* SPDX-License-Identifier: GPL-2.0-only */
/* What the fillers by mkfs share. */
#include "lib_tree.h"

bool lib_tree_hole(const struct pop_op *op, uint64_t size)
{
	uint64_t end = op->kind == POP_CREATE ? 0 : size;

	switch (op->kind) {
	case POP_CREATE:
	case POP_WRITE:
		for (size_t i = 0; i < op->data_count; i++) {
			uint64_t stop = op->data[i].offset +
				op->data[i].length;

			if (op->data[i].offset > end)
				return true;
			if (stop > end)
				end = stop;
		}
		return op->kind == POP_CREATE && op->size > end;
	case POP_TRUNCATE:
		return op->size > size;
	default:
		return op->kind == POP_PREALLOC;
	}
}
