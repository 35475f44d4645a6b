/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "version.h"

const struct cli_option cli_common_options[] = {
	{ 'h', "help", NULL, "show this help" },
	{ 'V', "version", NULL, "show the version" },
	{ 0, NULL, NULL, NULL },
};

const struct cli_option cli_json_option[] = {
	{ 'J', "json", NULL, "write JSON" },
	{ 0, NULL, NULL, NULL },
};

const struct cli_option cli_bytes_option[] = {
	{ 'b', "bytes", NULL, "print sizes as exact numbers of bytes" },
	{ 0, NULL, NULL, NULL },
};

const struct cli_option cli_verbose_option[] = {
	{ 'v', "verbose", NULL, "show more details" },
	{ 0, NULL, NULL, NULL },
};

const struct cli_option cli_table_options[] = {
	{ 'o', "output", "COLUMNS", "print these columns, separated by commas" },
	{ 'n', "noheadings", NULL, "leave out the headings" },
	{ 0, NULL, NULL, NULL },
};

/* One option after another over all tables of a spec, the common ones last; NULL at the end. */
static const struct cli_option *option_at(const struct cli_spec *spec, unsigned index)
{
	for (unsigned t = 0; t <= CLI_MAX_TABLES; t++) {
		const struct cli_option *table = t < CLI_MAX_TABLES ? spec->tables[t] : NULL;
		const bool last = table == NULL;

		if (last)
			table = cli_common_options;
		for (; table->key != 0; table++)
			if (index-- == 0)
				return table;
		if (last)
			break;
	}
	return NULL;
}

static void print_help(const struct cli_spec *spec)
{
	const struct cli_option *option;
	size_t width = 0;

	for (unsigned i = 0; (option = option_at(spec, i)) != NULL; i++) {
		size_t w = strlen(option->name) + (option->argument ? strlen(option->argument) + 1 : 0);

		width = w > width ? w : width;
	}
	printf("Usage: fsassay %s %s\n\n%s\n\nOptions:\n", spec->command, spec->usage, spec->about);
	for (unsigned i = 0; (option = option_at(spec, i)) != NULL; i++) {
		char text[80];

		snprintf(text, sizeof(text), "%s%s%s", option->name, option->argument ? " " : "",
			 option->argument ? option->argument : "");
		if (option->key < 256)
			printf(" -%c, --%-*s  %s\n", option->key, (int)width, text, option->help);
		else
			printf("     --%-*s  %s\n", (int)width, text, option->help);
	}
	if (spec->notes != NULL)
		printf("\n%s\n", spec->notes);
	printf("\nExit status: 0 consistent, 1 analysed but with findings, 2 could not analyse, 3 usage.\n");
}

/* One line an option: long name, short letter or '-', argument or '-'. */
static void list_options(const struct cli_spec *spec)
{
	const struct cli_option *option;

	for (unsigned i = 0; (option = option_at(spec, i)) != NULL; i++)
		printf("--%s\t%s%c\t%s\n", option->name, option->key < 256 ? "-" : "",
		       option->key < 256 ? option->key : '-', option->argument ? option->argument : "-");
}

void cli_begin(struct cli *cli, const struct cli_spec *spec, int argc, char **argv)
{
	*cli = (struct cli){ .spec = spec, .argc = argc, .argv = argv };
	optind = 0;	/* glibc: start afresh, whatever was parsed before */
	opterr = 0;	/* the messages are ours */
}

static int finish(struct cli *cli, int status)
{
	cli->done = true;
	cli->status = status;
	return 0;
}

static int complain(struct cli *cli, int problem, const char *word)
{
	const char *command = cli->spec->command;
	const struct cli_option *option = NULL;

	if (problem == ':') {
		for (unsigned i = 0; (option = option_at(cli->spec, i)) != NULL; i++)
			if (option->key == optopt)
				break;
		return finish(cli, cli_usage_error(command, "--%s needs an argument: %s",
						   option ? option->name : word,
						   option ? option->argument : "VALUE"));
	}
	if (optopt > 0 && optopt < 256 && (word == NULL || strncmp(word, "--", 2) != 0))
		return finish(cli, cli_usage_error(command, "there is no option '-%c'", optopt));
	if (optopt != 0)
		return finish(cli, cli_usage_error(command, "'%s' takes no argument", word));
	return finish(cli, cli_usage_error(command, "there is no option '%s', or it is short for several",
					   word));
}

