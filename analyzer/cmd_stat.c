/* SPDX-License-Identifier: GPL-2.0-only */
/* fsassay stat: all about an inode: fields, extents, purposes of its bytes, extended attributes. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "acl.h"
#include "cli.h"
#include "escape.h"
#include "findings.h"
#include "inodetext.h"
#include "inspect.h"
#include "statjson.h"
#include "table.h"

enum { STAT_QUICK = CLI_OWN };

static const struct cli_option own_options[] = {
	{ STAT_QUICK, "quick", NULL, "leave out the purposes: they take a walk over the whole image" },
	{ 0, NULL, NULL, NULL },
};

static const struct cli_spec spec = {
	.command = "stat",
	.usage = "[OPTIONS] IMAGE PATH...",
	.about = "Shows all there is about the inode at each PATH: its fields, where its bytes are, what the bytes\n"
		 "that belong to it are for, its extended attributes, and what only its format knows.",
	.tables = { own_options, cli_json_option, open_option_table },
	.notes = "PATH may be '#N' or '<N>' for inode number N.",
};

/* --- as text ------------------------------------------------------------------------------------- */

static void line(const char *name, const char *value)
{
	printf("%-12s %s\n", name, value);
}

static void line_bytes(const char *name, const char *bytes, size_t length)
{
	printf("%-12s ", name);
	escape_print(stdout, bytes, length);
	putchar('\n');
}

static void line_number(const char *name, uint64_t value)
{
	printf("%-12s %" PRIu64 "\n", name, value);
}

static void line_time(const char *name, const struct fsa_time *time)
{
	if (time->set)
		line(name, inodetext_time(time, true).text);
}

static const struct { unsigned flag; const char *name; } flag_names[] = {
	{ FSA_OBJECT_INTERNAL, "internal" },
	{ FSA_OBJECT_UNREFERENCED, "unreferenced" },
	{ FSA_OBJECT_INLINE, "inline" },
	{ FSA_OBJECT_COMPRESSED, "compressed" },
	{ FSA_OBJECT_ENCRYPTED, "encrypted" },
};
#define N_FLAGS (sizeof(flag_names) / sizeof(flag_names[0]))

static void print_fields(const struct inspect *o)
{
	const struct fsa_stat *stat = &o->stat;

	if (o->path != NULL)
		line_bytes("path", o->path, strlen(o->path));
	else
		line("path", "(no directory names it)");
	line_number("inode", stat->number);
	line("type", inodetext_type(stat->type));
	if (o->target != NULL)
		line_bytes("target", o->target, o->target_length);
	printf("%-12s %s (%04" PRIo32 ")\n", "mode", inodetext_mode(stat->type, stat->mode).text,
	       stat->mode & 07777);
	line_number("uid", stat->uid);
	line_number("gid", stat->gid);
	line_number("links", stat->links);
	line_number("size", stat->size);
	printf("%-12s %" PRIu64 " (%" PRIu64 " bytes)\n", "st_blocks", stat->st_blocks, stat->st_blocks * 512);
	if (stat->type == FSA_TYPE_CHARDEV || stat->type == FSA_TYPE_BLOCKDEV)
		printf("%-12s %" PRIu32 ", %" PRIu32 "\n", "device", stat->rdev_major, stat->rdev_minor);
	line_time("modified", &stat->mtime);
	line_time("accessed", &stat->atime);
	line_time("changed", &stat->ctime);
	line_time("born", &stat->btime);
	line_number("generation", stat->generation);
	line_number("project", stat->project);
	if (stat->flag_names[0] != '\0')
		line("flags", stat->flag_names);
	for (size_t i = 0; i < N_FLAGS; i++)
		if (stat->flags & flag_names[i].flag)
			line("is", flag_names[i].name);
	if (stat->offset != FSA_NO_OFFSET)
		printf("%-12s 0x%" PRIx64 "\n", "lies at", stat->offset);
	for (size_t i = 0; i < o->n_lines; i++)
		line_bytes(o->lines[i].name, o->lines[i].value, strlen(o->lines[i].value));
}

