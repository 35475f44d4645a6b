/* SPDX-License-Identifier: GPL-2.0-only */
/* The dump stream: its records one by one, and a whole one of the toy format taken apart again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "analyzer/dump_private.h"
#include "fsa/bytes.h"
#include "toy_parser.h"

static uint32_t word(const uint8_t *record, unsigned at)
{
	return fsa_get_le32(record + at);
}

static uint32_t sum_of(const uint8_t *record)
{
	uint32_t sum = 0;

	for (unsigned i = 0; i < DUMP_RECORD; i += 4)
		sum += word(record, i);
	return sum;
}

static void test_header(void **state)
{
	const struct dump_inode inode = {
		.mode = 0100644, .links = 3, .size = 0x123456789, .uid = 70000, .gid = 4000000000u, .attributes = 0x80000,
		.mtime = { .sec = 1000000000, .nsec = 123456789, .set = true },
		.atime = { .sec = 5, .nsec = 0, .set = false },
	};
	uint8_t follows[DUMP_ADDRS] = { 1, 0, 1 };
	const struct dump_header header = { .type = DUMP_INODE, .number = 77, .count = 3, .inode = &inode, .follows = follows };
	const struct dump_stream stream = { .date = 99, .bytes = 5 * DUMP_RECORD, .label = "label" };
	uint8_t record[DUMP_RECORD];

	(void)state;
	dump_make_header(&stream, &header, record);
	assert_int_equal(sum_of(record), 84446);
	assert_int_equal(word(record, 0), 2);
	assert_int_equal(word(record, 4), 99);
	assert_int_equal(word(record, 12), 1);
	assert_int_equal(word(record, 16), 5);
	assert_int_equal(word(record, 20), 77);
	assert_int_equal(word(record, 24), 60012);
	assert_int_equal(fsa_get_le16(record + 32), 0100644);
	assert_int_equal(fsa_get_le16(record + 34), 3);
	assert_true(fsa_get_le64(record + 40) == 0x123456789);
	assert_int_equal(word(record, 48), 0);
	assert_int_equal(word(record, 56), 1000000000);
	assert_int_equal(word(record, 60), 123456);
	assert_int_equal(word(record, 132), 0x80000);
	assert_int_equal(word(record, 144), 70000);
	assert_int_equal(word(record, 148), 4000000000u);
	assert_int_equal(word(record, 160), 3);
	assert_memory_equal(record + 164, follows, 4);
	assert_string_equal((char *)record + 676, "label");
}

/* --- attributes ---------------------------------------------------------------------------------- */

static void test_xattr_block(void **state)
{
	static const uint8_t acl[] = { 2, 0, 0, 0, 1, 0, 6, 0, 255, 255, 255, 255, 2, 0, 4, 0, 9, 0, 0, 0,
				       4, 0, 4, 0, 255, 255, 255, 255, 16, 0, 4, 0, 255, 255, 255, 255,
				       32, 0, 0, 0, 255, 255, 255, 255 };
	static const uint8_t on_disk[] = { 1, 0, 0, 0, 1, 0, 6, 0, 2, 0, 4, 0, 9, 0, 0, 0, 4, 0, 4, 0, 16, 0, 4, 0, 32, 0, 0, 0 };
	struct dump_xattr_block block;
	const uint8_t *entry;

	(void)state;
	dump_xattr_begin(&block);
	assert_int_equal(dump_xattr_add(&block, "user.a", "value", 5), DUMP_XATTR_ADDED);
	assert_int_equal(dump_xattr_add(&block, "system.posix_acl_access", acl, sizeof(acl)), DUMP_XATTR_ADDED);
	assert_int_equal(dump_xattr_add(&block, "user.empty", "", 0), DUMP_XATTR_ADDED);
	assert_int_equal(dump_xattr_add(&block, "btrfs.compression", "x", 1), DUMP_XATTR_UNFIT);
	assert_int_equal(dump_xattr_add(&block, "user.", "x", 1), DUMP_XATTR_UNFIT);
	assert_int_equal(dump_xattr_add(&block, "system.posix_acl_accessory", "x", 1), DUMP_XATTR_UNFIT);
	assert_int_equal(dump_xattr_add(&block, "system.posix_acl_default", acl, 9), DUMP_XATTR_UNFIT);
	assert_int_equal(dump_xattr_end(&block), 1024);
	assert_int_equal(word(block.bytes, 0), 0xEA020000u);
	entry = block.bytes + 32;
	assert_int_equal(entry[0], 1);
	assert_int_equal(entry[1], 1);
	assert_int_equal(entry[16], 'a');
	assert_memory_equal(block.bytes + fsa_get_le16(entry + 2), "value", 5);
	entry += 20;
	assert_int_equal(entry[0], 0);
	assert_int_equal(entry[1], 2);
	assert_int_equal(word(entry, 8), sizeof(on_disk));
	assert_memory_equal(block.bytes + fsa_get_le16(entry + 2), on_disk, sizeof(on_disk));
	entry += 16;
	assert_int_equal(word(entry, 8), 0);
	entry += 24;
	assert_int_equal(word(entry, 0), 0);
}

