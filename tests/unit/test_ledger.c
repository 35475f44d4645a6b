/* SPDX-License-Identifier: GPL-2.0-only */
/* The ledger: every byte once, whatever is claimed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <pthread.h>

#include <cmocka.h>

#include "fsa/ledger.h"
#include "fsa/finding.h"

enum { SUPER, DATA, SLACK, XATTR, NODE_FREE, CHUNK_FREE, DETAILS };

static const struct fsa_detail details[DETAILS] = {
	{ FSA_SUPERBLOCK, "super" }, { FSA_FILE_DATA, "data" }, { FSA_FILE_SLACK, "slack" },
	{ FSA_XATTR, "xattr" }, { FSA_NODE_FREE, "unused" }, { FSA_FREE, "free in chunk" },
};
static const struct fsa_owner somebody = { .object = "inode", .number = 12 };

struct book {
	struct fsa_ledger *ledger;
	struct fsa_claims *claims;
	struct fsa_ledger_result result;
};

static void begin(struct book *b, uint64_t blocks, uint32_t block_size, uint64_t image_bytes)
{
	b->ledger = fsa_ledger_new(details, DETAILS);
	assert_non_null(b->ledger);
	assert_int_equal(fsa_ledger_add_device(b->ledger, blocks, block_size, image_bytes), FSA_OK);
	b->claims = fsa_claims_to_ledger(b->ledger);
	assert_non_null(b->claims);
}

/* Closes, and checks what must always hold. */
static void end(struct book *b)
{
	uint64_t sum = 0;

	fsa_claims_free(b->claims);
	assert_int_equal(fsa_ledger_close(b->ledger, &b->result), FSA_OK);
	for (unsigned i = 0; i < FSA_PURPOSES; i++)
		sum += b->result.purpose_bytes[i];
	assert_true(sum == b->result.image_bytes);
}

static uint64_t purpose(const struct book *b, enum fsa_purpose p)
{
	return b->result.purpose_bytes[p];
}

static void test_closing(void **state)
{
	struct fsa_range ranges[4];
	struct book b;
	uint64_t total;

	(void)state;
	begin(&b, 100, 1024, 100 * 1024 + 700);
	fsa_map_allocated(b.claims, 0, 0, 40);
	fsa_map_free(b.claims, 0, 20, 2);
	assert_true(fsa_claim(b.claims, 0, 0, 10, SUPER, 0, &somebody));
	assert_true(fsa_claim_with_rest(b.claims, 0, 10, 5, 4500, DATA, SLACK, FSA_CLAIM_CHARGED, &somebody));
	assert_true(fsa_claim(b.claims, 0, 60, 3, XATTR, 0, &somebody));
	end(&b);
	assert_int_equal(b.result.image_bytes, 100 * 1024 + 700);
	assert_int_equal(purpose(&b, FSA_SUPERBLOCK), 10 * 1024);
	assert_int_equal(purpose(&b, FSA_FILE_DATA), 4500);
	assert_int_equal(purpose(&b, FSA_FILE_SLACK), 5 * 1024 - 4500);
	assert_int_equal(purpose(&b, FSA_XATTR), 3 * 1024);
	assert_int_equal(purpose(&b, FSA_LOST), 23 * 1024);
	assert_int_equal(purpose(&b, FSA_OUTSIDE), 700);
	assert_int_equal(purpose(&b, FSA_FREE), (100 - 38 - 3) * 1024);
	assert_int_equal(b.result.lost_blocks, 23);
	assert_int_equal(b.result.used_free_blocks, 3);
	assert_int_equal(b.result.allocated_blocks, 38);
	assert_int_equal(b.result.claimed_blocks, 18);
	assert_int_equal(b.result.map_free_blocks, 62);
	assert_int_equal(b.result.charged_bytes[DATA], 4500);
	assert_int_equal(b.result.charged_bytes[SLACK], 5 * 1024 - 4500);
	assert_int_equal(b.result.charged_bytes[SUPER], 0);
	/* Free runs in the map: 20..21 and 40..99. */
	assert_int_equal(b.result.free_runs[1], 1);
	assert_int_equal(b.result.free_runs[5], 1);
	assert_int_equal(b.result.free_run_blocks[5], 60);
	assert_int_equal(fsa_ledger_ranges(b.ledger, FSA_RANGE_LOST, ranges, 4, &total), 2);
	assert_int_equal(total, 2);
	assert_int_equal(ranges[0].block, 15);
	assert_int_equal(ranges[0].count, 5);
	assert_int_equal(ranges[1].block, 22);
	assert_int_equal(fsa_ledger_ranges(b.ledger, FSA_RANGE_LOST, ranges, 1, &total), 1);
	assert_int_equal(total, 2);
	assert_int_equal(fsa_ledger_ranges(b.ledger, FSA_RANGE_USED_FREE, ranges, 4, &total), 1);
	assert_int_equal(ranges[0].block, 60);
	assert_int_equal(fsa_ledger_state(b.ledger, 0, 15, &total), FSA_BLOCK_LOST);
	assert_int_equal(total, 5);
	assert_int_equal(fsa_ledger_state(b.ledger, 0, 61, &total), FSA_BLOCK_CLAIMED);
	assert_int_equal(total, 2);
	assert_int_equal(fsa_ledger_state(b.ledger, 0, 63, &total), FSA_BLOCK_FREE);
	assert_int_equal(total, 37);
	fsa_ledger_free(b.ledger);
}

