/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What there is to dump: every inode that a name leads to, and its number in the stream. The root must be 2 there
 * and numbers have 32 bits, with a map of all of them in front; where those of the image do not fit, all are given
 * anew, in the same order.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "dump_private.h"
#include "fsa/bytes.h"
#include "outfile.h"

#define NOT_DUMPED UINT32_MAX
/* Two maps of this many bits, 64 MiB each, are what a stream may have in front. */
#define MOST_NUMBER (1u << 29)
#define MOST_INODES (1u << 28)
/* A header tells of 512 KiB at most, holes too: a file beyond this would be 64 GiB of headers. */
#define MOST_SIZE (UINT64_C(1) << 45)
#define MOST_NAME 255u

static size_t slot_of(const struct dump_inodes *inodes, struct fsa_ref ref)
{
	uint64_t h = ref.word[0] * 0x9e3779b97f4a7c15u;
	size_t i;

	h = (h ^ h >> 29 ^ ref.word[1]) * 0xbf58476d1ce4e5b9u;
	h = (h ^ h >> 32 ^ ref.word[2]) * 0x94d049bb133111ebu;
	i = (size_t)(h ^ h >> 31) & (inodes->n_slots - 1);
	while (inodes->slots[i] != 0 && !fsa_ref_equal(inodes->list[inodes->slots[i] - 1].ref, ref))
		i = (i + 1) & (inodes->n_slots - 1);
	return i;
}

static bool make_slots(struct dump_inodes *inodes, size_t n_slots)
{
	uint32_t *slots = calloc(n_slots, sizeof(*slots));

	if (slots == NULL)
		return false;
	free(inodes->slots);
	inodes->slots = slots;
	inodes->n_slots = n_slots;
	for (size_t i = 0; i < inodes->count; i++)
		slots[slot_of(inodes, inodes->list[i].ref)] = (uint32_t)i + 1;
	return true;
}

struct dumped *dump_find(const struct dump_inodes *inodes, struct fsa_ref ref)
{
	uint32_t found;

	if (inodes->n_slots == 0)
		return NULL;
	found = inodes->slots[slot_of(inodes, ref)];
	return found != 0 ? &inodes->list[found - 1] : NULL;
}

bool dump_add_inode(struct dump_inodes *inodes, const struct dumped *inode, bool *fresh)
{
	size_t slot;

	if ((inodes->count + 1) * 4 > inodes->n_slots * 3 &&
	    !make_slots(inodes, inodes->n_slots != 0 ? inodes->n_slots * 2 : 1024))
		return false;
	slot = slot_of(inodes, inode->ref);
	*fresh = inodes->slots[slot] == 0;
	if (!*fresh)
		return true;
	if (inodes->count == inodes->room) {
		const size_t room = inodes->room != 0 ? inodes->room * 2 : 1024;
		struct dumped *bigger = realloc(inodes->list, room * sizeof(*bigger));

		if (bigger == NULL)
			return false;
		inodes->list = bigger;
		inodes->room = room;
	}
	inodes->list[inodes->count++] = *inode;
	inodes->slots[slot] = (uint32_t)inodes->count;
	return true;
}

void dump_inodes_free(struct dump_inodes *inodes)
{
	free(inodes->list);
	free(inodes->slots);
	*inodes = (struct dump_inodes){ .list = NULL };
}

/* --- numbers ------------------------------------------------------------------------------------- */

/* An inode and where it stood when it was met: the root first, then by number. */
struct place {
	uint64_t number;
	uint32_t index;
};

