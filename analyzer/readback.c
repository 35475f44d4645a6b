/* SPDX-License-Identifier: GPL-2.0-only */
#include "readback.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "extract_tree.h"
#include "outfile.h"
#include "readback_dd.h"

const char *readback_pass_name(enum readback_pass pass)
{
	static const char *const names[READBACK_PASSES] = { "dd", "tar", "dump" };

	return names[pass];
}

/* --- counting and timing ------------------------------------------------------------------------- */

struct watched {
	struct readback_run *run;
	pthread_mutex_t *lock;	/* the window reads by a thread of its own */
	uint64_t contents_end, metadata_end;
};

static void count_read(void *arg, const struct fsa_image *image, uint64_t offset, size_t length, bool contents)
{
	struct watched *w = arg;
	struct readback_reads *reads = contents ? &w->run->contents : &w->run->metadata;
	uint64_t *end = contents ? &w->contents_end : &w->metadata_end;

	(void)image;
	pthread_mutex_lock(w->lock);
	reads->reads++;
	reads->bytes += length;
	reads->backward += offset < *end;
	*end = offset + length;
	pthread_mutex_unlock(w->lock);
}

static double seconds(const struct timeval *t)
{
	return (double)t->tv_sec + (double)t->tv_usec / 1e6;
}

struct clocks {
	struct timespec real;
	struct rusage usage;
};

static void read_clocks(struct clocks *clocks)
{
	if (clock_gettime(CLOCK_MONOTONIC, &clocks->real) != 0 || getrusage(RUSAGE_SELF, &clocks->usage) != 0)
		*clocks = (struct clocks){ .real = { 0, 0 } };
}

static void set_times(struct readback_run *run, const struct clocks *start)
{
	struct clocks now;

	read_clocks(&now);
	run->real = (double)(now.real.tv_sec - start->real.tv_sec) +
		    (double)(now.real.tv_nsec - start->real.tv_nsec) / 1e9;
	run->user = seconds(&now.usage.ru_utime) - seconds(&start->usage.ru_utime);
	run->sys = seconds(&now.usage.ru_stime) - seconds(&start->usage.ru_stime);
}

/* --- the passes ---------------------------------------------------------------------------------- */

struct job {
	struct opened *opened;
	const struct readback_options *options;
	const struct readback_range *ranges;	/* dd */
	size_t n_ranges;
	struct readback_run *run;
	struct progress progress;
};

/* Trouble of a pass, told; a signal is none. */
static bool tell(const struct job *job, enum fsa_status status, int error)
{
	if (status == FSA_OK)
		return true;
	if (error == ECANCELED || outfile_stopped(NULL))
		return false;
	cli_error("%s: %s", job->opened->argument, error != 0 ? strerror(error) : fsa_status_name(status));
	return false;
}

static bool run_tar(struct job *job, struct readback_sink *sink)
{
	struct fsa_fs *fs = job->opened->fs;
	struct window *window = window_new(fs, job->options->order, WINDOW_BYTES);
	struct extract *x = extract_new_to(job->opened, writebehind_new_to(readback_sink_take, sink, outfile_stopped, NULL),
					   &job->progress);
	enum fsa_status status = FSA_ENOMEM;
	struct fsa_ref root;
	int error = 0;

	if (x != NULL && window != NULL) {
		status = fs->parser->root(fs, &root);
		if (status == FSA_OK)
			status = extract_tree(x, fs, root, ".", window);
		if (status == FSA_OK)
			status = extract_finish(x);
		error = extract_error(x);
		job->run->entries = extract_counts(x).entries;
		job->run->left_out = extract_counts(x).left_out;
		job->run->incomplete = extract_counts(x).incomplete;
	}
	extract_free(x);
	window_free(window);
	return tell(job, status, error);
}

static bool run_dump(struct job *job, struct readback_sink *sink)
{
	struct dump *d = dump_new(job->opened, writebehind_new_to(readback_sink_take, sink, outfile_stopped, NULL),
				  job->options->order, &job->progress);
	enum fsa_status status = FSA_ENOMEM;
	int error = 0;

	if (d != NULL) {
		status = dump_write(d);
		error = dump_error(d);
		job->run->entries = dump_counts(d).inodes;
		job->run->left_out = dump_counts(d).left_out;
		job->run->incomplete = dump_counts(d).incomplete;
	}
	dump_free(d);
	return tell(job, status, error);
}

/* The filesystem is opened anew, so that no run profits from what the one before has read. */
static bool open_again(struct opened *opened)
{
	struct fsa_device devices[FSA_MAX_DEVICES];
	const struct fsa_open_options options = opened->fs->options;
	const unsigned n = opened->fs->n_devices;
	struct fsa_error err = { .status = FSA_OK };
	enum fsa_status status;

	memcpy(devices, opened->fs->devices, n * sizeof(*devices));
	fsa_close(opened->fs);
	opened->fs = NULL;
	status = fsa_open(devices, n, fsa_image_content(opened->images[0]), &options, opened->findings, &opened->fs, &err);
	/* Names of features belong to the filesystem that was closed. */
	if (status == FSA_OK)
		status = opened->fs->parser->summary(opened->fs, &opened->summary);
	if (status == FSA_OK)
		return true;
	if (err.message[0] != '\0')
		cli_error("%s", err.message);
	else
		cli_error("%s: %s", opened->argument, fsa_status_name(status));
	return false;
}

static bool go(struct job *job, enum readback_pass pass, struct readback_sink *sink)
{
	if (pass == READBACK_DD)
		return readback_dd(job->opened, job->options, job->ranges, job->n_ranges, sink, &job->progress);
	if (!open_again(job->opened))
		return false;
	return pass == READBACK_TAR ? run_tar(job, sink) : run_dump(job, sink);
}

