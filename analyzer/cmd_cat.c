/* SPDX-License-Identifier: GPL-2.0-only */
/* fsassay cat: contents of files in an image. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "findings.h"
#include "fsa/bytes.h"
#include "fsa/read.h"
#include "open.h"

enum { CAT_FROM = CLI_OWN, CAT_LENGTH };

static const struct cli_option own_options[] = {
	{ CAT_FROM, "from", "BYTES", "start at this offset in each file; K, M, G suffixes allowed" },
	{ CAT_LENGTH, "length", "BYTES", "write at most so many bytes of each file" },
	{ 0, NULL, NULL, NULL },
};

static const struct cli_spec spec = {
	.command = "cat",
	.usage = "[OPTIONS] IMAGE PATH...",
	.about = "Writes the contents of files in the image to standard output, one after the other. Holes are\n"
		 "written as zeros; so are bytes that cannot be read, which is told as a finding.",
	.tables = { own_options, open_option_table },
	.notes = "PATH may be '#N' or '<N>' for inode number N.",
};

struct cat {
	const struct opened *opened;
	uint64_t from, length;		/* of each file */
	/* The file being written: */
	uint64_t unreadable;
	int error;			/* errno of the output */
};

static bool write_all(struct cat *cat, const uint8_t *bytes, uint64_t length)
{
	while (length != 0) {
		const ssize_t n = write(STDOUT_FILENO, bytes, (size_t)fsa_min(length, 1u << 20));

		if (n < 0) {
			if (errno == EINTR)
				continue;
			cat->error = errno;
			return false;
		}
		bytes += n;
		length -= (uint64_t)n;
	}
	return true;
}

static bool write_zeros(struct cat *cat, uint64_t length)
{
	static const uint8_t zeros[65536];

	while (length != 0) {
		const uint64_t step = fsa_min(length, sizeof(zeros));

		if (!write_all(cat, zeros, step))
			return false;
		length -= step;
	}
	return true;
}

static enum fsa_status take(void *arg, const void *data, uint64_t length, bool unreadable)
{
	struct cat *cat = arg;

	if (unreadable)
		cat->unreadable += length;
	if (data != NULL ? write_all(cat, data, length) : write_zeros(cat, length))
		return FSA_OK;
	return FSA_ESYSTEM;
}

static int cat_file(struct cat *cat, const char *path)
{
	struct fsa_fs *fs = cat->opened->fs;
	struct fsa_error err = { .status = FSA_OK };
	enum fsa_status status;
	struct fsa_stat stat;
	struct fsa_ref ref;

	if (fsa_lookup(fs, path, &ref, &err) != FSA_OK) {
		cli_error("%s", err.message);
		return CLI_FAILED;
	}
	status = fs->parser->stat(fs, ref, &stat);
	if (status == FSA_OK && stat.type != FSA_TYPE_REGULAR) {
		cli_error("%s: %s: not a regular file", cat->opened->argument, path);
		return CLI_FAILED;
	}
	if (status == FSA_OK) {
		cat->unreadable = 0;
		status = fsa_file_read_part(fs, ref, stat.size, cat->from, cat->length, take, cat);
	}
	if (cat->error != 0) {
		cli_error("standard output: %s", strerror(cat->error));
		return CLI_FAILED;
	}
	if (status != FSA_OK) {
		cli_error("%s: %s: %s", cat->opened->argument, path, fsa_status_name(status));
		return CLI_FAILED;
	}
	if (cat->unreadable != 0)
		fsa_find(cat->opened->findings, "inode", stat.number, stat.offset,
			 "%" PRIu64 " of %" PRIu64 " bytes cannot be read: zeros are written in their place",
			 cat->unreadable, stat.size);
	return CLI_CONSISTENT;
}

static bool parse(struct cli *cli, const char *what, uint64_t *value)
{
	if (cli_parse_size(cli->value, value))
		return true;
	cli->done = true;
	cli->status = cli_usage_error(spec.command, "'%s' is no %s in bytes", cli->value, what);
	return false;
}

int cmd_cat(int argc, char **argv)
{
	struct open_options options = { .have_offset = false };
	struct cat cat = { .length = UINT64_MAX };
	struct opened opened;
	struct cli cli;
	int key, status;

	cli_begin(&cli, &spec, argc, argv);
	while ((key = cli_next(&cli)) > 0) {
		if (open_take_option(&options, &cli, key))
			continue;
		if (key == CAT_FROM)
			parse(&cli, "offset", &cat.from);
		else if (key == CAT_LENGTH)
			parse(&cli, "length", &cat.length);
	}
	if (cli.done)
		return cli.status;
	if (argc - optind < 2)
		return cli_usage_error(spec.command, optind == argc ? "which image?" : "which file in the image?");
	status = open_argument(&opened, argv[optind], &options);
	if (status != CLI_CONSISTENT)
		return status;
	cat.opened = &opened;
	if (opened.fs->parser->extents == NULL || opened.fs->parser->stat == NULL) {
		cli_error("%s: %s holds no files", opened.argument, opened.summary.type);
		status = CLI_FAILED;
	}
	for (int i = optind + 1; i < argc && status != CLI_FAILED; i++)
		status = cli_worse(status, cat_file(&cat, argv[i]));
	status = cli_worse(status, findings_print(stderr, &opened, 0));
	open_close(&opened);
	return status;
}
