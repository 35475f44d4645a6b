/* SPDX-License-Identifier: GPL-2.0-only */
/* Files through their extents, against a made-up format. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mock_fs.h"

struct collected {
	char text[2048];	/* "D0+10" data, H hole, ... in the order they came */
};

static enum fsa_status collect_extent(void *arg, const struct fsa_extent *e)
{
	struct collected *c = arg;
	size_t used = strlen(c->text);

	snprintf(c->text + used, sizeof(c->text) - used, "%s%c%llu+%llu", used ? " " : "", "DHUPEX"[e->kind],
		 (unsigned long long)e->logical, (unsigned long long)e->length);
	return FSA_OK;
}

static enum fsa_status collect_bytes(void *arg, const void *data, uint64_t length, bool unreadable)
{
	struct collected *c = arg;
	size_t used = strlen(c->text);

	snprintf(c->text + used, sizeof(c->text) - used, "%s%c%llu", used ? " " : "",
		 unreadable ? 'x' : data ? 'd' : '0', (unsigned long long)length);
	return FSA_OK;
}

/* Puts the bytes together; 'x' counts what could not be read. */
struct whole {
	uint8_t *bytes;
	uint64_t room, length, bad;
};

static enum fsa_status collect_whole(void *arg, const void *data, uint64_t length, bool unreadable)
{
	struct whole *w = arg;

	assert_true(length > 0 && length <= w->room - w->length);
	if (data)
		memcpy(w->bytes + w->length, data, length);
	else
		memset(w->bytes + w->length, 0, length);
	w->length += length;
	w->bad += unreadable ? length : 0;
	return FSA_OK;
}

#define T (1ull << 40)

static void test_extents(void **state)
{
	static const struct fsa_extent plain[] = {
		{ .kind = FSA_EXTENT_DATA, .logical = 100, .length = 50, .physical = 0 },
		{ .kind = FSA_EXTENT_DATA, .logical = 150, .length = 50, .physical = 500 },
		{ .kind = FSA_EXTENT_UNWRITTEN, .logical = 300, .length = 500, .physical = 0 },
		{ .kind = FSA_EXTENT_HOLE, .logical = 900, .length = 500, .physical = FSA_NO_OFFSET },
		{ .kind = FSA_EXTENT_HOLE, .logical = 1500, .length = 500, .physical = FSA_NO_OFFSET },
		{ .kind = FSA_EXTENT_DATA, .logical = 3000, .length = 50, .physical = 0 },
	};
	static const struct fsa_extent bad[] = {
		{ .kind = FSA_EXTENT_DATA, .logical = 100, .length = 50, .physical = 0 },
		{ .kind = FSA_EXTENT_DATA, .logical = 149, .length = 50, .physical = 0 },
		{ .kind = FSA_EXTENT_DATA, .logical = 150, .length = 0, .physical = 0 },
		{ .kind = FSA_EXTENT_DATA, .logical = UINT64_MAX - 5, .length = 10, .physical = 0 },
		{ .kind = FSA_EXTENT_DATA, .logical = 200, .length = 10, .physical = 0 },
	};
	static const struct mock_inode inodes[] = {
		{ FILE_OF(plain, 1000) },
		{ FILE_OF(bad, 1000) },
		{ FILE_OF(bad, 1000), .after = FSA_EDAMAGED },
		{ .type = FSA_TYPE_REGULAR, .size = T },
		{ .type = FSA_TYPE_REGULAR, .size = 0 },
	};
	struct mock_fs f;
	struct collected c = { "" };

	(void)state;
	mock_begin(&f, inodes, sizeof(inodes) / sizeof(inodes[0]));
	assert_int_equal(fsa_file_extents(&f.fs, mock_ref(0), 1000, collect_extent, &c), FSA_OK);
	assert_string_equal(c.text, "H0+100 D100+50 D150+50 H200+100 U300+500 H800+100 H900+100 D3000+50");
	assert_int_equal(fsa_findings_count(f.fs.findings), 0);

	c.text[0] = '\0';
	assert_int_equal(fsa_file_extents(&f.fs, mock_ref(1), 1000, collect_extent, &c), FSA_OK);
	assert_string_equal(c.text, "H0+100 D100+50 H150+50 D200+10 H210+790");
	assert_int_equal(fsa_findings_count(f.fs.findings), 3);

	c.text[0] = '\0';
	assert_int_equal(fsa_file_extents(&f.fs, mock_ref(2), 1000, collect_extent, &c), FSA_EDAMAGED);
	assert_string_equal(c.text, "H0+100 D100+50 H150+50 D200+10 X210+790");

	c.text[0] = '\0';
	assert_int_equal(fsa_file_read(&f.fs, mock_ref(3), T, collect_bytes, &c), FSA_OK);
	assert_string_equal(c.text, "01099511627776");

	c.text[0] = '\0';
	assert_int_equal(fsa_file_read(&f.fs, mock_ref(4), 0, collect_bytes, &c), FSA_OK);
	assert_string_equal(c.text, "");
	mock_end(&f);
}

