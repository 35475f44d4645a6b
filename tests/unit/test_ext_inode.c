/* SPDX-License-Identifier: GPL-2.0-only */
/* Inode records of ext from bytes: times, device numbers, ids, sizes, counts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <sys/stat.h>

#include "ext_fixture.h"

static void stat_of(struct ext_fixture *f, uint32_t number, struct fsa_stat *st)
{
	/* The record was changed behind the cache's back. */
	ext_table_cache_free(f->ext.cache);
	f->ext.cache = NULL;
	assert_int_equal(ext_stat(&f->fs, ef_ref(number), st), FSA_OK);
}

static void test_times(void **state)
{
	/* The table of Documentation/filesystems/ext4/inodes.rst: extra bits, sign of the 32 bits, seconds. */
	static const struct { uint32_t base, extra; int64_t sec; uint32_t nsec; } cases[] = {
		{ 0x80000000u, 0, -2147483648LL, 0 },		{ 0xffffffffu, 0, -1, 0 },
		{ 0, 0, 0, 0 },					{ 0x7fffffffu, 0, 2147483647LL, 0 },
		{ 0x80000000u, 1, 0x080000000LL, 0 },		{ 0xffffffffu, 1, 0x0ffffffffLL, 0 },
		{ 0, 1, 0x100000000LL, 0 },			{ 0x7fffffffu, 1, 0x17fffffffLL, 0 },
		{ 0x80000000u, 2, 0x180000000LL, 0 },		{ 0x7fffffffu, 2, 0x27fffffffLL, 0 },
		{ 0x80000000u, 3, 0x280000000LL, 0 },		{ 0x7fffffffu, 3, 0x37fffffffLL, 0 },
		{ 5, 999999999u << 2, 5, 999999999 },		{ 5, 1u << 2 | 3, 0x300000005LL, 1 },
	};
	struct ext_fixture f;
	struct fsa_stat st;
	uint8_t *raw;

	(void)state;
	ef_begin(&f, 256);
	raw = ef_inode(&f, 12);
	EF_SET(raw, i_mode, S_IFREG | 0644);
	EF_SET(raw, i_extra_isize, 32);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		EF_SET(raw, i_mtime, cases[i].base);
		EF_SET(raw, i_mtime_extra, cases[i].extra);
		EF_SET(raw, i_crtime, cases[i].base);
		EF_SET(raw, i_crtime_extra, cases[i].extra);
		stat_of(&f, 12, &st);
		assert_true(st.mtime.set && st.mtime.sec == cases[i].sec && st.mtime.nsec == cases[i].nsec);
		assert_true(st.btime.set && st.btime.sec == cases[i].sec && st.btime.nsec == cases[i].nsec);
	}
	/* Fields beyond i_extra_isize are not there, whatever the bytes say. */
	EF_SET(raw, i_mtime, 7);
	EF_SET(raw, i_extra_isize, 8);
	stat_of(&f, 12, &st);
	assert_true(st.mtime.sec == 7 && st.mtime.nsec == 0);
	assert_false(st.btime.set);
	/* One that cannot be true counts as none. */
	EF_SET(raw, i_extra_isize, 129);
	stat_of(&f, 12, &st);
	assert_false(st.btime.set);
	ef_end(&f);
}

static void test_small_inodes(void **state)
{
	struct ext_fixture f;
	struct fsa_stat st;
	uint8_t *raw;

	(void)state;
	ef_begin(&f, 128);
	raw = ef_inode(&f, 11);
	EF_SET(raw, i_mode, S_IFREG | 0600);
	EF_SET(raw, i_mtime, 0xffffffffu);
	/* Where a larger inode has its extra fields the next inode starts. */
	memset(ef_inode(&f, 12), 0xff, 128);
	stat_of(&f, 11, &st);
	assert_true(st.mtime.sec == -1 && st.mtime.nsec == 0);
	assert_false(st.btime.set);
	assert_int_equal(st.offset, EF_TABLE * 1024 + 10 * 128);
	ef_end(&f);
}

static void test_device_numbers(void **state)
{
	static const struct { uint32_t first, second, major, minor; } cases[] = {
		{ 0x0801, 0, 8, 1 },	{ 0xffff, 0, 255, 255 },	{ 0, 0x0801, 8, 1 },
		{ 0, 0xfffff0ffu, 0xff0, 0xfffff },	{ 0, 0x11112c70, 0x12c, 0x11170 },
		{ 0, 0xffffffffu, 4095, 1048575 },
	};
	struct ext_fixture f;
	struct fsa_stat st;
	uint8_t *raw;

	(void)state;
	ef_begin(&f, 256);
	raw = ef_inode(&f, 13);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		EF_SET(raw, i_mode, i % 2 ? S_IFCHR : S_IFBLK);
		EF_SET(raw, i_block[0], cases[i].first);
		EF_SET(raw, i_block[1], cases[i].second);
		stat_of(&f, 13, &st);
		assert_int_equal(st.type, i % 2 ? FSA_TYPE_CHARDEV : FSA_TYPE_BLOCKDEV);
		assert_int_equal(st.rdev_major, cases[i].major);
		assert_int_equal(st.rdev_minor, cases[i].minor);
	}
	ef_end(&f);
}

