/* SPDX-License-Identifier: GPL-2.0-only */
#include "compare_content.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "fsa/read.h"

#define BLOCK ((size_t)4096)

/* One object: its digest goes into the sum. */
static void add_object(struct content *content, const char *path, size_t path_length, char type, uint64_t size,
		       const void *what, size_t what_length)
{
	XXH3_state_t *state = XXH3_createState();
	XXH128_hash_t hash;

	if (state == NULL)
		return;
	XXH3_128bits_reset(state);
	XXH3_128bits_update(state, path, path_length);
	XXH3_128bits_update(state, "", 1);
	XXH3_128bits_update(state, &type, 1);
	XXH3_128bits_update(state, &size, sizeof(size));
	XXH3_128bits_update(state, what, what_length);
	hash = XXH3_128bits_digest(state);
	XXH3_freeState(state);
	content->sum[0] += hash.low64;
	content->sum[1] += hash.high64;
	content->objects++;
	content->files += type == 'f';
}

static bool own_of_format(const char *path, size_t length)
{
	return length == strlen("lost+found") && memcmp(path, "lost+found", length) == 0;
}

/* --- by the tree ------------------------------------------------------------------------------------------- */

/* Blocks of nothing but zeros leave no trace, whether they are stored or not. */
struct file {
	XXH3_state_t *state;
	uint64_t block;
	size_t filled;
	unsigned char buffer[BLOCK];
};

static void end_block(struct file *file)
{
	static const unsigned char zeros[BLOCK];

	if (file->filled != 0 && memcmp(file->buffer, zeros, file->filled) != 0) {
		XXH3_128bits_update(file->state, &file->block, sizeof(file->block));
		XXH3_128bits_update(file->state, file->buffer, file->filled);
	}
	file->block++;
	file->filled = 0;
}

static enum fsa_status take_bytes(void *arg, const void *data, uint64_t length, bool unreadable)
{
	struct file *file = arg;
	const unsigned char *from = data;

	(void)unreadable;
	while (length > 0) {
		size_t n = BLOCK - file->filled;

		/* A hole may be of many terabytes. */
		if (data == NULL && file->filled == 0 && length >= BLOCK) {
			file->block += length / BLOCK;
			length %= BLOCK;
			continue;
		}
		if (n > length)
			n = (size_t)length;
		if (data == NULL)
			memset(file->buffer + file->filled, 0, n);
		else
			memcpy(file->buffer + file->filled, from, n);
		from = data == NULL ? NULL : from + n;
		file->filled += n;
		length -= n;
		if (file->filled == BLOCK)
			end_block(file);
	}
	return FSA_OK;
}

struct walk {
	struct content *content;
	struct fsa_fs *fs;
	struct file file;
};

static enum fsa_status add_file(struct walk *walk, const struct fsa_walk_entry *entry)
{
	XXH128_canonical_t digest;
	enum fsa_status status;

	XXH3_128bits_reset(walk->file.state);
	walk->file.block = 0;
	walk->file.filled = 0;
	status = fsa_file_read(walk->fs, entry->ref, entry->stat->size, take_bytes, &walk->file);
	end_block(&walk->file);
	XXH128_canonicalFromHash(&digest, XXH3_128bits_digest(walk->file.state));
	add_object(walk->content, entry->path, entry->path_length, 'f', entry->stat->size, digest.digest,
		   sizeof(digest.digest));
	return status;
}

static enum fsa_status visit(void *arg, const struct fsa_walk_entry *entry)
{
	struct walk *walk = arg;
	enum fsa_status status;
	char *target = NULL;
	size_t length = 0;
	uint32_t device[2];

	if (entry->depth == 0 || entry->stat == NULL || own_of_format(entry->path, entry->path_length))
		return FSA_OK;
	switch (entry->stat->type) {
	case FSA_TYPE_REGULAR:
		return add_file(walk, entry);
	case FSA_TYPE_DIRECTORY:
		add_object(walk->content, entry->path, entry->path_length, 'd', 0, "", 0);
		return FSA_OK;
	case FSA_TYPE_SYMLINK:
		if (walk->fs->parser->readlink == NULL)
			return FSA_OK;
		status = walk->fs->parser->readlink(walk->fs, entry->ref, &target, &length);
		if (status == FSA_OK)
			add_object(walk->content, entry->path, entry->path_length, 'l', 0, target, length);
		free(target);
		return status == FSA_ENOMEM ? status : FSA_OK;
	default:
		device[0] = entry->stat->rdev_major;
		device[1] = entry->stat->rdev_minor;
		add_object(walk->content, entry->path, entry->path_length, 'o', 0, device, sizeof(device));
		return FSA_OK;
	}
}

bool content_of_tree(struct content *content, const struct opened *opened)
{
	struct walk walk = { .content = content, .fs = opened->fs };
	struct fsa_ref root;
	bool good;

	*content = (struct content){ .source = CONTENT_NONE };
	if (opened->fs->parser->root == NULL || opened->fs->parser->readdir == NULL)
		return false;
	walk.file.state = XXH3_createState();
	good = walk.file.state != NULL && opened->fs->parser->root(opened->fs, &root) == FSA_OK &&
	       fsa_walk(opened->fs, root, true, visit, &walk) == FSA_OK;
	XXH3_freeState(walk.file.state);
	if (good)
		content->source = CONTENT_DIGEST;
	return good;
}

/* --- by the manifest ----------------------------------------------------------------------------------------- */

static const char *text_of(const json_t *entry, const char *key, const char *encoded)
{
	const char *text = json_string_value(json_object_get(entry, encoded));

	/* The encoded name is as good as the name: all manifests encode alike. */
	if (text == NULL)
		text = json_string_value(json_object_get(entry, key));
	return text != NULL ? text : "";
}

static void add_entry(struct content *content, const json_t *entry)
{
	const char *path = text_of(entry, "path", "path_base64");
	const char *type = text_of(entry, "type", "");
	const char *what = "";
	char letter = 'o';
	uint64_t size = 0;

	if (strcmp(path, ".") == 0)
		return;
	if (strcmp(type, "file") == 0) {
		letter = 'f';
		size = (uint64_t)json_integer_value(json_object_get(entry, "size"));
		what = text_of(entry, "data_sha256", "sha256");
	} else if (strcmp(type, "directory") == 0) {
		letter = 'd';
	} else if (strcmp(type, "symlink") == 0) {
		letter = 'l';
		what = text_of(entry, "target", "target_base64");
	}
	add_object(content, path, strlen(path), letter, size, what, strlen(what));
}

bool content_of_manifest(struct content *content, const char *image, uint64_t files)
{
	json_t *manifest, *list, *entry;
	char *name;
	size_t i;

	*content = (struct content){ .source = CONTENT_NONE };
	if (asprintf(&name, "%s.manifest.json", image) < 0)
		return false;
	manifest = json_load_file(name, 0, NULL);
	free(name);
	list = json_object_get(manifest, "entries");
	json_array_foreach(list, i, entry)
		add_entry(content, entry);
	json_decref(manifest);
	if (content->objects == 0 || content->files != files)
		return false;
	content->source = CONTENT_MANIFEST;
	return true;
}

bool content_same(const struct content *a, const struct content *b)
{
	return a->source != CONTENT_NONE && a->source == b->source && a->objects == b->objects &&
	       a->sum[0] == b->sum[0] && a->sum[1] == b->sum[1];
}
