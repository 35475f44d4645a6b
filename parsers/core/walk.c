/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Walks over trees of names. A directory is read completely before its entries are visited, so parsers
 * need not be entered again from within their own readdir; held at any time are the entries of one
 * directory, the directories still to be entered, and 24 bytes for each directory entered so far.
 */
#include <stdlib.h>
#include <string.h>

#include "fsa/read.h"
#include "listing.h"
#include "name.h"

/* What a path may grow to: real trees stay far below, made-up ones must end somewhere. */
#define MAX_DEPTH 4096
#define MAX_PATH_BYTES (4u << 20)

/* --- directories met so far ---------------------------------------------------------------------- */

struct visited {
	struct fsa_ref *slots;		/* a slot with used[] clear is empty */
	uint8_t *used;
	size_t room;			/* a power of two, or 0 */
	size_t count;
};

static size_t visited_slot(const struct visited *v, struct fsa_ref ref)
{
	uint64_t h = fsa_mix(ref.word[0] + fsa_mix(ref.word[1] + fsa_mix(ref.word[2])));
	size_t i = (size_t)h & (v->room - 1);

	while (v->used[i] && !fsa_ref_equal(v->slots[i], ref))
		i = (i + 1) & (v->room - 1);
	return i;
}

/* *fresh says whether `ref` was new. */
static enum fsa_status visited_add(struct visited *v, struct fsa_ref ref, bool *fresh)
{
	size_t i;

	if ((v->count + 1) * 4 > v->room * 3) {
		struct visited bigger = { .room = v->room ? v->room * 2 : 64, .count = v->count };

		bigger.slots = malloc(bigger.room * sizeof(*bigger.slots));
		bigger.used = calloc(bigger.room, 1);
		if (!bigger.slots || !bigger.used) {
			free(bigger.slots);
			free(bigger.used);
			return FSA_ENOMEM;
		}
		for (i = 0; i < v->room; i++) {
			if (v->used[i]) {
				size_t j = visited_slot(&bigger, v->slots[i]);

				bigger.slots[j] = v->slots[i];
				bigger.used[j] = 1;
			}
		}
		free(v->slots);
		free(v->used);
		*v = bigger;
	}
	i = visited_slot(v, ref);
	*fresh = !v->used[i];
	if (*fresh) {
		v->slots[i] = ref;
		v->used[i] = 1;
		v->count++;
	}
	return FSA_OK;
}

/* --- the walk ------------------------------------------------------------------------------------ */

/*
 * Directories still to be entered, last in first out. The path that leads to one is a prefix of the
 * current path whenever it is on top, so its own name and the prefix's length are enough.
 */
struct pending {
	struct fsa_ref ref;
	uint64_t number;
	uint64_t offset;
	size_t prefix;			/* bytes of the parent's path */
	size_t name;			/* where the name starts in `names`; it ends where `names` ends */
	unsigned depth;
	bool encrypted;
	bool enter;			/* not met before */
};

struct walker {
	struct fsa_fs *fs;
	fsa_walk_fn visit;
	void *arg;
	bool recursive;
	bool listings;			/* directories are visited with their siblings, not when entered */
	bool want_stat;			/* always, not only where the entry does not tell the type */
	struct visited visited;
	struct listing listing;
	struct pending *pending;
	size_t n_pending;
	size_t pending_room;
	struct fsa_text names;		/* of the pending directories */
	struct fsa_text path;
};

static void set_length(struct fsa_text *b, size_t length)
{
	b->length = length;
	if (b->data)
		b->data[length] = '\0';
}

/* Appends "/name" or, at the start of the walk, "name". */
static bool path_append(struct fsa_text *path, const char *name, size_t length)
{
	if (path->length && !fsa_bytes_append(path, "/", 1))
		return false;
	return fsa_bytes_append(path, name, length);
}

/* The inode of an entry; *type becomes what it really is, unknown when it cannot be read. */
static enum fsa_status read_inode(struct walker *w, struct fsa_ref ref, struct fsa_stat *stat, bool *readable,
				  uint8_t *type)
{
	enum fsa_status status = w->fs->parser->stat(w->fs, ref, stat);

	*readable = status == FSA_OK;
	*type = (uint8_t)(*readable ? stat->type : FSA_TYPE_UNKNOWN);
	return status == FSA_ENOMEM ? status : FSA_OK;
}

/* Visits one entry of the directory whose path is in w->path. */
static enum fsa_status visit_entry(struct walker *w, const struct listed *e, const struct fsa_stat *stat,
				   unsigned depth)
{
	size_t prefix = w->path.length;
	struct fsa_dirent entry = {
		.name = w->listing.names.data + e->name,
		.name_length = e->name_length,
		.ref = e->ref,
		.number = e->number,
		.type = (enum fsa_type)e->type,
		.offset = e->offset,
		.encrypted = e->encrypted,
	};
	struct fsa_walk_entry seen = { .entry = &entry, .ref = e->ref, .stat = stat, .depth = depth };
	enum fsa_status status;

	if (!path_append(&w->path, entry.name, entry.name_length))
		return FSA_ENOMEM;
	seen.path = w->path.data;
	seen.path_length = w->path.length;
	status = w->visit(w->arg, &seen);
	set_length(&w->path, prefix);
	return status;
}

