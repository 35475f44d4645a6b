/* SPDX-License-Identifier: GPL-2.0-only */
#include "statjson.h"

#include <stdio.h>
#include <stdlib.h>

#include "inodetext.h"

static int set_time(json_t *object, const char *name, const struct fsa_time *time)
{
	char key[32];
	int bad;

	if (!time->set)
		return 0;
	bad = json_object_set_new(object, name, json_string(inodetext_time(time, true).text));
	snprintf(key, sizeof(key), "%s_sec", name);
	bad |= json_object_set_new(object, key, json_integer(time->sec));
	snprintf(key, sizeof(key), "%s_nsec", name);
	bad |= json_object_set_new(object, key, json_integer(time->nsec));
	return bad;
}

int statjson_set(json_t *object, const struct fsa_stat *stat)
{
	char mode[16];
	int bad;

	snprintf(mode, sizeof(mode), "%04o", stat->mode & 07777u);
	bad = json_object_set_new(object, "inode", json_unsigned(stat->number));
	bad |= json_object_set_new(object, "type", json_string(inodetext_type_word(stat->type)));
	bad |= json_object_set_new(object, "mode", json_string(mode));
	bad |= json_object_set_new(object, "uid", json_unsigned(stat->uid));
	bad |= json_object_set_new(object, "gid", json_unsigned(stat->gid));
	bad |= json_object_set_new(object, "links", json_unsigned(stat->links));
	bad |= json_object_set_new(object, "size", json_unsigned(stat->size));
	bad |= json_object_set_new(object, "st_blocks", json_unsigned(stat->st_blocks));
	if (stat->type == FSA_TYPE_CHARDEV || stat->type == FSA_TYPE_BLOCKDEV)
		bad |= json_object_set_new(object, "rdev", json_pack("[i,i]", (int)stat->rdev_major,
								     (int)stat->rdev_minor));
	bad |= set_time(object, "mtime", &stat->mtime);
	bad |= set_time(object, "atime", &stat->atime);
	bad |= set_time(object, "ctime", &stat->ctime);
	bad |= set_time(object, "btime", &stat->btime);
	return bad;
}

int statjson_set_target(json_t *object, struct fsa_fs *fs, const struct fsa_stat *stat)
{
	char *target = NULL;
	size_t length = 0;
	int bad;

	if (stat->type != FSA_TYPE_SYMLINK || fs->parser->readlink == NULL)
		return 0;
	if (fs->parser->readlink(fs, stat->ref, &target, &length) != FSA_OK)
		return 0;
	bad = json_set_bytes(object, "target", target, length);
	free(target);
	return bad;
}
