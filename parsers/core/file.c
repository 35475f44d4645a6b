/* SPDX-License-Identifier: GPL-2.0-only */
/* Files through their extents: the one place that turns pieces into bytes. */
#include <stdlib.h>
#include <string.h>

#include "fsa/bytes.h"
#include "fsa/read.h"

#define PIECE (1u << 20)		/* one read of file data */
#define SALVAGE 4096u			/* unit of a second attempt where a big read failed */
#define MAX_DECODED (128u << 20)	/* no format here compresses more in one extent than this */

/* The number that findings about `ref` carry. Only asked for when there is something to report. */
static uint64_t number_of(struct fsa_fs *fs, struct fsa_ref ref)
{
	struct fsa_stat stat;

	if (fs->parser->stat && fs->parser->stat(fs, ref, &stat) == FSA_OK)
		return stat.number;
	return FSA_NO_NUMBER;
}

/* --- extents without gaps ------------------------------------------------------------------------ */

struct filler {
	struct fsa_fs *fs;
	struct fsa_ref ref;
	uint64_t size;
	uint64_t position;	/* everything below is reported */
	fsa_extent_fn extent;
	void *arg;
	bool ended;		/* by the callback: not the parser's trouble */
};

static enum fsa_status pass_on(struct filler *f, const struct fsa_extent *extent)
{
	enum fsa_status status = f->extent(f->arg, extent);

	f->ended = status != FSA_OK;
	return status;
}

static enum fsa_status pass_gap(struct filler *f, uint64_t end, enum fsa_extent_kind kind)
{
	struct fsa_extent gap = {
		.kind = kind,
		.logical = f->position,
		.length = end - f->position,
		.physical = FSA_NO_OFFSET,
	};

	f->position = end;
	return pass_on(f, &gap);
}

static enum fsa_status fill(void *arg, const struct fsa_extent *extent)
{
	struct filler *f = arg;
	struct fsa_extent piece = *extent;
	enum fsa_status status;
	uint64_t end;

	if (piece.length == 0 || !fsa_add(piece.logical, piece.length, &end)) {
		fsa_find(f->fs->findings, "inode", number_of(f->fs, f->ref), piece.physical,
			 "piece of the file at %llu is %llu bytes long", (unsigned long long)piece.logical,
			 (unsigned long long)piece.length);
		return FSA_OK;
	}
	if (piece.logical < f->position) {
		fsa_find(f->fs->findings, "inode", number_of(f->fs, f->ref), piece.physical,
			 "piece of the file at %llu starts before the end of the one before it, %llu",
			 (unsigned long long)piece.logical, (unsigned long long)f->position);
		return FSA_OK;
	}
	if (piece.logical > f->position && f->position < f->size) {
		status = pass_gap(f, fsa_min(piece.logical, f->size), FSA_EXTENT_HOLE);
		if (status != FSA_OK)
			return status;
	}
	if (piece.kind == FSA_EXTENT_HOLE) {
		/* Behind the end of the file there is nothing to be a hole in. */
		if (piece.logical >= f->size)
			return FSA_OK;
		end = fsa_min(end, f->size);
		piece.length = end - piece.logical;
	}
	f->position = end;
	return pass_on(f, &piece);
}

enum fsa_status fsa_file_extents(struct fsa_fs *fs, struct fsa_ref ref, uint64_t size, fsa_extent_fn extent,
				 void *arg)
{
	struct filler f = { .fs = fs, .ref = ref, .size = size, .extent = extent, .arg = arg };
	enum fsa_status status, gap;

	if (!fs->parser->extents)
		return FSA_EUNSUPPORTED;
	status = fs->parser->extents(fs, ref, fill, &f);
	if (f.ended || status == FSA_ENOMEM)
		return status;
	if (status == FSA_EUNSUPPORTED)
		fsa_find(fs->findings, "inode", number_of(fs, ref), FSA_NO_OFFSET,
			 "contents of the file are kept in a way that is not supported");
	if (f.position < size) {
		/* When the map broke off, what it would have said about the rest is unknown, not zeros. */
		gap = pass_gap(&f, size, status == FSA_OK ? FSA_EXTENT_HOLE : FSA_EXTENT_UNREADABLE);
		if (f.ended)
			return gap;
	}
	return status;
}

/* --- bytes --------------------------------------------------------------------------------------- */

