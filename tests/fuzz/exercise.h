/* SPDX-License-Identifier: GPL-2.0-only */
/* Everything the library does with an image, on bytes in memory; knows no format. */
#ifndef FSA_TESTS_EXERCISE_H
#define FSA_TESTS_EXERCISE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Opens, audits into a ledger and into a callback, and reads the tree, with bounded work. Aborts with a line on
 * stderr when something that must hold whatever the image says does not: the ledger adds up to the image size, and
 * what a callback is told lies within its device. When `used` is not NULL it gets the ranges that are not free, as
 * pairs of offset and length, at most `limit` pairs; returns how many. `force`: in spite of unknown features.
 */
size_t exercise(const uint8_t *bytes, size_t size, int force, uint64_t (*used)[2], size_t limit);

#endif
