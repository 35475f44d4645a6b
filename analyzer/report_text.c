/* SPDX-License-Identifier: GPL-2.0-only */
/* The whole report as text, section by section, for somebody who reads it for the first time. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "df.h"
#include "escape.h"
#include "findings.h"
#include "format.h"
#include "report.h"
#include "table.h"

/* More than this on a screen is not read; --verbose and --json have them all. */
#define FINDINGS_SHOWN 100

/* Tables that are lists of "name value remark" have no headings of their own. */
static const struct table_column facts_columns[] = {
	{ "NAME", TABLE_LEFT }, { "VALUE", TABLE_RIGHT }, { "REMARK", TABLE_CUT },
};

static void fact(struct table *table, const char *name, const char *value, const char *remark)
{
	table_row(table);
	table_cell(table, name);
	table_cell(table, value);
	table_cell(table, remark);
}

static void title(const char *text)
{
	printf(table_colour() ? "\n\033[1m%s\033[0m\n" : "\n%s\n", text);
}

static void pair(const char *name, const char *value)
{
	printf("  %-12s", name);
	escape_print(stdout, value, strlen(value));
	putchar('\n');
}

static void print_features(const struct fsa_summary *summary)
{
	const size_t indent = 14, width = 100;
	size_t column = indent;

	if (summary->features[0] == NULL)
		return;
	printf("  %-12s", "features");
	for (unsigned i = 0; i < FSA_MAX_FEATURES && summary->features[i] != NULL; i++) {
		const size_t length = strlen(summary->features[i]) + 1;

		if (i > 0 && column + length > width) {
			printf("\n%*s", (int)indent, "");
			column = indent;
		}
		printf("%s%s", column > indent ? " " : "", summary->features[i]);
		column += length;
	}
	putchar('\n');
}

static void print_header(const struct assay *assay)
{
	const struct opened *opened = assay->opened;
	const struct fsa_summary *summary = &opened->summary;
	char text[96];

	fputs(table_colour() ? "\033[1m" : "", stdout);
	escape_print(stdout, opened->argument, strlen(opened->argument));
	printf(": %s", summary->type);
	fputs(table_colour() ? "\033[0m\n" : "\n", stdout);
	if (summary->version[0] != '\0')
		pair("version", summary->version);
	if (summary->label[0] != '\0')
		pair("label", summary->label);
	if (summary->uuid[0] != '\0')
		pair("uuid", summary->uuid);
	snprintf(text, sizeof(text), "%s (%s bytes)", format_human(assay->result.image_bytes).text,
		 format_count(assay->result.image_bytes).text);
	pair("image", text);
	for (unsigned i = 1; i < opened->fs->n_devices; i++) {
		if (opened->fs->devices[i].role != FSA_ROLE_MAIN)
			continue;
		escape(text, sizeof(text), fsa_image_name(opened->fs->devices[i].image),
		       strlen(fsa_image_name(opened->fs->devices[i].image)));
		pair("and", text);
	}
	snprintf(text, sizeof(text), "%s, %s blocks of %" PRIu32 " bytes",
		 format_human(assay->figures.fs_bytes).text, format_count(summary->blocks).text,
		 summary->block_size);
	pair("filesystem", text);
	if (summary->inodes != 0)
		pair("inodes", format_count(summary->inodes).text);
	if (summary->state[0] != '\0')
		pair("state", summary->state);
	if (summary->external[0] != '\0')
		pair("elsewhere", summary->external);
	print_features(summary);
}

static void counted(struct table *table, const char *name, uint64_t count, const char *remark)
{
	if (count != 0)
		fact(table, name, format_count(count).text, remark);
}

/* An external journal alone holds no objects: figures of files would be a column of zeros. */
static bool holds_objects(const struct assay *assay)
{
	for (unsigned g = 0; g < FIGURES_GROUPS; g++)
		if (assay->figures.groups[g].count != 0)
			return true;
	return false;
}

