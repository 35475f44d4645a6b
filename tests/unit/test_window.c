/* SPDX-License-Identifier: GPL-2.0-only */
/* The window that reads ahead, over a file as image: order of reads, bounds, what cannot be read; and what is lent to the writer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyzer/window.h"
#include "analyzer/writebehind.h"
#include "mock_fs.h"

#define KIB 1024u
#define MIB (1024u * KIB)

/* --- an image that counts ------------------------------------------------------------------------ */

struct reads {
	uint64_t offsets[256];
	size_t lengths[256];
	size_t count;
};

/* The window's thread calls it, and is waited for before anybody looks. */
static void count(void *arg, const struct fsa_image *image, uint64_t offset, size_t length, bool contents)
{
	struct reads *reads = arg;

	(void)image;
	assert_true(contents);
	assert_in_range(reads->count, 0, 255);
	reads->offsets[reads->count] = offset;
	reads->lengths[reads->count++] = length;
}

#define AT(place, bytes) { .kind = FSA_EXTENT_DATA, .logical = 0, .length = bytes, .physical = place }

static enum fsa_status note(struct mock_fs *f, struct window *w, uint64_t number, bool *fits)
{
	return window_note(w, mock_ref(number), number, f->mock.inodes[number].size, fits);
}

/* True when the bytes are in memory, and those of the image. */
static bool is_held(const struct mock_fs *f, uint64_t offset, size_t length)
{
	const void *held = fsa_image_held(f->fs.devices[0].image, offset, length);

	return held != NULL && memcmp(held, f->bytes + offset, length) == 0;
}

/* --- tests --------------------------------------------------------------------------------------- */

static const struct fsa_extent late[] = { AT(2 * MIB, 8192) }, early[] = { AT(4096, 5000) },
	near_early[] = { AT(12288, 100) }, big[] = { AT(MIB, MIB) };
static const struct mock_inode inodes[] = {
	{ FILE_OF(late, 8192) }, { FILE_OF(early, 5000) }, { FILE_OF(near_early, 100) }, { FILE_OF(big, MIB) },
};

static void test_physical(void **state)
{
	struct reads reads = { .count = 0 };
	struct mock_fs f;
	struct window *w;
	bool fits;

	(void)state;
	mock_begin(&f, inodes, 4);
	w = window_new(&f.fs, WINDOW_PHYSICAL, 3 * MIB);
	assert_non_null(w);
	fsa_image_watch(f.fs.devices[0].image, count, &reads);
	for (uint64_t i = 0; i < 3; i++) {
		assert_int_equal(note(&f, w, i, &fits), FSA_OK);
		assert_true(fits);
	}
	assert_false(window_full(w));
	assert_false(is_held(&f, 4096, 1));
	assert_int_equal(window_turn(w), FSA_OK);
	/* Being read: not held yet. */
	assert_null(fsa_image_held(f.fs.devices[0].image, 4096, 1));
	assert_int_equal(window_turn(w), FSA_OK);
	/* The two that are near each other at once, then the far one, though it was noted first. */
	assert_int_equal(reads.count, 2);
	assert_true(reads.offsets[0] == 4096 && reads.lengths[0] == 12288 + 100 - 4096);
	assert_true(reads.offsets[1] == 2 * MIB && reads.lengths[1] == 8192);
	assert_true(is_held(&f, 4096, 5000));
	assert_true(is_held(&f, 12288, 100));
	assert_true(is_held(&f, 2 * MIB, 8192));
	assert_false(is_held(&f, 2 * MIB, 8193));
	assert_int_equal(window_turn(w), FSA_OK);
	assert_null(fsa_image_held(f.fs.devices[0].image, 4096, 1));
	assert_int_equal(reads.count, 2);
	fsa_image_watch(f.fs.devices[0].image, NULL, NULL);
	window_free(w);
	mock_end(&f);
}

static void test_by_inode(void **state)
{
	struct reads reads = { .count = 0 };
	struct mock_fs f;
	struct window *w;
	bool fits;

	(void)state;
	mock_begin(&f, inodes, 4);
	w = window_new(&f.fs, WINDOW_INODE, 3 * MIB);
	assert_non_null(w);
	fsa_image_watch(f.fs.devices[0].image, count, &reads);
	for (uint64_t i = 3; i-- > 0;)
		assert_int_equal(note(&f, w, i, &fits), FSA_OK);
	assert_int_equal(window_turn(w), FSA_OK);
	assert_int_equal(window_turn(w), FSA_OK);
	assert_int_equal(reads.count, 3);
	assert_true(reads.offsets[0] == 2 * MIB && reads.offsets[1] == 4096 && reads.offsets[2] == 12288);
	assert_true(is_held(&f, 12288, 100));
	fsa_image_watch(f.fs.devices[0].image, NULL, NULL);
	window_free(w);
	mock_end(&f);
}