static void test_xattr_room(void **state)
{
	static uint8_t big[DUMP_XATTR_BLOCK];
	struct dump_xattr_block block;

	(void)state;
	memset(big, 7, sizeof(big));
	dump_xattr_begin(&block);
	/* Head, entry with a name of one byte, four bytes of end. */
	assert_int_equal(dump_xattr_add(&block, "user.b", big, sizeof(big) - 32 - 20 - 4 + 1), DUMP_XATTR_UNFIT);
	assert_int_equal(dump_xattr_add(&block, "user.b", big, sizeof(big) - 32 - 20 - 4), DUMP_XATTR_ADDED);
	assert_int_equal(dump_xattr_add(&block, "user.c", big, 1), DUMP_XATTR_FULL);
	assert_int_equal(dump_xattr_end(&block), sizeof(big));
	assert_int_equal(word(block.bytes, 32 + 20), 0);
	assert_int_equal(block.bytes[32 + 20 + 4], 7);
}

/* --- numbers ------------------------------------------------------------------------------------- */

static void number(struct dump_inodes *inodes, const uint64_t *numbers, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct dumped inode = { .ref = { { numbers[i], i, 0 } }, .number = numbers[i] };
		bool fresh;

		assert_true(dump_add_inode(inodes, &inode, &fresh));
		assert_true(fresh);
		assert_true(dump_add_inode(inodes, &inode, &fresh));
		assert_false(fresh);
	}
	assert_true(dump_number_inodes(inodes));
	assert_int_equal(inodes->count, n);
	for (size_t i = 0; i < n; i++)
		assert_true(dump_find(inodes, (struct fsa_ref){ { numbers[i], i, 0 } })->number == numbers[i]);
}

static void test_numbers_kept(void **state)
{
	static const uint64_t numbers[] = { 2, 900, 11, 12 };
	static const uint64_t other_root[] = { 128, 131, 132 };
	struct dump_inodes inodes = { .list = NULL };

	(void)state;
	number(&inodes, numbers, 4);
	assert_false(inodes.renumbered);
	assert_int_equal(inodes.list[1].dumped, 11);
	assert_int_equal(inodes.highest, 900);
	dump_inodes_free(&inodes);
	number(&inodes, other_root, 3);
	assert_false(inodes.renumbered);
	assert_int_equal(inodes.list[0].dumped, DUMP_ROOT);
	assert_int_equal(inodes.list[2].dumped, 132);
	dump_inodes_free(&inodes);
}

static void test_numbers_given_anew(void **state)
{
	static const uint64_t large[] = { 256, UINT64_MAX, 5 };
	static const uint64_t taken[] = { 1, 2 };
	static const uint64_t twice[] = { 256, 257, 257 };
	struct dump_inodes inodes = { .list = NULL };

	(void)state;
	number(&inodes, large, 3);
	assert_true(inodes.renumbered);
	assert_int_equal(inodes.list[0].number, 256);
	assert_int_equal(inodes.list[1].number, 5);
	assert_int_equal(inodes.list[1].dumped, 3);
	assert_int_equal(inodes.list[2].dumped, 4);
	dump_inodes_free(&inodes);
	number(&inodes, taken, 2);
	assert_true(inodes.renumbered);
	dump_inodes_free(&inodes);
	number(&inodes, twice, 3);
	assert_true(inodes.renumbered);
	dump_inodes_free(&inodes);
}

/* --- a whole stream ------------------------------------------------------------------------------ */

struct stream {
	uint8_t *bytes;
	size_t length;
};

static int take(void *arg, const void *data, size_t length)
{
	struct stream *s = arg;

	s->bytes = realloc(s->bytes, s->length + length);
	assert_non_null(s->bytes);
	memcpy(s->bytes + s->length, data, length);
	s->length += length;
	return 0;
}

static void make_stream(struct stream *s, uint8_t *image_bytes, enum window_order order, struct dump_counts *counts,
			uint64_t *findings)
{
	struct opened opened = { .argument = "toy.img", .n_images = 1 };
	struct dump *d;

	*s = (struct stream){ NULL, 0 };
	opened.findings = fsa_findings_new(0);
	assert_non_null(opened.findings);
	assert_int_equal(toy_open(image_bytes, TOY_SIZE, opened.findings, &opened.images[0], &opened.fs), FSA_OK);
	d = dump_new(&opened, writebehind_new_to(take, s, NULL, NULL), order, NULL);
	assert_non_null(d);
	assert_int_equal(dump_write(d), FSA_OK);
	assert_int_equal(dump_error(d), 0);
	*counts = dump_counts(d);
	dump_free(d);
	*findings = fsa_findings_count(opened.findings);
	open_close(&opened);
}

