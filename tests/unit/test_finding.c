/* SPDX-License-Identifier: GPL-2.0-only */
/* The collection of findings: bound, repeats, order, muting. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fsa/finding.h"

static void test_kept_and_dropped(void **state)
{
	struct fsa_findings *f = fsa_findings_new(3);

	(void)state;
	assert_non_null(f);
	for (unsigned i = 0; i < 5; i++)
		fsa_find(f, "inode", i, i * 256, "link count %u", i);
	assert_int_equal(fsa_findings_count(f), 3);
	assert_int_equal(fsa_findings_dropped(f), 2);
	assert_string_equal(fsa_findings_at(f, 2)->message, "link count 2");
	assert_int_equal(fsa_findings_at(f, 2)->offset, 512);
	assert_null(fsa_findings_at(f, 3));
	fsa_findings_free(f);
}

static void test_repeats(void **state)
{
	struct fsa_findings *f = fsa_findings_new(0);

	(void)state;
	for (int i = 0; i < 3; i++) {
		fsa_find(f, "inode", 12, 100, "the same");
		fsa_find(f, "inode", 12, 101, "the same");
		fsa_find(f, "inode", 13, 100, "the same");
		fsa_find(f, "group", 12, 100, "the same");
		fsa_find(f, "inode", 12, 100, "another");
		fsa_find_on(f, 1, "inode", 12, 100, "the same");
	}
	assert_int_equal(fsa_findings_count(f), 6);
	assert_int_equal(fsa_findings_dropped(f), 0);
	fsa_findings_free(f);
}

static void test_default_limit(void **state)
{
	struct fsa_findings *f = fsa_findings_new(0);

	(void)state;
	for (unsigned i = 0; i < 10050; i++)
		fsa_find(f, "block", i, FSA_NO_OFFSET, "lost");
	assert_int_equal(fsa_findings_count(f), 10000);
	assert_int_equal(fsa_findings_dropped(f), 50);
	fsa_findings_free(f);
}

static void test_order(void **state)
{
	struct fsa_findings *f = fsa_findings_new(0);
	static const char *const want[] = { "a", "b", "c", "d", "e", "f" };

	(void)state;
	fsa_find_on(f, 1, "group", 0, 5, "f");
	fsa_find(f, "inode", 3, 100, "d");
	fsa_find(f, "group", 7, FSA_NO_OFFSET, "e");
	fsa_find(f, "inode", 2, 100, "c");
	fsa_find(f, "group", 9, 100, "b");
	fsa_find(f, "inode", 9, 50, "a");
	fsa_findings_sort(f);
	for (size_t i = 0; i < 6; i++)
		assert_string_equal(fsa_findings_at(f, i)->message, want[i]);
	fsa_findings_free(f);
}

static void test_mute_and_none(void **state)
{
	struct fsa_findings *f = fsa_findings_new(0);

	(void)state;
	fsa_findings_mute(f, true);
	fsa_find(f, "inode", 1, 0, "not heard");
	fsa_findings_mute(f, false);
	fsa_find(f, "inode", 1, 0, "heard");
	assert_int_equal(fsa_findings_count(f), 1);
	assert_int_equal(fsa_findings_dropped(f), 0);
	fsa_findings_free(f);
	fsa_find(NULL, "inode", 1, 0, "nobody listens");
	fsa_findings_free(NULL);
}

static void test_long_message(void **state)
{
	struct fsa_findings *f = fsa_findings_new(0);
	char text[5000];

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	fsa_find(f, "inode", 1, 0, "%s", text);
	assert_int_equal(fsa_findings_count(f), 1);
	assert_true(strlen(fsa_findings_at(f, 0)->message) > 100);
	fsa_findings_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kept_and_dropped),
		cmocka_unit_test(test_repeats),
		cmocka_unit_test(test_default_limit),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_mute_and_none),
		cmocka_unit_test(test_long_message),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
