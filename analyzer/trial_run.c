/* SPDX-License-Identifier: GPL-2.0-only */
#include "trial_run.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "format.h"
#include "outfile.h"
#include "progress.h"
#include "trial_cell.h"
#include "trial_result.h"

/* Below this there is no room for anything. */
#define DISK_FULL_BYTES (UINT64_C(32) << 20)

struct job {
	struct trial_cell cell;
	char key[160];
	uint64_t weight;	/* by which time is shared out: files, and bytes in pieces of 64K */
	uint64_t bytes;		/* of room, about */
};

struct run {
	const struct trial_plan *plan;
	const struct trial_run_options *options;
	json_t *result;
	struct job *jobs;
	size_t n_jobs;
	char *images;		/* folder */
	char *tree;		/* packed, NULL: none */
	bool own_images, own_tree;
	uint64_t weight_done, weight_left;
	double seconds;		/* that the done ones took */
	size_t failed, findings, done_before;
};

static double now(void)
{
	struct timespec t;

	return clock_gettime(CLOCK_MONOTONIC, &t) == 0 ? (double)t.tv_sec + (double)t.tv_nsec / 1e9 : 0;
}

/* Done, and nothing in it failed: a failed one is tried again. */
static bool is_done(const json_t *cell)
{
	const char *status = json_string_value(json_object_get(cell, "status"));

	return status != NULL && strcmp(status, "done") == 0;
}

static void add_job(struct run *run, const struct trial_filesystem *fs, const char *collection, uint64_t sync_every)
{
	struct job *job = &run->jobs[run->n_jobs];
	struct fsa_populate_options need = { .fs = fs->fs, .collection = collection, .files = run->plan->files,
					     .clones = run->plan->clones };
	uint64_t inodes = 0;

	*job = (struct job){
		.cell = { .plan = run->plan, .fs = fs, .collection = collection, .sync_every = sync_every },
	};
	snprintf(job->key, sizeof(job->key), sync_every != 0 ? "%s/%s/sync-%" PRIu64 : "%s/%s", fs->name, collection,
		 sync_every);
	if (run->options->only != NULL && fnmatch(run->options->only, job->key, 0) != 0)
		return;
	if (is_done(trial_result_cell(run->result, job->key))) {
		run->done_before++;
		return;
	}
	if (strcmp(collection, "clones") == 0)
		need.tree = run->tree;
	fsa_populate_need(&need, &job->bytes, &inodes);
	job->weight = inodes + (job->bytes >> 16) + 100;
	job->bytes += inodes * 1024 + DISK_FULL_BYTES;
	run->weight_left += job->weight;
	run->n_jobs++;
}

static bool plan_jobs(struct run *run)
{
	const struct trial_plan *plan = run->plan;

	free(run->jobs);
	run->n_jobs = run->done_before = 0;
	run->weight_left = 0;
	run->jobs = calloc(plan->n_collections * plan->n_sync_every * plan->n_filesystems, sizeof(*run->jobs));
	if (run->jobs == NULL) {
		cli_error("out of memory");
		return false;
	}
	for (size_t c = 0; c < plan->n_collections; c++)
		for (size_t s = 0; s < plan->n_sync_every; s++)
			for (size_t f = 0; f < plan->n_filesystems; f++)
				add_job(run, &plan->filesystems[f], plan->collections[c], plan->sync_every[s]);
	return true;
}

/* --- what is made beside the result ------------------------------------------------------------------ */

static bool wants_tree(const struct run *run)
{
	for (size_t i = 0; run->plan->tree != NULL && i < run->n_jobs; i++)
		if (strcmp(run->jobs[i].cell.collection, "clones") == 0)
			return true;
	return false;
}

