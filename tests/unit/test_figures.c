/* SPDX-License-Identifier: GPL-2.0-only */
/* Figures and the bridge from sizes to df, over whole audits of the toy format. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "analyzer/assay.h"
#include "toy_parser.h"

struct fixture {
	uint8_t bytes[TOY_SIZE + 100];
	struct opened opened;
	struct assay assay;
	int status;
};

static void begin(struct fixture *x, unsigned faults, size_t size)
{
	memset(x, 0, sizeof(*x));
	toy_make(x->bytes, faults);
	x->opened.argument = "toy.img";
	x->opened.findings = fsa_findings_new(0);
	assert_non_null(x->opened.findings);
	assert_int_equal(toy_open(x->bytes, size, x->opened.findings, &x->opened.images[0], &x->opened.fs), FSA_OK);
	x->opened.n_images = 1;
	assert_int_equal(toy_parser.summary(x->opened.fs, &x->opened.summary), FSA_OK);
	x->status = assay_run(&x->assay, &x->opened, false);
}

static void end(struct fixture *x)
{
	assay_free(&x->assay);
	open_close(&x->opened);
}

static bool found(const struct fixture *x, const char *object, const char *part)
{
	for (size_t i = 0; i < fsa_findings_count(x->opened.findings); i++) {
		const struct fsa_finding *finding = fsa_findings_at(x->opened.findings, i);

		if (strcmp(finding->object, object) == 0 && strstr(finding->message, part) != NULL)
			return true;
	}
	return false;
}

/* Steps between two sums must add up to their difference: the column comes out exactly. */
static void assert_bridge_adds_up(const struct bridge *bridge)
{
	int64_t running = 0;

	assert_true(bridge->n_lines > 0);
	assert_int_equal(bridge->lines[0].kind, BRIDGE_SUM);
	for (unsigned i = 0; i < bridge->n_lines; i++) {
		if (i == 0)
			running = bridge->lines[i].bytes;
		else if (bridge->lines[i].kind == BRIDGE_STEP)
			running += bridge->lines[i].bytes;
		else
			assert_int_equal(bridge->lines[i].bytes, running);
	}
	assert_int_equal(running, bridge->df_used);
}

static void test_healthy(void **state)
{
	struct fixture x;
	const struct figures *f = &x.assay.figures;

	(void)state;
	begin(&x, 0, TOY_SIZE);
	assert_int_equal(x.status, CLI_CONSISTENT);
	assert_true(x.assay.consistent);
	assert_int_equal(fsa_findings_count(x.opened.findings), 0);
	assert_int_equal(x.assay.result.image_bytes, TOY_SIZE);
	assert_int_equal(f->fs_bytes, TOY_SIZE);
	assert_int_equal(f->used, TOY_USED_BLOCKS * TOY_BLOCK);
	assert_int_equal(f->payload, TOY_PAYLOAD);
	assert_true(f->efficiency == (double)TOY_PAYLOAD / (TOY_USED_BLOCKS * TOY_BLOCK));
	assert_int_equal(f->groups[FIGURES_REGULAR].count, 4);
	assert_int_equal(f->groups[FIGURES_DIRECTORY].count, 2);
	assert_int_equal(f->groups[FIGURES_SYMLINK].count, 1);
	assert_int_equal(f->groups[FIGURES_INTERNAL].count, 1);
	assert_int_equal(f->groups[FIGURES_REGULAR].size, TOY_SIZES);
	assert_int_equal(f->hard_links, 1);
	end(&x);
}

static void test_inline_and_classes(void **state)
{
	struct fixture x;
	const struct figures *f = &x.assay.figures;
	uint64_t files = 0;

	(void)state;
	begin(&x, 0, TOY_SIZE);
	assert_int_equal(f->tails.files, 0);
	assert_int_equal(f->inlined.files, 1);
	assert_int_equal(f->inlined.bytes, 20);
	assert_int_equal(f->inlined.saved, (int)TOY_BLOCK - 20 - 4);
	assert_int_equal(f->classes[0].files, 1);
	assert_int_equal(f->classes[5].files, 1);	/* 16 .. 31 */
	assert_int_equal(f->classes[5].overhead, 4);
	assert_int_equal(f->classes[10].files, 1);	/* 512 .. 1023 */
	assert_int_equal(f->classes[10].slack, 24);
	assert_int_equal(f->classes[14].files, 1);	/* 8192 .. 16383 */
	assert_int_equal(f->classes[14].stored, 10000 - 4 * TOY_BLOCK);
	for (unsigned i = 0; i < FIGURES_CLASSES; i++)
		files += f->classes[i].files;
	assert_int_equal(files, f->groups[FIGURES_REGULAR].count);
	assert_int_equal(f->extent_files, 2);
	assert_int_equal(f->extents, 3);
	assert_int_equal(f->one_piece, 1);
	assert_int_equal(f->most_extents, 2);
	assert_int_equal(f->free_run_blocks, TOY_BLOCKS - TOY_USED_BLOCKS);
	end(&x);
}

