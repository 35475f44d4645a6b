/* SPDX-License-Identifier: GPL-2.0-only */
/* Compressed images: by libarchive into a sparse temporary file that has no name. */
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "image_private.h"

/* Zeros are left out by this unit: the block of most filesystems that hold the temporary file. */
#define HOLE_UNIT 4096
#define SOURCE_BUFFER (256 * 1024)
#define PROGRESS_BYTES (4u << 20)

/* --- what it is, by magic ---------------------------------------------------------------------------- */

static const struct {
	const char *what;
	unsigned offset, length;
	const char *magic;
	enum fsa_wrapping wrapping;
} wrappings[] = {
	{ "gzip", 0, 3, "\x1f\x8b\x08", FSA_COMPRESSED },
	{ "xz", 0, 6, "\xfd" "7zXZ\0", FSA_COMPRESSED },
	{ "zstd", 0, 4, "\x28\xb5\x2f\xfd", FSA_COMPRESSED },
	{ "lz4", 0, 4, "\x04\x22\x4d\x18", FSA_COMPRESSED },
	{ "lz4", 0, 4, "\x02\x21\x4c\x18", FSA_COMPRESSED },	/* the legacy frame, of Linux kernels */
	{ "lzip", 0, 5, "LZIP\1", FSA_COMPRESSED },
	{ "zip", 0, 4, "PK\3\4", FSA_ARCHIVED },
	{ "7z", 0, 6, "7z\xbc\xaf\x27\x1c", FSA_ARCHIVED },
	{ "cpio", 0, 6, "070701", FSA_ARCHIVED },
	{ "cpio", 0, 6, "070702", FSA_ARCHIVED },
	{ "cpio", 0, 6, "070707", FSA_ARCHIVED },
	{ "ar", 0, 8, "!<arch>\n", FSA_ARCHIVED },
	{ "tar", 257, 5, "ustar", FSA_ARCHIVED },
};

/* Tar of before POSIX has no magic, but a sum of its first block. */
static bool is_old_tar(const unsigned char *head, size_t length)
{
	unsigned long sum = 8 * ' ', want = 0;
	bool digits = false;

	if (length < 512 || head[0] == '\0')
		return false;
	for (unsigned i = 0; i < 512; i++)
		if (i < 148 || i >= 156)
			sum += head[i];
	for (unsigned i = 148; i < 156; i++) {
		if (head[i] >= '0' && head[i] <= '7') {
			want = want * 8 + head[i] - '0';
			digits = true;
		} else if (digits || head[i] != ' ') {
			break;
		}
	}
	return digits && sum == want;
}

enum fsa_wrapping fsa_wrapping_of(const unsigned char *head, size_t length, const char **what)
{
	for (size_t i = 0; i < sizeof(wrappings) / sizeof(wrappings[0]); i++) {
		size_t end = (size_t)wrappings[i].offset + wrappings[i].length;

		if (length >= end &&
		    memcmp(head + wrappings[i].offset, wrappings[i].magic, wrappings[i].length) == 0) {
			*what = wrappings[i].what;
			return wrappings[i].wrapping;
		}
	}
	/* "BZh", a level, and then a block's or the end's magic. */
	if (length >= 10 && memcmp(head, "BZh", 3) == 0 && head[3] >= '1' && head[3] <= '9' &&
	    (memcmp(head + 4, "1AY&SY", 6) == 0 || memcmp(head + 4, "\x17\x72\x45\x38\x50\x90", 6) == 0)) {
		*what = "bzip2";
		return FSA_COMPRESSED;
	}
	if (is_old_tar(head, length)) {
		*what = "tar";
		return FSA_ARCHIVED;
	}
	*what = "";
	return FSA_UNWRAPPED;
}

/* --- the source: libarchive reads by these callbacks ------------------------------------------------- */

/* Counts work done, and asks now and then whether to go on. */
static bool go_on(struct fsa_source *source, uint64_t bytes)
{
	const struct fsa_image_options *options = source->job->options;

	source->since_progress += bytes;
	if (!options->progress || source->since_progress < PROGRESS_BYTES)
		return !source->stopped;
	source->since_progress = 0;
	if (!options->progress(options->progress_arg, "unpacking", source->position, source->job->size))
		source->stopped = true;
	return !source->stopped;
}

