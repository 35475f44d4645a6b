/* SPDX-License-Identifier: GPL-2.0-only */
/* fsassay trial: experiments with many filesystems, made again and put beside the documented figures. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "trial_report.h"
#include "trial_result.h"
#include "trial_run.h"

enum {
	OPTION_RESULT = CLI_OWN,
	OPTION_IMAGES,
	OPTION_KEEP,
	OPTION_ONLY,
	OPTION_RESTART,
	OPTION_REPORT,
	OPTION_FORMAT,
};

static const struct cli_option own_options[] = {
	{ OPTION_RESULT, "result", "FILE", "where the result goes (default: name of PLAN with .result.json, here)" },
	{ OPTION_IMAGES, "images", "DIR", "folder for the images (default: a temporary one)" },
	{ OPTION_KEEP, "keep", NULL, "keep the images, as they were filled; needs --images" },
	{ OPTION_ONLY, "only", "PATTERN", "only those whose name (FILESYSTEM/COLLECTION) matches" },
	{ OPTION_RESTART, "restart", NULL, "begin again where FILE is of another plan or has been done" },
	{ OPTION_REPORT, "report", "FILE", "run nothing: print the tables of this result" },
	{ OPTION_FORMAT, "format", "FORMAT", "of the tables: text (default), csv, markdown" },
	{ 0, NULL, NULL, NULL },
};

static const struct cli_spec spec = {
	.command = "trial",
	.usage = "[OPTIONS] PLAN | --report FILE",
	.about = "Runs the experiments of PLAN: each filesystem is made, filled with each collection, audited, read\n"
		 "back, emptied and audited again; then prints the tables, beside the documented ones where PLAN\n"
		 "names some. The result holds what is done: a trial that was stopped goes on from there.",
	.tables = { own_options },
	.notes = "samples/trials has plans; 'TRIAL PLANS' in fsassay(1) describes them.",
};

struct trial_command {
	struct trial_run_options run;
	const char *report;
	enum grid_format format;
	bool restart;
};

/* "folder/quick.plan" has its result in "quick.result.json". */
static char *default_result(const char *plan)
{
	const char *slash = strrchr(plan, '/'), *base = slash != NULL ? slash + 1 : plan;
	const char *dot = strrchr(base, '.');
	char *name;

	if (asprintf(&name, "%.*s.result.json", (int)(dot != NULL && dot != base ? dot - base : (long)strlen(base)),
		     base) < 0)
		return NULL;
	return name;
}

static int report(const struct trial_command *command, const char *path)
{
	bool missing;
	json_t *result = trial_result_load(path, &missing);
	int status = CLI_FAILED;

	if (missing)
		cli_error("%s: there is no such file", path);
	if (result != NULL)
		status = trial_report(result, command->format) ? CLI_CONSISTENT : CLI_FAILED;
	json_decref(result);
	return status;
}

/* The result to go on with: what is in the file, or a new one. NULL with the reason printed. */
static json_t *take_up(const struct trial_command *command, const struct trial_plan *plan)
{
	bool missing = true;
	json_t *result = command->restart ? NULL : trial_result_load(command->run.result, &missing);

	if (result == NULL)
		return missing ? trial_result_new(plan) : NULL;
	if (trial_result_is_of(result, plan))
		return result;
	cli_error("%s: is the result of another plan, or of another version of this one; --restart begins again",
		  command->run.result);
	json_decref(result);
	return NULL;
}

static int run(struct trial_command *command, const char *path)
{
	struct trial_plan plan;
	char *name = NULL;
	json_t *result = NULL;
	int status = CLI_FAILED;

	if (command->run.result == NULL)
		command->run.result = name = default_result(path);
	if (trial_plan_read(&plan, path) && command->run.result != NULL)
		result = take_up(command, &plan);
	if (result != NULL) {
		status = trial_run(&plan, result, &command->run);
		if (!trial_report(result, command->format))
			status = CLI_FAILED;
	}
	json_decref(result);
	trial_plan_free(&plan);
	free(name);
	return status;
}

int cmd_trial(int argc, char **argv)
{
	struct trial_command command = { .format = GRID_TEXT };
	struct cli cli;
	int key;

	cli_begin(&cli, &spec, argc, argv);
	while ((key = cli_next(&cli)) > 0) {
		switch (key) {
		case OPTION_RESULT:
			command.run.result = cli.value;
			break;
		case OPTION_IMAGES:
			command.run.images = cli.value;
			break;
		case OPTION_KEEP:
			command.run.keep = true;
			break;
		case OPTION_ONLY:
			command.run.only = cli.value;
			break;
		case OPTION_RESTART:
			command.restart = true;
			break;
		case OPTION_REPORT:
			command.report = cli.value;
			break;
		default:
			if (!grid_take_format(&command.format, cli.value))
				return cli_usage_error(spec.command, "'%s' is no format: text, csv, markdown", cli.value);
		}
	}
	if (cli.done)
		return cli.status;
	if (command.report != NULL)
		return optind == argc ? report(&command, command.report)
				      : cli_usage_error(spec.command, "--report needs no PLAN");
	if (optind + 1 != argc)
		return cli_usage_error(spec.command, "one PLAN is needed");
	if (command.run.keep && command.run.images == NULL)
		return cli_usage_error(spec.command, "--keep needs --images, the folder to keep them in");
	return run(&command, argv[optind]);
}
