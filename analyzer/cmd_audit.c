/* SPDX-License-Identifier: GPL-2.0-only */
/* fsassay audit: the ledger, figures, df, reconciliation and findings of each image. */
#include <getopt.h>
#include <stdio.h>

#include "assay.h"
#include "json.h"
#include "openlist.h"
#include "report.h"

enum { AUDIT_VERIFY_DATA = CLI_OWN };

static const struct cli_option audit_options[] = {
	{ 'b', "bytes", NULL, "print sizes as exact numbers of bytes" },
	{ 'J', "json", NULL, "write JSON: all figures, all findings" },
	{ 'n', "noheadings", NULL, "leave out the headings of tables" },
	{ 'o', "output", "COLUMNS", "print only the ledger, with these columns" },
	{ 'v', "verbose", NULL, "show details of each purpose, each term of df, all findings" },
	{ AUDIT_VERIFY_DATA, "verify-data", NULL, "read all contents of files and compare them with their checksums" },
	{ 0, NULL, NULL, NULL },
};

static const struct cli_spec audit_spec = {
	.command = "audit",
	.usage = "[OPTIONS] IMAGE...",
	.about = "Says what every byte of each IMAGE is for, what comes of it, what df would show, and what\n"
		 "does not add up. IMAGE is a raw or compressed image, a block device, or a whole disk\n"
		 "(IMAGE@N picks partition N).",
	.tables = { audit_options, open_option_table, NULL },
	.notes = "Columns of --output: IMAGE, PURPOSE, DETAIL, BYTES, SHARE, CHARGED, HOLDS.",
};

struct audit_command {
	struct open_options open;
	struct report_options report;
	bool json, verify_data;
	json_t *images;
	unsigned printed;
};

static int report(struct audit_command *command, const struct assay *assay)
{
	if (command->json)
		return json_array_append_new(command->images, report_json(assay)) == 0 ? CLI_CONSISTENT
										       : CLI_FAILED;
	if (command->report.columns != NULL) {
		const int status = report_ledger(assay, &command->report);

		/* One table over all images, as far as a script is concerned. */
		command->report.no_headings = true;
		return status;
	}
	if (command->printed++ > 0)
		putchar('\n');
	return report_text(assay, &command->report);
}

static int audit(struct audit_command *command, struct opened *opened)
{
	struct assay assay;
	int status;

	if (command->verify_data && opened->fs->parser->verify == NULL)
		cli_error("%s: %s keeps no checksums of file contents: they were not compared", opened->argument,
			  opened->summary.type);
	status = assay_run(&assay, opened, command->verify_data);
	if (assay.ledger != NULL) {
		status = cli_worse(status, report(command, &assay));
		assay_free(&assay);
	}
	open_close(opened);
	return status;
}

int cmd_audit(int argc, char **argv)
{
	struct audit_command command = { .json = false };
	int key, one, status = CLI_CONSISTENT;
	struct openlist *list;
	struct opened opened;
	char unknown[64];
	struct cli cli;

	cli_begin(&cli, &audit_spec, argc, argv);
	while ((key = cli_next(&cli)) > 0) {
		switch (key) {
		case 'b':
			command.report.bytes = true;
			break;
		case 'J':
			command.json = true;
			break;
		case 'n':
			command.report.no_headings = true;
			break;
		case 'o':
			command.report.columns = cli.value;
			break;
		case 'v':
			command.report.verbose = true;
			break;
		case AUDIT_VERIFY_DATA:
			command.verify_data = true;
			break;
		default:
			open_take_option(&command.open, &cli, key);
		}
	}
	if (cli.done)
		return cli.status;
	if (optind == argc)
		return cli_usage_error("audit", "no IMAGE given");
	if (command.report.columns != NULL &&
	    !report_columns_valid(command.report.columns, unknown, sizeof(unknown)))
		return cli_usage_error("audit", "there is no column '%s'; there are %s", unknown, report_columns);
	if (command.json) {
		command.images = json_array();
		if (command.images == NULL)
			return json_print(NULL, status);
	}
	list = openlist_new(argv + optind, (unsigned)(argc - optind), &command.open);
	if (list == NULL)
		status = CLI_FAILED;
	while (list != NULL && openlist_next(list, &opened, &one))
		status = cli_worse(status, one == CLI_CONSISTENT ? audit(&command, &opened) : one);
	openlist_free(list);
	if (command.json)
		return json_print(json_pack("{s:o}", "images", command.images), status);
	return status;
}
