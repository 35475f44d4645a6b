/* SPDX-License-Identifier: GPL-2.0-only */
#include "json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "escape.h"

json_t *json_unsigned(uint64_t value)
{
	return json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value);
}

int json_set_bytes(json_t *object, const char *key, const char *bytes, size_t length)
{
	char base64_key[64];
	char *escaped, *base64;
	int bad;

	if (escape_is_utf8(bytes, length))
		return json_object_set_new(object, key, json_stringn(bytes, length));
	snprintf(base64_key, sizeof(base64_key), "%s_base64", key);
	escaped = escape_new(bytes, length);
	base64 = escape_base64(bytes, length);
	bad = escaped == NULL || base64 == NULL ||
	      json_object_set_new(object, key, json_string(escaped)) != 0 ||
	      json_object_set_new(object, base64_key, json_string(base64)) != 0;
	free(escaped);
	free(base64);
	return bad ? -1 : 0;
}

int json_print(json_t *document, int status)
{
	if (document == NULL) {
		cli_error("out of memory for the JSON report");
		return CLI_FAILED;
	}
	/* A write error shows in stdout's error flag, which is looked at when the program ends. */
	if (json_dumpf(document, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(12)) == 0)
		putchar('\n');
	json_decref(document);
	return status;
}
