/* SPDX-License-Identifier: GPL-2.0-only */
/* A table from paths to numbers that are not 0. */
#ifndef FSA_POP_NAMES_H
#define FSA_POP_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pop_name {
	char *path;
	uint64_t value;		/* 0: removed */
};

struct pop_names {
	struct pop_name *slots;
	size_t count, room;	/* room: 0 or a power of two */
};

/* 0 when the path is not there. */
uint64_t pop_names_get(const struct pop_names *n, const char *path);

/* Whether it was entered; a removed one may be forgotten. */
bool pop_names_known(const struct pop_names *n, const char *path);

/* Enters, changes, or with value 0 removes; returns 0 or -ENOMEM. */
int pop_names_set(struct pop_names *n, const char *path, uint64_t value);

/*
 * The value of the directory that a path lies in ("." for the top) and the
 * last part of the path; returns 0, -ENOENT or -ENOMEM.
 */
int pop_names_parent(const struct pop_names *n, const char *path,
		     uint64_t *value, const char **last);
void pop_names_free(struct pop_names *n);

#endif
