/* SPDX-License-Identifier: GPL-2.0-only */
/* Bytes as text. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base64.h"

char *pop_base64(const void *data, size_t len)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
		"abcdefghijklmnopqrstuvwxyz0123456789+/";
	const unsigned char *p = data;
	char *text = malloc((len + 2) / 3 * 4 + 1), *out = text;

	if (!text)
		return NULL;
	for (size_t i = 0; i < len; i += 3) {
		size_t n = len - i < 3 ? len - i : 3;
		uint32_t v = (uint32_t)p[i] << 16 |
			(n > 1 ? (uint32_t)p[i + 1] << 8 : 0) |
			(n > 2 ? p[i + 2] : 0);

		*out++ = digits[v >> 18];
		*out++ = digits[v >> 12 & 63];
		*out++ = n > 1 ? digits[v >> 6 & 63] : '=';
		*out++ = n > 2 ? digits[v & 63] : '=';
	}
	*out = '\0';
	return text;
}

bool pop_is_utf8(const char *s)
{
	const unsigned char *p = (const unsigned char *)s;

	while (*p) {
		unsigned char c = *p++;
		uint32_t v, least;
		int more;

		if (c < 0x80)
			continue;
		if (c >= 0xc2 && c < 0xe0) {
			more = 1;
			v = c & 0x1f;
			least = 0x80;
		} else if (c >= 0xe0 && c < 0xf0) {
			more = 2;
			v = c & 0x0f;
			least = 0x800;
		} else if (c >= 0xf0 && c < 0xf5) {
			more = 3;
			v = c & 0x07;
			least = 0x10000;
		} else {
			return false;
		}
		while (more--) {
			if ((*p & 0xc0) != 0x80)
				return false;
			v = v << 6 | (*p++ & 0x3f);
		}
		if (v < least || v > 0x10ffff || (v >= 0xd800 && v < 0xe000))
			return false;
	}
	return true;
}

char *pop_escape_bytes(const char *s)
{
	char *text = malloc(strlen(s) * 4 + 1), *out = text;

	if (!text)
		return NULL;
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c >= 0x80 || c == '\\') {
			snprintf(out, 5, "\\x%02x", (unsigned int)c);
			out += 4;
		} else {
			*out++ = *s;
		}
	}
	*out = '\0';
	return text;
}
