/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * mixed: what a server's disk holds, first half: how data lies in files.
 *
 * Sizes are the same whatever the block size, so that the same tree lands
 * on every filesystem; they stand around the borders of all of them.
 */
#include <inttypes.h>
#include <stdio.h>

#include "collection_gen.h"
#include "pop_rand.h"

#define KIB	UINT64_C(1024)
#define MIB	(1024 * KIB)
#define GIB	(1024 * MIB)
#define TIB	(1024 * GIB)

static int sizes(struct pop_gen *g)
{
	static const uint32_t list[] = {
		0, 1, 2, 59, 60, 61, 62, 64, 100, 127, 128, 150, 155, 156,
		157, 160, 161, 200, 255, 256, 300, 400, 511, 512, 513, 700,
		900, 1000, 1023, 1024, 1025, 1500, 2047, 2048, 2049, 3000,
		4000, 4095, 4096, 4097, 6000, 8191, 8192, 8193, 12287, 12288,
		12289, 16383, 16384, 16385, 32768, 32769, 49151, 49152,
		49153, 65535, 65536, 65537, 100000, 131072, 131073,
		274432, 274433, 500000, 1048576, 1048577, 4500001,
	};
	char path[64];
	int ret = pop_gen_dir(g, "sizes");

	for (size_t i = 0; ret >= 0 && i < sizeof(list) / sizeof(list[0]); i++) {
		snprintf(path, sizeof(path), "sizes/%07" PRIu32, list[i]);
		ret = pop_gen_file(g, path, list[i]);
	}
	return pop_gen_ok(ret);
}

struct sparse_case {
	const char *path;
	uint64_t size;
	struct pop_range data[3];
	size_t count;
};

static int sparse(struct pop_gen *g)
{
	static const struct sparse_case list[] = {
		{ "sparse/front", 300 * KIB, { { 256 * KIB, 44 * KIB } }, 1 },
		{ "sparse/middle", 300 * KIB,
		  { { 0, 10000 }, { 200 * KIB, 100 * KIB } }, 2 },
		{ "sparse/end", 300 * KIB, { { 0, 70 * KIB } }, 1 },
		{ "sparse/small", 3 * KIB, { { 2 * KIB, 100 } }, 1 },
		{ "sparse/all", 1 * MIB, { { 0, 0 } }, 0 },
		{ "sparse/last-byte", 12 * MIB, { { 12 * MIB - 1, 1 } }, 1 },
		{ "sparse/backwards", 2 * MIB,
		  { { 1792 * KIB, 5000 }, { 1024 * KIB, 5000 },
		    { 128 * KIB, 5000 } }, 3 },
		/* Behind 12 + 256 + 65536 blocks of 1 KiB. */
		{ "sparse/70M", 71 * MIB, { { 70 * MIB + 17, 9000 } }, 1 },
		/* The same border at 4 KiB, and 32-bit offsets. */
		{ "sparse/5G", 5 * GIB,
		  { { 4 * GIB - 5, 10 }, { 5 * GIB - 9000, 9000 } }, 2 },
		{ "sparse/1T", 1 * TIB,
		  { { 0, 5000 }, { 512 * GIB + 3, 5000 },
		    { 1 * TIB - 1, 1 } }, 3 },
		{ "sparse/7E", 7 * 1024 * 1024 * TIB, { { 0, 1 } }, 1 },
	};
	struct pop_range many[64];
	int ret = pop_gen_dir(g, "sparse");

	for (size_t i = 0; ret >= 0 && i < sizeof(list) / sizeof(list[0]); i++)
		ret = pop_gen_sparse(g, list[i].path, list[i].size,
				     list[i].data, list[i].count);
	if (ret < 0)
		return ret;

	/* Holes of growing size between pieces of growing size. */
	uint64_t at = 0;
	for (size_t i = 0; i < 64; i++) {
		many[i] = (struct pop_range){ at, 700 + i * 90 };
		at += many[i].length + 4 * KIB * (1 + i % 5);
	}
	ret = pop_gen_sparse(g, "sparse/many", at, many, 64);
	if (ret)
		return pop_gen_ok(ret);

	/* Cut off and made longer again: what lay there must read as zero. */
	ret = pop_gen_file(g, "sparse/cut", 100000);
	if (!ret)
		ret = pop_gen_truncate(g, "sparse/cut", 33333);
	if (!ret)
		ret = pop_gen_truncate(g, "sparse/cut", 150000);
	if (!ret)
		ret = pop_gen_time_again(g, "sparse/cut");
	return pop_gen_ok(ret);
}

