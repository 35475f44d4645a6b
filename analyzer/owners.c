/* SPDX-License-Identifier: GPL-2.0-only */
#include "owners.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "escape.h"
#include "fsa/bytes.h"
#include "fsa/read.h"
#include "progress.h"

/* Beyond these an image is so broken that further lines say nothing new; totals are given instead. */
#define MAX_RANGES 1000
#define MAX_OWNERS 4	/* named for one range */
#define MAX_PATHS 32	/* each costs a walk over the tree */

struct suspect {
	struct fsa_range range;
	enum fsa_range_kind kind;
	struct fsa_owner owners[MAX_OWNERS];
	unsigned n_owners;
	uint64_t more_owners;	/* meetings with further ones; the same one may be met again */
};

struct hunt {
	const struct fsa_ledger *ledger;
	struct suspect *suspects;	/* ordered by device and block; ranges of one kind do not overlap */
	size_t n;
};

static int by_place(const void *a, const void *b)
{
	const struct fsa_range *x = &((const struct suspect *)a)->range;
	const struct fsa_range *y = &((const struct suspect *)b)->range;

	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	if (x->block != y->block)
		return x->block < y->block ? -1 : 1;
	return 0;
}

static bool same_owner(const struct fsa_owner *a, const struct fsa_owner *b)
{
	if (a->has_ref != b->has_ref || a->number != b->number || strcmp(a->object, b->object) != 0)
		return false;
	return !a->has_ref || fsa_ref_equal(a->ref, b->ref);
}

static void note_owner(struct suspect *suspect, const struct fsa_owner *owner)
{
	for (unsigned i = 0; i < suspect->n_owners; i++)
		if (same_owner(&suspect->owners[i], owner))
			return;
	if (suspect->n_owners < MAX_OWNERS)
		suspect->owners[suspect->n_owners++] = *owner;
	else
		suspect->more_owners++;
}

/* The first suspect that ends behind `block`, by halving; ranges are short and ordered. */
static size_t first_behind(const struct hunt *hunt, unsigned device, uint64_t block)
{
	size_t low = 0, high = hunt->n;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const struct fsa_range *range = &hunt->suspects[middle].range;

		if (range->device < device || (range->device == device && range->block + range->count <= block))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void on_run(void *arg, const struct fsa_run *run)
{
	struct hunt *hunt = arg;
	const uint64_t size = fsa_ledger_block_size(hunt->ledger, run->device);
	const uint64_t first = run->offset / size;
	const uint64_t end = fsa_div_up(run->offset + run->length, size);

	if (run->owner == NULL)
		return;
	for (size_t i = first_behind(hunt, run->device, first); i < hunt->n; i++) {
		const struct fsa_range *range = &hunt->suspects[i].range;

		if (range->device != run->device || range->block >= end)
			break;
		note_owner(&hunt->suspects[i], run->owner);
	}
}

/*
 * Conflicts are kept one a claim, so that neighbours and repetitions are common: one line for each stretch.
 * Returns the number left.
 */
static size_t merge(struct suspect *suspects, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		struct fsa_range *last = kept != 0 ? &suspects[kept - 1].range : NULL;
		const struct fsa_range *next = &suspects[i].range;

		if (last != NULL && last->device == next->device && next->block <= last->block + last->count)
			last->count = fsa_max(last->count, next->block + next->count - last->block);
		else
			suspects[kept++] = suspects[i];
	}
	return kept;
}

/* The suspects of one kind, ordered; *left_out counts the ranges beyond MAX_RANGES. */
static enum fsa_status gather(struct hunt *hunt, enum fsa_range_kind kind, uint64_t *left_out)
{
	struct fsa_range *ranges = calloc(MAX_RANGES, sizeof(*ranges));
	uint64_t total = 0;

	hunt->suspects = NULL;
	hunt->n = 0;
	*left_out = 0;
	if (ranges == NULL)
		return FSA_ENOMEM;
	hunt->n = fsa_ledger_ranges(hunt->ledger, kind, ranges, MAX_RANGES, &total);
	*left_out = total - hunt->n;
	hunt->suspects = hunt->n != 0 ? calloc(hunt->n, sizeof(*hunt->suspects)) : NULL;
	if (hunt->n != 0 && hunt->suspects == NULL) {
		free(ranges);
		return FSA_ENOMEM;
	}
	for (size_t i = 0; i < hunt->n; i++)
		hunt->suspects[i] = (struct suspect){ .range = ranges[i], .kind = kind };
	free(ranges);
	if (hunt->n != 0)
		qsort(hunt->suspects, hunt->n, sizeof(*hunt->suspects), by_place);
	hunt->n = merge(hunt->suspects, hunt->n);
	return FSA_OK;
}

/* --- naming ---------------------------------------------------------------------------------------- */

/* Paths that were looked for already: an owner of many ranges is looked for once. */
struct paths {
	struct fsa_fs *fs;
	struct {
		struct fsa_ref ref;
		char *path;
	} known[MAX_PATHS];
	unsigned n;
};

static const char *path_of(struct paths *paths, struct fsa_ref ref)
{
	char *path = NULL;

	for (unsigned i = 0; i < paths->n; i++)
		if (fsa_ref_equal(paths->known[i].ref, ref))
			return paths->known[i].path;
	if (paths->n == MAX_PATHS)
		return NULL;
	/* The search walks over damage that was reported already. */
	fsa_findings_mute(paths->fs->findings, true);
	if (paths->fs->parser->root == NULL || fsa_path_of(paths->fs, ref, &path) != FSA_OK)
		path = NULL;
	fsa_findings_mute(paths->fs->findings, false);
	paths->known[paths->n].ref = ref;
	paths->known[paths->n].path = path;
	return paths->known[paths->n++].path;
}

