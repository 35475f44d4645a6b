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

struct fixture {
	struct fsa_fs fs;
	struct r4 r;
	uint8_t node[512];
};

static void begin(struct fixture *f, bool large)
{
	memset(f, 0, sizeof(*f));
	f->fs.findings = fsa_findings_new(20);
	f->r = (struct r4){
		.fs = &f->fs, .findings = f->fs.findings, .block_size = 512, .blocks = 1000, .large_keys = large,
		.key_bytes = large ? 32 : 24, .item_header_bytes = large ? 38 : 30, .mkfs_id = 77,
	};
}

/* A leaf with two tails: 100 bytes and 50. */
static void make_leaf(struct fixture *f)
{
	put(f->node + 2, 2, 2);
	put(f->node + 6, 28 + 150, 2);
	put(f->node + 4, 512 - 2 * f->r.item_header_bytes - (28 + 150), 2);
	put(f->node + 8, R4_NODE40_MAGIC, 4);
	put(f->node + 12, 77, 4);
	f->node[26] = 1;
	for (unsigned i = 0; i < 2; i++) {
		uint8_t *h = f->node + 512 - (i + 1) * f->r.item_header_bytes;

		put(h, 0x29 << 4 | R4_KEY_BODY, 8);
		put(h + f->r.key_bytes - 16, 0x10000 + i, 8);
		put(h + f->r.key_bytes, i ? 128 : 28, 2);
		put(h + f->r.key_bytes + 4, R4_ITEM_TAIL, 2);
	}
}

static void nodes(void **state)
{
	/* A field of the node or of its second item, the value, how many items are still shown. */
	static const struct { int at; uint64_t value; unsigned bytes, items; bool node; } wrong[] = {
		{ 0, 2, 2, 0, false },			/* plugin */
		{ 8, 0x12345678, 4, 0, false },		/* magic */
		{ 26, 2, 1, 0, false },			/* level */
		{ 12, 78, 4, 2, true },			/* number of the mkfs run */
		{ 2, 17, 2, 0, true },			/* more items than fit */
		{ 4, 7, 2, 2, true },			/* free bytes */
		{ 6, 27, 2, 2, true },			/* free space within the header */
		{ 6, 500, 2, 2, true },			/* free space within the item headers */
		{ -1, 27, 2, 0, true },			/* a body within the header */
		{ -1, 300, 2, 0, true },		/* a body behind the start of the free space */
	};
	struct fixture f;
	struct r4_node n;
	struct r4_item item;

	(void)state;
	for (unsigned large = 0; large < 2; large++) {
		begin(&f, large);
		make_leaf(&f);
		assert_true(r4_node_check(&f.r, 30, f.node, 1, &n));
		assert_int_equal(n.items, 2);
		r4_node_item(&f.r, &n, 0, &item);
		assert_int_equal(item.length, 100);
		assert_int_equal(item.key.objectid, 0x10000);
		r4_node_item(&f.r, &n, 1, &item);
		assert_int_equal(item.length, 50);
		assert_int_equal(item.offset, 128);
		assert_int_equal(item.plugin, R4_ITEM_TAIL);
		assert_int_equal(fsa_findings_count(f.fs.findings), 0);
		fsa_findings_free(f.fs.findings);
		for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
			begin(&f, large);
			make_leaf(&f);
			put(wrong[i].at < 0 ? f.node + 512 - 2 * f.r.item_header_bytes + f.r.key_bytes : f.node + wrong[i].at, wrong[i].value,
			    wrong[i].bytes);
			assert_int_equal(r4_node_check(&f.r, 30, f.node, 1, &n), wrong[i].node);
			if (wrong[i].node)
				assert_int_equal(n.items, wrong[i].items);
			assert_true(fsa_findings_count(f.fs.findings) > 0);
			/* Whatever it says, bodies that are shown lie in the node. */
			for (unsigned k = 0; wrong[i].node && k < n.items; k++) {
				r4_node_item(&f.r, &n, k, &item);
				assert_true(item.offset >= n.header_bytes && item.offset + item.length <= 512);
			}
			fsa_findings_free(f.fs.findings);
		}
	}
}