static void test_ranges_that_leave_the_device(void **state)
{
	struct book b;

	(void)state;
	begin(&b, 10, 512, 10 * 512);
	assert_false(fsa_claim(b.claims, 0, 10, 1, DATA, 0, &somebody));
	assert_false(fsa_claim(b.claims, 0, 9, 2, DATA, 0, &somebody));
	assert_false(fsa_claim(b.claims, 0, UINT64_MAX, 2, DATA, 0, &somebody));
	assert_false(fsa_claim(b.claims, 0, 1, UINT64_MAX, DATA, 0, &somebody));
	assert_false(fsa_claim(b.claims, 1, 0, 1, DATA, 0, &somebody));
	assert_false(fsa_claim_with_rest(b.claims, 0, 9, 2, 100, DATA, SLACK, 0, &somebody));
	fsa_map_allocated(b.claims, 0, 8, UINT64_MAX);
	fsa_map_allocated(b.claims, 0, UINT64_MAX, 5);
	fsa_map_allocated(b.claims, 7, 0, 5);
	end(&b);
	assert_int_equal(b.result.claimed_blocks, 0);
	assert_int_equal(b.result.lost_blocks, 2);
	fsa_ledger_free(b.ledger);
}

static void test_conflicts(void **state)
{
	struct fsa_range ranges[4];
	struct book b;
	uint64_t total;

	(void)state;
	begin(&b, 50, 1000, 50 * 1000);
	fsa_map_allocated(b.claims, 0, 0, 30);
	fsa_claim(b.claims, 0, 0, 20, DATA, 0, &somebody);
	fsa_claim(b.claims, 0, 15, 10, XATTR, 0, &somebody);
	/* Sharing counts only when both say so. */
	fsa_claim(b.claims, 0, 25, 5, DATA, FSA_CLAIM_SHARED, &somebody);
	fsa_claim(b.claims, 0, 25, 2, DATA, 0, &somebody);
	fsa_claim(b.claims, 0, 0, 1, DATA, FSA_CLAIM_SHARED, &somebody);
	end(&b);
	assert_int_equal(purpose(&b, FSA_FILE_DATA), 25 * 1000);
	assert_int_equal(purpose(&b, FSA_XATTR), 5 * 1000);
	assert_int_equal(b.result.conflict_blocks, 8);
	assert_int_equal(b.result.shared_blocks, 0);
	assert_int_equal(b.result.claimed_blocks, 30);
	assert_int_equal(fsa_ledger_ranges(b.ledger, FSA_RANGE_CONFLICT, ranges, 4, &total), 3);
	assert_int_equal(total, 3);
	fsa_ledger_free(b.ledger);
}

static void test_sharing(void **state)
{
	struct book b;

	(void)state;
	begin(&b, 100, 4096, 100 * 4096);
	fsa_map_allocated(b.claims, 0, 0, 20);
	for (int i = 0; i < 3; i++)
		fsa_claim(b.claims, 0, 0, 10, DATA, FSA_CLAIM_SHARED | FSA_CLAIM_CHARGED, &somebody);
	fsa_claim(b.claims, 0, 5, 15, DATA, FSA_CLAIM_SHARED, &somebody);
	end(&b);
	assert_int_equal(purpose(&b, FSA_FILE_DATA), 20 * 4096);
	assert_int_equal(b.result.conflict_blocks, 0);
	assert_int_equal(b.result.shared_blocks, 10);
	assert_int_equal(b.result.shared_extra_bytes, 25 * 4096);
	assert_int_equal(b.result.charged_extra_bytes, 20 * 4096);
	assert_int_equal(b.result.charged_bytes[DATA], 10 * 4096);
	fsa_ledger_free(b.ledger);
}

