/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a collection is made of: abstract operations on a tree, and the sink
 * that they are handed to.  A sink writes them (through the kernel, through
 * a library) or only models the tree that they make.
 */
#ifndef FSA_POP_OP_H
#define FSA_POP_OP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pop_source.h"

enum pop_op_kind {
	POP_MKDIR,	/* path, mode, uid, gid */
	POP_CREATE,	/* path, mode, uid, gid, source, data, size, mtime */
	POP_WRITE,	/* path, source, data, sync */
	POP_TRUNCATE,	/* path, size */
	POP_PREALLOC,	/* path, range, keep_size */
	POP_LINK,	/* path (the new name), target (the old one) */
	POP_SYMLINK,	/* path, target, uid, gid */
	POP_MKNOD,	/* path, mode with its type, uid, gid, major, minor */
	POP_SETXATTR,	/* path, name, value, value_len */
	POP_SETATTR,	/* path, mode, uid, gid: of an object that exists */
	POP_UTIMES,	/* path, mtime, mtime_nsec (atime is set alike) */
	POP_UNLINK,	/* path */
	POP_RMDIR,	/* path */
	/*
	 * What a program does that clones a tree or looks for files that are
	 * the same.  A writer that cannot read back gets POP_CREATE for the
	 * first, nothing for the second, and two operations for the last.
	 */
	POP_COPY,	/* as POP_CREATE, from the file named target */
	POP_DIGEST,	/* path: it is read and digested */
	POP_RELINK,	/* path becomes one more name of target */
	POP_PHASE	/* path: how the time from here on is called */
};

struct pop_range {
	uint64_t offset;	/* bytes */
	uint64_t length;	/* bytes */
};

struct pop_op {
	enum pop_op_kind kind;
	const char *path;	/* relative to the root, "." is the root */
	const char *target;
	uint32_t mode;
	uint32_t uid, gid;
	uint32_t major, minor;
	uint64_t size;
	struct pop_source source;	/* of the content */
	const struct pop_range *data;	/* written in this order */
	size_t data_count;
	struct pop_range range;
	bool keep_size;
	bool sync;		/* let it reach the disk before the next one */
	const char *name;
	const void *value;
	size_t value_len;
	int64_t mtime;		/* seconds since 1970 */
	uint32_t mtime_nsec;
};

/* The filesystem cannot hold this one; everything else may go on. */
#define POP_REFUSED	1

/*
 * emit() returns 0, POP_REFUSED, or a negative errno, at which the
 * collection stops.
 */
struct pop_sink {
	int (*emit)(struct pop_sink *sink, const struct pop_op *op);
};

const char *pop_op_kind_name(enum pop_op_kind kind);

/*
 * Whether this errno (positive) from this operation means that the
 * filesystem cannot do it, as opposed to trouble.
 */
bool pop_op_may_refuse(const struct pop_op *op, int err);

#endif