static void test_class_bounds(void **state)
{
	(void)state;
	assert_int_equal(figures_class_least(0), 0);
	assert_int_equal(figures_class_most(0), 0);
	assert_int_equal(figures_class_least(1), 1);
	assert_int_equal(figures_class_most(1), 1);
	for (unsigned i = 1; i < FIGURES_CLASSES; i++)
		assert_int_equal(figures_class_least(i), figures_class_most(i - 1) + 1);
	assert_true(figures_class_most(64) == UINT64_MAX);
}

static void test_bridge(void **state)
{
	struct fixture x;
	const struct bridge *bridge = &x.assay.bridge;

	(void)state;
	begin(&x, 0, TOY_SIZE);
	assert_int_equal(bridge->sizes, TOY_SIZES);
	assert_int_equal(bridge->du, (2 + 2 + 16) * 512);
	assert_int_equal(bridge->used, x.assay.figures.used);
	/* df counts neither the ten metadata blocks nor, as free, the two set aside */
	assert_int_equal(bridge->df_used, (TOY_USED_BLOCKS - 10 + 2) * TOY_BLOCK);
	assert_int_equal(bridge->unexplained, 0);
	assert_bridge_adds_up(bridge);
	end(&x);
}

static void test_lost(void **state)
{
	struct fixture x;

	(void)state;
	begin(&x, TOY_LOST, TOY_SIZE);
	assert_int_equal(x.status, CLI_FINDINGS);
	assert_false(x.assay.consistent);
	assert_int_equal(x.assay.result.lost_blocks, 3);
	assert_int_equal(fsa_findings_count(x.opened.findings), 1);
	assert_true(found(&x, "block", "lost: 3 blocks"));
	assert_int_equal(fsa_findings_at(x.opened.findings, 0)->number, 200);
	assert_int_equal(fsa_findings_at(x.opened.findings, 0)->offset, 200 * TOY_BLOCK);
	assert_bridge_adds_up(&x.assay.bridge);
	end(&x);
}

static void test_conflict_names_both(void **state)
{
	struct fixture x;

	(void)state;
	begin(&x, TOY_CONFLICT, TOY_SIZE);
	assert_int_equal(x.status, CLI_FINDINGS);
	assert_int_equal(x.assay.result.conflict_blocks, 2);
	assert_true(found(&x, "block", "inode 2 (/hello)"));
	assert_true(found(&x, "block", "inode 4 (/dir/big)"));
	assert_int_equal(x.assay.bridge.unexplained, 0);
	assert_bridge_adds_up(&x.assay.bridge);
	end(&x);
}

static void test_used_though_free(void **state)
{
	struct fixture x;

	(void)state;
	begin(&x, TOY_USED_FREE, TOY_SIZE);
	assert_int_equal(x.status, CLI_FINDINGS);
	assert_int_equal(x.assay.result.used_free_blocks, 1);
	assert_true(found(&x, "block", "1 block is marked as free, but used by inode 2 (/hello)"));
	assert_bridge_adds_up(&x.assay.bridge);
	end(&x);
}

static void test_counter(void **state)
{
	struct fixture x;

	(void)state;
	begin(&x, TOY_COUNTER, TOY_SIZE);
	assert_int_equal(x.status, CLI_FINDINGS);
	assert_true(found(&x, "free counter", "229 blocks are free by the counter, 222 by the allocation map"));
	assert_bridge_adds_up(&x.assay.bridge);
	end(&x);

	begin(&x, TOY_COUNTER | TOY_LAZY, TOY_SIZE);
	assert_int_equal(x.status, CLI_CONSISTENT);
	assert_true(x.assay.consistent);
	assert_bridge_adds_up(&x.assay.bridge);
	end(&x);
}

static void test_st_blocks_without_blocks(void **state)
{
	struct fixture x;
	int64_t there = 0, back = 0;

	(void)state;
	begin(&x, TOY_ST_BLOCKS, TOY_SIZE);
	assert_bridge_adds_up(&x.assay.bridge);
	assert_int_equal(x.assay.bridge.unexplained, 0);
	for (unsigned i = 0; i < x.assay.bridge.n_lines; i++)
		if (strncmp(x.assay.bridge.lines[i].name, "st_blocks", 9) == 0) {
			back = there != 0 ? x.assay.bridge.lines[i].bytes : 0;
			there = there != 0 ? there : x.assay.bridge.lines[i].bytes;
		}
	assert_int_equal(there, 1024);
	assert_int_equal(back, -1024);
	end(&x);
}

