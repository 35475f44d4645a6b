/* SPDX-License-Identifier: GPL-2.0-only */
#include "readback_dd.h"

#include <inttypes.h>
#include <stdlib.h>

#include "fsa/bytes.h"
#include "outfile.h"

/* --- what is in use ------------------------------------------------------------------------------ */

struct finder {
	const struct opened *opened;
	struct readback_range *ranges;
	size_t n, room;
};

static bool add_range(struct finder *f, unsigned image, uint64_t offset, uint64_t length)
{
	struct readback_range *last = f->n != 0 ? &f->ranges[f->n - 1] : NULL;

	if (length == 0)
		return true;
	if (last != NULL && last->image == image && last->offset + last->length == offset) {
		last->length += length;
		return true;
	}
	if (f->n == f->room) {
		const size_t room = f->room != 0 ? f->room * 2 : 256;
		struct readback_range *bigger = realloc(f->ranges, room * sizeof(*bigger));

		if (bigger == NULL)
			return false;
		f->ranges = bigger;
		f->room = room;
	}
	f->ranges[f->n++] = (struct readback_range){ image, offset, length };
	return true;
}

/* The number among the opened images of the one that a device of the filesystem lies on. */
static unsigned image_of(const struct opened *opened, unsigned device)
{
	for (unsigned i = 0; i < opened->n_images; i++)
		if (device < opened->fs->n_devices && opened->images[i] == opened->fs->devices[device].image)
			return i;
	return opened->n_images;
}

static bool add_used(struct finder *f, const struct fsa_ledger *ledger)
{
	for (unsigned d = 0; d < fsa_ledger_devices(ledger); d++) {
		const unsigned image = image_of(f->opened, d);
		const uint64_t unit = fsa_ledger_block_size(ledger, d), blocks = fsa_ledger_blocks(ledger, d);
		uint64_t run = 0;

		if (image == f->opened->n_images)
			continue;
		for (uint64_t block = 0; block < blocks; block += run) {
			const enum fsa_block_state state = fsa_ledger_state(ledger, d, block, &run);
			const uint64_t size = fsa_image_size(f->opened->images[image]);

			run = fsa_min(fsa_max(run, 1), blocks - block);
			/* A short image has less than its map says. */
			if (state != FSA_BLOCK_FREE && block * unit < size &&
			    !add_range(f, image, block * unit, fsa_min(run * unit, size - block * unit)))
				return false;
		}
	}
	return true;
}

/* An audit for its map only: what is wrong with the filesystem is said by the command of that name. */
static enum fsa_status walk(const struct opened *opened, struct fsa_ledger *ledger)
{
	struct fsa_fs *fs = opened->fs;
	struct fsa_ledger_result result;
	struct fsa_audit audit = { .claims = NULL };
	enum fsa_status status = fs->parser->geometry(fs, ledger);

	if (status != FSA_OK)
		return status;
	audit.claims = fsa_claims_to_ledger(ledger);
	if (audit.claims == NULL)
		return FSA_ENOMEM;
	fsa_findings_mute(fs->findings, true);
	status = fs->parser->audit(fs, &audit);
	fsa_findings_mute(fs->findings, false);
	fsa_claims_free(audit.claims);
	return status == FSA_OK ? fsa_ledger_close(ledger, &result) : status;
}

static enum fsa_status find_used(struct finder *f)
{
	const struct fsa_parser *parser = f->opened->fs->parser;
	struct fsa_ledger *ledger = fsa_ledger_new(parser->details, parser->n_details);
	enum fsa_status status;

	if (ledger == NULL)
		return FSA_ENOMEM;
	status = walk(f->opened, ledger);
	if (status == FSA_OK && !add_used(f, ledger))
		status = FSA_ENOMEM;
	fsa_ledger_free(ledger);
	return status;
}

bool readback_find_ranges(const struct opened *opened, bool used, struct readback_range **ranges, size_t *n)
{
	struct finder f = { .opened = opened };
	enum fsa_status status = FSA_OK;

	if (used)
		status = find_used(&f);
	else
		for (unsigned i = 0; i < opened->n_images && status == FSA_OK; i++)
			if (!add_range(&f, i, 0, fsa_image_size(opened->images[i])))
				status = FSA_ENOMEM;
	if (status != FSA_OK) {
		cli_error("%s: what is in use cannot be told: %s", opened->argument, fsa_status_name(status));
		free(f.ranges);
		return false;
	}
	*ranges = f.ranges;
	*n = f.n;
	return true;
}

/* --- reading ------------------------------------------------------------------------------------- */

struct reader {
	const struct opened *opened;
	struct readback_sink *sink;
	struct progress *progress;
	uint8_t *buffer;
	size_t block_size;
	uint64_t total;		/* bytes that will be read */
};

/* At most `length` bytes; false when it is over. */
static bool read_range(struct reader *r, const struct readback_range *range, uint64_t length)
{
	for (uint64_t done = 0; done < length;) {
		const size_t step = (size_t)fsa_min(length - done, r->block_size);
		enum fsa_status status;

		if (outfile_stopped(NULL))
			return false;
		status = fsa_image_read_contents(r->opened->images[range->image], range->offset + done, r->buffer, step);
		if (status != FSA_OK) {
			cli_error("%s: %zu bytes at %" PRIu64 ": %s", fsa_image_name(r->opened->images[range->image]),
				  step, range->offset + done, fsa_status_name(status));
			return false;
		}
		readback_sink_take(r->sink, r->buffer, step);
		progress_show(r->progress, NULL, readback_sink_bytes(r->sink), r->total, true);
		done += step;
	}
	return true;
}

bool readback_dd(const struct opened *opened, const struct readback_options *options,
		 const struct readback_range *ranges, size_t n, struct readback_sink *sink, struct progress *progress)
{
	struct reader r = { .opened = opened, .sink = sink, .progress = progress, .block_size = options->block_size };
	uint64_t left = UINT64_MAX;
	bool good = true;

	if (options->have_count && !fsa_mul(options->count, options->block_size, &left))
		left = UINT64_MAX;
	for (size_t i = 0; i < n; i++)
		r.total += ranges[i].length;
	r.total = fsa_min(r.total, left);
	r.buffer = malloc(r.block_size);
	if (r.buffer == NULL) {
		cli_error("%s: %s", opened->argument, fsa_status_name(FSA_ENOMEM));
		return false;
	}
	for (size_t i = 0; i < n && good && left != 0; i++) {
		const uint64_t length = fsa_min(ranges[i].length, left);

		good = read_range(&r, &ranges[i], length);
		left -= length;
	}
	free(r.buffer);
	return good;
}
