/* SPDX-License-Identifier: GPL-2.0-only */
#include "open.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "progress.h"

const struct cli_option open_option_table[] = {
	{ CLI_OFFSET, "offset", "BYTES", "the filesystem starts here; K, M, G suffixes allowed" },
	{ CLI_JOURNAL_DEVICE, "journal-device", "IMAGE", "the external journal" },
	{ CLI_JOURNAL_DEVICE, "log-device", "IMAGE", "the external log: the same, as XFS calls it" },
	{ CLI_RT_DEVICE, "rt-device", "IMAGE", "the realtime device of an XFS" },
	{ CLI_DEVICE, "device", "IMAGE", "another device of a filesystem on several (btrfs)" },
	{ CLI_SUBVOLUME, "subvolume", "PATH", "start at this subvolume, by path or number (btrfs)" },
	{ CLI_FORCE, "force", NULL, "analyse in spite of unknown incompatible features" },
	{ 0, NULL, NULL, NULL },
};

bool open_take_option(struct open_options *options, struct cli *cli, int key)
{
	switch (key) {
	case CLI_OFFSET:
		options->have_offset = true;
		if (!cli_parse_size(cli->value, &options->offset)) {
			cli->done = true;
			cli->status = cli_usage_error(cli->spec->command, "'%s' is no offset in bytes", cli->value);
		}
		return true;
	case CLI_JOURNAL_DEVICE:
		options->journal_device = cli->value;
		return true;
	case CLI_RT_DEVICE:
		options->rt_device = cli->value;
		return true;
	case CLI_DEVICE:
		/* Room for the image itself, a journal and a realtime device beside them. */
		if (options->n_devices == FSA_MAX_DEVICES - 3) {
			cli->done = true;
			cli->status = cli_usage_error(cli->spec->command, "more than %d devices", FSA_MAX_DEVICES - 3);
			return true;
		}
		options->devices[options->n_devices++] = cli->value;
		return true;
	case CLI_SUBVOLUME:
		options->subvolume = cli->value;
		return true;
	case CLI_FORCE:
		options->force = true;
		return true;
	default:
		return false;
	}
}

/*
 * The one piece of global state: a signal while an image is being unpacked. The unpacking stops, its
 * temporary file goes away, and then the signal takes its usual course.
 */
static volatile sig_atomic_t caught;

static void on_signal(int number)
{
	caught = number;
}

static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
#define N_SIGNALS (sizeof(signals) / sizeof(signals[0]))

static void catch_signals(struct sigaction *old)
{
	struct sigaction action = { .sa_handler = on_signal };

	caught = 0;
	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < N_SIGNALS; i++) {
		/* A program started with nohup keeps ignoring. */
		if (sigaction(signals[i], NULL, &old[i]) == 0 && old[i].sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
	}
}

static void restore_signals(const struct sigaction *old)
{
	for (size_t i = 0; i < N_SIGNALS; i++)
		sigaction(signals[i], &old[i], NULL);
}

static bool unpacking(void *arg, const char *what, uint64_t done_bytes, uint64_t total_bytes)
{
	progress_show(arg, what, done_bytes, total_bytes, true);
	return caught == 0;
}

bool open_image(struct fsa_image **image, const char *argument, const struct open_options *options)
{
	struct fsa_image_options how = { .progress = unpacking };
	struct fsa_error err = { .status = FSA_OK };
	struct sigaction old[N_SIGNALS];
	struct progress progress;
	enum fsa_status status;
	const char *remark;
	char *path = NULL;

	status = fsa_image_split_name(argument, &path, &how.partition);
	if (status != FSA_OK) {
		cli_error("%s: %s", argument, fsa_status_name(status));
		return false;
	}
	if (options != NULL) {
		how.have_offset = options->have_offset;
		how.offset_bytes = options->offset;
	}
	progress_begin(&progress, "unpacking", argument);
	how.progress_arg = &progress;
	catch_signals(old);
	status = fsa_image_open(path, &how, image, &err);
	restore_signals(old);
	progress_end(&progress);
	free(path);
	if (caught != 0) {
		/* A temporary file without a name goes with the program. */
		if (status == FSA_OK)
			fsa_image_close(*image);
		*image = NULL;
		raise(caught);
		return false;
	}
	if (status != FSA_OK) {
		if (err.message[0] != '\0')
			cli_error("%s", err.message);
		else
			cli_error("%s: %s", argument, fsa_status_name(status));
		return false;
	}
	for (unsigned i = 0; (remark = fsa_image_remark(*image, i)) != NULL; i++)
		cli_error("%s: %s", argument, remark);
	return true;
}

/* Adds an image to `opened`; the reason of a failure is printed. */
static bool add_image(struct opened *opened, const char *argument)
{
	if (!open_image(&opened->images[opened->n_images], argument, NULL))
		return false;
	opened->n_images++;
	return true;
}

int open_argument(struct opened *opened, const char *argument, const struct open_options *options)
{
	struct fsa_image *image;

	*opened = (struct opened){ .argument = argument };
	if (!open_image(&image, argument, options))
		return CLI_FAILED;
	return open_images(opened, argument, &image, 1, options);
}

int open_images(struct opened *opened, const char *argument, struct fsa_image *const *images, unsigned n_images,
		const struct open_options *options)
{
	struct fsa_device devices[FSA_MAX_DEVICES] = { { .image = NULL } };
	struct fsa_open_options how = { .force = options->force, .subvolume = options->subvolume };
	struct fsa_error err = { .status = FSA_OK };
	enum fsa_status status;
	unsigned n = 0;

	*opened = (struct opened){ .argument = argument, .n_images = n_images };
	for (unsigned i = 0; i < n_images; i++) {
		opened->images[i] = images[i];
		devices[n++].role = FSA_ROLE_MAIN;
	}
	for (unsigned i = 0; i < options->n_devices; i++) {
		if (!add_image(opened, options->devices[i]))
			goto failed;
		devices[n++].role = FSA_ROLE_MAIN;
	}
	if (options->journal_device != NULL) {
		if (!add_image(opened, options->journal_device))
			goto failed;
		devices[n++].role = FSA_ROLE_LOG;
	}
	if (options->rt_device != NULL) {
		if (!add_image(opened, options->rt_device))
			goto failed;
		devices[n++].role = FSA_ROLE_REALTIME;
	}
	for (unsigned i = 0; i < n; i++)
		devices[i].image = opened->images[i];

	opened->findings = fsa_findings_new(0);
	if (opened->findings == NULL) {
		cli_error("%s: %s", argument, fsa_status_name(FSA_ENOMEM));
		goto failed;
	}
	status = fsa_open(devices, n, fsa_image_content(opened->images[0]), &how, opened->findings, &opened->fs,
			  &err);
	if (status == FSA_OK)
		status = opened->fs->parser->summary(opened->fs, &opened->summary);
	if (status != FSA_OK) {
		if (err.message[0] != '\0')
			cli_error("%s", err.message);
		else
			cli_error("%s: cannot be analysed: %s", argument, fsa_status_name(status));
		goto failed;
	}
	return CLI_CONSISTENT;
failed:
	open_close(opened);
	return CLI_FAILED;
}

void open_close(struct opened *opened)
{
	fsa_close(opened->fs);
	fsa_findings_free(opened->findings);
	for (unsigned i = 0; i < opened->n_images; i++)
		fsa_image_close(opened->images[i]);
	*opened = (struct opened){ .argument = NULL };
}