static bool print_figures(const struct assay *assay, const struct report_options *options)
{
	const struct figures *f = &assay->figures;
	const struct figures_sums *groups = f->groups;
	struct table table;
	char text[64];

	if (!holds_objects(assay))
		return true;
	title("Figures");
	table_begin(&table, facts_columns, 3, false);
	fact(&table, "used", format_size(f->used, options->bytes).text, "the filesystem's size without what is free");
	fact(&table, "payload", format_size(f->payload, options->bytes).text,
	     "bytes of regular files, holes not counted, hard links once");
	fact(&table, "efficiency", format_percent(f->payload, f->used).text, "payload / used");
	if (groups[FIGURES_REGULAR].count != 0) {
		if (options->bytes)
			snprintf(text, sizeof(text), "%.1f", f->overhead_per_file);
		else
			snprintf(text, sizeof(text), "%s",
				 format_human_signed((int64_t)f->overhead_per_file).text);
		fact(&table, "overhead per file", text, "(used - payload) / files");
	}
	fact(&table, "files", format_count(groups[FIGURES_REGULAR].count).text, "regular ones");
	fact(&table, "directories", format_count(groups[FIGURES_DIRECTORY].count).text, "the root included");
	counted(&table, "symbolic links", groups[FIGURES_SYMLINK].count, "each inode once");
	counted(&table, "other", groups[FIGURES_OTHER].count, "devices, fifos, sockets");
	counted(&table, "hard links", f->hard_links, "names of a file beyond its first");
	counted(&table, "internal", groups[FIGURES_INTERNAL].count, "inodes without a name: journal, quota and the like");
	counted(&table, "unreferenced", groups[FIGURES_UNREFERENCED].count, "deleted while open, or in no directory");
	return table_print(&table);
}

static struct format_text signed_size(int64_t value, const struct report_options *options)
{
	struct format_text text;

	if (!options->bytes)
		return format_human_signed(value);
	snprintf(text.text, sizeof(text.text), "%" PRId64, value);
	return text;
}

/* Which tails are worth their packing, and which are not. */
static bool print_packed_sizes(const char *heading, const struct figures_packed *packed,
			       const struct report_options *options)
{
	static const struct table_column columns[] = {
		{ "FROM", TABLE_RIGHT }, { "BELOW", TABLE_RIGHT }, { "FILES", TABLE_RIGHT },
		{ "PACKED", TABLE_RIGHT }, { "COST", TABLE_RIGHT }, { "UNPACKED", TABLE_RIGHT },
		{ "SAVED", TABLE_RIGHT },
	};
	struct table table;
	char text[64];

	snprintf(text, sizeof(text), "%s by size", heading);
	title(text);
	table_begin(&table, columns, 7, !options->no_headings);
	for (unsigned i = 0; i < FIGURES_CLASSES; i++) {
		const struct figures_packed_class *class = &packed->sizes[i];

		if (class->files == 0)
			continue;
		table_row(&table);
		table_cell(&table, format_size(figures_class_least(i), options->bytes).text);
		table_cell(&table, i < 64 ? format_size(figures_class_most(i) + 1, options->bytes).text : "");
		table_cell(&table, format_count(class->files).text);
		table_cell(&table, format_size(class->bytes, options->bytes).text);
		table_cell(&table, format_size(class->cost, options->bytes).text);
		table_cell(&table, format_size(class->unpacked, options->bytes).text);
		table_cell(&table, signed_size(figures_packed_saved(class), options).text);
	}
	return table_print(&table);
}

static bool print_packed(const char *heading, const struct figures_packed *packed, uint64_t used,
			 const struct report_options *options)
{
	struct table table;

	if (packed->files == 0)
		return true;
	title(heading);
	table_begin(&table, facts_columns, 3, false);
	fact(&table, "files", format_count(packed->files).text, "with bytes kept so");
	fact(&table, "packed bytes", format_size(packed->bytes, options->bytes).text, "of their contents");
	if (packed->uncharged != 0)
		fact(&table, "compression", format_size(packed->uncharged, options->bytes).text,
		     "of them that compression keeps off the image");
	fact(&table, "cost", format_size(packed->cost, options->bytes).text, "item headers, keys and the like");
	fact(&table, "unpacked", format_size(packed->unpacked, options->bytes).text,
	     "what they would take in blocks of their own");
	fact(&table, "saved", signed_size(packed->saved, options).text,
	     packed->uncharged != 0 ? "unpacked - (packed bytes - compression) - cost" : "unpacked - packed bytes - cost");
	if (packed->saved > 0)
		fact(&table, "share", format_percent((uint64_t)packed->saved, (uint64_t)packed->saved + used).text,
		     "saved / (used + saved)");
	return table_print(&table) && print_packed_sizes(heading, packed, options);
}

