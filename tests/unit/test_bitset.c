/* SPDX-License-Identifier: GPL-2.0-only */
/* The sparse bit set against an array of bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bitset.h"

#define BITS (3 * BITSET_CHUNK_BITS + 1234)

struct again {
	uint8_t *model;		/* bits as they were before */
	uint64_t bits;
	uint64_t last;
};

static void on_again(void *arg, uint64_t start, uint64_t count)
{
	struct again *a = arg;

	assert_true(count > 0);
	assert_true(start >= a->last);
	for (uint64_t i = start; i < start + count; i++)
		assert_int_equal(a->model[i], 1);
	a->bits += count;
	a->last = start + count;
}

static uint32_t next(uint32_t *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 7;
}

static void compare(const struct bitset *set, const uint8_t *model)
{
	for (uint64_t at = 0, run; at < BITS; at += run) {
		const bool value = bitset_run(set, at, UINT64_MAX, &run);

		assert_true(run > 0 && at + run <= BITS);
		for (uint64_t i = at; i < at + run; i++)
			if (model[i] != value)
				fail_msg("bit %llu", (unsigned long long)i);
		if (at + run < BITS)
			assert_int_not_equal(model[at + run], value);
	}
}

static void test_against_a_model(void **state)
{
	uint8_t *model = calloc(BITS, 1);
	struct bitset set;
	uint32_t seed = 5;

	(void)state;
	assert_non_null(model);
	assert_true(bitset_init(&set, BITS));
	for (int round = 0; round < 400; round++) {
		const uint64_t start = next(&seed) % BITS;
		uint64_t count = next(&seed) % (round % 10 == 0 ? 2 * BITSET_CHUNK_BITS : 300), fresh, old = 0;
		struct again again = { .model = model };

		if (count > BITS - start)
			count = BITS - start;
		for (uint64_t i = start; i < start + count; i++)
			old += model[i];
		if (round % 3 == 2) {
			assert_true(bitset_clear(&set, start, count));
			memset(model + start, 0, count);
		} else {
			assert_true(bitset_set(&set, start, count, &fresh, on_again, &again));
			assert_int_equal(again.bits, old);
			assert_int_equal(fresh, count - old);
			memset(model + start, 1, count);
		}
		if (count > 0)
			assert_int_equal(bitset_test(&set, start), model[start]);
		if (round % 20 == 0)
			compare(&set, model);
	}
	compare(&set, model);
	bitset_release(&set);
	free(model);
}

static void test_whole_chunks_take_no_memory(void **state)
{
	const uint64_t bits = (uint64_t)1 << 32;	/* 16 TiB at 4 KiB */
	struct bitset set;
	uint64_t fresh, run, empty;

	(void)state;
	assert_true(bitset_init(&set, bits));
	empty = set.heap_bytes;
	assert_true(empty <= bits / BITSET_CHUNK_BITS * (sizeof(void *) + sizeof(uint16_t)) + 64);
	assert_true(bitset_set(&set, 0, bits, &fresh, NULL, NULL));
	assert_true(fresh == bits);
	assert_int_equal(set.heap_bytes, empty);
	assert_true(bitset_run(&set, 0, UINT64_MAX, &run));
	assert_true(run == bits);
	assert_true(bitset_clear(&set, bits - 1, 1));
	assert_false(bitset_test(&set, bits - 1));
	assert_true(set.heap_bytes > empty && set.heap_bytes <= empty + BITSET_CHUNK_WORDS * 8 + 64);
	assert_true(bitset_set(&set, bits - 1, 1, &fresh, NULL, NULL));
	assert_int_equal(set.heap_bytes, empty);
	bitset_release(&set);
}

static void test_limit_of_a_run(void **state)
{
	struct bitset set;
	uint64_t fresh, run;

	(void)state;
	assert_true(bitset_init(&set, 100));
	assert_true(bitset_set(&set, 10, 50, &fresh, NULL, NULL));
	assert_false(bitset_run(&set, 0, 3, &run));
	assert_int_equal(run, 3);
	assert_true(bitset_run(&set, 59, 1000, &run));
	assert_int_equal(run, 1);
	assert_false(bitset_run(&set, 60, 1000, &run));
	assert_int_equal(run, 40);
	assert_true(bitset_set(&set, 20, 0, &fresh, NULL, NULL));
	assert_int_equal(fresh, 0);
	bitset_release(&set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_against_a_model),
		cmocka_unit_test(test_whole_chunks_take_no_memory),
		cmocka_unit_test(test_limit_of_a_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
