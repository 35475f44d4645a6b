/* SPDX-License-Identifier: GPL-2.0-only */
/* The window of bytes: opening it and reading through it. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "fsa/bytes.h"
#include "image_private.h"

_Static_assert(sizeof(off_t) == 8, "offsets need 64 bits: -D_FILE_OFFSET_BITS=64");

/* An image in an archive in a compressed file, twice over; more is a trap rather than a disk. */
#define MAX_LAYERS 6

ssize_t fsa_pread_all(int fd, void *buffer, size_t length, uint64_t offset)
{
	size_t done = 0;

	while (done < length) {
		/* Linux transfers less than 2 GiB at once whatever is asked. */
		size_t want = length - done < (1u << 30) ? length - done : 1u << 30;
		ssize_t got;

		if (offset + done > INT64_MAX) {
			errno = EINVAL;
			return -1;
		}
		got = pread(fd, (char *)buffer + done, want, (off_t)(offset + done));
		if (got == 0)
			break;
		if (got > 0)
			done += (size_t)got;
		else if (errno != EINTR)
			return -1;
	}
	return (ssize_t)done;
}

void fsa_image_add_remark(struct fsa_image *image, const char *fmt, ...)
{
	char *text;
	va_list ap;
	int rc;

	if (image->n_remarks == FSA_IMAGE_REMARKS)
		return;
	va_start(ap, fmt);
	rc = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (rc < 0)
		image->no_memory = true;
	else
		image->remarks[image->n_remarks++] = text;
}

void fsa_list_add(struct fsa_list_text *list, const char *fmt, ...)
{
	char line[256];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	if (n < 0)
		return;
	/* Room is kept for the line that says how many are missing. */
	if (list->dropped || list->used + strlen(line) + 3 > sizeof(list->text) - 40) {
		list->dropped++;
		return;
	}
	list->used += (size_t)snprintf(list->text + list->used, sizeof(list->text) - list->used, "\n  %s", line);
}

const char *fsa_list_end(struct fsa_list_text *list)
{
	if (list->dropped)
		snprintf(list->text + list->used, sizeof(list->text) - list->used, "\n  and %u more", list->dropped);
	return list->text;
}

/* --- opening ----------------------------------------------------------------------------------------- */

static enum fsa_status check_options(const struct fsa_image_options *o, const char *name, struct fsa_error *err)
{
	if (o->partition && o->have_offset)
		return fsa_fail(err, FSA_EINVAL, "%s: partition %u and offset %llu are both asked for: give one", name,
				o->partition, (unsigned long long)o->offset_bytes);
	if (o->raw && o->partition)
		return fsa_fail(err, FSA_EINVAL, "%s: partition %u of an image that is to be taken as it is", name,
				o->partition);
	if (o->raw && o->member)
		return fsa_fail(err, FSA_EINVAL, "%s: member '%s' of an image that is to be taken as it is", name,
				o->member);
	return FSA_OK;
}

static char *make_name(const char *path, const struct fsa_image_options *options)
{
	char *name;
	int rc;

	if (options->member && options->partition)
		rc = asprintf(&name, "%s:%s@%u", path, options->member, options->partition);
	else if (options->member)
		rc = asprintf(&name, "%s:%s", path, options->member);
	else if (options->partition)
		rc = asprintf(&name, "%s@%u", path, options->partition);
	else
		rc = asprintf(&name, "%s", path);
	return rc < 0 ? NULL : name;
}

static void remark_unpacked(struct fsa_image *image, const struct fsa_unpack *job)
{
	if (job->unchecked)
		fsa_image_add_remark(image, "the sum at the end of the gzip data does not cover all of it: not checked");
	if (job->taken[0] == '\0' || job->member)
		return;
	if (job->others)
		fsa_image_add_remark(image, "member '%s' of the archive was taken, the only plausible of %u files",
				     job->taken, job->others + 1);
	else
		fsa_image_add_remark(image, "member '%s' of the archive was taken", job->taken);
}

/*
 * Takes off compressions and archives, and refuses disk images of other kinds. A filesystem of ours at the
 * start of the bytes ends this: what its boot area looks like is then an accident.
 */
