/* SPDX-License-Identifier: GPL-2.0-only */
/* A trial's plan, documented values, and why they differ from measured ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyzer/trial_beside.h"
#include "analyzer/trial_documented.h"
#include "analyzer/trial_get.h"
#include "analyzer/trial_plan.h"

/* Reads a text as a plan; messages go nowhere. */
static bool read_plan(struct trial_plan *plan, const char *text)
{
	char path[] = "/tmp/fsassay-plan-XXXXXX";
	const int fd = mkstemp(path), old = dup(STDERR_FILENO);
	FILE *file = fdopen(fd, "w");
	bool good;

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	assert_non_null(freopen("/dev/null", "w", stderr));
	good = trial_plan_read(plan, path);
	fflush(stderr);
	dup2(old, STDERR_FILENO);
	close(old);
	unlink(path);
	return good;
}

static void test_plan(void **state)
{
	struct trial_plan plan;

	(void)state;
	assert_true(read_plan(&plan,
			      "# words\n title = a = b \ncollections = size-1K  size-10M\nfiles = 12\nsize=1G\nremove = yes\n"
			      "readback = tar dd\nsync-every = 0 1000\ndocumented = ../x.csv\nengine = uml\n"
			      "\n[ext4]\n[other]\r\nfs = ext4\nmkfs-options = -b 1024\nblock-size = 4K\ndocumented = b c\nengine=lib\n"));
	assert_string_equal(plan.title, "a = b");
	assert_int_equal(plan.n_collections, 2);
	assert_string_equal(plan.collections[1], "size-10M");
	assert_int_equal(plan.files, 12);
	assert_int_equal(plan.size, 1u << 30);
	assert_int_equal(plan.seed, 1);
	assert_true(plan.remove && plan.readback && plan.passes[READBACK_TAR] && plan.passes[READBACK_DD]);
	assert_false(plan.passes[READBACK_DUMP] || plan.cold || plan.tar);
	assert_int_equal(plan.n_sync_every, 2);
	assert_int_equal(plan.sync_every[1], 1000);
	assert_int_equal(plan.engine, FSA_POPULATE_UML);
	assert_int_equal(plan.n_filesystems, 2);
	assert_string_equal(plan.filesystems[0].fs, "ext4");
	assert_null(plan.filesystems[0].mkfs_options);
	assert_string_equal(plan.filesystems[1].name, "other");
	assert_string_equal(plan.filesystems[1].mkfs_options, "-b 1024");
	assert_int_equal(plan.filesystems[1].block_size, 4096);
	assert_int_equal(plan.filesystems[1].engine, FSA_POPULATE_LIB);
	assert_string_equal(plan.filesystems[1].documented, "b c");
	trial_plan_free(&plan);
}

static void test_bad_plans(void **state)
{
	static const char *const bad[] = {
		"", "collections = size-1K\n", "[ext4]\n", "collections = size-2K\n[ext4]\n",
		"collections = size-1K\n[nosuchfs]\n", "collections = size-1K\n[ext4]\n[ext4]\n",
		"collections = size-1K\n[ext4\n", "collections = size-1K\n[../x]\nfs = ext4\n",
		"collections = size-1K\nfiles = many\n[ext4]\n", "collections = size-1K\nremove = maybe\n[ext4]\n",
		"collections = size-1K\nreadback = cat\n[ext4]\n", "collections = size-1K\nnothing\n[ext4]\n",
		"collections = size-1K\n[ext4]\nfiles = 3\n", "collections = size-1K\ntimeout = 0\n[ext4]\n",
		"collections = size-1K\nengine = fast\n[ext4]\n", "collections = size-1K\nfs = ext4\n[ext4]\n",
	};
	struct trial_plan plan;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (read_plan(&plan, bad[i]))
			fail_msg("plan %zu is taken: %s", i, bad[i]);
		trial_plan_free(&plan);
	}
}

static void test_human(void **state)
{
	double least, most;

	(void)state;
	/* As df -h rounds up: more than 391M and at most 392M. */
	assert_true(trial_documented_human("392M", &least, &most));
	assert_true(most == 392.0 * 1048576 && least == 391.0 * 1048576);
	assert_true(trial_documented_human("9.9M", &least, &most));
	assert_true(most == 9.9 * 1048576 && least > 9.79 * 1048576 && least < 9.81 * 1048576);
	assert_true(trial_documented_human("512", &least, &most) && most == 512);
	assert_true(trial_documented_human("1.2G", &least, &most) && most == 1.2 * 1024 * 1048576);
	assert_false(trial_documented_human("", &least, &most));
	assert_false(trial_documented_human("12X", &least, &most));
	assert_false(trial_documented_human("12MB", &least, &most));
}

