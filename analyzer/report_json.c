/* SPDX-License-Identifier: GPL-2.0-only */
/* The report as JSON; schema/audit.schema.json describes it. */
#include <string.h>

#include "df.h"
#include "findings.h"
#include "json.h"
#include "report.h"

/*
 * Setting and appending steal references and fail on NULL, which is how memory running out anywhere below
 * reaches the top: every function returns NULL then.
 */
struct builder {
	json_t *object;
	bool failed;
};

static void set(struct builder *builder, const char *key, json_t *value)
{
	if (json_object_set_new(builder->object, key, value) != 0)
		builder->failed = true;
}

static void set_number(struct builder *builder, const char *key, uint64_t value)
{
	set(builder, key, json_unsigned(value));
}

static struct builder begin(void)
{
	return (struct builder){ .object = json_object() };
}

static json_t *end(struct builder *builder)
{
	if (builder->failed || builder->object == NULL) {
		json_decref(builder->object);
		return NULL;
	}
	return builder->object;
}

/* An element that a list could not take makes the list NULL, and so the whole report. */
static void append(json_t **array, json_t *value)
{
	if (*array == NULL) {
		json_decref(value);
		return;
	}
	if (json_array_append_new(*array, value) != 0) {
		json_decref(*array);
		*array = NULL;
	}
}

static void set_text(struct builder *builder, const char *key, const char *text)
{
	if (builder->object == NULL || json_set_bytes(builder->object, key, text, strlen(text)) != 0)
		builder->failed = true;
}

/* An object like the image's own: a path may be any bytes. */
static json_t *path_json(const char *path)
{
	struct builder b = begin();

	set_text(&b, "path", path);
	return end(&b);
}

static json_t *image_json(const struct assay *assay)
{
	const struct fsa_fs *fs = assay->opened->fs;
	struct builder b = begin();

	set_text(&b, "path", assay->opened->argument);
	set_number(&b, "size_bytes", assay->result.image_bytes);
	set_number(&b, "start_offset", fsa_image_start(assay->opened->images[0]));
	if (fs->n_devices > 1 && fs->devices[1].role == FSA_ROLE_MAIN) {
		json_t *devices = json_array();

		for (unsigned i = 0; i < fs->n_devices; i++)
			if (fs->devices[i].role == FSA_ROLE_MAIN)
				append(&devices, path_json(fsa_image_name(fs->devices[i].image)));
		set(&b, "devices", devices);
	}
	return end(&b);
}

static json_t *filesystem_json(const struct assay *assay)
{
	const struct fsa_summary *summary = &assay->opened->summary;
	json_t *features = json_array();
	struct builder b = begin();

	for (unsigned i = 0; i < FSA_MAX_FEATURES && summary->features[i] != NULL; i++)
		append(&features, json_string(summary->features[i]));
	set_text(&b, "type", summary->type);
	set_text(&b, "version", summary->version);
	set_number(&b, "block_size", summary->block_size);
	set_number(&b, "blocks", summary->blocks);
	set_number(&b, "size_bytes", assay->figures.fs_bytes);
	set_text(&b, "label", summary->label);
	set_text(&b, "uuid", summary->uuid);
	set(&b, "features", features);
	set_text(&b, "state", summary->state);
	set(&b, "clean", json_boolean(summary->clean));
	set_text(&b, "external", summary->external);
	return end(&b);
}

static json_t *percent_json(int percent)
{
	return percent == DF_NO_PERCENT ? json_null() : json_integer(percent);
}

static json_t *df_json(const struct fsa_statfs *statfs)
{
	static const char *const names[] = {
		[FSA_DF_SIZE] = "size", [FSA_DF_FREE] = "free", [FSA_DF_AVAILABLE] = "available",
		[FSA_DF_FILES] = "inodes", [FSA_DF_FILES_FREE] = "inodes_free",
	};
	const struct df_line line = df_line(statfs);
	json_t *terms = json_array();
	struct builder b = begin();

	for (unsigned i = 0; i < statfs->n_terms; i++) {
		struct builder term = begin();

		set(&term, "field", json_string(names[statfs->terms[i].field]));
		set(&term, "value", json_integer(statfs->terms[i].value));
		set(&term, "what", json_string(statfs->terms[i].what));
		append(&terms, end(&term));
	}
	set_number(&b, "size_kib", line.size_kib);
	set(&b, "used_kib", json_integer(line.used_kib));
	set_number(&b, "available_kib", line.available_kib);
	set(&b, "use_percent", percent_json(line.use_percent));
	set_number(&b, "block_size", statfs->block_size);
	set(&b, "kernel", json_string(statfs->kernel != NULL ? statfs->kernel : ""));
	set(&b, "terms", terms);
	return end(&b);
}

