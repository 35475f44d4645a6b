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

struct pop_job {
	const struct fsa_populate_options *o;
	struct fsa_populate_result *r;
	const struct pop_fs *fs;
	const struct pop_collection *collection;
	struct pop_collection_args args;
	char *image;		/* absolute, temporary name */
	char *log_image;	/* the same, or NULL */
	char *dir;		/* temporary directory, absolute */
	int dir_fd;
	int signals;		/* descriptor that is readable on a signal */
	sigset_t old_mask;	/* for children */
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

/* Whether a signal waits. */
bool pop_interrupted(const struct pop_job *job);

/* Malloc'ed text; NULL without memory. */
char *pop_format(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

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

/* The progress of a session, for pop_wait(). */
void pop_session_tick(struct pop_job *job);

/* mkfs.c: makes the filesystem; returns 0 or -1 with the error set. */
int pop_mkfs(struct pop_job *job);

/* ext_journal.c: ties an ext image and a journal image together. */
int pop_ext_external_journal(const char *image, const char *log, char *why,
			     size_t why_size);

/* The block size of an ext image, 0 when there is none. */
uint32_t pop_ext_block_size(const char *image);

/*
 * The engines: 0; 1 when the kernel at hand cannot do it and another engine
 * may be tried (the reason is put into why); -1 with the error set.
 */
int pop_engine_host(struct pop_job *job, char **why);
int pop_engine_uml(struct pop_job *job, char **why);
int pop_engine_lib(struct pop_job *job, char **why);

/* The plan of a session with these devices; log_device may be NULL. */
int pop_make_plan(struct pop_job *job, struct pop_plan *plan,
		  const char *device, const char *log_device);

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
