/* SPDX-License-Identifier: GPL-2.0-only */
#include "mapfile.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "outfile.h"
#include "version.h"

struct writer {
	FILE *out;
	uint64_t start;		/* of the window in the file */
	uint64_t offset, length;
	char status;		/* of the range being put together; 0: none yet */
};

static void put_range(struct writer *w)
{
	if (w->status != 0 && w->length != 0)
		fprintf(w->out, "0x%08" PRIX64 "  0x%08" PRIX64 "  %c\n", w->offset, w->length, w->status);
}

static void add_range(struct writer *w, uint64_t offset, uint64_t length, char status)
{
	if (status == w->status) {
		w->length += length;
		return;
	}
	put_range(w);
	w->offset = offset;
	w->length = length;
	w->status = status;
}

static enum fsa_status on_tile(void *arg, const struct runmap_tile *tile)
{
	struct writer *w = arg;
	const bool used = tile->unexplained || (tile->purpose != FSA_FREE && tile->purpose != FSA_OUTSIDE);

	if (outfile_stopped(NULL))
		return FSA_STOP;
	if (tile->device == 0)
		add_range(w, w->start + tile->offset, tile->length, used ? '+' : '?');
	return FSA_OK;
}

enum fsa_status mapfile_write(const char *path, const struct opened *opened, const struct fsa_ledger *ledger,
			      struct runmap_sums *sums)
{
	struct writer w = { .start = fsa_image_start(opened->images[0]) };
	const bool to_stdout = strcmp(path, "-") == 0;
	struct outfile out;
	enum fsa_status status = FSA_ESYSTEM;
	bool good;

	if (to_stdout)
		outfile_begin_stdout(&out);
	else if (!outfile_begin(&out, path, opened))
		return FSA_STOP;
	w.out = to_stdout ? stdout : fdopen(dup(out.fd), "w");
	if (w.out != NULL) {
		fprintf(w.out, "# Mapfile. Created by fsassay " FSASSAY_VERSION "\n"
			"# current_pos  current_status  current_pass\n"
			"0x00000000     ?               1\n"
			"#      pos        size  status\n");
		if (w.start != 0)
			add_range(&w, 0, w.start, '?');
		status = runmap_walk(opened, ledger, on_tile, &w, sums);
		put_range(&w);
		good = fflush(w.out) == 0 && ferror(w.out) == 0;
		if (!to_stdout)
			good = fclose(w.out) == 0 && good;
		if (!good && status == FSA_OK) {
			cli_error("%s: %s", to_stdout ? "standard output" : path, strerror(errno));
			status = FSA_STOP;
		}
	} else {
		cli_error("%s: %s", path, strerror(errno));
		status = FSA_STOP;
	}
	return outfile_end(&out, status == FSA_OK) || status != FSA_OK ? status : FSA_STOP;
}
