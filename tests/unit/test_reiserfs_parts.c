/* SPDX-License-Identifier: GPL-2.0-only */
/* What ReiserFS computes without an image: hashes, keys of both versions, heads of nodes and items, stat data. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "parsers/reiserfs/reiserfs.h"

enum { BLOCK = 512 };

static void put(uint8_t *p, uint64_t value, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		p[i] = (uint8_t)(value >> 8 * i);
}

static uint32_t hash(uint32_t kind, const char *name)
{
	return rfs_hash(kind, (const uint8_t *)name, strlen(name));
}

/* Offsets that Linux 6.1 gave these names, as debugreiserfs -d printed them. */
static void hashes(void **state)
{
	char longest[256];
	const struct { const char *name; uint32_t r5, tea, yura; } known[] = {
		{ "first", 291167232, 1288477440, 81433344 },
		{ "second", 1411696512, 2143726592, 936938496 },
		{ "...", 1079680, 2095351680, 4049664 },
		{ "back\\slash", 474372608, 460166912, 1112497920 },
		{ "not-utf8-\xff\xfe", 1610342144, 1670218496, 103876096 },
		{ "h\xc3\xa4\xc3\x9flich-\xe5\x90\x8d\xe5\x89\x8d", 28960128, 1874296960, 2016760704 },
		{ "entry-with-a-longer-name-106", 691136768, 112006016, 704441088 },
		{ longest, 1153157632, 212233984, 31616 },
	};

	(void)state;
	memset(longest, 'x', 255);
	longest[255] = '\0';
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		assert_int_equal(hash(RFS_HASH_R5, known[i].name), known[i].r5);
		assert_int_equal(hash(RFS_HASH_TEA, known[i].name), known[i].tea);
		assert_int_equal(hash(RFS_HASH_YURA, known[i].name), known[i].yura);
	}
	/* The lowest values are for "." and "..", and the low seven bits for the generation. */
	assert_int_equal(hash(RFS_HASH_R5, ""), 128);
	for (char c[2] = "\x01"; c[0]; c[0]++) {
		assert_int_equal(hash(RFS_HASH_R5, c) & 127, 0);
		assert_true(hash(RFS_HASH_R5, c) >= 128);
	}
	assert_false(rfs_hash_known(RFS_HASH_UNSET));
	assert_false(rfs_hash_known(4));
}

static struct rfs_disk_key disk_key(uint32_t dir, uint32_t oid, uint64_t rest)
{
	struct rfs_disk_key k;
	uint8_t raw[16];

	put(raw, dir, 4);
	put(raw + 4, oid, 4);
	put(raw + 8, rest, 8);
	memcpy(&k, raw, sizeof(k));
	return k;
}

static uint64_t old_rest(uint32_t offset, uint32_t uniqueness)
{
	return (uint64_t)uniqueness << 32 | offset;
}

static void keys(void **state)
{
	static const struct { uint32_t uniqueness; uint8_t type; } old[] = {
		{ 0, RFS_STAT }, { 0xfffffffe, RFS_INDIRECT }, { 0xffffffff, RFS_DIRECT }, { 500, RFS_DIRENTRY }, { 7, RFS_ANY },
	};
	struct rfs_disk_key d;
	struct rfs_key k;

	(void)state;
	for (size_t i = 0; i < sizeof(old) / sizeof(old[0]); i++) {
		d = disk_key(3, 4, old_rest(0x87654321, old[i].uniqueness));
		k = rfs_key_of(&d, false);
		assert_int_equal(k.dir, 3);
		assert_int_equal(k.oid, 4);
		assert_int_equal(k.offset, 0x87654321);
		assert_int_equal(k.type, old[i].type);
	}
	for (unsigned type = 0; type < 16; type++) {
		d = disk_key(5, 6, (uint64_t)type << 60 | UINT64_C(0x0fedcba987654321));
		k = rfs_key_of(&d, true);
		assert_int_equal(k.offset, UINT64_C(0x0fedcba987654321));
		assert_int_equal(k.type, type <= RFS_DIRENTRY ? type : RFS_ANY);
	}
	/* In internal nodes the key itself must tell which form it has. */
	for (size_t i = 0; i < 4; i++) {
		d = disk_key(1, 2, old_rest(1, old[i].uniqueness));
		k = rfs_branch_key(&d);
		assert_int_equal(k.type, old[i].type);
		assert_int_equal(k.offset, 1);
	}
	for (unsigned type = RFS_INDIRECT; type <= RFS_DIRENTRY; type++) {
		d = disk_key(1, 2, (uint64_t)type << 60 | UINT64_C(0x100000001));
		k = rfs_branch_key(&d);
		assert_int_equal(k.type, type);
		assert_int_equal(k.offset, UINT64_C(0x100000001));
	}
}

