/* SPDX-License-Identifier: GPL-2.0-only */
/* btrfs, the parts that need no image: where logical bytes lie for each profile, the order of keys, hashes of names,
 * the framing of lzo. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <lzo/lzo1x.h>

#include "parsers/btrfs/btrfs.h"

#define K64 UINT64_C(65536)
#define START (UINT64_C(1) << 30)

/* A filesystem of one chunk whose stripe i starts at (i + 1) MiB of device i. */
struct map {
	struct btr b;
	struct btr_device devices[8];
	struct btr_stripe stripes[8];
	struct btr_chunk chunk;
};

static void make(struct map *m, uint64_t profile, unsigned stripes, unsigned rows)
{
	memset(m, 0, sizeof(*m));
	m->b.sectorsize = 4096;
	m->b.nodesize = 16384;
	m->b.devices = m->devices;
	m->b.stripes = m->stripes;
	m->b.chunks = &m->chunk;
	m->b.n_devices = m->b.n_stripes = stripes;
	m->b.n_chunks = 1;
	for (unsigned i = 0; i < stripes; i++) {
		m->devices[i] = (struct btr_device){ .devid = i + 1, .image = (int)i };
		m->stripes[i] = (struct btr_stripe){ .device = i, .offset = (i + 1) * (UINT64_C(1) << 20) };
	}
	m->chunk = (struct btr_chunk){
		.logical = START, .type = BTRFS_BLOCK_GROUP_DATA | profile, .n_stripes = stripes,
		.sub_stripes = profile == BTRFS_BLOCK_GROUP_RAID10 ? 2 : 1,
	};
	m->chunk.length = rows * K64 * btr_data_stripes(&m->chunk);
}

/* Byte `at` of the chunk lies at `in_stripe` of these stripes, in this order, for `run` bytes. */
static void lies(const struct map *m, uint64_t at, uint64_t in_stripe, uint64_t run, unsigned copies, const unsigned *stripes)
{
	struct btr_segment s;

	assert_true(btr_segment_at(&m->b, START + at, UINT64_MAX, &s));
	assert_int_equal(s.logical, START + at);
	assert_int_equal(s.length, run);
	assert_int_equal(s.copies, copies);
	for (unsigned i = 0; i < copies; i++) {
		assert_int_equal(s.copy[i].stripe, stripes[i]);
		assert_int_equal(s.copy[i].image, stripes[i]);
		assert_int_equal(s.copy[i].physical, m->stripes[stripes[i]].offset + in_stripe);
	}
}

#define LIES(m, at, in_stripe, run, ...) \
	lies(m, at, in_stripe, run, sizeof((unsigned[]){ __VA_ARGS__ }) / sizeof(unsigned), (unsigned[]){ __VA_ARGS__ })

static void test_plain(void **state)
{
	struct btr_segment s;
	struct map m;

	(void)state;
	make(&m, 0, 1, 4);
	LIES(&m, 0, 0, 4 * K64, 0);
	LIES(&m, 100, 100, 4 * K64 - 100, 0);
	assert_false(btr_segment_at(&m.b, START + 4 * K64, 1, &s));
	assert_false(btr_segment_at(&m.b, START - 1, 1, &s));
	assert_true(btr_segment_at(&m.b, START + 5, 7, &s));
	assert_int_equal(s.length, 7);
	make(&m, BTRFS_BLOCK_GROUP_RAID1C3, 3, 4);
	LIES(&m, K64 + 1, K64 + 1, 3 * K64 - 1, 0, 1, 2);
	assert_int_equal(btr_mirrors(&m.b, START), 3);
	assert_int_equal(btr_mirrors(&m.b, START - 1), 0);
}

static void test_striped(void **state)
{
	struct map m;

	(void)state;
	make(&m, BTRFS_BLOCK_GROUP_RAID0, 3, 4);
	LIES(&m, 0, 0, K64, 0);
	LIES(&m, K64 + 4096, 4096, K64 - 4096, 1);
	LIES(&m, 2 * K64, 0, K64, 2);
	LIES(&m, 3 * K64, K64, K64, 0);
	LIES(&m, 11 * K64 + 1, 3 * K64 + 1, K64 - 1, 2);
	make(&m, BTRFS_BLOCK_GROUP_RAID10, 4, 4);
	LIES(&m, 0, 0, K64, 0, 1);
	LIES(&m, K64, 0, K64, 2, 3);
	LIES(&m, 2 * K64 + 8, K64 + 8, K64 - 8, 0, 1);
	LIES(&m, 7 * K64, 3 * K64, K64, 2, 3);
}

/* Row r starts at stripe r mod n; the parity stripes are those behind the data ones, around the end. */
static void test_parity(void **state)
{
	struct map m;

	(void)state;
	make(&m, BTRFS_BLOCK_GROUP_RAID5, 3, 4);
	assert_int_equal(btr_data_stripes(&m.chunk), 2);
	assert_int_equal(btr_stripe_bytes(&m.chunk), 4 * K64);
	LIES(&m, 0, 0, K64, 0);
	LIES(&m, K64, 0, K64, 1);
	LIES(&m, 2 * K64, K64, K64, 1);
	LIES(&m, 3 * K64, K64, K64, 2);
	LIES(&m, 4 * K64, 2 * K64, K64, 2);
	LIES(&m, 5 * K64, 2 * K64, K64, 0);
	LIES(&m, 6 * K64 + 12, 3 * K64 + 12, K64 - 12, 0);
	assert_int_equal(btr_mirrors(&m.b, START), 2);
	make(&m, BTRFS_BLOCK_GROUP_RAID6, 5, 6);
	assert_int_equal(btr_data_stripes(&m.chunk), 3);
	LIES(&m, 2 * K64, 0, K64, 2);
	LIES(&m, 3 * K64, K64, K64, 1);
	LIES(&m, 11 * K64, 3 * K64, K64, 0);
	LIES(&m, 15 * K64, 5 * K64, K64, 0);
	/* Itself, both parities, the second alone, and two with one more stripe taken for bad. */
	assert_int_equal(btr_mirrors(&m.b, START), 5);
}

