/* SPDX-License-Identifier: GPL-2.0-only */
#include "compare.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "escape.h"
#include "findings.h"
#include "format.h"
#include "table.h"

void compare_fill(struct compare_column *column, const struct assay *assay)
{
	*column = (struct compare_column){
		.argument = assay->opened->argument,
		.block_size = assay->opened->summary.block_size,
		.figures = assay->figures,
		.image_bytes = assay->result.image_bytes,
		.du = assay->bridge.du,
		.file_sizes = assay->bridge.sizes,
		.have_df = assay->have_df,
		.findings = findings_total(assay->opened),
	};
	memcpy(column->type, assay->opened->summary.type, sizeof(column->type));
	memcpy(column->purpose_bytes, assay->result.purpose_bytes, sizeof(column->purpose_bytes));
	if (assay->have_df)
		column->df = df_line(&assay->df);
}

static int64_t saved(const struct compare_column *column)
{
	return (int64_t)((uint64_t)column->figures.tails.saved + (uint64_t)column->figures.inlined.saved);
}

static bool packs(const struct compare_column *column)
{
	return column->figures.tails.files != 0 || column->figures.inlined.files != 0;
}

double compare_packing(const struct compare_column *column)
{
	const double without = (double)column->figures.used + (double)saved(column);

	return packs(column) && without > 0.0 ? (double)saved(column) / without : 0.0;
}

void compare_rank(struct compare_column *columns, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		columns[i].efficiency_rank = 1;
		columns[i].packing_rank = packs(&columns[i]) ? 1 : 0;
		for (unsigned j = 0; j < n; j++) {
			if (columns[j].figures.efficiency > columns[i].figures.efficiency)
				columns[i].efficiency_rank++;
			if (packs(&columns[i]) && packs(&columns[j]) &&
			    compare_packing(&columns[j]) > compare_packing(&columns[i]))
				columns[i].packing_rank++;
		}
	}
}

bool compare_same_content(const struct compare_column *columns, unsigned n)
{
	for (unsigned i = 1; i < n; i++) {
		if (columns[i].file_sizes != columns[0].file_sizes)
			return false;
		for (unsigned g = 0; g < FIGURES_NAMED; g++)
			/* Some formats have directories of their own: lost+found. */
			if (g != FIGURES_DIRECTORY &&
			    columns[i].figures.groups[g].count != columns[0].figures.groups[g].count)
				return false;
	}
	return true;
}

bool compare_equal_trees(const struct compare_column *columns, unsigned n)
{
	for (unsigned i = 1; i < n; i++)
		if (!content_same(&columns[0].content, &columns[i].content))
			return false;
	return true;
}

/* --- the table ------------------------------------------------------------------------------------- */

/* What a cell is printed from. */
struct cell {
	enum { CELL_NONE, CELL_TEXT, CELL_SIZE, CELL_SIGNED, CELL_COUNT, CELL_PERCENT, CELL_RANK, CELL_KIB } kind;
	uint64_t value;		/* percent: millionths of the whole */
	const char *text;
};

typedef struct cell (*cell_fn)(const struct compare_column *column, unsigned which);

static struct cell size_cell(uint64_t value)
{
	return (struct cell){ .kind = CELL_SIZE, .value = value };
}

static struct cell count_cell(uint64_t value)
{
	return (struct cell){ .kind = CELL_COUNT, .value = value };
}

static struct cell share_cell(double share)
{
	return (struct cell){ .kind = CELL_PERCENT, .value = share > 0.0 ? (uint64_t)(share * 1e6 + 0.5) : 0 };
}

static struct cell signed_cell(int64_t value)
{
	return (struct cell){ .kind = CELL_SIGNED, .value = (uint64_t)value };
}

enum general {
	G_TYPE, G_BLOCK_SIZE, G_IMAGE, G_FILES, G_DIRECTORIES, G_SYMLINKS, G_OTHERS, G_HARD_LINKS, G_SIZES, G_PAYLOAD,
	G_USED, G_EFFICIENCY, G_EFFICIENCY_RANK, G_OVERHEAD, G_SLACK, G_PREALLOCATED, G_TAIL_FILES, G_TAIL_BYTES,
	G_TAIL_COST, G_TAIL_SAVED, G_INLINE_FILES, G_INLINE_BYTES, G_INLINE_COST, G_INLINE_SAVED, G_PACKING,
	G_PACKING_RANK, G_LEAF_FILL, G_TWIG_FILL, G_BRANCH_FILL, G_TAIL_UNPACKED, G_INLINE_UNPACKED, G_DU, G_DF_SIZE, G_DF_USED, G_DF_AVAILABLE, G_EXTENTS, G_FINDINGS, G_METADATA,
};