static void key_order(void **state)
{
	/* Each one is above the one before it. */
	static const struct rfs_key rising[] = {
		{ 1, 2, 0, RFS_STAT }, { 1, 2, 1, RFS_INDIRECT }, { 1, 2, 1, RFS_DIRECT }, { 1, 2, 2, RFS_STAT }, { 1, 3, 0, RFS_STAT },
		{ 2, 1, UINT64_C(0xfffffffffffffff), RFS_DIRECT }, { 0xffffffff, 0, 0, RFS_STAT },
	};
	const size_t n = sizeof(rising) / sizeof(rising[0]);

	(void)state;
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < n; j++)
			assert_int_equal(rfs_compare(&rising[i], &rising[j]), (i > j) - (i < j));
}

struct fixture {
	struct fsa_fs fs;
	struct rfs r;
	uint8_t node[BLOCK];
};

static void begin(struct fixture *f)
{
	memset(f, 0, sizeof(*f));
	f->fs.findings = fsa_findings_new(10);
	f->r = (struct rfs){ .fs = &f->fs, .findings = f->fs.findings, .block_size = BLOCK, .block_log = 9, .blocks = 1000 };
}

/* Head `i` of a leaf: a direct item of 3.6. */
static void put_head(uint8_t *node, unsigned i, uint16_t length, uint16_t location)
{
	uint8_t *h = node + 24 + 24 * i;

	put(h, 2, 4);
	put(h + 4, 10 + i, 4);
	put(h + 8, UINT64_C(2) << 60 | 1, 8);
	put(h + 16, 0xffff, 2);
	put(h + 18, length, 2);
	put(h + 20, location, 2);
	put(h + 22, 1, 2);
}

static void item_heads(void **state)
{
	static const struct { uint16_t length, location; bool inside; } places[] = {
		{ 16, BLOCK - 16, true }, { BLOCK - 48, 48, true }, { 17, BLOCK - 16, false }, { 1, 47, false }, { 1, BLOCK, false },
		{ 0xffff, 48, false }, { 0, BLOCK, true }, { 8, 0xffff, false },
	};
	struct fixture f;
	struct rfs_node n;
	struct rfs_item item;

	(void)state;
	begin(&f);
	put(f.node, 1, 2);
	put(f.node + 2, 1, 2);
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		put_head(f.node, 0, places[i].length, places[i].location);
		assert_true(rfs_node_open(&f.r, 30, f.node, 1, &n));
		assert_int_equal(rfs_node_item(&f.r, &n, 0, &item), places[i].inside);
		assert_int_equal(item.key.oid, 10);
		assert_int_equal(item.key.type, RFS_DIRECT);
		if (places[i].inside)
			assert_ptr_equal(item.body, f.node + places[i].location);
		else
			assert_null(item.body);
	}
	assert_int_equal(fsa_findings_count(f.fs.findings), 0);
	fsa_findings_free(f.fs.findings);
}

static void node_heads(void **state)
{
	struct fixture f;
	struct rfs_node n;
	uint16_t used;

	(void)state;
	begin(&f);
	/* A leaf of 512 bytes has room for 19 heads with a byte each. */
	put(f.node, 1, 2);
	put(f.node + 2, 19, 2);
	assert_true(rfs_node_open(&f.r, 30, f.node, 1, &n));
	put(f.node + 2, 20, 2);
	assert_false(rfs_node_open(&f.r, 30, f.node, 1, &n));
	put(f.node + 2, 1, 2);
	assert_false(rfs_node_open(&f.r, 30, f.node, 2, &n));
	/* An internal one for 20 keys and 21 children. */
	put(f.node, 2, 2);
	put(f.node + 2, 20, 2);
	put(f.node + 24 + 20 * 16 + 20 * 8, 777, 4);
	put(f.node + 24 + 20 * 16 + 20 * 8 + 4, 400, 2);
	assert_true(rfs_node_open(&f.r, 30, f.node, 2, &n));
	assert_int_equal(rfs_node_child(&n, 20, &used), 777);
	assert_int_equal(used, 400);
	put(f.node + 2, 21, 2);
	assert_false(rfs_node_open(&f.r, 30, f.node, 2, &n));
	assert_int_equal(fsa_findings_count(f.fs.findings), 3);
	fsa_findings_free(f.fs.findings);
}

