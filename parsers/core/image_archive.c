/* SPDX-License-Identifier: GPL-2.0-only */
/* Archives: which member is the image, and getting it out. */
#include <archive.h>
#include <archive_entry.h>
#include <string.h>
#include <unistd.h>

#include "image_private.h"

/* Below this no filesystem exists; above it libblkid is asked. */
#define SMALLEST_IMAGE (16 * 1024)

/* How much a member looks like an image. The highest rank that occurs decides, when it occurs once. */
enum rank {
	RANK_FILE,		/* nothing recognised */
	RANK_CONTENT,		/* content that fsassay does not read: vfat, squashfs */
	RANK_WRAPPED,		/* compressed, or an archive */
	RANK_IMAGE,		/* a filesystem of ours, a partition table, or a disk image of another kind */
	N_RANKS
};

struct search {
	struct fsa_unpack *job;
	const char *what;
	struct fsa_source source;
	unsigned files;			/* regular ones that are not empty */
	unsigned count[N_RANKS];
	unsigned first[N_RANKS];	/* number of the first of this rank */
	struct fsa_list_text names[N_RANKS];
};

/* The member's name as the archive has it; libarchive cannot always convert it to the locale. */
static const char *entry_name(struct archive_entry *entry)
{
	const char *name = archive_entry_pathname(entry);

	if (!name)
		name = archive_entry_pathname_utf8(entry);
	return name ? name : "";
}

/*
 * The name for messages and remarks, which are printed as they are: control characters, of both kinds that
 * UTF-8 has, become \xHH. Cut with "..." when it does not fit.
 */
static void show_name(char *text, size_t size, struct archive_entry *entry)
{
	const unsigned char *p = (const unsigned char *)entry_name(entry);
	size_t out = 0;

	for (; *p; p++) {
		bool c1 = p[0] == 0xc2 && p[1] >= 0x80 && p[1] < 0xa0;

		if (out + 8 + 4 > size) {
			memcpy(text + out, "...", 3);
			out += 3;
			break;
		}
		if (*p >= 0x20 && *p != 0x7f && !c1)
			text[out++] = (char)*p;
		else
			out += (size_t)snprintf(text + out, 5, "\\x%02x", *p);
		if (c1)
			out += (size_t)snprintf(text + out, 5, "\\x%02x", *++p);
	}
	text[out] = '\0';
}

static const char *without_dot(const char *name)
{
	while (name[0] == '/' || (name[0] == '.' && name[1] == '/'))
		name += name[0] == '/' ? 1 : 2;
	return name;
}

/* Goes to the next member that has bytes of its own; *entry NULL at the end. */
static enum fsa_status next_file(struct search *s, struct archive_entry **entry, struct fsa_error *err)
{
	for (;;) {
		int rc = archive_read_next_header(s->source.archive, entry);

		if (rc == ARCHIVE_EOF) {
			*entry = NULL;
			return FSA_OK;
		}
		if (rc == ARCHIVE_RETRY)
			continue;
		if (rc < ARCHIVE_WARN)
			return fsa_source_failed(&s->source, s->what, 0, err);
		if (archive_entry_filetype(*entry) != AE_IFREG || archive_entry_hardlink(*entry))
			continue;
		if (archive_entry_size_is_set(*entry) && archive_entry_size(*entry) == 0)
			continue;
		return FSA_OK;
	}
}

/* The size the archive states, or 0. */
static uint64_t stated_size(struct archive_entry *entry)
{
	la_int64_t size = archive_entry_size_is_set(entry) ? archive_entry_size(entry) : 0;

	return size > 0 ? (uint64_t)size : 0;
}

static enum fsa_status take(struct search *s, struct archive_entry *entry, struct fsa_sink *sink,
			    struct fsa_error *err)
{
	enum fsa_status st;
	bool end;

	st = fsa_pour(&s->source, sink, UINT64_MAX, s->what, &end, err);
	if (st != FSA_OK)
		return st;
	/* A sparse member may end in a hole, for which no data comes. */
	if (stated_size(entry) > sink->size)
		sink->size = stated_size(entry);
	show_name(s->job->taken, sizeof(s->job->taken), entry);
	return FSA_OK;
}

/* What the first bytes of a member, poured into the sink, look like. */
static enum rank rank_of(const struct fsa_sink *sink, uint64_t size)
{
	unsigned char head[FSA_HEAD_BYTES];
	struct fsa_partitions parts;
	struct fsa_probed probed;
	const char *what;
	ssize_t got = fsa_pread_all(sink->fd, head, sizeof(head), 0);

	/* libblkid looks at sizes as well: the rest of the member is a hole for now. */
	if (size <= sink->size || size > INT64_MAX || ftruncate(sink->fd, (off_t)size) != 0)
		size = sink->size;
	memset(&probed, 0, sizeof(probed));
	if (size >= SMALLEST_IMAGE)
		fsa_probe(sink->fd, 0, size, true, &probed);
	if (fsa_content_is_ours(probed.type, false) || fsa_container_find(sink->fd, sink->size))
		return RANK_IMAGE;
	if (got > 0 && fsa_wrapping_of(head, (size_t)got, &what) != FSA_UNWRAPPED)
		return RANK_WRAPPED;
	if (size < SMALLEST_IMAGE)
		return RANK_FILE;
	if (fsa_partitions_read(sink->fd, size, false, &parts) == FSA_OK) {
		free(parts.list);
		if (parts.count)
			return RANK_IMAGE;
	}
	fsa_probe(sink->fd, 0, size, false, &probed);
	return probed.type[0] || probed.several[0] ? RANK_CONTENT : RANK_FILE;
}

