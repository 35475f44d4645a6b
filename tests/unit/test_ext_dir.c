/* SPDX-License-Identifier: GPL-2.0-only */
/* Directory entries of ext from bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ext_fixture.h"

struct listed {
	unsigned entries;
	uint32_t inode[16], rec_len[16], used[16];
	char name[16][300];
};

static enum fsa_status on_entry(void *arg, const struct ext_dir_entry *d)
{
	struct listed *l = arg;

	assert_true(l->entries < 16);
	l->inode[l->entries] = d->inode;
	l->rec_len[l->entries] = d->rec_len;
	l->used[l->entries] = d->used_bytes;
	memcpy(l->name[l->entries], d->name, d->name_length);
	l->name[l->entries][d->name_length] = '\0';
	l->entries++;
	return FSA_OK;
}

static uint8_t *entry(uint8_t *at, uint32_t inode, uint16_t rec_len, const char *name, uint8_t type)
{
	ef_put(at, inode, 4);
	ef_put(at + 4, rec_len, 2);
	at[6] = (uint8_t)strlen(name);
	at[7] = type;
	memcpy(at + 8, name, strlen(name));
	return at + rec_len;
}

static void test_entries(void **state)
{
	struct ext_fixture f;
	struct ext_inode i = { .number = 12, .type = FSA_TYPE_DIRECTORY };
	struct listed l = { .entries = 0 };
	uint8_t block[1024] = { 0 };
	uint32_t bad;
	uint8_t *p = block;

	(void)state;
	ef_begin(&f, 256);
	p = entry(p, 12, 12, ".", EXT2_FT_DIR);
	p = entry(p, 2, 12, "..", EXT2_FT_DIR);
	p = entry(p, 0, 16, "gone", EXT2_FT_REG_FILE);
	entry(p, 15, (uint16_t)(1024 - (p - block)), "file", EXT2_FT_REG_FILE);
	assert_int_equal(ext_dir_entries(&f.ext, &i, block, 1024, 5120, on_entry, &l, &bad), FSA_OK);
	assert_int_equal(l.entries, 4);
	assert_int_equal(bad, 1024);
	assert_string_equal(l.name[3], "file");
	assert_int_equal(l.used[0], 12);
	assert_int_equal(l.used[2], 0);
	assert_int_equal(l.used[3], 12);
	assert_int_equal(l.rec_len[3], 1024 - 40);
	assert_int_equal(fsa_findings_count(f.findings), 0);
	ef_end(&f);
}

static void test_malformed(void **state)
{
	/* rec_len, name_len: each makes the block end there. */
	static const struct { uint16_t rec_len; uint8_t name_length; } cases[] = {
		{ 0, 1 }, { 4, 0 }, { 7, 0 }, { 13, 1 }, { 12, 5 }, { 1016, 1 }, { 65532, 1 }, { 8, 1 },
	};

	(void)state;
	for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
		struct ext_fixture f;
		struct ext_inode i = { .number = 12, .type = FSA_TYPE_DIRECTORY };
		struct listed l = { .entries = 0 };
		uint8_t block[1024] = { 0 };
		uint8_t *p;
		uint32_t bad;

		ef_begin(&f, 256);
		p = entry(block, 12, 12, ".", EXT2_FT_DIR);
		ef_put(p, 13, 4);
		ef_put(p + 4, cases[k].rec_len, 2);
		p[6] = cases[k].name_length;
		assert_int_equal(ext_dir_entries(&f.ext, &i, block, 1024, 5120, on_entry, &l, &bad), FSA_OK);
		assert_int_equal(l.entries, 1);
		assert_int_equal(bad, 12);
		assert_int_equal(fsa_findings_count(f.findings), 1);
		assert_int_equal(fsa_findings_at(f.findings, 0)->number, 12);
		assert_int_equal(fsa_findings_at(f.findings, 0)->offset, 5120 + 12);
		ef_end(&f);
	}
}

static void test_blocks_of_64k(void **state)
{
	/* rec_len as it is stored, and what it means: the two low bits are bits 16 and 17. */
	static const struct { uint16_t stored; uint32_t length; } cases[] = {
		{ 12, 12 }, { 65532, 65532 }, { 0, 65536 }, { 65535, 65536 }, { 0xff00, 0xff00 },
	};
	uint8_t *block = malloc(65536);

	(void)state;
	assert_non_null(block);
	for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
		struct ext_fixture f;
		struct ext_inode i = { .number = 12, .type = FSA_TYPE_DIRECTORY };
		struct listed l = { .entries = 0 };
		uint32_t bad;

		ef_begin(&f, 256);
		f.ext.block_size = 65536;
		f.ext.block_log = 16;
		memset(block, 0, 65536);
		entry(block, 12, cases[k].stored, ".", EXT2_FT_DIR);
		(void)ext_dir_entries(&f.ext, &i, block, 65536, 0, on_entry, &l, &bad);
		assert_true(l.entries >= 1);
		assert_int_equal(l.rec_len[0], cases[k].length);
		ef_end(&f);
	}
	free(block);
}

static void test_without_types(void **state)
{
	struct ext_fixture f;
	struct ext_inode i = { .number = 12, .type = FSA_TYPE_DIRECTORY };
	struct listed l = { .entries = 0 };
	uint8_t block[64] = { 0 };
	uint32_t bad;

	(void)state;
	ef_begin(&f, 256);
	/* Before filetype the length of the name has 16 bits: a type byte makes it too long. */
	f.ext.filetype = false;
	entry(block, 12, 64, "name", 0);
	(void)ext_dir_entries(&f.ext, &i, block, 64, 0, on_entry, &l, &bad);
	assert_int_equal(l.entries, 1);
	assert_string_equal(l.name[0], "name");
	block[7] = 1;
	l.entries = 0;
	(void)ext_dir_entries(&f.ext, &i, block, 64, 0, on_entry, &l, &bad);
	assert_int_equal(l.entries, 0);
	assert_int_equal(bad, 0);
	ef_end(&f);
}

static void test_copies_of_the_superblock(void **state)
{
	struct ext_fixture f;
	char got[64] = "";

	(void)state;
	ef_begin(&f, 256);
	for (uint32_t g = 0; g < 10; g++)
		assert_true(ext_group_has_super(&f.ext, g));
	f.ext.ro_compat = EXT2_FEATURE_RO_COMPAT_SPARSE_SUPER;
	for (uint32_t g = 0; g < 130; g++)
		if (ext_group_has_super(&f.ext, g))
			snprintf(got + strlen(got), sizeof(got) - strlen(got), "%u ", g);
	assert_string_equal(got, "0 1 3 5 7 9 25 27 49 81 125 ");
	f.ext.compat = EXT4_FEATURE_COMPAT_SPARSE_SUPER2;
	ef_put(f.ext.sb + offsetof(struct ext2_super_block, s_backup_bgs), 6, 4);
	ef_put(f.ext.sb + offsetof(struct ext2_super_block, s_backup_bgs) + 4, 99, 4);
	assert_true(ext_group_has_super(&f.ext, 0));
	assert_true(ext_group_has_super(&f.ext, 6));
	assert_true(ext_group_has_super(&f.ext, 99));
	assert_false(ext_group_has_super(&f.ext, 1));
	ef_end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_entries),
		cmocka_unit_test(test_malformed),
		cmocka_unit_test(test_blocks_of_64k),
		cmocka_unit_test(test_without_types),
		cmocka_unit_test(test_copies_of_the_superblock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
