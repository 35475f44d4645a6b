/* SPDX-License-Identifier: GPL-2.0-only */
/* Lines of escaped fields. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pop_text.h"

void pop_text_put(FILE *f, const char *s)
{
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c <= 0x20 || c == '%' || c >= 0x7f)
			fprintf(f, "%%%02x", (unsigned int)c);
		else
			putc(c, f);
	}
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

int pop_text_unescape(char *s)
{
	char *out = s;

	while (*s) {
		if (*s == '%') {
			int hi = hex_digit(s[1]);
			int lo = hi < 0 ? -1 : hex_digit(s[2]);

			if (lo < 0 || hi * 16 + lo == 0)
				return -1;
			*out++ = (char)(hi * 16 + lo);
			s += 3;
		} else {
			*out++ = *s++;
		}
	}
	*out = '\0';
	return 0;
}

int pop_text_split(char *line, char **fields, int max)
{
	int n = 0;
	char *end = line + strlen(line);

	if (end > line && end[-1] == '\n')
		end[-1] = '\0';
	for (;;) {
		char *space = strchr(line, ' ');

		if (n == max)
			return -1;
		if (space)
			*space = '\0';
		if (pop_text_unescape(line))
			return -1;
		fields[n++] = line;
		if (!space)
			return n;
		line = space + 1;
	}
}

int pop_text_u64(const char *s, uint64_t *value)
{
	char *end;

	if (*s < '0' || *s > '9')
		return -1;
	errno = 0;
	*value = strtoull(s, &end, 10);
	return errno || *end ? -1 : 0;
}

int pop_text_s64(const char *s, int64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoll(s, &end, 10);
	return errno || end == s || *end ? -1 : 0;
}
