/* SPDX-License-Identifier: GPL-2.0-only */
/* Documented tables as data: CSV files with a line of headings. */
#ifndef FSA_ANALYZER_TRIAL_DOCUMENTED_H
#define FSA_ANALYZER_TRIAL_DOCUMENTED_H

#include <jansson.h>

#include "trial_plan.h"

/* {"name of the file": [{"heading": "cell", ...}, ...], ...} of a plan; NULL with the reason printed. */
json_t *trial_documented_load(const struct trial_plan *plan);

/*
 * A table by the headings that it has, since that is what makes it of a kind; NULL when there is none. `name` may be NULL.
 * `headings` ends with NULL.
 */
const json_t *trial_documented_find(const json_t *documented, const char *const *headings, const char **name);

/* The cell of a row; "" when it was not given. */
const char *trial_documented_text(const json_t *row, const char *heading);
/* As a number; false when it is not given or none. */
bool trial_documented_number(const json_t *row, const char *heading, double *value);

/*
 * "392M" as df -h prints it: bytes of which it shows `*most` at the most and more than `*least`, because it rounds up.
 */
bool trial_documented_human(const char *text, double *least, double *most);

#endif
