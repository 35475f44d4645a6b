/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The bridge: a column of lines from the sum of file sizes over `du` to df's "used", each difference with
 * its reason. It comes out exactly; what no line explains stands in a last one that must be 0.
 */
#ifndef FSA_ANALYZER_BRIDGE_H
#define FSA_ANALYZER_BRIDGE_H

#include "figures.h"

enum bridge_kind {
	BRIDGE_STEP,	/* adds to the running sum */
	BRIDGE_SUM,	/* the running sum, which has this name here */
};

struct bridge_line {
	enum bridge_kind kind;
	const char *name;	/* static: "holes", "charged to no inode" */
	const char *detail;	/* static or NULL: a purpose's name, a term of statfs */
	int64_t bytes;
};

#define BRIDGE_MAX_LINES (17 + FSA_PURPOSES + FSA_MAX_TERMS)

struct bridge {
	struct bridge_line lines[BRIDGE_MAX_LINES];
	unsigned n_lines;
	uint64_t sizes;		/* sum of sizes of regular files */
	uint64_t du;		/* st_blocks of all named objects */
	uint64_t used;		/* by the ledger, see figures.h */
	uint64_t df_used;	/* by statfs */
	bool have_df;
	int64_t unexplained;
};

struct bridge_input {
	const struct figures *figures;
	const struct fsa_ledger_result *ledger;
	const struct fsa_detail *details;
	unsigned n_details;
	uint64_t unit;		/* block size of the ledger's first device */
	uint64_t elsewhere;	/* bytes of devices that df never counts: an external log */
	const struct fsa_statfs *statfs;	/* NULL: there is no df */
};

void bridge_build(struct bridge *bridge, const struct bridge_input *input);

#endif
