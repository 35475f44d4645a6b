/* SPDX-License-Identifier: GPL-2.0-only */
#include "readback_report.h"

#include <stdio.h>
#include <string.h>

#include "escape.h"
#include "findings.h"
#include "format.h"
#include "json.h"
#include "table.h"

static uint64_t rate(const struct readback_run *run)
{
	return run->real > 0 ? (uint64_t)((double)run->bytes / run->real) : 0;
}

static uint64_t mean(const struct readback_reads *reads)
{
	return reads->reads != 0 ? reads->bytes / reads->reads : 0;
}

/* --- text ---------------------------------------------------------------------------------------- */

static void add_row(struct table *table, const char *pass, const char *which, const struct readback_run *run, bool bytes)
{
	char text[48];

	table_row(table);
	table_cell(table, pass);
	table_cell(table, which);
	table_cell(table, format_ratio(run->real, 3).text);
	table_cell(table, format_ratio(run->user, 3).text);
	table_cell(table, format_ratio(run->sys, 3).text);
	table_cell(table, format_size(run->bytes, bytes).text);
	snprintf(text, sizeof(text), bytes ? "%s" : "%s/s", format_size(rate(run), bytes).text);
	table_cell(table, text);
	table_cell(table, format_count(run->contents.reads).text);
	table_cell(table, format_size(mean(&run->contents), bytes).text);
	table_cell(table, format_count(run->contents.backward).text);
	table_cell(table, format_count(run->metadata.reads).text);
	table_cell(table, run->complete ? run->digest : "-");
}

static void add_rows(struct table *table, const struct readback_result *result, bool bytes)
{
	const char *name = readback_pass_name(result->pass);
	const struct readback_chosen chosen = readback_choose(result);
	const struct readback_run *last = &result->runs[result->n_runs - 1];

	if (chosen.median != NULL && result->n_runs == 1) {
		add_row(table, name, "-", chosen.median, bytes);
	} else if (chosen.median != NULL) {
		add_row(table, name, "min", chosen.least, bytes);
		add_row(table, name, "median", chosen.median, bytes);
		add_row(table, name, "max", chosen.most, bytes);
	}
	if (!last->complete)
		add_row(table, name, "stopped", last, bytes);
}

int readback_report_text(const struct opened *opened, const struct readback_result *results, unsigned n,
			 const struct readback_options *options, bool bytes, bool no_headings)
{
	static const struct table_column columns[] = {
		{ "PASS", TABLE_LEFT }, { "RUN", TABLE_LEFT }, { "REAL", TABLE_RIGHT }, { "USER", TABLE_RIGHT },
		{ "SYS", TABLE_RIGHT }, { "BYTES", TABLE_RIGHT }, { "RATE", TABLE_RIGHT }, { "READS", TABLE_RIGHT },
		{ "MEAN", TABLE_RIGHT }, { "BACKWARD", TABLE_RIGHT }, { "METADATA", TABLE_RIGHT },
		{ READBACK_DIGEST_NAME, TABLE_LEFT },
	};
	struct table table;

	if (!no_headings) {
		escape_print(stdout, opened->argument, strlen(opened->argument));
		printf(": %s, %s order%s\n", opened->summary.type, window_order_name(options->order),
		       options->cold ? ", cold" : "");
	}
	table_begin(&table, columns, sizeof(columns) / sizeof(columns[0]), !no_headings);
	for (unsigned i = 0; i < n; i++)
		if (results[i].n_runs != 0)
			add_rows(&table, &results[i], bytes);
	return table_print(&table) ? CLI_CONSISTENT : CLI_FAILED;
}

/* --- JSON ---------------------------------------------------------------------------------------- */

static json_t *reads_json(const struct readback_reads *reads)
{
	return json_pack("{s:o, s:o, s:o, s:o}", "reads", json_unsigned(reads->reads), "bytes",
			 json_unsigned(reads->bytes), "mean_bytes", json_unsigned(mean(reads)), "backward_seeks",
			 json_unsigned(reads->backward));
}

static json_t *run_json(const struct readback_run *run)
{
	static const char *const by[] = { "none", "dropped", "direct" };

	return json_pack("{s:b, s:b, s:s, s:f, s:f, s:f, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s}",
			 "complete", run->complete, "cold", run->cold != FSA_IMAGE_WARM, "cold_by",
			 by[run->cold], "real_s", run->real, "user_s", run->user,
			 "sys_s", run->sys, "bytes", json_unsigned(run->bytes), "bytes_per_second",
			 json_unsigned(rate(run)), "contents", reads_json(&run->contents), "metadata",
			 reads_json(&run->metadata), "entries", json_unsigned(run->entries), "left_out",
			 json_unsigned(run->left_out), "incomplete", json_unsigned(run->incomplete), "digest",
			 run->digest);
}

static json_t *pass_json(const struct readback_result *result, const struct readback_options *options)
{
	const struct readback_chosen chosen = readback_choose(result);
	json_t *runs = json_array();
	json_t *pass;

	for (unsigned i = 0; runs != NULL && i < result->n_runs; i++)
		json_array_append_new(runs, run_json(&result->runs[i]));
	pass = json_pack("{s:s, s:s, s:o}", "pass", readback_pass_name(result->pass), "digest_type",
			 READBACK_DIGEST_NAME, "runs", runs);
	if (pass == NULL)
		return NULL;
	if (result->pass != READBACK_DD)
		json_object_set_new(pass, "order", json_string(window_order_name(options->order)));
	if (chosen.median != NULL)
		json_object_set_new(pass, "real_s", json_pack("{s:f, s:f, s:f}", "min", chosen.least->real, "median",
							      chosen.median->real, "max", chosen.most->real));
	return pass;
}

json_t *readback_report_json(const struct opened *opened, const struct readback_result *results, unsigned n,
			     const struct readback_options *options)
{
	json_t *passes = json_array(), *image = json_object();
	uint64_t size = 0;

	for (unsigned i = 0; i < opened->n_images; i++)
		size += fsa_image_size(opened->images[i]);
	for (unsigned i = 0; i < n && passes != NULL; i++)
		json_array_append_new(passes, pass_json(&results[i], options));
	if (image == NULL || passes == NULL ||
	    json_set_bytes(image, "path", opened->argument, strlen(opened->argument)) != 0 ||
	    json_object_set_new(image, "size_bytes", json_unsigned(size)) != 0 ||
	    json_object_set_new(image, "type", json_string(opened->summary.type)) != 0 ||
	    json_object_set_new(image, "passes", json_incref(passes)) != 0 ||
	    json_object_set_new(image, "findings", json_unsigned(findings_total(opened))) != 0) {
		json_decref(passes);
		json_decref(image);
		return NULL;
	}
	json_decref(passes);
	return image;
}