static bool print_nodes(const struct figures *f)
{
	struct table table;

	if (f->leaf_nodes == 0 && f->branch_nodes == 0 && f->twig_nodes == 0)
		return true;
	title("How full the tree's nodes are");
	table_begin(&table, facts_columns, 3, false);
	if (f->leaf_nodes != 0)
		fact(&table, "leaves", format_count(f->leaf_nodes).text, "nodes that hold the items");
	if (f->leaf_nodes != 0)
		fact(&table, "filled to", format_percent((uint64_t)(f->leaf_fill * 1e6), 1000000).text, "on average");
	if (f->twig_nodes != 0)
		fact(&table, "twigs", format_count(f->twig_nodes).text, "nodes that lead to leaves and to blocks of files");
	if (f->twig_nodes != 0)
		fact(&table, "filled to", format_percent((uint64_t)(f->twig_fill * 1e6), 1000000).text, "on average");
	if (f->branch_nodes != 0)
		fact(&table, f->twig_nodes != 0 ? "branches" : "inner nodes", format_count(f->branch_nodes).text,
		     "nodes that lead to them");
	if (f->branch_nodes != 0)
		fact(&table, "filled to", format_percent((uint64_t)(f->branch_fill * 1e6), 1000000).text, "on average");
	return table_print(&table);
}

static bool print_terms(const struct fsa_statfs *statfs, const struct report_options *options)
{
	static const struct table_column columns[] = {
		{ "FIELD", TABLE_LEFT }, { "TERM", TABLE_RIGHT }, { "UNIT", TABLE_LEFT }, { "WHAT", TABLE_WRAP },
	};
	static const char *const names[] = {
		[FSA_DF_SIZE] = "size", [FSA_DF_FREE] = "free", [FSA_DF_AVAILABLE] = "available",
		[FSA_DF_FILES] = "inodes", [FSA_DF_FILES_FREE] = "inodes free",
	};
	struct table table;
	char text[32];

	putchar('\n');
	table_begin(&table, columns, 4, !options->no_headings);
	for (unsigned i = 0; i < statfs->n_terms; i++) {
		const struct fsa_statfs_term *term = &statfs->terms[i];
		const bool blocks = term->field <= FSA_DF_AVAILABLE;

		snprintf(text, sizeof(text), "%+" PRId64, term->value);
		table_row(&table);
		table_cell(&table, names[term->field]);
		table_cell(&table, text);
		if (blocks)
			snprintf(text, sizeof(text), "x %" PRIu32, statfs->block_size);
		table_cell(&table, blocks ? text : "");
		table_cell(&table, term->what);
	}
	return table_print(&table);
}

static bool print_df(const struct assay *assay, const struct report_options *options)
{
	const struct df_line line = df_line(&assay->df), ro = df_line(&assay->df_ro);
	const struct df_inodes inodes = df_inodes(&assay->df);
	char source[1024], heading[160];

	if (!assay->have_df)
		return true;
	escape(source, sizeof(source), assay->opened->argument, strlen(assay->opened->argument));
	snprintf(heading, sizeof(heading), "What df would show, mounted by %s", assay->df.kernel);
	title(heading);
	df_print(stdout, source, &line);
	putchar('\n');
	df_print_inodes(stdout, source, &inodes);
	if (options->verbose && !print_terms(&assay->df, options))
		return false;
	if (assay->have_df_ro && (ro.size_kib != line.size_kib || ro.used_kib != line.used_kib ||
				  ro.available_kib != line.available_kib)) {
		title("... and mounted read-only");
		df_print(stdout, source, &ro);
		if (options->verbose && !print_terms(&assay->df_ro, options))
			return false;
	}
	return true;
}

static void blocks_fact(struct table *table, const char *name, uint64_t blocks, bool wrong, const char *remark)
{
	fact(table, name, format_count(blocks).text, remark);
	if (wrong)
		table_emphasis(table, "red");
}

