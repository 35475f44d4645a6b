/* SPDX-License-Identifier: GPL-2.0-only */
/* The parts of populate that stand on their own: digests, content, text, words, the model. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <cmocka.h>

#include "populate/base64.h"
#include "populate/lib_tree.h"
#include "populate/model.h"
#include "populate/shared/pop_sha256.h"
#include "populate/shared/collection.h"
#include "populate/shared/pop_names.h"
#include "populate/shared/pop_rand.h"
#include "populate/shared/pop_text.h"
#include "populate/words.h"

static void digest(const char *text, size_t repeat, size_t piece, char hex[65])
{
	struct pop_sha256 s;
	size_t len = strlen(text), total = len * repeat;
	char *all = malloc(total + 1);

	assert_non_null(all);
	for (size_t i = 0; i < repeat; i++)
		memcpy(all + i * len, text, len);
	pop_sha256_init(&s);
	for (size_t at = 0; at < total; at += piece)
		pop_sha256_add(&s, all + at, total - at < piece ? total - at : piece);
	pop_sha256_hex(&s, hex);
	free(all);
}

/* The examples of FIPS 180-2, in pieces that take both ways through the code. */
static void test_sha256(void **state)
{
	static const struct {
		const char *text;
		size_t repeat;
		const char *hex;
	} cases[] = {
		{ "", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
		{ "abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
		{ "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
		  "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1" },
		{ "a", 1000000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0" },
	};
	static const size_t pieces[] = { 1, 55, 63, 64, 65, 511, 512, 4096, 1000000 };
	char hex[65];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (size_t p = 0; p < sizeof(pieces) / sizeof(pieces[0]); p++) {
			digest(cases[i].text, cases[i].repeat, pieces[p], hex);
			assert_string_equal(hex, cases[i].hex);
		}
}

/* Any piece is the same as that piece of the whole, and the bytes never change between versions. */
static void test_content(void **state)
{
	unsigned char whole[200], part[200];

	(void)state;
	pop_content(7, 0, whole, sizeof(whole));
	for (size_t from = 0; from < 40; from++)
		for (size_t len = 0; len < 100; len++) {
			pop_content(7, from, part, len);
			assert_memory_equal(part, whole + from, len);
		}
	pop_content(8, 0, part, sizeof(part));
	assert_memory_not_equal(part, whole, sizeof(part));
	/* splitmix64's finisher maps 0 to 0, so the first word of seed 0 is 0. */
	pop_content(0, 0, part, 8);
	assert_memory_equal(part, "\0\0\0\0\0\0\0\0", 8);
	/* Behind it comes what splitmix64 gives first from state 0: e220a8397b1dcdaf. */
	pop_content(0, 8, part, 8);
	assert_memory_equal(part, "\xaf\xcd\x1d\x7b\x39\xa8\x20\xe2", 8);
}

static void test_text(void **state)
{
	char line[] = "st a%20b%25%ff  3\n", broken[] = "x%2", nul[] = "%00";
	char *field[8];
	uint64_t number;

	(void)state;
	assert_int_equal(pop_text_split(line, field, 8), 4);
	assert_string_equal(field[1], "a b%\xff");
	assert_string_equal(field[2], "");
	assert_string_equal(field[3], "3");
	assert_int_equal(pop_text_split(broken, field, 8), -1);
	assert_int_equal(pop_text_split(nul, field, 8), -1);
	assert_int_equal(pop_text_u64("18446744073709551615", &number), 0);
	assert_int_equal(pop_text_u64("18446744073709551616", &number), -1);
	assert_int_equal(pop_text_u64("-1", &number), -1);
	assert_int_equal(pop_text_u64("1x", &number), -1);
}

static void test_words(void **state)
{
	struct pop_words w = { 0 }, open_quote = { 0 };
	char *line;

	(void)state;
	pop_words_split(&w, "  -a 'b c' \"d'e\" f\\ g '' ");
	assert_false(w.failed);
	assert_int_equal(w.count, 5);
	assert_string_equal(w.word[1], "b c");
	assert_string_equal(w.word[2], "d'e");
	assert_string_equal(w.word[3], "f g");
	assert_string_equal(w.word[4], "");
	line = pop_words_join(&w);
	assert_string_equal(line, "-a 'b c' 'd'\\''e' 'f g' ''");
	free(line);
	pop_words_free(&w);
	pop_words_split(&open_quote, "-a 'b");
	assert_true(open_quote.failed);
	pop_words_free(&open_quote);
}

static void test_base64_and_utf8(void **state)
{
	static const char *const in[] = { "", "f", "fo", "foo", "foob", "fooba", "foobar" };
	static const char *const out[] = { "", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy" };
	static const char *const good[] = { "", "a\n", "\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x98\x80" };
	static const char *const bad[] = { "\x80", "\xc0\xaf", "\xe2\x82", "\xed\xa0\x80", "\xf4\x90\x80\x80",
					   "\xff", "\xf0\x80\x80\x80" };

	(void)state;
	for (size_t i = 0; i < 7; i++) {
		char *text = pop_base64(in[i], strlen(in[i]));

		assert_string_equal(text, out[i]);
		free(text);
	}
	for (size_t i = 0; i < 5; i++)
		assert_true(pop_is_utf8(good[i]));
	for (size_t i = 0; i < 7; i++)
		assert_false(pop_is_utf8(bad[i]));
}

/* A short collection whose outcome is known. */
static int run_example(const struct pop_collection_args *args, struct pop_sink *sink)
{
	static const struct pop_range data[] = { { 100, 50 }, { 0, 10 }, { 150, 50 } };
	const struct pop_op ops[] = {
		{ .kind = POP_MKDIR, .path = "d", .mode = 0755 },
		{ .kind = POP_CREATE, .path = "d/f", .mode = 0600, .size = 300, .source = { .seed = args->seed },
		  .data = data, .data_count = 3 },
		{ .kind = POP_LINK, .path = "a", .target = "d/f" },
		{ .kind = POP_PREALLOC, .path = "a", .range = { 140, 100 }, .keep_size = true },
		{ .kind = POP_TRUNCATE, .path = "a", .size = 170 },
		{ .kind = POP_TRUNCATE, .path = "a", .size = 500 },
		{ .kind = POP_CREATE, .path = "gone", .mode = 0600 },
		{ .kind = POP_UNLINK, .path = "gone" },
		{ .kind = POP_CREATE, .path = "gone", .mode = 0644 },
		{ .kind = POP_SETXATTR, .path = "a", .name = "user.x", .value = "1", .value_len = 1 },
	};

	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		int ret = sink->emit(sink, &ops[i]);

		if (ret < 0)
			return ret;
	}
	return 0;
}

static void test_model(void **state)
{
	const struct pop_collection example = { .name = "example", .run = run_example };
	const struct pop_collection_args args = { .name = "example", .seed = 3 };
	const struct pop_refusal refusal = { 9, 95 };
	const struct pop_node *f;
	struct pop_model m;

	(void)state;
	assert_int_equal(pop_model_build(&m, &example, &args, &refusal, 1), 0);
	assert_int_equal(m.count, 5);
	assert_string_equal(m.entries[1].path, "a");
	assert_string_equal(m.entries[3].path, "d/f");
	assert_string_equal(m.entries[4].path, "gone");
	assert_int_equal(m.entries[4].node->mode, S_IFREG | 0644);
	f = m.entries[1].node;
	assert_ptr_equal(f, m.entries[3].node);
	assert_int_equal(f->nlink, 2);
	assert_string_equal(f->first, "a");
	assert_int_equal(f->size, 500);
	assert_int_equal(f->written.count, 2);
	assert_int_equal(f->written.list[1].offset, 100);
	assert_int_equal(f->written.list[1].length, 70);
	/* Cut at 170, and all before that is written. */
	assert_int_equal(f->unwritten.count, 0);
	assert_int_equal(f->xattr_count, 0);
	assert_int_equal(m.left_out_count, 1);
	assert_string_equal(m.left_out[0].name, "user.x");
	pop_model_free(&m);
}

struct sum_sink {
	struct pop_sink sink;
	uint64_t sum, ops;
};

static int sum_emit(struct pop_sink *sink, const struct pop_op *op)
{
	struct sum_sink *s = (struct sum_sink *)(void *)sink;

	s->sum = pop_seed_of(s->sum ^ op->size ^ op->source.seed ^ (uint64_t)op->mtime ^ op->mode, op->path);
	s->ops++;
	return 0;
}

/* A seed is a tree; another one is another; every tree fits its model. */
static void test_collections(void **state)
{
	const struct pop_collection *c;

	(void)state;
	for (size_t i = 0; (c = pop_collection_at(i)) != NULL; i++) {
		struct pop_collection_args args = { .name = c->name, .files = 40, .seed = 1 };
		struct sum_sink s[3] = { { .sink = { sum_emit } }, { .sink = { sum_emit } },
					 { .sink = { sum_emit } } };
		struct pop_model m;

		assert_ptr_equal(pop_collection_complete(&args), c);
		assert_int_equal(c->run(&args, &s[0].sink), 0);
		assert_int_equal(c->run(&args, &s[1].sink), 0);
		args.seed = 2;
		assert_int_equal(c->run(&args, &s[2].sink), 0);
		assert_true(s[0].sum == s[1].sum && s[0].ops == s[1].ops);
		assert_true(s[0].sum != s[2].sum);
		assert_int_equal(pop_model_build(&m, c, &args, NULL, 0), 0);
		assert_true(m.count > 40);
		pop_model_free(&m);
	}
}

static void test_names(void **state)
{
	struct pop_names names = { 0 };
	char path[32];
	const char *last;
	uint64_t dir;

	(void)state;
	assert_int_equal(pop_names_get(&names, "a"), 0);
	/* More than it starts with, a third removed on the way. */
	for (unsigned int i = 1; i <= 1000; i++) {
		snprintf(path, sizeof(path), "d/%u", i);
		assert_int_equal(pop_names_set(&names, path, i), 0);
		if (i % 3 == 0)
			assert_int_equal(pop_names_set(&names, path, 0), 0);
	}
	for (unsigned int i = 1; i <= 1000; i++) {
		snprintf(path, sizeof(path), "d/%u", i);
		assert_int_equal(pop_names_get(&names, path), i % 3 ? i : 0);
	}
	assert_int_equal(pop_names_parent(&names, "d/7/name", &dir, &last), 0);
	assert_int_equal(dir, 7);
	assert_string_equal(last, "name");
	assert_int_equal(pop_names_parent(&names, "d/9/name", &dir, &last), -ENOENT);
	assert_int_equal(pop_names_parent(&names, "top", &dir, &last), -ENOENT);
	assert_int_equal(pop_names_set(&names, ".", 5), 0);
	assert_int_equal(pop_names_parent(&names, "top", &dir, &last), 0);
	assert_int_equal(dir, 5);
	pop_names_free(&names);
}

static void test_holes(void **state)
{
	const struct pop_range whole = { 0, 100 }, later = { 1, 99 };
	const struct pop_range pieces[] = { { 0, 50 }, { 50, 50 } }, gap[] = { { 0, 50 }, { 51, 49 } };
	struct pop_op op = { .kind = POP_CREATE, .size = 100, .data = &whole, .data_count = 1 };

	(void)state;
	assert_false(lib_tree_hole(&op, 0));
	op.size = 101;
	assert_true(lib_tree_hole(&op, 0));
	op.size = 100;
	op.data = &later;
	assert_true(lib_tree_hole(&op, 0));
	op.data = pieces;
	op.data_count = 2;
	assert_false(lib_tree_hole(&op, 0));
	op.data = gap;
	assert_true(lib_tree_hole(&op, 0));
	op = (struct pop_op){ .kind = POP_CREATE };
	assert_false(lib_tree_hole(&op, 0));
	op = (struct pop_op){ .kind = POP_WRITE, .data = &later, .data_count = 1 };
	assert_true(lib_tree_hole(&op, 0));
	assert_false(lib_tree_hole(&op, 1));
	op = (struct pop_op){ .kind = POP_TRUNCATE, .size = 5 };
	assert_false(lib_tree_hole(&op, 5));
	assert_true(lib_tree_hole(&op, 4));
	op.kind = POP_PREALLOC;
	assert_true(lib_tree_hole(&op, 0));
	op.kind = POP_LINK;
	assert_false(lib_tree_hole(&op, 0));
}

/* A writer to which "b" and "B" are one name, and the second is not there. */
static int folding(struct pop_writer *w, const struct pop_op *op)
{
	(void)w;
	if (op->kind == POP_CREATE && strcmp(op->path, "B") == 0)
		return -EEXIST;
	return op->kind != POP_CREATE && strcmp(op->path, "B") == 0 ? -EIO : 0;
}

static int refused_run(const struct pop_collection_args *args, struct pop_sink *sink)
{
	static const struct pop_op ops[] = {
		{ .kind = POP_CREATE, .path = "b" }, { .kind = POP_CREATE, .path = "B" },
		{ .kind = POP_LINK, .path = "c", .target = "B" }, { .kind = POP_SETATTR, .path = "B" },
		{ .kind = POP_UNLINK, .path = "c" }, { .kind = POP_UNLINK, .path = "b" },
	};
	int ret = 0;

	(void)args;
	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]) && ret >= 0; i++)
		ret = sink->emit(sink, &ops[i]);
	return ret < 0 ? ret : 0;
}

/* What works on a refused name is refused with it and never reaches the writer. */
static void test_refused_names(void **state)
{
	const struct pop_collection collection = { .name = "refused", .run = refused_run };
	const struct pop_collection_args args = { .name = "refused" };
	struct pop_writer writer = { .apply = folding };
	struct pop_run run = { .writer = &writer };
	struct pop_model model;

	(void)state;
	assert_int_equal(pop_run(&run, &collection, &args), 0);
	assert_int_equal(run.refusal_count, 4);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(run.refusals[i].index, i + 1);
		assert_int_equal(run.refusals[i].err, EEXIST);
	}
	assert_int_equal(pop_model_build(&model, &collection, &args, run.refusals, run.refusal_count), 0);
	assert_int_equal(model.count, 1);
	assert_int_equal(model.left_out_count, 4);
	pop_model_free(&model);
	pop_run_free(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sha256), cmocka_unit_test(test_content),
		cmocka_unit_test(test_text), cmocka_unit_test(test_words),
		cmocka_unit_test(test_base64_and_utf8), cmocka_unit_test(test_model),
		cmocka_unit_test(test_collections),
		cmocka_unit_test(test_names), cmocka_unit_test(test_holes),
		cmocka_unit_test(test_refused_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