/* A cell with these figures, in MiB. */
static json_t *cell(int df, int ledger, int payload, int unsynced, int empty, const char *options)
{
	const json_int_t mib = 1048576;

	return json_pack("{s:s, s:{s:s, s:s}, s:{s:I}, s:{s:I}, s:{s:{s:I}, s:{s:I, s:I}, s:{s:{s:I}, s:{s:I}}}}", "status",
			 "done", "populate", "mount_options", options, "mkfs_command", "mkfs x.img", "df_unsynced", "used_kib",
			 unsynced * mib / 1024, "df_new", "used_kib", empty * mib / 1024, "audit", "df", "used_kib",
			 df * mib / 1024, "figures", "used_bytes", ledger * mib, "payload_bytes", payload * mib, "ledger",
			 "journal", "bytes", 32 * mib, "inode-free", "bytes", 8 * mib);
}

static void explained(json_t *of, double least, double most, const char *words)
{
	char text[300];

	trial_explain_used(text, sizeof(text), of, least * 1048576, most * 1048576);
	if (strstr(text, words) == NULL)
		fail_msg("'%s' is not in '%s'", words, text);
	if (strstr(words, "CANNOT") == NULL && strstr(text, "CANNOT") != NULL)
		fail_msg("'%s'", text);
	json_decref(of);
}

static void test_explain(void **state)
{
	(void)state;
	explained(cell(1000, 990, 900, 40, 33, ""), 391, 392, "CANNOT BE TRUE: less than the files, which are 900M; not written back: here df showed before it 40M");
	explained(cell(1000, 990, 900, 1000, 33, ""), 391, 392, "CANNOT BE TRUE: less than the files, which are 900M; read before");
	/* A filesystem that compresses may hold more than it takes. */
	explained(cell(1000, 990, 900, 1000, 33, "compress=zstd"), 391, 392, "more now");
	explained(cell(43, 40, 9, 43, 33, ""), 19, 20, "less than an empty one of that size made now: 33M (kept back by the driver 3M, journal 32M)");
	explained(cell(1000, 990, 900, 1000, 33, ""), 999, 1000, "agrees");
	explained(cell(1000, 1000, 900, 1000, 33, ""), 1000, 1001, "less now");
	explained(cell(1900, 1000, 900, 1000, 33, ""), 999, 1000, "more now; in it: kept back by the driver 900M");
	explained(cell(100, 1000, 90, 100, 1, ""), 299, 300, "less now; today's df leaves out fixed structures of 900M (journal 32M, inode tables 8M)");
}

static void test_get(void **state)
{
	json_t *result = json_pack("{s:[{s:s, s:s, s:n}, {s:s, s:s, s:s}], s:{s:{s:s, s:s, s:s, s:i, s:{s:{}}}}}", "filesystems",
				   "name", "a", "documented", "r4", "documented_option", "name", "b", "documented", "r4",
				   "documented_option", "large", "cells", "b/size-1K", "status", "done", "filesystem", "b",
				   "collection", "size-1K", "sync_every", 0, "audit", "ledger");

	(void)state;
	assert_non_null(result);
	assert_non_null(trial_find_cell(result, "r4", "large", "size-1K", 0));
	assert_null(trial_find_cell(result, "r4", "short", "size-1K", 0));
	assert_null(trial_find_cell(result, "r4", "large", "size-10K", 0));
	assert_null(trial_find_cell(result, "r4", "large", "size-1K", 1000));
	assert_null(trial_find_cell(result, "xfs", "large", "size-1K", 0));
	assert_true(trial_number(result, "cells.nothing.there", -1) < 0);
	assert_string_equal(trial_string(trial_filesystem(result, "a"), "documented"), "r4");
	assert_null(trial_get(trial_filesystem(result, "a"), "documented_option"));
	json_decref(result);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plan),	cmocka_unit_test(test_bad_plans), cmocka_unit_test(test_human),
		cmocka_unit_test(test_explain), cmocka_unit_test(test_get),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
