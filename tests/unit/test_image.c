/* SPDX-License-Identifier: GPL-2.0-only */
/* The window: reading, extents, names, refusals, detection, and who else uses the bytes. */
#include "image_fixture.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>

static void memory_reads_exactly_its_bytes(void **state)
{
	unsigned char bytes[100], got[100];
	struct fsa_image *image;
	uint64_t length;

	(void)state;
	for (unsigned i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)i;
	assert_int_equal(fsa_image_from_memory(bytes, sizeof(bytes), "mem", &image), FSA_OK);
	assert_string_equal(fsa_image_name(image), "mem");
	assert_int_equal(fsa_image_size(image), 100);
	assert_int_equal(fsa_image_start(image), 0);
	assert_null(fsa_image_content(image));
	assert_null(fsa_image_remark(image, 0));
	assert_int_equal(fsa_image_read(image, 0, got, 100), FSA_OK);
	assert_memory_equal(got, bytes, 100);
	assert_int_equal(fsa_image_read(image, 99, got, 1), FSA_OK);
	assert_int_equal(got[0], 99);
	assert_int_equal(fsa_image_read(image, 100, got, 0), FSA_OK);
	assert_int_equal(fsa_image_read(image, 99, got, 2), FSA_ERANGE);
	assert_int_equal(fsa_image_read(image, 101, got, 0), FSA_ERANGE);
	assert_int_equal(fsa_image_read(image, UINT64_MAX, got, 1), FSA_ERANGE);
	assert_int_equal(fsa_image_read(image, 1, got, SIZE_MAX), FSA_ERANGE);
	assert_int_equal(fsa_image_read(image, UINT64_MAX - 5, got, 10), FSA_ERANGE);
	assert_true(fsa_image_extent(image, 40, &length));
	assert_int_equal(length, 60);
	fsa_image_prefetch(image, 0, UINT64_MAX);
	assert_int_equal(fsa_image_go_cold(image), FSA_IMAGE_WARM);
	fsa_image_close(image);
}

static void an_empty_memory_image_has_nothing(void **state)
{
	struct fsa_image *image;
	unsigned char byte;

	(void)state;
	assert_int_equal(fsa_image_from_memory(NULL, 0, "none", &image), FSA_OK);
	assert_int_equal(fsa_image_read(image, 0, &byte, 0), FSA_OK);
	assert_int_equal(fsa_image_read(image, 0, &byte, 1), FSA_ERANGE);
	fsa_image_close(image);
	fsa_image_close(NULL);
}

static void file_reads_stay_in_the_window(void **state)
{
	struct opened_image o;
	char got[8];

	(void)state;
	write_file("plain", "0123456789abcdef", 16, 0, 0);
	o = open_with("plain", (struct fsa_image_options){ .have_offset = true, .offset_bytes = 10 });
	assert_int_equal(o.status, FSA_OK);
	assert_int_equal(fsa_image_start(o.image), 10);
	assert_int_equal(fsa_image_size(o.image), 6);
	assert_int_equal(fsa_image_read(o.image, 0, got, 6), FSA_OK);
	assert_memory_equal(got, "abcdef", 6);
	assert_int_equal(fsa_image_read(o.image, 0, got, 7), FSA_ERANGE);
	assert_int_equal(fsa_image_read(o.image, UINT64_MAX - 9, got, 4), FSA_ERANGE);
	fsa_image_close(o.image);

	o = open_with("plain", (struct fsa_image_options){ .have_offset = true, .offset_bytes = 16 });
	assert_int_equal(o.status, FSA_ERANGE);
	assert_non_null(strstr(o.err.message, "offset 16"));
	assert_non_null(strstr(o.err.message, "at 16"));
}

static void a_file_cut_meanwhile_is_a_read_error(void **state)
{
	struct fsa_image *image;
	char got[16];

	(void)state;
	write_file("shrinks", "0123456789abcdef", 16, 0, 0);
	image = must_open("shrinks");
	assert_int_equal(truncate(in_scratch("shrinks"), 8), 0);
	assert_int_equal(fsa_image_read(image, 0, got, 8), FSA_OK);
	assert_int_equal(fsa_image_read(image, 4, got, 8), FSA_EIO);
	fsa_image_close(image);
}

