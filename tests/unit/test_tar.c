/* SPDX-License-Identifier: GPL-2.0-only */
/* The archive that extract writes, read back by libarchive, and what goes into it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <archive.h>
#include <archive_entry.h>
#include <cmocka.h>

#include "analyzer/acl.h"
#include "analyzer/extract.h"
#include "analyzer/firstpath.h"
#include "analyzer/paxtar.h"
#include "analyzer/runmap.h"
#include "toy_parser.h"

struct output {
	int fd;
	struct paxtar *tar;
	struct archive *in;
	struct archive_entry *entry;
};

static void begin(struct output *o)
{
	o->fd = memfd_create("tar", 0);
	assert_true(o->fd >= 0);
	o->tar = paxtar_new(o->fd, NULL, NULL);
	assert_non_null(o->tar);
}

static void put(struct output *o, const struct paxtar_entry *entry, const void *data, size_t length)
{
	assert_true(paxtar_header(o->tar, entry));
	if (length != 0)
		assert_true(paxtar_data(o->tar, data, length));
	assert_true(paxtar_end_entry(o->tar));
}

static void read_back(struct output *o)
{
	assert_true(paxtar_finish(o->tar));
	assert_int_equal(paxtar_bytes(o->tar) % 32768, 0);
	assert_int_equal(lseek(o->fd, 0, SEEK_CUR), paxtar_bytes(o->tar));
	paxtar_free(o->tar);
	assert_int_equal(lseek(o->fd, 0, SEEK_SET), 0);
	o->in = archive_read_new();
	archive_read_support_format_tar(o->in);
	assert_int_equal(archive_read_open_fd(o->in, o->fd, 10240), ARCHIVE_OK);
}

static struct archive_entry *next(struct output *o)
{
	assert_int_equal(archive_read_next_header(o->in, &o->entry), ARCHIVE_OK);
	return o->entry;
}

static void end(struct output *o)
{
	assert_int_equal(archive_read_next_header(o->in, &o->entry), ARCHIVE_EOF);
	archive_read_free(o->in);
	close(o->fd);
}

#define PATH(text) .path = text, .path_length = sizeof(text) - 1
#define LINK(text) .link = text, .link_length = sizeof(text) - 1

static void test_fields(void **state)
{
	static const struct paxtar_entry file = {
		.type = PAXTAR_REGULAR, PATH("dir/file"), .mode = 04755, .uid = 4000000000, .gid = 3999999999,
		.size = 5, .mtime = { 1234567890, 123456789, true }, .atime = { 5000000000, 1, true },
	};
	static const struct paxtar_entry device = {
		.type = PAXTAR_CHARDEV, PATH("c"), .mode = 0600, .rdev_major = 4095, .rdev_minor = 1048575,
	};
	static const struct paxtar_entry directory = { .type = PAXTAR_DIRECTORY, PATH("dir"), .mode = 01777 };
	static const struct paxtar_entry link = { .type = PAXTAR_HARD_LINK, PATH("hard"), LINK("dir/file") };
	static const struct paxtar_entry sym = { .type = PAXTAR_SYMLINK, PATH("sym"), LINK("\xff/\xc3\xa4") };
	struct archive_entry *e;
	struct output o;
	char data[8];

	(void)state;
	begin(&o);
	put(&o, &directory, NULL, 0);
	put(&o, &file, "hello", 5);
	put(&o, &link, NULL, 0);
	put(&o, &sym, NULL, 0);
	put(&o, &device, NULL, 0);
	read_back(&o);
	e = next(&o);
	assert_string_equal(archive_entry_pathname(e), "dir/");
	assert_int_equal(archive_entry_mode(e), S_IFDIR | 01777);
	e = next(&o);
	assert_string_equal(archive_entry_pathname(e), "dir/file");
	assert_int_equal(archive_entry_mode(e), S_IFREG | 04755);
	assert_int_equal(archive_entry_uid(e), 4000000000);
	assert_int_equal(archive_entry_gid(e), 3999999999);
	assert_int_equal(archive_entry_size(e), 5);
	assert_int_equal(archive_entry_mtime(e), 1234567890);
	assert_int_equal(archive_entry_mtime_nsec(e), 123456789);
	assert_int_equal(archive_entry_atime(e), 5000000000);
	assert_int_equal(archive_entry_atime_nsec(e), 1);
	assert_int_equal(archive_read_data(o.in, data, sizeof(data)), 5);
	assert_memory_equal(data, "hello", 5);
	e = next(&o);
	assert_string_equal(archive_entry_hardlink(e), "dir/file");
	e = next(&o);
	assert_string_equal(archive_entry_symlink(e), "\xff/\xc3\xa4");
	e = next(&o);
	assert_int_equal(archive_entry_filetype(e), AE_IFCHR);
	assert_int_equal(archive_entry_rdevmajor(e), 4095);
	assert_int_equal(archive_entry_rdevminor(e), 1048575);
	end(&o);
}

/* Names of every length around the limits of a header, and a length that changes its own digits. */
static void test_names(void **state)
{
	char name[1200];
	struct output o;

	(void)state;
	memset(name, 'n', sizeof(name));
	begin(&o);
	for (size_t i = 1; i < sizeof(name); i += i < 300 ? 1 : 97) {
		const struct paxtar_entry entry = { .type = PAXTAR_FIFO, .path = name, .path_length = i };

		put(&o, &entry, NULL, 0);
	}
	read_back(&o);
	for (size_t i = 1; i < sizeof(name); i += i < 300 ? 1 : 97)
		assert_int_equal(strlen(archive_entry_pathname(next(&o))), i);
	end(&o);
}

