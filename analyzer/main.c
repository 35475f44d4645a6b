/* SPDX-License-Identifier: GPL-2.0-only */
/* fsassay: says what every byte of a filesystem image is for. */
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "version.h"

/*
 * Commands are referred to weakly, so that the program links with any subset of the cmd_*.c files: a
 * build for one purpose (a fuzzer, a rescue system) leaves out what it does not need.
 */
#pragma weak cmd_audit
#pragma weak cmd_compare
#pragma weak cmd_ls
#pragma weak cmd_stat
#pragma weak cmd_cat
#pragma weak cmd_map
#pragma weak cmd_extract
#pragma weak cmd_readback
#pragma weak cmd_populate
#pragma weak cmd_trial

static const struct command commands[] = {
	{ "audit", cmd_audit, "say what every byte of an image is for" },
	{ "compare", cmd_compare, "put images side by side, one column each" },
	{ "ls", cmd_ls, "list a directory inside an image" },
	{ "stat", cmd_stat, "show one inode with its extents" },
	{ "cat", cmd_cat, "write a file's contents to standard output" },
	{ "map", cmd_map, "show the block map: offset, length, purpose, owner" },
	{ "extract", cmd_extract, "write the tree as a tar archive, or a dump" },
	{ "readback", cmd_readback, "time reading an image as dd, tar and dump would" },
	{ "populate", cmd_populate, "make an image and fill it" },
	{ "trial", cmd_trial, "many filesystems, beside the documented tables" },
};

static void print_usage(FILE *out)
{
	fputs("Usage: fsassay COMMAND [OPTIONS] IMAGE...\n"
	      "\n"
	      "Reads a filesystem image and says what every single byte of it is for.\n"
	      "No mount, no root, and never a write to the image.\n"
	      "\n"
	      "Commands:\n", out);
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (commands[i].run != NULL)
			fprintf(out, " %-10s %s\n", commands[i].name, commands[i].help);
	fputs("\n"
	      "Options:\n"
	      " -h, --help     show this help\n"
	      " -V, --version  show the version\n"
	      "\n"
	      "'fsassay COMMAND --help' shows the options of a command; fsassay(1) explains all of them.\n"
	      "\n"
	      "Exit status: 0 consistent, 1 analysed but with findings, 2 could not analyse, 3 usage.\n", out);
}

static void list_commands(void)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (commands[i].run != NULL)
			puts(commands[i].name);
}

static int run(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : NULL;

	if (name == NULL) {
		print_usage(stderr);
		return CLI_USAGE;
	}
	if (strcmp(name, "-h") == 0 || strcmp(name, "--help") == 0) {
		print_usage(stdout);
		return CLI_CONSISTENT;
	}
	if (strcmp(name, "-V") == 0 || strcmp(name, "--version") == 0) {
		puts("fsassay " FSASSAY_VERSION);
		return CLI_CONSISTENT;
	}
	/* For shell completion, which must not list what this build does not have. */
	if (strcmp(name, "--list-commands") == 0) {
		list_commands();
		return CLI_CONSISTENT;
	}
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (strcmp(name, commands[i].name) == 0) {
			if (commands[i].run == NULL)
				break;
			return commands[i].run(argc - 1, argv + 1);
		}
	cli_error(name[0] == '-' ? "there is no option '%s' in front of the command"
				 : "there is no command '%s'", name);
	fputs("Try 'fsassay --help'.\n", stderr);
	return CLI_USAGE;
}

int main(int argc, char **argv)
{
	/* Only the character set: numbers in reports keep their decimal point in every locale. */
	setlocale(LC_CTYPE, "");
	return cli_close_stdout(run(argc, argv));
}
