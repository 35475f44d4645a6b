/* SPDX-License-Identifier: GPL-2.0-only */
/* JFS directories: the order of names, capitals, and entries that are chains of slots. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "parsers/jfs/jfs.h"

static void capitals(void **state)
{
	static const uint16_t pairs[][2] = {
		{ 'a', 'A' }, { 'z', 'Z' }, { '`', '`' }, { '{', '{' }, { 'A', 'A' }, { 0xe4, 0xc4 }, { 0xf7, 0xf7 }, { 0xff, 0x178 }, { 0xdf, 0xdf },
		{ 0x101, 0x100 }, { 0x100, 0x100 }, { 0x1c6, 0x1c4 }, { 0x1dd, 0x18e }, { 0x3b1, 0x391 }, { 0x3c2, 0x3a3 }, { 0x3ce, 0x38f },
		{ 0x44f, 0x42f }, { 0x45f, 0x40f }, { 0x450, 0x450 }, { 0x4cc, 0x4cb }, { 0x1ef9, 0x1ef8 }, { 0x1f71, 0x1fbb }, { 0x1ff3, 0x1ffc },
		{ 0x24d0, 0x24d0 }, { 0xff5a, 0xff3a }, { 0xffff, 0xffff },
	};

	(void)state;
	for (size_t k = 0; k < sizeof(pairs) / sizeof(pairs[0]); k++)
		assert_int_equal(jfs_upper(pairs[k][0]), pairs[k][1]);
	/* What is a capital stays one. */
	for (uint32_t c = 0; c < 0x10000; c++)
		if (c < 0x1c4 || c > 0x1f3)
			assert_int_equal(jfs_upper(jfs_upper((uint16_t)c)), jfs_upper((uint16_t)c));
}

static int compare(const char *a, const char *b, bool ignore_case)
{
	uint16_t x[64], y[64];

	for (size_t k = 0; k < strlen(a); k++)
		x[k] = (uint16_t)a[k];
	for (size_t k = 0; k < strlen(b); k++)
		y[k] = (uint16_t)b[k];
	return jfs_compare_names(x, (unsigned)strlen(a), y, (unsigned)strlen(b), ignore_case);
}

static void order(void **state)
{
	(void)state;
	assert_true(compare("a", "b", false) < 0);
	assert_true(compare("B", "a", false) < 0);
	assert_true(compare("B", "a", true) > 0);
	assert_true(compare("ab", "abc", false) < 0);
	assert_true(compare("ab", "AB", true) == 0);
	assert_true(compare("ab", "AB", false) > 0);
	/* Between the two alphabets: below a small letter, above its capital. */
	assert_true(compare("_", "a", false) < 0);
	assert_true(compare("_", "a", true) > 0);
}

/* A root with two entries, the second over two slots. */
struct directory {
	uint8_t raw[JFS_INODE_SIZE];
	struct jfs j;
	struct jfs_inode i;
	struct fsa_findings *findings;
	char seen[4][40];
	unsigned n;
};

static void put_name(uint8_t *slot, const char *name, size_t n)
{
	for (size_t k = 0; k < n; k++)
		slot[2 * k] = (uint8_t)name[k];
}

