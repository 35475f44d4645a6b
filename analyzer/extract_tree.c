/* SPDX-License-Identifier: GPL-2.0-only */
#include "extract_tree.h"

#include <stdlib.h>
#include <string.h>

/* Entries that wait at most: small files fill the window with this many. */
#define MAX_WAITING 16384u

/* An entry of the walk, kept until its contents are in the window. */
struct waiting {
	struct fsa_ref ref;
	struct fsa_stat stat;
	bool have_stat, have_entry;
	uint64_t number, offset;	/* of the directory entry */
	size_t path, path_length;	/* in `paths` */
	unsigned depth;
};

struct queue {
	struct waiting *waiting;
	size_t count, room;
	char *paths;
	size_t paths_length, paths_room;
};

struct tree {
	struct extract *x;
	struct window *window;
	struct queue queues[2];
	struct queue *noted, *reading;	/* entries in the two halves of the window */
};

static enum fsa_status hand_out(struct tree *t, const struct queue *q, const struct waiting *e)
{
	const struct fsa_dirent entry = {
		.name = "",
		.ref = e->ref,
		.number = e->number,
		.offset = e->offset,
	};
	const struct fsa_walk_entry seen = {
		.path = q->paths + e->path,
		.path_length = e->path_length,
		.entry = e->have_entry ? &entry : NULL,
		.ref = e->ref,
		.stat = e->have_stat ? &e->stat : NULL,
		.depth = e->depth,
	};

	return extract_entry(t->x, &seen);
}

/* What was noted begins to be read, and what was being read is added to the archive. */
static enum fsa_status turn(struct tree *t)
{
	struct queue *ready = t->reading;
	enum fsa_status status = extract_settle(t->x);

	if (status == FSA_OK)
		status = window_turn(t->window);
	for (size_t i = 0; i < ready->count && status == FSA_OK; i++)
		status = hand_out(t, ready, &ready->waiting[i]);
	ready->count = 0;
	ready->paths_length = 0;
	t->reading = t->noted;
	t->noted = ready;
	return status;
}

static enum fsa_status drain(struct tree *t)
{
	enum fsa_status status = turn(t);

	return status == FSA_OK ? turn(t) : status;
}

static bool make_room(struct queue *q, size_t path_length)
{
	if (q->count == q->room) {
		const size_t room = q->room != 0 ? q->room * 2 : 256;
		struct waiting *bigger = realloc(q->waiting, room * sizeof(*bigger));

		if (bigger == NULL)
			return false;
		q->waiting = bigger;
		q->room = room;
	}
	if (q->paths_room - q->paths_length < path_length + 1) {
		const size_t room = (q->paths_room + path_length + 1) * 2;
		char *bigger = realloc(q->paths, room);

		if (bigger == NULL)
			return false;
		q->paths = bigger;
		q->paths_room = room;
	}
	return true;
}

static enum fsa_status enqueue(struct queue *q, const struct fsa_walk_entry *entry)
{
	struct waiting *e;

	if (!make_room(q, entry->path_length))
		return FSA_ENOMEM;
	e = &q->waiting[q->count++];
	e->ref = entry->ref;
	e->have_stat = entry->stat != NULL;
	if (e->have_stat)
		e->stat = *entry->stat;
	e->have_entry = entry->entry != NULL;
	e->number = e->have_entry ? entry->entry->number : 0;
	e->offset = e->have_entry ? entry->entry->offset : 0;
	e->path = q->paths_length;
	e->path_length = entry->path_length;
	e->depth = entry->depth;
	memcpy(q->paths + q->paths_length, entry->path, entry->path_length);
	q->paths[q->paths_length + entry->path_length] = '\0';
	q->paths_length += entry->path_length + 1;
	return FSA_OK;
}

static enum fsa_status visit(void *arg, const struct fsa_walk_entry *entry)
{
	struct tree *t = arg;
	const struct fsa_stat *stat = entry->stat;
	enum fsa_status status;
	bool fits = true;

	if (!window_reads_ahead(t->window))
		return extract_entry(t->x, entry);
	if (stat != NULL && stat->type == FSA_TYPE_REGULAR && !(stat->links > 1 && extract_has(t->x, entry->ref))) {
		status = window_note(t->window, entry->ref, stat->number, stat->size, &fits);
		if (status != FSA_OK)
			return status;
	}
	if (!fits) {
		status = drain(t);
		return status == FSA_OK ? extract_entry(t->x, entry) : status;
	}
	status = enqueue(t->noted, entry);
	if (status == FSA_OK && (window_full(t->window) || t->noted->count == MAX_WAITING))
		status = turn(t);
	return status;
}

enum fsa_status extract_tree(struct extract *x, struct fsa_fs *fs, struct fsa_ref ref, const char *name,
			     struct window *window)
{
	struct tree t = { .x = x, .window = window, .noted = &t.queues[0], .reading = &t.queues[1] };
	enum fsa_status status;
	size_t length;
	const void *memory = window_memory(window, &length);

	extract_begin(x, name);
	extract_lend(x, memory, length);
	status = fsa_walk(fs, ref, true, visit, &t);
	if (status == FSA_OK)
		status = drain(&t);
	if (status == FSA_OK)
		status = extract_flush(x);
	extract_lend(x, NULL, 0);
	for (unsigned i = 0; i < 2; i++) {
		free(t.queues[i].waiting);
		free(t.queues[i].paths);
	}
	return status;
}