static la_ssize_t source_read(struct archive *archive, void *arg, const void **buffer)
{
	struct fsa_source *source = arg;
	uint64_t left = source->job->size - source->position;
	size_t want = left < SOURCE_BUFFER ? (size_t)left : SOURCE_BUFFER;
	ssize_t got = fsa_pread_all(source->job->fd, source->buffer, want, source->position);

	if (got < 0) {
		source->error = errno;
		archive_set_error(archive, errno, "%s", strerrordesc_np(errno));
		return -1;
	}
	source->position += (uint64_t)got;
	*buffer = source->buffer;
	if (!go_on(source, (uint64_t)got)) {
		archive_set_error(archive, ECANCELED, "stopped");
		return -1;
	}
	return got;
}

static la_int64_t source_skip(struct archive *archive, void *arg, la_int64_t request)
{
	struct fsa_source *source = arg;
	uint64_t left = source->job->size - source->position;

	(void)archive;
	if (request < 0)
		return 0;
	if ((uint64_t)request > left)
		request = (la_int64_t)left;
	source->position += (uint64_t)request;
	return request;
}

static la_int64_t source_seek(struct archive *archive, void *arg, la_int64_t offset, int whence)
{
	struct fsa_source *source = arg;
	uint64_t base = whence == SEEK_END ? source->job->size : whence == SEEK_CUR ? source->position : 0;

	(void)archive;
	if (offset < 0 && (uint64_t)-(offset + 1) >= base)
		return ARCHIVE_FATAL;
	if (offset > 0 && (uint64_t)offset > source->job->size - base)
		return ARCHIVE_FATAL;
	source->position = offset < 0 ? base - (uint64_t)-(offset + 1) - 1 : base + (uint64_t)offset;
	return (la_int64_t)source->position;
}

/*
 * Only what libarchive does by itself: for a format it was built without it would run a program instead,
 * and then says ARCHIVE_WARN. So does the raw format only stand alone: beside it, an image that begins with
 * zeros would be taken for an empty tar.
 */
static bool supports(struct archive *a, bool as_archive)
{
	bool ok = archive_read_support_filter_gzip(a) == ARCHIVE_OK &&
		  archive_read_support_filter_bzip2(a) == ARCHIVE_OK &&
		  archive_read_support_filter_xz(a) == ARCHIVE_OK &&
		  archive_read_support_filter_zstd(a) == ARCHIVE_OK &&
		  archive_read_support_filter_lz4(a) == ARCHIVE_OK &&
		  archive_read_support_filter_lzip(a) == ARCHIVE_OK;

	if (!as_archive)
		return ok && archive_read_support_format_raw(a) == ARCHIVE_OK;
	return ok && archive_read_support_format_tar(a) == ARCHIVE_OK &&
	       archive_read_support_format_zip(a) == ARCHIVE_OK &&
	       archive_read_support_format_7zip(a) == ARCHIVE_OK &&
	       archive_read_support_format_cpio(a) == ARCHIVE_OK && archive_read_support_format_ar(a) == ARCHIVE_OK;
}

enum fsa_status fsa_source_open(struct fsa_source *source, const struct fsa_unpack *job, bool as_archive,
				struct fsa_error *err)
{
	enum fsa_status st;

	*source = (struct fsa_source){ .job = job };
	source->buffer = malloc(SOURCE_BUFFER);
	source->archive = archive_read_new();
	if (!source->buffer || !source->archive) {
		fsa_source_close(source);
		return fsa_fail(err, FSA_ENOMEM, "%s: out of memory", job->name);
	}
	if (!supports(source->archive, as_archive)) {
		st = fsa_fail(err, FSA_EUNSUPPORTED, "%s: libarchive is built without a format that is needed: %s",
			      job->name, archive_error_string(source->archive));
		fsa_source_close(source);
		return st;
	}
	archive_read_set_callback_data(source->archive, source);
	archive_read_set_read_callback(source->archive, source_read);
	archive_read_set_skip_callback(source->archive, source_skip);
	archive_read_set_seek_callback(source->archive, source_seek);
	if (archive_read_open1(source->archive) != ARCHIVE_OK) {
		st = fsa_source_failed(source, "compressed data", 0, err);
		fsa_source_close(source);
		return st;
	}
	return FSA_OK;
}