static void print_xattr(const struct inspect_xattr *xattr)
{
	const bool acl = strncmp(xattr->name, "system.posix_acl_", 17) == 0;
	const char *why = NULL;
	char *text = acl ? acl_text(xattr->value, xattr->length, &why) : NULL;

	fputs("  ", stdout);
	escape_print(stdout, xattr->name, strlen(xattr->name));
	if (text != NULL) {
		printf(" = %s\n", text);
	} else {
		fputs(" = \"", stdout);
		escape_print(stdout, (const char *)xattr->value, xattr->length);
		puts("\"");
	}
	free(text);
}

static bool print_extents(const struct inspect *o)
{
	static const struct table_column columns[] = {
		{ "KIND", TABLE_LEFT }, { "LOGICAL", TABLE_RIGHT }, { "LENGTH", TABLE_RIGHT },
		{ "DEVICE", TABLE_RIGHT }, { "PHYSICAL", TABLE_RIGHT }, { "ENCODING", TABLE_LEFT },
	};
	struct table table;
	char text[64];

	if (o->n_extents == 0)
		return true;
	puts("\nextents");
	table_begin(&table, columns, sizeof(columns) / sizeof(columns[0]), true);
	for (size_t i = 0; i < o->n_extents; i++) {
		const struct fsa_extent *e = &o->extents[i];

		table_row(&table);
		table_cell(&table, inodetext_extent_kind(e->kind));
		snprintf(text, sizeof(text), "%" PRIu64, e->logical);
		table_cell(&table, text);
		snprintf(text, sizeof(text), "%" PRIu64, e->length);
		table_cell(&table, text);
		if (e->physical == FSA_NO_OFFSET || e->kind == FSA_EXTENT_HOLE) {
			table_cell(&table, "");
			table_cell(&table, "");
		} else {
			snprintf(text, sizeof(text), "%u", e->device);
			table_cell(&table, text);
			snprintf(text, sizeof(text), "0x%" PRIx64, e->physical);
			table_cell(&table, text);
		}
		if (e->kind == FSA_EXTENT_ENCODED)
			snprintf(text, sizeof(text), "%s, %" PRIu64 " bytes", e->encoding ? e->encoding : "?",
				 e->encoded_length);
		table_cell(&table, e->kind == FSA_EXTENT_ENCODED ? text : "");
	}
	return table_print(&table);
}

static bool print_purposes(const struct inspect *o)
{
	static const struct table_column columns[] = {
		{ "PURPOSE", TABLE_LEFT }, { "DETAIL", TABLE_LEFT }, { "BYTES", TABLE_RIGHT },
	};
	const struct fsa_parser *parser = o->opened->fs->parser;
	struct table table;
	char text[32];

	if (!o->have_purposes)
		return true;
	puts("\npurposes");
	table_begin(&table, columns, sizeof(columns) / sizeof(columns[0]), true);
	for (unsigned i = 0; i < parser->n_details && i < FSA_MAX_DETAILS; i++) {
		if (o->detail_bytes[i] == 0)
			continue;
		table_row(&table);
		table_cell(&table, fsa_purpose_name(parser->details[i].purpose));
		table_cell(&table, parser->details[i].name);
		snprintf(text, sizeof(text), "%" PRIu64, o->detail_bytes[i]);
		table_cell(&table, text);
	}
	return table_print(&table);
}

static int print_text(const struct inspect *o)
{
	print_fields(o);
	if (o->n_xattrs != 0)
		puts("\nextended attributes");
	for (size_t i = 0; i < o->n_xattrs; i++)
		print_xattr(&o->xattrs[i]);
	return print_extents(o) && print_purposes(o) ? CLI_CONSISTENT : CLI_FAILED;
}

/* --- as JSON ------------------------------------------------------------------------------------- */