/* All extensions at once; then cut at each byte. */
static void stat_data(void **state)
{
	uint8_t body[160] = { 0 }, *p = body;
	struct r4_item item = { .plugin = R4_ITEM_STAT, .body = body };
	struct r4_node n = { .block = 30 };
	struct fixture f;
	struct r4_stat s;
	unsigned length;

	(void)state;
	begin(&f, true);
	put(p, 0x1ff, 2);
	put(p + 2, 0120777, 2);
	put(p + 4, 3, 4);
	put(p + 8, 6, 8);
	p += 16;
	put(p, 1000, 4);
	put(p + 4, 3000000000, 4);
	put(p + 8, 11, 4);
	put(p + 12, 12, 4);
	put(p + 16, 13, 4);
	put(p + 20, 4096, 8);
	p += 28;
	put(p, 21, 4);
	put(p + 4, 22, 4);
	put(p + 8, 23, 4);
	p += 12;
	memcpy(p, "target", 7);
	p += 7;
	put(p, 2, 2);			/* two plugins: the object's, and one of a member that nobody knows */
	put(p + 2, R4_PSET_OBJECT, 2);
	put(p + 4, R4_OBJECT_CRYPTCOMPRESS, 2);
	put(p + 6, 4000, 2);
	p += 10;
	put(p, 0x10, 4);		/* flags */
	p += 4 + 8 + 6;			/* capabilities, cluster keys */
	put(p, 1, 2);			/* what children inherit is not the object's own */
	put(p + 2, R4_PSET_COMPRESS, 2);
	put(p + 4, R4_COMPRESS_ZSTD1, 2);
	p += 6;
	length = item.length = (unsigned)(p - body);
	assert_true(r4_stat_decode(&f.r, &n, &item, &s));
	assert_int_equal(fsa_findings_count(f.fs.findings), 0);
	assert_int_equal(s.type, FSA_TYPE_SYMLINK);
	assert_int_equal(s.links, 3);
	assert_int_equal(s.size, 6);
	assert_int_equal(s.gid, 3000000000);
	assert_int_equal(s.ctime, 13);
	assert_int_equal(s.bytes, 4096);
	assert_int_equal(s.nsec[2], 23);
	assert_int_equal(s.target_length, 6);
	assert_memory_equal(body + s.target, "target", 6);
	assert_int_equal(s.flags, 0x10);
	assert_int_equal(s.plugins, 1u << R4_PSET_OBJECT);
	assert_false(s.compressed);
	assert_int_equal(r4_stat_plugin(&f.r, &s, R4_PSET_OBJECT), R4_OBJECT_CRYPTCOMPRESS);
	f.r.pset[R4_PSET_COMPRESS] = R4_COMPRESS_GZIP1;
	assert_int_equal(r4_stat_plugin(&f.r, &s, R4_PSET_COMPRESS), R4_COMPRESS_GZIP1);
	for (item.length = 0; item.length < length; item.length++)
		assert_false(r4_stat_decode(&f.r, &n, &item, &s));
	/* A byte too much, and an extension that nobody knows. */
	item.length = length + 1;
	fsa_findings_free(f.fs.findings);
	f.r.findings = f.fs.findings = fsa_findings_new(20);
	assert_true(r4_stat_decode(&f.r, &n, &item, &s));
	assert_int_equal(fsa_findings_count(f.fs.findings), 1);
	put(body, 0x3ff, 2);
	assert_true(r4_stat_decode(&f.r, &n, &item, &s));
	assert_int_equal(fsa_findings_count(f.fs.findings), 2);
	fsa_findings_free(f.fs.findings);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(large_names), cmocka_unit_test(short_names), cmocka_unit_test(short_keys), cmocka_unit_test(old_deflate),
		cmocka_unit_test(backups), cmocka_unit_test(checksum), cmocka_unit_test(nodes), cmocka_unit_test(stat_data),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