static int by_number(const void *left, const void *right)
{
	const struct place *a = left, *b = right;

	if ((a->index == 0) != (b->index == 0))
		return a->index == 0 ? -1 : 1;
	if (a->number != b->number)
		return a->number < b->number ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

/* Brings the list into the order of `places`. */
static bool reorder(struct dump_inodes *inodes, const struct place *places)
{
	struct dumped *list = malloc(inodes->count * sizeof(*list));
	uint32_t *moved = malloc(inodes->count * sizeof(*moved));

	if (list == NULL || moved == NULL) {
		free(list);
		free(moved);
		return false;
	}
	for (size_t i = 0; i < inodes->count; i++)
		moved[places[i].index] = (uint32_t)i;
	for (size_t i = 0; i < inodes->count; i++) {
		list[i] = inodes->list[places[i].index];
		list[i].parent = moved[list[i].parent];
	}
	free(moved);
	free(inodes->list);
	inodes->list = list;
	inodes->room = inodes->count;
	return make_slots(inodes, inodes->n_slots);
}

/* The numbers of the image fit when they are different, above the root's and not too high. */
static bool numbers_fit(const struct dump_inodes *inodes)
{
	for (size_t i = 1; i < inodes->count; i++) {
		const uint64_t before = i == 1 ? DUMP_ROOT : inodes->list[i - 1].number;

		if (inodes->list[i].number <= before || inodes->list[i].number > MOST_NUMBER)
			return false;
	}
	return true;
}

bool dump_number_inodes(struct dump_inodes *inodes)
{
	struct place *places;
	bool good;

	if (inodes->count == 0)
		return true;
	places = malloc(inodes->count * sizeof(*places));
	if (places == NULL)
		return false;
	for (size_t i = 0; i < inodes->count; i++)
		places[i] = (struct place){ inodes->list[i].number, (uint32_t)i };
	qsort(places, inodes->count, sizeof(*places), by_number);
	good = reorder(inodes, places);
	free(places);
	if (!good)
		return false;
	inodes->renumbered = !numbers_fit(inodes);
	for (size_t i = 0; i < inodes->count; i++)
		inodes->list[i].dumped = inodes->renumbered ? DUMP_ROOT + (uint32_t)i : (uint32_t)inodes->list[i].number;
	inodes->list[0].dumped = DUMP_ROOT;
	inodes->highest = inodes->list[inodes->count - 1].dumped;
	return true;
}

/* --- the walk ------------------------------------------------------------------------------------ */

struct collector {
	struct dump *d;
	uint32_t *above;	/* by depth: the directory whose entries are being met, or NOT_DUMPED */
	size_t depth_room;
};

static bool set_above(struct collector *c, unsigned depth, uint32_t index)
{
	if (depth >= c->depth_room) {
		const size_t room = (size_t)depth * 2 + 64;
		uint32_t *bigger = realloc(c->above, room * sizeof(*bigger));

		if (bigger == NULL)
			return false;
		c->above = bigger;
		c->depth_room = room;
	}
	c->above[depth] = index;
	return true;
}

/* Why the entry cannot be in a dump; NULL when it can. */
static const char *why_not(const struct dump *d, const struct fsa_walk_entry *entry)
{
	const struct fsa_stat *stat = entry->stat;

	if (stat == NULL)
		return "inode cannot be read";
	if (entry->entry != NULL && entry->entry->name_length > MOST_NAME)
		return "name is longer than 255 bytes";
	if (stat->type == FSA_TYPE_UNKNOWN)
		return "inode is of no known type";
	if (stat->type == FSA_TYPE_REGULAR && stat->size > MOST_SIZE)
		return "file is larger than 32 TiB";
	if (stat->type == FSA_TYPE_REGULAR && d->fs->parser->extents == NULL)
		return "contents of files cannot be read in this format";
	if (d->inodes.count == MOST_INODES)
		return "there are more than 268435456 inodes";
	return NULL;
}

static enum fsa_status leave_out(struct collector *c, const struct fsa_walk_entry *entry, const char *why)
{
	const struct fsa_stat *stat = entry->stat;

	c->d->counts.left_out++;
	fsa_find(c->d->opened->findings, "inode",
		 stat != NULL ? stat->number : entry->entry != NULL ? entry->entry->number : FSA_NO_NUMBER,
		 stat != NULL ? stat->offset : entry->entry != NULL ? entry->entry->offset : FSA_NO_OFFSET,
		 "%s: /%.300s is not dumped", why, entry->path);
	/* What is below it has no place in the dump either. */
	if (stat != NULL && stat->type == FSA_TYPE_DIRECTORY && !set_above(c, entry->depth, NOT_DUMPED))
		return FSA_ENOMEM;
	return FSA_OK;
}

static enum fsa_status visit(void *arg, const struct fsa_walk_entry *entry)
{
	struct collector *c = arg;
	struct dump *d = c->d;
	const char *why = why_not(d, entry);
	struct dumped inode;
	bool fresh;

	if (outfile_stopped(NULL))
		return FSA_STOP;
	if (entry->depth != 0 && c->above[entry->depth - 1] == NOT_DUMPED)
		why = "directory above it is not dumped";
	if (why != NULL)
		return leave_out(c, entry, why);
	inode = (struct dumped){
		.ref = entry->ref,
		.number = entry->stat->number,
		.parent = entry->depth != 0 ? c->above[entry->depth - 1] : 0,
		.directory = entry->stat->type == FSA_TYPE_DIRECTORY,
	};
	if (!dump_add_inode(&d->inodes, &inode, &fresh))
		return FSA_ENOMEM;
	if (!fresh)
		return FSA_OK;
	if (inode.directory && !set_above(c, entry->depth, (uint32_t)d->inodes.count - 1))
		return FSA_ENOMEM;
	/* Nothing that comes from now: the same image gives the same stream. */
	if (entry->stat->ctime.set && entry->stat->ctime.sec > d->inodes.date && entry->stat->ctime.sec <= INT32_MAX)
		d->inodes.date = (uint32_t)entry->stat->ctime.sec;
	if (d->progress != NULL)
		progress_show(d->progress, "looking for files of", 0, 0, false);
	return FSA_OK;
}

enum fsa_status dump_collect(struct dump *d)
{
	struct collector c = { .d = d };
	enum fsa_status status;
	struct fsa_ref root;

	status = d->fs->parser->root(d->fs, &root);
	if (status == FSA_OK)
		status = fsa_walk(d->fs, root, true, visit, &c);
	free(c.above);
	if (status == FSA_STOP)
		d->stream.error = ECANCELED;
	if (status != FSA_OK)
		return status;
	if (d->inodes.count == 0 || !d->inodes.list[0].directory)
		return FSA_EDAMAGED;
	if (!dump_number_inodes(&d->inodes))
		return FSA_ENOMEM;
	for (size_t i = 0; i < d->inodes.count; i++)
		d->counts.renumbered += d->inodes.list[i].dumped != d->inodes.list[i].number;
	return FSA_OK;
}
