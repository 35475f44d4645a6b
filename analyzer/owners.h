/* SPDX-License-Identifier: GPL-2.0-only */
/* The second walk: who owns the blocks on which map and claims disagree, as findings. */
#ifndef FSA_ANALYZER_OWNERS_H
#define FSA_ANALYZER_OWNERS_H

#include "open.h"

/*
 * Adds a finding for each lost range, each range in use though free in the map, and each range with two
 * owners, and names the owners with their paths. A bounded number of each; what is beyond is counted.
 */
enum fsa_status owners_find(const struct opened *opened, const struct fsa_ledger *ledger,
			    const struct fsa_ledger_result *result);

#endif