static void test_splits(void **state)
{
	struct fsa_split split;
	struct book b;

	(void)state;
	begin(&b, 20, 1024, 20 * 1024);
	fsa_map_allocated(b.claims, 0, 0, 20);

	fsa_split_begin(&split, b.claims, 0, 2, 2, 0, &somebody);
	fsa_split_part(&split, 1000, 1048, DATA, NULL);
	fsa_split_part(&split, 0, 1000, XATTR, NULL);
	fsa_split_part(&split, 5, 0, XATTR, NULL);
	assert_true(fsa_split_end(&split, NODE_FREE));

	/* What the parts leave is the rest, and said. */
	fsa_split_begin(&split, b.claims, 0, 4, 1, 0, &somebody);
	fsa_split_part(&split, 0, 24, DATA, NULL);
	assert_false(fsa_split_end(&split, NODE_FREE));

	/* Parts that are more than the node. */
	fsa_split_begin(&split, b.claims, 0, 5, 1, 0, &somebody);
	fsa_split_part(&split, 0, 800, DATA, NULL);
	fsa_split_part(&split, 800, 800, XATTR, NULL);
	assert_false(fsa_split_end(&split, NODE_FREE));

	/* A node that leaves the device. */
	fsa_split_begin(&split, b.claims, 0, 19, 2, 0, &somebody);
	fsa_split_part(&split, 0, 2048, DATA, NULL);
	assert_false(fsa_split_end(&split, NODE_FREE));
	end(&b);
	assert_int_equal(b.result.claimed_blocks, 4);
	assert_int_equal(b.result.conflict_blocks, 0);
	assert_int_equal(purpose(&b, FSA_FILE_DATA) + purpose(&b, FSA_XATTR) + purpose(&b, FSA_NODE_FREE), 4 * 1024);
	/* Of the node that is too full only the sum is promised. */
	assert_true(purpose(&b, FSA_NODE_FREE) >= 1000);
	fsa_ledger_free(b.ledger);
}

static void test_splits_that_collide(void **state)
{
	struct fsa_split split;
	struct book b;

	(void)state;
	begin(&b, 20, 1024, 20 * 1024);
	fsa_map_allocated(b.claims, 0, 0, 10);
	fsa_claim(b.claims, 0, 3, 1, SUPER, 0, &somebody);
	fsa_claim(b.claims, 0, 5, 1, SUPER, 0, &somebody);
	/* Blocks 2 to 6; 3 and 5 are taken: parts over them are booked for the bytes that are left. */
	fsa_split_begin(&split, b.claims, 0, 2, 5, 0, &somebody);
	fsa_split_part(&split, 0, 1500, DATA, NULL);		/* 1024 fresh */
	fsa_split_part(&split, 1500, 1500, XATTR, NULL);	/* 2048..3000: 952 fresh */
	fsa_split_part(&split, 3000, 2120, NODE_FREE, NULL);	/* 3000..3072, 4096..5120: 1096 fresh */
	assert_true(fsa_split_end(&split, NODE_FREE));
	end(&b);
	assert_int_equal(purpose(&b, FSA_SUPERBLOCK), 2048);
	assert_int_equal(purpose(&b, FSA_FILE_DATA), 1024);
	assert_int_equal(purpose(&b, FSA_XATTR), 952);
	assert_int_equal(purpose(&b, FSA_NODE_FREE), 1096);
	assert_int_equal(b.result.conflict_blocks, 2);
	assert_int_equal(b.result.claimed_blocks, 5);
	fsa_ledger_free(b.ledger);
}

