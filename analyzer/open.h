/* SPDX-License-Identifier: GPL-2.0-only */
/* Opening an IMAGE argument: options that say how, messages, and what there is to close afterwards. */
#ifndef FSA_ANALYZER_OPEN_H
#define FSA_ANALYZER_OPEN_H

#include "fsa/parser.h"

#include "cli.h"

/* --offset, --device, --journal-device and --log-device, --rt-device, --subvolume, --force. Zero-initialise. */
struct open_options {
	bool have_offset;
	uint64_t offset;
	const char *journal_device;
	const char *rt_device;
	const char *devices[FSA_MAX_DEVICES];	/* further images of a filesystem that lies on several */
	unsigned n_devices;
	const char *subvolume;
	bool force;
};

extern const struct cli_option open_option_table[];

/*
 * Takes an option returned by cli_next(): true when it was one of open_option_table. A bad argument is
 * reported and makes cli->done.
 */
bool open_take_option(struct open_options *options, struct cli *cli, int key);

struct opened {
	const char *argument;			/* as given: for messages and reports */
	struct fsa_image *images[FSA_MAX_DEVICES];	/* the filesystem's, journal, realtime, further ones */
	unsigned n_images;
	struct fsa_findings *findings;
	struct fsa_fs *fs;
	struct fsa_summary summary;
};

/*
 * Opens `argument` ("IMAGE" or "IMAGE@N") and the filesystem in it. Remarks go to stderr. Returns
 * CLI_CONSISTENT, or CLI_FAILED with the reason already printed and nothing left to close.
 */
int open_argument(struct opened *opened, const char *argument, const struct open_options *options);
/* The same for an image, or several of one filesystem, that are open: they belong to `opened` then, or are closed. */
int open_images(struct opened *opened, const char *argument, struct fsa_image *const *images, unsigned n_images,
		const struct open_options *options);
/* Only the image. False: the reason is printed. */
bool open_image(struct fsa_image **image, const char *argument, const struct open_options *options);
void open_close(struct opened *opened);

#endif