static void stat_data(void **state)
{
	uint8_t body[44] = { 0 };
	struct rfs_item item = { .key = { 1, 2, 0, RFS_STAT }, .body = body, .length = 32 };
	struct fixture f;
	struct rfs_inode i;

	(void)state;
	begin(&f);
	f.r.block_size = 4096;
	f.r.block_log = 12;
	/* 3.5: mode, links, uid, gid in 16 bits; a count of blocks that is too large is not believed. */
	put(body, 0100644, 2);
	put(body + 2, 3, 2);
	put(body + 4, 500, 2);
	put(body + 8, 5000, 4);
	put(body + 24, 0xfffffff8, 4);
	put(body + 28, 4097, 4);
	assert_true(rfs_inode_decode(&f.r, &item, &i));
	assert_int_equal(i.type, FSA_TYPE_REGULAR);
	assert_int_equal(i.links, 3);
	assert_int_equal(i.uid, 500);
	assert_int_equal(i.size, 5000);
	assert_int_equal(i.first_direct, 4097);
	assert_int_equal(i.generation, 1);
	/* 16 sectors, the stat data and two pointers. */
	assert_int_equal(rfs_st_blocks(&f.r, &i), (16 * 512 + 32 + 8) / 512);
	/* 3.6: a directory counts by its size. */
	item.v2 = true;
	item.version = 1;
	item.length = 44;
	memset(body, 0, sizeof(body));
	put(body, 040755, 2);
	put(body + 4, 70000, 4);
	put(body + 8, 1000, 8);
	put(body + 16, 3000000000, 4);
	put(body + 36, 2, 4);
	assert_true(rfs_inode_decode(&f.r, &item, &i));
	assert_int_equal(i.type, FSA_TYPE_DIRECTORY);
	assert_int_equal(i.links, 70000);
	assert_int_equal(i.uid, 3000000000);
	assert_int_equal(rfs_st_blocks(&f.r, &i), (1000 + 44) / 512);
	assert_int_equal(fsa_findings_count(f.fs.findings), 0);
	/* A length that goes with the other version. */
	item.length = 32;
	assert_false(rfs_inode_decode(&f.r, &item, &i));
	assert_int_equal(fsa_findings_count(f.fs.findings), 1);
	fsa_findings_free(f.fs.findings);
}

static void places(void **state)
{
	struct rfs r = { .block_size = 4096, .block_log = 12, .blocks = 100000, .bitmaps = 4, .sb_offset = 65536, .journal_first = 18, .journal_size = 8192 };

	(void)state;
	assert_int_equal(rfs_bitmap_block(&r, 0), 17);
	assert_int_equal(rfs_bitmap_block(&r, 3), 3 * 32768);
	assert_false(rfs_block_ok(&r, 16));
	assert_false(rfs_block_ok(&r, 17));
	assert_false(rfs_block_ok(&r, 18));
	assert_false(rfs_block_ok(&r, 18 + 8192));
	assert_true(rfs_block_ok(&r, 18 + 8193));
	assert_false(rfs_block_ok(&r, 32768));
	assert_true(rfs_block_ok(&r, 99999));
	assert_false(rfs_block_ok(&r, 100000));
	/* The old place: all bitmaps in a row. */
	r.sb_offset = 8192;
	r.old_place = true;
	assert_int_equal(rfs_bitmap_block(&r, 3), 6);
	assert_true(rfs_block_ok(&r, 32768));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hashes), cmocka_unit_test(keys), cmocka_unit_test(key_order), cmocka_unit_test(item_heads),
		cmocka_unit_test(node_heads), cmocka_unit_test(stat_data), cmocka_unit_test(places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