struct reader {
	struct fsa_fs *fs;
	struct fsa_ref ref;
	uint64_t from, end;	/* the part that is wanted */
	uint64_t delivered;
	fsa_bytes_fn bytes;
	void *arg;
	uint8_t *buffer;
	size_t buffer_size;
	/* The last decoded extent: its pieces often follow each other. */
	uint8_t *decoded;
	size_t decoded_room;
	bool have_decoded;
	struct fsa_extent decoded_from;
	bool ended;		/* by the callback or by lack of memory */
	bool complete;		/* only pieces behind the end were left */
};

static enum fsa_status deliver(struct reader *r, const void *data, uint64_t length, bool unreadable)
{
	enum fsa_status status = r->bytes(r->arg, data, length, unreadable);

	r->delivered += length;
	r->ended = status != FSA_OK;
	return status;
}

/* The part of a stored piece that starts `from` bytes behind its start. */
static struct fsa_extent part_of(const struct fsa_extent *extent, uint64_t from, size_t length)
{
	struct fsa_extent part = *extent;

	part.logical += from;
	part.physical += from;
	part.length = length;
	return part;
}

/*
 * Bytes that were read, or NULL, by the format's checksums: *bytes is what to deliver then, which may be in
 * r->buffer. False: they cannot be had, or not all of them.
 */
static enum fsa_status verify(struct reader *r, const struct fsa_extent *extent, uint64_t from, const void **bytes, size_t length,
			      bool *usable)
{
	struct fsa_extent part = part_of(extent, from, length);
	enum fsa_status status;
	bool changed = false;

	*usable = *bytes != NULL;
	if (!r->fs->parser->verify || extent->kind != FSA_EXTENT_DATA)
		return FSA_OK;
	status = r->fs->parser->verify(r->fs, &part, *bytes, length, r->buffer, &changed);
	*usable = status == FSA_OK;
	if (status == FSA_OK && changed)
		*bytes = r->buffer;
	return status == FSA_ENOMEM ? status : FSA_OK;
}

/*
 * A big read failed or its bytes are not right: everything around the bad place is still delivered. `told`: what is
 * wrong by the checksums was found when all was looked at together.
 */
static enum fsa_status salvage(struct reader *r, const struct fsa_extent *extent, uint64_t from, size_t length, bool told)
{
	const struct fsa_device *device = &r->fs->devices[extent->device];
	uint64_t offset = extent->physical + from;
	size_t done = 0;
	size_t bad = 0;			/* unreadable bytes just before `done`, not yet delivered */
	enum fsa_status status = FSA_OK;

	while (status == FSA_OK && (done < length || bad)) {
		size_t step = (size_t)fsa_min(length - done, SALVAGE - (offset + done) % SALVAGE);
		const void *bytes = NULL;
		bool usable = false, muted;

		if (done < length) {
			if (fsa_image_read_contents(device->image, offset + done, r->buffer, step) == FSA_OK)
				bytes = r->buffer;
			muted = fsa_findings_mute(r->fs->findings, told);
			status = verify(r, extent, from + done, &bytes, step, &usable);
			fsa_findings_mute(r->fs->findings, muted);
			if (status != FSA_OK)
				break;
			if (!usable) {
				bad += step;
				done += step;
				continue;
			}
		}
		if (bad) {
			fsa_find_on(r->fs->findings, extent->device, "inode", number_of(r->fs, r->ref),
				    offset + done - bad, "%zu bytes of the file cannot be read", bad);
			status = deliver(r, NULL, bad, true);
			bad = 0;
			if (status != FSA_OK)
				break;
		}
		if (usable) {
			/* number_of may have gone through the same buffer of a parser, not through ours. */
			status = deliver(r, bytes, step, false);
			done += step;
		}
	}
	return status;
}

/* The same for any length: the buffer bounds what is looked at together. */
static enum fsa_status salvage_all(struct reader *r, const struct fsa_extent *extent, uint64_t from, uint64_t length)
{
	enum fsa_status status = FSA_OK;

	for (size_t step; length && status == FSA_OK; from += step, length -= step) {
		step = (size_t)fsa_min(length, r->buffer_size);
		status = salvage(r, extent, from, step, false);
	}
	return status;
}

static enum fsa_status read_stored(struct reader *r, const struct fsa_extent *extent, uint64_t length)
{
	const struct fsa_device *device;
	uint64_t offset = extent->physical, from = 0;
	uint64_t image_size, readable;
	enum fsa_status status;

