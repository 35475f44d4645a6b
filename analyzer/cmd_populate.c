/* SPDX-License-Identifier: GPL-2.0-only */
/* fsassay populate: make a filesystem image and fill it with a collection. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>
#include <populate.h>

#include "cli.h"
#include "json.h"
#include "progress.h"

#define DEVICES	14

enum {
	OPT_FS = CLI_OWN, OPT_COLLECTION, OPT_ENGINE, OPT_SIZE, OPT_BLOCK_SIZE,
	OPT_MKFS_OPTIONS, OPT_MOUNT_OPTIONS, OPT_MOUNT_TYPE, OPT_FILES,
	OPT_FILE_SIZE, OPT_SEED, OPT_SYNC_EVERY, OPT_LOG_DEVICE, OPT_LOG_SIZE, OPT_DEVICE,
	OPT_MANIFEST, OPT_NO_MANIFEST, OPT_TREE, OPT_CLONES, OPT_REMOVE,
	OPT_TIMEOUT, OPT_FORCE,
};

static const struct cli_option populate_options[] = {
	{ OPT_FS, "fs", "FS", "filesystem to make (required)" },
	{ OPT_COLLECTION, "collection", "NAME", "what to fill it with (required)" },
	{ OPT_ENGINE, "engine", "ENGINE", "host, uml, lib or auto: the first that works (default)" },
	{ OPT_SIZE, "size", "SIZE", "size of the image (default: what the collection needs)" },
	{ OPT_BLOCK_SIZE, "block-size", "SIZE", "block size of the filesystem" },
	{ 'O', "features", "LIST", "features for mkfs" },
	{ OPT_MKFS_OPTIONS, "mkfs-options", "WORDS", "more options for mkfs, quoted as in the shell" },
	{ OPT_MOUNT_OPTIONS, "mount-options", "LIST", "options to mount with while filling" },
	{ OPT_MOUNT_TYPE, "mount-type", "TYPE", "driver to mount with, when not the usual one" },
	{ OPT_FILES, "files", "N", "number of files, by which the collection is scaled" },
	{ OPT_FILE_SIZE, "file-size", "SIZE", "size of each file of a size collection" },
	{ OPT_TREE, "tree", "TREE", "directory or archive that the collection clones takes" },
	{ OPT_CLONES, "clones", "N", "copies beside the original (default 5, of small-12K 2)" },
	{ OPT_SEED, "seed", "N", "seed of names, times and content (default 1)" },
	{ OPT_SYNC_EVERY, "sync-every", "N", "sync after each N files" },
	{ OPT_LOG_DEVICE, "log-device", "FILE", "make a second image for an external journal or log" },
	{ OPT_LOG_SIZE, "log-size", "SIZE", "size of that image (default 64 MiB)" },
	{ OPT_DEVICE, "device", "FILE", "make a further image, of the same size, for btrfs (may be repeated)" },
	{ OPT_MANIFEST, "manifest", "FILE", "where the manifest goes (default OUTPUT.manifest.json)" },
	{ OPT_NO_MANIFEST, "no-manifest", NULL, "write none" },
	{ OPT_REMOVE, "remove", NULL, "instead of making OUTPUT: remove all that is in it, timed" },
	{ OPT_TIMEOUT, "timeout", "SECONDS", "time limit for mkfs, and for filling (default 3600)" },
	{ OPT_FORCE, "force", NULL, "replace files that exist" },
	{ 'J', "json", NULL, "write JSON" },
	{ 0, NULL, NULL, NULL },
};

static const struct cli_spec populate_spec = {
	.command = "populate",
	.usage = "--fs FS --collection NAME [OPTIONS] OUTPUT",
	.about = "Makes a filesystem in the new image OUTPUT with the format's own mkfs, fills it with a seeded\n"
		 "collection of files (the same command makes the same tree, byte for byte), and writes a\n"
		 "manifest of it. The filling is done by the running kernel (host: root), by the kernel that\n"
		 "user-mode Linux brings (uml: anybody), or without one by the format's library or mkfs (lib).",
	.tables = { populate_options, NULL },
	.notes = "Filesystems: ext2, ext3, ext4, xfs, btrfs, reiserfs, reiser4, jfs.\n"
		 "Collections:\n"
		 " size-10M, size-1M, size-100K, size-10K, size-1K, size-100B\n"
		 "        10 000 files of 10^7, 10^6, ... 100 bytes in one directory (--files scales)\n"
		 " clones a kernel's source tree and copies of it, each timed: that of --tree (Debian's\n"
		 "        linux-source package has one), or one from the seed (--files of a tree)\n"
		 " small-12K\n"
		 "        files of about 12 KB, trees of hard links to them; a quarter of the files is the\n"
		 "        same as another and is found and linked, timed (--files scales)\n"
		 " mixed  a server-like tree: sizes, holes, preallocation, hard links, odd names, devices,\n"
		 "        symlinks, extended attributes, ACLs, far times, big owners (--files scales)",
};

static bool parse_number(const char *text, uint64_t *value)
{
	char *end;

	if (text[0] < '0' || text[0] > '9')
		return false;
	errno = 0;
	*value = strtoull(text, &end, 0);
	return errno == 0 && *end == '\0';
}

static bool parse_engine(const char *text, enum fsa_populate_engine *engine)
{
	static const enum fsa_populate_engine engines[] = {
		FSA_POPULATE_AUTO, FSA_POPULATE_HOST, FSA_POPULATE_UML, FSA_POPULATE_LIB,
	};

	for (size_t i = 0; i < sizeof(engines) / sizeof(engines[0]); i++)
		if (strcmp(text, fsa_populate_engine_name(engines[i])) == 0) {
			*engine = engines[i];
			return true;
		}
	return false;
}

/* An option that takes text as it is; false when it is none of these. */
static bool take_text(struct fsa_populate_options *options, int key, const char *value)
{
	const char **place;

	switch (key) {
	case OPT_FS: place = &options->fs; break;
	case OPT_COLLECTION: place = &options->collection; break;
	case 'O': place = &options->features; break;
	case OPT_MKFS_OPTIONS: place = &options->mkfs_options; break;
	case OPT_MOUNT_OPTIONS: place = &options->mount_options; break;
	case OPT_MOUNT_TYPE: place = &options->mount_type; break;
	case OPT_LOG_DEVICE: place = &options->log_device; break;
	case OPT_TREE: place = &options->tree; break;
	case OPT_MANIFEST: place = &options->manifest; break;
	default: return false;
	}
	*place = value;
	return true;
}