static void extents_tell_data_from_holes(void **state)
{
	static unsigned char block[65536];
	uint64_t length, at = 0, data = 0;
	struct opened_image o;
	struct stat st;

	(void)state;
	memset(block, 'x', sizeof(block));
	write_file("sparse", block, sizeof(block), 1 << 20, 4 << 20);
	assert_int_equal(stat(in_scratch("sparse"), &st), 0);
	o = open_plain("sparse");
	assert_int_equal(o.status, FSA_OK);
	while (at < fsa_image_size(o.image)) {
		if (fsa_image_extent(o.image, at, &length))
			data += length;
		assert_true(length > 0 && length <= fsa_image_size(o.image) - at);
		at += length;
	}
	assert_int_equal(at, 4 << 20);
	/* A host that knows no holes says that all is data. */
	if (st.st_blocks * 512 < 1 << 20)
		assert_int_equal(data, sizeof(block));
	fsa_image_extent(o.image, at, &length);
	assert_int_equal(length, 0);
	fsa_image_prefetch(o.image, 1 << 20, UINT64_MAX);
	fsa_image_prefetch(o.image, UINT64_MAX, 1);
	fsa_image_close(o.image);

	/* A window that ends inside data, or inside a hole, ends the run there. */
	o = open_with("sparse", (struct fsa_image_options){ .have_offset = true, .offset_bytes = (1 << 20) + 4096 });
	assert_true(fsa_image_extent(o.image, 0, &length));
	if (st.st_blocks * 512 < 1 << 20)
		assert_int_equal(length, sizeof(block) - 4096);
	fsa_image_close(o.image);
}

static void *read_all(void *arg)
{
	struct fsa_image *image = arg;
	uint64_t value, length;

	for (uint64_t i = 0; i < fsa_image_size(image) / 8; i++) {
		if (fsa_image_read(image, i * 8, &value, 8) != FSA_OK || value != i)
			return image;
		fsa_image_extent(image, i * 8, &length);
	}
	return NULL;
}

static void threads_read_at_the_same_time(void **state)
{
	static uint64_t numbers[8192];
	struct fsa_image *image;
	pthread_t threads[4];

	(void)state;
	for (unsigned i = 0; i < 8192; i++)
		numbers[i] = i;
	write_file("numbers", numbers, sizeof(numbers), 0, 0);
	image = must_open("numbers");
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, read_all, image), 0);
	for (unsigned i = 0; i < 4; i++) {
		void *failed;

		pthread_join(threads[i], &failed);
		assert_null(failed);
	}
	fsa_image_close(image);
}

static void assert_split(const char *argument, const char *path, unsigned partition)
{
	unsigned got;
	char *p;

	assert_int_equal(fsa_image_split_name(argument, &p, &got), FSA_OK);
	assert_string_equal(p, path);
	assert_int_equal(got, partition);
	free(p);
}

static void names_are_split_at_a_partition_number(void **state)
{
	char whole[600];

	(void)state;
	assert_split("/no/disk.img@2", "/no/disk.img", 2);
	assert_split("/no/disk.img@12", "/no/disk.img", 12);
	assert_split("/no/disk.img", "/no/disk.img", 0);
	assert_split("/no/disk.img@", "/no/disk.img@", 0);
	assert_split("/no/disk.img@0", "/no/disk.img@0", 0);
	assert_split("/no/disk.img@01", "/no/disk.img@01", 0);
	assert_split("/no/disk.img@2x", "/no/disk.img@2x", 0);
	assert_split("/no/disk.img@99999999999", "/no/disk.img@99999999999", 0);
	assert_split("/no/a@b@3", "/no/a@b", 3);
	assert_split("@3", "@3", 0);
	assert_split("", "", 0);
	assert_split("/no/a.tar:disk.img@2", "/no/a.tar:disk.img", 2);
	/* A file that exists under the whole name wins. */
	write_file("real@2", "x", 1, 0, 0);
	snprintf(whole, sizeof(whole), "%s", in_scratch("real@2"));
	assert_split(whole, whole, 0);
}

