/* SPDX-License-Identifier: GPL-2.0-only */
/* Documented values beside the measured ones: value, value, ratio, and why they differ. */
#ifndef FSA_ANALYZER_TRIAL_BESIDE_H
#define FSA_ANALYZER_TRIAL_BESIDE_H

#include <jansson.h>
#include <stdbool.h>

#include "grid.h"

/* A table for each documented one; false when memory ran out (said already). */
bool trial_beside(const json_t *result, enum grid_format format);

/*
 * Why a documented "used" is another than the measured one, by the measured cell's ledger; or that it cannot be true.
 * `least` and `most`: the bytes that the documented text stands for. Text of at most `room` bytes.
 */
void trial_explain_used(char *text, size_t room, const json_t *cell, double least, double most);

#endif