/* One image that is warm makes all of it warm. */
static enum fsa_image_cold go_cold(const struct opened *opened)
{
	enum fsa_image_cold all = FSA_IMAGE_DROPPED;

	for (unsigned i = 0; i < opened->n_images; i++) {
		const enum fsa_image_cold one = fsa_image_go_cold(opened->images[i]);

		if (one == FSA_IMAGE_WARM)
			return one;
		if (one == FSA_IMAGE_DIRECT)
			all = one;
	}
	return all;
}

static uint64_t used_bytes(const struct opened *opened)
{
	struct fsa_statfs statfs;

	if (opened->fs->parser->statfs == NULL ||
	    opened->fs->parser->statfs(opened->fs, true, &statfs) != FSA_OK || statfs.free > statfs.blocks)
		return 0;
	return (statfs.blocks - statfs.free) * statfs.block_size;
}

/* One run; false with the reason told when its figures are worth nothing. */
static bool make_run(struct job *job, enum readback_pass pass)
{
	struct opened *opened = job->opened;
	struct readback_sink *sink = readback_sink_new();
	struct watched watched[FSA_MAX_DEVICES];
	pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	struct clocks start;
	bool good;

	if (sink == NULL) {
		cli_error("%s: %s", opened->argument, fsa_status_name(FSA_ENOMEM));
		return false;
	}
	job->run->cold = job->options->cold ? go_cold(opened) : FSA_IMAGE_WARM;
	for (unsigned i = 0; i < opened->n_images; i++) {
		watched[i] = (struct watched){ .run = job->run, .lock = &lock };
		fsa_image_watch(opened->images[i], count_read, &watched[i]);
	}
	progress_begin(&job->progress, readback_pass_name(pass), opened->argument);
	job->progress.expected = used_bytes(opened);
	read_clocks(&start);
	good = go(job, pass, sink);
	set_times(job->run, &start);
	progress_end(&job->progress);
	for (unsigned i = 0; i < opened->n_images; i++)
		fsa_image_watch(opened->images[i], NULL, NULL);
	job->run->bytes = readback_sink_bytes(sink);
	job->run->complete = good;
	readback_sink_digest(sink, job->run->digest);
	readback_sink_free(sink);
	pthread_mutex_destroy(&lock);
	return good || outfile_stopped(NULL);
}

/* Every run read the same, or one of them did not read what it should. */
static bool digests_agree(const struct opened *opened, const struct readback_result *result)
{
	for (unsigned i = 1; i < result->n_runs; i++)
		if (result->runs[i].complete && strcmp(result->runs[i].digest, result->runs[0].digest) != 0) {
			cli_error("%s: %s: run %u read other bytes than the first", opened->argument,
				  readback_pass_name(result->pass), i + 1);
			return false;
		}
	return true;
}

int readback_run_pass(struct readback_result *result, struct opened *opened, enum readback_pass pass,
		      const struct readback_options *options)
{
	struct job job = { .opened = opened, .options = options };
	struct readback_range *ranges = NULL;
	bool good = true;

	*result = (struct readback_result){ .pass = pass };
	result->runs = calloc(options->runs, sizeof(*result->runs));
	if (result->runs == NULL) {
		cli_error("%s: %s", opened->argument, fsa_status_name(FSA_ENOMEM));
		return CLI_FAILED;
	}
	if (pass == READBACK_DD && !readback_find_ranges(opened, options->used, &ranges, &job.n_ranges))
		return CLI_FAILED;
	job.ranges = ranges;
	while (good && result->n_runs < options->runs && !outfile_stopped(NULL)) {
		job.run = &result->runs[result->n_runs];
		good = make_run(&job, pass);
		result->n_runs += good;
	}
	free(ranges);
	if (options->cold && result->n_runs != 0 && result->runs[0].cold == FSA_IMAGE_WARM)
		cli_error("%s: its pages could not be dropped from the cache, nor can it be read past it: %s is not cold",
			  opened->argument, readback_pass_name(pass));
	if (options->cold && result->n_runs != 0 && result->runs[0].cold == FSA_IMAGE_DIRECT)
		cli_error("%s: pages of it stay in the cache: %s reads past it with O_DIRECT", opened->argument,
			  readback_pass_name(pass));
	return good && digests_agree(opened, result) ? CLI_CONSISTENT : CLI_FAILED;
}

void readback_free(struct readback_result *result)
{
	free(result->runs);
	*result = (struct readback_result){ .runs = NULL };
}

/* --- which of the runs --------------------------------------------------------------------------- */

static int by_time(const void *left, const void *right)
{
	const struct readback_run *const *a = left, *const *b = right;

	return (*a)->real < (*b)->real ? -1 : (*a)->real > (*b)->real;
}

struct readback_chosen readback_choose(const struct readback_result *result)
{
	const struct readback_run **sorted = calloc(result->n_runs + 1, sizeof(*sorted));
	struct readback_chosen chosen = { NULL, NULL, NULL };
	unsigned n = 0;

	if (sorted == NULL)
		return chosen;
	for (unsigned i = 0; i < result->n_runs; i++)
		if (result->runs[i].complete)
			sorted[n++] = &result->runs[i];
	if (n != 0) {
		qsort(sorted, n, sizeof(*sorted), by_time);
		chosen = (struct readback_chosen){ sorted[0], sorted[(n - 1) / 2], sorted[n - 1] };
	}
	free(sorted);
	return chosen;
}
