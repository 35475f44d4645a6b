/* SPDX-License-Identifier: GPL-2.0-only */
/* Names of the operations, and which errors are a format's limits. */
#include <errno.h>

#include "pop_op.h"

const char *pop_op_kind_name(enum pop_op_kind kind)
{
	static const char *const names[] = {
		[POP_MKDIR] = "mkdir",
		[POP_CREATE] = "create",
		[POP_WRITE] = "write",
		[POP_TRUNCATE] = "truncate",
		[POP_PREALLOC] = "preallocate",
		[POP_LINK] = "link",
		[POP_SYMLINK] = "symlink",
		[POP_MKNOD] = "mknod",
		[POP_SETXATTR] = "setxattr",
		[POP_SETATTR] = "setattr",
		[POP_UTIMES] = "utimes",
		[POP_UNLINK] = "unlink",
		[POP_RMDIR] = "rmdir",
		[POP_COPY] = "copy",
		[POP_DIGEST] = "digest",
		[POP_RELINK] = "relink",
		[POP_PHASE] = "phase",
	};

	if ((size_t)kind >= sizeof(names) / sizeof(names[0]))
		return "operation";
	return names[kind];
}

/* Almost all of it is hole, and more than an image is likely to hold. */
static bool mostly_hole(const struct pop_op *op)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < op->data_count; i++)
		bytes += op->data[i].length;
	return op->size >= UINT64_C(1) << 32 && bytes < op->size >> 16;
}

/*
 * No collection makes a name twice: EEXIST comes from a filesystem to which
 * two different names are one.
 */
bool pop_op_may_refuse(const struct pop_op *op, int err)
{
	switch (op->kind) {
	case POP_CREATE:
	case POP_COPY:
		/* Some formats spend blocks on holes (ReiserFS). */
		if (err == ENOSPC && mostly_hole(op))
			return true;
		return err == EFBIG || err == ENAMETOOLONG ||
		       err == EILSEQ || err == EINVAL ||
		       err == EOPNOTSUPP || err == EEXIST;
	case POP_WRITE:
	case POP_TRUNCATE:
		/* Size limits, and holes where there can be none. */
		return err == EFBIG || err == EINVAL || err == EOPNOTSUPP;
	case POP_MKDIR:
	case POP_LINK:
	case POP_RELINK:
	case POP_SYMLINK:
	case POP_MKNOD:
		return err == ENAMETOOLONG || err == EILSEQ ||
		       err == EINVAL || err == EOPNOTSUPP ||
		       err == EMLINK || err == EPERM || err == EEXIST;
	case POP_PREALLOC:
		return err == EOPNOTSUPP || err == EFBIG || err == EINVAL;
	case POP_SETXATTR:
		/* ENOSPC: the value does not fit where the format keeps it. */
		return err == EOPNOTSUPP || err == ENOSPC || err == E2BIG ||
		       err == ERANGE || err == EPERM || err == EINVAL;
	case POP_UTIMES:
		return err == ERANGE || err == EINVAL || err == EOVERFLOW;
	case POP_SETATTR:
		return err == EOPNOTSUPP;
	case POP_UNLINK:
	case POP_RMDIR:
	case POP_DIGEST:
	case POP_PHASE:
		break;
	}
	return false;
}
