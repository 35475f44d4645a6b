/* SPDX-License-Identifier: GPL-2.0-only */
/* Findings in the one grammar: <image>: <fs>: <object> <number> @0x<offset>: <what> */
#ifndef FSA_ANALYZER_FINDINGS_H
#define FSA_ANALYZER_FINDINGS_H

#include <stdio.h>

#include "open.h"

/*
 * Sorts and prints at most `limit` findings (0: all) and how many there are beyond.
 * Returns CLI_FINDINGS when there are any, else CLI_CONSISTENT.
 */
int findings_print(FILE *out, const struct opened *opened, size_t limit);

/* All of them, those that were counted and not kept included. */
uint64_t findings_total(const struct opened *opened);

#endif
