/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The command line: the table of commands, and options described once, from which parsing, --help and
 * the data for shell completion are all made.
 *
 * A command describes its options in tables of struct cli_option, names them in a struct cli_spec and
 * loops over cli_next():
 *
 *	cli_begin(&cli, &spec, argc, argv);
 *	while ((key = cli_next(&cli)) > 0)
 *		switch (key) { ... cli.value ... }
 *	if (cli.done)
 *		return cli.status;
 *	... operands are argv[optind] up to argv[argc - 1] ...
 */
#ifndef FSA_ANALYZER_CLI_H
#define FSA_ANALYZER_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Exit statuses of the program; where several images are given the worst one wins. */
enum cli_status {
	CLI_CONSISTENT = 0,	/* analysed, nothing to complain about */
	CLI_FINDINGS = 1,	/* analysed, with findings */
	CLI_FAILED = 2,		/* could not be analysed, or the output could not be written */
	CLI_USAGE = 3,		/* the command line makes no sense */
};

struct command {
	const char *name;
	int (*run)(int argc, char **argv);	/* argv[0] is the command's name; returns enum cli_status */
	const char *help;			/* one line */
};

int cmd_audit(int argc, char **argv);
int cmd_compare(int argc, char **argv);
int cmd_ls(int argc, char **argv);
int cmd_stat(int argc, char **argv);
int cmd_cat(int argc, char **argv);
int cmd_map(int argc, char **argv);
int cmd_extract(int argc, char **argv);
int cmd_readback(int argc, char **argv);
int cmd_populate(int argc, char **argv);
int cmd_trial(int argc, char **argv);

/* Keys of options without a short letter; a command's own start at CLI_OWN. */
enum {
	CLI_OFFSET = 256,
	CLI_JOURNAL_DEVICE,
	CLI_RT_DEVICE,
	CLI_DEVICE,
	CLI_SUBVOLUME,
	CLI_FORCE,
	CLI_LIST_OPTIONS,
	CLI_OWN = 512,
};

struct cli_option {
	int key;		/* the short letter, or a number from 256 up; 0 ends a table */
	const char *name;	/* long name, without the dashes */
	const char *argument;	/* what its argument is called ("FILE"), or NULL when it takes none */
	const char *help;	/* one line, no full stop */
};

/* -h and -V; cli_next() answers them itself. Every spec has them without naming them. */
extern const struct cli_option cli_common_options[];
/* Building blocks: name them in a spec's tables where a command has the option. */
extern const struct cli_option cli_json_option[];	/* 'J' */
extern const struct cli_option cli_bytes_option[];	/* 'b' */
extern const struct cli_option cli_verbose_option[];	/* 'v' */
extern const struct cli_option cli_table_options[];	/* 'o' columns, 'n' no headings */

#define CLI_MAX_TABLES 8

struct cli_spec {
	const char *command;
	const char *usage;				/* "[OPTIONS] IMAGE..." */
	const char *about;				/* a sentence or three for --help; newlines allowed */
	const struct cli_option *tables[CLI_MAX_TABLES];	/* in the order of --help; NULL-terminated */
	const char *notes;				/* printed behind the options; NULL for none */
};

#define CLI_MAX_OPTIONS 64

struct cli {
	const struct cli_spec *spec;
	int argc;
	char **argv;
	const char *value;	/* argument of the option just returned */
	bool done;		/* the command is to return `status` now */
	int status;
};

void cli_begin(struct cli *cli, const struct cli_spec *spec, int argc, char **argv);
/* The next option's key; 0 when there is none left or when cli->done. */
int cli_next(struct cli *cli);

/* "fsassay: ..." on stderr. */
void cli_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The same, followed by a pointer to --help; returns CLI_USAGE. */
int cli_usage_error(const char *command, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The worse of two exit statuses. */
int cli_worse(int a, int b);

/*
 * A size on the command line: a number with an optional suffix K, M, G, T, P, E (powers of 1024; KiB, MiB
 * and so on mean the same, KB, MB powers of 1000), decimal or 0x. False when it is none or does not fit.
 */
bool cli_parse_size(const char *text, uint64_t *bytes);

/* Flushes and closes stdout; a write that failed anywhere before turns `status` into CLI_FAILED. */
int cli_close_stdout(int status);

#endif
