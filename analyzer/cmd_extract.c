/* SPDX-License-Identifier: GPL-2.0-only */
/* fsassay extract: the tree in an image as a tar archive, or all of it as a dump. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "dump.h"
#include "extract.h"
#include "extract_tree.h"
#include "findings.h"
#include "open.h"
#include "outfile.h"
#include "progress.h"

enum { EXTRACT_DUMP = CLI_OWN, EXTRACT_ORDER };

static const struct cli_option own_options[] = {
	{ EXTRACT_DUMP, "dump", NULL, "write a dump(8) stream of the whole filesystem, for restore(8)" },
	{ EXTRACT_ORDER, "order", "ORDER", "of reading: directory (default), inode, or physical" },
	{ 'f', "file", "FILE", "write to FILE instead of standard output" },
	{ 0, NULL, NULL, NULL },
};

static const struct cli_spec spec = {
	.command = "extract",
	.usage = "[OPTIONS] IMAGE [PATH...]",
	.about = "Writes the tree, or what lies at each PATH and below it, as a pax tar archive: with times to the\n"
		 "nanosecond, hard links, holes, devices, extended attributes and ACLs.\n"
		 "GNU tar unpacks all of it with: tar -x --xattrs --xattrs-include='*' --acls --numeric-owner -p",
	.tables = { own_options, open_option_table },
	.notes = "FILE appears when it is complete and not before. Bytes that cannot be read are zeros in the\n"
		 "archive or dump; the findings on standard error name the files.",
};

/* What is to be extracted: found before the first byte is written. */
struct part {
	struct fsa_ref ref;
	char *name;		/* in the archive */
};

static void free_parts(struct part *parts, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(parts[i].name);
	free(parts);
}

/* The archive's name for an operand: "#12" and "<12>" are numbers and get the path that leads there. */
static char *name_of(struct fsa_fs *fs, const char *path, struct fsa_ref ref)
{
	char *found = NULL, *name;
	uint64_t number;

	if ((path[0] != '#' && path[0] != '<') || fs->parser->ref_of_number == NULL)
		return extract_name(path);
	if (fsa_path_of(fs, ref, &found) == FSA_OK) {
		name = extract_name(found);
		free(found);
		return name;
	}
	number = strtoull(path + 1, NULL, 10);
	return asprintf(&name, "inode-%" PRIu64, number) < 0 ? NULL : name;
}

/* NULL with the reason printed. No operands: the root. */
static struct part *find_parts(const struct opened *opened, char **paths, size_t n)
{
	struct part *parts = calloc(n, sizeof(*parts));
	struct fsa_error err = { .status = FSA_OK };

	if (parts == NULL) {
		cli_error("out of memory");
		return NULL;
	}
	for (size_t i = 0; i < n; i++) {
		if (fsa_lookup(opened->fs, paths[i], &parts[i].ref, &err) != FSA_OK) {
			cli_error("%s", err.message);
			free_parts(parts, n);
			return NULL;
		}
		parts[i].name = name_of(opened->fs, paths[i], parts[i].ref);
		if (parts[i].name == NULL) {
			cli_error("out of memory");
			free_parts(parts, n);
			return NULL;
		}
	}
	return parts;
}

static void print_remarks(const struct opened *opened, const struct extract_counts *counts)
{
	if (counts->sockets != 0)
		cli_error("%s: %" PRIu64 " sockets are not in the archive: tar cannot hold them",
			  opened->argument, counts->sockets);
	if (counts->encrypted != 0)
		cli_error("%s: %" PRIu64 " files are encrypted: their contents are extracted as they are stored",
			  opened->argument, counts->encrypted);
}

/* Writes the archive to `fd`; false when it is worth nothing, with the reason printed. */
static bool write_archive(const struct opened *opened, const struct part *parts, size_t n, enum window_order order,
			  int fd, const char *output_name)
{
	struct window *window = window_new(opened->fs, order, WINDOW_BYTES);
	enum fsa_status status = FSA_ENOMEM;
	struct progress progress;
	struct extract_counts counts;
	struct extract *x;
	int error = 0;

	progress_begin(&progress, "extracting", opened->argument);
	x = extract_new(opened, fd, outfile_stopped, NULL, &progress);
	if (x != NULL && window != NULL) {
		status = FSA_OK;
		for (size_t i = 0; i < n && status == FSA_OK; i++)
			status = extract_tree(x, opened->fs, parts[i].ref, parts[i].name, window);
		if (status == FSA_OK)
			status = extract_finish(x);
		error = extract_error(x);
		counts = extract_counts(x);
	}
	extract_free(x);
	window_free(window);
	progress_end(&progress);
	if (status == FSA_OK) {
		print_remarks(opened, &counts);
		return true;
	}
	if (error != 0 && error != ECANCELED)
		cli_error("%s: %s", output_name, strerror(error));
	else if (!outfile_stopped(NULL))
		cli_error("%s: %s", opened->argument, fsa_status_name(status));
	return false;
}