	if (extent->device >= r->fs->n_devices || !r->fs->devices[extent->device].image ||
	    offset == FSA_NO_OFFSET) {
		fsa_find(r->fs->findings, "inode", number_of(r->fs, r->ref), FSA_NO_OFFSET,
			 "%llu bytes at %llu of the file lie on device %u, which is not there",
			 (unsigned long long)length, (unsigned long long)extent->logical, extent->device);
		return deliver(r, NULL, length, true);
	}
	device = &r->fs->devices[extent->device];
	image_size = fsa_image_size(device->image);
	readable = offset < image_size ? fsa_min(length, image_size - offset) : 0;

	if (readable > PIECE)
		fsa_image_prefetch(device->image, offset, fsa_min(readable, 8 * (uint64_t)PIECE));
	while (from < readable) {
		size_t step = (size_t)fsa_min(readable - from, r->buffer_size);
		const void *bytes = fsa_image_held(device->image, offset + from, step);
		bool usable = false;

		if (!bytes && fsa_image_read_contents(device->image, offset + from, r->buffer, step) == FSA_OK)
			bytes = r->buffer;
		status = bytes ? verify(r, extent, from, &bytes, step, &usable) : FSA_OK;
		if (status == FSA_OK)
			status = usable ? deliver(r, bytes, step, false) : salvage(r, extent, from, step, bytes != NULL);
		else
			r->ended = true;
		if (status != FSA_OK)
			return status;
		from += step;
	}
	if (from == length)
		return FSA_OK;
	fsa_find_on(r->fs->findings, extent->device, "inode", number_of(r->fs, r->ref), offset + from,
		    "%llu bytes of the file lie behind the end of the image, %llu",
		    (unsigned long long)(length - from), (unsigned long long)image_size);
	/* Another copy may lie on a whole image. */
	return r->fs->parser->verify && extent->kind == FSA_EXTENT_DATA ? salvage_all(r, extent, from, length - from)
									 : deliver(r, NULL, length - from, true);
}

/* Makes r->decoded hold the extent behind `extent`; false when it cannot be had (a finding says why). */
static enum fsa_status decode(struct reader *r, const struct fsa_extent *extent, bool *usable)
{
	const struct fsa_extent *last = &r->decoded_from;
	enum fsa_status status;

	*usable = false;
	if (r->have_decoded && last->device == extent->device && last->physical == extent->physical &&
	    last->encoded_length == extent->encoded_length &&
	    last->decoded_length == extent->decoded_length && last->bytes == extent->bytes &&
	    !extent->bytes && memcmp(last->cookie, extent->cookie, sizeof(last->cookie)) == 0) {
		*usable = true;
		return FSA_OK;
	}
	r->have_decoded = false;
	if (!r->fs->parser->decode) {
		fsa_find(r->fs->findings, "inode", number_of(r->fs, r->ref), extent->physical,
			 "%s encoded bytes cannot be decoded", extent->encoding ? extent->encoding : "unknown");
		return FSA_OK;
	}
	if (extent->decoded_length == 0 || extent->decoded_length > MAX_DECODED) {
		fsa_find(r->fs->findings, "inode", number_of(r->fs, r->ref), extent->physical,
			 "encoded piece claims to be %llu bytes decoded, at most %u are possible",
			 (unsigned long long)extent->decoded_length, MAX_DECODED);
		return FSA_OK;
	}
	if (r->decoded_room < extent->decoded_length) {
		free(r->decoded);
		r->decoded_room = 0;
		r->decoded = malloc((size_t)extent->decoded_length);
		if (!r->decoded)
			return FSA_ENOMEM;
		r->decoded_room = (size_t)extent->decoded_length;
	}
	/* A decoder that stops early must not show what an earlier extent left here. */
	memset(r->decoded, 0, (size_t)extent->decoded_length);
	status = r->fs->parser->decode(r->fs, extent, r->decoded);
	if (status == FSA_ENOMEM)
		return status;
	if (status != FSA_OK) {
		fsa_find(r->fs->findings, "inode", number_of(r->fs, r->ref), extent->physical,
			 "%llu %s encoded bytes cannot be decoded: %s",
			 (unsigned long long)extent->encoded_length,
			 extent->encoding ? extent->encoding : "unknown", fsa_status_name(status));
		return FSA_OK;
	}
	r->decoded_from = *extent;
	r->have_decoded = true;
	*usable = true;
	return FSA_OK;
}

