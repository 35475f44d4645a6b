/* SPDX-License-Identifier: GPL-2.0-only */
#include "outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The signal that came in; nothing else is shared with the handler. */
static volatile sig_atomic_t stopped_by;

static void on_signal(int number)
{
	stopped_by = number;
}

static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
#define N_SIGNALS (sizeof(signals) / sizeof(signals[0]))

static void catch_signals(void)
{
	/* No SA_RESTART: a write that waits for a slow reader returns. */
	struct sigaction action = { .sa_handler = on_signal }, old;

	stopped_by = 0;
	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < N_SIGNALS; i++)
		/* A program started with nohup keeps ignoring. */
		if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
	signal(SIGPIPE, SIG_IGN);
}

static void release_signals(void)
{
	struct sigaction old;
	const int number = stopped_by;

	for (size_t i = 0; i < N_SIGNALS; i++)
		if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler == on_signal)
			signal(signals[i], SIG_DFL);
	stopped_by = 0;
	if (number != 0)
		raise(number);
}

bool outfile_stopped(void *arg)
{
	(void)arg;
	return stopped_by != 0;
}

/* True when `st` is a file that an image is read from: it must not be replaced by what is made of it. */
static bool is_image(const struct stat *st, const struct opened *opened)
{
	for (unsigned i = 0; i < opened->n_images; i++) {
		unsigned partition;
		char *path = NULL;
		struct stat image;
		bool same = false;

		if (fsa_image_split_name(fsa_image_name(opened->images[i]), &path, &partition) != FSA_OK)
			return false;
		if (stat(path, &image) == 0)
			same = (image.st_dev == st->st_dev && image.st_ino == st->st_ino) ||
			       (S_ISBLK(image.st_mode) && S_ISBLK(st->st_mode) && image.st_rdev == st->st_rdev);
		free(path);
		if (same)
			return true;
	}
	return false;
}

static bool begin_temporary(struct outfile *out, const struct stat *replaced)
{
	const mode_t mask = umask(0);
	mode_t mode = 0666 & ~mask;

	umask(mask);
	if (replaced != NULL)
		mode = replaced->st_mode & 0777;
	if (asprintf(&out->temporary, "%s.XXXXXX", out->path) < 0) {
		out->temporary = NULL;
		cli_error("out of memory");
		return false;
	}
	out->fd = mkostemp(out->temporary, O_CLOEXEC);
	if (out->fd < 0) {
		cli_error("%s: %s", out->path, strerror(errno));
		return false;
	}
	if (fchmod(out->fd, mode) != 0) {
		cli_error("%s: %s", out->path, strerror(errno));
		close(out->fd);
		unlink(out->temporary);
		return false;
	}
	return true;
}

bool outfile_begin(struct outfile *out, const char *path, const struct opened *opened)
{
	struct stat st;
	bool exists, good;

	*out = (struct outfile){ .fd = -1 };
	/* A symbolic link stays one: what it leads to is replaced. */
	out->path = realpath(path, NULL);
	if (out->path == NULL)
		out->path = strdup(path);
	if (out->path == NULL) {
		cli_error("out of memory");
		return false;
	}
	exists = stat(out->path, &st) == 0;
	if (exists && is_image(&st, opened)) {
		cli_error("%s: is the image itself, and an image is never written to", path);
		free(out->path);
		return false;
	}
	catch_signals();
	if (exists && !S_ISREG(st.st_mode)) {
		out->fd = open(out->path, O_WRONLY | O_CLOEXEC);
		good = out->fd >= 0;
		if (!good && stopped_by == 0)
			cli_error("%s: %s", path, strerror(errno));
	} else {
		good = begin_temporary(out, exists ? &st : NULL);
	}
	if (!good) {
		free(out->path);
		free(out->temporary);
		release_signals();
	}
	return good;
}

void outfile_begin_stdout(struct outfile *out)
{
	*out = (struct outfile){ .fd = STDOUT_FILENO };
	catch_signals();
}

bool outfile_end(struct outfile *out, bool good)
{
	if (out->path != NULL) {
		/* Some filesystems tell only now that there was no room. */
		if (close(out->fd) != 0 && good) {
			cli_error("%s: %s", out->path, strerror(errno));
			good = false;
		}
		if (stopped_by != 0)
			good = false;
		if (out->temporary != NULL) {
			if (good && rename(out->temporary, out->path) != 0) {
				cli_error("%s: %s", out->path, strerror(errno));
				good = false;
			}
			if (!good)
				unlink(out->temporary);
		}
	}
	free(out->path);
	free(out->temporary);
	*out = (struct outfile){ .fd = -1 };
	release_signals();
	return good;
}
