/* SPDX-License-Identifier: GPL-2.0-only */
/* Compressed images and members of archives. */
#include "image_fixture.h"

#include <dirent.h>
#include <sys/stat.h>

/* An ext2 with a MiB of data that does not compress and one that is a hole, as "one.img". */
static void make_images(void)
{
	static unsigned char noise[1 << 20];
	uint32_t x = 1;

	if (access(in_scratch("one.img"), F_OK) == 0)
		return;
	make_ext2("one.img", "one", 0);
	make_ext2("two.img", "two", 0);
	for (size_t i = 0; i < sizeof(noise); i++) {
		x = x * 1664525u + 1013904223u;
		noise[i] = (unsigned char)(x >> 24);
	}
	write_file("one.img", noise, sizeof(noise), 1 << 20, 3 << 20);
	write_file("readme", "read me\n", 8, 0, 0);
	assert_int_equal(run(": > nothing; truncate -s 20000 zeros"), 0);
}

/* Same bytes as one.img? */
static void assert_one(const char *argument)
{
	static unsigned char want[3 << 20], got[3 << 20];
	struct fsa_image *image;
	int fd;

	image = must_open(argument);
	fd = open(in_scratch("one.img"), O_RDONLY);
	assert_int_equal(pread(fd, want, sizeof(want), 0), sizeof(want));
	close(fd);
	assert_int_equal(fsa_image_size(image), sizeof(want));
	assert_string_equal(fsa_image_content(image), "ext2");
	assert_int_equal(fsa_image_read(image, 0, got, sizeof(got)), FSA_OK);
	assert_memory_equal(got, want, sizeof(got));
	fsa_image_close(image);
}

static const int filters[] = {
	ARCHIVE_FILTER_GZIP, ARCHIVE_FILTER_XZ, ARCHIVE_FILTER_ZSTD, ARCHIVE_FILTER_BZIP2, ARCHIVE_FILTER_LZ4,
	ARCHIVE_FILTER_LZIP,
};
#define N_FILTERS (sizeof(filters) / sizeof(filters[0]))

static const char *const just_one[] = { "one.img", "one.img", NULL };

static void each_compression_is_unpacked(void **state)
{
	(void)state;
	make_images();
	for (unsigned i = 0; i < N_FILTERS; i++) {
		make_archive("one.packed", ARCHIVE_FORMAT_RAW, filters[i], just_one);
		assert_one("one.packed");
	}
}

static void the_unpacked_image_is_sparse(void **state)
{
	struct fsa_image *image;
	uint64_t length, data = 0;

	(void)state;
	make_images();
	make_archive("sparse.xz", ARCHIVE_FORMAT_RAW, ARCHIVE_FILTER_XZ, just_one);
	image = must_open("sparse.xz");
	for (uint64_t at = 0; at < fsa_image_size(image); at += length)
		if (fsa_image_extent(image, at, &length))
			data += length;
	/* The noise, a few blocks of metadata, and no more. */
	assert_in_range(data, 1 << 20, (1 << 20) + (1 << 18));
	fsa_image_close(image);
}

static void an_image_of_zeros_at_its_start_is_no_tar(void **state)
{
	struct fsa_image *image;
	static const char *const members[] = { "zeros", "zeros", NULL };

	(void)state;
	make_images();
	make_archive("zeros.gz", ARCHIVE_FORMAT_RAW, ARCHIVE_FILTER_GZIP, members);
	image = must_open("zeros.gz");
	assert_int_equal(fsa_image_size(image), 20000);
	fsa_image_close(image);
}

static const int formats[] = {
	ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FORMAT_TAR_GNUTAR, ARCHIVE_FORMAT_TAR_PAX_INTERCHANGE, ARCHIVE_FORMAT_ZIP,
	ARCHIVE_FORMAT_7ZIP, ARCHIVE_FORMAT_CPIO_SVR4_NOCRC, ARCHIVE_FORMAT_CPIO_POSIX, ARCHIVE_FORMAT_AR_GNU,
};
#define N_FORMATS (sizeof(formats) / sizeof(formats[0]))