static void test_short_image(void **state)
{
	struct book b;

	(void)state;
	/* The filesystem has 100 blocks, the image ends in the middle of block 10. */
	begin(&b, 100, 1024, 10 * 1024 + 100);
	fsa_map_allocated(b.claims, 0, 0, 50);
	fsa_claim(b.claims, 0, 5, 10, DATA, 0, &somebody);
	end(&b);
	assert_int_equal(b.result.image_bytes, 10 * 1024 + 100);
	assert_int_equal(purpose(&b, FSA_FILE_DATA), 5 * 1024 + 100);
	assert_int_equal(purpose(&b, FSA_LOST), 5 * 1024);
	assert_int_equal(purpose(&b, FSA_FREE), 0);
	assert_int_equal(purpose(&b, FSA_OUTSIDE), 0);
	assert_int_equal(b.result.missing_bytes, 90 * 1024 - 100);
	fsa_ledger_free(b.ledger);

	/* Splits at the edge book what is there. */
	begin(&b, 4, 1024, 1024 + 10);
	struct fsa_split split;

	fsa_split_begin(&split, b.claims, 0, 1, 1, 0, &somebody);
	fsa_split_part(&split, 0, 24, DATA, NULL);
	fsa_split_part(&split, 24, 1000, XATTR, NULL);
	assert_true(fsa_split_end(&split, NODE_FREE));
	end(&b);
	assert_int_equal(purpose(&b, FSA_FILE_DATA), 10);
	assert_int_equal(purpose(&b, FSA_XATTR), 0);
	fsa_ledger_free(b.ledger);
}

static void test_free_details_and_unmapped(void **state)
{
	struct book b;

	(void)state;
	begin(&b, 100, 512, 100 * 512);
	fsa_map_allocated(b.claims, 0, 10, 20);
	fsa_claim(b.claims, 0, 10, 20, DATA, 0, &somebody);
	fsa_claim(b.claims, 0, 30, 40, CHUNK_FREE, 0, &somebody);
	fsa_claim(b.claims, 0, 0, 10, SUPER, FSA_CLAIM_UNMAPPED, &somebody);
	end(&b);
	assert_int_equal(purpose(&b, FSA_FREE), 70 * 512);
	assert_int_equal(b.result.detail_bytes[CHUNK_FREE], 40 * 512);
	assert_int_equal(b.result.plain_free_bytes, 30 * 512);
	assert_int_equal(b.result.unmapped_blocks, 10);
	assert_int_equal(b.result.used_free_blocks, 0);
	assert_int_equal(b.result.claimed_blocks, 30);
	fsa_ledger_free(b.ledger);
}

static void test_bitmap(void **state)
{
	/* Bits 0, 1, 9, 15, 16 and 23; the last byte is cut to 4 bits. */
	static const uint8_t bits[] = { 0x03, 0x82, 0x81, 0xff };
	struct book b;

	(void)state;
	begin(&b, 100, 512, 100 * 512);
	fsa_map_bitmap(b.claims, 0, 7, bits, 28);
	fsa_map_bitmap(b.claims, 0, 98, bits, 28);	/* reaches over the end */
	end(&b);
	assert_int_equal(b.result.allocated_blocks, 6 + 4 + 2);
	assert_int_equal(b.result.lost_blocks, 12);
	fsa_ledger_free(b.ledger);
}

static void test_several_devices(void **state)
{
	struct book b;

	(void)state;
	begin(&b, 10, 1024, 10 * 1024);
	assert_int_equal(fsa_ledger_add_device(b.ledger, 7, 4096, 7 * 4096 + 1), FSA_OK);
	assert_int_equal(fsa_ledger_add_device(b.ledger, UINT64_MAX / 512, 4096, 1), FSA_EINVAL);
	assert_int_equal(fsa_ledger_add_device(b.ledger, 5, 0, 1), FSA_EINVAL);
	assert_int_equal(fsa_ledger_devices(b.ledger), 2);
	fsa_claim(b.claims, 0, 0, 1, SUPER, 0, &somebody);
	fsa_claim(b.claims, 1, 0, 1, SUPER, 0, &somebody);
	fsa_map_allocated(b.claims, 0, 0, 1);
	fsa_map_allocated(b.claims, 1, 0, 2);
	end(&b);
	assert_int_equal(purpose(&b, FSA_SUPERBLOCK), 1024 + 4096);
	assert_int_equal(purpose(&b, FSA_LOST), 4096);
	assert_int_equal(purpose(&b, FSA_OUTSIDE), 1);
	fsa_ledger_free(b.ledger);
}

/* A callback sees the same bytes as a ledger. */
struct heard {
	uint64_t bytes[DETAILS];
	unsigned runs;
};

static void on_run(void *arg, const struct fsa_run *run)
{
	struct heard *h = arg;

	assert_true(run->length > 0);
	assert_non_null(run->owner);
	assert_int_equal(run->owner->number, 12);
	h->bytes[run->detail] += run->length;
	h->runs++;
}