/* Everything in use that is neither bytes of files nor in their blocks. */
static uint64_t metadata(const struct compare_column *column)
{
	uint64_t sum = 0;

	for (unsigned p = 0; p < FSA_PURPOSES; p++)
		if (p != FSA_FILE_DATA && p != FSA_FILE_TAIL && p != FSA_FILE_SLACK && p != FSA_PREALLOCATED &&
		    p != FSA_UNREFERENCED && p != FSA_FREE && p != FSA_LOST && p != FSA_OUTSIDE)
			sum += column->purpose_bytes[p];
	return sum;
}

static struct cell df_cell(const struct compare_column *column, uint64_t kib)
{
	return (struct cell){ .kind = column->have_df ? CELL_KIB : CELL_NONE, .value = kib };
}

static struct cell figures_cell(const struct compare_column *column, unsigned which)
{
	const struct figures *f = &column->figures;

	switch ((enum general)which) {
	case G_TYPE:
		return (struct cell){ .kind = CELL_TEXT, .text = column->type, .value = 1 };
	case G_BLOCK_SIZE:
		return size_cell(column->block_size);
	case G_IMAGE:
		return size_cell(column->image_bytes);
	case G_FILES:
		return count_cell(f->groups[FIGURES_REGULAR].count);
	case G_DIRECTORIES:
		return count_cell(f->groups[FIGURES_DIRECTORY].count);
	case G_SYMLINKS:
		return count_cell(f->groups[FIGURES_SYMLINK].count);
	case G_OTHERS:
		return count_cell(f->groups[FIGURES_OTHER].count);
	case G_HARD_LINKS:
		return count_cell(f->hard_links);
	case G_SIZES:
		return size_cell(column->file_sizes);
	case G_PAYLOAD:
		return size_cell(f->payload);
	case G_USED:
		return size_cell(f->used);
	case G_EFFICIENCY:
		return share_cell(f->efficiency);
	case G_EFFICIENCY_RANK:
		return (struct cell){ .kind = CELL_RANK, .value = column->efficiency_rank };
	case G_OVERHEAD:
		return signed_cell((int64_t)f->overhead_per_file);
	case G_SLACK:
		return size_cell(f->groups[FIGURES_REGULAR].slack);
	case G_PREALLOCATED:
		return size_cell(f->groups[FIGURES_REGULAR].preallocated);
	case G_TAIL_FILES:
		return count_cell(f->tails.files);
	case G_TAIL_BYTES:
		return size_cell(f->tails.bytes);
	case G_TAIL_COST:
		return size_cell(f->tails.cost);
	case G_TAIL_SAVED:
		return signed_cell(f->tails.saved);
	case G_INLINE_FILES:
		return count_cell(f->inlined.files);
	case G_INLINE_BYTES:
		return size_cell(f->inlined.bytes);
	case G_INLINE_COST:
		return size_cell(f->inlined.cost);
	case G_INLINE_SAVED:
		return signed_cell(f->inlined.saved);
	case G_PACKING:
		return packs(column) ? share_cell(compare_packing(column)) : (struct cell){ .kind = CELL_NONE };
	case G_PACKING_RANK:
		return (struct cell){ .kind = column->packing_rank != 0 ? CELL_RANK : CELL_NONE,
				      .value = column->packing_rank };
	case G_LEAF_FILL:
		return f->leaf_nodes != 0 ? share_cell(f->leaf_fill) : (struct cell){ .kind = CELL_NONE };
	case G_TWIG_FILL:
		return f->twig_nodes != 0 ? share_cell(f->twig_fill) : (struct cell){ .kind = CELL_NONE };
	case G_BRANCH_FILL:
		return f->branch_nodes != 0 ? share_cell(f->branch_fill) : (struct cell){ .kind = CELL_NONE };
	case G_TAIL_UNPACKED:
		return size_cell(f->tails.unpacked);
	case G_INLINE_UNPACKED:
		return size_cell(f->inlined.unpacked);
	case G_DU:
		return size_cell(column->du);
	case G_DF_SIZE:
		return df_cell(column, column->df.size_kib);
	case G_DF_USED:
		return df_cell(column, column->df.used_kib > 0 ? (uint64_t)column->df.used_kib : 0);
	case G_DF_AVAILABLE:
		return df_cell(column, column->df.available_kib);
	case G_EXTENTS:
		return count_cell(f->extents);
	case G_FINDINGS:
		return count_cell(column->findings);
	case G_METADATA:
		return size_cell(metadata(column));
	}
	return (struct cell){ .kind = CELL_NONE };
}