static void the_only_image_of_an_archive_is_taken(void **state)
{
	static const char *const members[] = {
		"README", "readme", "nothing", "nothing", "disk.img", "one.img", "zeros", "zeros", NULL,
	};
	struct fsa_image *image;

	(void)state;
	make_images();
	for (unsigned i = 0; i < N_FORMATS; i++) {
		make_archive("some.archive", formats[i], ARCHIVE_FILTER_NONE, members);
		assert_one("some.archive");
		assert_one("some.archive:disk.img");
	}
	image = must_open("some.archive");
	assert_true(has_remark(image, "'disk.img'"));
	assert_true(has_remark(image, "of 3 files"));
	fsa_image_close(image);
	make_archive("some.tar.xz", ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FILTER_XZ, members);
	assert_one("some.tar.xz");
	assert_one("some.tar.xz:disk.img");
}

static void a_tar_of_before_posix_is_known_by_its_sum(void **state)
{
	(void)state;
	make_images();
	make_archive("v7.tar", ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FILTER_NONE, just_one);
	need("tar");
	assert_int_equal(run("tar --format=v7 -cf v7.tar one.img"), 0);
	assert_one("v7.tar");
}

static void a_sparse_member_keeps_its_holes_and_its_size(void **state)
{
	(void)state;
	make_images();
	need("tar");
	assert_int_equal(run("tar --sparse -cf holes.tar one.img"), 0);
	assert_one("holes.tar");
}

static void several_images_of_an_archive_are_listed(void **state)
{
	static const char *const members[] = {
		"a/one.img", "one.img", "README", "readme", "a/two.img", "two.img", NULL,
	};
	struct fsa_image *image;

	(void)state;
	make_images();
	make_archive("both.tar.gz", ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FILTER_GZIP, members);
	must_fail("both.tar.gz", FSA_EINVAL, "2 files that may be the image");
	must_fail("both.tar.gz", FSA_EINVAL, "\n  a/one.img");
	must_fail("both.tar.gz", FSA_EINVAL, "\n  a/two.img");
	image = must_open("both.tar.gz:a/two.img");
	assert_label(image, "two");
	assert_null(fsa_image_remark(image, 0));
	assert_string_equal(fsa_image_name(image), in_scratch("both.tar.gz:a/two.img"));
	fsa_image_close(image);
	must_fail("both.tar.gz:a/three.img", FSA_ENOENT, "no file 'a/three.img'");
	must_fail("both.tar.gz:a/three.img", FSA_ENOENT, "\n  a/two.img");
	/* Asked for, a member without an image opens as well. */
	image = must_open("both.tar.gz:README");
	assert_int_equal(fsa_image_size(image), 8);
	fsa_image_close(image);
}

static void a_member_may_be_given_as_an_option(void **state)
{
	static const char *const members[] = { "./a:b", "one.img", "two.img", "two.img", NULL };
	struct opened_image o;

	(void)state;
	make_images();
	make_archive("colon.tar", ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FILTER_NONE, members);
	o = open_with("colon.tar", (struct fsa_image_options){ .member = "a:b" });
	assert_int_equal(o.status, FSA_OK);
	assert_label(o.image, "one");
	fsa_image_close(o.image);
	assert_one("colon.tar:a:b");
}

static void a_file_of_the_whole_name_wins(void **state)
{
	struct fsa_image *image;

	(void)state;
	make_images();
	make_archive("name.tar", ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FILTER_NONE, just_one);
	assert_int_equal(run("cp two.img name.tar:one.img"), 0);
	image = must_open("name.tar:one.img");
	assert_label(image, "two");
	fsa_image_close(image);
}

static void files_that_are_no_image(void **state)
{
	static const char *const none[] = { "nothing", "nothing", NULL };
	static const char *const two[] = { "a", "readme", "b", "readme", NULL };
	static const char *const one[] = { "nothing", "nothing", "b", "readme", NULL };
	static const char *const odd[] = { "a\033[2J\302\233b\n", "readme", "b", "readme", NULL };
	struct fsa_image *image;

	(void)state;
	make_images();
	make_archive("files.zip", ARCHIVE_FORMAT_ZIP, ARCHIVE_FILTER_NONE, none);
	must_fail("files.zip", FSA_EUNSUPPORTED, "no file that is not empty");
	make_archive("files.tar", ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FILTER_NONE, two);
	must_fail("files.tar", FSA_EINVAL, "none of which looks like an image");
	make_archive("files.tar", ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FILTER_NONE, one);
	image = must_open("files.tar");
	assert_int_equal(fsa_image_size(image), 8);
	fsa_image_close(image);
	/* Names never reach the terminal as they are. */
	make_archive("files.tar", ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FILTER_NONE, odd);
	must_fail("files.tar", FSA_EINVAL, "\n  a\\x1b[2J\\xc2\\x9bb\\x0a");
}