static enum fsa_status unwrap(struct fsa_image *image, const char *file, const char *member,
			      const struct fsa_image_options *options, struct fsa_error *err)
{
	for (unsigned layer = 0;; layer++) {
		struct fsa_unpack job = {
			.name = image->name, .options = options, .fd = image->fd, .size = image->file_size,
			.member = member, .out_fd = -1,
		};
		const struct fsa_container *container;
		struct fsa_probed probed;
		enum fsa_status st;

		container = fsa_container_find(image->fd, image->file_size);
		fsa_probe(image->fd, 0, image->file_size, true, &probed);
		if (container && (fsa_container_is_certain(container) || !fsa_content_is_ours(probed.type, false)))
			return fsa_container_refuse(container, image->name, image->unpacked ? NULL : file, err);
		if (fsa_content_is_ours(probed.type, false))
			break;
		st = fsa_unpack_layer(&job, err);
		if (st != FSA_OK)
			return st;
		if (job.out_fd < 0)
			break;
		remark_unpacked(image, &job);
		if (job.taken[0])
			member = NULL;
		close(image->fd);
		image->fd = job.out_fd;
		image->file_size = job.out_size;
		image->unpacked = true;
		if (image->file_size == 0)
			return fsa_fail(err, FSA_EINVAL, "%s: what was unpacked is empty", image->name);
		if (layer + 1 == MAX_LAYERS)
			return fsa_fail(err, FSA_EUNSUPPORTED, "%s: %u layers of compression are more than the %u allowed",
					image->name, layer + 2, MAX_LAYERS);
	}
	if (member)
		return fsa_fail(err, FSA_EINVAL, "%s: member '%s' is asked for, but this is no archive", image->name,
				member);
	return FSA_OK;
}

static enum fsa_status open_file(struct fsa_image *image, const char *path, const struct fsa_image_options *options,
				 struct fsa_error *err)
{
	char *file = NULL, *member = NULL;
	enum fsa_status st;

	if (options->member || options->raw)
		st = (file = strdup(path)) ? FSA_OK : FSA_ENOMEM;
	else
		st = fsa_split_member(path, &file, &member);
	if (st != FSA_OK)
		return fsa_fail(err, st, "%s: out of memory", image->name);
	st = fsa_host_open(file, image->name, &image->fd, &image->file_size, err);
	if (st == FSA_OK && !options->raw)
		st = unwrap(image, file, options->member ? options->member : member, options, err);
	if (st == FSA_OK && !options->raw && fsa_is_fixed_vhd(image->fd, image->file_size))
		fsa_image_add_remark(image, "a fixed VHD: a raw disk, its footer of 512 bytes counts as outside");
	if (st == FSA_OK)
		st = fsa_choose_window(image, options, err);
	if (st == FSA_OK && !image->unpacked)
		fsa_host_remark_use(image);
	free(file);
	free(member);
	return st;
}

enum fsa_status fsa_image_open(const char *path, const struct fsa_image_options *options,
			       struct fsa_image **result, struct fsa_error *err)
{
	static const struct fsa_image_options defaults;
	struct fsa_image *image;
	enum fsa_status st;

	*result = NULL;
	if (!options)
		options = &defaults;
	image = calloc(1, sizeof(*image));
	if (!image)
		return fsa_fail(err, FSA_ENOMEM, "%s: out of memory", path);
	image->fd = -1;
	image->name = make_name(path, options);
	if (!image->name) {
		fsa_image_close(image);
		return fsa_fail(err, FSA_ENOMEM, "%s: out of memory", path);
	}
	st = check_options(options, image->name, err);
	if (st == FSA_OK)
		st = open_file(image, path, options, err);
	if (st == FSA_OK && image->no_memory)
		st = fsa_fail(err, FSA_ENOMEM, "%s: out of memory", path);
	if (st != FSA_OK) {
		fsa_image_close(image);
		return st;
	}
	/* libblkid asks for random access; the walks above profit from read-ahead. */
	posix_fadvise(image->fd, 0, 0, POSIX_FADV_NORMAL);
	*result = image;
	return FSA_OK;
}

enum fsa_status fsa_image_from_memory(const void *bytes, size_t size, const char *name, struct fsa_image **result)
{
	struct fsa_image *image = calloc(1, sizeof(*image));

	*result = NULL;
	if (!image)
		return FSA_ENOMEM;
	image->fd = -1;
	image->memory = bytes;
	image->size = image->file_size = size;
	image->name = strdup(name);
	if (!image->name) {
		free(image);
		return FSA_ENOMEM;
	}
	*result = image;
	return FSA_OK;
}

