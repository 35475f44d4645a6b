/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of the image layer (image*.c, container.c) share; nobody else includes this. */
#ifndef FSA_CORE_IMAGE_PRIVATE_H
#define FSA_CORE_IMAGE_PRIVATE_H

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "fsa/image.h"

#define FSA_IMAGE_REMARKS 16

struct fsa_image {
	int fd;				/* -1: over memory */
	const unsigned char *memory;	/* borrowed */
	uint64_t start, size;		/* the window in the file */
	uint64_t file_size;		/* of the (unpacked) file or device */
	bool unpacked;			/* fd is a temporary file of ours */
	char *name;
	char *content;			/* NULL: nothing recognised */
	unsigned n_remarks;
	char *remarks[FSA_IMAGE_REMARKS];
	bool no_memory;			/* a remark was lost for want of memory: fsa_image_open fails */
	fsa_image_watch_fn watch;	/* or NULL */
	void *watch_arg;
	const struct fsa_image_held *held;	/* borrowed */
	size_t n_held;
	bool direct;			/* all reads go by direct_fd */
	int direct_fd;
};

/* Adds a remark; what exceeds FSA_IMAGE_REMARKS is dropped. */
void fsa_image_add_remark(struct fsa_image *image, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Reads at `offset` of the file until `length` bytes are there or the file ends; -1 with errno, or the count. */
ssize_t fsa_pread_all(int fd, void *buffer, size_t length, uint64_t offset);

/* The same by the image's direct_fd, past the host's cache; 0 when not all bytes are there. */
ssize_t fsa_direct_read(const struct fsa_image *image, void *buffer, size_t length, uint64_t offset);

/* --- text of bounded length for messages that list things ------------------------------------------ */

struct fsa_list_text {
	char text[800];		/* below the size of fsa_error.message, with room for a sentence before it */
	size_t used;
	unsigned dropped;	/* lines that did not fit */
};

/* Adds "\n  " and the line; a line that does not fit is counted in `dropped`. */
void fsa_list_add(struct fsa_list_text *list, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Says how many lines were dropped, and returns the text. */
const char *fsa_list_end(struct fsa_list_text *list);

/* --- image_name.c: names as the user gives them ---------------------------------------------------- */

/* Splits "archive.tar:member" when no file exists under the whole name; *member NULL when there is none. */
enum fsa_status fsa_split_member(const char *path, char **file, char **member);

/* --- image_host.c: the file or device, and who else uses it ---------------------------------------- */

enum fsa_status fsa_host_open(const char *path, const char *name, int *fd, uint64_t *size, struct fsa_error *err);
/* Remarks that the bytes of the window belong to something mounted or otherwise in use. */
void fsa_host_remark_use(struct fsa_image *image);

/* --- image_probe.c: what libblkid says --------------------------------------------------------------- */

struct fsa_probed {
	char type[32];		/* empty: nothing, or more than one thing */
	bool member;		/* a part of something bigger (RAID, LVM, encryption): not a raw image */
	char several[96];	/* the names, when there is more than one; else empty */
};

/* plain: look for filesystems and journals only, not for what a volume manager or a RAID leaves. */
void fsa_probe(int fd, uint64_t start, uint64_t size, bool plain, struct fsa_probed *probed);

/* Whether this content is a format that fsassay reads; `main` leaves out external logs. */
bool fsa_content_is_ours(const char *type, bool main_only);

/* --- image_partition.c ------------------------------------------------------------------------------- */

struct fsa_partition {
	unsigned number;
	uint64_t start, size;	/* bytes, as the table says, not clipped */
	bool extended;		/* only holds logical partitions */
	char type[40];		/* "0x83", or the type's UUID */
	char content[32];	/* as libblkid says; empty when nothing is recognised */
};

struct fsa_partitions {
	char table[16];		/* "dos", "gpt", ...; empty when there is none */
	size_t count;
	struct fsa_partition *list;	/* freed by the caller */
};

/* FSA_ENOMEM or FSA_OK; no table is no error. `contents` asks to look into each partition. */
enum fsa_status fsa_partitions_read(int fd, uint64_t size, bool contents, struct fsa_partitions *partitions);
/* Sets window, content and remarks of an image that is open and unpacked, as `options` ask. */
enum fsa_status fsa_choose_window(struct fsa_image *image, const struct fsa_image_options *options,
				  struct fsa_error *err);

/* --- image_unpack.c: layers of compression, and what it shares with image_archive.c ------------------ */

enum fsa_wrapping { FSA_UNWRAPPED, FSA_COMPRESSED, FSA_ARCHIVED };

#define FSA_HEAD_BYTES 1024	/* what fsa_wrapping_of wants to see */
#define FSA_PEEK_BYTES (256 * 1024)	/* what is unpacked to see what it is; superblocks end below 128 KiB */

/* By magic alone; *what is the format's name ("xz"). */
enum fsa_wrapping fsa_wrapping_of(const unsigned char *head, size_t length, const char **what);

struct fsa_unpack {
	const char *name;	/* of the image, for messages */
	const struct fsa_image_options *options;
	int fd;			/* what to unpack; stays open */
	uint64_t size;
	const char *member;	/* NULL: find it */

	int out_fd;		/* result: the temporary file, or -1 when there was nothing to unpack */
	uint64_t out_size;
	char taken[200];	/* result: the member taken, fit for a message; empty when none */
	unsigned others;	/* result: how many other files the archive holds (0 when it was named) */
	bool unchecked;		/* result: gzip data, and its sum could not be checked */
};

/* Takes one layer off: a compression, or an archive (with the compression around it). */
enum fsa_status fsa_unpack_layer(struct fsa_unpack *job, struct fsa_error *err);

struct archive;
struct fsa_gzip_sum;

/* What libarchive reads: job->fd through callbacks. */
struct fsa_source {
	const struct fsa_unpack *job;
	struct archive *archive;
	unsigned char *buffer;
	uint64_t position;
	uint64_t since_progress;	/* bytes read and written since progress was called */
	int error;			/* errno of a failed read */
	bool stopped;			/* progress said so */
};

/* Opens job->fd: as an archive, or as one compressed stream. On failure nothing is left to close. */
enum fsa_status fsa_source_open(struct fsa_source *source, const struct fsa_unpack *job, bool as_archive,
				struct fsa_error *err);
void fsa_source_close(struct fsa_source *source);
/* The error behind a failure of libarchive, `done` bytes into the output. */
enum fsa_status fsa_source_failed(const struct fsa_source *source, const char *what, uint64_t done,
				  struct fsa_error *err);

/* A temporary file without a name. */
struct fsa_sink {
	int fd;
	uint64_t size;		/* bytes so far, holes included */
	struct fsa_gzip_sum *sum;	/* of what is poured, or NULL; borrowed */
};

enum fsa_status fsa_sink_open(struct fsa_sink *sink, const struct fsa_unpack *job, struct fsa_error *err);
void fsa_sink_close(struct fsa_sink *sink);
enum fsa_status fsa_sink_clear(struct fsa_sink *sink, const struct fsa_unpack *job, struct fsa_error *err);
/* Hands the file over as the job's result, with its final size. */
enum fsa_status fsa_sink_finish(struct fsa_sink *sink, struct fsa_unpack *job, struct fsa_error *err);

/*
 * Pours data of the current entry into the sink, until it ends (*end) or the sink holds `until` bytes.
 * `what` is the format, for messages.
 */
enum fsa_status fsa_pour(struct fsa_source *source, struct fsa_sink *sink, uint64_t until, const char *what,
			 bool *end, struct fsa_error *err);

/* --- image_gzip.c: the sum that libarchive does not check ----------------------------------------------- */

struct fsa_gzip_sum {
	uint32_t table[8][256];
	uint32_t crc;
	uint64_t bytes;
};

enum fsa_gzip_verdict { FSA_GZIP_GOOD, FSA_GZIP_WRONG, FSA_GZIP_UNKNOWN };

struct fsa_gzip_sum *fsa_gzip_sum_new(void);	/* NULL: out of memory; free() when done */
void fsa_gzip_sum_add(struct fsa_gzip_sum *sum, const unsigned char *data, size_t length);
/* Compares with the end of the gzip file; what is stored there is set when the verdict is good or wrong. */
enum fsa_gzip_verdict fsa_gzip_sum_check(const struct fsa_gzip_sum *sum, int fd, uint64_t size,
					 uint32_t *stored_crc, uint32_t *stored_length);

/* --- image_archive.c: finds the member and unpacks it -------------------------------------------------- */

enum fsa_status fsa_unpack_archive(struct fsa_unpack *job, const char *what, struct fsa_error *err);

/* --- container.c ------------------------------------------------------------------------------------- */

struct fsa_container;

/* A disk image of another kind (qcow2, VMDK, ...) at the start of the file, by magic; NULL when it is none. */
const struct fsa_container *fsa_container_find(int fd, uint64_t size);
/* Whether its magic is too long for an accident: e2image's, for one, is followed by a real superblock. */
bool fsa_container_is_certain(const struct fsa_container *container);
/* Refuses: FSA_EUNSUPPORTED, naming the command. `file` is NULL when the bytes lie in no file of their own. */
enum fsa_status fsa_container_refuse(const struct fsa_container *container, const char *name, const char *file,
				     struct fsa_error *err);
/* The same for what libblkid calls a member of something bigger. */
enum fsa_status fsa_member_refuse(const char *type, const char *name, const char *file, struct fsa_error *err);
/* A fixed VHD is the raw disk with a footer behind it. */
bool fsa_is_fixed_vhd(int fd, uint64_t size);

#endif