static void test_read_data(void **state)
{
	static const uint8_t tail[3] = { 7, 8, 9 };
	static const struct fsa_extent list[] = {
		{ .kind = FSA_EXTENT_DATA, .logical = 0, .length = 2500000, .physical = 12345 },
		{ .kind = FSA_EXTENT_PACKED, .logical = 2600000, .length = 3, .bytes = tail,
		  .physical = FSA_NO_OFFSET },
		{ .kind = FSA_EXTENT_DATA, .logical = 2600003, .length = 4096, .physical = 0 },
		{ .kind = FSA_EXTENT_DATA, .logical = 2700000, .length = 4096, .physical = 0 },
	};
	static const struct mock_inode inodes[] = { { FILE_OF(list, 2600103) } };
	struct whole w = { .room = 2600103 };
	struct mock_fs f;

	(void)state;
	mock_begin(&f, inodes, 1);
	w.bytes = malloc(w.room);
	assert_non_null(w.bytes);
	assert_int_equal(fsa_file_read(&f.fs, mock_ref(0), w.room, collect_whole, &w), FSA_OK);
	assert_int_equal(w.length, w.room);
	assert_int_equal(w.bad, 0);
	assert_memory_equal(w.bytes, f.bytes + 12345, 2500000);
	for (size_t i = 2500000; i < 2600000; i++)
		assert_int_equal(w.bytes[i], 0);
	assert_memory_equal(w.bytes + 2600000, tail, 3);
	assert_memory_equal(w.bytes + 2600003, f.bytes, 100);
	assert_int_equal(fsa_findings_count(f.fs.findings), 0);
	free(w.bytes);
	mock_end(&f);
}

static enum fsa_status stop_at_once(void *arg, const void *data, uint64_t length, bool unreadable)
{
	(void)data;
	(void)length;
	(void)unreadable;
	++*(unsigned *)arg;
	return FSA_STOP;
}

static void test_read_damage(void **state)
{
	static const struct fsa_extent list[] = {
		{ .kind = FSA_EXTENT_DATA, .logical = 0, .length = T, .physical = MOCK_IMAGE_SIZE - 100 },
		{ .kind = FSA_EXTENT_DATA, .logical = T, .length = 10, .physical = UINT64_MAX - 5 },
		{ .kind = FSA_EXTENT_DATA, .logical = T + 10, .length = 10, .device = 3, .physical = 0 },
		{ .kind = FSA_EXTENT_UNREADABLE, .logical = T + 20, .length = 10, .physical = FSA_NO_OFFSET },
	};
	static const struct mock_inode inodes[] = {
		{ FILE_OF(list, T + 50) },
		{ FILE_OF(list, T + 50), .after = FSA_EDAMAGED },
		{ .type = FSA_TYPE_REGULAR, .size = 10, .after = FSA_EUNSUPPORTED },
	};
	struct collected c = { "" };
	struct mock_fs f;
	unsigned calls = 0;

	(void)state;
	mock_begin(&f, inodes, 3);
	assert_int_equal(fsa_file_read(&f.fs, mock_ref(0), T + 50, collect_bytes, &c), FSA_OK);
	assert_string_equal(c.text, "d100 x1099511627676 x10 x10 x10 020");
	assert_true(mock_found(&f, "behind the end of the image, 3145728"));
	assert_true(mock_found(&f, "device 3"));

	c.text[0] = '\0';
	assert_int_equal(fsa_file_read(&f.fs, mock_ref(1), T + 50, collect_bytes, &c), FSA_OK);
	assert_string_equal(c.text, "d100 x1099511627676 x10 x10 x10 x20");

	c.text[0] = '\0';
	assert_int_equal(fsa_file_read(&f.fs, mock_ref(2), 10, collect_bytes, &c), FSA_OK);
	assert_string_equal(c.text, "x10");
	assert_true(mock_found(&f, "not supported"));

	assert_int_equal(fsa_file_read(&f.fs, mock_ref(0), T + 50, stop_at_once, &calls), FSA_STOP);
	assert_int_equal(calls, 1);
	mock_end(&f);
}