/* In directory order nothing is read ahead, and no memory taken. */
static void test_by_directory(void **state)
{
	struct mock_fs f;
	struct window *w;
	size_t length;
	bool fits;

	(void)state;
	mock_begin(&f, inodes, 4);
	w = window_new(&f.fs, WINDOW_DIRECTORY, 3 * MIB);
	assert_non_null(w);
	assert_false(window_reads_ahead(w));
	assert_null(window_memory(w, &length));
	assert_int_equal(length, 0);
	assert_int_equal(note(&f, w, 3, &fits), FSA_OK);
	assert_true(fits);
	assert_int_equal(window_turn(w), FSA_OK);
	assert_int_equal(window_turn(w), FSA_OK);
	assert_false(is_held(&f, MIB, 1));
	window_free(w);
	mock_end(&f);
}

/* What does not fit leaves no trace, and what is held stays within the window's memory. */
static void test_bound(void **state)
{
	static struct fsa_extent pieces[64];
	static struct mock_inode many[64];
	struct mock_fs f;
	struct window *w;
	const uint8_t *memory;
	size_t length;
	unsigned n = 0;
	bool fits;

	(void)state;
	/* Backwards and 12 KiB apart: all have to be sorted, and what lies between is read along as far as there is room. */
	for (unsigned i = 0; i < 64; i++) {
		pieces[i] = (struct fsa_extent)AT(2 * MIB - i * 16 * KIB, 4 * KIB);
		many[i] = (struct mock_inode){ .type = FSA_TYPE_REGULAR, .size = 4 * KIB, .extents = &pieces[i], .n_extents = 1 };
	}
	many[63] = inodes[3];
	mock_begin(&f, many, 64);
	w = window_new(&f.fs, WINDOW_PHYSICAL, 3 * 64 * KIB);
	assert_non_null(w);
	memory = window_memory(w, &length);
	assert_int_equal(length, 3 * 64 * KIB);
	while (!window_full(w)) {
		assert_int_equal(note(&f, w, n++, &fits), FSA_OK);
		assert_true(fits);
	}
	/* Half of a third. */
	assert_int_equal(n, 32 / 4);
	assert_int_equal(note(&f, w, 63, &fits), FSA_OK);
	assert_false(fits);
	assert_int_equal(window_turn(w), FSA_OK);
	assert_int_equal(window_turn(w), FSA_OK);
	for (unsigned i = 0; i < n; i++) {
		const uint8_t *held = fsa_image_held(f.fs.devices[0].image, pieces[i].physical, 4 * KIB);

		assert_true(is_held(&f, pieces[i].physical, 4 * KIB));
		assert_true(held >= memory && held + 4 * KIB <= memory + length);
	}
	assert_null(fsa_image_held(f.fs.devices[0].image, MIB, 1));
	window_free(w);
	mock_end(&f);
}

/* What lies in order need not wait for a whole window, once a whole window of it was seen. */
static void test_in_order(void **state)
{
	static struct fsa_extent pieces[40];
	static struct mock_inode many[40];
	struct mock_fs f;
	struct window *w;
	unsigned n = 0;
	bool fits;

	(void)state;
	for (unsigned i = 0; i < 40; i++) {
		pieces[i] = (struct fsa_extent)AT(i * 64 * KIB, 64 * KIB);
		many[i] = (struct mock_inode){ .type = FSA_TYPE_REGULAR, .size = 64 * KIB, .extents = &pieces[i], .n_extents = 1 };
	}
	mock_begin(&f, many, 40);
	w = window_new(&f.fs, WINDOW_PHYSICAL, 3 * 5 * MIB);
	assert_non_null(w);
	for (; !window_full(w); n++) {
		assert_int_equal(note(&f, w, n % 40, &fits), FSA_OK);
		assert_true(fits);
	}
	assert_int_equal(n, 40);
	assert_int_equal(window_turn(w), FSA_OK);
	for (n = 0; !window_full(w); n++)
		assert_int_equal(note(&f, w, n, &fits), FSA_OK);
	assert_int_equal(n, 32);
	assert_int_equal(window_turn(w), FSA_OK);
	/* Backwards: after some of that the image is not called in order any more. */
	for (n = 0; n < 20; n++)
		assert_int_equal(note(&f, w, 39 - n, &fits), FSA_OK);
	for (; !window_full(w); n++)
		assert_int_equal(note(&f, w, 39 - n, &fits), FSA_OK);
	assert_int_equal(n, 40);
	window_free(w);
	mock_end(&f);
}