void fsa_image_close(struct fsa_image *image)
{
	if (!image)
		return;
	if (image->fd >= 0)
		close(image->fd);
	if (image->direct)
		close(image->direct_fd);
	for (unsigned i = 0; i < image->n_remarks; i++)
		free(image->remarks[i]);
	free(image->content);
	free(image->name);
	free(image);
}

/* --- the window -------------------------------------------------------------------------------------- */

const char *fsa_image_name(const struct fsa_image *image)
{
	return image->name;
}

uint64_t fsa_image_size(const struct fsa_image *image)
{
	return image->size;
}

uint64_t fsa_image_start(const struct fsa_image *image)
{
	return image->start;
}

const char *fsa_image_content(const struct fsa_image *image)
{
	return image->content;
}

const char *fsa_image_remark(const struct fsa_image *image, unsigned index)
{
	return index < image->n_remarks ? image->remarks[index] : NULL;
}

void fsa_image_watch(struct fsa_image *image, fsa_image_watch_fn watch, void *arg)
{
	image->watch = watch;
	image->watch_arg = arg;
}

void fsa_image_hold(struct fsa_image *image, const struct fsa_image_held *held, size_t n)
{
	image->held = held;
	image->n_held = n;
}

const void *fsa_image_held(const struct fsa_image *image, uint64_t offset, size_t length)
{
	size_t low = 0, high = image->n_held;
	const struct fsa_image_held *held;

	/* The last one that starts at or before the offset. */
	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (image->held[middle].offset <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return NULL;
	held = &image->held[low - 1];
	if (!fsa_within(offset - held->offset, length, held->length))
		return NULL;
	return (const unsigned char *)held->bytes + (offset - held->offset);
}

static enum fsa_status read_window(struct fsa_image *image, uint64_t offset, void *buffer, size_t length, bool contents)
{
	const void *held;
	ssize_t got;

	if (offset > image->size || length > image->size - offset)
		return FSA_ERANGE;
	if (length == 0)
		return FSA_OK;
	if (image->n_held && (held = fsa_image_held(image, offset, length)) != NULL) {
		memcpy(buffer, held, length);
		return FSA_OK;
	}
	if (image->memory) {
		memcpy(buffer, image->memory + offset, length);
	} else {
		got = image->direct ? fsa_direct_read(image, buffer, length, image->start + offset)
				    : fsa_pread_all(image->fd, buffer, length, image->start + offset);
		/* Fewer bytes than the window promised: somebody truncated the file meanwhile. */
		if (got < 0 || (size_t)got != length)
			return FSA_EIO;
	}
	if (image->watch)
		image->watch(image->watch_arg, image, offset, length, contents);
	return FSA_OK;
}

enum fsa_status fsa_image_read(struct fsa_image *image, uint64_t offset, void *buffer, size_t length)
{
	return read_window(image, offset, buffer, length, false);
}

enum fsa_status fsa_image_read_contents(struct fsa_image *image, uint64_t offset, void *buffer, size_t length)
{
	return read_window(image, offset, buffer, length, true);
}

void fsa_image_prefetch(struct fsa_image *image, uint64_t offset, uint64_t length)
{
	if (image->fd < 0 || image->direct || offset >= image->size)
		return;
	if (length > image->size - offset)
		length = image->size - offset;
	/* A length of 0 would mean "to the end of the file". */
	if (length)
		posix_fadvise(image->fd, (off_t)(image->start + offset), (off_t)length, POSIX_FADV_WILLNEED);
}

bool fsa_image_extent(struct fsa_image *image, uint64_t offset, uint64_t *length)
{
	uint64_t start, end = image->start + image->size;
	off_t data, hole;

	if (offset >= image->size) {
		*length = 0;
		return true;
	}
	start = image->start + offset;
	*length = image->size - offset;
	if (image->fd < 0)
		return true;
	/* lseek moves the position of the descriptor, which no read here uses: safe among threads. */
	data = lseek(image->fd, (off_t)start, SEEK_DATA);
	if (data < 0)
		return errno != ENXIO;	/* ENXIO: a hole to the end of the file */
	if ((uint64_t)data > start) {
		if ((uint64_t)data < end)
			*length = (uint64_t)data - start;
		return false;
	}
	hole = lseek(image->fd, (off_t)start, SEEK_HOLE);
	if (hole > data && (uint64_t)hole < end)
		*length = (uint64_t)hole - start;
	return true;
}