/*
 * Visits the entries just listed and finds out which of them are directories. Those wait, unless this is a
 * listing.
 */
static enum fsa_status visit_entries(struct walker *w, unsigned depth)
{
	struct fsa_stat stat;
	enum fsa_status status;

	for (size_t i = 0; i < w->listing.count; i++) {
		struct listed *e = &w->listing.entries[i];
		bool have_stat = false;

		if (!w->listings && e->type == FSA_TYPE_DIRECTORY)
			continue;
		if (w->want_stat || e->type == FSA_TYPE_UNKNOWN) {
			status = read_inode(w, e->ref, &stat, &have_stat, &e->type);
			if (status != FSA_OK)
				return status;
		}
		if (!w->listings && e->type == FSA_TYPE_DIRECTORY)
			continue;
		status = visit_entry(w, e, have_stat ? &stat : NULL, depth);
		if (status != FSA_OK)
			return status;
	}
	return FSA_OK;
}

static enum fsa_status push(struct walker *w, const struct listed *e, unsigned depth, bool enter)
{
	void *p = w->pending;
	bool ok = fsa_grow(&p, &w->pending_room, w->n_pending + 1, sizeof(*w->pending));

	w->pending = p;
	if (!ok)
		return FSA_ENOMEM;
	w->pending[w->n_pending] = (struct pending){
		.ref = e->ref,
		.number = e->number,
		.offset = e->offset,
		.prefix = w->path.length,
		.name = w->names.length,
		.depth = depth,
		.encrypted = e->encrypted,
		.enter = enter,
	};
	if (!fsa_bytes_append(&w->names, w->listing.names.data + e->name, e->name_length))
		return FSA_ENOMEM;
	w->n_pending++;
	return FSA_OK;
}

/* Whether a directory is to be entered when its turn comes; if not, a finding says why. */
static enum fsa_status may_enter(struct walker *w, const struct listed *e, unsigned depth, bool *enter)
{
	struct fsa_shown_name shown;
	enum fsa_status status = visited_add(&w->visited, e->ref, enter);

	if (status != FSA_OK)
		return status;
	if (!*enter) {
		fsa_find(w->fs->findings, "directory", w->listing.directory, e->offset,
			 "directory %llu under the name \"%s\" was already met elsewhere: not entered",
			 (unsigned long long)e->number,
			 fsa_show_name(&shown, w->listing.names.data + e->name, e->name_length));
	} else if (depth > MAX_DEPTH || w->path.length > MAX_PATH_BYTES) {
		fsa_find(w->fs->findings, "directory", e->number, FSA_NO_OFFSET,
			 "lies %u levels below the start, its path has %zu bytes: not entered", depth,
			 w->path.length);
		*enter = false;
	}
	return FSA_OK;
}

/* The directories just listed go on the stack, the first one on top. */
static enum fsa_status push_directories(struct walker *w, unsigned depth)
{
	struct listing *l = &w->listing;
	enum fsa_status status;
	bool enter;

	/* In directory order: of two names for one directory the first is the one that is entered. */
	for (size_t i = 0; i < l->count; i++) {
		struct listed *e = &l->entries[i];

		e->enter = false;
		if (e->type != FSA_TYPE_DIRECTORY || !w->recursive)
			continue;
		status = may_enter(w, e, depth, &enter);
		if (status != FSA_OK)
			return status;
		e->enter = enter;
	}
	for (size_t i = l->count; i-- > 0; ) {
		const struct listed *e = &l->entries[i];

		/* What is not entered was visited with the listing, or still has to be. */
		if (e->type != FSA_TYPE_DIRECTORY || (w->listings && !e->enter))
			continue;
		status = push(w, e, depth, e->enter);
		if (status != FSA_OK)
			return status;
	}
	return FSA_OK;
}

/* Reads the directory whose path is in w->path and visits what is in it. */
static enum fsa_status enter(struct walker *w, struct fsa_ref ref, uint64_t number, unsigned depth)
{
	enum fsa_status status;

	status = fsa_listing_read(&w->listing, ref, number);
	/* Damage costs the entries that could not be read; the parser has reported it. */
	if (status == FSA_ENOMEM)
		return status;
	status = visit_entries(w, depth + 1);
	if (status != FSA_OK)
		return status;
	return push_directories(w, depth + 1);
}

