/* SPDX-License-Identifier: GPL-2.0-only */
/* One call of fsa_populate(): what its parts share. */
#ifndef FSA_POP_JOB_H
#define FSA_POP_JOB_H

#include <signal.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "../include/populate.h"
#include "fs_table.h"
#include "pop_outcome.h"
#include "shared/pop_plan.h"
#include "shared/pop_stamp.h"

/* The image, one for a log, and those of further devices: at most these. */
#define POP_IMAGES	15

struct pop_image {
	const char *final;	/* where it will be */
	char *path;		/* absolute, temporary name */
	uint64_t size;		/* bytes */
};

struct pop_job {
	const struct fsa_populate_options *o;
	struct fsa_populate_result *r;
	const struct pop_fs *fs;
	const struct pop_collection *collection;
	struct pop_collection_args args;
	struct pop_image images[POP_IMAGES];
	size_t image_count;
	char *image;		/* path of the first of them */
	char *log_image;	/* path of the one for the log, or NULL */
	char *dir;		/* temporary directory, absolute */
	int dir_fd;
	int signals;		/* descriptor that is readable on a signal */
	sigset_t old_mask;	/* for children */
	bool old_times;		/* see shared/pop_plan.h */
	struct pop_outcome outcome;
	struct pop_tree tree;	/* what o->tree names */
	char *tree_name;	/* its packed form, or NULL */
	bool remove;		/* empty the image instead */
};

/* Sets the error of the result, unless there is one already. */
void pop_fail(struct pop_job *job, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* The last part of a text file of the temporary directory becomes the log. */
void pop_keep_log(struct pop_job *job, const char *name);

void pop_add_time(struct pop_job *job, const char *phase, int64_t real,
		  int64_t user, int64_t sys, bool in_guest);

/* engine_lib.c: for filling in process. */
void pop_add_time_since(struct pop_job *job, const char *phase,
			const struct pop_stamp *from);
int pop_run_tick(void *ctx, uint64_t files);	/* ctx: the job */

/* Sets the error of a run that ended with ret; text (may be NULL): why. */
void pop_fail_run(struct pop_job *job, const struct pop_run *run, int ret,
		  const char *text);

/* Moves counts and refusals of a run into the job; frees the run. */
void pop_take_run(struct pop_job *job, struct pop_run *run);

/* Whether a signal waits. */
bool pop_interrupted(const struct pop_job *job);

/* Malloc'ed text; NULL without memory. */
char *pop_format(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/*
 * check_options.c: fill in fs, collection and arguments, and what of the
 * result follows from the options; FSA_POPULATE_OK or what it is, with the
 * error set.
 */
enum fsa_populate_status pop_check_options(struct pop_job *job);
enum fsa_populate_status pop_check_removal(struct pop_job *job);

/* Bytes of an image that the collection fits in. */
uint64_t pop_default_size(const struct pop_job *job);

/* images.c: functions return 0 or -1 with the error set. */

/*
 * A new file of that size beside the final one: its absolute name, malloc'ed;
 * NULL with the error set.
 */
char *pop_make_beside(struct pop_job *job, const char *final, uint64_t size);

/* The images that the options ask for, blank. */
int pop_add_images(struct pop_job *job);

/* Those that the options name, where they lie. */
int pop_take_images(struct pop_job *job);

/* Blank again, as before mkfs; for a second mkfs. */
int pop_blank(struct pop_job *job);

/* The images and the manifest, unless that is NULL, get their names: all of them or none. */
int pop_put_in_place(struct pop_job *job, const char *manifest);

/*
 * After a failure: when a place where it wrote is full, the error says so,
 * which kernels tell as an I/O error, if at all.
 */
void pop_note_full(struct pop_job *job);

/* Unless they are in place they are removed. */
void pop_free_images(struct pop_job *job, bool failed);

/* child.c */

/* The program's full path from PATH and the administrator's directories. */
char *pop_find_program(const char *name);

/*
 * Starts a program in a process group of its own, in the temporary
 * directory, its input empty and its output (both kinds) in a file there.
 * preload (may be NULL) is the shared object to load into it.  Returns its
 * id or a negative errno.
 */
pid_t pop_spawn(struct pop_job *job, char *const argv[], const char *output,
		const char *preload);

/* Called in the child before anything else. */
void pop_child_begin(const struct pop_job *job);

/*
 * Waits for a child of pop_spawn(), with tick (may be NULL) every so often;
 * at a signal or behind the time limit its whole group is killed.  Returns
 * 0 with the wait status, -EINTR or -ETIMEDOUT.
 */
int pop_wait(struct pop_job *job, pid_t pid, void (*tick)(struct pop_job *job),
	     int *status, struct rusage *usage);

/*
 * Runs a child that leaves a session's result; late says what did not end in
 * time.  Returns 0 with the wait status, or -1 with the error set.
 */
int pop_fork_session(struct pop_job *job, int (*child)(struct pop_job *job),
		     const char *late, int *status);

/* The progress of a session, for pop_wait(). */
void pop_session_tick(struct pop_job *job);

/* mkfs.c: makes the filesystem; returns 0 or -1 with the error set. */
int pop_mkfs(struct pop_job *job);

/* The same with a tree to fill it from: source is in job->dir. */
int pop_mkfs_from(struct pop_job *job, const char *option,
		  const char *source);


/* ext_journal.c: ties an ext image and a journal image together. */
int pop_ext_external_journal(const char *image, const char *log, char *why,
			     size_t why_size);

/* The block size of an ext image, 0 when there is none. */
uint32_t pop_ext_block_size(const char *image);

/* Whether it is an ext image of revision 0. */
bool pop_ext_revision_0(const char *image);

/*
 * The engines: 0; 1 when the kernel at hand cannot do it and another engine
 * may be tried (the reason is put into why); -1 with the error set.
 */
int pop_engine_host(struct pop_job *job, char **why);
int pop_engine_uml(struct pop_job *job, char **why);
int pop_engine_lib(struct pop_job *job, char **why);

/* The plan of a session with a device for each image. */
int pop_make_plan(struct pop_job *job, struct pop_plan *plan,
		  const char *const *devices);

/* Before a session: the device that the log will be, if the format asks. */
int pop_tie_log(struct pop_job *job, unsigned int major, unsigned int minor);

/*
 * Takes the session's result; sets times, counts and the outcome.  Same
 * returns as the engines.
 */
int pop_take_result(struct pop_job *job, bool in_guest, char **why);

/* dig_holes.c: returns 0 or a negative errno. */
int pop_dig_holes(const struct pop_job *job, const char *image);

/*
 * manifest.c: compares what the kernel saw with what is to be there, and
 * writes the manifest unless path is NULL.  Returns 0 or -1 with the error
 * set.
 */
int pop_manifest(struct pop_job *job, const char *path);

#endif
