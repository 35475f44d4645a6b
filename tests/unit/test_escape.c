/* SPDX-License-Identifier: GPL-2.0-only */
/* Names made fit to be shown, the way back, and numbers as text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "analyzer/cli.h"
#include "analyzer/escape.h"
#include "analyzer/format.h"

static void check(const char *bytes, size_t length, const char *expected)
{
	char *text = escape_new(bytes, length);
	size_t back;

	assert_non_null(text);
	assert_string_equal(text, expected);
	assert_true(escape_undo(text, &back));
	assert_int_equal(back, length);
	assert_memory_equal(text, bytes, length);
	free(text);
}

static void test_shown_as_it_is(void **state)
{
	(void)state;
	check("", 0, "");
	check("plain name.txt", 14, "plain name.txt");
	check("Gr\xc3\xbc\xc3\x9f" "e \xe2\x82\xac \xf0\x9f\x98\x80", 16, "Gr\xc3\xbc\xc3\x9f" "e \xe2\x82\xac \xf0\x9f\x98\x80");
}

static void test_escaped(void **state)
{
	(void)state;
	check("a\nb", 3, "a\\x0ab");
	check("\x1b[31m", 5, "\\x1b[31m");
	check("\x7f", 1, "\\x7f");
	check("\0", 1, "\\x00");
	check("back\\slash", 10, "back\\\\slash");
	check("\\x41", 4, "\\\\x41");
	/* C1 controls, right-to-left override, zero width space */
	check("\xc2\x9b", 2, "\\xc2\\x9b");
	check("a\xe2\x80\xae" "b", 5, "a\\xe2\\x80\\xae" "b");
	check("\xe2\x80\x8b", 3, "\\xe2\\x80\\x8b");
}

static void test_not_utf8(void **state)
{
	(void)state;
	check("\xff", 1, "\\xff");
	check("caf\xe9", 4, "caf\\xe9");
	check("\xc3", 1, "\\xc3");
	check("\xc3(", 2, "\\xc3(");
	/* overlong, surrogate, above the last code point */
	check("\xc0\xaf", 2, "\\xc0\\xaf");
	check("\xe0\x80\xaf", 3, "\\xe0\\x80\\xaf");
	check("\xed\xa0\x80", 3, "\\xed\\xa0\\x80");
	check("\xf4\x90\x80\x80", 4, "\\xf4\\x90\\x80\\x80");
	assert_false(escape_is_utf8("\xed\xa0\x80", 3));
	assert_false(escape_is_utf8("\xe2\x82", 2));
	assert_true(escape_is_utf8("\xe2\x82\xac\n", 4));
}

/* Every byte and every pair of bytes comes back, and nothing that steers a terminal gets through. */
static void test_all_pairs(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 65536; i++) {
		const char bytes[2] = { (char)(i >> 8), (char)(i & 255) };
		char text[16];
		size_t back;

		assert_true(escape(text, sizeof(text), bytes, 2) < sizeof(text));
		assert_true(escape_is_utf8(text, strlen(text)));
		for (const char *p = text; *p != '\0'; p++)
			assert_true((unsigned char)*p >= 0x20 && *p != 0x7f);
		assert_true(escape_undo(text, &back));
		assert_int_equal(back, 2);
		assert_memory_equal(text, bytes, 2);
	}
}

static void test_cut(void **state)
{
	char text[8];

	(void)state;
	/* as snprintf, but an escape is never cut in two */
	assert_int_equal(escape(text, sizeof(text), "ab\x01\x02", 4), 10);
	assert_string_equal(text, "ab\\x01");
	assert_int_equal(escape(text, 1, "a", 1), 1);
	assert_string_equal(text, "");
	assert_int_equal(escape(NULL, 0, "a\n", 2), 5);
}

static void test_undo_refuses(void **state)
{
	char bad[][8] = { "\\", "\\x1", "\\xg0", "\\y", "\\x0G", "a\\" };
	size_t length;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(escape_undo(bad[i], &length));
}

static void test_base64(void **state)
{
	static const struct { const char *bytes, *expected; } cases[] = {
		{ "", "" }, { "f", "Zg==" }, { "fo", "Zm8=" }, { "foo", "Zm9v" }, { "foob", "Zm9vYg==" },
		{ "fooba", "Zm9vYmE=" }, { "foobar", "Zm9vYmFy" }, { "\xff\xfe\xfd", "//79" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = escape_base64(cases[i].bytes, strlen(cases[i].bytes));

		assert_non_null(text);
		assert_string_equal(text, cases[i].expected);
		free(text);
	}
}

static void test_numbers(void **state)
{
	(void)state;
	assert_string_equal(format_human(0).text, "0B");
	assert_string_equal(format_human(1023).text, "1023B");
	assert_string_equal(format_human(1024).text, "1K");
	assert_string_equal(format_human(1536).text, "1.5K");
	assert_string_equal(format_human(1048575).text, "1M");
	assert_string_equal(format_human(UINT64_C(1288490189)).text, "1.2G");
	assert_string_equal(format_human(UINT64_MAX).text, "16E");
	assert_string_equal(format_human_signed(-1536).text, "-1.5K");
	assert_string_equal(format_human_signed(INT64_MIN).text, "-8E");
	assert_string_equal(format_size(1536, true).text, "1536");
	assert_string_equal(format_count(0).text, "0");
	assert_string_equal(format_count(999).text, "999");
	assert_string_equal(format_count(1000).text, "1,000");
	assert_string_equal(format_count(UINT64_MAX).text, "18,446,744,073,709,551,615");
	assert_string_equal(format_percent(1, 3).text, "33.3 %");
	assert_string_equal(format_percent(0, 3).text, "0.0 %");
	assert_string_equal(format_percent(1, 100000).text, "<0.1 %");
	assert_string_equal(format_percent(99999, 100000).text, ">99.9 %");
	assert_string_equal(format_percent(3, 3).text, "100.0 %");
	assert_string_equal(format_percent(1, 0).text, "-");
}

static void test_sizes_from_text(void **state)
{
	static const struct { const char *text; uint64_t bytes; } good[] = {
		{ "0", 0 }, { "512", 512 }, { "0x200", 512 }, { "1K", 1024 }, { "1k", 1024 }, { "2MiB", 2 << 20 },
		{ "3MB", 3000000 }, { "1G", 1 << 30 }, { "18446744073709551615", UINT64_MAX },
		{ "010", 10 },
	};
	static const char *const bad[] = {
		"", "K", "-1", "+1", " 1", "1 ", "1KK", "1Ki", "1X", "1B", "16E", "18446744073709551616", "0x",
		"1.5G",
	};
	uint64_t bytes;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_true(cli_parse_size(good[i].text, &bytes));
		assert_true(bytes == good[i].bytes);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(cli_parse_size(bad[i], &bytes));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shown_as_it_is),
		cmocka_unit_test(test_escaped),
		cmocka_unit_test(test_not_utf8),
		cmocka_unit_test(test_all_pairs),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_undo_refuses),
		cmocka_unit_test(test_base64),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_sizes_from_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