static void append(char *text, size_t size, const char *more)
{
	const size_t length = strlen(text);

	snprintf(text + length, size - length, "%s", more);
}

static void append_owner(char *text, size_t size, struct paths *paths, const struct fsa_owner *owner)
{
	const char *path = owner->has_ref ? path_of(paths, owner->ref) : NULL;
	char number[32];

	append(text, size, owner->object);
	if (owner->number != FSA_NO_NUMBER) {
		snprintf(number, sizeof(number), " %" PRIu64, owner->number);
		append(text, size, number);
	}
	if (path != NULL) {
		/* Findings are escaped when they are printed; here only the length is bounded. */
		char shortened[300];
		const size_t length = strlen(path);

		if (length < sizeof(shortened) - sizeof(" ()"))
			snprintf(shortened, sizeof(shortened), " (%s)", path);
		else
			snprintf(shortened, sizeof(shortened), " (...%s)", path + length - 256);
		append(text, size, shortened);
	}
}

static void name_owners(char *text, size_t size, struct paths *paths, const struct suspect *suspect)
{
	text[0] = '\0';
	for (unsigned i = 0; i < suspect->n_owners; i++) {
		if (i > 0)
			append(text, size, i + 1 == suspect->n_owners && suspect->more_owners == 0 ? " and " : ", ");
		append_owner(text, size, paths, &suspect->owners[i]);
	}
	if (suspect->more_owners != 0)
		append(text, size, " and others");
	if (suspect->n_owners == 0)
		append(text, size, "something that could not be found again");
}

static void report(const struct opened *opened, const struct fsa_ledger *ledger, struct paths *paths,
		   const struct suspect *suspect)
{
	const struct fsa_range *range = &suspect->range;
	const uint64_t offset = range->block * fsa_ledger_block_size(ledger, range->device);
	const char *blocks = range->count == 1 ? "block is" : "blocks are";
	char names[2048];

	switch (suspect->kind) {
	case FSA_RANGE_LOST:
		fsa_find_on(opened->findings, range->device, "block", range->block, offset,
			    "lost: %" PRIu64 " %s marked as used, but nothing reachable uses %s", range->count,
			    blocks, range->count == 1 ? "it" : "them");
		break;
	case FSA_RANGE_USED_FREE:
		name_owners(names, sizeof(names), paths, suspect);
		fsa_find_on(opened->findings, range->device, "block", range->block, offset,
			    "%" PRIu64 " %s marked as free, but used by %s", range->count, blocks, names);
		break;
	case FSA_RANGE_CONFLICT:
		name_owners(names, sizeof(names), paths, suspect);
		fsa_find_on(opened->findings, range->device, "block", range->block, offset,
			    "%" PRIu64 " %s claimed more than once, by %s", range->count, blocks, names);
		break;
	}
}

static enum fsa_status walk_again(const struct opened *opened, struct hunt *hunt)
{
	struct progress progress;
	struct fsa_audit audit = { .progress = progress_audit, .progress_arg = &progress };
	enum fsa_status status;

	audit.claims = fsa_claims_to_callback(hunt->ledger, on_run, hunt);
	if (audit.claims == NULL)
		return FSA_ENOMEM;
	progress_begin(&progress, "looking for owners", opened->argument);
	fsa_findings_mute(opened->findings, true);
	status = opened->fs->parser->audit(opened->fs, &audit);
	fsa_findings_mute(opened->findings, false);
	progress_end(&progress);
	fsa_claims_free(audit.claims);
	return status;
}

static enum fsa_status find_kind(const struct opened *opened, const struct fsa_ledger *ledger,
				 enum fsa_range_kind kind, const char *what, struct paths *paths)
{
	struct hunt hunt = { .ledger = ledger };
	uint64_t left_out;
	enum fsa_status status = gather(&hunt, kind, &left_out);

	/* Lost blocks have no owner by definition. */
	if (status == FSA_OK && kind != FSA_RANGE_LOST && hunt.n != 0)
		status = walk_again(opened, &hunt);
	if (status != FSA_ENOMEM) {
		for (size_t i = 0; i < hunt.n; i++)
			report(opened, ledger, paths, &hunt.suspects[i]);
		if (left_out != 0)
			fsa_find(opened->findings, "block", FSA_NO_NUMBER, FSA_NO_OFFSET,
				 "%" PRIu64 " further ranges of blocks are %s", left_out, what);
	}
	free(hunt.suspects);
	return status;
}

enum fsa_status owners_find(const struct opened *opened, const struct fsa_ledger *ledger,
			    const struct fsa_ledger_result *result)
{
	struct paths paths = { .fs = opened->fs };
	enum fsa_status status = FSA_OK;

	if (result->lost_blocks != 0)
		status = find_kind(opened, ledger, FSA_RANGE_LOST, "lost", &paths);
	if (status == FSA_OK && result->used_free_blocks != 0)
		status = find_kind(opened, ledger, FSA_RANGE_USED_FREE, "used though marked as free", &paths);
	if (status == FSA_OK && result->conflict_blocks != 0)
		status = find_kind(opened, ledger, FSA_RANGE_CONFLICT, "claimed twice", &paths);
	for (unsigned i = 0; i < paths.n; i++)
		free(paths.known[i].path);
	return status;
}