static void many_files_fit_the_message(void **state)
{
	struct opened_image o;

	(void)state;
	make_images();
	need("tar");
	assert_int_equal(run("mkdir -p many && cd many && for i in 1 2 3 4 5 6 7 8 9; do for j in 1 2 3 4 5 6 7 8 9; do "
			     "echo x > a-file-with-a-rather-long-name-$i$j; done; done; cd .. && tar -cf many.tar many"), 0);
	o = open_plain("many.tar");
	assert_int_equal(o.status, FSA_EINVAL);
	assert_non_null(strstr(o.err.message, "81 files"));
	assert_non_null(strstr(o.err.message, " more"));
}

static void layers_are_taken_off_one_by_one(void **state)
{
	static const char *const packed[] = { "README", "readme", "one.img.xz", "one.img.xz", NULL };
	struct fsa_image *image;

	(void)state;
	make_images();
	make_archive("one.img.xz", ARCHIVE_FORMAT_RAW, ARCHIVE_FILTER_XZ, just_one);
	make_archive("layers.tar.gz", ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FILTER_GZIP, packed);
	assert_one("layers.tar.gz");
	image = must_open("layers.tar.gz");
	assert_true(has_remark(image, "'one.img.xz'"));
	fsa_image_close(image);
}

static void layers_have_a_bound(void **state)
{
	char name[16] = "one.img", next[16];

	(void)state;
	make_images();
	for (unsigned i = 0; i < 9; i++) {
		const char *members[] = { name, name, NULL };

		snprintf(next, sizeof(next), "layer%u.zip", i);
		make_archive(next, ARCHIVE_FORMAT_ZIP, ARCHIVE_FILTER_NONE, members);
		strcpy(name, next);
		if (i == 4)
			assert_one(name);
	}
	must_fail(name, FSA_EUNSUPPORTED, "layers");
}

static void a_partition_inside_a_compressed_disk(void **state)
{
	static const char *const members[] = { "disk", "disk", NULL };
	struct fsa_image *image;

	(void)state;
	need("sfdisk");
	assert_int_equal(run("truncate -s 4M disk && printf 'label: dos\\n2048,2048,83\\n4096,2048,83\\n' | sfdisk -q disk"),
			 0);
	make_ext2("disk", "inside", 2 << 20);
	make_archive("disk.zst", ARCHIVE_FORMAT_RAW, ARCHIVE_FILTER_ZSTD, members);
	image = must_open("disk.zst");
	assert_label(image, "inside");
	assert_int_equal(fsa_image_start(image), 2 << 20);
	fsa_image_close(image);
	make_archive("disk.tar", ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FILTER_NONE, members);
	image = must_open("disk.tar:disk@2");
	assert_label(image, "inside");
	fsa_image_close(image);
	image = must_open("disk.tar");
	assert_label(image, "inside");
	fsa_image_close(image);
}

