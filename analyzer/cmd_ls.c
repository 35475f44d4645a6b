/* SPDX-License-Identifier: GPL-2.0-only */
/* fsassay ls: names in an image, sorted, one directory after the other. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "escape.h"
#include "findings.h"
#include "fsa/read.h"
#include "inodetext.h"
#include "open.h"
#include "statjson.h"

enum { LS_FULL_TIME = CLI_OWN, LS_NULL };

static const struct cli_option own_options[] = {
	{ 'l', "long", NULL, "show mode, links, owner, group, size and time of change" },
	{ 'R', "recursive", NULL, "list the directories below, too" },
	{ 'i', "inode", NULL, "show the inode number" },
	{ 'd', "directory", NULL, "show directories themselves, not what is in them" },
	{ 'U', "unsorted", NULL, "leave the names in the directory's own order" },
	{ 'a', "all", NULL, "does nothing: no name is ever hidden" },
	{ LS_FULL_TIME, "full-time", NULL, "as -l, with nanoseconds" },
	{ LS_NULL, "null", NULL, "print whole paths as raw bytes, each with a NUL behind it" },
	{ 0, NULL, NULL, NULL },
};

static const struct cli_spec spec = {
	.command = "ls",
	.usage = "[OPTIONS] IMAGE [PATH...]",
	.about = "Lists what is in a directory of the image, or the PATHs. Symbolic links are shown and not\n"
		 "followed. Names that do not print are escaped (\\xHH); times are UTC.",
	.tables = { own_options, cli_json_option, open_option_table },
	.notes = "PATH may be '#N' or '<N>' for inode number N.",
};

struct ls_options {
	bool json, longer, recursive, inode, directory, unsorted, full_time, null;
};

/* One entry of the directory being collected. */
struct line {
	size_t name;		/* in `names` */
	size_t name_length;
	uint64_t number;
	bool have_stat;
	struct fsa_stat stat;
};

struct ls {
	const struct opened *opened;
	struct fsa_fs *fs;
	struct ls_options options;
	const char *operand;	/* path of the listing's start, as it is shown */
	size_t operand_length;
	bool headings;		/* a line with the directory's path before its entries */
	bool printed;		/* something: the next directory starts with an empty line */
	bool json_comma;
	/* The directory being collected: entries come one directory after the other. */
	char *parent;
	size_t parent_length, parent_room;
	struct line *lines;
	size_t n_lines, lines_room;
	char *names;
	size_t names_length, names_room;
};

static bool reserve(void **data, size_t *room, size_t wanted, size_t unit)
{
	size_t bigger = *room != 0 ? *room : 64;
	void *p;

	if (wanted <= *room)
		return true;
	while (bigger < wanted)
		bigger *= 2;
	p = reallocarray(*data, bigger, unit);
	if (p == NULL)
		return false;
	*data = p;
	*room = bigger;
	return true;
}

/* --- one entry ----------------------------------------------------------------------------------- */

static void print_path(const struct ls *ls, const char *path, size_t length)
{
	if (ls->options.null) {
		fwrite(path, 1, length, stdout);
		putchar('\0');
	} else {
		escape_print(stdout, path, length);
	}
}

static void print_target(const struct ls *ls, const struct fsa_stat *stat)
{
	char *target = NULL;
	size_t length = 0;

	if (stat->type != FSA_TYPE_SYMLINK || ls->fs->parser->readlink == NULL)
		return;
	if (ls->fs->parser->readlink(ls->fs, stat->ref, &target, &length) != FSA_OK)
		return;
	fputs(" -> ", stdout);
	escape_print(stdout, target, length);
	free(target);
}

struct widths {
	int inode, links, uid, gid, size;
};

static int wider(int a, int b)
{
	return a > b ? a : b;
}

static int digits(uint64_t value)
{
	return snprintf(NULL, 0, "%" PRIu64, value);
}

static bool is_device(const struct fsa_stat *stat)
{
	return stat->type == FSA_TYPE_CHARDEV || stat->type == FSA_TYPE_BLOCKDEV;
}