/* An option with a number; false when its argument is none. */
static bool take_number(struct fsa_populate_options *options, int key, const char *value)
{
	uint64_t number = 0;
	bool good;

	switch (key) {
	case OPT_SIZE:
		return cli_parse_size(value, &options->size) && options->size > 0;
	case OPT_LOG_SIZE:
		return cli_parse_size(value, &options->log_size) && options->log_size > 0;
	case OPT_FILE_SIZE:
		return cli_parse_size(value, &options->file_size) && options->file_size > 0;
	case OPT_BLOCK_SIZE:
		good = cli_parse_size(value, &number) && number > 0 && number <= UINT32_MAX;
		options->block_size = (uint32_t)number;
		return good;
	case OPT_TIMEOUT:
		good = parse_number(value, &number) && number > 0 && number <= UINT32_MAX;
		options->timeout = (uint32_t)number;
		return good;
	case OPT_FILES:
		return parse_number(value, &options->files) && options->files > 0;
	case OPT_CLONES:
		return parse_number(value, &options->clones) && options->clones > 0;
	case OPT_SEED:
		return parse_number(value, &options->seed) && options->seed <= INT64_MAX;
	case OPT_SYNC_EVERY:
		return parse_number(value, &options->sync_every);
	default:
		return parse_engine(value, &options->engine);
	}
}

static void show_progress(void *ctx, const char *what, uint64_t done, uint64_t total)
{
	progress_show(ctx, what, done, total, false);
}

static json_t *times_json(const struct fsa_populate_result *result)
{
	json_t *times = json_object();

	for (size_t i = 0; i < result->time_count; i++) {
		const struct fsa_populate_time *t = &result->times[i];

		json_object_set_new(times, t->phase,
				    json_pack("{s:f,s:f,s:f,s:s}", "real_s", (double)t->real / 1e9,
					      "user_s", (double)t->user / 1e9, "sys_s",
					      (double)t->sys / 1e9, "measured",
					      t->in_guest ? "guest" : "host"));
	}
	return times;
}