void fsa_source_close(struct fsa_source *source)
{
	archive_read_free(source->archive);
	free(source->buffer);
	source->archive = NULL;
	source->buffer = NULL;
}

enum fsa_status fsa_source_failed(const struct fsa_source *source, const char *what, uint64_t done,
				  struct fsa_error *err)
{
	const struct fsa_unpack *job = source->job;
	const char *reason = source->archive ? archive_error_string(source->archive) : NULL;

	if (source->stopped)
		return fsa_fail(err, FSA_STOP, "%s: unpacking was stopped", job->name);
	if (source->error)
		return fsa_fail(err, FSA_EIO, "%s: cannot be read at %llu of %llu bytes: %s", job->name,
				(unsigned long long)source->position, (unsigned long long)job->size,
				strerrordesc_np(source->error));
	return fsa_fail(err, FSA_EDAMAGED, "%s: the %s is damaged or cut off: %s (%llu of %llu bytes read, %llu unpacked)",
			job->name, what, reason ? reason : "no reason given", (unsigned long long)source->position,
			(unsigned long long)job->size, (unsigned long long)done);
}

/* --- the sink ------------------------------------------------------------------------------------------ */

static const char *temp_dir(const struct fsa_unpack *job)
{
	const char *dir = job->options->temp_dir;

	if (!dir || !*dir)
		dir = secure_getenv("TMPDIR");
	return dir && *dir ? dir : "/var/tmp";
}

static enum fsa_status sink_failed(const struct fsa_sink *sink, const struct fsa_unpack *job, int error,
				   struct fsa_error *err)
{
	if (error == ENOSPC || error == EDQUOT || error == EFBIG)
		return fsa_fail(err, FSA_ESYSTEM, "%s: no room to unpack in %s after %llu bytes: %s; TMPDIR names another place",
				job->name, temp_dir(job), (unsigned long long)sink->size, strerrordesc_np(error));
	return fsa_fail(err, FSA_ESYSTEM, "%s: cannot unpack in %s after %llu bytes: %s", job->name, temp_dir(job),
			(unsigned long long)sink->size, strerrordesc_np(error));
}

enum fsa_status fsa_sink_open(struct fsa_sink *sink, const struct fsa_unpack *job, struct fsa_error *err)
{
	enum fsa_status st = FSA_OK;
	char *path;

	*sink = (struct fsa_sink){ .fd = open(temp_dir(job), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600) };
	if (sink->fd >= 0)
		return FSA_OK;
	/* The filesystem there cannot do it (NFS, old kernels): the next best is a name for an instant. */
	if (asprintf(&path, "%s/fsassay-XXXXXX", temp_dir(job)) < 0)
		return fsa_fail(err, FSA_ENOMEM, "%s: out of memory", job->name);
	sink->fd = mkostemp(path, O_CLOEXEC);
	if (sink->fd < 0)
		st = sink_failed(sink, job, errno, err);
	else
		unlink(path);
	free(path);
	return st;
}

void fsa_sink_close(struct fsa_sink *sink)
{
	if (sink->fd >= 0)
		close(sink->fd);
	sink->fd = -1;
}

enum fsa_status fsa_sink_clear(struct fsa_sink *sink, const struct fsa_unpack *job, struct fsa_error *err)
{
	if (ftruncate(sink->fd, 0) != 0)
		return sink_failed(sink, job, errno, err);
	sink->size = 0;
	return FSA_OK;
}

/* Without this, zeros that came last would lie behind the end of the file, and libblkid could not read them. */
static enum fsa_status settle(struct fsa_sink *sink, const struct fsa_unpack *job, struct fsa_error *err)
{
	if (ftruncate(sink->fd, (off_t)sink->size) != 0)
		return sink_failed(sink, job, errno, err);
	return FSA_OK;
}

enum fsa_status fsa_sink_finish(struct fsa_sink *sink, struct fsa_unpack *job, struct fsa_error *err)
{
	enum fsa_status st = settle(sink, job, err);

