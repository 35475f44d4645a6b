/* SPDX-License-Identifier: GPL-2.0-only */
/* JFS: summary trees of the block map against the slow way, names as bytes, addresses of extents. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "parsers/jfs/jfs_audit.h"

/* The longest aligned run of zeros, by trying all. */
static int8_t slow_buddy(uint32_t word)
{
	for (int k = 5; k >= 0; k--)
		for (unsigned at = 0; at < 32; at += 1u << k) {
			uint32_t mask = (k == 5 ? UINT32_MAX : (1u << (1u << k)) - 1) << at;

			if (!(word & mask))
				return (int8_t)k;
		}
	return -1;
}

static void buddies(void **state)
{
	uint32_t word = 12345;

	(void)state;
	assert_int_equal(jfs_word_buddy(0), 5);
	assert_int_equal(jfs_word_buddy(UINT32_MAX), -1);
	assert_int_equal(jfs_word_buddy(0xffff0000u), 4);
	assert_int_equal(jfs_word_buddy(0xff0000ffu), 3);
	for (int k = 0; k < 200000; k++) {
		word = word * 1664525u + 1013904223u;
		assert_int_equal(jfs_word_buddy(word), slow_buddy(word));
		assert_int_equal(jfs_word_buddy(word | word << 3), slow_buddy(word | word << 3));
		assert_int_equal(jfs_word_buddy(word & word >> 7), slow_buddy(word & word >> 7));
	}
}

static void trees(void **state)
{
	int8_t tree[JFS_DMAP_TREE];

	(void)state;
	/* All free: one run of 2^13 blocks, told by the first leaf. */
	memset(tree, 5, sizeof(tree));
	assert_int_equal(jfs_tree_build(tree, JFS_DMAP_LEAVES, JFS_DMAP_LEAF, JFS_DMAP_BUDMIN), 13);
	assert_int_equal(tree[JFS_DMAP_LEAF], 13);
	assert_int_equal(tree[JFS_DMAP_LEAF + 1], -1);
	/* One word in use in the first half: the second half is one run, the first in pieces. */
	memset(tree, 5, sizeof(tree));
	tree[JFS_DMAP_LEAF + 2] = -1;
	assert_int_equal(jfs_tree_build(tree, JFS_DMAP_LEAVES, JFS_DMAP_LEAF, JFS_DMAP_BUDMIN), 12);
	assert_int_equal(tree[JFS_DMAP_LEAF + 128], 12);
	assert_int_equal(tree[JFS_DMAP_LEAF], 6);
	assert_int_equal(tree[JFS_DMAP_LEAF + 3], 5);
	assert_int_equal(tree[JFS_DMAP_LEAF + 4], 7);
	/* Neighbours join only where the left one is even: 1 and 2 do not. */
	memset(tree, -1, sizeof(tree));
	tree[JFS_DMAP_LEAF + 1] = tree[JFS_DMAP_LEAF + 2] = 5;
	assert_int_equal(jfs_tree_build(tree, JFS_DMAP_LEAVES, JFS_DMAP_LEAF, JFS_DMAP_BUDMIN), 5);
	assert_int_equal(tree[JFS_DMAP_LEAF + 1], 5);
	/* Nothing free. */
	memset(tree, -1, sizeof(tree));
	assert_int_equal(jfs_tree_build(tree, JFS_DMAP_LEAVES, JFS_DMAP_LEAF, JFS_DMAP_BUDMIN), -1);
}

static void name(const char *want, const uint16_t *units, unsigned n)
{
	uint8_t out[JFS_NAME_BYTES];
	size_t length = jfs_name_bytes(units, n, out);

	assert_int_equal(length, strlen(want));
	assert_memory_equal(out, want, length);
}

static void names(void **state)
{
	static const uint16_t longest[JFS_NAME_UNITS] = { 0x20ac };
	uint16_t all[JFS_NAME_UNITS];
	uint8_t out[JFS_NAME_BYTES];

	(void)state;
	name("abc", (const uint16_t[]){ 'a', 'b', 'c' }, 3);
	name("\xe9t\xe9", (const uint16_t[]){ 0xe9, 't', 0xe9 }, 3);
	name("\xc3\xa9\xe2\x82\xac", (const uint16_t[]){ 0xe9, 0x20ac }, 2);
	name("\xd0\xb8", (const uint16_t[]){ 0x438 }, 1);
	name("\xf0\x9f\x98\x80", (const uint16_t[]){ 0xd83d, 0xde00 }, 2);
	name("\xed\xa0\xbd", (const uint16_t[]){ 0xd83d }, 1);
	name("\xed\xb8\x80" "a", (const uint16_t[]){ 0xde00, 'a' }, 2);
	name("", longest, 0);
	for (unsigned k = 0; k < JFS_NAME_UNITS; k++)
		all[k] = 0xffff;
	assert_int_equal(jfs_name_bytes(all, JFS_NAME_UNITS, out), 3 * JFS_NAME_UNITS);
}

static void extents(void **state)
{
	struct jfs_pxd p = { { { 0x04, 0x03, 0x02, 0xab } }, { { 0x78, 0x56, 0x34, 0x12 } } };

	(void)state;
	assert_int_equal(jfs_pxd_length(&p), 0x020304);
	assert_int_equal(jfs_pxd_address(&p), UINT64_C(0xab12345678));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buddies),
		cmocka_unit_test(trees),
		cmocka_unit_test(names),
		cmocka_unit_test(extents),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