static enum fsa_status read_encoded(struct reader *r, const struct fsa_extent *extent, uint64_t length)
{
	enum fsa_status status;
	bool usable;

	if (!fsa_within(extent->decoded_offset, length, extent->decoded_length)) {
		fsa_find(r->fs->findings, "inode", number_of(r->fs, r->ref), extent->physical,
			 "piece of %llu bytes at %llu of an encoded extent of %llu bytes",
			 (unsigned long long)length, (unsigned long long)extent->decoded_offset,
			 (unsigned long long)extent->decoded_length);
		return deliver(r, NULL, length, true);
	}
	status = decode(r, extent, &usable);
	if (status != FSA_OK) {
		r->ended = true;
		return status;
	}
	if (!usable)
		return deliver(r, NULL, length, true);
	return deliver(r, r->decoded + extent->decoded_offset, length, false);
}

/* Takes `bytes` off a piece's front; false when what it says of its place cannot be true. */
static bool skip_front(struct fsa_extent *extent, uint64_t bytes)
{
	extent->logical += bytes;
	extent->length -= bytes;
	if (extent->kind == FSA_EXTENT_ENCODED)
		return fsa_add(extent->decoded_offset, bytes, &extent->decoded_offset);
	if (extent->bytes)
		extent->bytes = (const uint8_t *)extent->bytes + bytes;
	else if (extent->physical != FSA_NO_OFFSET)
		return fsa_add(extent->physical, bytes, &extent->physical);
	return true;
}

static enum fsa_status read_extent(void *arg, const struct fsa_extent *whole)
{
	struct reader *r = arg;
	struct fsa_extent extent = *whole;
	uint64_t length;

	if (extent.logical >= r->end) {
		r->complete = true;
		return FSA_STOP;
	}
	if (extent.logical < r->from) {
		const uint64_t skipped = r->from - extent.logical;

		if (skipped >= extent.length)
			return FSA_OK;
		if (!skip_front(&extent, skipped))
			extent.physical = FSA_NO_OFFSET;
	}
	length = fsa_min(extent.length, r->end - extent.logical);
	switch (extent.kind) {
	case FSA_EXTENT_HOLE:
	case FSA_EXTENT_UNWRITTEN:
		return deliver(r, NULL, length, false);
	case FSA_EXTENT_PACKED:
		if (extent.bytes)
			return deliver(r, extent.bytes, length, false);
		return read_stored(r, &extent, length);
	case FSA_EXTENT_DATA:
		return read_stored(r, &extent, length);
	case FSA_EXTENT_ENCODED:
		return read_encoded(r, &extent, length);
	case FSA_EXTENT_UNREADABLE:
		break;
	}
	return deliver(r, NULL, length, true);
}

enum fsa_status fsa_file_read_part(struct fsa_fs *fs, struct fsa_ref ref, uint64_t size, uint64_t from,
				   uint64_t length, fsa_bytes_fn bytes, void *arg)
{
	struct reader r = { .fs = fs, .ref = ref, .from = from, .bytes = bytes, .arg = arg };
	enum fsa_status status;

	if (!fs->parser->extents)
		return FSA_EUNSUPPORTED;
	if (from >= size || length == 0)
		return FSA_OK;
	length = fsa_min(length, size - from);
	r.end = from + length;
	/* The smallest buffer is what a second attempt after a read error works in. */
	r.buffer_size = (size_t)fsa_min(fsa_max(length, SALVAGE), PIECE);
	r.buffer = malloc(r.buffer_size);
	if (!r.buffer)
		return FSA_ENOMEM;
	status = fsa_file_extents(fs, ref, size, read_extent, &r);
	/*
	 * Everything that was wanted was delivered; or the map broke off, and what it did not say was
	 * delivered as unreadable: the file is complete as far as it can be.
	 */
	if (r.complete || (!r.ended && status != FSA_ENOMEM && r.delivered == length))
		status = FSA_OK;
	free(r.decoded);
	free(r.buffer);
	return status;
}

enum fsa_status fsa_file_read(struct fsa_fs *fs, struct fsa_ref ref, uint64_t size, fsa_bytes_fn bytes,
			      void *arg)
{
	return fsa_file_read_part(fs, ref, size, 0, size, bytes, arg);
}
