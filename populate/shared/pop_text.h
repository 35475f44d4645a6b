/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The plan (host to guest) and the result (guest to host) are plain lines of
 * fields between single spaces; a byte that would disturb is written %XX.
 */
#ifndef FSA_POP_TEXT_H
#define FSA_POP_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Writes s escaped, without a separator. */
void pop_text_put(FILE *f, const char *s);

/* Undoes the escapes in place; returns 0, or -1 at a broken escape. */
int pop_text_unescape(char *s);

/*
 * Splits a line into at most max fields, in place, and unescapes each.
 * Returns the number of fields, or -1 when there are more or one is broken.
 */
int pop_text_split(char *line, char **fields, int max);

/* A decimal number, whole string; returns 0 or -1. */
int pop_text_u64(const char *s, uint64_t *value);
int pop_text_s64(const char *s, int64_t *value);

#endif
