/* SPDX-License-Identifier: GPL-2.0-only */
#include "trial_cell.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "assay.h"
#include "df.h"
#include "findings.h"
#include "json.h"
#include "outfile.h"
#include "readback.h"
#include "readback_report.h"
#include "report.h"
#include "trial_audit.h"
#include "trial_result.h"

static json_t *failed(const char *step, const char *error, const char *log)
{
	return json_pack("{s:s, s:s, s:s, s:s?}", "status", "failed", "step", step, "error", error, "log", log);
}

static void options_of(const struct trial_cell *cell, struct fsa_populate_options *options)
{
	const struct trial_plan *plan = cell->plan;

	*options = (struct fsa_populate_options){
		.fs = cell->fs->fs, .collection = cell->collection, .output = cell->image,
		.engine = cell->fs->engine != FSA_POPULATE_AUTO ? cell->fs->engine : plan->engine,
		.size = plan->size, .block_size = cell->fs->block_size, .features = cell->fs->features,
		.mkfs_options = cell->fs->mkfs_options, .mount_options = cell->fs->mount_options,
		.files = plan->files, .seed = plan->seed, .sync_every = cell->sync_every, .timeout = plan->timeout,
		.tar = plan->tar, .no_manifest = !cell->keep, .force = true,
		.progress = cell->progress, .ctx = cell->arg,
	};
	/* What only some collections have. */
	if (strcmp(cell->collection, "clones") == 0) {
		options->tree = cell->tree;
		options->clones = plan->clones;
		if (cell->tree != NULL)
			options->files = 0;
	}
}

static json_t *times_json(const struct fsa_populate_result *result)
{
	json_t *times = json_object();

	for (size_t i = 0; i < result->time_count; i++) {
		const struct fsa_populate_time *t = &result->times[i];

		json_object_set_new(times, t->phase,
				    json_pack("{s:f, s:f, s:f, s:s}", "real_s", (double)t->real / 1e9, "user_s",
					      (double)t->user / 1e9, "sys_s", (double)t->sys / 1e9, "measured",
					      t->in_guest ? "guest" : "host"));
		if (t->read_known)
			json_object_set_new(json_object_get(times, t->phase), "read_bytes", json_unsigned(t->read));
	}
	return times;
}

/* What the kernel's df showed, with df's own rounding. */
static json_t *df_json(const struct fsa_populate_statfs *s)
{
	struct df_line line;

	if (!s->known)
		return json_null();
	line = df_line(&(struct fsa_statfs){
		.block_size = (uint32_t)s->frsize, .blocks = s->blocks, .free = s->bfree, .available = s->bavail,
	});
	return json_pack("{s:I, s:I, s:I}", "size_kib", (json_int_t)line.size_kib, "used_kib", (json_int_t)line.used_kib,
			 "available_kib", (json_int_t)line.available_kib);
}

static json_t *populate_json(const struct fsa_populate_result *result)
{
	char release[64];

	return json_pack("{s:s, s:s?, s:s?, s:s?, s:s?, s:I, s:I, s:I, s:I, s:I, s:o}", "engine",
			 fsa_populate_engine_name(result->engine), "kernel",
			 result->kernel != NULL ? trial_release(result->kernel, release, sizeof(release)) : NULL,
			 "mkfs_command", result->mkfs_command, "mkfs_version", result->mkfs_version, "mount_options",
			 result->mount_options, "size_bytes", (json_int_t)result->size, "files",
			 (json_int_t)result->files, "objects", (json_int_t)result->objects, "written_bytes",
			 (json_int_t)result->bytes, "refused", (json_int_t)result->refused, "times",
			 times_json(result));
}

static void set_df(json_t *o, const struct fsa_populate_result *result)
{
	static const char *const names[FSA_POPULATE_WHENS] = {
		[FSA_POPULATE_RW] = "df", [FSA_POPULATE_RO] = "df_ro", [FSA_POPULATE_NEW] = "df_new",
		[FSA_POPULATE_UNSYNCED] = "df_unsynced",
	};

	for (size_t i = 0; i < FSA_POPULATE_WHENS; i++)
		json_object_set_new(o, names[i], df_json(&result->statfs[i]));
}

