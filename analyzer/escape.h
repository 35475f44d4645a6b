/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bytes from an image made fit to be shown: names there may hold anything but '/' and NUL, and a terminal
 * must neither be steered by them nor left in doubt about what they are.
 *
 * Shown as they are: well-formed UTF-8 that prints. Everything else becomes \xHH, one escape a byte, and a
 * backslash becomes \\, so that the original bytes can always be had back.
 */
#ifndef FSA_ANALYZER_ESCAPE_H
#define FSA_ANALYZER_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* As snprintf: writes at most `size` bytes with the NUL, never half an escape; returns the whole length. */
size_t escape(char *out, size_t size, const char *bytes, size_t length);
/* malloc'd; NULL when out of memory. */
char *escape_new(const char *bytes, size_t length);
void escape_print(FILE *out, const char *bytes, size_t length);

/* Turns escape()'s text back into bytes, in place; false when it is not such a text. */
bool escape_undo(char *text, size_t *length);

/* Well-formed UTF-8: no surrogates, no overlong forms, nothing above U+10FFFF. */
bool escape_is_utf8(const char *bytes, size_t length);

/* Base64 of RFC 4648 with padding, malloc'd; NULL when out of memory. */
char *escape_base64(const void *bytes, size_t length);

#endif