static bool print_books(const struct assay *assay, const struct report_options *options)
{
	const struct fsa_ledger_result *r = &assay->result;
	const struct fsa_counters *c = &assay->audit.counters;
	const bool differs = c->have_free_blocks && c->free_blocks != r->map_free_blocks;
	struct table table;

	title("Do the books agree (in blocks)");
	table_begin(&table, facts_columns, 3, false);
	blocks_fact(&table, "allocated", r->allocated_blocks, false, "by the filesystem's own allocation map");
	blocks_fact(&table, "claimed", r->claimed_blocks, false, "by what was found in use");
	blocks_fact(&table, "lost", r->lost_blocks, r->lost_blocks != 0, "allocated, but used by nothing");
	blocks_fact(&table, "used but free", r->used_free_blocks, r->used_free_blocks != 0,
		    "claimed, but free in the map");
	blocks_fact(&table, "claimed twice", r->conflict_blocks, r->conflict_blocks != 0,
		    "where the format does not share");
	if (r->shared_blocks != 0 || options->verbose)
		blocks_fact(&table, "shared", r->shared_blocks, false, "by several owners, as the format allows");
	if (r->unmapped_blocks != 0 && options->verbose)
		blocks_fact(&table, "outside the map", r->unmapped_blocks, false,
			    "of those claimed: where the map does not reach");
	blocks_fact(&table, "free by the map", r->map_free_blocks, false, "not allocated");
	if (c->have_free_blocks)
		blocks_fact(&table, "free by the counter", c->free_blocks, differs && !c->lazy,
			    differs && c->lazy ? "differs, which is no damage: the format keeps it lazily"
						       : "a number that is kept beside the map");
	if (r->missing_bytes != 0) {
		fact(&table, "missing bytes", format_count(r->missing_bytes).text, "the image is too short");
		table_emphasis(&table, "red");
	}
	return table_print(&table);
}

static bool print_bridge(const struct assay *assay, const struct report_options *options)
{
	static const struct table_column columns[] = {
		{ "BYTES", TABLE_RIGHT }, { "SUM", TABLE_RIGHT }, { "WHAT", TABLE_WRAP },
	};
	struct table table;
	char text[160];

	if (!holds_objects(assay))
		return true;
	title("From the sizes of the files to df (exact bytes)");
	table_begin(&table, columns, 3, !options->no_headings);
	for (unsigned i = 0; i < assay->bridge.n_lines; i++) {
		const struct bridge_line *line = &assay->bridge.lines[i];
		const uint64_t size = line->bytes < 0 ? -(uint64_t)line->bytes : (uint64_t)line->bytes;

		table_row(&table);
		snprintf(text, sizeof(text), "%s%s",
			 line->bytes < 0 ? "-" : line->kind == BRIDGE_STEP ? "+" : "", format_count(size).text);
		table_cell(&table, line->kind == BRIDGE_STEP ? text : "");
		table_cell(&table, line->kind == BRIDGE_SUM ? text : "");
		snprintf(text, sizeof(text), "%s%s%s", line->name, line->detail != NULL ? ": " : "",
			 line->detail != NULL ? line->detail : "");
		table_cell(&table, text);
		if (line->kind == BRIDGE_SUM)
			table_emphasis(&table, "bold");
	}
	return table_print(&table);
}

static bool print_classes(const struct assay *assay, const struct report_options *options)
{
	static const struct table_column columns[] = {
		{ "FROM", TABLE_RIGHT }, { "BELOW", TABLE_RIGHT }, { "FILES", TABLE_RIGHT },
		{ "STORED", TABLE_RIGHT }, { "SLACK", TABLE_RIGHT }, { "OVERHEAD", TABLE_RIGHT },
		{ "FILLED", TABLE_RIGHT },
	};
	struct table table;

	if (assay->figures.groups[FIGURES_REGULAR].count == 0)
		return true;
	title("Files by size");
	table_begin(&table, columns, 7, !options->no_headings);
	for (unsigned i = 0; i < FIGURES_CLASSES; i++) {
		const struct figures_class *class = &assay->figures.classes[i];

		if (class->files == 0)
			continue;
		table_row(&table);
		table_cell(&table, format_size(figures_class_least(i), options->bytes).text);
		table_cell(&table, i < 64 ? format_size(figures_class_most(i) + 1, options->bytes).text : "");
		table_cell(&table, format_count(class->files).text);
		table_cell(&table, format_size(class->stored, options->bytes).text);
		table_cell(&table, format_size(class->slack, options->bytes).text);
		table_cell(&table, format_size(class->overhead, options->bytes).text);
		table_cell(&table, format_percent(class->stored, class->stored + class->overhead).text);
	}
	return table_print(&table);
}