static json_t *df_inodes_json(const struct fsa_statfs *statfs)
{
	const struct df_inodes inodes = df_inodes(statfs);
	struct builder b = begin();

	set_number(&b, "total", inodes.total);
	set(&b, "used", json_integer(inodes.used));
	set_number(&b, "available", inodes.available);
	set(&b, "use_percent", percent_json(inodes.use_percent));
	return end(&b);
}

static json_t *detail_json(const char *name, uint64_t bytes, uint64_t charged)
{
	struct builder b = begin();

	set(&b, "name", json_string(name));
	set_number(&b, "bytes", bytes);
	set_number(&b, "charged_bytes", charged);
	return end(&b);
}

static json_t *ledger_json(const struct assay *assay)
{
	const struct fsa_parser *parser = assay->opened->fs->parser;
	const struct fsa_ledger_result *result = &assay->result;
	json_t *ledger = json_array();

	for (unsigned p = 0; p < FSA_PURPOSES; p++) {
		struct builder row = begin();
		json_t *details = json_array();

		for (unsigned i = 0; i < parser->n_details; i++)
			if (parser->details[i].purpose == p)
				append(&details, detail_json(parser->details[i].name, result->detail_bytes[i],
							     result->charged_bytes[i]));
		if (p == FSA_FREE && result->plain_free_bytes != result->purpose_bytes[p])
			append(&details, detail_json("other free", result->plain_free_bytes, 0));
		set(&row, "purpose", json_string(fsa_purpose_name(p)));
		set_number(&row, "bytes", result->purpose_bytes[p]);
		set(&row, "details", details);
		append(&ledger, end(&row));
	}
	return ledger;
}

static json_t *reconciliation_json(const struct assay *assay)
{
	const struct fsa_ledger_result *result = &assay->result;
	const struct fsa_counters *counters = &assay->audit.counters;
	struct builder b = begin();

	set_number(&b, "allocated_blocks", result->allocated_blocks);
	set_number(&b, "claimed_blocks", result->claimed_blocks);
	set_number(&b, "lost_blocks", result->lost_blocks);
	set_number(&b, "used_free_blocks", result->used_free_blocks);
	set_number(&b, "conflict_blocks", result->conflict_blocks);
	set_number(&b, "shared_blocks", result->shared_blocks);
	set_number(&b, "shared_extra_bytes", result->shared_extra_bytes);
	set_number(&b, "unmapped_blocks", result->unmapped_blocks);
	set_number(&b, "missing_bytes", result->missing_bytes);
	set(&b, "counter_free_blocks",
	    counters->have_free_blocks ? json_unsigned(counters->free_blocks) : json_null());
	set(&b, "counter_lazy", json_boolean(counters->lazy));
	set_number(&b, "map_free_blocks", result->map_free_blocks);
	set(&b, "consistent", json_boolean(assay->consistent));
	return end(&b);
}

static json_t *bridge_json(const struct assay *assay)
{
	const struct bridge *bridge = &assay->bridge;
	json_t *lines = json_array();
	struct builder b = begin();

	for (unsigned i = 0; i < bridge->n_lines; i++) {
		const struct bridge_line *line = &bridge->lines[i];
		struct builder row = begin();

		set(&row, "what", json_string(line->name));
		set(&row, "detail", line->detail != NULL ? json_string(line->detail) : json_null());
		set(&row, "sum", json_boolean(line->kind == BRIDGE_SUM));
		set(&row, "bytes", json_integer(line->bytes));
		append(&lines, end(&row));
	}
	set_number(&b, "file_sizes_bytes", bridge->sizes);
	set_number(&b, "du_bytes", bridge->du);
	set_number(&b, "used_bytes", bridge->used);
	set(&b, "df_used_bytes", bridge->have_df ? json_unsigned(bridge->df_used) : json_null());
	set(&b, "unexplained_bytes", json_integer(bridge->unexplained));
	set(&b, "lines", lines);
	return end(&b);
}

