/* SPDX-License-Identifier: GPL-2.0-only */
/* Addresses, extents in an inode and in a B-tree: what is read, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "xfs_fixture.h"

struct seen { size_t n, nodes; struct xf_piece p[8]; };

static enum fsa_status keep(void *arg, const struct xf_piece *p)
{
	struct seen *s = arg;

	if (s->n < 8)
		s->p[s->n] = *p;
	s->n++;
	return FSA_OK;
}

static enum fsa_status count_node(void *arg, const struct xf_tree_block *b)
{
	(void)b;
	((struct seen *)arg)->nodes++;
	return FSA_OK;
}

static struct xf_map_ops ops_of(struct seen *s)
{
	return (struct xf_map_ops){ .piece = keep, .node = count_node, .arg = s };
}

static void test_addresses(void **state)
{
	struct xfs_fixture f;
	uint32_t ag, block;

	(void)state;
	xfx_begin(&f);
	assert_true(xf_fsb(&f.x, 64 + 10, 1, &ag, &block));
	assert_int_equal(ag, 1);
	assert_int_equal(block, 10);
	assert_int_equal(xf_linear(&f.x, ag, block), 60);
	assert_false(xf_fsb(&f.x, 50, 1, &ag, &block));		/* a number in the hole behind AG 0 */
	assert_false(xf_fsb(&f.x, 49, 2, &ag, &block));		/* across the end of an AG */
	assert_false(xf_fsb(&f.x, 3, 1, &ag, &block));		/* a header */
	assert_false(xf_fsb(&f.x, UINT64_MAX, 1, &ag, &block));
	assert_int_equal(xf_inode_offset(&f.x, 128 + 2 * 10 + 1), (50 + 10) * 512 + 256);
	assert_true(xf_inode_offset(&f.x, 2 * 50) == FSA_NO_OFFSET);
	assert_true(xf_inode_offset(&f.x, UINT64_MAX) == FSA_NO_OFFSET);
	xfx_end(&f);
}

static void test_extents(void **state)
{
	struct xfs_fixture f;
	struct seen s = { 0 };
	const struct xf_map_ops ops = ops_of(&s);
	uint8_t raw[256] = { 0 };
	struct xf_inode i = { .number = 20, .raw = raw, .type = FSA_TYPE_REGULAR };

	(void)state;
	xfx_begin(&f);
	i.data = (struct xf_fork){ .format = XFS_DINODE_FMT_EXTENTS, .offset = 100, .size = 96, .bytes = raw + 100, .extents = 4 };
	xfx_extent(raw + 100, 0, 5, 3, false);
	xfx_extent(raw + 116, 7, 64 + 40, 10, true);
	xfx_extent(raw + 132, 8, 6, 1, false);		/* before the end of the one before */
	xfx_extent(raw + 148, 30, 64 + 45, 10, false);	/* leaves its AG */
	assert_int_equal(xf_map_walk(&f.x, &i, &i.data, &ops), FSA_OK);
	assert_int_equal(s.n, 2);
	assert_int_equal(s.p[1].block, 90);
	assert_int_equal(s.p[1].logical, 7);
	assert_true(s.p[1].unwritten && !s.p[0].unwritten);
	assert_int_equal(fsa_findings_count(f.findings), 2);
	/* More extents than the fork has room for: those that are there, and a finding. */
	i.data.extents = UINT64_MAX;
	s.n = 0;
	assert_int_equal(xf_map_walk(&f.x, &i, &i.data, &ops), FSA_OK);
	assert_int_equal(s.n, 2);
	xfx_end(&f);
}

static void leaf(uint8_t *b, uint64_t left, uint64_t right, uint64_t logical, uint64_t fsb)
{
	xfx_put(b, XFS_BMAP_MAGIC, 4);
	xfx_put(b + 6, 1, 2);
	xfx_put(b + 8, left, 8);
	xfx_put(b + 16, right, 8);
	xfx_extent(b + 24, logical, fsb, 2, false);
}

static void test_tree(void **state)
{
	struct xfs_fixture f;
	struct seen s = { 0 };
	const struct xf_map_ops ops = ops_of(&s);
	uint8_t raw[256] = { 0 };
	struct xf_inode i = { .number = 20, .raw = raw, .type = FSA_TYPE_REGULAR };
	uint32_t at, bytes;

	(void)state;
	xfx_begin(&f);
	i.data = (struct xf_fork){ .format = XFS_DINODE_FMT_BTREE, .offset = 100, .size = 84, .bytes = raw + 100, .extents = 2 };
	xfx_put(raw + 100, 1, 2);
	xfx_put(raw + 102, 2, 2);
	xfx_put(raw + 104 + 8, 9, 8);			/* keys 0 and 9 */
	xfx_put(raw + 104 + 40, 10, 8);			/* pointers behind room for five keys */
	xfx_put(raw + 104 + 48, 11, 8);
	leaf(f.bytes + 10 * 512, UINT64_MAX, 11, 0, 20);
	leaf(f.bytes + 11 * 512, 10, UINT64_MAX, 9, 30);
	assert_int_equal(xf_map_root_bytes(&f.x, &i.data, &at, &bytes), 4 + 16);
	assert_int_equal(at, 44);
	assert_int_equal(bytes, 16);
	assert_int_equal(xf_map_walk(&f.x, &i, &i.data, &ops), FSA_OK);
	assert_int_equal(s.n, 2);
	assert_int_equal(s.nodes, 2);
	assert_int_equal(fsa_findings_count(f.findings), 0);
	/* Both pointers lead to the same block: it is entered once. */
	xfx_put(raw + 104 + 48, 10, 8);
	s = (struct seen){ 0 };
	assert_int_equal(xf_map_walk(&f.x, &i, &i.data, &ops), FSA_OK);
	assert_int_equal(s.n, 1);
	assert_true(fsa_findings_count(f.findings) > 0);
	/* A level that no tree has. */
	xfx_put(raw + 100, 60000, 2);
	s = (struct seen){ 0 };
	assert_int_equal(xf_map_walk(&f.x, &i, &i.data, &ops), FSA_OK);
	assert_int_equal(s.n, 0);
	xfx_end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_addresses), cmocka_unit_test(test_extents), cmocka_unit_test(test_tree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