static void test_callback(void **state)
{
	struct heard heard = { .runs = 0 };
	struct fsa_split split;
	struct book b;
	struct fsa_claims *c;

	(void)state;
	begin(&b, 10, 1024, 10 * 1024);
	c = fsa_claims_to_callback(b.ledger, on_run, &heard);
	assert_true(fsa_claims_want_owners(c));
	assert_false(fsa_claims_want_owners(b.claims));
	assert_true(fsa_claim(c, 0, 0, 2, SUPER, 0, &somebody));
	assert_true(fsa_claim(c, 0, 0, 2, SUPER, 0, &somebody));
	assert_true(fsa_claim_with_rest(c, 0, 2, 1, 1000, DATA, SLACK, 0, &somebody));
	assert_true(fsa_claim_with_rest(c, 0, 3, 1, 1024, DATA, SLACK, 0, &somebody));
	assert_false(fsa_claim(c, 0, 9, 2, DATA, 0, &somebody));
	fsa_split_begin(&split, c, 0, 4, 1, 0, &somebody);
	fsa_split_part(&split, 0, 24, DATA, NULL);
	fsa_split_part(&split, 24, 1000, XATTR, &somebody);
	assert_true(fsa_split_end(&split, NODE_FREE));
	fsa_claims_free(c);
	assert_int_equal(heard.bytes[SUPER], 4096);
	assert_int_equal(heard.bytes[DATA], 1000 + 1024 + 24);
	assert_int_equal(heard.bytes[SLACK], 24);
	assert_int_equal(heard.bytes[XATTR], 1000);
	assert_int_equal(heard.runs, 7);
	end(&b);
	assert_int_equal(b.result.claimed_blocks, 0);
	fsa_ledger_free(b.ledger);
}

/* --- size ------------------------------------------------------------------------------------------- */

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void test_large_and_full(void **state)
{
	const uint64_t blocks = (uint64_t)1 << 32;	/* 16 TiB at 4 KiB */
	const uint64_t two_bits = blocks / 4;		/* bytes */
	struct book b;
	double start = seconds();

	(void)state;
	begin(&b, blocks, 4096, blocks * 4096);
	/* The least favourable pattern on a part: every other block, so that nothing is a run. */
	for (uint64_t at = 0; at < 20000000; at += 2) {
		fsa_map_allocated(b.claims, 0, at, 1);
		fsa_claim(b.claims, 0, at, 1, DATA, 0, &somebody);
	}
	fsa_map_allocated(b.claims, 0, 20000000, blocks - 20000000);
	fsa_claim(b.claims, 0, 20000000, blocks - 20000000, DATA, 0, &somebody);
	assert_true(fsa_ledger_memory(b.ledger) <= two_bits);
	end(&b);
	assert_int_equal(b.result.lost_blocks, 0);
	assert_int_equal(b.result.free_runs[0], 10000000);
	assert_true(purpose(&b, FSA_FREE) == 10000000ull * 4096);
	/* 20 million bookings: minutes would mean that each looks at more than its own block. */
	assert_true(seconds() - start < 60);
	fsa_ledger_free(b.ledger);
}

static void test_many_claims_do_not_grow(void **state)
{
	const uint64_t blocks = 1000000;
	struct book b;
	uint64_t before;

	(void)state;
	begin(&b, blocks, 4096, blocks * 4096);
	fsa_map_allocated(b.claims, 0, 0, blocks);
	for (uint64_t at = 0; at < blocks; at++)
		fsa_claim(b.claims, 0, at, 1, DATA, FSA_CLAIM_SHARED, &somebody);
	for (uint64_t at = 0; at < blocks; at += 3)
		fsa_claim(b.claims, 0, at, 1, DATA, FSA_CLAIM_SHARED, &somebody);
	before = fsa_ledger_memory(b.ledger);
	for (int round = 0; round < 10; round++)
		for (uint64_t at = 0; at < blocks; at += 3)
			fsa_claim(b.claims, 0, at, 1, DATA, FSA_CLAIM_SHARED, &somebody);
	assert_int_equal(fsa_ledger_memory(b.ledger), before);
	/* Conflicts beyond the list are counted, not kept. */
	for (int round = 0; round < 3; round++)
		for (uint64_t at = 0; at < blocks; at += 5)
			fsa_claim(b.claims, 0, at, 1, XATTR, 0, &somebody);
	assert_true(fsa_ledger_memory(b.ledger) < before + 1000000);
	end(&b);
	assert_int_equal(b.result.shared_blocks, 333334);
	assert_int_equal(b.result.conflict_blocks, 600000);
	assert_true(purpose(&b, FSA_FILE_DATA) == blocks * 4096);
	fsa_ledger_free(b.ledger);
}