static void widen(struct widths *w, const struct line *line)
{
	const struct fsa_stat *stat = &line->stat;

	w->inode = wider(w->inode, digits(line->number));
	if (!line->have_stat)
		return;
	w->links = wider(w->links, digits(stat->links));
	w->uid = wider(w->uid, digits(stat->uid));
	w->gid = wider(w->gid, digits(stat->gid));
	w->size = wider(w->size, is_device(stat) ? digits(stat->rdev_major) + 2 + digits(stat->rdev_minor)
						 : digits(stat->size));
}

static void print_line(struct ls *ls, const struct line *line, const struct widths *w, const char *name,
		       size_t length)
{
	const struct fsa_stat *stat = &line->stat;
	char size[64];

	if (ls->options.inode)
		printf("%*" PRIu64 " ", w->inode, line->number);
	if (ls->options.longer && line->have_stat) {
		if (is_device(stat))
			snprintf(size, sizeof(size), "%" PRIu32 ", %" PRIu32, stat->rdev_major, stat->rdev_minor);
		else
			snprintf(size, sizeof(size), "%" PRIu64, stat->size);
		printf("%s %*" PRIu64 " %*" PRIu32 " %*" PRIu32 " %*s %s ",
		       inodetext_mode(stat->type, stat->mode).text, w->links, stat->links, w->uid, stat->uid,
		       w->gid, stat->gid, w->size, size, inodetext_time(&stat->mtime, ls->options.full_time).text);
	} else if (ls->options.longer) {
		printf("?????????? (inode cannot be read) ");
	}
	print_path(ls, name, length);
	if (ls->options.longer && line->have_stat && !ls->options.null)
		print_target(ls, stat);
	if (!ls->options.null)
		putchar('\n');
}

static enum fsa_status print_json(struct ls *ls, const struct line *line, const char *path, size_t length)
{
	json_t *object = json_object();
	int bad = object == NULL || json_set_bytes(object, "path", path, length) != 0;
	char *text;

	if (!bad && line->have_stat)
		bad = statjson_set(object, &line->stat) != 0 ||
		      statjson_set_target(object, ls->fs, &line->stat) != 0;
	else if (!bad)
		bad = json_object_set_new(object, "inode", json_unsigned(line->number));
	text = bad ? NULL : json_dumps(object, JSON_COMPACT);
	json_decref(object);
	if (text == NULL)
		return FSA_ENOMEM;
	printf("%s\n    %s", ls->json_comma ? "," : "", text);
	ls->json_comma = true;
	free(text);
	return FSA_OK;
}

/* --- one directory ------------------------------------------------------------------------------- */

struct by_name {
	const struct line *line;
	const char *name;
};

static int compare_names(const void *a, const void *b)
{
	const struct by_name *x = a, *y = b;
	const size_t n = x->line->name_length < y->line->name_length ? x->line->name_length
								       : y->line->name_length;
	const int order = memcmp(x->name, y->name, n);

	if (order != 0)
		return order;
	return (x->line->name_length > y->line->name_length) - (x->line->name_length < y->line->name_length);
}

/* The path of an entry as it is shown: operand, directory below it, name. malloc'd. */
static char *whole_path(const struct ls *ls, const char *name, size_t name_length, size_t *length)
{
	const struct { const char *bytes; size_t length; } parts[] = {
		{ ls->operand, ls->operand_length },
		{ ls->parent, ls->parent_length },
		{ name, name_length },
	};
	char *path = malloc(ls->operand_length + ls->parent_length + name_length + 3);

	*length = 0;
	if (path == NULL)
		return NULL;
	for (size_t i = 0; i < 3; i++) {
		if (parts[i].length == 0)
			continue;
		if (*length != 0 && path[*length - 1] != '/')
			path[(*length)++] = '/';
		memcpy(path + *length, parts[i].bytes, parts[i].length);
		*length += parts[i].length;
	}
	return path;
}

static enum fsa_status print_entry(struct ls *ls, const struct by_name *entry, const struct widths *w)
{
	enum fsa_status status = FSA_OK;
	size_t length;
	char *path;

