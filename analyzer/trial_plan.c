/* SPDX-License-Identifier: GPL-2.0-only */
#include "trial_plan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

#define PLAN_MOST (1u << 20)	/* bytes of a plan: it is written by hand */

struct reader {
	struct trial_plan *plan;
	struct trial_filesystem *section;	/* NULL: before the first one */
	const char *wrong;			/* what is wrong with the line, NULL: nothing */
};

static char *trim(char *text)
{
	size_t length;

	text += strspn(text, " \t\r");
	length = strlen(text);
	while (length > 0 && strchr(" \t\r", text[length - 1]) != NULL)
		text[--length] = '\0';
	return text;
}

static void set_text(struct reader *reader, char **place, const char *value)
{
	free(*place);
	*place = strdup(value);
	if (*place == NULL)
		reader->wrong = "out of memory";
}

static void set_size(struct reader *reader, uint64_t *place, const char *value)
{
	if (!cli_parse_size(value, place))
		reader->wrong = "is no number";
}

static void set_yes(struct reader *reader, bool *place, const char *value)
{
	*place = strcmp(value, "yes") == 0;
	if (!*place && strcmp(value, "no") != 0)
		reader->wrong = "is neither yes nor no";
}

/* Calls `take` for each word of a list. */
static void each_word(struct reader *reader, char *value, void (*take)(struct reader *reader, const char *word))
{
	char *save = NULL;

	for (char *word = strtok_r(value, " \t", &save); word != NULL && reader->wrong == NULL;
	     word = strtok_r(NULL, " \t", &save))
		take(reader, word);
}

static void add_text(struct reader *reader, char **list, size_t *n, const char *word)
{
	if (*n == TRIAL_LIST) {
		reader->wrong = "is one too many";
		return;
	}
	list[*n] = strdup(word);
	if (list[*n] == NULL)
		reader->wrong = "out of memory";
	else
		++*n;
}

static void add_collection(struct reader *reader, const char *word)
{
	const char *name;
	size_t i = 0;

	while ((name = fsa_populate_collection_name(i, NULL)) != NULL && strcmp(name, word) != 0)
		i++;
	if (name == NULL)
		reader->wrong = "names a collection that there is not";
	else
		add_text(reader, reader->plan->collections, &reader->plan->n_collections, word);
}

static void add_documented(struct reader *reader, const char *word)
{
	add_text(reader, reader->plan->documented, &reader->plan->n_documented, word);
}

static void add_sync(struct reader *reader, const char *word)
{
	if (reader->plan->n_sync_every == TRIAL_LIST)
		reader->wrong = "has one too many";
	else
		set_size(reader, &reader->plan->sync_every[reader->plan->n_sync_every++], word);
}

static void add_pass(struct reader *reader, const char *word)
{
	for (enum readback_pass pass = READBACK_DD; pass < READBACK_PASSES; pass++)
		if (strcmp(word, readback_pass_name(pass)) == 0) {
			reader->plan->passes[pass] = reader->plan->readback = true;
			return;
		}
	reader->wrong = "names a pass that is none: dd, tar, dump";
}

static void set_engine(struct reader *reader, enum fsa_populate_engine *place, const char *value)
{
	for (enum fsa_populate_engine engine = FSA_POPULATE_AUTO; engine <= FSA_POPULATE_LIB; engine++)
		if (strcmp(value, fsa_populate_engine_name(engine)) == 0) {
			*place = engine;
			return;
		}
	reader->wrong = "is no engine: auto, host, uml, lib";
}