static void test_outside(void **state)
{
	struct fixture x;

	(void)state;
	begin(&x, 0, TOY_SIZE + 100);
	assert_int_equal(x.status, CLI_CONSISTENT);
	assert_int_equal(x.assay.result.purpose_bytes[FSA_OUTSIDE], 100);
	assert_int_equal(x.assay.figures.fs_bytes, TOY_SIZE);
	assert_bridge_adds_up(&x.assay.bridge);
	end(&x);
}

static void test_short_image(void **state)
{
	struct fixture x;
	uint64_t sum = 0;

	(void)state;
	/* cut inside the journal: blocks 102 and up are not there */
	begin(&x, 0, 102 * TOY_BLOCK);
	assert_int_equal(x.status, CLI_FINDINGS);
	assert_true(found(&x, "image", "lie behind its end"));
	for (unsigned p = 0; p < FSA_PURPOSES; p++)
		sum += x.assay.result.purpose_bytes[p];
	assert_int_equal(sum, 102 * TOY_BLOCK);
	assert_bridge_adds_up(&x.assay.bridge);
	end(&x);
}

/* Tails by how many bytes a file has packed; what compression keeps off the image counts as saved. */
static void test_packed_sizes(void **state)
{
	struct fsa_object objects[] = {
		{ .type = FSA_TYPE_REGULAR, .packed_bytes = 100, .packed_cost_bytes = 24, .unpacked_bytes = 4096 },
		{ .type = FSA_TYPE_REGULAR, .packed_bytes = 127, .packed_cost_bytes = 30, .unpacked_bytes = 4096 },
		{ .type = FSA_TYPE_REGULAR, .packed_bytes = 128, .packed_cost_bytes = 5000, .unpacked_bytes = 4096 },
		{ .type = FSA_TYPE_REGULAR, .packed_bytes = 60000, .packed_cost_bytes = 700, .unpacked_bytes = 61440,
		  .packed_uncharged_bytes = 40000 },
		{ .type = FSA_TYPE_REGULAR, .data_bytes = 4096 },
		{ .type = FSA_TYPE_REGULAR, .packed_bytes = 3, .flags = FSA_OBJECT_INLINE, .unpacked_bytes = 4096 },
	};
	struct fsa_ledger_result result = { .image_bytes = 1 << 20 };
	struct fsa_audit audit = { .twig_nodes = 2, .twig_used_bytes = 2048, .twig_bytes = 8192, .branch_nodes = 1, .branch_used_bytes = 1024, .branch_bytes = 4096 };
	struct figures f = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(objects) / sizeof(objects[0]); i++)
		figures_add(&f, &objects[i]);
	figures_finish(&f, &result, &audit);
	assert_int_equal(f.tails.files, 4);
	assert_int_equal(f.tails.bytes, 100 + 127 + 128 + 60000);
	assert_int_equal(f.tails.cost, 24 + 30 + 5000 + 700);
	assert_int_equal(f.tails.uncharged, 40000);
	assert_int_equal(f.tails.saved, 3 * 4096 + 61440 - (100 + 127 + 128 + 60000) + 40000 - 5754);
	/* 64 to 127 bytes, 128 to 255, 32768 to 65535. */
	assert_int_equal(f.tails.sizes[7].files, 2);
	assert_int_equal(f.tails.sizes[7].bytes, 227);
	assert_int_equal(figures_packed_saved(&f.tails.sizes[7]), 2 * 4096 - 227 - 54);
	assert_int_equal(f.tails.sizes[8].files, 1);
	assert_int_equal(figures_packed_saved(&f.tails.sizes[8]), 4096 - 128 - 5000);
	assert_int_equal(figures_packed_saved(&f.tails.sizes[16]), 61440 - 20000 - 700);
	assert_int_equal(f.inlined.files, 1);
	assert_int_equal(f.inlined.sizes[2].files, 1);
	assert_true(f.twig_fill == 0.25 && f.branch_fill == 0.25 && f.leaf_fill == 0.0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_healthy),
		cmocka_unit_test(test_inline_and_classes),
		cmocka_unit_test(test_class_bounds),
		cmocka_unit_test(test_packed_sizes),
		cmocka_unit_test(test_bridge),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_conflict_names_both),
		cmocka_unit_test(test_used_though_free),
		cmocka_unit_test(test_counter),
		cmocka_unit_test(test_st_blocks_without_blocks),
		cmocka_unit_test(test_outside),
		cmocka_unit_test(test_short_image),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