/* Everything that an image over a file can fail in: its end is cut off after it was opened. */
static void test_unreadable(void **state)
{
	static const struct fsa_extent good[] = { AT(0, 4096) }, bad[] = { AT(MIB, 4096) }, last[] = { AT(64 * KIB, 4096) };
	static const struct mock_inode three[] = { { FILE_OF(good, 4096) }, { FILE_OF(bad, 4096) }, { FILE_OF(last, 4096) } };
	char path[] = "/tmp/fsassay-window-XXXXXX";
	struct fsa_error err;
	struct fsa_image *whole;
	struct mock_fs f;
	struct window *w;
	const int fd = mkstemp(path);
	bool fits;

	(void)state;
	assert_true(fd >= 0);
	mock_begin(&f, three, 3);
	assert_int_equal(write(fd, f.bytes, 2 * MIB), 2 * MIB);
	whole = f.fs.devices[0].image;
	assert_int_equal(fsa_image_open(path, NULL, &f.fs.devices[0].image, &err), FSA_OK);
	assert_int_equal(ftruncate(fd, MIB), 0);
	w = window_new(&f.fs, WINDOW_PHYSICAL, 3 * MIB);
	assert_non_null(w);
	for (uint64_t i = 0; i < 3; i++)
		assert_int_equal(note(&f, w, i, &fits), FSA_OK);
	assert_int_equal(window_turn(w), FSA_OK);
	assert_int_equal(window_turn(w), FSA_OK);
	assert_true(is_held(&f, 0, 4096));
	assert_true(is_held(&f, 64 * KIB, 4096));
	assert_null(fsa_image_held(f.fs.devices[0].image, MIB, 4096));
	/* Findings are made by who asks for the bytes. */
	assert_int_equal(fsa_findings_count(f.fs.findings), 0);
	window_free(w);
	fsa_image_close(f.fs.devices[0].image);
	f.fs.devices[0].image = whole;
	mock_end(&f);
	close(fd);
	unlink(path);
}

static void test_order_names(void **state)
{
	enum window_order order;

	(void)state;
	for (enum window_order o = WINDOW_DIRECTORY; o <= WINDOW_PHYSICAL; o++) {
		assert_true(window_find_order(window_order_name(o), &order));
		assert_int_equal(order, o);
	}
	assert_false(window_find_order("sideways", &order));
}

/* --- the writer ---------------------------------------------------------------------------------- */

struct taker {
	pthread_mutex_t lock;
	const uint8_t *lent;
	size_t lent_length;
	uint64_t bytes, from_there;
	uint8_t sum;
};

static int take(void *arg, const void *data, size_t length)
{
	struct taker *t = arg;
	const uint8_t *bytes = data;

	pthread_mutex_lock(&t->lock);
	t->bytes += length;
	if (bytes >= t->lent && bytes < t->lent + t->lent_length)
		t->from_there += length;
	for (size_t i = 0; i < length; i++)
		t->sum = (uint8_t)(t->sum * 31 + bytes[i]);
	pthread_mutex_unlock(&t->lock);
	return 0;
}

static void test_lending(void **state)
{
	static uint8_t lent[MIB];
	struct taker t = { .lock = PTHREAD_MUTEX_INITIALIZER, .lent = lent, .lent_length = sizeof(lent) };
	uint8_t other[5000], sum = 0;
	struct writebehind *w = writebehind_new_to(take, &t, NULL, NULL);

	(void)state;
	assert_non_null(w);
	memset(other, 3, sizeof(other));
	for (size_t i = 0; i < sizeof(lent); i++)
		lent[i] = (uint8_t)(i * 7);
	writebehind_lend(w, lent, sizeof(lent));
	for (unsigned i = 0; i < 200; i++) {
		const uint8_t *const parts[] = { other, lent + 4096 * i, lent + 100 };
		const size_t lengths[] = { sizeof(other), 4096, 100 };

		for (unsigned p = 0; p < 3; p++) {
			assert_true(writebehind_put(w, parts[p], lengths[p]));
			for (size_t k = 0; k < lengths[p]; k++)
				sum = (uint8_t)(sum * 31 + parts[p][k]);
		}
		/* What is not lent may change at once. */
		memset(other, (int)i, sizeof(other));
	}
	assert_true(writebehind_settle(w));
	assert_true(writebehind_settle(w));
	assert_int_equal(t.bytes, 200 * (sizeof(other) + 4096 + 100));
	/* The small ones are copied. */
	assert_int_equal(t.from_there, 200 * 4096);
	assert_int_equal(t.sum, sum);
	/* Now it may change, and what was written stays. */
	memset(lent, 0, sizeof(lent));
	assert_true(writebehind_flush(w));
	assert_int_equal(t.sum, sum);
	writebehind_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_physical), cmocka_unit_test(test_by_inode), cmocka_unit_test(test_by_directory),
		cmocka_unit_test(test_bound), cmocka_unit_test(test_in_order), cmocka_unit_test(test_unreadable),
		cmocka_unit_test(test_order_names), cmocka_unit_test(test_lending),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