static void test_read_encoded(void **state)
{
#define ENCODED(at, len, from, whole, c0, c1) \
	{ .kind = FSA_EXTENT_ENCODED, .logical = at, .length = len, .physical = 4096, .encoded_length = 50, \
	  .decoded_length = whole, .decoded_offset = from, .encoding = "letters", .cookie = { c0, c1 } }
	static const struct fsa_extent list[] = {
		ENCODED(0, 10, 5, 100, 'a', 0),
		ENCODED(10, 5, 0, 100, 'a', 0),
		ENCODED(15, 5, 0, 100, 'A', 0),
		ENCODED(20, 5, 0, 100, 'A', 1),
		ENCODED(25, 5, 96, 100, 'A', 0),
		ENCODED(30, 5, UINT64_MAX, 100, 'A', 0),
		ENCODED(35, 5, 0, (128u << 20) + 1, 'A', 0),
		ENCODED(40, 5, 0, UINT64_MAX, 'A', 0),
		ENCODED(45, 5, 0, 10, 'b', 0),
	};
	static const struct mock_inode inodes[] = { { FILE_OF(list, 50) } };
	struct whole w = { .room = 50 };
	struct mock_fs f;
	uint8_t bytes[51] = { 0 };

	(void)state;
	mock_begin(&f, inodes, 1);
	w.bytes = bytes;
	assert_int_equal(fsa_file_read(&f.fs, mock_ref(0), 50, collect_whole, &w), FSA_OK);
	assert_int_equal(w.length, 50);
	assert_int_equal(w.bad, 25);
	assert_memory_equal(bytes, "fghijklmnoabcdeABCDE", 20);
	assert_memory_equal(bytes + 45, "bcdef", 5);
	/* The second piece came from the cache; refused lengths never reached the decoder. */
	assert_int_equal(f.mock.decodes, 4);
	assert_true(mock_found(&f, "cannot be decoded"));
	assert_true(mock_found(&f, "at most 134217728 are possible"));
	mock_end(&f);
}

/* Any part of a file is what the whole file has there. */
static void test_read_part(void **state)
{
	static const uint8_t packed[100] = { 1, 2, 3, [99] = 4 };
	static const struct fsa_extent list[] = {
		{ .kind = FSA_EXTENT_DATA, .logical = 0, .length = 100, .physical = 5000 },
		{ .kind = FSA_EXTENT_PACKED, .logical = 150, .length = 100, .bytes = packed,
		  .physical = FSA_NO_OFFSET },
		{ .kind = FSA_EXTENT_ENCODED, .logical = 250, .length = 50, .physical = 4096,
		  .encoded_length = 5, .decoded_length = 90, .decoded_offset = 7, .encoding = "letters",
		  .cookie = { 'a', 0 } },
		{ .kind = FSA_EXTENT_DATA, .logical = 300, .length = 200, .physical = 9000 },
	};
	static const struct mock_inode inodes[] = { { FILE_OF(list, 400) } };
	static const uint64_t from[] = { 0, 1, 50, 99, 100, 149, 150, 200, 249, 251, 299, 300, 399, 400, 1000 };
	static const uint64_t lengths[] = { 0, 1, 10, 60, 200, 399, 400, 1000, UINT64_MAX };
	uint8_t bytes[400], part[400];
	struct whole w = { .bytes = bytes, .room = 400 };
	struct mock_fs f;

	(void)state;
	mock_begin(&f, inodes, 1);
	assert_int_equal(fsa_file_read(&f.fs, mock_ref(0), 400, collect_whole, &w), FSA_OK);
	assert_int_equal(w.length, 400);
	for (size_t i = 0; i < sizeof(from) / sizeof(from[0]); i++) {
		for (size_t j = 0; j < sizeof(lengths) / sizeof(lengths[0]); j++) {
			uint64_t left = from[i] < 400 ? 400 - from[i] : 0;
			uint64_t expected = lengths[j] < left ? lengths[j] : left;
			struct whole p = { .bytes = part, .room = 400 };

			assert_int_equal(fsa_file_read_part(&f.fs, mock_ref(0), 400, from[i], lengths[j],
							    collect_whole, &p), FSA_OK);
			assert_int_equal(p.length, expected);
			if (expected)
				assert_memory_equal(part, bytes + from[i], expected);
		}
	}
	assert_int_equal(fsa_findings_count(f.fs.findings), 0);
	mock_end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_extents),
		cmocka_unit_test(test_read_data),
		cmocka_unit_test(test_read_part),
		cmocka_unit_test(test_read_damage),
		cmocka_unit_test(test_read_encoded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
