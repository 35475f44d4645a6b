/* SPDX-License-Identifier: GPL-2.0-only */
#include "escape.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Length of the well-formed UTF-8 character at `b` and its code point; 0 when there is none. */
static size_t utf8_at(const unsigned char *b, size_t left, uint32_t *code)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t length;

	if (b[0] < 0x80) {
		*code = b[0];
		return 1;
	}
	if (b[0] >= 0xc2 && b[0] <= 0xdf)
		length = 2;
	else if (b[0] >= 0xe0 && b[0] <= 0xef)
		length = 3;
	else if (b[0] >= 0xf0 && b[0] <= 0xf4)
		length = 4;
	else
		return 0;
	if (left < length)
		return 0;
	*code = b[0] & (0x7fu >> length);
	for (size_t i = 1; i < length; i++) {
		if ((b[i] & 0xc0) != 0x80)
			return 0;
		*code = *code << 6 | (b[i] & 0x3fu);
	}
	if (*code < least[length] || *code > 0x10ffff || (*code >= 0xd800 && *code <= 0xdfff))
		return 0;
	return length;
}

/*
 * Code points that do something to a terminal or to the reader's eye instead of showing: controls, line and
 * paragraph separators, and the marks that turn the direction of the text around them.
 */
static bool is_shown(uint32_t code)
{
	if (code < 0x20 || (code >= 0x7f && code < 0xa0))
		return false;
	if (code == 0x061c || code == 0xfeff || (code >= 0x200b && code <= 0x200f))
		return false;
	if ((code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069))
		return false;
	if ((code & 0xfffe) == 0xfffe || (code >= 0xfdd0 && code <= 0xfdef))
		return false;
	return true;
}

/* The piece that stands for the next character; returns bytes eaten, sets its text (at most 16 bytes). */
static size_t next_piece(const unsigned char *b, size_t left, char *piece, size_t *piece_length)
{
	static const char hex[] = "0123456789abcdef";
	uint32_t code = 0;
	size_t eaten = utf8_at(b, left, &code);

	if (eaten != 0 && code == '\\') {
		memcpy(piece, "\\\\", 2);
		*piece_length = 2;
		return eaten;
	}
	if (eaten != 0 && is_shown(code)) {
		memcpy(piece, b, eaten);
		*piece_length = eaten;
		return eaten;
	}
	if (eaten == 0)
		eaten = 1;
	for (size_t i = 0; i < eaten; i++) {
		piece[4 * i] = '\\';
		piece[4 * i + 1] = 'x';
		piece[4 * i + 2] = hex[b[i] >> 4];
		piece[4 * i + 3] = hex[b[i] & 15];
	}
	*piece_length = 4 * eaten;
	return eaten;
}

size_t escape(char *out, size_t size, const char *bytes, size_t length)
{
	const unsigned char *b = (const unsigned char *)bytes;
	size_t total = 0, written = 0;
	bool full = size == 0;

	for (size_t i = 0; i < length;) {
		char piece[16];
		size_t piece_length;

		i += next_piece(b + i, length - i, piece, &piece_length);
		total += piece_length;
		if (!full && total < size) {
			memcpy(out + written, piece, piece_length);
			written = total;
		} else {
			full = true;
		}
	}
	if (size != 0)
		out[written] = '\0';
	return total;
}

char *escape_new(const char *bytes, size_t length)
{
	size_t size = escape(NULL, 0, bytes, length) + 1;
	char *out = malloc(size);

	if (out != NULL)
		escape(out, size, bytes, length);
	return out;
}

void escape_print(FILE *out, const char *bytes, size_t length)
{
	const unsigned char *b = (const unsigned char *)bytes;

	for (size_t i = 0; i < length;) {
		char piece[16];
		size_t piece_length;

		i += next_piece(b + i, length - i, piece, &piece_length);
		fwrite(piece, 1, piece_length, out);
	}
}

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

bool escape_undo(char *text, size_t *length)
{
	size_t o = 0;

	for (const char *p = text; *p != '\0';) {
		if (*p != '\\') {
			text[o++] = *p++;
		} else if (p[1] == '\\') {
			text[o++] = '\\';
			p += 2;
		} else if (p[1] == 'x' && hex_value(p[2]) >= 0 && hex_value(p[3]) >= 0) {
			text[o++] = (char)(hex_value(p[2]) << 4 | hex_value(p[3]));
			p += 4;
		} else {
			return false;
		}
	}
	*length = o;
	return true;
}

bool escape_is_utf8(const char *bytes, size_t length)
{
	const unsigned char *b = (const unsigned char *)bytes;

	for (size_t i = 0; i < length;) {
		uint32_t code;
		size_t n = utf8_at(b + i, length - i, &code);

		if (n == 0)
			return false;
		i += n;
	}
	return true;
}

char *escape_base64(const void *bytes, size_t length)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const unsigned char *b = bytes;
	char *out = malloc((length + 2) / 3 * 4 + 1);
	size_t o = 0;

	if (out == NULL)
		return NULL;
	for (size_t i = 0; i < length; i += 3) {
		const size_t left = length - i;
		const uint32_t bits = (uint32_t)b[i] << 16 | (left > 1 ? (uint32_t)b[i + 1] << 8 : 0) |
				      (left > 2 ? b[i + 2] : 0u);

		out[o++] = digits[bits >> 18];
		out[o++] = digits[bits >> 12 & 63];
		out[o++] = left > 1 ? digits[bits >> 6 & 63] : '=';
		out[o++] = left > 2 ? digits[bits & 63] : '=';
	}
	out[o] = '\0';
	return out;
}
