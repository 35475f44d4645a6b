/* SPDX-License-Identifier: GPL-2.0-only */
/* What is this byte, whose is it, and which path leads to its owner. */
#ifndef FSA_ANALYZER_MAP_AT_H
#define FSA_ANALYZER_MAP_AT_H

#include "open.h"

/* Prints the answer for the byte at `offset` of the first device. CLI_FAILED with the reason printed. */
int map_at(const struct opened *opened, const struct fsa_ledger *ledger, uint64_t offset, bool json);

#endif
