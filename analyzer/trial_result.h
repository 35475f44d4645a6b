/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The result of a trial: one JSON document that holds the cells that are done and all that its tables need, so that it can
 * be carried on and reported on its own. schema/trial.schema.json describes it.
 */
#ifndef FSA_ANALYZER_TRIAL_RESULT_H
#define FSA_ANALYZER_TRIAL_RESULT_H

#include <jansson.h>

#include "trial_plan.h"

/* A new result of a plan, with the documented tables read in. NULL with the reason printed. */
json_t *trial_result_new(const struct trial_plan *plan);

/* The result in a file; NULL with the reason printed, or without one when there is no such file and `*missing` is set. */
json_t *trial_result_load(const char *path, bool *missing);

/* Whether it is of this very plan. */
bool trial_result_is_of(const json_t *result, const struct trial_plan *plan);

/* Writes it, complete or not at all; false with the reason printed. */
bool trial_result_save(const json_t *result, const char *path);

/* The numbers of a kernel's release: what a distribution or a machine adds says nothing elsewhere. Returns buffer. */
const char *trial_release(const char *text, char *buffer, size_t size);

/* The cell of that key, borrowed, NULL when there is none. Putting one takes `cell` over and replaces an older one. */
json_t *trial_result_cell(const json_t *result, const char *key);
bool trial_result_put(json_t *result, const char *key, json_t *cell);

#endif
