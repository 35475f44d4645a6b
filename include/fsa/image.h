/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An image: a read-only window of bytes. Everything above reads through fsa_image_read and through
 * nothing else, so that partitions, compressed images and (later) a replayed journal look the same.
 */
#ifndef FSA_IMAGE_H
#define FSA_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fsa/status.h"

struct fsa_image;

/* How to find the filesystem inside `path`. Zero-initialise; every field has a useful zero. */
struct fsa_image_options {
	/*
	 * Partition number to pick, counted as the kernel counts (5 and up are logical ones of MBR);
	 * 0 picks the only candidate by itself. "IMAGE@N" in the path is read by the caller through
	 * fsa_image_split_name().
	 */
	unsigned partition;
	bool have_offset;		/* use offset_bytes instead of looking for a partition table */
	uint64_t offset_bytes;		/* where the filesystem starts in the (unpacked) file */
	bool raw;			/* take the bytes as they are: no unpacking, no partition table */
	/*
	 * Which member of an archive to take, as the archive spells it; NULL: as "ARCHIVE:MEMBER" in the
	 * path says, else the only plausible one (see fsa_image_open).
	 */
	const char *member;
	const char *temp_dir;		/* for unpacked images; NULL: $TMPDIR or /var/tmp */
	/* Called now and then while unpacking, total_bytes 0 when unknown; true goes on, false stops. */
	bool (*progress)(void *arg, const char *what, uint64_t done_bytes, uint64_t total_bytes);
	void *progress_arg;
};

/*
 * Opens `path` read-only: a regular file or a block device. On success *image is owned by the caller
 * (fsa_image_close); on failure *image is NULL.
 *
 * Looked at in this order: a filesystem that fsassay reads at the very start is taken as it is. What is
 * compressed or an archive is unpacked, layer by layer, into a temporary file without a name. A member of
 * an archive is named "ARCHIVE:MEMBER" in the path, unless a file exists under that whole name; without a
 * name the only plausible member is taken: by content (a filesystem, a partition table, a disk image of
 * another kind), else the only compressed file or archive, else the only file that is not empty. Then comes
 * the partition table; options.have_offset, options.partition and options.raw overrule.
 *
 * Content that is recognised but not a raw image (qcow2, LUKS, ...) is refused with FSA_EUNSUPPORTED and a
 * message that names the command which converts it; several candidates, be it partitions or members, are
 * refused with FSA_EINVAL and a message that lists them, one a line. FSA_STOP: progress said so.
 */
enum fsa_status fsa_image_open(const char *path, const struct fsa_image_options *options,
			       struct fsa_image **image, struct fsa_error *err);

/* An image over caller-owned memory, which must outlive it: for tests and fuzzing. */
enum fsa_status fsa_image_from_memory(const void *bytes, size_t size, const char *name,
				      struct fsa_image **image);

void fsa_image_close(struct fsa_image *image);	/* NULL is allowed; removes temporary files */

/*
 * Splits "disk.img@2" into path and partition number (0 when there is none). A file that exists under the
 * whole name wins. *path is malloc'd. Returns FSA_ENOMEM or FSA_OK. A member of an archive stays part of
 * the path ("disks.tar:sda.img@2" gives "disks.tar:sda.img" and 2): fsa_image_open tells them apart.
 */
enum fsa_status fsa_image_split_name(const char *argument, char **path, unsigned *partition);

/* As the user gave it, for messages: the path, with "@N" when options.partition was set. */
const char *fsa_image_name(const struct fsa_image *image);
uint64_t fsa_image_size(const struct fsa_image *image);		/* bytes in the window */

/* Where the window starts in the (unpacked) file, bytes: for commands that speak of the whole file. */
uint64_t fsa_image_start(const struct fsa_image *image);

/*
 * The filesystem (or other content) that libblkid finds in the window: "ext4", "xfs", "jbd",
 * "ntfs", ... or NULL when nothing is recognised, or more than one thing is (then a remark names them).
 * Always NULL for an image over memory.
 */
const char *fsa_image_content(const struct fsa_image *image);

/*
 * A remark worth showing (the device is mounted, a partition was picked by itself), without the image's
 * name in front; NULL at the end.
 */
const char *fsa_image_remark(const struct fsa_image *image, unsigned index);

/*
 * Reads exactly `length` bytes at `offset` of the window into `buffer`. FSA_ERANGE: the range leaves the
 * window. FSA_EIO: the host could not read. On either the buffer's content is unspecified. Thread-safe.
 */
enum fsa_status fsa_image_read(struct fsa_image *image, uint64_t offset, void *buffer, size_t length);

/*
 * The same for contents of files. The difference is for fsa_image_watch only: what tells the format's own
 * structures from what they describe.
 */
enum fsa_status fsa_image_read_contents(struct fsa_image *image, uint64_t offset, void *buffer, size_t length);

/*
 * Has every read that goes to the host told to `watch` after it was made: for counting them. NULL ends it.
 * `watch` may be called from several threads when reads are made by several.
 */
typedef void (*fsa_image_watch_fn)(void *arg, const struct fsa_image *image, uint64_t offset, size_t length,
				   bool contents);
void fsa_image_watch(struct fsa_image *image, fsa_image_watch_fn watch, void *arg);

/* Bytes of the window that are in memory already: see fsa_image_hold. */
struct fsa_image_held {
	uint64_t offset;
	size_t length;
	const void *bytes;
};

/*
 * Until the next call, reads that lie wholly within one of `held` are served from there and do not go to the
 * host. The list is borrowed, rises by offset and does not overlap; n 0 ends it. Not while other threads read.
 */
void fsa_image_hold(struct fsa_image *image, const struct fsa_image_held *held, size_t n);
/* The held bytes of this range; NULL when they are not all held. */
const void *fsa_image_held(const struct fsa_image *image, uint64_t offset, size_t length);

/* Tells the host that this range will be read soon. Never fails visibly. */
void fsa_image_prefetch(struct fsa_image *image, uint64_t offset, uint64_t length);

/*
 * For cold timings: what is read next comes from the host's device and not from its cache. Its pages are dropped; where
 * some stay (mapped by somebody, or it cannot be told) all reads go past the cache by O_DIRECT from then on.
 */
enum fsa_image_cold {
	FSA_IMAGE_WARM,		/* neither could be had: memory is its only place, or the host refuses */
	FSA_IMAGE_DROPPED,
	FSA_IMAGE_DIRECT,
};
enum fsa_image_cold fsa_image_go_cold(struct fsa_image *image);

/*
 * Ends of runs of the image file: *length bytes at `offset` are data (returns true) or a hole of the host
 * file (returns false). Hosts that cannot tell report everything as data.
 */
bool fsa_image_extent(struct fsa_image *image, uint64_t offset, uint64_t *length);

#endif