/* What could not be made is NULL here: jansson refuses to append it and says so. */
static json_t *or_drop(json_t *object, int bad)
{
	if (!bad)
		return object;
	json_decref(object);
	return NULL;
}

static json_t *extent_json(const struct fsa_extent *e)
{
	json_t *object = json_pack("{s:s, s:o, s:o}", "kind", inodetext_extent_kind(e->kind), "logical",
				   json_unsigned(e->logical), "length", json_unsigned(e->length));
	int bad = object == NULL;

	if (!bad && e->physical != FSA_NO_OFFSET && e->kind != FSA_EXTENT_HOLE) {
		bad |= json_object_set_new(object, "device", json_unsigned(e->device));
		bad |= json_object_set_new(object, "physical", json_unsigned(e->physical));
	}
	if (!bad && e->kind == FSA_EXTENT_ENCODED) {
		bad |= json_object_set_new(object, "encoding", json_string(e->encoding ? e->encoding : "?"));
		bad |= json_object_set_new(object, "encoded_length", json_unsigned(e->encoded_length));
		bad |= json_object_set_new(object, "decoded_length", json_unsigned(e->decoded_length));
		bad |= json_object_set_new(object, "decoded_offset", json_unsigned(e->decoded_offset));
	}
	return or_drop(object, bad);
}

static json_t *xattr_json(const struct inspect_xattr *xattr)
{
	json_t *object = json_object();
	int bad = object == NULL;

	bad = bad || json_set_bytes(object, "name", xattr->name, strlen(xattr->name)) != 0 ||
	      json_set_bytes(object, "value", (const char *)xattr->value, xattr->length) != 0;
	return or_drop(object, bad);
}

static json_t *purposes_json(const struct inspect *o)
{
	const struct fsa_parser *parser = o->opened->fs->parser;
	json_t *array = json_array();
	int bad = array == NULL;

	for (unsigned i = 0; i < parser->n_details && i < FSA_MAX_DETAILS && !bad; i++)
		if (o->detail_bytes[i] != 0)
			bad = json_array_append_new(array,
				json_pack("{s:s, s:s, s:o}", "purpose",
					  fsa_purpose_name(parser->details[i].purpose), "detail",
					  parser->details[i].name, "bytes", json_unsigned(o->detail_bytes[i])));
	return or_drop(array, bad);
}

static json_t *lists_json(const struct inspect *o, json_t *object)
{
	json_t *extents = json_array(), *xattrs = json_array(), *lines = json_array(), *flags = json_array();
	int bad = extents == NULL || xattrs == NULL || lines == NULL || flags == NULL;

	for (size_t i = 0; i < o->n_extents && !bad; i++)
		bad = json_array_append_new(extents, extent_json(&o->extents[i]));
	for (size_t i = 0; i < o->n_xattrs && !bad; i++)
		bad = json_array_append_new(xattrs, xattr_json(&o->xattrs[i]));
	for (size_t i = 0; i < N_FLAGS && !bad; i++)
		if (o->stat.flags & flag_names[i].flag)
			bad = json_array_append_new(flags, json_string(flag_names[i].name));
	for (size_t i = 0; i < o->n_lines && !bad; i++) {
		json_t *one = json_object();

		bad = one == NULL ||
		      json_set_bytes(one, "name", o->lines[i].name, strlen(o->lines[i].name)) != 0 ||
		      json_set_bytes(one, "value", o->lines[i].value, strlen(o->lines[i].value)) != 0 ||
		      json_array_append(lines, one) != 0;
		json_decref(one);
	}
	bad = bad || json_object_set(object, "is", flags) != 0 ||
	      json_object_set(object, "extents", extents) != 0 ||
	      json_object_set(object, "xattrs", xattrs) != 0 || json_object_set(object, "describe", lines) != 0;
	json_decref(extents);
	json_decref(xattrs);
	json_decref(lines);
	json_decref(flags);
	return or_drop(object, bad);
}