static void an_image_that_begins_like_something_packed_is_raw(void **state)
{
	static const struct { const char *bytes; size_t length, offset; } lies[] = {
		{ "\x1f\x8b\x08\x00", 4, 0 }, { "\xfd" "7zXZ\0", 6, 0 }, { "\x28\xb5\x2f\xfd", 4, 0 },
		{ "BZh91AY&SY", 10, 0 }, { "\x04\x22\x4d\x18", 4, 0 }, { "PK\3\4", 4, 0 }, { "ustar", 5, 257 },
		{ "QFI\xfb\0\0\0\2", 4, 0 }, { "KDMV", 4, 0 },
	};
	struct fsa_image *image;

	(void)state;
	for (unsigned i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		make_ext2("lie", "lie", 0);
		write_file("lie", lies[i].bytes, lies[i].length, lies[i].offset, 0);
		image = must_open("lie");
		assert_label(image, "lie");
		fsa_image_close(image);
	}
	/* The same inside a compression: no tar, but an image with an odd boot area. */
	make_ext2("lie", "lie", 0);
	write_file("lie", "ustar", 5, 257, 0);
	make_archive("lie.gz", ARCHIVE_FORMAT_RAW, ARCHIVE_FILTER_GZIP, (const char *const[]){ "lie", "lie", NULL });
	image = must_open("lie.gz");
	assert_label(image, "lie");
	fsa_image_close(image);
	/* A disk whose boot code begins so. */
	need("sfdisk");
	assert_int_equal(run("truncate -s 4M liedisk && printf 'label: dos\\n2048,2048,83\\n' | sfdisk -q liedisk"), 0);
	make_ext2("liedisk", "lie", 1 << 20);
	write_file("liedisk", "\x1f\x8b\x08\x00", 4, 0, 0);
	image = must_open("liedisk");
	assert_label(image, "lie");
	fsa_image_close(image);
}

static void damaged_and_cut_ones_are_refused_with_the_place(void **state)
{
	struct stat st;

	(void)state;
	make_images();
	for (unsigned i = 0; i < N_FILTERS; i++) {
		make_archive("cut.packed", ARCHIVE_FORMAT_RAW, filters[i], just_one);
		assert_int_equal(stat(in_scratch("cut.packed"), &st), 0);
		assert_int_equal(truncate(in_scratch("cut.packed"), st.st_size / 2), 0);
		must_fail("cut.packed", FSA_EDAMAGED, "damaged or cut off");
	}
	make_archive("cut.tar", ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FILTER_NONE, just_one);
	assert_int_equal(truncate(in_scratch("cut.tar"), 1 << 20), 0);
	must_fail("cut.tar", FSA_EDAMAGED, "tar archive is damaged");
	/* A wrong checksum is damage as well. */
	make_archive("sum.xz", ARCHIVE_FORMAT_RAW, ARCHIVE_FILTER_XZ, just_one);
	write_file("sum.xz", "\x55\xaa\x55\xaa", 4, 500000, 0);
	must_fail("sum.xz", FSA_EDAMAGED, "xz data is damaged");
}

static void the_sum_of_gzip_is_checked(void **state)
{
	struct fsa_image *image;
	struct stat st;

	(void)state;
	make_images();
	make_archive("sum.gz", ARCHIVE_FORMAT_RAW, ARCHIVE_FILTER_GZIP, just_one);
	assert_one("sum.gz");
	image = must_open("sum.gz");
	assert_null(fsa_image_remark(image, 0));
	fsa_image_close(image);
	assert_int_equal(stat(in_scratch("sum.gz"), &st), 0);
	write_file("sum.gz", "\x12\x34\x56\x78", 4, (uint64_t)st.st_size - 8, 0);
	must_fail("sum.gz", FSA_EDAMAGED, "CRC-32 0x78563412");
	write_file("sum.gz", "\x01\x02\x03\x04", 4, (uint64_t)st.st_size - 4, 0);
	must_fail("sum.gz", FSA_EDAMAGED, "length 67305985");
	/* Two streams in a row: the sum at the end is of the second one. */
	need("gzip");
	assert_int_equal(run("{ head -c 1000000 one.img | gzip; tail -c +1000001 one.img | gzip; } > rows.gz"), 0);
	assert_one("rows.gz");
	image = must_open("rows.gz");
	assert_true(has_remark(image, "not checked"));
	fsa_image_close(image);
}

struct progress {
	unsigned calls;
	uint64_t done, total;
	bool go_on;
};

static bool count_progress(void *arg, const char *what, uint64_t done, uint64_t total)
{
	struct progress *p = arg;

	assert_string_equal(what, "unpacking");
	assert_true(done >= p->done);
	assert_true(done <= total);
	p->calls++;
	p->done = done;
	p->total = total;
	return p->go_on;
}

