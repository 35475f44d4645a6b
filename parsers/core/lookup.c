/* SPDX-License-Identifier: GPL-2.0-only */
/* From a path, or an inode number, to a reference. */
#include <stdlib.h>
#include <string.h>

#include "fsa/read.h"
#include "name.h"

/* A path deeper than this is a mistake: the walks do not go deeper either. */
#define MAX_COMPONENTS 4096

struct search {
	const char *name;
	size_t length;
	struct fsa_dirent *entry;
	bool found;
};

static enum fsa_status match(void *arg, const struct fsa_dirent *entry)
{
	struct search *s = arg;

	if (entry->name_length != s->length || memcmp(entry->name, s->name, s->length) != 0)
		return FSA_OK;
	*s->entry = *entry;
	/* The parser's bytes are gone after the callback; the caller's are the same. */
	s->entry->name = s->name;
	s->found = true;
	return FSA_STOP;
}

enum fsa_status fsa_lookup_in(struct fsa_fs *fs, struct fsa_ref dir, const char *name, size_t length,
			      struct fsa_dirent *entry)
{
	struct search s = { .name = name, .length = length, .entry = entry };
	enum fsa_status status;

	if (!fs->parser->readdir)
		return FSA_EUNSUPPORTED;
	if (fsa_name_trouble(name, length))
		return FSA_ENOENT;
	status = fs->parser->readdir(fs, dir, match, &s);
	if (s.found)
		return FSA_OK;
	if (status == FSA_OK || status == FSA_STOP)
		return FSA_ENOENT;
	return status;
}

/* "#N" or "<N>" as the whole path; false when it is something else. */
static bool parse_number(const char *path, uint64_t *number)
{
	size_t length = strlen(path);
	const char *end = path + length;
	uint64_t value = 0;

	if (length < 2)
		return false;
	if (path[0] == '<') {
		if (end[-1] != '>')
			return false;
		end--;
	} else if (path[0] != '#') {
		return false;
	}
	if (path + 1 == end)
		return false;
	for (const char *p = path + 1; p < end; p++) {
		if (*p < '0' || *p > '9' || __builtin_mul_overflow(value, (uint64_t)10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(*p - '0'), &value))
			return false;
	}
	*number = value;
	return true;
}

static enum fsa_status fail(struct fsa_fs *fs, struct fsa_error *err, enum fsa_status status, const char *path,
			    size_t length, const char *why)
{
	struct fsa_shown_name shown;

	return fsa_fail(err, status, "%s: %s: %s", fsa_image_name(fs->devices[0].image),
			fsa_show_name(&shown, path, length), why);
}

/*
 * The directories passed so far, for "..": symbolic links are not followed, so the way back is the way
 * one came.
 */
struct trail {
	struct fsa_ref *refs;
	size_t count;
	size_t room;
};

static bool trail_push(struct trail *trail, struct fsa_ref ref)
{
	if (trail->count == trail->room) {
		size_t room = trail->room ? trail->room * 2 : 16;
		struct fsa_ref *refs = realloc(trail->refs, room * sizeof(*refs));

		if (!refs)
			return false;
		trail->refs = refs;
		trail->room = room;
	}
	trail->refs[trail->count++] = ref;
	return true;
}

/* Refuses when `dir`, which the first `length` bytes of `path` lead to, cannot have names below it. */
static enum fsa_status check_directory(struct fsa_fs *fs, struct fsa_ref dir, const char *path, size_t length,
				       struct fsa_error *err)
{
	struct fsa_stat stat;
	enum fsa_status status = fs->parser->stat(fs, dir, &stat);

	if (status != FSA_OK)
		return fail(fs, err, status, path, length, "the inode cannot be read");
	if (stat.type == FSA_TYPE_SYMLINK)
		return fail(fs, err, FSA_ENOTDIR, path, length,
			    "is a symbolic link, and those are not followed");
	if (stat.type != FSA_TYPE_DIRECTORY)
		return fail(fs, err, FSA_ENOTDIR, path, length, "not a directory");
	return FSA_OK;
}

/* One component, [name, name + length) of `path`, below the last directory of the trail. */
static enum fsa_status step(struct fsa_fs *fs, struct trail *trail, const char *path, const char *name,
			    size_t length, struct fsa_error *err)
{
	struct fsa_ref dir = trail->refs[trail->count - 1];
	size_t shown = (size_t)(name - path) + length;
	struct fsa_dirent entry;
	enum fsa_status status;

	status = check_directory(fs, dir, path, (size_t)(name - path), err);
	if (status != FSA_OK)
		return status;
	if (length == 1 && name[0] == '.')
		return FSA_OK;
	if (length == 2 && name[0] == '.' && name[1] == '.') {
		if (trail->count > 1)
			trail->count--;
		return FSA_OK;
	}
	status = fsa_lookup_in(fs, dir, name, length, &entry);
	if (status == FSA_ENOENT)
		return fail(fs, err, status, path, shown, "no such file or directory");
	if (status != FSA_OK)
		return fail(fs, err, status, path, shown, "its directory cannot be read");
	if (trail->count >= MAX_COMPONENTS)
		return fail(fs, err, FSA_EINVAL, path, shown, "too many levels of directories");
	if (!trail_push(trail, entry.ref))
		return fail(fs, err, FSA_ENOMEM, path, shown, "out of memory");
	return FSA_OK;
}

enum fsa_status fsa_lookup(struct fsa_fs *fs, const char *path, struct fsa_ref *ref, struct fsa_error *err)
{
	const struct fsa_parser *parser = fs->parser;
	struct trail trail = { 0 };
	enum fsa_status status;
	uint64_t number;
	struct fsa_ref root;
	size_t length;

	if (parser->ref_of_number && parse_number(path, &number)) {
		status = parser->ref_of_number(fs, number, ref);
		if (status != FSA_OK)
			return fail(fs, err, status, path, strlen(path), "no such inode");
		return FSA_OK;
	}
	if (!parser->root || !parser->stat || !parser->readdir)
		return fail(fs, err, FSA_EUNSUPPORTED, path, strlen(path),
			    "this kind of image holds no tree of files");
	status = parser->root(fs, &root);
	if (status != FSA_OK)
		return fail(fs, err, status, "/", 1, "the root directory cannot be found");
	if (!trail_push(&trail, root))
		return fail(fs, err, FSA_ENOMEM, path, strlen(path), "out of memory");

	for (const char *p = path; *p && status == FSA_OK; ) {
		const char *end = strchrnul(p, '/');

		if (end != p)
			status = step(fs, &trail, path, p, (size_t)(end - p), err);
		p = *end ? end + 1 : end;
	}
	/* "name/" asks for a directory, as everywhere else. */
	length = strlen(path);
	if (status == FSA_OK && length > 0 && path[length - 1] == '/')
		status = check_directory(fs, trail.refs[trail.count - 1], path, length, err);
	if (status == FSA_OK)
		*ref = trail.refs[trail.count - 1];
	free(trail.refs);
	return status;
}