static bool print_runs(const char *heading, const char *what, const uint64_t *numbers, const uint64_t *blocks,
		       uint64_t block_size, const struct report_options *options)
{
	const struct table_column columns[] = {
		{ "FROM", TABLE_RIGHT }, { "BELOW", TABLE_RIGHT }, { what, TABLE_RIGHT },
		{ "BYTES", TABLE_RIGHT },
	};
	struct table table;

	title(heading);
	table_begin(&table, columns, blocks != NULL ? 4 : 3, !options->no_headings);
	for (unsigned i = 0; i < 64; i++) {
		if (numbers[i] == 0)
			continue;
		table_row(&table);
		table_cell(&table, format_count(UINT64_C(1) << i).text);
		table_cell(&table, i < 63 ? format_count(UINT64_C(2) << i).text : "");
		table_cell(&table, format_count(numbers[i]).text);
		if (blocks != NULL)
			table_cell(&table, format_size(blocks[i] * block_size, options->bytes).text);
	}
	return table_print(&table);
}

static bool print_fragmentation(const struct assay *assay, const struct report_options *options)
{
	const struct figures *f = &assay->figures;
	const uint64_t block_size = assay->opened->summary.block_size;
	struct table table;

	if (f->extent_files == 0 && f->free_run_count == 0)
		return true;
	title("In how many pieces");
	table_begin(&table, facts_columns, 3, false);
	if (f->extent_files != 0) {
		fact(&table, "files in one piece", format_percent(f->one_piece, f->extent_files).text,
		     "of the files with blocks of their own");
		fact(&table, "extents per file", format_ratio((double)f->extents / (double)f->extent_files, 2).text,
		     "contiguous pieces; 1 is best");
		fact(&table, "most extents", format_count(f->most_extents).text, "of any file");
		fact(&table, "mean extent", format_size(f->extent_data / f->extents, options->bytes).text,
		     "bytes of a file in one piece");
	}
	if (f->free_run_count != 0) {
		fact(&table, "free stretches", format_count(f->free_run_count).text, "runs of free blocks");
		fact(&table, "mean free stretch",
		     format_size(f->free_run_blocks * block_size / f->free_run_count, options->bytes).text,
		     "in one piece");
	}
	if (!table_print(&table))
		return false;
	if (options->verbose && f->extent_files != 0 &&
	    !print_runs("Files by number of pieces", "FILES", f->pieces, NULL, 0, options))
		return false;
	return !options->verbose || f->free_run_count == 0 ||
	       print_runs("Free stretches by length in blocks", "STRETCHES", assay->result.free_runs,
			  assay->result.free_run_blocks, block_size, options);
}

static void print_findings(const struct assay *assay, const struct report_options *options)
{
	const uint64_t total = findings_total(assay->opened);
	char heading[64];

	if (total == 0) {
		title(assay->complete ? "No findings: every byte is accounted for, and the books agree."
				      : "No findings, but the audit did not come to its end.");
		return;
	}
	snprintf(heading, sizeof(heading), "Findings (%" PRIu64 ")", total);
	title(heading);
	findings_print(stdout, assay->opened, options->verbose ? 0 : FINDINGS_SHOWN);
}

int report_text(const struct assay *assay, const struct report_options *options)
{
	bool ok;

	print_header(assay);
	if (!assay->complete)
		title("The audit stopped before its end; what follows is partial.");
	title("What every byte is for");
	ok = report_ledger(assay, options) == CLI_CONSISTENT &&
	     print_figures(assay, options) &&
	     print_packed("Packed tails", &assay->figures.tails, assay->figures.used, options) &&
	     print_packed("Inline data", &assay->figures.inlined, assay->figures.used, options) &&
	     print_nodes(&assay->figures) &&
	     print_df(assay, options) &&
	     print_books(assay, options) &&
	     print_bridge(assay, options) &&
	     print_classes(assay, options) &&
	     print_fragmentation(assay, options) &&
	     ownfigures_print(&assay->own, options->bytes, options->verbose);
	print_findings(assay, options);
	return ok ? CLI_CONSISTENT : CLI_FAILED;
}