static int preallocated(struct pop_gen *g, const char *path, uint64_t offset,
			uint64_t length, bool keep_size)
{
	int ret = pop_gen_prealloc(g, path, offset, length, keep_size);

	/* Some kernels move the time also of what they then refuse. */
	return ret < 0 ? ret : pop_gen_time_again(g, path);
}

static int prealloc(struct pop_gen *g)
{
	int ret = pop_gen_dir(g, "prealloc");

	if (ret)
		return ret;
	ret = pop_gen_file(g, "prealloc/whole", 0);
	if (!ret)
		ret = preallocated(g, "prealloc/whole", 0, 200000, false);
	if (ret >= 0)
		ret = pop_gen_file(g, "prealloc/behind-end", 50000);
	if (!ret)
		ret = preallocated(g, "prealloc/behind-end", 65536, 262144,
				   true);
	if (ret >= 0)
		ret = pop_gen_file(g, "prealloc/empty-kept", 0);
	if (!ret)
		ret = preallocated(g, "prealloc/empty-kept", 0, 100000, true);
	if (ret >= 0)
		ret = pop_gen_file(g, "prealloc/small-kept", 30);
	if (!ret)
		ret = preallocated(g, "prealloc/small-kept", 0, 20000, true);
	if (ret >= 0)
		ret = pop_gen_file(g, "prealloc/inside", 0);
	if (!ret)
		ret = pop_gen_prealloc(g, "prealloc/inside", 0, 1048576,
				       false);
	if (ret >= 0) {
		/* Written parts inside, on borders and across them. */
		static const struct pop_range parts[] = {
			{ 0, 100 }, { 65536, 65536 }, { 300000, 1 },
			{ 600000, 5000 }, { 1048575, 1 },
		};

		for (size_t i = 0; ret >= 0 && i < 5; i++)
			ret = pop_gen_write(g, "prealloc/inside",
					    parts[i].offset, parts[i].length,
					    false);
		if (ret >= 0)
			ret = pop_gen_time_again(g, "prealloc/inside");
	}
	if (ret >= 0)
		ret = pop_gen_file(g, "prealloc/hole-then-more", 10000);
	if (!ret)
		ret = preallocated(g, "prealloc/hole-then-more", 524288,
				   65536, false);
	return pop_gen_ok(ret);
}

static int fragmented(struct pop_gen *g)
{
	enum { TURNS = 120, PIECES = 700 };
	static const char *const pair[] = { "frag/odd", "frag/even" };
	struct pop_range pieces[PIECES];
	int ret = pop_gen_dir(g, "frag");

	for (size_t i = 0; ret >= 0 && i < 2; i++)
		ret = pop_gen_file(g, pair[i], 0);
	/* Turn by turn on the disk, so that neither is in one piece. */
	for (uint64_t t = 0; ret >= 0 && t < TURNS; t++)
		for (size_t i = 0; ret >= 0 && i < 2; i++)
			ret = pop_gen_write(g, pair[i], t * 4096, 4096, true);
	for (size_t i = 0; ret >= 0 && i < 2; i++)
		ret = pop_gen_time_again(g, pair[i]);
	if (ret < 0)
		return ret;

	/* So many extents that their map needs levels. */
	for (uint64_t i = 0; i < PIECES; i++)
		pieces[i] = (struct pop_range){ i * 8192, 100 + i };
	ret = pop_gen_sparse(g, "frag/comb", PIECES * 8192, pieces, PIECES);
	if (ret)
		return pop_gen_ok(ret);

	/* The gaps of a comb closed later: one file, placed out of order. */
	for (uint64_t i = 0; i < 60; i++)
		pieces[i] = (struct pop_range){ i * 8192, 4096 };
	ret = pop_gen_sparse(g, "frag/closed", 60 * 8192, pieces, 60);
	for (uint64_t i = 60; ret >= 0 && i-- > 0; )
		ret = pop_gen_write(g, "frag/closed", i * 8192 + 4096, 4096,
				    i % 8 == 0);
	if (!ret)
		ret = pop_gen_time_again(g, "frag/closed");
	return pop_gen_ok(ret);
}

