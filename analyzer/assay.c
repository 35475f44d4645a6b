/* SPDX-License-Identifier: GPL-2.0-only */
#include "assay.h"

#include <inttypes.h>

#include "findings.h"
#include "owners.h"
#include "progress.h"

static enum fsa_status on_object(void *arg, const struct fsa_object *object)
{
	figures_add(arg, object);
	return FSA_OK;
}

/* The parser's walk, booked into the ledger. */
static enum fsa_status walk(struct assay *assay, const struct opened *opened)
{
	struct fsa_fs *fs = opened->fs;
	struct progress progress;
	enum fsa_status status;

	status = fs->parser->geometry(fs, assay->ledger);
	if (status != FSA_OK)
		return status;
	assay->audit.claims = fsa_claims_to_ledger(assay->ledger);
	if (assay->audit.claims == NULL)
		return FSA_ENOMEM;
	assay->audit.object = on_object;
	assay->audit.object_arg = &assay->figures;
	assay->audit.figure = ownfigures_add;
	assay->audit.figure_arg = &assay->own;
	assay->audit.progress = progress_audit;
	assay->audit.progress_arg = &progress;
	progress_begin(&progress, "auditing", opened->argument);
	status = fs->parser->audit(fs, &assay->audit);
	progress_end(&progress);
	fsa_claims_free(assay->audit.claims);
	assay->audit.claims = NULL;
	return status;
}

static void ask_df(struct assay *assay, const struct opened *opened)
{
	struct fsa_fs *fs = opened->fs;

	if (fs->parser->statfs == NULL)
		return;
	assay->have_df = fs->parser->statfs(fs, false, &assay->df) == FSA_OK && assay->df.block_size != 0;
	assay->have_df_ro = fs->parser->statfs(fs, true, &assay->df_ro) == FSA_OK &&
			    assay->df_ro.block_size != 0;
}

/* Bytes of an external log: in the ledger, and in nobody's df. */
static uint64_t bytes_elsewhere(const struct assay *assay, const struct opened *opened)
{
	uint64_t bytes = 0;

	for (unsigned i = 0; i < fsa_ledger_devices(assay->ledger) && i < opened->fs->n_devices; i++)
		if (opened->fs->devices[i].role != FSA_ROLE_MAIN)
			bytes += fsa_ledger_blocks(assay->ledger, i) * fsa_ledger_block_size(assay->ledger, i);
	return bytes;
}

/* The contradictions that only closed books show. */
static void compare_books(struct assay *assay, const struct opened *opened)
{
	const struct fsa_ledger_result *result = &assay->result;
	const struct fsa_counters *counters = &assay->audit.counters;
	const bool counter_wrong = counters->have_free_blocks && !counters->lazy &&
				   counters->free_blocks != result->map_free_blocks;

	assay->consistent = result->lost_blocks == 0 && result->used_free_blocks == 0 &&
			    result->conflict_blocks == 0 && result->missing_bytes == 0 && !counter_wrong;
	if (counter_wrong)
		fsa_find(opened->findings, "free counter", FSA_NO_NUMBER, FSA_NO_OFFSET,
			 "%" PRIu64 " blocks are free by the counter, %" PRIu64 " by the allocation map",
			 counters->free_blocks, result->map_free_blocks);
	if (result->missing_bytes != 0)
		fsa_find(opened->findings, "image", FSA_NO_NUMBER, fsa_image_size(opened->images[0]),
			 "the image ends here, %" PRIu64 " bytes of the filesystem lie behind its end",
			 result->missing_bytes);
}

static void build_bridge(struct assay *assay, const struct opened *opened)
{
	const struct bridge_input input = {
		.figures = &assay->figures,
		.ledger = &assay->result,
		.details = opened->fs->parser->details,
		.n_details = opened->fs->parser->n_details,
		.unit = fsa_ledger_devices(assay->ledger) != 0 ? fsa_ledger_block_size(assay->ledger, 0) : 0,
		.elsewhere = bytes_elsewhere(assay, opened),
		.statfs = assay->have_df ? &assay->df : NULL,
	};

	bridge_build(&assay->bridge, &input);
	/* A walk that broke off has booked less than the objects said. */
	if (assay->bridge.unexplained != 0 && assay->complete)
		fsa_find(opened->findings, "reconciliation", FSA_NO_NUMBER, FSA_NO_OFFSET,
			 "%" PRId64 " bytes between the sizes of files and df have no explanation",
			 assay->bridge.unexplained);
}

int assay_run(struct assay *assay, const struct opened *opened, bool verify_data)
{
	const struct fsa_parser *parser = opened->fs->parser;
	enum fsa_status walked, status;

	*assay = (struct assay){ .opened = opened, .audit.verify_data = verify_data };
	assay->ledger = fsa_ledger_new(parser->details, parser->n_details);
	if (assay->ledger == NULL) {
		cli_error("%s: %s", opened->argument, fsa_status_name(FSA_ENOMEM));
		return CLI_FAILED;
	}
	walked = walk(assay, opened);
	assay->complete = walked == FSA_OK;
	if (walked != FSA_OK)
		cli_error("%s: the audit stopped before its end: %s", opened->argument, fsa_status_name(walked));
	status = fsa_ledger_close(assay->ledger, &assay->result);
	if (status != FSA_OK || assay->result.image_bytes == 0) {
		if (walked == FSA_OK)
			cli_error("%s: the ledger could not be closed: %s", opened->argument,
				  fsa_status_name(status != FSA_OK ? status : FSA_EDAMAGED));
		assay_free(assay);
		return CLI_FAILED;
	}
	figures_finish(&assay->figures, &assay->result, &assay->audit);
	ask_df(assay, opened);
	compare_books(assay, opened);
	build_bridge(assay, opened);
	/* After a walk that broke off nearly everything would be called lost. */
	if (walked == FSA_OK) {
		status = owners_find(opened, assay->ledger, &assay->result);
		if (status != FSA_OK) {
			cli_error("%s: owners of contradictory blocks could not all be found: %s",
				  opened->argument, fsa_status_name(status));
			assay->complete = false;
		}
	}
	if (!assay->complete)
		return CLI_FAILED;
	return findings_total(opened) != 0 ? CLI_FINDINGS : CLI_CONSISTENT;
}

void assay_free(struct assay *assay)
{
	fsa_ledger_free(assay->ledger);
	assay->ledger = NULL;
	ownfigures_free(&assay->own);
}