/* The whole archive as text: what a reader's view of a record cannot tell. */
static char *raw(struct output *o, size_t *size)
{
	char *bytes;

	assert_true(paxtar_finish(o->tar));
	*size = (size_t)paxtar_bytes(o->tar);
	paxtar_free(o->tar);
	bytes = malloc(*size);
	assert_non_null(bytes);
	assert_int_equal(pread(o->fd, bytes, *size, 0), *size);
	close(o->fd);
	return bytes;
}

static void holds(const char *bytes, size_t size, const char *text)
{
	if (memmem(bytes, size, text, strlen(text)) == NULL)
		fail_msg("the archive does not hold \"%s\"", text);
}

static void test_records(void **state)
{
	static const struct paxtar_entry old = {
		.type = PAXTAR_FIFO, PATH("old"), .mtime = { -2, 750000000, true }, .atime = { -1, 500000000, true },
		.ctime = { -1, 0, true },
	};
	static const struct paxtar_entry odd = { .type = PAXTAR_FIFO, PATH("odd\xff") };
	static const struct paxtar_entry utf8 = { .type = PAXTAR_FIFO, PATH("utf\xc3\xa4") };
	struct output o;
	size_t size;
	char *bytes;

	(void)state;
	begin(&o);
	assert_true(paxtar_xattr(o.tar, "user.forgotten", "x", 1));
	paxtar_forget(o.tar);
	assert_true(paxtar_xattr(o.tar, "user.a=b%c", "v\0\n", 3));
	assert_true(paxtar_acl(o.tar, false, "user::rwx"));
	assert_true(paxtar_acl(o.tar, true, "user::r--"));
	put(&o, &old, NULL, 0);
	put(&o, &utf8, NULL, 0);
	put(&o, &odd, NULL, 0);
	bytes = raw(&o, &size);
	holds(bytes, size, "15 mtime=-1.25\n");
	holds(bytes, size, "14 atime=-0.5\n");
	holds(bytes, size, "12 ctime=-1\n");
	holds(bytes, size, "31 SCHILY.acl.access=user::rwx\n");
	holds(bytes, size, "32 SCHILY.acl.default=user::r--\n");
	holds(bytes, size, "SCHILY.xattr.user.a%3Db%25c=v");
	holds(bytes, size, "21 hdrcharset=BINARY\n13 path=odd\xff\n");
	holds(bytes, size, "14 path=utf\xc3\xa4\n");
	assert_null(memmem(bytes, size, "forgotten", 9));
	free(bytes);
}

static void test_sparse(void **state)
{
	static const struct paxtar_piece pieces[] = { { 1 << 20, 5 }, { 1ull << 40, 7 } };
	static const struct paxtar_entry sparse = {
		.type = PAXTAR_REGULAR, PATH("sparse"), .size = 1ull << 41, .sparse = true, .pieces = pieces,
		.n_pieces = 2,
	};
	static const struct paxtar_entry hole = {
		.type = PAXTAR_REGULAR, PATH("hole"), .size = 1ull << 50, .sparse = true,
	};
	struct archive_entry *e;
	const void *block;
	struct output o;
	int64_t offset;
	size_t length;

	(void)state;
	begin(&o);
	put(&o, &sparse, "helloworld!!", 12);
	put(&o, &hole, NULL, 0);
	read_back(&o);
	e = next(&o);
	assert_string_equal(archive_entry_pathname(e), "sparse");
	assert_int_equal(archive_entry_size(e), 1ull << 41);
	assert_int_equal(archive_read_data_block(o.in, &block, &length, &offset), ARCHIVE_OK);
	assert_int_equal(offset, 1 << 20);
	assert_memory_equal(block, "hello", 5);
	assert_int_equal(archive_read_data_block(o.in, &block, &length, &offset), ARCHIVE_OK);
	assert_int_equal(offset, 1ull << 40);
	assert_memory_equal(block, "world!!", 7);
	e = next(&o);
	assert_string_equal(archive_entry_pathname(e), "hole");
	assert_int_equal(archive_entry_size(e), 1ull << 50);
	end(&o);
}