static json_t *inspect_json(const struct inspect *o)
{
	json_t *object = json_object();
	int bad = object == NULL;

	if (!bad && o->path != NULL)
		bad |= json_set_bytes(object, "path", o->path, strlen(o->path));
	if (!bad)
		bad |= statjson_set(object, &o->stat);
	if (!bad && o->target != NULL)
		bad |= json_set_bytes(object, "target", o->target, o->target_length);
	if (!bad) {
		bad |= json_object_set_new(object, "generation", json_unsigned(o->stat.generation));
		bad |= json_object_set_new(object, "project", json_unsigned(o->stat.project));
		bad |= json_set_bytes(object, "flags", o->stat.flag_names, strlen(o->stat.flag_names));
	}
	if (!bad && o->stat.offset != FSA_NO_OFFSET)
		bad |= json_object_set_new(object, "offset", json_unsigned(o->stat.offset));
	if (!bad && o->have_purposes)
		bad |= json_object_set_new(object, "purposes", purposes_json(o));
	object = or_drop(object, bad);
	return object != NULL ? lists_json(o, object) : NULL;
}

static int print_json(const struct opened *opened, const struct inspect *inspects, size_t n)
{
	json_t *document = json_object(), *objects = json_array();
	int bad = document == NULL || objects == NULL;

	for (size_t i = 0; i < n && !bad; i++)
		bad = json_array_append_new(objects, inspect_json(&inspects[i]));
	bad = bad || json_set_bytes(document, "image", opened->argument, strlen(opened->argument)) != 0 ||
	      json_object_set(document, "objects", objects) != 0 ||
	      json_object_set_new(document, "findings", json_unsigned(findings_total(opened))) != 0;
	json_decref(objects);
	document = or_drop(document, bad);
	return json_print(document, document != NULL ? CLI_CONSISTENT : CLI_FAILED);
}

/* ------------------------------------------------------------------------------------------------- */

static int show(const struct opened *opened, char **paths, size_t n_paths, bool json, bool quick)
{
	struct inspect *inspects = calloc(n_paths, sizeof(*inspects));
	int status = CLI_CONSISTENT;
	size_t n = 0;

	if (inspects == NULL) {
		cli_error("out of memory");
		return CLI_FAILED;
	}
	for (size_t i = 0; i < n_paths; i++) {
		const int one = inspect_path(&inspects[n], opened, paths[i]);

		status = cli_worse(status, one);
		n += one == CLI_CONSISTENT;
	}
	if (n != 0 && !quick && !inspect_purposes(inspects, n))
		status = CLI_FAILED;
	for (size_t i = 0; i < n && !json; i++) {
		if (i != 0)
			putchar('\n');
		status = cli_worse(status, print_text(&inspects[i]));
	}
	if (json)
		status = cli_worse(status, print_json(opened, inspects, n));
	for (size_t i = 0; i < n; i++)
		inspect_free(&inspects[i]);
	free(inspects);
	return status;
}

int cmd_stat(int argc, char **argv)
{
	struct open_options options = { .have_offset = false };
	bool json = false, quick = false;
	struct opened opened;
	struct cli cli;
	int key, status;

	cli_begin(&cli, &spec, argc, argv);
	while ((key = cli_next(&cli)) > 0) {
		if (open_take_option(&options, &cli, key))
			continue;
		json |= key == 'J';
		quick |= key == STAT_QUICK;
	}
	if (cli.done)
		return cli.status;
	if (argc - optind < 2)
		return cli_usage_error(spec.command, optind == argc ? "which image?" : "which file in the image?");
	status = open_argument(&opened, argv[optind], &options);
	if (status != CLI_CONSISTENT)
		return status;
	if (opened.fs->parser->stat == NULL) {
		cli_error("%s: %s holds no inodes", opened.argument, opened.summary.type);
		status = CLI_FAILED;
	} else {
		status = show(&opened, argv + optind + 1, (size_t)(argc - optind - 1), json, quick);
	}
	status = cli_worse(status, findings_print(stderr, &opened, 0));
	open_close(&opened);
	return status;
}
