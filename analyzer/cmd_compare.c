/* SPDX-License-Identifier: GPL-2.0-only */
/* fsassay compare: several images side by side, one column each. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "findings.h"
#include "json.h"
#include "openlist.h"
#include "report.h"
#include "table.h"

enum { OPTION_FORMAT = CLI_OWN, OPTION_CLASSES, OPTION_CONTENT };

static const struct cli_option compare_options[] = {
	{ 'b', "bytes", NULL, "print sizes as exact numbers of bytes" },
	{ 'J', "json", NULL, "write JSON: the whole audit of each image, and the ranks" },
	{ 'n', "noheadings", NULL, "leave out the headings" },
	{ OPTION_CLASSES, "per-size-class", NULL, "show what a file of each class of sizes takes, too" },
	{ OPTION_CONTENT, "content", "HOW", "compare contents by manifest, digest, auto (default) or not: none" },
	{ OPTION_FORMAT, "format", "FORMAT", "of the tables: text (default), csv, markdown" },
	{ 'v', "verbose", NULL, "show rows in which every image has 0, and all findings" },
	{ 0, NULL, NULL, NULL },
};

static const struct cli_spec compare_spec = {
	.command = "compare",
	.usage = "[OPTIONS] IMAGE IMAGE...",
	.about = "Audits each IMAGE and puts the figures side by side, one column an image: what is used,\n"
		 "for what, how efficiently, and what packing of tails and inline data saves. Ranks are\n"
		 "by efficiency (payload / used) and by the share that packing saves; #1 is best. Whether\n"
		 "they hold the same is looked up in their manifests when all have one, else all files are read.",
	.tables = { compare_options, open_option_table, NULL },
};

struct compare_command {
	struct open_options open;
	struct compare_options print;
	bool json, classes;
	enum { CONTENT_AUTO, CONTENT_BY_MANIFEST, CONTENT_BY_DIGEST, CONTENT_NOT } how;
	bool differs;		/* said: contents or counts are not the same */
	struct compare_column *columns;
	unsigned n;
	json_t *images;
};

static void look_at_manifest(const struct compare_command *command, struct compare_column *column)
{
	const struct figures *f = &column->figures;

	if (command->how == CONTENT_AUTO || command->how == CONTENT_BY_MANIFEST)
		content_of_manifest(&column->content, column->argument,
				    f->groups[FIGURES_REGULAR].count + f->hard_links);
}

/* The trees are read when manifests do not do for all, unless their numbers tell already that they differ. */
static void read_trees(struct compare_command *command, int argc, char **argv)
{
	bool manifests = command->how != CONTENT_BY_DIGEST;
	struct openlist *list;
	struct opened opened;
	unsigned n = 0;
	int status;

	for (unsigned i = 0; i < command->n; i++)
		manifests = manifests && command->columns[i].content.source == CONTENT_MANIFEST;
	if (manifests || command->n < 2 || command->how == CONTENT_BY_MANIFEST || command->how == CONTENT_NOT ||
	    !compare_same_content(command->columns, command->n))
		return;
	for (unsigned i = 0; i < command->n; i++)
		command->columns[i].content = (struct content){ .source = CONTENT_NONE };
	/* In the same order as the first time; what could not be audited then has no column. */
	list = openlist_new(argv, (unsigned)argc, &command->open);
	while (list != NULL && openlist_next(list, &opened, &status)) {
		if (status != CLI_CONSISTENT)
			continue;
		if (n < command->n && strcmp(command->columns[n].argument, opened.argument) == 0)
			content_of_tree(&command->columns[n++].content, &opened);
		open_close(&opened);
	}
	openlist_free(list);
}

static void print_content(const struct compare_command *command)
{
	const struct compare_column *first = &command->columns[0];
	bool all = command->n > 1;

	for (unsigned i = 0; i < command->n; i++)
		all = all && command->columns[i].content.source == first->content.source;
	if (command->n < 2 || command->how == CONTENT_NOT)
		return;
	if (compare_equal_trees(command->columns, command->n))
		printf("\nAll hold the same, by %s: %" PRIu64 " names.\n",
		       first->content.source == CONTENT_MANIFEST ? "their manifests" : "reading every file",
		       first->content.objects);
	else if (all && first->content.source != CONTENT_NONE)
		puts("\nThese images do not hold the same: paths or contents differ.");
	else
		puts("\nWhether these images hold the same is not known.");
}

/* More than one device makes a column: said, because the arguments do not show it. */
static void say_joined(const struct opened *opened)
{
	for (unsigned i = 1; i < opened->fs->n_devices; i++)
		if (opened->fs->devices[i].role == FSA_ROLE_MAIN)
			cli_error("%s: %s is a device of the same %s: one column", opened->argument,
				  fsa_image_name(opened->fs->devices[i].image), opened->summary.type);
}

static int add_image(struct compare_command *command, struct opened *opened)
{
	struct assay assay;
	int status;

	say_joined(opened);
	status = assay_run(&assay, opened, false);
	if (assay.ledger != NULL) {
		compare_fill(&command->columns[command->n], &assay);
		look_at_manifest(command, &command->columns[command->n++]);
		if (command->json && json_array_append_new(command->images, report_json(&assay)) != 0)
			status = CLI_FAILED;
		/* Findings are not what one compares by, but figures of a damaged image need the warning. */
		if (!command->json)
			findings_print(stderr, opened, command->print.verbose ? 0 : 5);
		assay_free(&assay);
	}
	open_close(opened);
	return status;
}