/* The image audited; whether its df is the kernel's, null where no kernel was asked. NULL: a signal, or no memory. */
static json_t *audit(const struct trial_cell *cell, const struct fsa_populate_result *made)
{
	const struct open_options options = { .have_offset = false };
	json_t *o = NULL, *kernel = df_json(&made->statfs[FSA_POPULATE_RW]), *own;
	struct opened opened;
	struct assay assay;
	int status = open_argument(&opened, cell->image, &options);

	if (status != CLI_CONSISTENT) {
		json_decref(kernel);
		return json_pack("{s:s}", "error", "the image cannot be opened");
	}
	status = assay_run(&assay, &opened, false);
	if (assay.ledger != NULL) {
		o = trial_audit_json(&assay);
		own = json_object_get(o, "df");
		json_object_set_new(o, "df_as_kernel", json_is_null(kernel) || json_is_null(own) ? json_null()
								: json_boolean(json_equal(own, kernel)));
		assay_free(&assay);
	} else {
		o = json_pack("{s:s}", "error", "the image cannot be analysed");
	}
	if (status == CLI_FAILED && json_object_get(o, "error") == NULL)
		json_object_set_new(o, "error", json_string("the audit did not come to its end"));
	json_decref(kernel);
	open_close(&opened);
	return o;
}

static json_t *read_back(const struct trial_cell *cell)
{
	const struct open_options open_options = { .have_offset = false };
	const struct readback_options options = {
		.order = WINDOW_PHYSICAL, .block_size = 1u << 20, .runs = 1, .cold = cell->plan->cold,
		/* A sparse image has little of what its size says. */
		.used = true,
	};
	struct readback_result results[READBACK_PASSES];
	struct opened opened;
	json_t *report;
	unsigned n = 0;

	if (open_argument(&opened, cell->image, &open_options) != CLI_CONSISTENT)
		return json_null();
	for (unsigned pass = 0; pass < READBACK_PASSES && !outfile_stopped(NULL); pass++)
		if (cell->plan->passes[pass]) {
			struct readback_options one = options;

			one.passes[pass] = true;
			readback_run_pass(&results[n++], &opened, (enum readback_pass)pass, &one);
		}
	report = readback_report_json(&opened, results, n, &options);
	json_object_del(report, "path");
	for (unsigned i = 0; i < n; i++)
		readback_free(&results[i]);
	open_close(&opened);
	return report;
}

/* Empties the image and audits what is left. */
static json_t *take_out(const struct trial_cell *cell, struct fsa_populate_options *options)
{
	struct fsa_populate_result result;
	json_t *o;

	if (fsa_populate_remove(options, &result) != FSA_POPULATE_OK) {
		o = json_pack("{s:s}", "error", result.error != NULL ? result.error : "out of memory");
	} else {
		o = json_pack("{s:s, s:o, s:o}", "engine", fsa_populate_engine_name(result.engine), "times",
			      times_json(&result), "audit", audit(cell, &result));
		json_object_set_new(o, "df", df_json(&result.statfs[FSA_POPULATE_RW]));
	}
	fsa_populate_result_free(&result);
	return o;
}

static uint64_t room_of(const char *image)
{
	struct stat st;

	return stat(image, &st) == 0 ? (uint64_t)st.st_blocks * 512 : 0;
}

static json_t *measure(const struct trial_cell *cell, struct fsa_populate_options *options,
		       const struct fsa_populate_result *result)
{
	json_t *o = json_pack("{s:s, s:s, s:s, s:I, s:o}", "status", "done", "filesystem", cell->fs->name, "collection",
			      cell->collection, "sync_every", (json_int_t)cell->sync_every, "populate",
			      populate_json(result));

	if (o == NULL)
		return NULL;
	set_df(o, result);
	json_object_set_new(o, "image_bytes", json_unsigned(room_of(cell->image)));
	if (!outfile_stopped(NULL))
		json_object_set_new(o, "audit", audit(cell, result));
	if (!outfile_stopped(NULL) && cell->plan->readback)
		json_object_set_new(o, "readback", read_back(cell));
	if (!outfile_stopped(NULL) && cell->plan->remove && !cell->keep)
		json_object_set_new(o, "remove", take_out(cell, options));
	return o;
}

static void remove_image(const struct trial_cell *cell)
{
	char *manifest;

	unlink(cell->image);
	if (asprintf(&manifest, "%s.manifest.json", cell->image) < 0)
		return;
	unlink(manifest);
	free(manifest);
}

json_t *trial_cell_run(const struct trial_cell *cell)
{
	struct fsa_populate_options options;
	struct fsa_populate_result result;
	json_t *o;

	options_of(cell, &options);
	if (fsa_populate(&options, &result) != FSA_POPULATE_OK)
		o = failed("populate", result.error != NULL ? result.error : "out of memory", result.log);
	else
		o = measure(cell, &options, &result);
	fsa_populate_result_free(&result);
	if (outfile_stopped(NULL)) {
		remove_image(cell);
		json_decref(o);
		return NULL;
	}
	if (!cell->keep)
		remove_image(cell);
	return o;
}