static bool stop_now(void *arg)
{
	(void)arg;
	return true;
}

static void test_failures(void **state)
{
	static const struct paxtar_entry file = { .type = PAXTAR_REGULAR, PATH("f"), .size = 10 };
	struct output o;
	int full = open("/dev/full", O_WRONLY);

	(void)state;
	/* Data that is too short or too long for its header makes the archive worthless. */
	begin(&o);
	assert_true(paxtar_header(o.tar, &file));
	assert_true(paxtar_data(o.tar, "123456789", 9));
	assert_false(paxtar_end_entry(o.tar));
	assert_false(paxtar_finish(o.tar));
	paxtar_free(o.tar);
	close(o.fd);
	begin(&o);
	assert_true(paxtar_header(o.tar, &file));
	assert_false(paxtar_data(o.tar, NULL, 11));
	paxtar_free(o.tar);
	close(o.fd);

	assert_true(full >= 0);
	o.tar = paxtar_new(full, NULL, NULL);
	assert_non_null(o.tar);
	assert_true(paxtar_header(o.tar, &file) && paxtar_data(o.tar, NULL, 10) && paxtar_end_entry(o.tar));
	assert_false(paxtar_finish(o.tar));
	assert_int_equal(paxtar_error(o.tar), ENOSPC);
	paxtar_free(o.tar);
	close(full);

	o.fd = memfd_create("tar", 0);
	o.tar = paxtar_new(o.fd, stop_now, NULL);
	assert_non_null(o.tar);
	assert_false(paxtar_finish(o.tar));
	assert_int_equal(paxtar_error(o.tar), ECANCELED);
	assert_int_equal(lseek(o.fd, 0, SEEK_END), 0);
	paxtar_free(o.tar);
	close(o.fd);
}

static void test_acl(void **state)
{
	static const uint8_t good[] = {
		2, 0, 0, 0,
		1, 0, 7, 0, 255, 255, 255, 255, 2, 0, 4, 0, 0xd2, 4, 0, 0, 4, 0, 5, 0, 255, 255, 255, 255,
		8, 0, 1, 0, 0, 0xca, 0x9a, 0xee, 16, 0, 6, 0, 255, 255, 255, 255, 32, 0, 0, 0, 255, 255, 255, 255,
	};
	uint8_t bad[sizeof(good)];
	const char *why;
	char *text;

	(void)state;
	text = acl_text(good, sizeof(good), &why);
	assert_non_null(text);
	assert_string_equal(text, "user::rwx,user:1234:r--,group::r-x,group:4003121664:--x,mask::rw-,other::---");
	free(text);
	text = acl_text(good, 4, &why);
	assert_non_null(text);
	assert_string_equal(text, "");
	free(text);
	for (size_t i = 0; i < sizeof(good); i++) {
		if (i >= 4 && i % 8 == 4)
			continue;
		text = acl_text(good, i, &why);
		if (text == NULL)
			assert_non_null(why);
		free(text);
	}
	assert_null(acl_text(good, sizeof(good) - 1, &why));
	memcpy(bad, good, sizeof(good));
	bad[0] = 1;
	assert_null(acl_text(bad, sizeof(bad), &why));
	bad[0] = 2;
	bad[4] = 3;
	assert_null(acl_text(bad, sizeof(bad), &why));
	bad[4] = 1;
	bad[6] = 8;
	assert_null(acl_text(bad, sizeof(bad), &why));
	assert_non_null(why);
}

