/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Making a filesystem image and filling it with a collection.
 *
 * The functions print nothing and keep no state between calls.  While
 * fsa_populate() runs, SIGINT, SIGTERM, SIGHUP and SIGQUIT are held back in
 * the calling thread: it cleans up first, and they arrive when it returns.
 */
#ifndef FSA_POPULATE_H
#define FSA_POPULATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum fsa_populate_engine {
	FSA_POPULATE_AUTO,	/* the first of host, uml, lib that works */
	FSA_POPULATE_HOST,	/* the running kernel, by loop mount, as root */
	FSA_POPULATE_UML,	/* user-mode Linux, as anybody */
	FSA_POPULATE_LIB	/* in process, by the format's own library */
};

enum fsa_populate_status {
	FSA_POPULATE_OK,
	FSA_POPULATE_FAILED,
	FSA_POPULATE_USAGE	/* options that make no sense */
};

/* Zero is the default of everything but fs, collection and output. */
struct fsa_populate_options {
	const char *fs;
	const char *collection;
	const char *output;	/* the image, a new regular file */
	const char *manifest;	/* NULL: output with ".manifest.json" added */
	const char *log_device;	/* further image for an external log */
	const char *const *devices;	/* further images, of btrfs */
	size_t device_count;
	enum fsa_populate_engine engine;
	uint64_t size;		/* bytes of the image; 0: as it needs */
	uint64_t log_size;	/* bytes of the log image; 0: 16 MiB */
	uint32_t block_size;	/* bytes; 0: as mkfs likes */
	const char *features;	/* for mkfs -O */
	const char *mkfs_options;	/* more words for mkfs, quoted as in sh */
	const char *mount_options;	/* added to the format's own */
	const char *mount_type;	/* driver to use instead of the usual one */
	uint64_t files;		/* number; 0: the collection's */
	uint64_t file_size;	/* bytes, of size collections */
	uint64_t seed;
	uint64_t sync_every;	/* sync after so many files; 0: never */
	const char *tree;	/* directory or archive for clones; NULL: seeded */
	uint64_t clones;	/* beside the original; 0: the collection's */
	bool tar;		/* time GNU tar of the tree, to /dev/null and to a pipe */
	bool no_manifest;	/* write none, and digest nothing */
	uint32_t timeout;	/* seconds for mkfs and for filling; 0: 3600 */
	bool force;		/* replace files that exist */
	/* Called now and then with what is done; total 0: not known. */
	void (*progress)(void *ctx, const char *what, uint64_t done,
			 uint64_t total);
	void *ctx;
};

/*
 * Nanoseconds of one phase: mkfs, mount, write (or the collection's own
 * phases), sync, list, umount; tar-null, tar-pipe; remove, remove-sync.
 */
struct fsa_populate_time {
	char phase[24];
	int64_t real, user, sys;
	/*
	 * Measured inside user-mode Linux.  Its clock ticks count a hundred
	 * times a second, and one that interrupts its kernel leaves unset
	 * which of the two it met (6.1: timer_real_alarm_handler() in
	 * arch/um/os-Linux/signal.c): most of sys is in user.  The sum is
	 * right to a tick, the parts are not.
	 */
	bool in_guest;
	bool read_known;
	uint64_t read;		/* bytes read from the device: of tar-* */
};

#define FSA_POPULATE_TIMES	64

/* When a kernel was asked for its statfs(2). */
enum fsa_populate_when {
	FSA_POPULATE_RW,	/* mounted again at the end */
	FSA_POPULATE_RO,	/* the same, read-only */
	FSA_POPULATE_NEW,	/* mounted the first time, empty */
	FSA_POPULATE_UNSYNCED,	/* written, before the last sync */
	FSA_POPULATE_WHENS
};

struct fsa_populate_statfs {
	bool known;
	uint64_t bsize, frsize, blocks, bfree, bavail, files, ffree;
};

/* What a filesystem could not hold, by kind. */
struct fsa_populate_refusal {
	const char *operation;	/* constant string */
	int err;		/* errno */
	uint64_t count;
};

#define FSA_POPULATE_REFUSALS	32

/* Everything in it belongs to it: free with fsa_populate_result_free(). */
struct fsa_populate_result {
	enum fsa_populate_engine engine;
	char *engine_reason;	/* why this one */
	char *kernel;		/* release of the kernel that filled, or NULL */
	char *mkfs_command;	/* as it was run, with base names */
	char *mkfs_version;
	char *mount_options;	/* as they were used */
	char *manifest;		/* where it is */
	uint64_t size;		/* bytes of the image */
	uint64_t files;		/* regular files that were created */
	uint64_t bytes;		/* of content written */
	uint64_t objects;	/* names in the tree at the end, with the root */
	uint64_t operations;
	uint64_t refused;
	struct fsa_populate_refusal refusals[FSA_POPULATE_REFUSALS];
	size_t refusal_kinds;
	struct fsa_populate_time times[FSA_POPULATE_TIMES];
	size_t time_count;
	const char *times_kept;	/* of the files: "all", "seconds", "none" */
	char *df;		/* df -k of a fresh mount, or NULL */
	struct fsa_populate_statfs statfs[FSA_POPULATE_WHENS];
	/* on failure */
	char *error;		/* one line */
	char *log;		/* what mkfs or the kernel said, or NULL */
};

/* The result is to be freed whatever the status is. */
enum fsa_populate_status
fsa_populate(const struct fsa_populate_options *options,
	     struct fsa_populate_result *result);

/*
 * Removes all that is in the existing image options->output, timed.  The
 * image is changed in place; when it fails it is left as it then is.  The
 * kernel engines need no collection; a library takes its names from it.
 */
enum fsa_populate_status
fsa_populate_remove(const struct fsa_populate_options *options,
		    struct fsa_populate_result *result);

/*
 * Packs a directory or an archive into the new files name and name.data,
 * which may then be the tree of any number of calls.  stop may be NULL.
 * Returns 0, or -1 with *why set, malloc'ed.
 */
int fsa_populate_pack(const char *from, const char *name,
		      bool (*stop)(void *ctx), void *ctx, char **why);

/* What the collection writes, about; false when there is none of that name. */
bool fsa_populate_need(const struct fsa_populate_options *options,
		       uint64_t *bytes, uint64_t *inodes);

void fsa_populate_result_free(struct fsa_populate_result *result);

const char *fsa_populate_engine_name(enum fsa_populate_engine engine);

/* Names and one line on each, by index from 0; NULL behind the last. */
const char *fsa_populate_fs_name(size_t index);
const char *fsa_populate_collection_name(size_t index, const char **what);

#endif