/* A directory's turn: w->path becomes its path. */
static enum fsa_status pop(struct walker *w)
{
	struct pending dir = w->pending[--w->n_pending];
	struct fsa_dirent entry = {
		.name_length = w->names.length - dir.name,
		.ref = dir.ref,
		.number = dir.number,
		.type = FSA_TYPE_DIRECTORY,
		.offset = dir.offset,
		.encrypted = dir.encrypted,
	};
	struct fsa_walk_entry seen = { .entry = &entry, .ref = dir.ref, .depth = dir.depth };
	uint8_t type = FSA_TYPE_DIRECTORY;
	struct fsa_stat stat;
	enum fsa_status status = FSA_OK;
	bool have_stat = false;

	set_length(&w->path, dir.prefix);
	if (!path_append(&w->path, w->names.data + dir.name, w->names.length - dir.name))
		return FSA_ENOMEM;
	set_length(&w->names, dir.name);
	if (!w->listings) {
		if (w->want_stat)
			status = read_inode(w, dir.ref, &stat, &have_stat, &type);
		if (status != FSA_OK)
			return status;
		seen.stat = have_stat ? &stat : NULL;
		seen.path = w->path.data;
		seen.path_length = w->path.length;
		entry.name = w->path.data + w->path.length - entry.name_length;
		status = w->visit(w->arg, &seen);
	}
	/* An entry may call something a directory that is none. */
	if (status != FSA_OK || !dir.enter || type != FSA_TYPE_DIRECTORY)
		return status;
	return enter(w, dir.ref, dir.number, dir.depth);
}

static enum fsa_status walk_start(struct walker *w, struct fsa_ref start)
{
	struct fsa_walk_entry seen = { .ref = start };
	struct fsa_stat stat;
	enum fsa_status status;
	bool fresh;

	status = w->fs->parser->stat(w->fs, start, &stat);
	if (status == FSA_ENOMEM)
		return status;
	if (status == FSA_OK)
		seen.stat = &stat;
	if (!fsa_bytes_append(&w->path, "", 0))
		return FSA_ENOMEM;
	seen.path = w->path.data;
	status = w->visit(w->arg, &seen);
	if (status != FSA_OK || !seen.stat || stat.type != FSA_TYPE_DIRECTORY)
		return status;
	status = visited_add(&w->visited, start, &fresh);
	if (status != FSA_OK)
		return status;
	return enter(w, start, stat.number, 0);
}

static enum fsa_status walk(struct walker *w, struct fsa_ref start)
{
	enum fsa_status status;

	w->listing.fs = w->fs;
	status = walk_start(w, start);
	while (status == FSA_OK && w->n_pending)
		status = pop(w);
	free(w->visited.slots);
	free(w->visited.used);
	fsa_listing_free(&w->listing);
	free(w->pending);
	free(w->names.data);
	free(w->path.data);
	return status;
}

static enum fsa_status walk_in_order(struct fsa_fs *fs, struct fsa_ref start, bool recursive, bool listings,
				     fsa_walk_fn visit, void *arg)
{
	struct walker w = {
		.fs = fs, .visit = visit, .arg = arg, .recursive = recursive, .listings = listings,
		.want_stat = true,
	};

	if (!fs->parser->stat || !fs->parser->readdir)
		return FSA_EUNSUPPORTED;
	return walk(&w, start);
}

enum fsa_status fsa_walk(struct fsa_fs *fs, struct fsa_ref start, bool recursive, fsa_walk_fn visit,
			 void *arg)
{
	return walk_in_order(fs, start, recursive, false, visit, arg);
}

enum fsa_status fsa_walk_listings(struct fsa_fs *fs, struct fsa_ref start, bool recursive, fsa_walk_fn visit,
				  void *arg)
{
	return walk_in_order(fs, start, recursive, true, visit, arg);
}

/* --- the other way round ------------------------------------------------------------------------- */

struct path_search {
	struct fsa_ref ref;
	char *path;
	bool found;
};

static enum fsa_status compare(void *arg, const struct fsa_walk_entry *entry)
{
	struct path_search *s = arg;

	if (!fsa_ref_equal(entry->ref, s->ref))
		return FSA_OK;
	s->found = true;
	s->path = malloc(entry->path_length + 2);
	if (!s->path)
		return FSA_ENOMEM;
	s->path[0] = '/';
	memcpy(s->path + 1, entry->path, entry->path_length + 1);
	return FSA_STOP;
}

enum fsa_status fsa_path_of(struct fsa_fs *fs, struct fsa_ref ref, char **path)
{
	struct path_search s = { .ref = ref };
	struct walker w = { .fs = fs, .visit = compare, .arg = &s, .recursive = true };
	enum fsa_status status;
	struct fsa_ref root;

	if (!fs->parser->root || !fs->parser->stat || !fs->parser->readdir)
		return FSA_EUNSUPPORTED;
	status = fs->parser->root(fs, &root);
	if (status != FSA_OK)
		return status;
	status = walk(&w, root);
	if (s.path) {
		*path = s.path;
		return FSA_OK;
	}
	return status == FSA_OK ? FSA_ENOENT : status;
}
