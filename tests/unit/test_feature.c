/* SPDX-License-Identifier: GPL-2.0-only */
/* Feature words: names, unknown bits, refusals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "feature.h"

static const struct feature_bit bits[] = {
	{ 0, 0x1, { "journal", NULL }, false },
	{ 0, 0x80000000u, { "top", "a hint" }, false },
	{ 1, 0x1, { "zoned", "zones are not read" }, true },
	{ 1, 0x2, { "journal", NULL }, false },
	{ 1, UINT64_C(1) << 63, { "last", NULL }, false },
};

static struct feature_set read_set(uint64_t first, uint64_t second, enum feature_unknown how, struct fsa_findings *f)
{
	const struct feature_word words[] = { { "compatible", first, UNKNOWN_NOTED }, { "incompatible", second, how } };
	struct feature_set set = { 0 };

	features_read(&set, bits, sizeof(bits) / sizeof(bits[0]), words, 2, f, 0x400);
	return set;
}

static void test_names(void **state)
{
	struct feature_set s = read_set(0x80000001u, UINT64_C(1) << 63 | 0x2, UNKNOWN_REFUSED, NULL);

	(void)state;
	assert_int_equal(s.count, 3);	/* "journal" is in both words */
	assert_string_equal(s.names[0], "journal");
	assert_string_equal(s.names[1], "top");
	assert_string_equal(s.names[2], "last");
	assert_null(s.names[3]);
	assert_int_equal(features_judge(&s, "i", "toy", 0x400, false, NULL, NULL), FSA_OK);
}

static void test_refused(void **state)
{
	struct fsa_findings *f = fsa_findings_new(0);
	struct feature_set s = read_set(0x6, 0x11, UNKNOWN_REFUSED, f);
	struct fsa_error err = { 0 };

	(void)state;
	assert_string_equal(s.unknown[0], "unknown compatible 0x6");
	assert_string_equal(s.unknown[1], "unknown incompatible 0x10");
	assert_string_equal(s.refused, "zoned (zones are not read), unknown incompatible 0x10");
	assert_int_equal(fsa_findings_count(f), 0);
	assert_int_equal(features_judge(&s, "i", "toy", 0x400, false, f, &err), FSA_EUNSUPPORTED);
	assert_non_null(strstr(err.message, "i: toy: superblock @0x400: incompatible features not supported: zoned"));
	assert_int_equal(fsa_findings_count(f), 0);
	assert_int_equal(features_judge(&s, "i", "toy", 0x400, true, f, &err), FSA_OK);
	assert_int_equal(fsa_findings_count(f), 1);
	assert_int_equal(fsa_findings_at(f, 0)->offset, 0x400);
	fsa_findings_free(f);
}

static void test_found(void **state)
{
	struct fsa_findings *f = fsa_findings_new(0);
	struct feature_set s = read_set(0, 0x30, UNKNOWN_FOUND, f);

	(void)state;
	assert_string_equal(s.refused, "");
	assert_int_equal(fsa_findings_count(f), 1);
	assert_string_equal(fsa_findings_at(f, 0)->message, "feature bits 0x30 are incompatible and unknown");
	s = read_set(0, 0x40, UNKNOWN_FOUND_AND_REFUSED, f);
	assert_string_equal(s.refused, "unknown incompatible 0x40");
	assert_int_equal(fsa_findings_count(f), 2);
	fsa_findings_free(f);
}

static void test_added(void **state)
{
	struct feature_set s = read_set(0x1, 0, UNKNOWN_FOUND, NULL);

	(void)state;
	features_add(&s, "plain", NULL);
	assert_string_equal(s.refused, "");
	features_add(&s, "old", "of version 0");
	assert_string_equal(s.refused, "old (of version 0)");
	assert_int_equal(s.count, 3);
	/* However many there are, the list ends with NULL and the text stays inside. */
	for (unsigned i = 0; i < 4 * FSA_MAX_FEATURES; i++) {
		static char names[4 * FSA_MAX_FEATURES][24];

		snprintf(names[i], sizeof(names[i]), "feature number %u", i);
		features_add(&s, names[i], "a reason that takes some room");
	}
	assert_int_equal(s.count, FSA_MAX_FEATURES - 1);
	assert_null(s.names[s.count]);
	assert_true(strlen(s.refused) < sizeof(s.refused));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_found),
		cmocka_unit_test(test_added),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
