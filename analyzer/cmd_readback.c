/* SPDX-License-Identifier: GPL-2.0-only */
/* fsassay readback: how fast an image can be read, and the proof that it was read. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "findings.h"
#include "json.h"
#include "openlist.h"
#include "open.h"
#include "outfile.h"
#include "readback.h"
#include "readback_report.h"

#define MOST_BLOCK (1u << 30)
#define MOST_RUNS 1000u

enum {
	OPTION_DD = CLI_OWN,
	OPTION_TAR,
	OPTION_DUMP,
	OPTION_ORDER,
	OPTION_BS,
	OPTION_COUNT,
	OPTION_USED,
	OPTION_COLD,
	OPTION_RUNS,
};

static const struct cli_option own_options[] = {
	{ OPTION_DD, "dd", NULL, "read the image from start to end" },
	{ OPTION_TAR, "tar", NULL, "read every file, as a pax archive of the tree" },
	{ OPTION_DUMP, "dump", NULL, "read every inode, as a dump(8) stream" },
	{ OPTION_ORDER, "order", "ORDER", "of reading for tar and dump: directory, inode, or physical (default)" },
	{ OPTION_BS, "bs", "SIZE", "bytes in one read of dd (default 1M)" },
	{ OPTION_COUNT, "count", "N", "read only so many blocks with dd" },
	{ OPTION_USED, "used", NULL, "read with dd only what the allocation map says is in use" },
	{ OPTION_COLD, "cold", NULL, "drop the image's pages from the cache before each run" },
	{ OPTION_RUNS, "runs", "N", "make N runs of each pass; shows the shortest, the median and the longest" },
	{ 'n', "noheadings", NULL, "leave out the headings" },
	{ 0, NULL, NULL, NULL },
};

static const struct cli_spec spec = {
	.command = "readback",
	.usage = "[OPTIONS] IMAGE...",
	.about = "Times passes over each IMAGE: all of its bytes, a tar of its tree, a dump of it. All three when none\n"
		 "is named. What a pass has read it proves by a digest: that of 'fsassay extract' and 'fsassay extract\n"
		 "--dump' for tar and dump, whatever the order of reading.",
	.tables = { own_options, cli_bytes_option, cli_json_option, open_option_table },
	.notes = "READS, MEAN and BACKWARD are of the contents of files: reads, their mean size, and how many started\n"
		 "before the end of the one before. METADATA: reads of the filesystem's own structures.",
};

struct readback_command {
	struct readback_options options;
	struct open_options open;
	bool bytes, json, no_headings;
	json_t *images;
	unsigned printed;
};

static int report(struct readback_command *command, const struct opened *opened, const struct readback_result *results,
		  unsigned n)
{
	if (command->json)
		return json_array_append_new(command->images,
					     readback_report_json(opened, results, n, &command->options)) == 0
			       ? CLI_CONSISTENT
			       : CLI_FAILED;
	if (command->printed++ > 0 && !command->no_headings)
		putchar('\n');
	return readback_report_text(opened, results, n, &command->options, command->bytes, command->no_headings);
}

static bool has_tree(const struct opened *opened)
{
	const struct fsa_parser *parser = opened->fs->parser;

	return parser->root != NULL && parser->stat != NULL && parser->readdir != NULL;
}

static int run_image(struct readback_command *command, struct opened *opened)
{
	struct readback_result results[READBACK_PASSES];
	unsigned n = 0;
	int status = CLI_CONSISTENT;

	for (unsigned pass = 0; pass < READBACK_PASSES && opened->fs != NULL && !outfile_stopped(NULL); pass++) {
		if (!command->options.passes[pass])
			continue;
		if (pass != READBACK_DD && !has_tree(opened)) {
			cli_error("%s: %s holds no tree of files: no %s", opened->argument, opened->summary.type,
				  readback_pass_name((enum readback_pass)pass));
			status = CLI_FAILED;
			continue;
		}
		status = cli_worse(status, readback_run_pass(&results[n++], opened, (enum readback_pass)pass,
							     &command->options));
	}
	status = cli_worse(status, report(command, opened, results, n));
	if (opened->fs != NULL)
		status = cli_worse(status, findings_print(stderr, opened, 0));
	for (unsigned i = 0; i < n; i++)
		readback_free(&results[i]);
	open_close(opened);
	return status;
}

static int run_images(struct readback_command *command, char **arguments, int n)
{
	struct openlist *list = openlist_new(arguments, (unsigned)n, &command->open);
	int one, status = CLI_CONSISTENT;
	struct opened opened;
	struct outfile out;

	if (list == NULL)
		return CLI_FAILED;
	if (command->json) {
		command->images = json_array();
		if (command->images == NULL) {
			openlist_free(list);
			return json_print(NULL, status);
		}
	}
	/* From here on a signal ends the pass that is under way, and the figures so far are shown. */
	outfile_begin_stdout(&out);
	while (!outfile_stopped(NULL) && openlist_next(list, &opened, &one))
		status = cli_worse(status, one == CLI_CONSISTENT ? run_image(command, &opened) : one);
	if (command->json)
		status = json_print(json_pack("{s:o}", "images", command->images), status);
	fflush(stdout);
	outfile_end(&out, true);
	openlist_free(list);
	return status;
}