static void begin(struct directory *d)
{
	uint8_t *root = d->raw + JFS_TREE_AT, *stbl = root + offsetof(struct jfs_dt_root_header, stbl);
	const char *longer = "beta-with-a-longer-name";

	memset(d, 0, sizeof(*d));
	d->findings = fsa_findings_new(0);
	d->j = (struct jfs){ .findings = d->findings, .blocks = 100, .flags = JFS_FLAG_DIR_INDEX };
	d->i = (struct jfs_inode){ .number = 2, .raw = d->raw, .type = FSA_TYPE_DIRECTORY };
	root[offsetof(struct jfs_dt_root_header, flag)] = JFS_BT_ROOT | JFS_BT_LEAF;
	root[offsetof(struct jfs_dt_root_header, nextindex)] = 2;
	root[offsetof(struct jfs_dt_root_header, freecnt)] = 4;
	root[offsetof(struct jfs_dt_root_header, freelist)] = 4;
	stbl[0] = 3;
	stbl[1] = 1;
	/* Slot 3: "alpha"; slots 1, 2 and 5: the other, 11 units and 12 and none left; 4, 6, 7, 8 are free. */
	root[3 * JFS_DT_SLOT] = 40;
	root[3 * JFS_DT_SLOT + 4] = 0xff;
	root[3 * JFS_DT_SLOT + 5] = 5;
	put_name(root + 3 * JFS_DT_SLOT + 6, "alpha", 5);
	root[3 * JFS_DT_SLOT + 28] = 2;
	root[1 * JFS_DT_SLOT] = 41;
	root[1 * JFS_DT_SLOT + 4] = 2;
	root[1 * JFS_DT_SLOT + 5] = (uint8_t)strlen(longer);
	put_name(root + 1 * JFS_DT_SLOT + 6, longer, 11);
	root[1 * JFS_DT_SLOT + 28] = 3;
	root[2 * JFS_DT_SLOT] = 0xff;
	put_name(root + 2 * JFS_DT_SLOT + 2, longer + 11, strlen(longer) - 11);
	root[4 * JFS_DT_SLOT] = 6;
	root[6 * JFS_DT_SLOT] = 7;
	root[7 * JFS_DT_SLOT] = 8;
	root[8 * JFS_DT_SLOT] = 0xff;
}

static enum fsa_status keep(void *arg, const struct jfs_dirent *e)
{
	struct directory *d = arg;
	char *out = d->seen[d->n++];

	for (unsigned k = 0; k < e->units; k++)
		out[k] = (char)e->name[k];
	snprintf(out + e->units, 40 - e->units, "=%u@%u", e->inode, e->index);
	return FSA_OK;
}

static enum fsa_status check_slots(void *arg, const struct jfs_dt_node *n)
{
	const struct directory *d = arg;

	if (d->n == 2) {
		assert_int_equal(n->used[1], 28);
		assert_true(n->tail[1]);
		assert_int_equal(n->used[3], 6 + 2 * 5);
		assert_int_equal(n->used[4], 0);
	}
	return FSA_OK;
}

static void walk(struct directory *d)
{
	const struct jfs_dtree_ops ops = { .entry = keep, .node = check_slots, .arg = d, .check = true };

	d->n = 0;
	memset(d->seen, 0, sizeof(d->seen));
	assert_int_equal(jfs_dtree_walk(&d->j, &d->i, &ops), FSA_OK);
}

static void slots(void **state)
{
	struct directory d;
	uint8_t *root = d.raw + JFS_TREE_AT;

	(void)state;
	begin(&d);
	/* One slot is on no list and in no entry. */
	walk(&d);
	assert_int_equal(d.n, 2);
	assert_string_equal(d.seen[0], "alpha=40@2");
	assert_string_equal(d.seen[1], "beta-with-a-longer-name=41@3");
	assert_int_equal(fsa_findings_count(d.findings), 2);
	root[offsetof(struct jfs_dt_root_header, freecnt)] = 5;
	root[8 * JFS_DT_SLOT] = 5;
	root[5 * JFS_DT_SLOT] = 0xff;
	fsa_findings_free(d.findings);
	d.j.findings = d.findings = fsa_findings_new(0);
	walk(&d);
	assert_int_equal(fsa_findings_count(d.findings), 0);
	/* A chain that comes back to its own head, and one that leads out. */
	root[1 * JFS_DT_SLOT + 4] = 1;
	walk(&d);
	assert_int_equal(d.n, 1);
	assert_int_not_equal(fsa_findings_count(d.findings), 0);
	root[1 * JFS_DT_SLOT + 4] = 9;
	walk(&d);
	assert_int_equal(d.n, 1);
	/* A table that names a slot twice. */
	root[1 * JFS_DT_SLOT + 4] = 2;
	root[offsetof(struct jfs_dt_root_header, stbl) + 1] = 3;
	walk(&d);
	assert_int_equal(d.n, 1);
	fsa_findings_free(d.findings);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(capitals),
		cmocka_unit_test(order),
		cmocka_unit_test(slots),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