static void note_as(struct search *s, struct archive_entry *entry, enum rank rank)
{
	char shown[200];

	if (s->count[rank]++ == 0)
		s->first[rank] = s->files;
	show_name(shown, sizeof(shown), entry);
	fsa_list_add(&s->names[rank], "%s", shown);
}

/* Notes a member under its rank, and under RANK_FILE, which lists them all. */
static void note(struct search *s, struct archive_entry *entry, enum rank rank)
{
	note_as(s, entry, RANK_FILE);
	if (rank != RANK_FILE)
		note_as(s, entry, rank);
	s->files++;
}

/*
 * Looks into every member. The first one of RANK_IMAGE is unpacked at once into *kept: mostly it is the only
 * one, and reading a compressed archive twice costs more than unpacking one image in vain.
 */
static enum fsa_status look_at_all(struct search *s, struct fsa_sink *kept, struct fsa_error *err)
{
	struct fsa_sink sink = { .fd = -1 };
	struct archive_entry *entry;
	enum fsa_status st;

	for (;;) {
		enum rank rank;
		bool end;

		st = next_file(s, &entry, err);
		if (st != FSA_OK || !entry)
			break;
		st = sink.fd < 0 ? fsa_sink_open(&sink, s->job, err) : fsa_sink_clear(&sink, s->job, err);
		if (st == FSA_OK)
			st = fsa_pour(&s->source, &sink, FSA_PEEK_BYTES, s->what, &end, err);
		if (st != FSA_OK)
			break;
		rank = end ? rank_of(&sink, sink.size) : rank_of(&sink, stated_size(entry));
		if (rank == RANK_IMAGE && s->count[RANK_IMAGE] == 0) {
			st = take(s, entry, &sink, err);
			if (st != FSA_OK)
				break;
			*kept = sink;
			sink.fd = -1;
		}
		note(s, entry, rank);
	}
	fsa_sink_close(&sink);
	return st;
}

/* Takes the member by its name, or by its number among the files when `name` is NULL. */
static enum fsa_status take_one(struct search *s, const char *name, unsigned number, struct fsa_error *err)
{
	struct fsa_sink sink = { .fd = -1 };
	struct archive_entry *entry;
	enum fsa_status st;

	for (unsigned i = 0;; i++) {
		st = next_file(s, &entry, err);
		if (st != FSA_OK)
			return st;
		if (!entry)
			return fsa_fail(err, FSA_ENOENT, "%s: the %s has no file '%s' that is not empty, but:%s",
					s->job->name, s->what, name ? name : "", fsa_list_end(&s->names[RANK_FILE]));
		if (name ? strcmp(without_dot(entry_name(entry)), without_dot(name)) == 0 : i == number)
			break;
		note(s, entry, RANK_FILE);
	}
	st = fsa_sink_open(&sink, s->job, err);
	if (st == FSA_OK)
		st = take(s, entry, &sink, err);
	if (st == FSA_OK)
		st = fsa_sink_finish(&sink, s->job, err);
	fsa_sink_close(&sink);
	return st;
}

/* Decides by what look_at_all() saw: takes what was kept, or goes through the archive again for the one. */
static enum fsa_status decide(struct search *s, struct fsa_sink *kept, struct fsa_error *err)
{
	enum rank r = RANK_IMAGE;
	enum fsa_status st;

	while (r > RANK_FILE && s->count[r] == 0)
		r--;
	if (s->count[r] == 0)
		return fsa_fail(err, FSA_EUNSUPPORTED, "%s: the %s holds no file that is not empty", s->job->name,
				s->what);
	if (s->count[r] > 1)
		return fsa_fail(err, FSA_EINVAL, "%s: the %s holds %u %s, choose one as ARCHIVE:MEMBER:%s",
				s->job->name, s->what, s->count[r],
				r == RANK_FILE ? "files, none of which looks like an image" : "files that may be the image",
				fsa_list_end(&s->names[r]));
	s->job->others = s->files - 1;
	if (r == RANK_IMAGE)
		return fsa_sink_finish(kept, s->job, err);
	fsa_source_close(&s->source);
	st = fsa_source_open(&s->source, s->job, true, err);
	return st == FSA_OK ? take_one(s, NULL, s->first[r], err) : st;
}

enum fsa_status fsa_unpack_archive(struct fsa_unpack *job, const char *what, struct fsa_error *err)
{
	struct search *s = calloc(1, sizeof(*s));
	struct fsa_sink kept = { .fd = -1 };
	enum fsa_status st;

	if (!s)
		return fsa_fail(err, FSA_ENOMEM, "%s: out of memory", job->name);
	s->job = job;
	s->what = what;
	st = fsa_source_open(&s->source, job, true, err);
	if (st != FSA_OK) {
		free(s);
		return st;
	}
	if (job->member) {
		st = take_one(s, job->member, 0, err);
	} else {
		st = look_at_all(s, &kept, err);
		if (st == FSA_OK)
			st = decide(s, &kept, err);
		fsa_sink_close(&kept);
	}
	fsa_source_close(&s->source);
	free(s);
	return st;
}
