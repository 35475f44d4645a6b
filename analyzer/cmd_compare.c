/* SPDX-License-Identifier: GPL-2.0-only */
/* fsassay compare: several images side by side, one column each. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "compare.h"
#include "findings.h"
#include "json.h"
#include "openlist.h"
#include "report.h"
#include "table.h"

static const struct cli_option compare_options[] = {
	{ 'b', "bytes", NULL, "print sizes as exact numbers of bytes" },
	{ 'J', "json", NULL, "write JSON: the whole audit of each image, and the ranks" },
	{ 'n', "noheadings", NULL, "leave out the headings" },
	{ 'v', "verbose", NULL, "show rows in which every image has 0, and all findings" },
	{ 0, NULL, NULL, NULL },
};

static const struct cli_spec compare_spec = {
	.command = "compare",
	.usage = "[OPTIONS] IMAGE IMAGE...",
	.about = "Audits each IMAGE and puts the figures side by side, one column an image: what is used,\n"
		 "for what, how efficiently, and what packing of tails and inline data saves. Ranks are\n"
		 "by efficiency (payload / used) and by the share that packing saves; #1 is best.",
	.tables = { compare_options, open_option_table, NULL },
};

struct compare_command {
	struct open_options open;
	struct compare_options print;
	bool json;
	struct compare_column *columns;
	unsigned n;
	json_t *images;
};

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
		compare_fill(&command->columns[command->n++], &assay);
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
	if (!compare_same_content(command->columns, command->n))
		puts("\nThese images do not hold the same: numbers of files or sums of sizes differ, and\n"
		     "efficiency depends on both.");
	return CLI_CONSISTENT;
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
	return json_print(json_pack("{s:O, s:b}", "images", command->images, "same_content",
				    compare_same_content(command->columns, command->n)), status);
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
	if (command->json)
		return print_json(command, status);
	return cli_worse(status, print_text(command));
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
