/* SPDX-License-Identifier: GPL-2.0-only */
/* What no image at hand shows of Reiser4: short keys, the old number of a compression, places of backup blocks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include <zlib.h>

#include "parsers/reiser4/reiser4.h"

static void put(uint8_t *p, uint64_t value, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		p[i] = (uint8_t)(value >> 8 * i);
}

/* A name's bytes, highest first, behind `skip` bytes of the word. */
static uint64_t word(const char *name, size_t from, unsigned skip)
{
	uint64_t w = 0;

	for (unsigned i = skip; i < 8; i++) {
		size_t k = from + i - skip;

		w |= (uint64_t)(k < strlen(name) ? (uint8_t)name[k] : 0) << (56 - 8 * i);
	}
	return w;
}

struct seen {
	char names[4][64];
	struct fsa_ref refs[4];
	unsigned count;
};

static enum fsa_status see(void *arg, const struct r4_entry *e)
{
	struct seen *s = arg;

	assert_true(s->count < 4 && e->length < 64);
	memcpy(s->names[s->count], e->name, e->length);
	s->refs[s->count++] = e->ref;
	return FSA_OK;
}

/* An item with ".", a name in the key, and a hashed one, for either length of keys. */
static void check_names(bool large)
{
	struct r4 r = { .block_size = 4096, .large_keys = large, .key_bytes = large ? 32 : 24 };
	unsigned id = r.key_bytes - 8, unit = id + 2, at = 2 + 3 * unit;
	const char *in_key = large ? "abcdefghijklmnopqrstuvw" : "abcdefghijklmno";
	const char *hashed = "a-name-that-is-too-long-for-any-key";
	uint8_t body[512] = { 0 };
	struct r4_node n = { .block = 30 };
	struct r4_item item = { .plugin = R4_ITEM_ENTRIES, .body = body, .key = { .locality = 0x10000 << 4 } };
	struct seen s = { .count = 0 };

	put(body, 3, 2);
	for (unsigned i = 0; i < 3; i++) {
		uint8_t *key = body + 2 + i * unit;

		if (i == 1) {
			/* Fibration is no part of the name. */
			put(key, word(in_key, 0, 1) | UINT64_C(0x5e) << 56, 8);
			if (large)
				put(key + 8, word(in_key, 7, 0), 8);
			put(key + id - 8, word(in_key, large ? 15 : 7, 0), 8);
		} else if (i == 2) {
			put(key, word(hashed, 0, 1) | R4_NAME_HASHED, 8);
			put(key + id - 8, 0x1234567800, 8);
		}
		put(key + id, at, 2);
		put(body + at, (uint64_t)(0x10000 + i) << 4 | R4_KEY_STAT, 8);
		put(body + at + id - 8, 0x20000 + i, 8);
		at += id;
		if (i == 2) {
			strcpy((char *)body + at, hashed);
			at += (unsigned)strlen(hashed) + 1;
		}
	}
	item.length = at;
	assert_int_equal(r4_entries(&r, &n, &item, see, &s), FSA_OK);
	assert_int_equal(s.count, 3);
	assert_string_equal(s.names[0], ".");
	assert_string_equal(s.names[1], in_key);
	assert_string_equal(s.names[2], hashed);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(s.refs[i].word[0], (uint64_t)(0x10000 + i) << 4 | R4_KEY_STAT);
		assert_int_equal(s.refs[i].word[2], 0x20000 + i);
	}
	/* Cut anywhere, nothing is read behind the end and no entry without an end is shown. */
	for (item.length = 0; item.length < at; item.length++) {
		s = (struct seen){ .count = 0 };
		assert_int_equal(r4_entries(&r, &n, &item, see, &s), FSA_OK);
		assert_true(s.count < 3);
	}
}

static void large_names(void **state)
{
	(void)state;
	check_names(true);
}

static void short_names(void **state)
{
	(void)state;
	check_names(false);
}

static void short_keys(void **state)
{
	struct r4 r = { .key_bytes = 24 };
	uint8_t raw[24];
	struct r4_key k;

	(void)state;
	put(raw, 0x29 << 4 | 1, 8);
	put(raw + 8, 0x2a, 8);
	put(raw + 16, 77, 8);
	r4_key_get(&r, raw, &k);
	assert_int_equal(k.locality, 0x291);
	assert_int_equal(k.ordering, 0);
	assert_int_equal(k.objectid, 0x2a);
	assert_int_equal(k.offset, 77);
}

/* What number 2 meant before there was Zstandard. */
static void old_deflate(void **state)
{
	uint8_t plain[3000], packed[3000], out[3000];
	z_stream z = { 0 };

	(void)state;
	for (unsigned i = 0; i < sizeof(plain); i++)
		plain[i] = (uint8_t)(i / 7);
	assert_int_equal(deflateInit2(&z, 1, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY), Z_OK);
	z.next_in = plain;
	z.avail_in = sizeof(plain);
	z.next_out = packed;
	z.avail_out = sizeof(packed);
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	deflateEnd(&z);
	for (unsigned plugin = R4_COMPRESS_GZIP1; plugin <= R4_COMPRESS_ZSTD1; plugin++) {
		memset(out, 0, sizeof(out));
		assert_true(r4_unpack(plugin, packed, z.total_out, out, sizeof(out)));
		assert_memory_equal(out, plain, sizeof(plain));
		assert_false(r4_unpack(plugin, packed, z.total_out - 1, out, sizeof(out)));
		assert_false(r4_unpack(plugin, packed, z.total_out, out, sizeof(out) - 1));
	}
	assert_false(r4_unpack(3, packed, z.total_out, out, sizeof(out)));
}

struct places {
	uint64_t at[32];
	unsigned count;
};

static enum fsa_status note(void *arg, uint64_t block)
{
	struct places *p = arg;

	assert_true(p->count < 32);
	p->at[p->count++] = block;
	return FSA_OK;
}

static void backups(void **state)
{
	struct r4 r = { .block_size = 4096, .first = 16, .blocks = 102400 };
	struct places p = { .count = 0 };

	(void)state;
	assert_int_equal(r4_backups(&r, note, &p), FSA_OK);
	assert_int_equal(p.count, 3);
	assert_int_equal(p.at[0], 22);
	/* Spans of 32736 blocks: 40965 and 92170 are the first numbers of the series behind the first of them. */
	assert_int_equal(p.at[1], 32737);
	assert_int_equal(p.at[2], 65473);
	/* Behind a last bitmap block that describes only itself there is no room for one. */
	r.blocks = 32737;
	p.count = 0;
	assert_int_equal(r4_backups(&r, note, &p), FSA_OK);
	assert_int_equal(p.count, 1);
}

static void checksum(void **state)
{
	uint8_t bytes[10000];

	(void)state;
	for (unsigned i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(255 - i % 3);
	assert_int_equal(r4_adler32(bytes, sizeof(bytes)), adler32(1, bytes, sizeof(bytes)));
	assert_int_equal(r4_adler32(bytes, 0), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(large_names), cmocka_unit_test(short_names), cmocka_unit_test(short_keys), cmocka_unit_test(old_deflate),
		cmocka_unit_test(backups), cmocka_unit_test(checksum),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