	if (!ls->options.json && !ls->options.null) {
		print_line(ls, entry->line, w, entry->name, entry->line->name_length);
		return FSA_OK;
	}
	path = whole_path(ls, entry->name, entry->line->name_length, &length);
	if (path == NULL)
		return FSA_ENOMEM;
	if (ls->options.json)
		status = print_json(ls, entry->line, path, length);
	else
		print_line(ls, entry->line, w, path, length);
	free(path);
	return status;
}

static enum fsa_status print_heading(struct ls *ls)
{
	size_t length;
	char *path;

	if (ls->options.json || ls->options.null || !ls->headings)
		return FSA_OK;
	path = whole_path(ls, NULL, 0, &length);
	if (path == NULL)
		return FSA_ENOMEM;
	if (ls->printed)
		putchar('\n');
	escape_print(stdout, path, length);
	puts(":");
	free(path);
	return FSA_OK;
}

/* Prints the directory collected so far. */
static enum fsa_status flush_directory(struct ls *ls)
{
	struct by_name *sorted;
	struct widths w = { 0, 0, 0, 0, 0 };
	enum fsa_status status;

	if (ls->n_lines == 0)
		return FSA_OK;
	sorted = calloc(ls->n_lines, sizeof(*sorted));
	if (sorted == NULL)
		return FSA_ENOMEM;
	for (size_t i = 0; i < ls->n_lines; i++) {
		sorted[i] = (struct by_name){ &ls->lines[i], ls->names + ls->lines[i].name };
		widen(&w, &ls->lines[i]);
	}
	if (!ls->options.unsorted)
		qsort(sorted, ls->n_lines, sizeof(*sorted), compare_names);
	status = print_heading(ls);
	for (size_t i = 0; i < ls->n_lines && status == FSA_OK; i++)
		status = print_entry(ls, &sorted[i], &w);
	free(sorted);
	ls->printed = true;
	ls->n_lines = 0;
	ls->names_length = 0;
	return status;
}

static bool set_parent(struct ls *ls, const char *path, size_t length)
{
	void *p = ls->parent;
	const bool good = reserve(&p, &ls->parent_room, length + 1, 1);

	ls->parent = p;
	if (!good)
		return false;
	memcpy(ls->parent, path, length);
	ls->parent_length = length;
	return true;
}

static enum fsa_status collect(struct ls *ls, const struct fsa_stat *stat, uint64_t number, const char *name,
			       size_t length)
{
	void *lines = ls->lines, *names = ls->names;
	bool good = reserve(&lines, &ls->lines_room, ls->n_lines + 1, sizeof(*ls->lines));

	ls->lines = lines;
	good = good && reserve(&names, &ls->names_room, ls->names_length + length + 1, 1);
	ls->names = names;
	if (!good)
		return FSA_ENOMEM;
	ls->lines[ls->n_lines] = (struct line){
		.name = ls->names_length, .name_length = length, .number = number, .have_stat = stat != NULL,
	};
	if (stat != NULL)
		ls->lines[ls->n_lines].stat = *stat;
	memcpy(ls->names + ls->names_length, name, length);
	ls->names_length += length;
	ls->n_lines++;
	return FSA_OK;
}

static enum fsa_status visit(void *arg, const struct fsa_walk_entry *entry)
{
	struct ls *ls = arg;
	enum fsa_status status;
	size_t parent;

	if (entry->entry == NULL) {
		ls->parent_length = 0;
		return FSA_OK;
	}
	parent = entry->path_length - entry->entry->name_length;
	parent -= parent != 0;
	if (parent != ls->parent_length || (parent != 0 && memcmp(entry->path, ls->parent, parent) != 0)) {
		status = flush_directory(ls);
		if (status != FSA_OK)
			return status;
		if (!set_parent(ls, entry->path, parent))
			return FSA_ENOMEM;
	}
	return collect(ls, entry->stat, entry->entry->number, entry->entry->name, entry->entry->name_length);
}

/* --- operands ------------------------------------------------------------------------------------ */