static void progress_is_told_and_may_stop(void **state)
{
	struct progress p = { .go_on = true };
	struct fsa_image_options options = { .progress = count_progress, .progress_arg = &p };
	struct opened_image o;
	struct stat st;

	(void)state;
	need("xz");
	assert_int_equal(run("truncate -s 64M big && xz -0 -f big"), 0);
	assert_int_equal(stat(in_scratch("big.xz"), &st), 0);
	o = open_with("big.xz", options);
	assert_int_equal(o.status, FSA_OK);
	assert_int_equal(fsa_image_size(o.image), 64 << 20);
	fsa_image_close(o.image);
	/* Zeros come from hardly any input: output counts as work too. */
	assert_in_range(p.calls, 8, 64);
	assert_int_equal(p.total, st.st_size);
	p = (struct progress){ .go_on = false };
	o = open_with("big.xz", options);
	assert_int_equal(o.status, FSA_STOP);
	assert_int_equal(p.calls, 1);
}

static unsigned entries(const char *directory)
{
	DIR *d = opendir(directory);
	unsigned n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n - 2;
}

static void the_temporary_file_has_no_name(void **state)
{
	struct fsa_image_options options = { .temp_dir = NULL };
	char directory[512];
	struct opened_image o;

	(void)state;
	make_images();
	make_archive("tmp.gz", ARCHIVE_FORMAT_RAW, ARCHIVE_FILTER_GZIP, just_one);
	assert_int_equal(run("mkdir -p temp"), 0);
	snprintf(directory, sizeof(directory), "%s", in_scratch("temp"));
	options.temp_dir = directory;
	o = open_with("tmp.gz", options);
	assert_int_equal(o.status, FSA_OK);
	assert_int_equal(entries(directory), 0);
	fsa_image_close(o.image);
	snprintf(directory, sizeof(directory), "%s", in_scratch("no-such"));
	o = open_with("tmp.gz", options);
	assert_int_equal(o.status, FSA_ESYSTEM);
	assert_non_null(strstr(o.err.message, "no-such"));
}

static void a_full_disk_is_said(void **state)
{
	struct fsa_image_options options = { .temp_dir = NULL };
	char directory[512];
	struct opened_image o;

	(void)state;
	make_images();
	make_archive("full.gz", ARCHIVE_FORMAT_RAW, ARCHIVE_FILTER_GZIP, just_one);
	if (geteuid() != 0 || run("mkdir -p full && mount -t tmpfs -o size=512k none full") != 0) {
		print_message("skipped: cannot mount a small tmpfs here\n");
		skip();
	}
	snprintf(directory, sizeof(directory), "%s", in_scratch("full"));
	options.temp_dir = directory;
	o = open_with("full.gz", options);
	assert_int_equal(run("umount full"), 0);
	assert_int_equal(o.status, FSA_ESYSTEM);
	assert_non_null(strstr(o.err.message, "no room to unpack"));
	assert_non_null(strstr(o.err.message, "No space left"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_compression_is_unpacked),
		cmocka_unit_test(the_unpacked_image_is_sparse),
		cmocka_unit_test(an_image_of_zeros_at_its_start_is_no_tar),
		cmocka_unit_test(the_only_image_of_an_archive_is_taken),
		cmocka_unit_test(a_tar_of_before_posix_is_known_by_its_sum),
		cmocka_unit_test(a_sparse_member_keeps_its_holes_and_its_size),
		cmocka_unit_test(several_images_of_an_archive_are_listed),
		cmocka_unit_test(a_member_may_be_given_as_an_option),
		cmocka_unit_test(a_file_of_the_whole_name_wins),
		cmocka_unit_test(files_that_are_no_image),
		cmocka_unit_test(many_files_fit_the_message),
		cmocka_unit_test(layers_are_taken_off_one_by_one),
		cmocka_unit_test(layers_have_a_bound),
		cmocka_unit_test(a_partition_inside_a_compressed_disk),
		cmocka_unit_test(an_image_that_begins_like_something_packed_is_raw),
		cmocka_unit_test(damaged_and_cut_ones_are_refused_with_the_place),
		cmocka_unit_test(the_sum_of_gzip_is_checked),
		cmocka_unit_test(progress_is_told_and_may_stop),
		cmocka_unit_test(the_temporary_file_has_no_name),
		cmocka_unit_test(a_full_disk_is_said),
	};

	return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