/* A key of the head; false when it is none. */
static bool take_head(struct reader *reader, const char *key, char *value)
{
	struct trial_plan *plan = reader->plan;
	uint64_t number = 0;

	if (strcmp(key, "title") == 0)
		set_text(reader, &plan->title, value);
	else if (strcmp(key, "tree") == 0)
		set_text(reader, &plan->tree, value);
	else if (strcmp(key, "collections") == 0)
		each_word(reader, value, add_collection);
	else if (strcmp(key, "documented") == 0)
		each_word(reader, value, add_documented);
	else if (strcmp(key, "sync-every") == 0)
		each_word(reader, value, add_sync);
	else if (strcmp(key, "readback") == 0)
		each_word(reader, value, add_pass);
	else if (strcmp(key, "engine") == 0)
		set_engine(reader, &plan->engine, value);
	else if (strcmp(key, "files") == 0)
		set_size(reader, &plan->files, value);
	else if (strcmp(key, "clones") == 0)
		set_size(reader, &plan->clones, value);
	else if (strcmp(key, "seed") == 0)
		set_size(reader, &plan->seed, value);
	else if (strcmp(key, "size") == 0)
		set_size(reader, &plan->size, value);
	else if (strcmp(key, "disk-rate") == 0)
		set_size(reader, &plan->disk_rate, value);
	else if (strcmp(key, "cold") == 0)
		set_yes(reader, &plan->cold, value);
	else if (strcmp(key, "tar") == 0)
		set_yes(reader, &plan->tar, value);
	else if (strcmp(key, "remove") == 0)
		set_yes(reader, &plan->remove, value);
	else if (strcmp(key, "timeout") == 0)
		set_size(reader, &number, value);
	else
		return false;
	if (strcmp(key, "timeout") == 0) {
		plan->timeout = (uint32_t)number;
		if (number == 0 || number > UINT32_MAX)
			reader->wrong = "is no number of seconds";
	}
	return true;
}

static bool known_fs(const char *name)
{
	const char *known;

	for (size_t i = 0; (known = fsa_populate_fs_name(i)) != NULL; i++)
		if (strcmp(known, name) == 0)
			return true;
	return false;
}

static bool take_section(struct reader *reader, const char *key, const char *value)
{
	struct trial_filesystem *fs = reader->section;
	uint64_t number = 0;

	if (strcmp(key, "fs") == 0) {
		set_text(reader, &fs->fs, value);
		if (!known_fs(value))
			reader->wrong = "is no filesystem that can be made";
	} else if (strcmp(key, "mkfs-options") == 0) {
		set_text(reader, &fs->mkfs_options, value);
	} else if (strcmp(key, "mount-options") == 0) {
		set_text(reader, &fs->mount_options, value);
	} else if (strcmp(key, "features") == 0) {
		set_text(reader, &fs->features, value);
	} else if (strcmp(key, "documented") == 0) {
		set_text(reader, &fs->documented, value);
	} else if (strcmp(key, "documented-option") == 0) {
		set_text(reader, &fs->documented_option, value);
	} else if (strcmp(key, "engine") == 0) {
		set_engine(reader, &fs->engine, value);
	} else if (strcmp(key, "block-size") == 0) {
		set_size(reader, &number, value);
		fs->block_size = (uint32_t)number;
		if (number > UINT32_MAX)
			reader->wrong = "is no size of a block";
	} else {
		return false;
	}
	return true;
}

static void begin_section(struct reader *reader, const char *name)
{
	struct trial_plan *plan = reader->plan;
	struct trial_filesystem *more;

	/* It becomes part of names of images. */
	if (*name == '\0' || strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_+=.") !=
				     strlen(name) || *name == '.') {
		reader->wrong = "is no name: letters, digits and -_+=.";
		return;
	}
	for (size_t i = 0; i < plan->n_filesystems; i++)
		if (strcmp(plan->filesystems[i].name, name) == 0) {
			reader->wrong = "is there twice";
			return;
		}
	more = realloc(plan->filesystems, (plan->n_filesystems + 1) * sizeof(*more));
	if (more == NULL) {
		reader->wrong = "out of memory";
		return;
	}
	plan->filesystems = more;
	reader->section = &more[plan->n_filesystems++];
	*reader->section = (struct trial_filesystem){ .name = NULL };
	set_text(reader, &reader->section->name, name);
	/* A section of the name of a filesystem needs no more. */
	if (known_fs(name))
		set_text(reader, &reader->section->fs, name);
}