/* What df would have shown, by when it was asked. */
static json_t *statfs_json(const struct fsa_populate_result *result)
{
	static const char *const names[FSA_POPULATE_WHENS] = { "rw", "ro", "new", "unsynced" };
	json_t *all = json_object();

	for (size_t i = 0; i < FSA_POPULATE_WHENS; i++) {
		const struct fsa_populate_statfs *s = &result->statfs[i];

		if (s->known)
			json_object_set_new(all, names[i],
					    json_pack("{s:I,s:I,s:I}", "size_kib",
						      (json_int_t)(s->blocks * s->frsize / 1024), "used_kib",
						      (json_int_t)((s->blocks - s->bfree) * s->frsize / 1024),
						      "available_kib", (json_int_t)(s->bavail * s->frsize / 1024)));
	}
	return all;
}

static int print_json(const struct fsa_populate_options *options, const struct fsa_populate_result *result)
{
	json_t *refused = json_array();
	json_t *o = json_object();

	for (size_t i = 0; i < result->refusal_kinds; i++) {
		const char *name = strerrorname_np(result->refusals[i].err);

		json_array_append_new(refused, json_pack("{s:s,s:s,s:I}", "operation",
							 result->refusals[i].operation, "error",
							 name ? name : "?", "count",
							 (json_int_t)result->refusals[i].count));
	}
	json_object_set_new(o, "output", json_string(options->output));
	if (result->manifest != NULL && !options->no_manifest)
		json_object_set_new(o, "manifest", json_string(result->manifest));
	json_object_set_new(o, "fs", json_string(options->fs));
	if (options->collection != NULL)
		json_object_set_new(o, "collection", json_string(options->collection));
	json_object_set_new(o, "engine", json_string(fsa_populate_engine_name(result->engine)));
	json_object_set_new(o, "engine_reason", json_string(result->engine_reason));
	if (result->kernel != NULL)
		json_object_set_new(o, "kernel", json_string(result->kernel));
	if (result->mkfs_command != NULL)
		json_object_set_new(o, "mkfs_command", json_string(result->mkfs_command));
	json_object_set_new(o, "size_bytes", json_integer((json_int_t)result->size));
	json_object_set_new(o, "files", json_integer((json_int_t)result->files));
	json_object_set_new(o, "objects", json_integer((json_int_t)result->objects));
	json_object_set_new(o, "written_bytes", json_integer((json_int_t)result->bytes));
	json_object_set_new(o, "not_supported", refused);
	json_object_set_new(o, "times_kept", json_string(result->times_kept));
	json_object_set_new(o, "times", times_json(result));
	json_object_set_new(o, "df_when", statfs_json(result));
	if (result->df != NULL)
		json_object_set_new(o, "df", json_string(result->df));
	return json_print(o, CLI_CONSISTENT);
}

/* Of a df before the last sync: what the tables of old show, and no truth. */
static void print_unsynced(const struct fsa_populate_result *result)
{
	const struct fsa_populate_statfs *was = &result->statfs[FSA_POPULATE_UNSYNCED];
	const struct fsa_populate_statfs *is = &result->statfs[FSA_POPULATE_RW];

	if (was->known && is->known)
		printf("  df before write-back: %" PRIu64 " KiB used, and %" PRIu64 " on a fresh mount\n",
		       (was->blocks - was->bfree) * was->frsize / 1024, (is->blocks - is->bfree) * is->frsize / 1024);
}

static void print_times(const struct fsa_populate_result *result)
{
	for (size_t i = 0; i < result->time_count; i++) {
		const struct fsa_populate_time *t = &result->times[i];

		printf("  %-10s real %.3f s, user %.3f s, sys %.3f s (%s)\n", t->phase, (double)t->real / 1e9,
		       (double)t->user / 1e9, (double)t->sys / 1e9,
		       t->in_guest ? "in the guest, user with its kernel" : "on the host");
	}
	if (result->df != NULL)
		printf("  df -k      %s\n", result->df);
	print_unsynced(result);
}

