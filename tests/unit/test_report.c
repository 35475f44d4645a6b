/* SPDX-License-Identifier: GPL-2.0-only */
/* The JSON report and the comparison, over audits of the toy format. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "analyzer/compare.h"
#include "analyzer/json.h"
#include "analyzer/report.h"
#include "toy_parser.h"

struct fixture {
	uint8_t bytes[TOY_SIZE];
	struct opened opened;
	struct assay assay;
};

static void begin(struct fixture *x, unsigned faults, const char *name)
{
	memset(x, 0, sizeof(*x));
	toy_make(x->bytes, faults);
	x->opened.argument = name;
	x->opened.findings = fsa_findings_new(0);
	assert_non_null(x->opened.findings);
	assert_int_equal(toy_open(x->bytes, TOY_SIZE, x->opened.findings, &x->opened.images[0], &x->opened.fs),
			 FSA_OK);
	x->opened.n_images = 1;
	assert_int_equal(toy_parser.summary(x->opened.fs, &x->opened.summary), FSA_OK);
	assert_int_not_equal(assay_run(&x->assay, &x->opened, false), CLI_FAILED);
}

static void end(struct fixture *x)
{
	assay_free(&x->assay);
	open_close(&x->opened);
}

static json_int_t number(const json_t *object, const char *group, const char *key)
{
	const json_t *value = json_object_get(json_object_get(object, group), key);

	assert_true(json_is_integer(value));
	return json_integer_value(value);
}

static void test_every_byte_once(void **state)
{
	struct fixture x;
	json_t *report, *row, *ledger;
	json_int_t sum = 0;
	size_t i;

	(void)state;
	begin(&x, TOY_LOST, "toy.img");
	report = report_json(&x.assay);
	assert_non_null(report);
	ledger = json_object_get(report, "ledger");
	assert_int_equal(json_array_size(ledger), FSA_PURPOSES);
	json_array_foreach(ledger, i, row) {
		json_int_t details = 0;
		json_t *detail;
		size_t k;

		assert_string_equal(json_string_value(json_object_get(row, "purpose")),
				    fsa_purpose_name((enum fsa_purpose)i));
		sum += json_integer_value(json_object_get(row, "bytes"));
		json_array_foreach(json_object_get(row, "details"), k, detail)
			details += json_integer_value(json_object_get(detail, "bytes"));
		if (json_array_size(json_object_get(row, "details")) != 0)
			assert_int_equal(details, json_integer_value(json_object_get(row, "bytes")));
	}
	assert_int_equal(sum, TOY_SIZE);
	assert_int_equal(number(report, "image", "size_bytes"), TOY_SIZE);
	assert_int_equal(number(report, "reconciliation", "lost_blocks"), 3);
	assert_int_equal(number(report, "figures", "payload_bytes"), TOY_PAYLOAD);
	assert_int_equal(number(report, "bridge", "unexplained_bytes"), 0);
	assert_int_equal(number(report, "df", "size_kib"), 123);
	assert_int_equal(json_array_size(json_object_get(report, "findings")), 1);
	json_decref(report);
	end(&x);
}

static void test_name_that_is_not_utf8(void **state)
{
	struct fixture x;
	json_t *report, *image;

	(void)state;
	begin(&x, 0, "caf\xe9.img");
	report = report_json(&x.assay);
	assert_non_null(report);
	image = json_object_get(report, "image");
	assert_string_equal(json_string_value(json_object_get(image, "path")), "caf\\xe9.img");
	assert_string_equal(json_string_value(json_object_get(image, "path_base64")), "Y2Fm6S5pbWc=");
	json_decref(report);
	end(&x);
}

static void test_large_numbers(void **state)
{
	json_t *value = json_unsigned(UINT64_MAX);

	(void)state;
	assert_true(json_integer_value(value) == INT64_MAX);
	json_decref(value);
	value = json_unsigned(UINT64_C(1) << 53 | 1);
	assert_true(json_integer_value(value) == (INT64_C(1) << 53 | 1));
	json_decref(value);
}

static void test_ranks(void **state)
{
	struct fixture x;
	struct compare_column columns[3];

	(void)state;
	begin(&x, TOY_LOST, "lost.img");
	compare_fill(&columns[0], &x.assay);
	end(&x);
	begin(&x, 0, "good.img");
	compare_fill(&columns[1], &x.assay);
	compare_fill(&columns[2], &x.assay);
	end(&x);
	compare_rank(columns, 3);
	assert_int_equal(columns[0].efficiency_rank, 3);
	assert_int_equal(columns[1].efficiency_rank, 1);
	assert_int_equal(columns[2].efficiency_rank, 1);
	assert_int_equal(columns[0].packing_rank, 3);
	assert_int_equal(columns[1].packing_rank, 1);
	assert_true(compare_packing(&columns[1]) ==
		    (TOY_BLOCK - 24.0) / (TOY_USED_BLOCKS * TOY_BLOCK + TOY_BLOCK - 24.0));
	assert_true(compare_same_content(columns, 3));
	columns[2].figures.groups[FIGURES_SYMLINK].count++;
	assert_false(compare_same_content(columns, 3));
	memset(&columns[1].figures.inlined, 0, sizeof(columns[1].figures.inlined));
	compare_rank(columns, 3);
	assert_int_equal(columns[1].packing_rank, 0);
	assert_int_equal(columns[0].packing_rank, 2);
}

static void test_columns(void **state)
{
	char unknown[16];

	(void)state;
	assert_true(report_columns_valid("PURPOSE,BYTES", unknown, sizeof(unknown)));
	assert_true(report_columns_valid("purpose,Bytes,share,detail,image,charged,holds", unknown, sizeof(unknown)));
	assert_false(report_columns_valid("PURPOSE,SIZE", unknown, sizeof(unknown)));
	assert_string_equal(unknown, "SIZE");
	assert_false(report_columns_valid("PURPOSE,", unknown, sizeof(unknown)));
	assert_string_equal(unknown, "");
	assert_false(report_columns_valid("PURP", unknown, sizeof(unknown)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_byte_once),
		cmocka_unit_test(test_name_that_is_not_utf8),
		cmocka_unit_test(test_large_numbers),
		cmocka_unit_test(test_ranks),
		cmocka_unit_test(test_columns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
