/* SPDX-License-Identifier: GPL-2.0-only */
/* The tables of a trial's result. */
#ifndef FSA_ANALYZER_TRIAL_REPORT_H
#define FSA_ANALYZER_TRIAL_REPORT_H

#include <jansson.h>
#include <stdbool.h>

#include "grid.h"

/* All tables on stdout; false when memory ran out (said already). */
bool trial_report(const json_t *result, enum grid_format format);

#endif
