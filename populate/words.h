/* SPDX-License-Identifier: GPL-2.0-only */
/* A list of words for a command line. */
#ifndef FSA_POP_WORDS_H
#define FSA_POP_WORDS_H

#include <stdbool.h>
#include <stddef.h>

struct pop_words {
	char **word;		/* NULL-terminated as soon as one is there */
	size_t count, room;
	bool failed;		/* no memory, or an open quote */
};

void pop_words_add(struct pop_words *w, const char *s);

/* Adds the words of a line, quoted as in sh; nothing is expanded. */
void pop_words_split(struct pop_words *w, const char *line);

/* One line, quoted where needed; malloc'ed, NULL without memory. */
char *pop_words_join(const struct pop_words *w);
void pop_words_free(struct pop_words *w);

#endif