/* --- shards ------------------------------------------------------------------------------------------ */

#define SHARDS 4
#define SHARD_BLOCKS 50000

struct shard {
	struct fsa_ledger *ledger;
	unsigned number;
};

static void *fill_shard(void *arg)
{
	struct shard *s = arg;
	struct fsa_claims *c = fsa_claims_to_ledger(s->ledger);
	uint64_t at = (uint64_t)s->number * SHARD_BLOCKS;

	for (unsigned i = 0; i < SHARD_BLOCKS; i++, at++) {
		fsa_map_allocated(c, 0, at, 1);
		if (i % 2)
			fsa_claim(c, 0, at, 1, DATA, FSA_CLAIM_CHARGED, &somebody);
		else
			fsa_claim_with_rest(c, 0, at, 1, 100, DATA, SLACK, 0, &somebody);
	}
	fsa_claims_free(c);
	return NULL;
}

static void test_shards(void **state)
{
	pthread_t threads[SHARDS];
	struct shard shards[SHARDS];
	struct book b;

	(void)state;
	begin(&b, SHARDS * SHARD_BLOCKS, 1024, SHARDS * SHARD_BLOCKS * 1024);
	for (unsigned i = 0; i < SHARDS; i++) {
		shards[i] = (struct shard){ b.ledger, i };
		assert_int_equal(pthread_create(&threads[i], NULL, fill_shard, &shards[i]), 0);
	}
	for (unsigned i = 0; i < SHARDS; i++)
		pthread_join(threads[i], NULL);
	end(&b);
	assert_int_equal(b.result.claimed_blocks, SHARDS * SHARD_BLOCKS);
	assert_int_equal(b.result.lost_blocks, 0);
	assert_int_equal(purpose(&b, FSA_FILE_DATA), SHARDS * SHARD_BLOCKS / 2 * 1124);
	assert_int_equal(b.result.charged_bytes[DATA], SHARDS * SHARD_BLOCKS / 2 * 1024);
	fsa_ledger_free(b.ledger);
}

/* The size that a damaged superblock claims must not decide how much memory is taken. */
static void claimed_size_is_not_believed(void **state)
{
	static const struct fsa_detail one_detail[] = { { FSA_FILE_DATA, "data" } };
	struct fsa_ledger *l = fsa_ledger_new(one_detail, 1);
	struct fsa_ledger_result r;
	struct fsa_claims *c;

	(void)state;
	assert_int_equal(fsa_ledger_add_device(l, UINT64_C(1) << 50, 1024, 4096), FSA_OK);
	assert_true(fsa_ledger_memory(l) < 1 << 20);
	assert_true(fsa_ledger_blocks(l, 0) < UINT64_C(1) << 29);
	c = fsa_claims_to_ledger(l);
	assert_true(fsa_claim(c, 0, 0, 3, 0, 0, NULL));
	assert_false(fsa_claim(c, 0, UINT64_C(1) << 40, 1, 0, 0, NULL));
	fsa_claims_free(c);
	assert_int_equal(fsa_ledger_close(l, &r), FSA_OK);
	assert_int_equal(r.image_bytes, 4096);
	assert_int_equal(r.purpose_bytes[FSA_FILE_DATA], 3072);
	assert_int_equal(r.purpose_bytes[FSA_FREE], 1024);
	fsa_ledger_free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(claimed_size_is_not_believed),
		cmocka_unit_test(test_closing),
		cmocka_unit_test(test_ranges_that_leave_the_device),
		cmocka_unit_test(test_conflicts),
		cmocka_unit_test(test_sharing),
		cmocka_unit_test(test_splits),
		cmocka_unit_test(test_splits_that_collide),
		cmocka_unit_test(test_short_image),
		cmocka_unit_test(test_free_details_and_unmapped),
		cmocka_unit_test(test_bitmap),
		cmocka_unit_test(test_several_devices),
		cmocka_unit_test(test_callback),
		cmocka_unit_test(test_large_and_full),
		cmocka_unit_test(test_many_claims_do_not_grow),
		cmocka_unit_test(test_shards),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
