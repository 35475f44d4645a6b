/* SPDX-License-Identifier: GPL-2.0-only */
/* The pass that reads an image as it is, without asking what is in it. */
#ifndef FSA_ANALYZER_READBACK_DD_H
#define FSA_ANALYZER_READBACK_DD_H

#include "readback.h"

/*
 * What there is to read: all images from start to end or, with `used`, what their allocation maps say is in use.
 * False with the reason told; *ranges is freed by the caller.
 */
bool readback_find_ranges(const struct opened *opened, bool used, struct readback_range **ranges, size_t *n);

/* Reads the ranges in order. False when a signal ended it, or when it failed, with the reason told. */
bool readback_dd(const struct opened *opened, const struct readback_options *options,
		 const struct readback_range *ranges, size_t n, struct readback_sink *sink, struct progress *progress);

#endif