static int print_text(const struct compare_command *command)
{
	if (command->n == 0)
		return CLI_CONSISTENT;
	if (!compare_print(command->columns, command->n, &command->print))
		return CLI_FAILED;
	if (command->classes) {
		if (command->print.format == GRID_TEXT)
			putchar('\n');
		if (!compare_print_classes(command->columns, command->n, &command->print))
			return CLI_FAILED;
	}
	if (command->print.format == GRID_CSV)
		return CLI_CONSISTENT;
	if (compare_same_content(command->columns, command->n))
		print_content(command);
	else
		puts("\nThese images do not hold the same: numbers of files or sums of sizes differ, and\n"
		     "efficiency depends on both.");
	return CLI_CONSISTENT;
}

/* How it was found out, and what: null where it was not. */
static json_t *content_json(const struct compare_command *command)
{
	const enum content_source source = command->n != 0 ? command->columns[0].content.source : CONTENT_NONE;
	json_t *digests = json_array();
	bool all = source != CONTENT_NONE;

	for (unsigned i = 0; i < command->n; i++) {
		const struct content *content = &command->columns[i].content;

		all = all && content->source == source;
		json_array_append_new(digests, content->source == CONTENT_NONE
						       ? json_null()
						       : json_sprintf("%016" PRIx64 "%016" PRIx64, content->sum[1],
								      content->sum[0]));
	}
	return json_pack("{s:s, s:o, s:o}", "by",
			 !all ? "none" : source == CONTENT_MANIFEST ? "manifest" : "digest", "same",
			 all ? json_boolean(compare_equal_trees(command->columns, command->n)) : json_null(), "digests",
			 digests);
}

static int print_json(const struct compare_command *command, int status)
{
	for (unsigned i = 0; i < command->n; i++) {
		const struct compare_column *column = &command->columns[i];
		json_t *packing = column->packing_rank != 0 ? json_integer((json_int_t)column->packing_rank)
							    : json_null();
		json_t *ranks = json_pack("{s:i, s:o, s:f}", "efficiency", (int)column->efficiency_rank, "packing",
					  packing, "packing_saved_share", compare_packing(column));

		if (json_object_set_new(json_array_get(command->images, i), "ranks", ranks) != 0)
			return json_print(NULL, status);
	}
	return json_print(json_pack("{s:O, s:b, s:o}", "images", command->images, "same_content",
				    compare_same_content(command->columns, command->n), "content",
				    content_json(command)), status);
}

static int compare(struct compare_command *command, int argc, char **argv)
{
	struct openlist *list = openlist_new(argv, (unsigned)argc, &command->open);
	int one, status = list != NULL ? CLI_CONSISTENT : CLI_FAILED;
	struct opened opened;

	while (list != NULL && openlist_next(list, &opened, &one))
		status = cli_worse(status, one == CLI_CONSISTENT ? add_image(command, &opened) : one);
	openlist_free(list);
	compare_rank(command->columns, command->n);
	read_trees(command, argc, argv);
	if (command->json)
		return print_json(command, status);
	return cli_worse(status, print_text(command));
}

static bool take_how(struct compare_command *command, const char *name)
{
	static const char *const names[] = { "auto", "manifest", "digest", "none" };

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(name, names[i]) == 0) {
			command->how = i;
			return true;
		}
	return false;
}

int cmd_compare(int argc, char **argv)
{
	struct compare_command command = { .json = false };
	int key, status;
	struct cli cli;

	cli_begin(&cli, &compare_spec, argc, argv);
	while ((key = cli_next(&cli)) > 0) {
		switch (key) {
		case 'b':
			command.print.bytes = true;
			break;
		case 'J':
			command.json = true;
			break;
		case OPTION_CLASSES:
			command.classes = true;
			break;
		case OPTION_CONTENT:
			if (!take_how(&command, cli.value))
				return cli_usage_error("compare", "'%s' is none of auto, manifest, digest, none", cli.value);
			break;
		case OPTION_FORMAT:
			if (!grid_take_format(&command.print.format, cli.value))
				return cli_usage_error("compare", "'%s' is no format: text, csv, markdown", cli.value);
			break;
		case 'n':
			command.print.no_headings = true;
			break;
		case 'v':
			command.print.verbose = true;
			break;
		default:
			open_take_option(&command.open, &cli, key);
		}
	}
	if (cli.done)
		return cli.status;
	if (argc - optind < 1)
		return cli_usage_error("compare", "no IMAGE given");
	if (command.print.format != GRID_TEXT && argc - optind >= GRID_COLUMNS)
		return cli_usage_error("compare", "that many images do not fit into a table of that format");
	command.columns = calloc((size_t)(argc - optind), sizeof(*command.columns));
	command.images = json_array();
	if (command.columns == NULL || command.images == NULL) {
		cli_error("out of memory");
		status = CLI_FAILED;
	} else {
		status = compare(&command, argc - optind, argv + optind);
	}
	free(command.columns);
	json_decref(command.images);
	return status;
}
