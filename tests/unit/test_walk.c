/* SPDX-License-Identifier: GPL-2.0-only */
/* Paths and walks, against a made-up format. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mock_fs.h"

/* --- lookup -------------------------------------------------------------------------------------- */

static const struct mock_name tree_root[] = {
	{ "sub", 0, 1, true }, { "file", 0, 2, true }, { "link", 0, 3, false }, { "#2", 0, 4, true },
	{ "gone", 0, 99, false },
};
static const struct mock_name tree_sub[] = { { "deep", 0, 5, false }, { "file", 0, 4, true } };
static const struct mock_name tree_deep[] = { { "end", 0, 2, true } };
static const struct mock_inode tree[] = {
	{ DIR_OF(tree_root) },
	{ DIR_OF(tree_sub) },
	{ .type = FSA_TYPE_REGULAR, .size = 3 },
	{ .type = FSA_TYPE_SYMLINK, .size = 3 },
	{ .type = FSA_TYPE_REGULAR, .size = 4 },
	{ DIR_OF(tree_deep) },
};
#define N_TREE (sizeof(tree) / sizeof(tree[0]))

static void test_lookup(void **state)
{
	static const struct { const char *path; enum fsa_status status; uint64_t inode; } cases[] = {
		{ "", FSA_OK, 0 }, { "/", FSA_OK, 0 }, { "//", FSA_OK, 0 }, { ".", FSA_OK, 0 },
		{ "..", FSA_OK, 0 }, { "/sub", FSA_OK, 1 }, { "sub/", FSA_OK, 1 }, { "sub//deep/end", FSA_OK, 2 },
		{ "sub/../file", FSA_OK, 2 }, { "sub/deep/../file", FSA_OK, 4 }, { "./sub/./deep", FSA_OK, 5 },
		{ "../../sub", FSA_OK, 1 }, { "file/", FSA_ENOTDIR, 0 }, { "file/x", FSA_ENOTDIR, 0 },
		{ "file/..", FSA_ENOTDIR, 0 }, { "link", FSA_OK, 3 }, { "link/x", FSA_ENOTDIR, 0 },
		{ "nope", FSA_ENOENT, 0 }, { "sub/nope", FSA_ENOENT, 0 }, { "nope/..", FSA_ENOENT, 0 },
		{ "#2", FSA_OK, 2 }, { "<2>", FSA_OK, 2 }, { "/#2", FSA_OK, 4 }, { "#77", FSA_ENOENT, 0 },
		{ "#99999999999999999999999", FSA_ENOENT, 0 }, { "<2", FSA_ENOENT, 0 }, { "<>", FSA_ENOENT, 0 },
		{ "#", FSA_ENOENT, 0 }, { "gone", FSA_OK, 99 }, { "gone/x", FSA_EDAMAGED, 0 },
	};
	struct mock_fs f;

	(void)state;
	mock_begin(&f, tree, N_TREE);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fsa_ref ref = mock_ref(1000);
		struct fsa_error err = { FSA_OK, "" };
		enum fsa_status status = fsa_lookup(&f.fs, cases[i].path, &ref, &err);

		if (status != cases[i].status || (status == FSA_OK && ref.word[0] != cases[i].inode))
			fail_msg("%s: status %d, inode %llu", cases[i].path, status,
				 (unsigned long long)ref.word[0]);
		if (status != FSA_OK) {
			assert_int_equal(err.status, status);
			assert_non_null(strstr(err.message, "mock.img: "));
		}
	}
	mock_end(&f);
}

static void test_lookup_in(void **state)
{
	struct mock_fs f;
	struct fsa_dirent entry;
	char name[] = "file";

	(void)state;
	mock_begin(&f, tree, N_TREE);
	assert_int_equal(fsa_lookup_in(&f.fs, mock_ref(0), name, 4, &entry), FSA_OK);
	assert_int_equal(entry.number, 2);
	assert_ptr_equal(entry.name, name);
	assert_int_equal(fsa_lookup_in(&f.fs, mock_ref(0), name, 3, &entry), FSA_ENOENT);
	assert_int_equal(fsa_lookup_in(&f.fs, mock_ref(0), "..", 2, &entry), FSA_ENOENT);
	assert_int_equal(fsa_lookup_in(&f.fs, mock_ref(99), name, 4, &entry), FSA_EDAMAGED);
	mock_end(&f);
}

struct collected {
	char text[2048];	/* "D0+10" data, H hole, ... in the order they came */
};

/* --- walks --------------------------------------------------------------------------------------- */

static enum fsa_status collect_walk(void *arg, const struct fsa_walk_entry *e)
{
	struct collected *c = arg;
	size_t used = strlen(c->text);

	assert_int_equal(strlen(e->path), e->path_length);
	assert_int_equal(e->entry == NULL, e->depth == 0);
	snprintf(c->text + used, sizeof(c->text) - used, "%u:%s%s ", e->depth, e->path, e->stat ? "" : "?");
	return FSA_OK;
}

static void test_walk(void **state)
{
	struct mock_fs f;
	struct collected c = { "" };

	(void)state;
	mock_begin(&f, tree, N_TREE);
	assert_int_equal(fsa_walk(&f.fs, mock_ref(0), true, collect_walk, &c), FSA_OK);
	assert_string_equal(c.text, "0: 1:file 1:link 1:#2 1:gone? 1:sub 2:sub/file 2:sub/deep 3:sub/deep/end ");
	c.text[0] = '\0';
	assert_int_equal(fsa_walk_listings(&f.fs, mock_ref(0), true, collect_walk, &c), FSA_OK);
	assert_string_equal(c.text, "0: 1:sub 1:file 1:link 1:#2 1:gone? 2:sub/deep 2:sub/file 3:sub/deep/end ");
	c.text[0] = '\0';
	assert_int_equal(fsa_walk(&f.fs, mock_ref(1), false, collect_walk, &c), FSA_OK);
	assert_string_equal(c.text, "0: 1:file 1:deep ");
	c.text[0] = '\0';
	assert_int_equal(fsa_walk(&f.fs, mock_ref(2), true, collect_walk, &c), FSA_OK);
	assert_string_equal(c.text, "0: ");
	mock_end(&f);
}

