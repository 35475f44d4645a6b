/* SPDX-License-Identifier: GPL-2.0-only */
/* Going through the cells of a plan, with a result that is saved after each. */
#ifndef FSA_ANALYZER_TRIAL_RUN_H
#define FSA_ANALYZER_TRIAL_RUN_H

#include <jansson.h>

#include "trial_plan.h"

struct trial_run_options {
	const char *result;	/* where it is saved */
	const char *images;	/* folder for images; NULL: a temporary one */
	const char *only;	/* pattern of keys, as in the shell; NULL: all */
	bool keep;
};

/*
 * Runs what `result` does not hold yet, messages on stderr. CLI_CONSISTENT; CLI_FINDINGS when an audit had findings or a df
 * is not the kernel's; CLI_FAILED when a cell failed or the trial was stopped, which is said.
 */
int trial_run(const struct trial_plan *plan, json_t *result, const struct trial_run_options *options);

#endif