static json_t *figures_json(const struct assay *assay)
{
	const struct figures *f = &assay->figures;
	struct builder b = begin();

	set_number(&b, "used_bytes", f->used);
	set_number(&b, "payload_bytes", f->payload);
	set(&b, "efficiency", json_real(f->efficiency));
	set(&b, "overhead_per_file_bytes", json_real(f->overhead_per_file));
	set_number(&b, "files", f->groups[FIGURES_REGULAR].count);
	set_number(&b, "directories", f->groups[FIGURES_DIRECTORY].count);
	set_number(&b, "symlinks", f->groups[FIGURES_SYMLINK].count);
	set_number(&b, "others", f->groups[FIGURES_OTHER].count);
	set_number(&b, "hard_links", f->hard_links);
	set_number(&b, "internal", f->groups[FIGURES_INTERNAL].count);
	set_number(&b, "unreferenced", f->groups[FIGURES_UNREFERENCED].count);
	set_number(&b, "slack_bytes", f->groups[FIGURES_REGULAR].slack);
	set_number(&b, "preallocated_bytes", f->groups[FIGURES_REGULAR].preallocated);
	set_number(&b, "leaf_nodes", f->leaf_nodes);
	set_number(&b, "twig_nodes", f->twig_nodes);
	set(&b, "twig_fill", f->twig_nodes != 0 ? json_real(f->twig_fill) : json_null());
	set_number(&b, "branch_nodes", f->branch_nodes);
	set(&b, "branch_fill", f->branch_nodes != 0 ? json_real(f->branch_fill) : json_null());
	return end(&b);
}

static json_t *packed_sizes_json(const struct figures_packed *packed)
{
	json_t *classes = json_array();

	for (unsigned i = 0; i < FIGURES_CLASSES; i++) {
		const struct figures_packed_class *class = &packed->sizes[i];
		struct builder b;

		if (class->files == 0)
			continue;
		b = begin();
		set_number(&b, "from_bytes", figures_class_least(i));
		set_number(&b, "to_bytes", figures_class_most(i));
		set_number(&b, "files", class->files);
		set_number(&b, "bytes", class->bytes);
		set_number(&b, "cost_bytes", class->cost);
		set_number(&b, "unpacked_bytes", class->unpacked);
		set(&b, "saved_bytes", json_integer(figures_packed_saved(class)));
		append(&classes, end(&b));
	}
	return classes;
}

static json_t *packed_json(const struct figures *f, const struct figures_packed *packed)
{
	struct builder b = begin();

	set_number(&b, "files", packed->files);
	set_number(&b, "bytes", packed->bytes);
	set_number(&b, "cost_bytes", packed->cost);
	set_number(&b, "unpacked_bytes", packed->unpacked);
	set_number(&b, "compression_saved_bytes", packed->uncharged);
	set(&b, "saved_bytes", json_integer(packed->saved));
	set(&b, "by_size", packed_sizes_json(packed));
	set(&b, "leaf_fill", f->leaf_nodes != 0 ? json_real(f->leaf_fill) : json_null());
	return end(&b);
}

static json_t *classes_json(const struct figures *f)
{
	json_t *classes = json_array();

	for (unsigned i = 0; i < FIGURES_CLASSES; i++) {
		const struct figures_class *class = &f->classes[i];
		struct builder b;

		if (class->files == 0)
			continue;
		b = begin();
		set_number(&b, "from_bytes", figures_class_least(i));
		set_number(&b, "to_bytes", figures_class_most(i));
		set_number(&b, "files", class->files);
		set_number(&b, "size_bytes", class->size);
		set_number(&b, "stored_bytes", class->stored);
		set_number(&b, "slack_bytes", class->slack);
		set_number(&b, "overhead_bytes", class->overhead);
		append(&classes, end(&b));
	}
	return classes;
}