	if (st != FSA_OK)
		return st;
	job->out_fd = sink->fd;
	job->out_size = sink->size;
	sink->fd = -1;
	return FSA_OK;
}

static bool all_zero(const unsigned char *p, size_t n)
{
	return n == 0 || (p[0] == 0 && memcmp(p, p + 1, n - 1) == 0);
}

static int write_all(int fd, const unsigned char *data, size_t length, uint64_t offset)
{
	while (length) {
		ssize_t put = pwrite(fd, data, length, (off_t)offset);

		if (put < 0 && errno != EINTR)
			return errno;
		if (put > 0) {
			data += put;
			offset += (uint64_t)put;
			length -= (size_t)put;
		}
	}
	return 0;
}

/* Writes what is not zero, in runs as long as can be. Returns errno or 0. */
static int write_sparse(int fd, const unsigned char *data, size_t length, uint64_t offset)
{
	size_t run = 0, at = 0;

	while (at < length) {
		size_t unit = HOLE_UNIT - (size_t)((offset + at) % HOLE_UNIT);
		bool hole;

		if (unit > length - at)
			unit = length - at;
		hole = all_zero(data + at, unit);
		if (!hole)
			run += unit;
		at += unit;
		if (run && (hole || at == length)) {
			size_t end = hole ? at - unit : at;
			int error = write_all(fd, data + end - run, run, offset + end - run);

			if (error)
				return error;
			run = 0;
		}
	}
	return 0;
}

enum fsa_status fsa_pour(struct fsa_source *source, struct fsa_sink *sink, uint64_t until, const char *what,
			 bool *end, struct fsa_error *err)
{
	*end = false;
	while (sink->size < until) {
		const void *data;
		la_int64_t offset;
		size_t length;
		int rc = archive_read_data_block(source->archive, &data, &length, &offset);
		int error;

		if (rc == ARCHIVE_EOF) {
			*end = true;
			break;
		}
		if (rc == ARCHIVE_RETRY)
			continue;
		/* A warning here is a wrong checksum: what was unpacked is not what was packed. */
		if (rc != ARCHIVE_OK)
			return fsa_source_failed(source, what, sink->size, err);
		if (offset < 0 || length > (uint64_t)(INT64_MAX - offset))
			return sink_failed(sink, source->job, EFBIG, err);
		if (sink->sum)
			fsa_gzip_sum_add(sink->sum, data, length);
		error = write_sparse(sink->fd, data, length, (uint64_t)offset);
		if (error)
			return sink_failed(sink, source->job, error, err);
		if ((uint64_t)offset + length > sink->size)
			sink->size = (uint64_t)offset + length;
		if (!go_on(source, length))
			return fsa_source_failed(source, what, sink->size, err);
	}
	return settle(sink, source->job, err);
}

/* --- one layer ----------------------------------------------------------------------------------------- */

/*
 * Whether the bytes, which only begin like something wrapped, hold something as they are: then the magic was
 * an accident of a boot area.
 */
static bool holds_content(const struct fsa_unpack *job)
{
	struct fsa_partitions parts;
	struct fsa_probed probed;

	fsa_probe(job->fd, 0, job->size, false, &probed);
	if (probed.type[0] || probed.several[0])
		return true;
	if (fsa_partitions_read(job->fd, job->size, false, &parts) != FSA_OK)
		return false;
	free(parts.list);
	return parts.count > 0;
}

/* Whether what comes out of a decompression is an archive and not an image that begins like one. */
static bool sink_is_archive(const struct fsa_sink *sink, const char **inner)
{
	unsigned char head[FSA_HEAD_BYTES];
	ssize_t got = fsa_pread_all(sink->fd, head, sizeof(head), 0);
	struct fsa_probed probed;

	if (got <= 0 || fsa_wrapping_of(head, (size_t)got, inner) != FSA_ARCHIVED)
		return false;
	fsa_probe(sink->fd, 0, sink->size, true, &probed);
	return !fsa_content_is_ours(probed.type, false);
}

/* Whether the stream that was opened is one that libarchive really unpacks. */
static enum fsa_status begin_stream(struct fsa_source *source, const char *kind, struct fsa_error *err)
{
	struct archive_entry *entry;

