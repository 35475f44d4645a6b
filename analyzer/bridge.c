/* SPDX-License-Identifier: GPL-2.0-only */
#include "bridge.h"

static void put(struct bridge *bridge, enum bridge_kind kind, const char *name, const char *detail,
		uint64_t bytes)
{
	if (bridge->n_lines == BRIDGE_MAX_LINES || (kind == BRIDGE_STEP && bytes == 0))
		return;
	bridge->lines[bridge->n_lines++] = (struct bridge_line){
		.kind = kind, .name = name, .detail = detail, .bytes = (int64_t)bytes,
	};
}

/* A step from *sum on; differences are modulo 2^64 like the sums they are made of. */
static void step(struct bridge *bridge, uint64_t *sum, const char *name, const char *detail, uint64_t bytes)
{
	put(bridge, BRIDGE_STEP, name, detail, bytes);
	*sum += bytes;
}

/* From the sum of sizes to what du adds up; returns the st_blocks bytes that no own block explains. */
static uint64_t sizes_to_du(struct bridge *bridge, uint64_t *sum, const struct figures *f)
{
	const struct figures_sums *regular = &f->groups[FIGURES_REGULAR];
	uint64_t behind_nothing = 0;

	bridge->sizes = regular->size;
	*sum = regular->size;
	put(bridge, BRIDGE_SUM, "sum of file sizes", NULL, *sum);
	step(bridge, sum, "holes and unwritten parts of files", NULL,
	     regular->data + regular->packed - regular->size);
	put(bridge, BRIDGE_SUM, "payload", NULL, *sum);

	step(bridge, sum, "packed as tails, in no block of their own", NULL, -f->tails.bytes);
	step(bridge, sum, "inline in metadata, in no block of their own", NULL, -f->inlined.bytes);
	step(bridge, sum, "slack behind the ends of files", NULL, regular->slack);
	step(bridge, sum, "preallocated", NULL, regular->preallocated);
	step(bridge, sum, "blocks that map files", NULL, regular->mapping);
	step(bridge, sum, "xattr blocks of files", NULL, regular->xattr);
	step(bridge, sum, "other blocks of files: verity trees", NULL, regular->other);
	step(bridge, sum, "saved by compression, or on missing devices", NULL, -regular->uncharged);
	step(bridge, sum, "blocks of directories", NULL, figures_own_bytes(&f->groups[FIGURES_DIRECTORY]));
	step(bridge, sum, "blocks of symbolic links", NULL, figures_own_bytes(&f->groups[FIGURES_SYMLINK]));
	step(bridge, sum, "blocks of devices, fifos, sockets", NULL,
	     figures_own_bytes(&f->groups[FIGURES_OTHER]));

	bridge->du = 0;
	for (unsigned g = 0; g < FIGURES_NAMED; g++) {
		bridge->du += f->groups[g].st_bytes;
		behind_nothing += f->groups[g].st_bytes - figures_own_bytes(&f->groups[g]);
	}
	step(bridge, sum, "st_blocks that no own block stands behind", NULL, behind_nothing);
	put(bridge, BRIDGE_SUM, "du", NULL, *sum);
	return behind_nothing;
}