/* Counts by powers of two: from 2^i to 2^(i+1) - 1. */
static json_t *runs_json(const uint64_t *counts, const char *name, const uint64_t *blocks)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < 64; i++) {
		struct builder b;

		if (counts[i] == 0)
			continue;
		b = begin();
		set_number(&b, "from", UINT64_C(1) << i);
		set_number(&b, "to", (UINT64_C(1) << i) * 2 - 1);
		set_number(&b, name, counts[i]);
		if (blocks != NULL)
			set_number(&b, "blocks", blocks[i]);
		append(&list, end(&b));
	}
	return list;
}

static json_t *fragmentation_json(const struct assay *assay)
{
	const struct figures *f = &assay->figures;
	struct builder b = begin();

	set_number(&b, "files_with_extents", f->extent_files);
	set_number(&b, "extents", f->extents);
	set(&b, "extents_per_file",
	    f->extent_files != 0 ? json_real((double)f->extents / (double)f->extent_files) : json_null());
	set_number(&b, "files_in_one_piece", f->one_piece);
	set_number(&b, "most_extents", f->most_extents);
	set(&b, "mean_extent_bytes",
	    f->extents != 0 ? json_real((double)f->extent_data / (double)f->extents) : json_null());
	set(&b, "files_by_extents", runs_json(f->pieces, "files", NULL));
	set_number(&b, "free_runs", f->free_run_count);
	set(&b, "free_runs_by_blocks",
	    runs_json(assay->result.free_runs, "runs", assay->result.free_run_blocks));
	return end(&b);
}

static json_t *findings_json(const struct opened *opened)
{
	json_t *list = json_array();

	fsa_findings_sort(opened->findings);
	for (size_t i = 0; i < fsa_findings_count(opened->findings); i++) {
		const struct fsa_finding *finding = fsa_findings_at(opened->findings, i);
		struct builder b = begin();

		set_text(&b, "object", finding->object);
		set(&b, "number", finding->number != FSA_NO_NUMBER ? json_unsigned(finding->number) : json_null());
		set(&b, "offset", finding->offset != FSA_NO_OFFSET ? json_unsigned(finding->offset) : json_null());
		set_number(&b, "device", finding->device);
		set_text(&b, "message", finding->message);
		append(&list, end(&b));
	}
	return list;
}

static json_t *own_figures_json(const struct ownfigures *figures)
{
	json_t *list = json_array();

	for (size_t i = 0; i < figures->count; i++) {
		const struct ownfigure *one = &figures->list[i];
		struct builder b = begin();

		set_text(&b, "group", one->group);
		set_text(&b, "name", one->name);
		set_number(&b, "value", one->value);
		set_text(&b, "unit", one->unit);
		append(&list, end(&b));
	}
	return list;
}

json_t *report_json(const struct assay *assay)
{
	const struct figures *f = &assay->figures;
	struct builder b = begin();

	set(&b, "image", image_json(assay));
	set(&b, "complete", json_boolean(assay->complete));
	set(&b, "filesystem", filesystem_json(assay));
	set(&b, "df", assay->have_df ? df_json(&assay->df) : json_null());
	set(&b, "df_ro", assay->have_df_ro ? df_json(&assay->df_ro) : json_null());
	set(&b, "df_inodes", assay->have_df ? df_inodes_json(&assay->df) : json_null());
	set(&b, "ledger", ledger_json(assay));
	set(&b, "reconciliation", reconciliation_json(assay));
	set(&b, "bridge", bridge_json(assay));
	set(&b, "figures", figures_json(assay));
	set(&b, "tails", packed_json(f, &f->tails));
	set(&b, "inline", packed_json(f, &f->inlined));
	set(&b, "size_classes", classes_json(f));
	set(&b, "fragmentation", fragmentation_json(assay));
	set(&b, "format_figures", own_figures_json(&assay->own));
	set(&b, "findings", findings_json(assay->opened));
	set_number(&b, "findings_not_kept", fsa_findings_dropped(assay->opened->findings));
	return end(&b);
}