static int list(struct ls *ls, const char *path, bool many)
{
	struct fsa_error err = { .status = FSA_OK };
	enum fsa_status status;
	struct fsa_stat stat;
	struct fsa_ref ref;

	status = fsa_lookup(ls->fs, path, &ref, &err);
	if (status == FSA_OK) {
		status = ls->fs->parser->stat(ls->fs, ref, &stat);
		if (status != FSA_OK)
			fsa_fail(&err, status, "%s: %s: the inode cannot be read", ls->opened->argument, path);
	}
	if (status != FSA_OK) {
		cli_error("%s", err.message);
		return CLI_FAILED;
	}
	ls->parent_length = 0;
	if (stat.type != FSA_TYPE_DIRECTORY || ls->options.directory) {
		ls->operand = "";
		ls->operand_length = 0;
		ls->headings = false;
		status = collect(ls, &stat, stat.number, path, strlen(path));
	} else {
		ls->operand = path;
		ls->operand_length = strlen(path);
		ls->headings = many || ls->options.recursive;
		status = fsa_walk_listings(ls->fs, ref, ls->options.recursive, visit, ls);
	}
	if (status == FSA_OK)
		status = flush_directory(ls);
	if (status != FSA_OK) {
		cli_error("%s: %s", ls->opened->argument, fsa_status_name(status));
		return CLI_FAILED;
	}
	return CLI_CONSISTENT;
}

static int list_all(const struct opened *opened, const struct ls_options *options, char **paths, int n)
{
	static char root_path[] = "/";
	char *root[] = { root_path };
	struct ls ls = { .opened = opened, .fs = opened->fs, .options = *options };
	int status = CLI_CONSISTENT;
	json_t *name;

	if (opened->fs->parser->readdir == NULL || opened->fs->parser->stat == NULL) {
		cli_error("%s: %s holds no tree of files", opened->argument, opened->summary.type);
		return CLI_FAILED;
	}
	if (n == 0) {
		paths = root;
		n = 1;
	}
	if (options->json) {
		name = json_object();
		if (name == NULL || json_set_bytes(name, "path", opened->argument, strlen(opened->argument)) != 0) {
			json_decref(name);
			return json_print(NULL, CLI_FAILED);
		}
		/* Entry by entry: a tree of millions need not be held in memory. */
		fputs("{\n  \"image\": ", stdout);
		json_dumpf(name, stdout, JSON_COMPACT);
		fputs(",\n  \"entries\": [", stdout);
		json_decref(name);
	}
	for (int i = 0; i < n; i++)
		status = cli_worse(status, list(&ls, paths[i], n > 1));
	if (options->json)
		printf("\n  ],\n  \"findings\": %" PRIu64 "\n}\n", findings_total(opened));
	free(ls.parent);
	free(ls.lines);
	free(ls.names);
	return status;
}

int cmd_ls(int argc, char **argv)
{
	struct open_options open = { .have_offset = false };
	struct ls_options options = { .json = false };
	struct opened opened;
	struct cli cli;
	int key, status;

	cli_begin(&cli, &spec, argc, argv);
	while ((key = cli_next(&cli)) > 0) {
		if (open_take_option(&open, &cli, key))
			continue;
		options.longer |= key == 'l' || key == LS_FULL_TIME;
		options.full_time |= key == LS_FULL_TIME;
		options.recursive |= key == 'R';
		options.inode |= key == 'i';
		options.directory |= key == 'd';
		options.unsorted |= key == 'U';
		options.null |= key == LS_NULL;
		options.json |= key == 'J';
	}
	if (cli.done)
		return cli.status;
	if (optind >= argc)
		return cli_usage_error(spec.command, "which image?");
	if (options.null && (options.longer || options.json))
		return cli_usage_error(spec.command, "--null goes with neither -l nor --json");
	status = open_argument(&opened, argv[optind], &open);
	if (status != CLI_CONSISTENT)
		return status;
	status = list_all(&opened, &options, argv + optind + 1, argc - optind - 1);
	status = cli_worse(status, findings_print(stderr, &opened, 0));
	open_close(&opened);
	return status;
}