static int print_text(const struct fsa_populate_options *options, const struct fsa_populate_result *result)
{
	printf("%s: %s, %" PRIu64 " bytes, by engine %s", options->output, options->fs, result->size,
	       fsa_populate_engine_name(result->engine));
	if (result->kernel != NULL)
		printf(" (Linux %s)", result->kernel);
	printf(": %s\n", result->engine_reason);
	printf("  mkfs       %s\n", result->mkfs_command);
	printf("  collection %s: %" PRIu64 " names, %" PRIu64 " files created, %" PRIu64 " bytes written\n",
	       options->collection, result->objects, result->files, result->bytes);
	if (result->refused > 0) {
		printf("  left out   %" PRIu64 " not supported by the filesystem:", result->refused);
		for (size_t i = 0; i < result->refusal_kinds; i++)
			printf("%s %" PRIu64 " %s (%s)", i > 0 ? "," : "", result->refusals[i].count,
			       result->refusals[i].operation, strerror(result->refusals[i].err));
		putchar('\n');
	}
	if (strcmp(result->times_kept, "all") != 0)
		printf("  left out   %s: the filling program does not take them\n",
		       strcmp(result->times_kept, "none") != 0 ? "parts of seconds in times" :
		       "times of the files");
	print_times(result);
	if (!options->no_manifest)
		printf("  manifest   %s\n", result->manifest);
	return CLI_CONSISTENT;
}

static int print_removal(const struct fsa_populate_options *options, const struct fsa_populate_result *result)
{
	printf("%s: emptied by engine %s", options->output, fsa_populate_engine_name(result->engine));
	if (result->kernel != NULL)
		printf(" (Linux %s)", result->kernel);
	printf(": %s\n", result->engine_reason);
	print_times(result);
	return CLI_CONSISTENT;
}

static int populate(struct fsa_populate_options *options, bool json, bool remove)
{
	struct fsa_populate_result result;
	enum fsa_populate_status done;
	struct progress progress;
	int status = CLI_CONSISTENT;

	progress_begin(&progress, "populate", options->output);
	options->progress = show_progress;
	options->ctx = &progress;
	done = remove ? fsa_populate_remove(options, &result) : fsa_populate(options, &result);
	progress_end(&progress);
	if (done == FSA_POPULATE_USAGE) {
		status = cli_usage_error("populate", "%s", result.error ? result.error : "bad option");
	} else if (done != FSA_POPULATE_OK) {
		status = CLI_FAILED;
		cli_error("%s: %s", options->output, result.error ? result.error : strerror(ENOMEM));
		if (result.log != NULL)
			fprintf(stderr, "%s%s", result.log,
				result.log[0] && result.log[strlen(result.log) - 1] != '\n' ? "\n" : "");
	} else if (remove && !json) {
		status = print_removal(options, &result);
	} else if (json) {
		status = print_json(options, &result);
	} else {
		status = print_text(options, &result);
	}
	fsa_populate_result_free(&result);
	return status;
}

int cmd_populate(int argc, char **argv)
{
	const char *devices[DEVICES];
	struct fsa_populate_options options = { .seed = 1, .devices = devices };
	bool json = false, remove = false;
	struct cli cli;
	int key;

	cli_begin(&cli, &populate_spec, argc, argv);
	while ((key = cli_next(&cli)) > 0) {
		if (key == 'J')
			json = true;
		else if (key == OPT_REMOVE)
			remove = true;
		else if (key == OPT_NO_MANIFEST)
			options.no_manifest = true;
		else if (key == OPT_FORCE)
			options.force = true;
		else if (key == OPT_DEVICE && options.device_count == DEVICES)
			return cli_usage_error("populate", "at most %d times --device", DEVICES);
		else if (key == OPT_DEVICE)
			devices[options.device_count++] = cli.value;
		else if (!take_text(&options, key, cli.value) && !take_number(&options, key, cli.value))
			return cli_usage_error("populate", "'%s' makes no sense there", cli.value);
	}
	if (cli.done)
		return cli.status;
	if (options.fs == NULL || (options.collection == NULL && !remove))
		return cli_usage_error("populate", "--fs and --collection are needed");
	if (optind + 1 != argc)
		return cli_usage_error("populate", "one OUTPUT is needed");
	options.output = argv[optind];
	return populate(&options, json, remove);
}