static struct cell purpose_cell(const struct compare_column *column, unsigned which)
{
	return size_cell(column->purpose_bytes[which]);
}

static const struct row {
	const char *name;
	cell_fn cell;
	unsigned which;
	bool always;		/* shown even when every image has 0 */
} rows[] = {
	{ "filesystem", figures_cell, G_TYPE, true },
	{ "block size", figures_cell, G_BLOCK_SIZE, true },
	{ "image", figures_cell, G_IMAGE, true },
	{ "files", figures_cell, G_FILES, true },
	{ "directories", figures_cell, G_DIRECTORIES, false },
	{ "symbolic links", figures_cell, G_SYMLINKS, false },
	{ "other", figures_cell, G_OTHERS, false },
	{ "hard links", figures_cell, G_HARD_LINKS, false },
	{ "sum of sizes", figures_cell, G_SIZES, true },
	{ "payload", figures_cell, G_PAYLOAD, true },
	{ "used", figures_cell, G_USED, true },
	{ "efficiency", figures_cell, G_EFFICIENCY, true },
	{ "  rank", figures_cell, G_EFFICIENCY_RANK, true },
	{ "overhead per file", figures_cell, G_OVERHEAD, true },
	{ "slack", figures_cell, G_SLACK, true },
	{ "preallocated", figures_cell, G_PREALLOCATED, false },
	{ "tails: files", figures_cell, G_TAIL_FILES, false },
	{ "  packed", figures_cell, G_TAIL_BYTES, false },
	{ "  cost", figures_cell, G_TAIL_COST, false },
	{ "  unpacked", figures_cell, G_TAIL_UNPACKED, false },
	{ "  saved", figures_cell, G_TAIL_SAVED, false },
	{ "inline: files", figures_cell, G_INLINE_FILES, false },
	{ "  packed", figures_cell, G_INLINE_BYTES, false },
	{ "  cost", figures_cell, G_INLINE_COST, false },
	{ "  unpacked", figures_cell, G_INLINE_UNPACKED, false },
	{ "  saved", figures_cell, G_INLINE_SAVED, false },
	{ "saved by packing", figures_cell, G_PACKING, false },
	{ "  rank", figures_cell, G_PACKING_RANK, false },
	{ "leaves filled to", figures_cell, G_LEAF_FILL, false },
	{ "twigs filled to", figures_cell, G_TWIG_FILL, false },
	{ "branches filled to", figures_cell, G_BRANCH_FILL, false },
	{ "extents", figures_cell, G_EXTENTS, false },
	{ "metadata", figures_cell, G_METADATA, true },
	{ "  superblock", purpose_cell, FSA_SUPERBLOCK, false },
	{ "  geometry", purpose_cell, FSA_GEOMETRY, false },
	{ "  allocation", purpose_cell, FSA_ALLOCATION, false },
	{ "  journal", purpose_cell, FSA_JOURNAL, false },
	{ "  inode", purpose_cell, FSA_INODE, false },
	{ "  inode-free", purpose_cell, FSA_INODE_FREE, false },
	{ "  directory", purpose_cell, FSA_DIRECTORY, false },
	{ "  mapping", purpose_cell, FSA_MAPPING, false },
	{ "  xattr", purpose_cell, FSA_XATTR, false },
	{ "  symlink", purpose_cell, FSA_SYMLINK, false },
	{ "  tree", purpose_cell, FSA_TREE, false },
	{ "  node-free", purpose_cell, FSA_NODE_FREE, false },
	{ "  checksum", purpose_cell, FSA_CHECKSUM, false },
	{ "  quota", purpose_cell, FSA_QUOTA, false },
	{ "  reserved", purpose_cell, FSA_RESERVED, false },
	{ "unreferenced", purpose_cell, FSA_UNREFERENCED, false },
	{ "lost", purpose_cell, FSA_LOST, false },
	{ "free", purpose_cell, FSA_FREE, true },
	{ "du", figures_cell, G_DU, true },
	{ "df: size", figures_cell, G_DF_SIZE, true },
	{ "df: used", figures_cell, G_DF_USED, true },
	{ "df: available", figures_cell, G_DF_AVAILABLE, true },
	{ "findings", figures_cell, G_FINDINGS, true },
};

static struct format_text cell_text(const struct cell *cell, const struct compare_options *options)
{
	struct format_text out;