/* Made and removed again: free fragments, unused inodes, dead entries. */
static int churn(struct pop_gen *g)
{
	enum { COUNT = 80 };
	struct pop_rand r;
	char path[64];
	int ret = pop_gen_dir(g, "churn");

	pop_rand_init(&r, g->seed ^ 0x636875726e);
	for (int i = 0; ret >= 0 && i < COUNT; i++) {
		snprintf(path, sizeof(path), "churn/%03d-%.*s", i, i % 40,
			 "a-name-that-gets-longer-and-longer-here");
		ret = pop_gen_file(g, path, pop_rand_below(&r, 20000));
	}
	if (ret >= 0)
		ret = pop_gen_dir(g, "churn/gone");
	for (int i = 0; ret >= 0 && i < 30; i++) {
		snprintf(path, sizeof(path), "churn/gone/%d", i);
		ret = pop_gen_file(g, path, pop_rand_below(&r, 3000));
	}
	for (int i = 0; ret >= 0 && i < COUNT; i++) {
		if (i % 3 == 1)
			continue;
		snprintf(path, sizeof(path), "churn/%03d-%.*s", i, i % 40,
			 "a-name-that-gets-longer-and-longer-here");
		ret = pop_gen_unlink(g, path);
	}
	for (int i = 0; ret >= 0 && i < 30; i++) {
		snprintf(path, sizeof(path), "churn/gone/%d", i);
		ret = pop_gen_unlink(g, path);
	}
	if (ret >= 0)
		ret = pop_gen_rmdir(g, "churn/gone");
	for (int i = 0; ret >= 0 && i < COUNT / 4; i++) {
		snprintf(path, sizeof(path), "churn/late%02d", i);
		ret = pop_gen_file(g, path, pop_rand_below(&r, 9000));
	}
	return pop_gen_ok(ret);
}

/* A tree like a small server's, the part that --files scales. */
static int server(struct pop_gen *g)
{
	static const char *const dirs[] = {
		"tree", "tree/etc", "tree/etc/default", "tree/home",
		"tree/home/anna", "tree/home/anna/mail", "tree/srv",
		"tree/srv/www", "tree/usr", "tree/usr/share",
		"tree/usr/share/doc", "tree/usr/lib", "tree/var",
		"tree/var/log", "tree/var/spool",
	};
	enum { DIRS = sizeof(dirs) / sizeof(dirs[0]) };
	struct pop_rand r;
	char path[96];
	int ret = 0;

	for (size_t i = 0; ret >= 0 && i < DIRS; i++)
		ret = pop_gen_dir(g, dirs[i]);
	pop_rand_init(&r, g->seed ^ 0x73657276);
	for (uint64_t i = 0; ret >= 0 && i < g->files; i++) {
		const char *dir = dirs[1 + pop_rand_below(&r, DIRS - 1)];
		/* As many files in each power of two up to 64 KiB. */
		uint64_t size = pop_rand_below(&r,
			UINT64_C(1) << (4 + pop_rand_below(&r, 13)));

		snprintf(path, sizeof(path), "%s/f%05" PRIu64, dir, i);
		ret = pop_gen_file(g, path, size);
	}
	return pop_gen_ok(ret);
}

int pop_mixed_data(struct pop_gen *g)
{
	int ret = sizes(g);

	if (!ret)
		ret = churn(g);
	if (!ret)
		ret = sparse(g);
	if (!ret)
		ret = prealloc(g);
	if (!ret)
		ret = fragmented(g);
	if (!ret)
		ret = server(g);
	return ret;
}

int pop_mixed_run(const struct pop_collection_args *args,
		  struct pop_sink *sink)
{
	struct pop_gen g = {
		.sink = sink, .seed = args->seed, .files = args->files,
	};
	int ret = pop_mixed_data(&g);

	if (!ret)
		ret = pop_mixed_meta(&g);
	if (!ret)
		ret = pop_gen_finish(&g);
	pop_gen_free(&g);
	return ret;
}

void pop_mixed_need(const struct pop_collection_args *args,
		    uint64_t *bytes, uint64_t *inodes)
{
	*bytes = 28 * MIB + args->files * 16 * KIB;
	*inodes = 1200 + args->files;
}