static void test_walk_hostile(void **state)
{
	static const struct mock_name root[] = {
		{ "..", 0, 2, true }, { ".", 0, 2, true }, { "../x", 0, 2, true }, { "/etc/passwd", 0, 2, true },
		{ "a\0b", 3, 2, true }, { "same", 0, 2, true }, { "same", 0, 1, true }, { "back", 0, 0, true },
		{ "one", 0, 1, true }, { "two", 0, 1, true },
	};
	static const struct mock_name sub[] = { { "up", 0, 0, false }, { "self", 0, 1, true } };
	static const struct mock_inode inodes[] = {
		{ DIR_OF(root) }, { DIR_OF(sub), .after = FSA_EDAMAGED }, { .type = FSA_TYPE_REGULAR },
	};
	struct mock_fs f;
	struct collected c = { "" };
	char *path;

	(void)state;
	mock_begin(&f, inodes, 3);
	assert_int_equal(fsa_walk(&f.fs, mock_ref(0), true, collect_walk, &c), FSA_OK);
	assert_string_equal(c.text, "0: 1:same 1:back 1:one 2:one/up 2:one/self 1:two ");
	c.text[0] = '\0';
	assert_int_equal(fsa_walk_listings(&f.fs, mock_ref(0), true, collect_walk, &c), FSA_OK);
	assert_string_equal(c.text, "0: 1:same 1:back 1:one 1:two 2:one/up 2:one/self ");
	assert_true(mock_found(&f, "\"../x\" of inode 2 holds a slash"));
	assert_true(mock_found(&f, "\"a\xe2\x90\x80" "b\" of inode 2 holds a NUL"));
	assert_true(mock_found(&f, "\"same\" of inode 1 is already that of inode 2"));
	assert_true(mock_found(&f, "under the name \"two\" was already met"));
	assert_true(mock_found(&f, "under the name \"self\" was already met"));
	assert_int_equal(fsa_path_of(&f.fs, mock_ref(77), &path), FSA_ENOENT);
	mock_end(&f);
}

static enum fsa_status deepest(void *arg, const struct fsa_walk_entry *e)
{
	unsigned *depth = arg;

	if (e->depth > *depth)
		*depth = e->depth;
	return FSA_OK;
}

static void test_walk_bounded(void **state)
{
	struct mock_fs f;
	unsigned depth = 0;

	(void)state;
	mock_begin(&f, tree, N_TREE);
	f.mock.chain = 100;
	assert_int_equal(fsa_walk(&f.fs, mock_ref(100), true, deepest, &depth), FSA_OK);
	assert_true(depth > 1000 && depth < 100000);
	assert_true(mock_found(&f, "levels below the start"));
	mock_end(&f);
}

/* A directory of many names, several of them directories with many names: order, growth, no loss. */
struct counted {
	unsigned seen;
	uint64_t last;
	bool ordered;
};

static enum fsa_status count_entries(void *arg, const struct fsa_walk_entry *e)
{
	struct counted *c = arg;

	if (e->depth == 1) {
		uint64_t at = strtoull(e->path + 1, NULL, 10);

		if (c->seen && at != c->last + 1)
			c->ordered = false;
		c->last = at;
		c->seen++;
	}
	return FSA_OK;
}

static void test_walk_large(void **state)
{
	enum { MANY = 50000 };
	struct mock_name *names = calloc(MANY, sizeof(*names));
	char (*text)[16] = calloc(MANY, sizeof(*text));
	struct mock_inode inodes[2] = { { .type = FSA_TYPE_DIRECTORY }, { .type = FSA_TYPE_REGULAR } };
	struct counted c = { .ordered = true };
	struct mock_fs f;

	(void)state;
	assert_non_null(names);
	assert_non_null(text);
	for (int i = 0; i < MANY; i++) {
		snprintf(text[i], sizeof(text[i]), "n%d", i);
		names[i] = (struct mock_name){ text[i], 0, 1, true };
	}
	inodes[0].names = names;
	inodes[0].n_names = MANY;
	mock_begin(&f, inodes, 2);
	assert_int_equal(fsa_walk(&f.fs, mock_ref(0), true, count_entries, &c), FSA_OK);
	assert_int_equal(c.seen, MANY);
	assert_true(c.ordered);
	assert_int_equal(fsa_findings_count(f.fs.findings), 0);
	mock_end(&f);
	free(names);
	free(text);
}

static void test_path_of(void **state)
{
	static const struct { uint64_t inode; const char *path; } cases[] = {
		{ 0, "/" }, { 1, "/sub" }, { 5, "/sub/deep" }, { 2, "/file" }, { 4, "/#2" }, { 3, "/link" },
	};
	struct mock_fs f;
	char *path;

	(void)state;
	mock_begin(&f, tree, N_TREE);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(fsa_path_of(&f.fs, mock_ref(cases[i].inode), &path), FSA_OK);
		assert_string_equal(path, cases[i].path);
		free(path);
	}
	mock_end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lookup),
		cmocka_unit_test(test_lookup_in),
		cmocka_unit_test(test_walk),
		cmocka_unit_test(test_walk_hostile),
		cmocka_unit_test(test_walk_bounded),
		cmocka_unit_test(test_walk_large),
		cmocka_unit_test(test_path_of),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
