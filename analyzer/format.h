/* SPDX-License-Identifier: GPL-2.0-only */
/* Numbers as text. By value, so that several fit into one printf. */
#ifndef FSA_ANALYZER_FORMAT_H
#define FSA_ANALYZER_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

struct format_text {
	char text[32];
};

/* As util-linux prints sizes: "1.2G", "512B", powers of 1024, one decimal where it is not zero. */
struct format_text format_human(uint64_t bytes);
struct format_text format_human_signed(int64_t bytes);
/* The same, or the exact number when `exact`. */
struct format_text format_size(uint64_t bytes, bool exact);
/* Digits in groups of three: "1,048,576". */
struct format_text format_count(uint64_t count);
/* "12.3 %" of a whole; "-" when the whole is 0; never "0.0 %" for something nor "100.0 %" for less. */
struct format_text format_percent(uint64_t part, uint64_t whole);
/* A ratio with `decimals` decimals. */
struct format_text format_ratio(double value, int decimals);

#endif