int cli_next(struct cli *cli)
{
	struct option longs[CLI_MAX_OPTIONS + 2];
	char shorts[2 * CLI_MAX_OPTIONS + 2];
	const struct cli_option *option;
	size_t n_shorts = 0;
	unsigned n = 0;
	int before, key;

	cli->value = NULL;
	if (cli->done)
		return 0;
	shorts[n_shorts++] = ':';	/* tell a missing argument from an unknown option */
	for (unsigned i = 0; (option = option_at(cli->spec, i)) != NULL && n < CLI_MAX_OPTIONS; i++) {
		longs[n++] = (struct option){ option->name, option->argument ? required_argument : no_argument,
					      NULL, option->key };
		if (option->key < 256) {
			shorts[n_shorts++] = (char)option->key;
			if (option->argument)
				shorts[n_shorts++] = ':';
		}
	}
	longs[n++] = (struct option){ "list-options", no_argument, NULL, CLI_LIST_OPTIONS };
	longs[n] = (struct option){ NULL, 0, NULL, 0 };
	shorts[n_shorts] = '\0';

	before = optind > 0 ? optind : 1;
	key = getopt_long(cli->argc, cli->argv, shorts, longs, NULL);
	switch (key) {
	case -1:
		return 0;
	case '?':
	case ':':
		/* getopt has moved on when the word was a whole option, and stays inside a cluster of letters */
		return complain(cli, key, cli->argv[optind > before ? optind - 1 : before]);
	case 'h':
		print_help(cli->spec);
		return finish(cli, CLI_CONSISTENT);
	case 'V':
		puts("fsassay " FSASSAY_VERSION);
		return finish(cli, CLI_CONSISTENT);
	case CLI_LIST_OPTIONS:
		list_options(cli->spec);
		return finish(cli, CLI_CONSISTENT);
	default:
		cli->value = optarg;
		return key;
	}
}

static void say(const char *fmt, va_list args)
{
	/* What was printed so far belongs in front of the complaint when both go to one place. */
	fflush(stdout);
	fputs("fsassay: ", stderr);
	vfprintf(stderr, fmt, args);
	fputc('\n', stderr);
}

void cli_error(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	say(fmt, args);
	va_end(args);
}

int cli_usage_error(const char *command, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	say(fmt, args);
	va_end(args);
	fprintf(stderr, "Try 'fsassay %s --help'.\n", command);
	return CLI_USAGE;
}

int cli_worse(int a, int b)
{
	return a > b ? a : b;
}

bool cli_parse_size(const char *text, uint64_t *bytes)
{
	static const char letters[] = "KMGTPE";
	uint64_t value, unit = 1;
	const char *letter;
	char *end;

	/* strtoull would take a sign and leading blanks */
	if (text[0] < '0' || text[0] > '9')
		return false;
	errno = 0;
	value = strtoumax(text, &end, text[0] == '0' && (text[1] == 'x' || text[1] == 'X') ? 16 : 10);
	if (errno != 0)
		return false;
	if (*end != '\0') {
		char upper = *end >= 'a' && *end <= 'z' ? (char)(*end - 'a' + 'A') : *end;
		uint64_t base = 1024;

		letter = strchr(letters, upper);
		if (letter == NULL)
			return false;
		end++;
		if (strcmp(end, "B") == 0)
			base = 1000;
		else if (*end != '\0' && strcmp(end, "iB") != 0)
			return false;
		for (long i = 0; i <= letter - letters; i++)
			unit *= base;
	}
	return !__builtin_mul_overflow(value, unit, bytes);
}

int cli_close_stdout(int status)
{
	bool failed = ferror(stdout) != 0;

	errno = 0;
	if (fclose(stdout) != 0)
		failed = true;
	if (!failed)
		return status;
	if (errno != 0)
		fprintf(stderr, "fsassay: standard output: %s\n", strerror(errno));
	else
		fprintf(stderr, "fsassay: standard output: not everything could be written\n");
	return CLI_FAILED;
}