static void what_is_no_image_is_refused(void **state)
{
	struct opened_image o;

	(void)state;
	must_fail("missing", FSA_ENOENT, "No such file");
	must_fail("missing@2", FSA_ENOENT, "No such file");
	must_fail(".", FSA_EINVAL, "is a directory");
	assert_int_equal(mkfifo(in_scratch("fifo"), 0600), 0);
	must_fail("fifo", FSA_EINVAL, "neither a regular file nor a block device");
	assert_int_equal(run(": > empty"), 0);
	must_fail("empty", FSA_EINVAL, "is empty");
	write_file("bytes", "x", 1, 0, 4096);
	must_fail("bytes@3", FSA_ENOENT, "no partition 3");
	must_fail("bytes:member", FSA_EINVAL, "no archive");
	o = open_with("bytes@3", (struct fsa_image_options){ .have_offset = true });
	assert_int_equal(o.status, FSA_EINVAL);
	o = open_with("bytes@3", (struct fsa_image_options){ .raw = true });
	assert_int_equal(o.status, FSA_EINVAL);
}

static void bytes_of_no_known_kind_are_raw(void **state)
{
	struct fsa_image *image;

	(void)state;
	write_file("noise", "nothing that anybody knows", 26, 0, 100000);
	image = must_open("noise");
	assert_int_equal(fsa_image_size(image), 100000);
	assert_null(fsa_image_content(image));
	assert_null(fsa_image_remark(image, 0));
	fsa_image_close(image);
	/* Of less than a sector, too. */
	write_file("tiny", "x", 1, 0, 0);
	image = must_open("tiny");
	assert_int_equal(fsa_image_size(image), 1);
	fsa_image_close(image);
}

static void content_is_named(void **state)
{
	struct fsa_image *image;

	(void)state;
	make_ext2("ext2.img", "hello", 0);
	image = must_open("ext2.img");
	assert_string_equal(fsa_image_content(image), "ext2");
	assert_label(image, "hello");
	fsa_image_close(image);

	need("mkswap");
	assert_int_equal(run("truncate -s 1M swap.img && mkswap swap.img"), 0);
	image = must_open("swap.img");
	assert_string_equal(fsa_image_content(image), "swap");
	fsa_image_close(image);
}

static void a_wrong_checksum_hides_nothing(void **state)
{
	struct fsa_image *image;

	(void)state;
	need("mke2fs");
	assert_int_equal(run("rm -f sum.img; mke2fs -q -F -t ext4 -O metadata_csum sum.img 4M"), 0);
	write_file("sum.img", "\xff\xff\xff\xff", 4, 1024 + 1020, 0);
	image = must_open("sum.img");
	assert_string_equal(fsa_image_content(image), "ext4");
	fsa_image_close(image);
}

static void several_signatures_are_named_and_left_to_the_parsers(void **state)
{
	struct fsa_image *image;

	(void)state;
	make_ext2("both.img", "both", 0);
	/* A minix V1 superblock would collide; the magic of JFS at 32 KiB does not. */
	need("mkfs.jfs");
	assert_int_equal(run("truncate -s 32M both.img && truncate -s 32M jfs.img && mkfs.jfs -q jfs.img && "
			     "dd if=jfs.img of=both.img bs=32768 skip=1 seek=1 count=1 conv=notrunc"), 0);
	image = must_open("both.img");
	assert_null(fsa_image_content(image));
	assert_true(has_remark(image, "several kinds"));
	assert_true(has_remark(image, "ext2"));
	assert_true(has_remark(image, "jfs"));
	fsa_image_close(image);
}

