/* SPDX-License-Identifier: GPL-2.0-only */
/* Figures in a format's own words, as its tools print them: kept as they come, printed in groups. */
#ifndef FSA_ANALYZER_OWNFIGURES_H
#define FSA_ANALYZER_OWNFIGURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A filesystem of very many subvolumes may have very many; further ones are counted and not kept. */
#define OWNFIGURES_LIMIT 10000

struct ownfigure {
	char *group;
	char *name;
	char unit[8];		/* "bytes", "blocks", or "" for a count */
	uint64_t value;
};

struct ownfigures {
	struct ownfigure *list;
	size_t count, room;
	uint64_t dropped;
};

/* The callback of struct fsa_audit; arg is a struct ownfigures. */
void ownfigures_add(void *arg, const char *group, const char *name, uint64_t value, const char *unit);
/* The group that a short report shows too. */
#define OWNFIGURES_SHORT "usage"

/* Prints a table for each group, or only for the one that is always shown; false when output failed. */
bool ownfigures_print(const struct ownfigures *figures, bool bytes, bool all);
void ownfigures_free(struct ownfigures *figures);

#endif
