/* SPDX-License-Identifier: GPL-2.0-only */
/* GNU df's arithmetic and columns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "analyzer/df.h"

static void check(uint32_t unit, uint64_t blocks, uint64_t free_blocks, uint64_t available,
		  struct df_line expected)
{
	const struct fsa_statfs statfs = {
		.block_size = unit, .blocks = blocks, .free = free_blocks, .available = available,
	};
	const struct df_line line = df_line(&statfs);

	assert_int_equal(line.size_kib, expected.size_kib);
	assert_int_equal(line.used_kib, expected.used_kib);
	assert_int_equal(line.available_kib, expected.available_kib);
	assert_int_equal(line.use_percent, expected.use_percent);
}

static void test_lines(void **state)
{
	(void)state;
	/* a new ext4 of 1 GiB, a ReiserFS of 300 MiB, as measured with the kernel */
	check(4096, 249195, 249189, 231986, (struct df_line){ 996780, 24, 927944, 1 });
	check(4096, 76796, 68586, 68586, (struct df_line){ 307184, 32840, 274344, 11 });
	/* full for everybody but root */
	check(4096, 1000, 50, 0, (struct df_line){ 4000, 3800, 0, 100 });
	check(1024, 0, 0, 0, (struct df_line){ 0, 0, 0, DF_NO_PERCENT });
}

static void test_rounding(void **state)
{
	(void)state;
	/* each column is rounded up on its own: 3 blocks of 512 are 2 KiB, 1 is 1 */
	check(512, 3, 2, 2, (struct df_line){ 2, 1, 1, 34 });
	/* 1 % comes with the first byte, 100 % before the last */
	check(4096, 100000, 99999, 99999, (struct df_line){ 400000, 4, 399996, 1 });
	check(4096, 100000, 1, 1, (struct df_line){ 400000, 399996, 4, 100 });
	check(4096, 100, 50, 50, (struct df_line){ 400, 200, 200, 50 });
}

static void test_large(void **state)
{
	(void)state;
	/* 2^52 blocks of 64 KiB: more bytes than 64 bits hold */
	check(65536, UINT64_C(1) << 52, UINT64_C(1) << 51, UINT64_C(1) << 51,
	      (struct df_line){ UINT64_C(1) << 58, UINT64_C(1) << 57, UINT64_C(1) << 57, 50 });
}

/* A free counter above the size, as damage makes it. */
static void test_more_free_than_there_is(void **state)
{
	(void)state;
	check(1024, 100, 150, 150, (struct df_line){ 100, -50, 150, -50 });
	check(512, 3, 6, 3, (struct df_line){ 2, -2, 2, DF_NO_PERCENT });
}

static void test_inodes(void **state)
{
	const struct fsa_statfs some = { .files = 65536, .files_free = 65525 };
	const struct fsa_statfs none = { .files = 0, .files_free = 0 };
	struct df_inodes inodes = df_inodes(&some);

	(void)state;
	assert_int_equal(inodes.total, 65536);
	assert_int_equal(inodes.used, 11);
	assert_int_equal(inodes.available, 65525);
	assert_int_equal(inodes.use_percent, 1);
	inodes = df_inodes(&none);
	assert_int_equal(inodes.use_percent, DF_NO_PERCENT);
}

static void test_columns(void **state)
{
	const struct df_line line = { 996780, 24, 927944, 1 };
	const struct df_inodes inodes = { 0, 0, 0, DF_NO_PERCENT };
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	assert_non_null(out);
	df_print(out, "/dev/loop0", &line);
	df_print_inodes(out, "/images/a-longer-name.img", &inodes);
	assert_int_equal(fclose(out), 0);
	assert_string_equal(text,
			    "Filesystem     1K-blocks  Used Available Use% Mounted on\n"
			    "/dev/loop0        996780    24    927944   1% -\n"
			    "Filesystem                Inodes IUsed IFree IUse% Mounted on\n"
			    "/images/a-longer-name.img      0     0     0     - -\n");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_rounding),
		cmocka_unit_test(test_large),
		cmocka_unit_test(test_more_free_than_there_is),
		cmocka_unit_test(test_inodes),
		cmocka_unit_test(test_columns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
