/* SPDX-License-Identifier: GPL-2.0-only */
/* Bytes as text for JSON; all results are malloc'ed, NULL without memory. */
#ifndef FSA_POP_BASE64_H
#define FSA_POP_BASE64_H

#include <stdbool.h>
#include <stddef.h>

char *pop_base64(const void *data, size_t len);

/* Whether JSON can hold it: UTF-8 without overlong forms and surrogates. */
bool pop_is_utf8(const char *s);

/* Each byte from 0x80 up, and the backslash, as \xNN. */
char *pop_escape_bytes(const char *s);

#endif
