/* SPDX-License-Identifier: GPL-2.0-only */
/* Words of command lines. */
#include <stdlib.h>
#include <string.h>

#include "words.h"

static void add_owned(struct pop_words *w, char *s)
{
	if (s && w->count + 2 > w->room) {
		size_t room = w->room ? w->room * 2 : 16;
		char **more = realloc(w->word, room * sizeof(*more));

		if (more) {
			w->word = more;
			w->room = room;
		} else {
			free(s);
			s = NULL;
		}
	}
	if (!s) {
		w->failed = true;
		return;
	}
	w->word[w->count++] = s;
	w->word[w->count] = NULL;
}

void pop_words_add(struct pop_words *w, const char *s)
{
	add_owned(w, strdup(s));
}

void pop_words_split(struct pop_words *w, const char *line)
{
	char *buf = malloc(strlen(line) + 1);
	const char *p = line;

	if (!buf) {
		w->failed = true;
		return;
	}
	for (;;) {
		char quote = '\0', *out = buf;

		p += strspn(p, " \t\n");
		if (!*p)
			break;
		for (; *p; p++) {
			if (quote ? *p == quote : *p == '\'' || *p == '"') {
				quote = quote ? '\0' : *p;
				continue;
			}
			if (!quote && strchr(" \t\n", *p))
				break;
			if (*p == '\\' && quote != '\'' && p[1])
				p++;
			*out++ = *p;
		}
		if (quote)
			w->failed = true;
		*out = '\0';
		pop_words_add(w, buf);
	}
	free(buf);
}

char *pop_words_join(const struct pop_words *w)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
		"0123456789-_=+,./:@%^";
	size_t room = 1;
	char *line, *out;

	for (size_t i = 0; i < w->count; i++)
		room += strlen(w->word[i]) * 4 + 3;
	line = out = malloc(room);
	if (!line)
		return NULL;
	for (size_t i = 0; i < w->count; i++) {
		const char *s = w->word[i];
		bool quote = !*s || s[strspn(s, plain)];

		if (i)
			*out++ = ' ';
		if (quote)
			*out++ = '\'';
		for (; *s; s++) {
			if (*s == '\'') {
				memcpy(out, "'\\'", 3);
				out += 3;
			}
			*out++ = *s;
		}
		if (quote)
			*out++ = '\'';
	}
	*out = '\0';
	return line;
}

void pop_words_free(struct pop_words *w)
{
	for (size_t i = 0; i < w->count; i++)
		free(w->word[i]);
	free(w->word);
	*w = (struct pop_words){ 0 };
}
