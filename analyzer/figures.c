/* SPDX-License-Identifier: GPL-2.0-only */
#include "figures.h"

static unsigned bit_length(uint64_t value)
{
	return value == 0 ? 0 : 64u - (unsigned)__builtin_clzll(value);
}

static enum figures_group group_of(const struct fsa_object *object)
{
	if (object->flags & FSA_OBJECT_INTERNAL)
		return FIGURES_INTERNAL;
	if (object->flags & FSA_OBJECT_UNREFERENCED)
		return FIGURES_UNREFERENCED;
	switch (object->type) {
	case FSA_TYPE_REGULAR:
		return FIGURES_REGULAR;
	case FSA_TYPE_DIRECTORY:
		return FIGURES_DIRECTORY;
	case FSA_TYPE_SYMLINK:
		return FIGURES_SYMLINK;
	default:
		return FIGURES_OTHER;
	}
}

static void add_packed(struct figures_packed *packed, const struct fsa_object *object)
{
	struct figures_packed_class *class = &packed->sizes[bit_length(object->packed_bytes)];

	class->files++;
	class->bytes += object->packed_bytes;
	class->cost += object->packed_cost_bytes;
	class->unpacked += object->unpacked_bytes;
	class->uncharged += object->packed_uncharged_bytes;
}

static void add_regular(struct figures *figures, const struct fsa_object *object)
{
	struct figures_class *class = &figures->classes[bit_length(object->size_bytes)];

	class->files++;
	class->size += object->size_bytes;
	class->stored += object->data_bytes + object->packed_bytes;
	class->slack += object->slack_bytes;
	class->overhead += object->slack_bytes + object->preallocated_bytes + object->mapping_bytes +
			   object->xattr_bytes + object->other_bytes + object->packed_cost_bytes;

	if (object->packed_bytes != 0) {
		struct figures_packed *packed =
			object->flags & FSA_OBJECT_INLINE ? &figures->inlined : &figures->tails;

		add_packed(packed, object);
	}
	if (object->extents != 0) {
		figures->extent_files++;
		figures->extents += object->extents;
		figures->extent_data += object->data_bytes;
		if (object->extents == 1)
			figures->one_piece++;
		if (object->extents > figures->most_extents)
			figures->most_extents = object->extents;
		figures->pieces[bit_length(object->extents) - 1]++;
	}
}

void figures_add(struct figures *figures, const struct fsa_object *object)
{
	const enum figures_group group = group_of(object);
	struct figures_sums *sums = &figures->groups[group];

	sums->count++;
	sums->size += object->size_bytes;
	sums->data += object->data_bytes;
	sums->packed += object->packed_bytes;
	sums->slack += object->slack_bytes;
	sums->preallocated += object->preallocated_bytes;
	sums->mapping += object->mapping_bytes;
	sums->xattr += object->xattr_bytes;
	sums->other += object->other_bytes;
	sums->uncharged += object->uncharged_bytes;
	sums->st_bytes += object->st_blocks * 512;
	/* A directory's links are its subdirectories' "..": no further names of it. */
	if (group < FIGURES_NAMED && group != FIGURES_DIRECTORY && object->links > 1)
		figures->hard_links += object->links - 1;
	if (group == FIGURES_REGULAR)
		add_regular(figures, object);
}

int64_t figures_packed_saved(const struct figures_packed_class *class)
{
	return (int64_t)(class->unpacked - (class->bytes - class->uncharged) - class->cost);
}

static void finish_packed(struct figures_packed *packed)
{
	for (unsigned i = 0; i < FIGURES_CLASSES; i++) {
		const struct figures_packed_class *class = &packed->sizes[i];

		packed->files += class->files;
		packed->bytes += class->bytes;
		packed->cost += class->cost;
		packed->unpacked += class->unpacked;
		packed->uncharged += class->uncharged;
		packed->saved += figures_packed_saved(class);
	}
}

static double ratio(uint64_t part, uint64_t whole)
{
	return whole == 0 ? 0.0 : (double)part / (double)whole;
}

void figures_finish(struct figures *figures, const struct fsa_ledger_result *ledger,
		    const struct fsa_audit *audit)
{
	const struct figures_sums *regular = &figures->groups[FIGURES_REGULAR];

	finish_packed(&figures->tails);
	finish_packed(&figures->inlined);
	figures->fs_bytes = ledger->image_bytes - ledger->purpose_bytes[FSA_OUTSIDE];
	figures->used = figures->fs_bytes - ledger->purpose_bytes[FSA_FREE];
	figures->payload = regular->data + regular->packed;
	figures->efficiency = ratio(figures->payload, figures->used);
	/* Sharing and compression can make the payload larger than all that is used. */
	figures->overhead_per_file = regular->count == 0 ? 0.0
		: ((double)figures->used - (double)figures->payload) / (double)regular->count;
	figures->leaf_nodes = audit->leaf_nodes;
	figures->branch_nodes = audit->branch_nodes;
	figures->twig_nodes = audit->twig_nodes;
	figures->leaf_fill = ratio(audit->leaf_used_bytes, audit->leaf_bytes);
	figures->branch_fill = ratio(audit->branch_used_bytes, audit->branch_bytes);
	figures->twig_fill = ratio(audit->twig_used_bytes, audit->twig_bytes);
	figures->free_run_count = 0;
	figures->free_run_blocks = 0;
	for (unsigned i = 0; i < 64; i++) {
		figures->free_run_count += ledger->free_runs[i];
		figures->free_run_blocks += ledger->free_run_blocks[i];
	}
}

uint64_t figures_own_bytes(const struct figures_sums *sums)
{
	return sums->data + sums->slack + sums->preallocated + sums->mapping + sums->xattr + sums->other - sums->uncharged;
}

uint64_t figures_class_least(unsigned index)
{
	return index == 0 ? 0 : UINT64_C(1) << (index - 1);
}

uint64_t figures_class_most(unsigned index)
{
	return index == 0 ? 0 : (UINT64_C(1) << (index - 1)) * 2 - 1;
}