static void take_line(struct reader *reader, char *line, const char **what)
{
	char *equals, *key, *value, *end;

	line = trim(line);
	*what = line;
	if (*line == '\0' || *line == '#')
		return;
	if (*line == '[') {
		end = strchr(line, ']');
		if (end == NULL || end[1] != '\0') {
			reader->wrong = "is no [NAME]";
			return;
		}
		*end = '\0';
		*what = trim(line + 1);
		begin_section(reader, *what);
		return;
	}
	equals = strchr(line, '=');
	if (equals == NULL) {
		reader->wrong = "is neither KEY = VALUE nor [NAME]";
		return;
	}
	*equals = '\0';
	key = trim(line);
	value = trim(equals + 1);
	*what = key;
	if (reader->section != NULL ? !take_section(reader, key, value) : !take_head(reader, key, value))
		reader->wrong = reader->section != NULL ? "is no key of a filesystem" : "is no key";
}

static char *read_file(const char *path)
{
	FILE *file = fopen(path, "re");
	char *text = file != NULL ? calloc(1, PLAN_MOST + 1) : NULL;
	size_t length;

	if (file == NULL || text == NULL) {
		cli_error("%s: %s", path, strerror(errno));
		if (file != NULL)
			fclose(file);
		return NULL;
	}
	length = fread(text, 1, PLAN_MOST, file);
	if (ferror(file) || length == PLAN_MOST || strlen(text) != length) {
		cli_error("%s: %s", path, ferror(file) ? strerror(errno) : "is no plan: too long, or no text");
		free(text);
		text = NULL;
	}
	fclose(file);
	return text;
}

/* What a plan must have, and what it means by leaving something out. */
static bool complete(struct trial_plan *plan, const char *path)
{
	if (plan->n_collections == 0 || plan->n_filesystems == 0) {
		cli_error("%s: a plan needs %s", path,
			  plan->n_collections == 0 ? "collections" : "at least one [filesystem]");
		return false;
	}
	for (size_t i = 0; i < plan->n_filesystems; i++)
		if (plan->filesystems[i].fs == NULL) {
			cli_error("%s: [%s] has no fs", path, plan->filesystems[i].name);
			return false;
		}
	if (plan->n_sync_every == 0)
		plan->sync_every[plan->n_sync_every++] = 0;
	if (plan->title == NULL)
		plan->title = strdup(path);
	return plan->title != NULL;
}

bool trial_plan_read(struct trial_plan *plan, const char *path)
{
	struct reader reader = { .plan = plan };
	const char *what = "", *slash = strrchr(path, '/');
	char *copy, *rest, *line;
	unsigned number = 0;

	*plan = (struct trial_plan){ .seed = 1 };
	plan->text = read_file(path);
	if (plan->text == NULL)
		return false;
	plan->folder = slash != NULL ? strndup(path, (size_t)(slash - path) + 1) : strdup("");
	copy = rest = strdup(plan->text);
	if (plan->folder == NULL || copy == NULL) {
		free(copy);
		cli_error("out of memory");
		return false;
	}
	while (reader.wrong == NULL && (line = strsep(&rest, "\n")) != NULL) {
		number++;
		take_line(&reader, line, &what);
	}
	if (reader.wrong != NULL)
		cli_error("%s: line %u: '%s' %s", path, number, what, reader.wrong);
	free(copy);
	return reader.wrong == NULL && complete(plan, path);
}

char *trial_plan_path(const struct trial_plan *plan, const char *name)
{
	char *path;

	if (*name == '/')
		return strdup(name);
	return asprintf(&path, "%s%s", plan->folder, name) < 0 ? NULL : path;
}

void trial_plan_free(struct trial_plan *plan)
{
	for (size_t i = 0; i < plan->n_filesystems; i++) {
		struct trial_filesystem *fs = &plan->filesystems[i];

		free(fs->name);
		free(fs->fs);
		free(fs->mkfs_options);
		free(fs->mount_options);
		free(fs->features);
		free(fs->documented);
		free(fs->documented_option);
	}
	for (size_t i = 0; i < plan->n_collections; i++)
		free(plan->collections[i]);
	for (size_t i = 0; i < plan->n_documented; i++)
		free(plan->documented[i]);
	free(plan->filesystems);
	free(plan->title);
	free(plan->text);
	free(plan->folder);
	free(plan->tree);
	*plan = (struct trial_plan){ .seed = 0 };
}
