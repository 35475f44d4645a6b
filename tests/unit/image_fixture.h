/* SPDX-License-Identifier: GPL-2.0-only */
/* What the tests of the image layer share: a scratch directory, small files, and archives by libarchive. */
#ifndef FSA_TESTS_IMAGE_FIXTURE_H
#define FSA_TESTS_IMAGE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fsa/image.h"

static char scratch[256];

/* A path in the scratch directory; the last four stay valid. */
static inline const char *in_scratch(const char *name)
{
	static char paths[4][512];
	static unsigned next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", scratch, name);
	return path;
}

static inline int make_scratch(void **state)
{
	const char *base = getenv("TMPDIR"), *path = getenv("PATH");
	char longer[4096];

	(void)state;
	snprintf(scratch, sizeof(scratch), "%s/fsassay-test-XXXXXX", base && *base ? base : "/tmp");
	/* mke2fs and sfdisk are not on every user's path. */
	snprintf(longer, sizeof(longer), "%s:/usr/sbin:/sbin", path ? path : "/usr/bin:/bin");
	setenv("PATH", longer, 1);
	return mkdtemp(scratch) ? 0 : -1;
}

static inline int run(const char *fmt, ...)
{
	char command[2048], whole[2400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(command, sizeof(command), fmt, ap);
	va_end(ap);
	snprintf(whole, sizeof(whole), "cd '%s' && { %s; } >/dev/null 2>&1", scratch, command);
	return system(whole);
}

static inline int remove_scratch(void **state)
{
	(void)state;
	return run("rm -rf '%s'", scratch) == 0 ? 0 : -1;
}

/* Ends the test as skipped when `tool` is not there. */
static inline void need(const char *tool)
{
	if (run("command -v %s", tool) != 0) {
		print_message("skipped: no %s\n", tool);
		skip();
	}
}

static inline void write_file(const char *name, const void *bytes, size_t size, uint64_t offset, uint64_t file_size)
{
	int fd = open(in_scratch(name), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, bytes, size, (off_t)offset), size);
	if (file_size)
		assert_int_equal(ftruncate(fd, (off_t)file_size), 0);
	close(fd);
}

/* An ext2 of 1 MiB with a label, at an offset of a file that is made when it does not exist. */
static inline void make_ext2(const char *name, const char *label, unsigned long long offset)
{
	need("mke2fs");
	assert_int_equal(run("rm -f part.tmp; mke2fs -q -F -t ext2 -b 1024 -L '%s' part.tmp 1024 && "
			     "dd if=part.tmp of='%s' bs=512 seek=%llu conv=notrunc,sparse && rm part.tmp", label, name,
			     offset / 512), 0);
	if (offset == 0)
		assert_int_equal(run("truncate -s '>1M' '%s'", name), 0);
}

struct opened_image {
	struct fsa_image *image;
	struct fsa_error err;
	enum fsa_status status;
};

/* Opens "IMAGE", "IMAGE@N" or "ARCHIVE:MEMBER" in the scratch directory. */
static inline struct opened_image open_with(const char *argument, struct fsa_image_options options)
{
	struct opened_image o = { .image = NULL };
	char *path;

	assert_int_equal(fsa_image_split_name(in_scratch(argument), &path, &options.partition), FSA_OK);
	o.status = fsa_image_open(path, &options, &o.image, &o.err);
	free(path);
	if (o.status != FSA_OK) {
		assert_null(o.image);
		/* Each message names the image. */
		assert_non_null(strstr(o.err.message, scratch));
		assert_int_equal(o.err.status, o.status);
	} else {
		assert_non_null(o.image);
	}
	return o;
}

static inline struct opened_image open_plain(const char *argument)
{
	return open_with(argument, (struct fsa_image_options){ .partition = 0 });
}

static inline struct fsa_image *must_open(const char *argument)
{
	struct opened_image o = open_plain(argument);

	if (o.status != FSA_OK)
		fail_msg("%s", o.err.message);
	return o.image;
}

static inline void must_fail(const char *argument, enum fsa_status status, const char *words)
{
	struct opened_image o = open_plain(argument);

	if (o.status != status)
		fail_msg("%s: status %d, not %d: %s", argument, (int)o.status, (int)status, o.err.message);
	if (!strstr(o.err.message, words))
		fail_msg("'%s' is not in: %s", words, o.err.message);
}

static inline int has_remark(const struct fsa_image *image, const char *words)
{
	const char *remark;

	for (unsigned i = 0; (remark = fsa_image_remark(image, i)) != NULL; i++)
		if (strstr(remark, words))
			return 1;
	return 0;
}

/* The label of the ext filesystem in the window, read through the image. */
static inline void assert_label(struct fsa_image *image, const char *label)
{
	char found[17] = "";

	assert_int_equal(fsa_image_read(image, 1024 + 120, found, 16), FSA_OK);
	assert_string_equal(found, label);
}

/* A file of the scratch directory as a member of an archive that is being written. */
static inline void add_member(struct archive *a, const char *member, const char *from)
{
	struct archive_entry *entry = archive_entry_new();
	static unsigned char buffer[1 << 16];
	FILE *f = fopen(in_scratch(from), "rb");
	size_t n;

	assert_non_null(f);
	fseek(f, 0, SEEK_END);
	archive_entry_set_pathname(entry, member);
	archive_entry_set_filetype(entry, AE_IFREG);
	archive_entry_set_perm(entry, 0644);
	archive_entry_set_size(entry, ftell(f));
	rewind(f);
	assert_int_equal(archive_write_header(a, entry), ARCHIVE_OK);
	while ((n = fread(buffer, 1, sizeof(buffer), f)) > 0)
		assert_int_equal(archive_write_data(a, buffer, n), n);
	fclose(f);
	archive_entry_free(entry);
}

/* The archive of that kind around `members`: pairs of member name and file, NULL at the end. */
static inline void make_archive(const char *name, int format, int filter, const char *const *members)
{
	struct archive *a = archive_write_new();

	/* By its number libarchive sets any format but this one. */
	if (format == ARCHIVE_FORMAT_AR_GNU)
		assert_int_equal(archive_write_set_format_ar_svr4(a), ARCHIVE_OK);
	else
		assert_int_equal(archive_write_set_format(a, format), ARCHIVE_OK);
	assert_int_equal(archive_write_add_filter(a, filter), ARCHIVE_OK);
	assert_int_equal(archive_write_open_filename(a, in_scratch(name)), ARCHIVE_OK);
	for (; *members; members += 2)
		add_member(a, members[0], members[1]);
	assert_int_equal(archive_write_close(a), ARCHIVE_OK);
	archive_write_free(a);
}

/* A public image below $FSA_CORPUS; skips when that is unset or the image is not there. */
static inline const char *corpus(const char *name)
{
	static char path[1024];
	const char *base = getenv("FSA_CORPUS");

	if (!base || !*base) {
		print_message("skipped: FSA_CORPUS is not set\n");
		skip();
	}
	snprintf(path, sizeof(path), "%s/%s", base, name);
	if (access(path, R_OK) != 0) {
		print_message("skipped: no %s\n", path);
		skip();
	}
	return path;
}

#endif
