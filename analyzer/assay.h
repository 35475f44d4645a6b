/* SPDX-License-Identifier: GPL-2.0-only */
/* One audit: the parser's walk, the closed ledger, the figures, and owners for what does not add up. */
#ifndef FSA_ANALYZER_ASSAY_H
#define FSA_ANALYZER_ASSAY_H

#include "bridge.h"
#include "figures.h"
#include "open.h"
#include "ownfigures.h"

struct assay {
	const struct opened *opened;	/* borrowed */
	struct fsa_ledger *ledger;	/* owns what `result` points to */
	struct fsa_ledger_result result;
	struct fsa_audit audit;		/* counters and node fill, as the parser left them */
	bool complete;			/* the walk came to its end */
	struct figures figures;
	bool have_df, have_df_ro;
	struct fsa_statfs df, df_ro;	/* mounted read-write, read-only */
	struct bridge bridge;
	struct ownfigures own;		/* the format's */
	bool consistent;		/* map, claims and counter agree */
};

/*
 * Assays an opened image, with `verify_data` its files' contents too. CLI_CONSISTENT, CLI_FINDINGS, or CLI_FAILED with the reason printed: then there
 * may still be a report, which assay->complete tells to be partial, when assay->ledger is not NULL.
 */
int assay_run(struct assay *assay, const struct opened *opened, bool verify_data);
void assay_free(struct assay *assay);

#endif