/* The next header; its records start behind it. */
static const uint8_t *next_header(const struct stream *s, size_t *at)
{
	const uint8_t *record = s->bytes + *at;

	assert_true(*at + DUMP_RECORD <= s->length);
	assert_int_equal(word(record, 24), 60012);
	assert_int_equal(sum_of(record), 84446);
	assert_int_equal(word(record, 16), *at / DUMP_RECORD);
	*at += DUMP_RECORD;
	if (word(record, 0) == DUMP_CLRI || word(record, 0) == DUMP_BITS)
		*at += (size_t)word(record, 160) * DUMP_RECORD;
	else
		for (unsigned i = 0; i < word(record, 160); i++)
			*at += record[164 + i] ? DUMP_RECORD : 0;
	return record;
}

/* The number that a directory's records give a name; 0 when it is not there. */
static uint32_t entry_of(const uint8_t *directory, size_t size, const char *name)
{
	for (size_t at = 0; at < size;) {
		const unsigned length = fsa_get_le16(directory + at + 4);

		assert_true(length >= 12 && length % 4 == 0 && at / 512 == (at + length - 1) / 512);
		if (directory[at + 7] == strlen(name) && memcmp(directory + at + 8, name, strlen(name)) == 0) {
			assert_int_equal(directory[at + 8 + strlen(name)], 0);
			return word(directory, (unsigned)at);
		}
		at += length;
	}
	return 0;
}

static void test_whole(void **state)
{
	static uint8_t image[TOY_SIZE];
	const uint8_t *header, *map;
	struct dump_counts counts;
	uint64_t findings;
	struct stream s;
	size_t at = 0;

	(void)state;
	toy_make(image, 0);
	make_stream(&s, image, WINDOW_PHYSICAL, &counts, &findings);
	assert_int_equal(findings, 0);
	assert_int_equal(counts.inodes, 7);
	assert_int_equal(counts.renumbered, 7);
	assert_int_equal(s.length % (32 * DUMP_RECORD), 0);
	assert_int_equal(word(next_header(&s, &at), 0), DUMP_TAPE);
	header = next_header(&s, &at);
	assert_int_equal(word(header, 0), DUMP_CLRI);
	map = header + DUMP_RECORD;
	/* Numbers 2 to 8. */
	assert_int_equal(map[0], 0xfe);
	assert_int_equal(map[1], 0);
	assert_int_equal(word(next_header(&s, &at), 0), DUMP_BITS);
	header = next_header(&s, &at);
	assert_int_equal(word(header, 20), DUMP_ROOT);
	assert_int_equal(entry_of(header + DUMP_RECORD, 512, "."), 2);
	assert_int_equal(entry_of(header + DUMP_RECORD, 512, ".."), 2);
	assert_int_equal(entry_of(header + DUMP_RECORD, 512, "hello"), 3);
	assert_int_equal(entry_of(header + DUMP_RECORD, 512, "dir"), 4);
	header = next_header(&s, &at);
	assert_int_equal(word(header, 20), 4);
	assert_int_equal(entry_of(header + DUMP_RECORD, 512, ".."), 2);
	assert_int_equal(entry_of(header + DUMP_RECORD, 512, "hard"), 3);
	assert_int_equal(entry_of(header + DUMP_RECORD, 512, "\xff\x01"), 8);
	header = next_header(&s, &at);
	assert_int_equal(word(header, 20), 3);
	assert_int_equal(word(header, 40), 1000);
	assert_int_equal(word(header, 160), 1);
	/* 10000 bytes with a hole from 4096 to 6144: records 4 and 5 are not there. */
	header = next_header(&s, &at);
	assert_int_equal(word(header, 20), 5);
	assert_int_equal(word(header, 160), 10);
	for (unsigned i = 0; i < 10; i++)
		assert_int_equal(header[164 + i], i != 4 && i != 5);
	header = next_header(&s, &at);
	assert_int_equal(word(header, 20), 6);
	assert_int_equal(fsa_get_le16(header + 32) & 0170000, 0120000);
	assert_string_equal((const char *)header + DUMP_RECORD, "hello");
	assert_int_equal(word(next_header(&s, &at), 20), 7);
	header = next_header(&s, &at);
	assert_int_equal(word(header, 20), 8);
	assert_int_equal(word(header, 160), 0);
	while (at < s.length)
		assert_int_equal(word(next_header(&s, &at), 0), DUMP_END);
	free(s.bytes);
}

/* The order of reading shows in no byte. */
static void test_orders(void **state)
{
	static uint8_t image[TOY_SIZE];
	struct dump_counts counts;
	struct stream first, s;
	uint64_t findings;

	(void)state;
	toy_make(image, 0);
	make_stream(&first, image, WINDOW_DIRECTORY, &counts, &findings);
	for (enum window_order order = WINDOW_INODE; order <= WINDOW_PHYSICAL; order++) {
		make_stream(&s, image, order, &counts, &findings);
		assert_int_equal(s.length, first.length);
		assert_memory_equal(s.bytes, first.bytes, s.length);
		free(s.bytes);
	}
	free(first.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_header),
		cmocka_unit_test(test_xattr_block),
		cmocka_unit_test(test_xattr_room),
		cmocka_unit_test(test_numbers_kept),
		cmocka_unit_test(test_numbers_given_anew),
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_orders),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