static void print_dump_remarks(const struct opened *opened, const struct dump_counts *counts)
{
	if (counts->encrypted != 0)
		cli_error("%s: %" PRIu64 " files are encrypted: their contents are dumped as they are stored",
			  opened->argument, counts->encrypted);
	if (counts->xattrs != 0)
		cli_error("%s: %" PRIu64 " extended attributes are not in the dump: restore knows none of their kind, "
			  "or has no room for them", opened->argument, counts->xattrs);
	if (counts->devices != 0)
		cli_error("%s: %" PRIu64 " devices have numbers that restore cannot make", opened->argument,
			  counts->devices);
	if (counts->times != 0)
		cli_error("%s: %" PRIu64 " inodes have times before 1970 or after 2106, which a dump cannot hold",
			  opened->argument, counts->times);
}

/* The same for a dump of everything. */
static bool write_dump(const struct opened *opened, enum window_order order, int fd, const char *output_name)
{
	enum fsa_status status = FSA_ENOMEM;
	struct progress progress;
	struct dump_counts counts;
	struct dump *d;
	int error = 0;

	progress_begin(&progress, "dumping", opened->argument);
	d = dump_new(opened, writebehind_new(fd, outfile_stopped, NULL), order, &progress);
	if (d != NULL) {
		status = dump_write(d);
		error = dump_error(d);
		counts = dump_counts(d);
		dump_free(d);
	}
	progress_end(&progress);
	if (status == FSA_OK) {
		print_dump_remarks(opened, &counts);
		return true;
	}
	if (error != 0 && error != ECANCELED)
		cli_error("%s: %s", output_name, strerror(error));
	else if (!outfile_stopped(NULL))
		cli_error("%s: %s", opened->argument, fsa_status_name(status));
	return false;
}

/* No parts: a dump. */
static int extract_to(const struct opened *opened, const struct part *parts, size_t n, enum window_order order,
		      const char *file)
{
	const char *name = file != NULL ? file : "standard output";
	struct outfile out;
	bool good;

	if (file != NULL) {
		if (!outfile_begin(&out, file, opened))
			return CLI_FAILED;
	} else {
		outfile_begin_stdout(&out);
		/* A larger pipe means fewer switches between writer and reader; it is no matter when refused. */
		fcntl(out.fd, F_SETPIPE_SZ, 1 << 20);
	}
	good = parts != NULL ? write_archive(opened, parts, n, order, out.fd, name)
			     : write_dump(opened, order, out.fd, name);
	if (!outfile_end(&out, good))
		return CLI_FAILED;
	return CLI_CONSISTENT;
}

static int run(const char *image, char **paths, size_t n, const char *file, bool dump, enum window_order order,
	       const struct open_options *options)
{
	static char root_path[] = "/";
	char *root[] = { root_path };
	struct opened opened;
	struct part *parts = NULL;
	int status = open_argument(&opened, image, options);

	if (status != CLI_CONSISTENT)
		return status;
	if (opened.fs->parser->readdir == NULL || opened.fs->parser->stat == NULL) {
		cli_error("%s: %s holds no tree of files", image, opened.summary.type);
		open_close(&opened);
		return CLI_FAILED;
	}
	if (n == 0) {
		paths = root;
		n = 1;
	}
	if (!dump)
		parts = find_parts(&opened, paths, n);
	status = parts != NULL || dump ? extract_to(&opened, parts, n, order, file) : CLI_FAILED;
	if (parts != NULL)
		free_parts(parts, n);
	status = cli_worse(status, findings_print(stderr, &opened, 0));
	open_close(&opened);
	return status;
}

int cmd_extract(int argc, char **argv)
{
	struct open_options options = { .have_offset = false };
	enum window_order order = WINDOW_DIRECTORY;
	const char *file = NULL;
	bool dump = false;
	struct cli cli;
	int key;

	cli_begin(&cli, &spec, argc, argv);
	while ((key = cli_next(&cli)) > 0) {
		if (open_take_option(&options, &cli, key))
			continue;
		if (key == 'f')
			file = cli.value;
		else if (key == EXTRACT_DUMP)
			dump = true;
		else if (key == EXTRACT_ORDER && !window_find_order(cli.value, &order))
			return cli_usage_error(spec.command, "'%s' is no order: directory, inode, physical", cli.value);
	}
	if (cli.done)
		return cli.status;
	if (optind >= argc)
		return cli_usage_error(spec.command, "which image?");
	if (dump && optind + 1 < argc)
		return cli_usage_error(spec.command, "--dump goes with no PATH: a dump is of the whole filesystem");
	if (file != NULL && strcmp(file, "-") == 0)
		file = NULL;
	if (file == NULL && isatty(STDOUT_FILENO) == 1)
		return cli_usage_error(spec.command, "an archive is not written to a terminal: use -f FILE or a pipe");
	return run(argv[optind], argv + optind + 1, (size_t)(argc - optind - 1), file, dump, order, &options);
}