/* NULL, or what is wrong with the option's argument. */
static const char *take_option(struct readback_command *command, int key, const char *value)
{
	struct readback_options *o = &command->options;
	uint64_t number;

	switch (key) {
	case OPTION_DD:
	case OPTION_TAR:
	case OPTION_DUMP:
		o->passes[key - OPTION_DD] = true;
		return NULL;
	case OPTION_ORDER:
		return window_find_order(value, &o->order) ? NULL : "is no order: directory, inode, physical";
	case OPTION_BS:
		if (!cli_parse_size(value, &number) || number == 0 || number > MOST_BLOCK)
			return "is no size of a block: from 1 to 1G";
		o->block_size = (size_t)number;
		return NULL;
	case OPTION_COUNT:
		o->have_count = true;
		return cli_parse_size(value, &o->count) ? NULL : "is no number of blocks";
	case OPTION_USED:
		o->used = true;
		return NULL;
	case OPTION_COLD:
		o->cold = true;
		return NULL;
	case OPTION_RUNS:
		if (!cli_parse_size(value, &number) || number == 0 || number > MOST_RUNS)
			return "is no number of runs: from 1 to 1000";
		o->runs = (unsigned)number;
		return NULL;
	case 'b':
		command->bytes = true;
		return NULL;
	case 'J':
		command->json = true;
		return NULL;
	default:
		command->no_headings = true;
		return NULL;
	}
}

int cmd_readback(int argc, char **argv)
{
	struct readback_command command = {
		.options = { .order = WINDOW_PHYSICAL, .block_size = 1u << 20, .runs = 1 },
	};
	struct readback_options *o = &command.options;
	struct cli cli;
	int key;

	cli_begin(&cli, &spec, argc, argv);
	while ((key = cli_next(&cli)) > 0) {
		const char *wrong;

		if (open_take_option(&command.open, &cli, key))
			continue;
		wrong = take_option(&command, key, cli.value);
		if (wrong != NULL)
			return cli_usage_error(spec.command, "'%s' %s", cli.value, wrong);
	}
	if (cli.done)
		return cli.status;
	if (optind == argc)
		return cli_usage_error(spec.command, "which image?");
	if (!o->passes[READBACK_DD] && !o->passes[READBACK_TAR] && !o->passes[READBACK_DUMP])
		o->passes[READBACK_DD] = o->passes[READBACK_TAR] = o->passes[READBACK_DUMP] = true;
	if (!o->passes[READBACK_DD] && (o->used || o->have_count))
		return cli_usage_error(spec.command, "--used and --count are for the dd pass, which is not asked for");
	return run_images(&command, argv + optind, argc - optind);
}
