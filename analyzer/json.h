/* SPDX-License-Identifier: GPL-2.0-only */
/* What all JSON of the program has in common. */
#ifndef FSA_ANALYZER_JSON_H
#define FSA_ANALYZER_JSON_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

/* JSON integers are signed 64-bit here: what does not fit, which only damage makes, becomes the largest. */
json_t *json_unsigned(uint64_t value);

/*
 * Sets `key` to bytes of an image: as they are when they are UTF-8; else escaped (escape.h), with the
 * bytes themselves under "<key>_base64" beside it.
 */
int json_set_bytes(json_t *object, const char *key, const char *bytes, size_t length);

/* Writes the document to stdout with a newline and drops it; CLI_FAILED when it is NULL (out of memory). */
int json_print(json_t *document, int status);

#endif