static bool make_folder(struct run *run)
{
	const char *base = getenv("TMPDIR");

	if (run->options->images != NULL) {
		run->images = realpath(run->options->images, NULL);
		if (run->images == NULL)
			cli_error("%s: %s", run->options->images, strerror(errno));
		return run->images != NULL;
	}
	if (asprintf(&run->images, "%s/fsassay-trial-XXXXXX", base != NULL ? base : "/tmp") < 0)
		run->images = NULL;
	if (run->images == NULL || mkdtemp(run->images) == NULL) {
		cli_error("no temporary folder can be made: %s", strerror(errno));
		free(run->images);
		run->images = NULL;
		return false;
	}
	run->own_images = true;
	return true;
}

/* Once for all cells: unpacking takes as long as filling. */
static bool pack_tree(struct run *run)
{
	char *from = trial_plan_path(run->plan, run->plan->tree), *why = NULL;

	if (from == NULL || asprintf(&run->tree, "%s/tree", run->images) < 0) {
		run->tree = NULL;
		free(from);
		cli_error("out of memory");
		return false;
	}
	fprintf(stderr, "packing %s\n", run->plan->tree);
	run->own_tree = fsa_populate_pack(from, run->tree, outfile_stopped, NULL, &why) == 0;
	if (!run->own_tree && !outfile_stopped(NULL))
		cli_error("%s: %s", from, why != NULL ? why : "out of memory");
	free(why);
	free(from);
	return run->own_tree;
}

static void clean_up(struct run *run)
{
	char *data;

	if (run->own_tree) {
		unlink(run->tree);
		if (asprintf(&data, "%s.data", run->tree) >= 0) {
			unlink(data);
			free(data);
		}
	}
	if (run->own_images && rmdir(run->images) != 0)
		cli_error("%s: %s", run->images, strerror(errno));
	free(run->tree);
	free(run->images);
	free(run->jobs);
}

static uint64_t room(const struct run *run)
{
	struct statvfs st;

	return statvfs(run->images, &st) == 0 ? st.f_bavail * st.f_frsize : UINT64_MAX;
}

/* --- the cells --------------------------------------------------------------------------------------- */

struct shown {
	struct progress progress;
	char name[256];
};

static void show(void *arg, const char *what, uint64_t done, uint64_t total)
{
	progress_show(&((struct shown *)arg)->progress, what, done, total, false);
}

static void time_left(const struct run *run, char *text, size_t size)
{
	const double left = run->weight_done != 0
				    ? run->seconds / (double)run->weight_done * (double)run->weight_left
				    : 0;

	if (run->weight_left == 0)
		snprintf(text, size, "done");
	else if (run->weight_done == 0)
		snprintf(text, size, "time left not known yet");
	else if (left < 100)
		snprintf(text, size, "about %.0f s left", left);
	else
		snprintf(text, size, "about %.0f min left", left / 60);
}

/* What a done cell says against the audits; "" for nothing. */
static const char *complaint(const json_t *audit)
{
	if (json_object_get(audit, "error") != NULL)
		return json_string_value(json_object_get(audit, "error"));
	if (json_integer_value(json_object_get(audit, "findings")) != 0)
		return "the audit has findings";
	if (!json_is_true(json_object_get(audit, "consistent")))
		return "the books do not agree";
	if (json_is_false(json_object_get(audit, "df_as_kernel")))
		return "df is not the kernel's";
	return "";
}

static const char *judge(struct run *run, const json_t *cell)
{
	const json_t *removed = json_object_get(cell, "remove");
	const char *error = json_string_value(json_object_get(removed, "error"));
	const char *what;

	if (!is_done(cell)) {
		run->failed++;
		return json_string_value(json_object_get(cell, "error"));
	}
	if (error != NULL) {
		run->failed++;
		return error;
	}
	what = complaint(json_object_get(cell, "audit"));
	if (*what == '\0' && removed != NULL)
		what = complaint(json_object_get(removed, "audit"));
	if (*what != '\0')
		run->findings++;
	return what;
}