static void raw_takes_the_bytes_as_they_are(void **state)
{
	struct opened_image o;
	char got[3];

	(void)state;
	write_file("zipped", "\x1f\x8b\x08 no gzip at all", 18, 0, 5000);
	must_fail("zipped", FSA_EDAMAGED, "gzip data is damaged");
	o = open_with("zipped", (struct fsa_image_options){ .raw = true });
	assert_int_equal(o.status, FSA_OK);
	assert_int_equal(fsa_image_size(o.image), 5000);
	assert_int_equal(fsa_image_read(o.image, 0, got, 3), FSA_OK);
	assert_memory_equal(got, "\x1f\x8b\x08", 3);
	fsa_image_close(o.image);
}

static void the_cache_can_be_dropped(void **state)
{
	static unsigned char block[1 << 16];
	struct fsa_image *image;

	(void)state;
	write_file("cached", block, sizeof(block), 0, 0);
	image = must_open("cached");
	/* Refused where memory is the only place of the file: both answers are right, none may crash. */
	fsa_image_go_cold(image);
	assert_int_equal(fsa_image_read(image, 0, block, sizeof(block)), FSA_OK);
	fsa_image_close(image);
}

static void a_mounted_image_is_remarked(void **state)
{
	struct fsa_image *image;
	char device[64] = "";
	FILE *f;

	(void)state;
	make_ext2("loop.img", "loop", 0);
	/* -o ro on the loop device as well, so that the file stays as it is. */
	if (geteuid() != 0 || run("mkdir -p mnt && mount -o loop loop.img mnt") != 0) {
		print_message("skipped: cannot mount here\n");
		skip();
	}
	image = must_open("loop.img");
	assert_true(has_remark(image, "is mounted at"));
	assert_true(has_remark(image, "torn"));
	assert_true(has_remark(image, "through /dev/loop"));
	fsa_image_close(image);

	assert_int_equal(run("findmnt -n -o SOURCE mnt > device"), 0);
	run("findmnt -n -o SOURCE \"$PWD/mnt\" | tr -d '\\n' > device");
	f = fopen(in_scratch("device"), "r");
	assert_non_null(f);
	if (fgets(device, sizeof(device), f) && access(device, R_OK) == 0) {
		struct fsa_error err;

		assert_int_equal(fsa_image_open(device, NULL, &image, &err), FSA_OK);
		assert_int_equal(fsa_image_size(image), 1 << 20);
		assert_string_equal(fsa_image_content(image), "ext2");
		assert_true(has_remark(image, "is mounted at"));
		fsa_image_close(image);
	}
	fclose(f);
	assert_int_equal(run("mount -o remount,ro mnt"), 0);
	image = must_open("loop.img");
	assert_true(has_remark(image, "is mounted read-only at"));
	assert_false(has_remark(image, "torn"));
	fsa_image_close(image);
	assert_int_equal(run("umount mnt"), 0);
	image = must_open("loop.img");
	assert_null(fsa_image_remark(image, 0));
	fsa_image_close(image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_reads_exactly_its_bytes),
		cmocka_unit_test(an_empty_memory_image_has_nothing),
		cmocka_unit_test(file_reads_stay_in_the_window),
		cmocka_unit_test(a_file_cut_meanwhile_is_a_read_error),
		cmocka_unit_test(extents_tell_data_from_holes),
		cmocka_unit_test(threads_read_at_the_same_time),
		cmocka_unit_test(names_are_split_at_a_partition_number),
		cmocka_unit_test(what_is_no_image_is_refused),
		cmocka_unit_test(bytes_of_no_known_kind_are_raw),
		cmocka_unit_test(content_is_named),
		cmocka_unit_test(a_wrong_checksum_hides_nothing),
		cmocka_unit_test(several_signatures_are_named_and_left_to_the_parsers),
		cmocka_unit_test(raw_takes_the_bytes_as_they_are),
		cmocka_unit_test(the_cache_can_be_dropped),
		cmocka_unit_test(a_mounted_image_is_remarked),
	};

	return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