static void test_extract_name(void **state)
{
	static const char *const cases[][2] = {
		{ "", "." }, { "/", "." }, { "..", "." }, { "a/..", "." }, { "/a", "a" }, { "a//b/", "a/b" },
		{ "./a/./b", "a/b" }, { "a/../../b", "b" }, { "a/b/../../c/..d", "c/..d" }, { "../../x", "x" },
		{ "...", "..." }, { "a/b/..", "a" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *name = extract_name(cases[i][0]);

		assert_non_null(name);
		assert_string_equal(name, cases[i][1]);
		free(name);
	}
}

static void test_firstpath(void **state)
{
	struct firstpath map = { 0 };
	const char *first;
	char path[32];
	size_t length;

	(void)state;
	for (int round = 0; round < 2; round++) {
		for (uint64_t i = 0; i < 5000; i++) {
			const struct fsa_ref ref = { { i, i / 7, 0 } };
			const int n = snprintf(path, sizeof(path), "%d/%d", round, (int)i);

			assert_true(firstpath_meet(&map, ref, path, (size_t)n, &first, &length));
			path[0] = i == 77 && round == 1 ? '1' : '0';
			assert_int_equal(length, n);
			assert_memory_equal(first, path, length);
			if (i == 77 && round == 0)
				firstpath_forget(&map, ref);
		}
	}
	firstpath_free(&map);
}

/* --- the map, bounded and not -------------------------------------------------------------------- */

struct mapped {
	char text[65536];
	uint64_t at;
};

static enum fsa_status on_tile(void *arg, const struct runmap_tile *tile)
{
	struct mapped *m = arg;
	const size_t used = strlen(m->text);

	assert_int_equal(tile->offset, m->at);
	assert_true(tile->length > 0);
	m->at += tile->length;
	snprintf(m->text + used, sizeof(m->text) - used, "%llu+%llu %s %s %d\n", (unsigned long long)tile->offset,
		 (unsigned long long)tile->length, fsa_purpose_name(tile->purpose),
		 tile->object != NULL ? tile->object : "-", tile->shared);
	return FSA_OK;
}

static void map_of(unsigned faults, size_t limit, struct mapped *mapped, struct runmap_sums *sums)
{
	static uint8_t bytes[TOY_SIZE];
	struct fsa_findings *findings = fsa_findings_new(0);
	struct opened opened = { .argument = "toy", .n_images = 1, .findings = findings };
	struct fsa_ledger_result result;
	struct fsa_audit audit = { .progress = NULL };
	struct fsa_ledger *ledger = fsa_ledger_new(toy_parser.details, toy_parser.n_details);

	toy_make(bytes, faults);
	assert_int_equal(toy_open(bytes, sizeof(bytes), findings, &opened.images[0], &opened.fs), FSA_OK);
	assert_int_equal(toy_parser.geometry(opened.fs, ledger), FSA_OK);
	audit.claims = fsa_claims_to_ledger(ledger);
	assert_int_equal(toy_parser.audit(opened.fs, &audit), FSA_OK);
	fsa_claims_free(audit.claims);
	assert_int_equal(fsa_ledger_close(ledger, &result), FSA_OK);
	memset(mapped, 0, sizeof(*mapped));
	assert_int_equal(runmap_walk_within(&opened, ledger, limit, on_tile, mapped, sums), FSA_OK);
	assert_int_equal(sums->total, TOY_SIZE);
	assert_int_equal(mapped->at, TOY_SIZE);
	assert_int_equal(sums->unexplained, 0);
	if (result.conflict_blocks == 0)
		for (unsigned p = 0; p < FSA_PURPOSES; p++)
			assert_int_equal(sums->purpose[p], result.purpose_bytes[p]);
	fsa_ledger_free(ledger);
	fsa_close(opened.fs);
	fsa_image_close(opened.images[0]);
	fsa_findings_free(findings);
}

static void test_runmap(void **state)
{
	static const unsigned faults[] = { 0, TOY_LOST, TOY_CONFLICT, TOY_USED_FREE };
	struct mapped *all = malloc(sizeof(*all)), *part = malloc(sizeof(*part));
	struct runmap_sums sums;

	(void)state;
	assert_non_null(all);
	assert_non_null(part);
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		map_of(faults[i], 1u << 20, all, &sums);
		assert_int_equal(sums.purpose[FSA_LOST] != 0, faults[i] == TOY_LOST);
		assert_int_equal(strstr(all->text, " 1\n") != NULL, faults[i] == TOY_CONFLICT);
		/* Several walks, each for a part: the same map. */
		map_of(faults[i], 4, part, &sums);
		assert_string_equal(all->text, part->text);
	}
	free(all);
	free(part);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields), cmocka_unit_test(test_names), cmocka_unit_test(test_records),
		cmocka_unit_test(test_sparse), cmocka_unit_test(test_failures), cmocka_unit_test(test_acl),
		cmocka_unit_test(test_extract_name), cmocka_unit_test(test_firstpath), cmocka_unit_test(test_runmap),
	};

	/* Names come back as the bytes they are in any locale; this one reads the others too. */
	setenv("LC_ALL", "C", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