	switch (cell->kind) {
	case CELL_TEXT:
		snprintf(out.text, sizeof(out.text), "%s", cell->text);
		return out;
	case CELL_SIZE:
		return format_size(cell->value, options->bytes);
	case CELL_SIGNED:
		if (!options->bytes)
			return format_human_signed((int64_t)cell->value);
		snprintf(out.text, sizeof(out.text), "%" PRId64, (int64_t)cell->value);
		return out;
	case CELL_COUNT:
		return format_count(cell->value);
	case CELL_PERCENT:
		return format_percent(cell->value, 1000000);
	case CELL_RANK:
		snprintf(out.text, sizeof(out.text), "#%" PRIu64, cell->value);
		return out;
	case CELL_KIB:
		return format_size(cell->value * 1024, options->bytes);
	case CELL_NONE:
		break;
	}
	snprintf(out.text, sizeof(out.text), "-");
	return out;
}

static bool worth_showing(const struct row *row, const struct compare_column *columns, unsigned n)
{
	if (row->always)
		return true;
	for (unsigned i = 0; i < n; i++) {
		const struct cell cell = row->cell(&columns[i], row->which);

		if (cell.kind != CELL_NONE && cell.value != 0)
			return true;
	}
	return false;
}

/* A grid is for other programs: exact numbers, and all names in full. */
static void begin_grid(struct grid *grid, const char *title, const char *first, const char **names,
		       const struct compare_column *columns, unsigned n)
{
	names[0] = first;
	for (unsigned i = 0; i < n; i++)
		names[i + 1] = columns[i].argument;
	names[n + 1] = NULL;
	grid_begin(grid, title, names);
}

static bool print_as_grid(const struct compare_column *columns, unsigned n, const struct compare_options *options)
{
	const char *names[GRID_COLUMNS + 1];
	struct grid grid;

	begin_grid(&grid, "Figures", "<FIGURE", names, columns, n);
	for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
		if (!options->verbose && !worth_showing(&rows[r], columns, n))
			continue;
		grid_cell(&grid, "%s", rows[r].name);
		for (unsigned i = 0; i < n; i++) {
			const struct cell cell = rows[r].cell(&columns[i], rows[r].which);

			grid_cell(&grid, "%s", cell_text(&cell, options).text);
		}
	}
	return grid_print(&grid, options->format);
}

bool compare_print_classes(const struct compare_column *columns, unsigned n, const struct compare_options *options)
{
	const char *names[GRID_COLUMNS + 1];
	struct grid grid;

	begin_grid(&grid, "Bytes taken by a file, by size", "<SIZES", names, columns, n);
	for (unsigned c = 0; c < FIGURES_CLASSES; c++) {
		bool any = false;

		for (unsigned i = 0; i < n; i++)
			any = any || columns[i].figures.classes[c].files != 0;
		if (!any)
			continue;
		grid_cell(&grid, "%s to %s", format_size(figures_class_least(c), options->bytes).text,
			  format_size(figures_class_most(c), options->bytes).text);
		for (unsigned i = 0; i < n; i++) {
			const struct figures_class *class = &columns[i].figures.classes[c];

			if (class->files == 0)
				grid_cell(&grid, "-");
			else
				grid_cell(&grid, "%.1f", ((double)class->stored + (double)class->overhead) /
								 (double)class->files);
		}
	}
	return grid_print(&grid, options->format);
}

bool compare_print(const struct compare_column *columns, unsigned n, const struct compare_options *options)
{
	struct table table;

	if (options->format != GRID_TEXT)
		return print_as_grid(columns, n, options);
	table_begin(&table, &(const struct table_column){ "FIGURE", TABLE_LEFT }, 1, !options->no_headings);
	for (unsigned i = 0; i < n; i++) {
		char name[256];

		escape(name, sizeof(name), columns[i].argument, strlen(columns[i].argument));
		table_add_column(&table, &(const struct table_column){ name, TABLE_RIGHT });
	}
	for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
		if (!options->verbose && !worth_showing(&rows[r], columns, n))
			continue;
		table_row(&table);
		table_cell(&table, rows[r].name);
		for (unsigned i = 0; i < n; i++) {
			const struct cell cell = rows[r].cell(&columns[i], rows[r].which);

			table_cell(&table, cell_text(&cell, options).text);
		}
		if (rows[r].cell == figures_cell &&
		    (rows[r].which == G_EFFICIENCY || rows[r].which == G_PACKING))
			table_emphasis(&table, "bold");
	}
	return table_print(&table);
}
