/* SPDX-License-Identifier: GPL-2.0-only */
/* An inode's fields as JSON, the same for every command that shows inodes. */
#ifndef FSA_ANALYZER_STATJSON_H
#define FSA_ANALYZER_STATJSON_H

#include "fsa/parser.h"

#include "json.h"

/*
 * Sets inode, type, mode, uid, gid, links, size, st_blocks, rdev and the times. A time that is not set is
 * left out; the others are "mtime" as text and "mtime_sec", "mtime_nsec" as numbers. 0, or -1 without memory.
 */
int statjson_set(json_t *object, const struct fsa_stat *stat);

/*
 * The target of a symbolic link through json_set_bytes() under "target". Nothing is set when it cannot be
 * read: the parser has made a finding of that.
 */
int statjson_set_target(json_t *object, struct fsa_fs *fs, const struct fsa_stat *stat);

#endif
