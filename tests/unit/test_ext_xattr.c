/* SPDX-License-Identifier: GPL-2.0-only */
/* Extended attributes of ext inside an inode, from bytes: names, values, ACLs. */
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

struct listed {
	unsigned count;
	char name[8][300];
	uint8_t value[8][300];
	size_t length[8];
};

static enum fsa_status on_xattr(void *arg, const char *name, const void *value, size_t length)
{
	struct listed *l = arg;

	assert_true(l->count < 8 && length <= 300);
	snprintf(l->name[l->count], sizeof(l->name[0]), "%s", name);
	memcpy(l->value[l->count], value, length);
	l->length[l->count++] = length;
	return FSA_OK;
}

/* An inode of 256 bytes with its area of attributes, 96 bytes from the magic on; returns the first entry. */
static uint8_t *inode_with_area(struct ext_fixture *f)
{
	uint8_t *raw;

	ef_begin(f, 256);
	raw = ef_inode(f, 12);
	EF_SET(raw, i_mode, S_IFREG | 0644);
	EF_SET(raw, i_extra_isize, 28);
	ef_put(raw + 128 + 28, EXT_XATTR_MAGIC, 4);
	return raw + 128 + 28 + 4;
}

/* An entry; `place` counts from the first entry. Returns where the next goes. */
static uint8_t *put(uint8_t *first, uint8_t *at, uint8_t index, const char *name, uint16_t place, const void *value, uint32_t size)
{
	const size_t n = strlen(name);

	at[0] = (uint8_t)n;
	at[1] = index;
	ef_put(at + 2, place, 2);
	ef_put(at + 4, 0, 4);
	ef_put(at + 8, size, 4);
	memcpy(at + 16, name, n);
	if (value != NULL)
		memcpy(first + place, value, size);
	return at + ((16 + n + 3) & ~(size_t)3);
}

static void list(struct ext_fixture *f, struct listed *l)
{
	memset(l, 0, sizeof(*l));
	assert_int_equal(ext_xattrs(&f->fs, ef_ref(12), on_xattr, l), FSA_OK);
}

static void test_names_and_values(void **state)
{
	struct ext_fixture f;
	struct listed l;
	uint8_t *first = inode_with_area(&f), *p;

	(void)state;
	p = put(first, first, 1, "one", 92, "abc", 3);
	p = put(first, p, 4, "t", 88, "\0\1\2\3", 4);
	p = put(first, p, 6, "", 0, NULL, 0);
	ef_put(p, 0, 4);
	list(&f, &l);
	assert_int_equal(fsa_findings_count(f.findings), 0);
	assert_int_equal(l.count, 3);
	assert_string_equal(l.name[0], "user.one");
	assert_int_equal(l.length[0], 3);
	assert_memory_equal(l.value[0], "abc", 3);
	assert_string_equal(l.name[1], "trusted.t");
	assert_memory_equal(l.value[1], "\0\1\2\3", 4);
	assert_string_equal(l.name[2], "security.");
	assert_int_equal(l.length[2], 0);
	ef_end(&f);
}

static void test_acl(void **state)
{
	/* As stored: version 1, user_obj rwx, user 1000 r-x, group_obj r-x, group 70000 r--, mask rwx, other ---. */
	static const uint8_t stored[] = {
		1, 0, 0, 0, 0x01, 0, 7, 0, 0x02, 0, 5, 0, 0xe8, 3, 0, 0, 0x04, 0, 5, 0,
		0x08, 0, 4, 0, 0x70, 0x11, 1, 0, 0x10, 0, 7, 0, 0x20, 0, 0, 0,
	};
	/* As getxattr(2) gives it: version 2, every entry with an id. */
	static const uint8_t want[] = {
		2, 0, 0, 0,
		0x01, 0, 7, 0, 0xff, 0xff, 0xff, 0xff, 0x02, 0, 5, 0, 0xe8, 3, 0, 0,
		0x04, 0, 5, 0, 0xff, 0xff, 0xff, 0xff, 0x08, 0, 4, 0, 0x70, 0x11, 1, 0,
		0x10, 0, 7, 0, 0xff, 0xff, 0xff, 0xff, 0x20, 0, 0, 0, 0xff, 0xff, 0xff, 0xff,
	};
	struct ext_fixture f;
	struct listed l;
	uint8_t *first = inode_with_area(&f), *p;

	(void)state;
	p = put(first, first, 2, "", 96 - sizeof(stored), stored, sizeof(stored));
	ef_put(p, 0, 4);
	list(&f, &l);
	assert_int_equal(l.count, 1);
	assert_string_equal(l.name[0], "system.posix_acl_access");
	assert_int_equal(l.length[0], sizeof(want));
	assert_memory_equal(l.value[0], want, sizeof(want));

	/* Cut off in the middle of an entry, and of an unknown version: said, and left out. */
	ef_put(first + 8, sizeof(stored) - 2, 4);
	first[1] = 3;
	ext_table_cache_free(f.ext.cache);
	f.ext.cache = NULL;
	list(&f, &l);
	assert_int_equal(l.count, 0);
	assert_int_equal(fsa_findings_count(f.findings), 1);
	ef_end(&f);
}

static void test_values_outside(void **state)
{
	static const struct { uint16_t place; uint32_t size; } cases[] = {
		{ 96, 1 }, { 93, 4 }, { 65532, 4 }, { 60, 0xffffffffu }, { 0, 97 },
	};

	(void)state;
	for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
		struct ext_fixture f;
		struct listed l;
		uint8_t *first = inode_with_area(&f), *p;

		p = put(first, first, 1, "bad", cases[k].place, NULL, cases[k].size);
		ef_put(p, 0, 4);
		list(&f, &l);
		assert_int_equal(l.count, 0);
		assert_int_equal(fsa_findings_count(f.findings), 1);
		assert_int_equal(fsa_findings_at(f.findings, 0)->number, 12);
		ef_end(&f);
	}
}

static void test_no_end(void **state)
{
	struct ext_fixture f;
	struct listed l;
	uint8_t *first = inode_with_area(&f);

	(void)state;
	/* Entries up to the last byte, and no terminator. */
	for (unsigned at = 0; at < 96; at += 16) {
		first[at] = 0;
		first[at + 1] = 1;
	}
	list(&f, &l);
	assert_true(l.count <= 6);
	/* No magic: no attributes, and nothing to say. */
	ef_put(first - 4, 0, 4);
	ef_end(&f);
	first = inode_with_area(&f);
	ef_put(first - 4, 0x12345678, 4);
	list(&f, &l);
	assert_int_equal(l.count, 0);
	ef_end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_and_values),
		cmocka_unit_test(test_acl),
		cmocka_unit_test(test_values_outside),
		cmocka_unit_test(test_no_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