/* From du to what the ledger says is used. */
static void du_to_used(struct bridge *bridge, uint64_t *sum, const struct bridge_input *in,
		       uint64_t behind_nothing)
{
	const struct fsa_ledger_result *ledger = in->ledger;
	uint64_t charged = 0, uncharged[FSA_PURPOSES] = { 0 };

	step(bridge, sum, "st_blocks that no own block stands behind", NULL, -behind_nothing);
	step(bridge, sum, "shared blocks, which du counts for each owner", NULL, -ledger->charged_extra_bytes);
	for (unsigned i = 0; i < in->n_details; i++) {
		/* A deleted file is not in du, even if its blocks are in its own st_blocks. */
		const bool counts = in->details[i].purpose != FSA_UNREFERENCED;

		charged += counts ? ledger->charged_bytes[i] : 0;
		uncharged[in->details[i].purpose] +=
			ledger->detail_bytes[i] - (counts ? ledger->charged_bytes[i] : 0);
	}
	step(bridge, sum, "blocks that more than one file claims", NULL, -ledger->charged_conflict_bytes);
	step(bridge, sum, "blocks behind the end of the image", NULL, -ledger->charged_missing_bytes);
	bridge->unexplained = (int64_t)(charged - *sum);
	step(bridge, sum, "unexplained", NULL, charged - *sum);

	uncharged[FSA_LOST] = ledger->purpose_bytes[FSA_LOST];
	for (unsigned p = 0; p < FSA_PURPOSES; p++)
		if (p != FSA_FREE && p != FSA_OUTSIDE)
			step(bridge, sum, p == FSA_LOST ? "not reachable" : "charged to no file",
			     fsa_purpose_name(p), uncharged[p]);
	bridge->used = *sum;
	put(bridge, BRIDGE_SUM, "used", NULL, *sum);
}

/* From the ledger's used to df's. */
static void used_to_df(struct bridge *bridge, uint64_t *sum, const struct bridge_input *in)
{
	const struct fsa_statfs *statfs = in->statfs;
	const struct fsa_ledger_result *ledger = in->ledger;
	const uint64_t unit = statfs->block_size;
	uint64_t size = 0, free_bytes = 0, used_free, difference;

	for (unsigned i = 0; i < statfs->n_terms; i++) {
		const struct fsa_statfs_term *term = &statfs->terms[i];

		if (term->value <= 0)
			continue;
		if (term->field == FSA_DF_SIZE)
			size += (uint64_t)term->value * unit;
		else if (term->field == FSA_DF_FREE)
			free_bytes += (uint64_t)term->value * unit;
	}
	step(bridge, sum, "on a device that df does not count", NULL, -in->elsewhere);
	difference = size - (in->figures->fs_bytes - in->elsewhere);
	step(bridge, sum, (int64_t)difference < 0 ? "in the image, but not in the size that df starts from"
						  : "in the size that df starts from, but not in the image",
	     NULL, difference);
	for (unsigned i = 0; i < statfs->n_terms; i++)
		if (statfs->terms[i].field == FSA_DF_SIZE && statfs->terms[i].value < 0)
			step(bridge, sum, "not part of df's size", statfs->terms[i].what,
			     (uint64_t)statfs->terms[i].value * unit);
	used_free = ledger->used_free_blocks * in->unit;
	step(bridge, sum, "in use, but free in the map", NULL, -used_free);
	difference = ledger->purpose_bytes[FSA_FREE] + used_free - free_bytes;
	step(bridge, sum, (int64_t)difference < 0 ? "free by the counter, but not in the map"
						  : "free in the map, but not by the counter",
	     NULL, difference);
	for (unsigned i = 0; i < statfs->n_terms; i++)
		if (statfs->terms[i].field == FSA_DF_FREE && statfs->terms[i].value < 0)
			step(bridge, sum, "not part of df's free", statfs->terms[i].what,
			     -(uint64_t)statfs->terms[i].value * unit);
	bridge->df_used = (statfs->blocks - statfs->free) * unit;
	/* Only when the terms do not add up to the fields: a parser's mistake, and to be seen as one. */
	if (*sum != bridge->df_used) {
		bridge->unexplained += (int64_t)(bridge->df_used - *sum);
		step(bridge, sum, "unexplained", NULL, bridge->df_used - *sum);
	}
	put(bridge, BRIDGE_SUM, "df: used", NULL, *sum);
	bridge->have_df = true;
}

void bridge_build(struct bridge *bridge, const struct bridge_input *in)
{
	uint64_t sum, behind_nothing;

	*bridge = (struct bridge){ .n_lines = 0 };
	behind_nothing = sizes_to_du(bridge, &sum, in->figures);
	du_to_used(bridge, &sum, in, behind_nothing);
	if (in->statfs != NULL)
		used_to_df(bridge, &sum, in);
}