/* Runs one; false when the trial cannot go on, with the reason said. */
static bool run_job(struct run *run, size_t index)
{
	struct job *job = &run->jobs[index];
	struct shown shown;
	char *image, left[64];
	const double from = now();
	const char *what;
	json_t *cell;

	if (room(run) < job->bytes) {
		cli_error("%s: %s needs about %s of room, and there is only %s", run->images, job->key,
			  format_human(job->bytes).text, format_human(room(run)).text);
		return false;
	}
	if (asprintf(&image, "%s/%s.img", run->images, job->key) < 0) {
		cli_error("out of memory");
		return false;
	}
	for (char *c = image + strlen(run->images) + 1; *c != '\0'; c++)
		if (*c == '/')
			*c = '-';
	time_left(run, left, sizeof(left));
	snprintf(shown.name, sizeof(shown.name), "[%zu/%zu] %s, %s", index + 1, run->n_jobs, job->key, left);
	progress_begin(&shown.progress, "", shown.name);
	job->cell.key = job->key;
	job->cell.image = image;
	job->cell.tree = run->tree;
	job->cell.keep = run->options->keep;
	job->cell.progress = show;
	job->cell.arg = &shown;
	cell = trial_cell_run(&job->cell);
	progress_end(&shown.progress);
	free(image);
	if (cell == NULL) {
		if (!outfile_stopped(NULL))
			cli_error("out of memory");
		return false;
	}
	json_object_set_new(cell, "seconds", json_real(now() - from));
	run->seconds += now() - from;
	run->weight_done += job->weight;
	run->weight_left -= job->weight;
	time_left(run, left, sizeof(left));
	what = judge(run, cell);
	fprintf(stderr, "[%zu/%zu] %s: %.1f s%s%s; %s\n", index + 1, run->n_jobs, job->key, now() - from,
		*what != '\0' ? ": " : "", what, left);
	if (!trial_result_put(run->result, job->key, cell)) {
		cli_error("out of memory");
		return false;
	}
	if (!trial_result_save(run->result, run->options->result))
		return false;
	/* It was enough when this one began: others fill the disk, and the next ones would fail alike. */
	if (!is_done(trial_result_cell(run->result, job->key)) && room(run) < job->bytes) {
		cli_error("%s: the disk is full: only %s of room, and %s are needed", run->images,
			  format_human(room(run)).text, format_human(job->bytes).text);
		return false;
	}
	return true;
}

static bool all_done(const struct run *run)
{
	size_t done = 0;
	const char *key;
	json_t *cell;

	json_object_foreach(json_object_get(run->result, "cells"), key, cell)
		done += is_done(cell);
	return done == run->plan->n_collections * run->plan->n_sync_every * run->plan->n_filesystems;
}

static int go(struct run *run)
{
	size_t i = 0;
	bool good = true;

	if (run->done_before != 0)
		fprintf(stderr, "%zu done before, %zu to go\n", run->done_before, run->n_jobs);
	while (good && i < run->n_jobs && !outfile_stopped(NULL)) {
		good = run_job(run, i);
		i += good;
	}
	json_object_set_new(run->result, "complete", json_boolean(all_done(run)));
	if (!trial_result_save(run->result, run->options->result))
		good = false;
	if (i < run->n_jobs) {
		cli_error("stopped with %zu of %zu done; the same command goes on from there", i, run->n_jobs);
		return CLI_FAILED;
	}
	if (run->failed != 0)
		cli_error("%zu of %zu failed; the same command tries them again", run->failed, run->n_jobs);
	return !good || run->failed != 0 ? CLI_FAILED : run->findings != 0 ? CLI_FINDINGS : CLI_CONSISTENT;
}

int trial_run(const struct trial_plan *plan, json_t *result, const struct trial_run_options *options)
{
	struct run run = { .plan = plan, .options = options, .result = result };
	int status = CLI_FAILED;
	struct outfile signals;

	/* From here on a signal only says that it came; it is raised again at the end. */
	outfile_begin_stdout(&signals);
	/* How much room clones need is known when the tree is. */
	if (make_folder(&run) && plan_jobs(&run) && (!wants_tree(&run) || (pack_tree(&run) && plan_jobs(&run))))
		status = go(&run);
	else if (outfile_stopped(NULL))
		cli_error("stopped before the first one");
	clean_up(&run);
	fflush(stdout);
	outfile_end(&signals, true);
	return status;
}