static void test_ids_sizes_counts(void **state)
{
	struct ext_fixture f;
	struct fsa_stat st;
	uint8_t *raw;

	(void)state;
	ef_begin(&f, 256);
	raw = ef_inode(&f, 14);
	EF_SET(raw, i_mode, S_IFREG | 07777);
	EF_SET(raw, i_uid, 0x5678);
	EF_SET(raw, osd2.linux2.l_i_uid_high, 0x1234);
	EF_SET(raw, i_gid, 0xffff);
	EF_SET(raw, osd2.linux2.l_i_gid_high, 0xffff);
	EF_SET(raw, i_size, 0x89abcdefu);
	EF_SET(raw, i_size_high, 0x10);
	EF_SET(raw, i_links_count, 65000);
	EF_SET(raw, i_blocks, 0x10);
	EF_SET(raw, osd2.linux2.l_i_blocks_hi, 2);
	stat_of(&f, 14, &st);
	assert_int_equal(st.mode, S_IFREG | 07777);
	assert_int_equal(st.uid, 0x12345678);
	assert_int_equal(st.gid, 0xffffffffu);
	assert_true(st.size == 0x1089abcdefULL);
	assert_int_equal(st.links, 65000);
	/* The upper half of the block count is there with huge_file only, ... */
	assert_true(st.st_blocks == 0x10);
	f.ext.huge_file = true;
	stat_of(&f, 14, &st);
	assert_true(st.st_blocks == 0x200000010ULL);
	/* ... and counts blocks instead of sectors when the inode says so. */
	EF_SET(raw, i_flags, EXT4_HUGE_FILE_FL);
	stat_of(&f, 14, &st);
	assert_true(st.st_blocks == 0x400000020ULL);
	/* Of a directory the upper half of the size is something else without large_dir. */
	EF_SET(raw, i_mode, S_IFDIR | 0755);
	stat_of(&f, 14, &st);
	assert_true(st.size == 0x89abcdefULL);
	f.ext.large_dir = true;
	stat_of(&f, 14, &st);
	assert_true(st.size == 0x1089abcdefULL);
	ef_end(&f);
}

static void test_inline_data_in_st_blocks(void **state)
{
	struct ext_fixture f;
	struct fsa_stat st;
	uint8_t *raw;

	(void)state;
	ef_begin(&f, 256);
	f.ext.incompat = EXT4_FEATURE_INCOMPAT_INLINE_DATA;
	raw = ef_inode(&f, 12);
	EF_SET(raw, i_mode, S_IFREG | 0644);
	EF_SET(raw, i_flags, EXT4_INLINE_DATA_FL);
	EF_SET(raw, i_size, 100);
	stat_of(&f, 12, &st);
	assert_int_equal(st.st_blocks, 1);
	assert_true(st.flags & FSA_OBJECT_INLINE);
	EF_SET(raw, i_size, 0);
	stat_of(&f, 12, &st);
	assert_int_equal(st.st_blocks, 0);
	EF_SET(raw, i_mode, S_IFDIR | 0755);
	EF_SET(raw, i_size, 60);
	stat_of(&f, 12, &st);
	assert_int_equal(st.st_blocks, 0);
	ef_end(&f);
}

static void test_numbers_that_do_not_exist(void **state)
{
	struct ext_fixture f;
	struct fsa_stat st;
	struct fsa_ref ref;

	(void)state;
	ef_begin(&f, 256);
	assert_int_equal(ext_stat(&f.fs, ef_ref(0), &st), FSA_ENOENT);
	assert_int_equal(ext_stat(&f.fs, ef_ref(17), &st), FSA_ENOENT);
	assert_int_equal(ext_ref_of_number(&f.fs, 16, &ref), FSA_OK);
	assert_int_equal(ext_ref_of_number(&f.fs, 17, &ref), FSA_ENOENT);
	assert_int_equal(ext_ref_of_number(&f.fs, UINT64_MAX, &ref), FSA_ENOENT);
	/* A table that lies outside: said, not read. */
	ef_put(f.descs + 8, EF_BLOCKS - 1, 4);
	assert_int_equal(ext_stat(&f.fs, ef_ref(12), &st), FSA_EDAMAGED);
	assert_int_equal(fsa_findings_count(f.findings), 1);
	ef_end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_small_inodes),
		cmocka_unit_test(test_device_numbers),
		cmocka_unit_test(test_ids_sizes_counts),
		cmocka_unit_test(test_inline_data_in_st_blocks),
		cmocka_unit_test(test_numbers_that_do_not_exist),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