static void test_keys(void **state)
{
	const struct btr_key rising[] = {
		{ 0, 0, 0 }, { 0, 0, 1 }, { 0, 1, 0 }, { 1, 0, 0 }, { 1, 84, UINT64_MAX }, { 1, 96, 0 }, { UINT64_MAX, 0, 0 },
		{ UINT64_MAX, 255, UINT64_MAX },
	};
	const uint8_t disk[17] = { 1, 2, 0, 0, 0, 0, 0, 0x80, 0xfe, 3, 0, 0, 0, 0, 0, 0, 0xff };
	const struct btr_key key = btr_disk_key(disk);

	(void)state;
	for (int i = 0; i < 8; i++)
		for (int k = 0; k < 8; k++)
			assert_int_equal(btr_key_cmp(rising[i], rising[k]), (i > k) - (i < k));
	assert_true(key.objectid == UINT64_C(0x8000000000000201) && key.type == 0xfe && key.offset == UINT64_C(0xff00000000000003));
}

/* --- lzo: a length of all, then for each sector of plain bytes a length and a stream ----------------------------------- */

struct framed { uint8_t bytes[16384]; size_t size; };

static void put32(uint8_t *p, size_t v)
{
	for (int i = 0; i < 4; i++)
		p[i] = (uint8_t)(v >> 8 * i);
}

/* `sizes` bytes a part; a length that would cross a sector starts in the next. */
static void frame(struct framed *f, const uint8_t *plain, const size_t *sizes, unsigned n)
{
	static uint8_t work[LZO1X_1_MEM_COMPRESS];

	memset(f, 0, sizeof(*f));
	f->size = 4;
	for (unsigned i = 0; i < n; plain += sizes[i++]) {
		lzo_uint length = sizeof(f->bytes) - f->size - 8;

		if (4096 - f->size % 4096 < 4)
			f->size += 4096 - f->size % 4096;
		assert_int_equal(lzo1x_1_compress(plain, sizes[i], f->bytes + f->size + 4, &length, work), LZO_E_OK);
		put32(f->bytes + f->size, length);
		f->size += 4 + length;
	}
	put32(f->bytes, f->size);
}

static const char *unframe(const struct framed *f, size_t in_size, size_t room, uint8_t *out, size_t *length)
{
	const struct btr b = { .sectorsize = 4096 };
	/* Of exactly that size, so that the sanitizers see a step outside. */
	uint8_t *in = malloc(in_size ? in_size : 1), *to = malloc(room ? room : 1);
	const char *trouble;

	assert_true(in && to);
	memcpy(in, f->bytes, in_size);
	trouble = btr_decompress(&b, 2, in, in_size, to, room, length);
	assert_true(*length <= room);
	memcpy(out, to, *length);
	free(in);
	free(to);
	return trouble;
}

static void test_lzo(void **state)
{
	static uint8_t plain[12288], out[12288];
	const size_t sizes[] = { 4096, 4096, 1000 };
	struct framed f, bad;
	size_t length;

	(void)state;
	/* Hardly compressible, so that parts are longer than a sector and cross one. */
	for (size_t i = 0; i < sizeof(plain); i++)
		plain[i] = (uint8_t)((i * i * 2654435761u + i * 40503u) >> 7);
	frame(&f, plain, sizes, 3);
	assert_true(f.size > 8192);
	assert_null(unframe(&f, f.size, 12288, out, &length));
	assert_int_equal(length, 9192);
	assert_memory_equal(out, plain, 9192);
	/* Behind its end lies what fills the sector. */
	assert_null(unframe(&f, f.size + 100, 9192, out, &length));
	/* Cut anywhere it is too short, never a step outside. */
	for (size_t cut = 0; cut < f.size; cut++)
		assert_non_null(unframe(&f, cut, 12288, out, &length));
	assert_string_equal(unframe(&f, f.size, 8192, out, &length), "the stream makes more bytes than that");
	assert_non_null(unframe(&f, f.size, 8191, out, &length));
	bad = f;
	put32(bad.bytes, f.size + 1);
	assert_string_equal(unframe(&bad, f.size, 12288, out, &length), "its own length is not that of the extent");
	put32(bad.bytes, 3);
	assert_non_null(unframe(&bad, f.size, 12288, out, &length));
	bad = f;
	put32(bad.bytes + 4, 0xffffffff);
	assert_string_equal(unframe(&bad, f.size, 12288, out, &length), "a part of the stream reaches behind its end");
}

/* Keys that mkfs.btrfs and the kernel wrote. */
static void test_name_hash(void **state)
{
	(void)state;
	assert_int_equal(btr_name_hash("default", 7), 2378154706u);
	assert_int_equal(btr_name_hash("user.comment", 12), 3011624986u);
	assert_int_equal(btr_name_hash("", 0), ~1u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain), cmocka_unit_test(test_striped), cmocka_unit_test(test_parity),
		cmocka_unit_test(test_keys), cmocka_unit_test(test_name_hash), cmocka_unit_test(test_lzo),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