	if (archive_read_next_header(source->archive, &entry) != ARCHIVE_OK)
		return fsa_source_failed(source, kind, 0, err);
	/* The raw format takes anything, so bytes that no decompressor wants would come out as they are. */
	if (archive_filter_code(source->archive, 0) == ARCHIVE_FILTER_NONE) {
		archive_set_error(source->archive, EILSEQ, "its header makes no sense");
		return fsa_source_failed(source, kind, 0, err);
	}
	return FSA_OK;
}

static enum fsa_status check_sum(struct fsa_unpack *job, const struct fsa_sink *sink, struct fsa_error *err)
{
	uint32_t crc = 0, length = 0;

	if (!sink->sum)
		return FSA_OK;
	switch (fsa_gzip_sum_check(sink->sum, job->fd, job->size, &crc, &length)) {
	case FSA_GZIP_WRONG:
		return fsa_fail(err, FSA_EDAMAGED,
				"%s: the gzip data is damaged: its end says length %u (modulo 2^32) and CRC-32 0x%08x, "
				"unpacked were %llu bytes of CRC-32 0x%08x",
				job->name, length, crc, (unsigned long long)sink->sum->bytes, ~sink->sum->crc);
	case FSA_GZIP_UNKNOWN:
		job->unchecked = true;
		break;
	case FSA_GZIP_GOOD:
		break;
	}
	return FSA_OK;
}

static enum fsa_status unpack_compressed(struct fsa_unpack *job, const char *what, struct fsa_error *err)
{
	struct fsa_sink sink = { .fd = -1 };
	struct fsa_gzip_sum *sum = NULL;
	char kind[32], archive_kind[64];
	struct fsa_source source;
	const char *inner = NULL;
	bool end = false, archived = false;
	enum fsa_status st;

	snprintf(kind, sizeof(kind), "%s data", what);
	st = fsa_source_open(&source, job, false, err);
	if (st != FSA_OK)
		return st;
	if (strcmp(what, "gzip") == 0 && !(sum = fsa_gzip_sum_new()))
		st = fsa_fail(err, FSA_ENOMEM, "%s: out of memory", job->name);
	if (st == FSA_OK)
		st = begin_stream(&source, kind, err);
	if (st == FSA_OK)
		st = fsa_sink_open(&sink, job, err);
	sink.sum = sum;
	if (st == FSA_OK)
		st = fsa_pour(&source, &sink, FSA_PEEK_BYTES, kind, &end, err);
	if (st == FSA_OK)
		archived = sink_is_archive(&sink, &inner);
	if (st == FSA_OK && !archived) {
		if (!end)
			st = fsa_pour(&source, &sink, UINT64_MAX, kind, &end, err);
		if (st == FSA_OK)
			st = check_sum(job, &sink, err);
		if (st == FSA_OK)
			st = fsa_sink_finish(&sink, job, err);
	}
	fsa_sink_close(&sink);
	fsa_source_close(&source);
	free(sum);
	if (!archived)
		return st;
	snprintf(archive_kind, sizeof(archive_kind), "%s archive in %s data", inner, what);
	return fsa_unpack_archive(job, archive_kind, err);
}

enum fsa_status fsa_unpack_layer(struct fsa_unpack *job, struct fsa_error *err)
{
	unsigned char head[FSA_HEAD_BYTES];
	ssize_t got = fsa_pread_all(job->fd, head, sizeof(head), 0);
	const char *what;
	enum fsa_wrapping wrapping;
	enum fsa_status st;
	char kind[32];

	if (got < 0)
		return FSA_OK;	/* unreadable at its start: the parsers meet it again, and can say where */
	wrapping = fsa_wrapping_of(head, (size_t)got, &what);
	if (wrapping == FSA_UNWRAPPED)
		return FSA_OK;
	if (wrapping == FSA_COMPRESSED) {
		st = unpack_compressed(job, what, err);
	} else {
		snprintf(kind, sizeof(kind), "%s archive", what);
		st = fsa_unpack_archive(job, kind, err);
	}
	if (st == FSA_EDAMAGED && holds_content(job))
		return FSA_OK;
	return st;
}
