/* SPDX-License-Identifier: GPL-2.0-only */
/* Directories in the inode and in blocks, hashes, attributes in the inode. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "xfs_fixture.h"

struct names { unsigned n, unused; uint64_t inode[4]; char name[4][16]; };

static enum fsa_status keep(void *arg, const struct xf_dirent *d)
{
	struct names *w = arg;

	if (w->n < 4 && d->name_length < 16) {
		w->inode[w->n] = d->inode;
		memcpy(w->name[w->n], d->name, d->name_length);
	}
	w->n++;
	return FSA_OK;
}

static enum fsa_status keep_unused(void *arg, uint32_t at, uint32_t length)
{
	(void)at;
	((struct names *)arg)->unused += length;
	return FSA_OK;
}

/* Values by xfs_db's `hash` command. */
static void test_hash(void **state)
{
	static const struct { const char *name; uint32_t hash; } cases[] = {
		{ ".", 0x2e }, { "..", 0x172e }, { "foo", 0x19b7ef }, { "abcd", 0x0c38b1e4 }, { "lost+found", 0x021aa60c },
	};
	struct xf x = { 0 };

	(void)state;
	for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++)
		assert_int_equal(xf_dir_hash(&x, (const uint8_t *)cases[k].name, (uint32_t)strlen(cases[k].name), true), cases[k].hash);
	x.ascii_ci = true;
	assert_int_equal(xf_dir_hash(&x, (const uint8_t *)"FoO", 3, true), 0x19b7ef);
	assert_int_not_equal(xf_dir_hash(&x, (const uint8_t *)"FoO", 3, false), 0x19b7ef);
}

static void test_short(void **state)
{
	/* Two entries, numbers of four bytes, with types. */
	static const uint8_t dir[] = { 2, 0, 0, 0, 0, 16, 1, 0, 0x30, 'a', 1, 0, 0, 0, 20, 2, 0, 0x40, 'b', 'c', 2, 0, 0, 0, 21 };
	struct xfs_fixture f;
	struct names w = { 0 };
	struct xf_inode i = { .number = 18, .size = sizeof(dir), .data = { .format = XFS_DINODE_FMT_LOCAL, .size = 100, .bytes = dir } };
	uint64_t parent;
	uint32_t end;

	(void)state;
	xfx_begin(&f);
	f.x.ftype = true;
	assert_int_equal(xf_dir_short(&f.x, &i, &parent, keep, &w, &end), FSA_OK);
	assert_int_equal(parent, 16);
	assert_int_equal(w.n, 2);
	assert_int_equal(w.inode[1], 21);
	assert_string_equal(w.name[1], "bc");
	assert_int_equal(end, sizeof(dir));
	assert_int_equal(fsa_findings_count(f.findings), 0);
	/* Every shorter size breaks it off without reading behind. */
	for (i.size = 0; i.size < sizeof(dir); i.size++) {
		w = (struct names){ 0 };
		assert_int_equal(xf_dir_short(&f.x, &i, &parent, keep, &w, &end), FSA_OK);
		assert_true(end <= i.size && w.n < 2);
	}
	assert_true(fsa_findings_count(f.findings) > 0);
	xfx_end(&f);
}

static void test_block(void **state)
{
	uint8_t b[512] = { 0 };
	struct xfs_fixture f;
	struct names w = { 0 };
	struct xf_inode i = { .number = 18, .size = 512 };
	uint32_t bad;

	(void)state;
	xfx_begin(&f);
	xfx_put(b, XFS_DIR2_DATA_MAGIC, 4);
	xfx_put(b + 16, 20, 8);				/* an entry of 16 bytes */
	b[24] = 3;
	memcpy(b + 25, "abc", 3);
	xfx_put(b + 30, 16, 2);
	xfx_put(b + 32, XFS_DIR2_DATA_FREE_TAG, 2);	/* the rest is unused */
	xfx_put(b + 34, 512 - 32, 2);
	xfx_put(b + 510, 32, 2);
	assert_int_equal(xf_dir_entries(&f.x, &i, b, 512, 0, keep, keep_unused, &w, &bad), FSA_OK);
	assert_int_equal(w.n, 1);
	assert_int_equal(w.unused, 480);
	assert_int_equal(bad, 512);
	assert_int_equal(fsa_findings_count(f.findings), 0);
	/* A tag that is not the entry's own offset: nothing behind it is believed. */
	xfx_put(b + 30, 17, 2);
	w = (struct names){ 0 };
	assert_int_equal(xf_dir_entries(&f.x, &i, b, 512, 0, keep, keep_unused, &w, &bad), FSA_OK);
	assert_int_equal(w.n, 0);
	assert_int_equal(bad, 16);
	assert_int_equal(fsa_findings_count(f.findings), 1);
	/* An index that would not fit. */
	xfx_put(b + 504, UINT32_MAX, 4);
	assert_int_equal(xf_dir_block_end(&f.x, &i, b, 0), 16);
	xfx_end(&f);
}

static enum fsa_status count_attr(void *arg, const struct xf_attr *a)
{
	(void)a;
	++*(unsigned *)arg;
	return FSA_OK;
}

static void test_attr_short(void **state)
{
	static const uint8_t fork[] = { 0, 14, 2, 0, 1, 1, 0, 'n', 'v', 2, 0, 2, 's', 'e' };
	struct xfs_fixture f;
	struct xf_inode i = { .number = 18, .attr = { .format = XFS_DINODE_FMT_LOCAL, .attr = true, .size = 40, .bytes = fork } };
	uint8_t copy[sizeof(fork)];
	unsigned n = 0;
	uint32_t end;

	(void)state;
	xfx_begin(&f);
	assert_int_equal(xf_attr_short(&f.x, &i, count_attr, &n, &end), FSA_OK);
	assert_int_equal(n, 2);
	assert_int_equal(end, sizeof(fork));
	assert_int_equal(fsa_findings_count(f.findings), 0);
	/* A value that would reach behind the list. */
	memcpy(copy, fork, sizeof(fork));
	copy[10] = 200;
	i.attr.bytes = copy;
	n = 0;
	assert_int_equal(xf_attr_short(&f.x, &i, count_attr, &n, &end), FSA_OK);
	assert_int_equal(n, 1);
	assert_int_equal(fsa_findings_count(f.findings), 1);
	xfx_end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hash), cmocka_unit_test(test_short), cmocka_unit_test(test_block), cmocka_unit_test(test_attr_short),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
