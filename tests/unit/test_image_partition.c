/* SPDX-License-Identifier: GPL-2.0-only */
/* Whole disks: MBR with logical partitions, GPT, and the choice among partitions. */
#include "image_fixture.h"

#include <sys/stat.h>

#define MIB (1024ULL * 1024)

/* A disk of `mib` MiB with the partitions of sfdisk's script. */
static void make_disk(const char *name, unsigned mib, const char *script)
{
	need("sfdisk");
	assert_int_equal(run("rm -f %s && truncate -s %uM %s && printf '%s' | sfdisk --wipe never -q %s", name, mib,
			     name, script, name), 0);
}

static void assert_window(struct fsa_image *image, uint64_t start, uint64_t size, const char *label)
{
	assert_int_equal(fsa_image_start(image), start);
	assert_int_equal(fsa_image_size(image), size);
	assert_label(image, label);
}

static void the_only_candidate_is_picked(void **state)
{
	struct fsa_image *image;

	(void)state;
	make_disk("one", 8, "label: dos\\n2048,2048,82\\n6144,4096,83\\n");
	make_ext2("one", "second", 6144 * 512);
	image = must_open("one");
	assert_window(image, 6144 * 512, 2 * MIB, "second");
	assert_string_equal(fsa_image_content(image), "ext2");
	assert_true(has_remark(image, "partition 2"));
	assert_string_equal(fsa_image_name(image), in_scratch("one"));
	fsa_image_close(image);

	image = must_open("one@2");
	assert_window(image, 6144 * 512, 2 * MIB, "second");
	assert_null(fsa_image_remark(image, 0));
	assert_string_equal(fsa_image_name(image), in_scratch("one@2"));
	fsa_image_close(image);

	/* Asked for by number, a partition without a known filesystem opens as well. */
	image = must_open("one@1");
	assert_int_equal(fsa_image_start(image), MIB);
	assert_null(fsa_image_content(image));
	fsa_image_close(image);
	must_fail("one@3", FSA_ENOENT, "no partition 3");
}

static void several_candidates_are_listed(void **state)
{
	(void)state;
	make_disk("two", 8, "label: dos\\n2048,4096,83\\n6144,4096,83\\n");
	make_ext2("two", "first", MIB);
	make_ext2("two", "second", 3 * MIB);
	must_fail("two", FSA_EINVAL, "2 partitions are candidates");
	must_fail("two", FSA_EINVAL, "\n  1: start 1048576, 2097152 bytes, type 0x83, ext2");
	must_fail("two", FSA_EINVAL, "\n  2: start 3145728, 2097152 bytes, type 0x83, ext2");
}

static void logical_partitions_count_from_five(void **state)
{
	struct fsa_image *image;

	(void)state;
	make_disk("logical", 12, "label: dos\\n2048,2048,83\\n4096,,5\\n6144,4096,83\\n12288,4096,83\\n");
	make_ext2("logical", "five", 6144 * 512);
	image = must_open("logical");
	assert_window(image, 6144 * 512, 2 * MIB, "five");
	assert_true(has_remark(image, "partition 5"));
	fsa_image_close(image);
	make_ext2("logical", "six", 12288 * 512);
	must_fail("logical", FSA_EINVAL, "\n  2: start 2097152");
	must_fail("logical", FSA_EINVAL, "extended partition");
	image = must_open("logical@6");
	assert_window(image, 12288 * 512, 2 * MIB, "six");
	fsa_image_close(image);
	must_fail("logical@2", FSA_EINVAL, "extended partition");
}

static void gpt_is_read(void **state)
{
	struct fsa_image *image;

	(void)state;
	make_disk("gpt", 8, "label: gpt\\n2048,4096\\n6144,4096\\n");
	make_ext2("gpt", "gpt2", 3 * MIB);
	image = must_open("gpt");
	assert_window(image, 3 * MIB, 2 * MIB, "gpt2");
	assert_true(has_remark(image, "partition 2"));
	fsa_image_close(image);
}

static void a_truncated_gpt_disk_is_read_as_far_as_it_goes(void **state)
{
	struct opened_image o;
	struct fsa_image *image;

	(void)state;
	make_disk("cut", 8, "label: gpt\\n2048,4096\\n6144,4096\\n12288,2048\\n");
	make_ext2("cut", "cut2", 3 * MIB);
	assert_int_equal(truncate(in_scratch("cut"), 4 * MIB + 512), 0);
	image = must_open("cut");
	assert_window(image, 3 * MIB, MIB + 512, "cut2");
	assert_true(has_remark(image, "cut off"));
	assert_true(has_remark(image, "4194816"));
	fsa_image_close(image);
	o = open_plain("cut@3");
	assert_int_equal(o.status, FSA_ERANGE);
	assert_non_null(strstr(o.err.message, "6291456"));
	assert_non_null(strstr(o.err.message, "4194816"));
}

static void a_truncated_mbr_disk_is_read_as_far_as_it_goes(void **state)
{
	struct fsa_image *image;

	(void)state;
	make_disk("cutmbr", 8, "label: dos\\n2048,8192,83\\n");
	make_ext2("cutmbr", "cut1", MIB);
	assert_int_equal(truncate(in_scratch("cutmbr"), 3 * MIB), 0);
	image = must_open("cutmbr");
	assert_window(image, MIB, 2 * MIB, "cut1");
	assert_true(has_remark(image, "cut off"));
	fsa_image_close(image);
}

static void gpt_with_a_damaged_primary_header_is_read_from_its_copy(void **state)
{
	struct fsa_image *image;

	(void)state;
	make_disk("gptcopy", 8, "label: gpt\\n2048,4096\\n");
	make_ext2("gptcopy", "copy", MIB);
	write_file("gptcopy", "XXXXXXXX", 8, 512, 0);
	image = must_open("gptcopy");
	assert_window(image, MIB, 2 * MIB, "copy");
	fsa_image_close(image);
}

static void put_le(unsigned char *p, uint64_t value, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		p[i] = (unsigned char)(value >> (8 * i));
}

static uint32_t crc32(const unsigned char *p, size_t n)
{
	uint32_t crc = UINT32_MAX;

	for (size_t i = 0; i < n; i++) {
		crc ^= p[i];
		for (unsigned bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
	}
	return ~crc;
}

/* A disk of 4096-byte sectors: sfdisk makes them on real devices only. */
static void gpt_of_large_sectors_is_read(void **state)
{
	static unsigned char head[6 * 4096];
	const uint64_t sectors = 2048;
	unsigned char *header = head + 4096, *entry = head + 8192;
	struct fsa_image *image;

	(void)state;
	memset(head, 0, sizeof(head));
	head[446 + 4] = 0xee;
	put_le(head + 446 + 8, 1, 4);
	put_le(head + 446 + 12, sectors - 1, 4);
	put_le(head + 510, 0xaa55, 2);
	memset(entry, 0x11, 32);	/* type and own UUID */
	put_le(entry + 32, 256, 8);
	put_le(entry + 40, 256 + 511, 8);
	memcpy(header, "EFI PART", 8);
	put_le(header + 8, 0x10000, 4);
	put_le(header + 12, 92, 4);
	put_le(header + 24, 1, 8);
	put_le(header + 32, sectors - 1, 8);
	put_le(header + 40, 6, 8);
	put_le(header + 48, sectors - 6, 8);
	memset(header + 56, 0x22, 16);
	put_le(header + 72, 2, 8);
	put_le(header + 80, 128, 4);
	put_le(header + 84, 128, 4);
	put_le(header + 88, crc32(entry, 128 * 128), 4);
	put_le(header + 16, crc32(header, 92), 4);
	write_file("gpt4k", head, sizeof(head), 0, sectors * 4096);
	make_ext2("gpt4k", "large", 256 * 4096);
	image = must_open("gpt4k");
	assert_window(image, 256 * 4096, 512 * 4096, "large");
	fsa_image_close(image);
}

static void a_filesystem_at_the_start_wins_over_a_table(void **state)
{
	struct fsa_image *image;

	(void)state;
	make_ext2("super", "super", 0);
	assert_int_equal(run("truncate -s 4M super && printf 'label: dos\\n4096,2048,83\\n' | "
			     "sfdisk --wipe never --force -q super"), 0);
	image = must_open("super");
	assert_window(image, 0, 4 * MIB, "super");
	assert_true(has_remark(image, "partition table (dos)"));
	fsa_image_close(image);
	make_ext2("super", "inner", 2 * MIB);
	image = must_open("super@1");
	assert_window(image, 2 * MIB, MIB, "inner");
	fsa_image_close(image);
}

static void an_offset_overrules_the_table(void **state)
{
	struct opened_image o;

	(void)state;
	make_disk("off", 8, "label: dos\\n2048,4096,83\\n6144,4096,83\\n");
	make_ext2("off", "first", MIB);
	make_ext2("off", "second", 3 * MIB);
	o = open_with("off", (struct fsa_image_options){ .have_offset = true, .offset_bytes = 3 * MIB });
	assert_int_equal(o.status, FSA_OK);
	assert_window(o.image, 3 * MIB, 5 * MIB, "second");
	assert_string_equal(fsa_image_content(o.image), "ext2");
	fsa_image_close(o.image);
	o = open_with("off", (struct fsa_image_options){ .have_offset = true });
	assert_int_equal(o.status, FSA_OK);
	assert_int_equal(fsa_image_size(o.image), 8 * MIB);
	fsa_image_close(o.image);
}

static void no_candidate_is_said_with_the_list(void **state)
{
	(void)state;
	make_disk("none", 8, "label: dos\\n2048,4096,83\\n6144,4096,82\\n");
	must_fail("none", FSA_EUNSUPPORTED, "no partition holds a filesystem that fsassay reads");
	must_fail("none", FSA_EUNSUPPORTED, "\n  1: start 1048576, 2097152 bytes, type 0x83, nothing recognised");
}

static void many_partitions_fit_the_message(void **state)
{
	struct opened_image o;
	char script[1600] = "label: gpt\\n";

	(void)state;
	for (unsigned i = 0; i < 100; i++)
		strcat(script, "size=64\\n");
	make_disk("many", 200, script);
	o = open_plain("many");
	assert_int_equal(o.status, FSA_EUNSUPPORTED);
	assert_non_null(strstr(o.err.message, "\n  1: start"));
	assert_non_null(strstr(o.err.message, " more"));
}

static void an_lvm_partition_is_refused_with_the_command(void **state)
{
	/* The label of LVM2 in the second sector, as blkid knows it: magic, sector, checksum, offset, type. */
	static const char label[] = "LABELONE\1\0\0\0\0\0\0\0\0\0\0\0\x20\0\0\0LVM2 001";

	(void)state;
	make_disk("lvm", 8, "label: dos\\n2048,8192,8e\\n");
	write_file("lvm", label, sizeof(label), MIB + 512, 0);
	must_fail("lvm", FSA_EUNSUPPORTED, "LVM2_member");
	must_fail("lvm@1", FSA_EUNSUPPORTED, "vgchange -ay");
}

static void public_disks(void **state)
{
	struct fsa_error err;
	struct fsa_image *image;

	(void)state;
	assert_int_equal(fsa_image_open(corpus("disk-gpt/disktype__gpt.img.xz"), NULL, &image, &err), FSA_OK);
	assert_string_equal(fsa_image_content(image), "ext2");
	assert_int_equal(fsa_image_start(image), 17408);
	fsa_image_close(image);
	assert_int_equal(fsa_image_open(corpus("disk-dos/fact_extractor__mbr.img.xz"), NULL, &image, &err), FSA_EINVAL);
	assert_non_null(strstr(err.message, "3 partitions are candidates"));
	assert_non_null(strstr(err.message, "3: start 6291456, 2097152 bytes, type 0x83, ext3"));
	/* A BSD disklabel inside an MBR partition: its partitions are 5 and up. */
	assert_int_equal(fsa_image_open(corpus("disk-dos/disktype__freebsd-disk.img.xz"),
					&(struct fsa_image_options){ .partition = 8 }, &image, &err), FSA_OK);
	assert_string_equal(fsa_image_content(image), "ufs");
	assert_int_equal(fsa_image_start(image), 5252608);
	fsa_image_close(image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_only_candidate_is_picked),
		cmocka_unit_test(several_candidates_are_listed),
		cmocka_unit_test(logical_partitions_count_from_five),
		cmocka_unit_test(gpt_is_read),
		cmocka_unit_test(a_truncated_gpt_disk_is_read_as_far_as_it_goes),
		cmocka_unit_test(a_truncated_mbr_disk_is_read_as_far_as_it_goes),
		cmocka_unit_test(gpt_with_a_damaged_primary_header_is_read_from_its_copy),
		cmocka_unit_test(gpt_of_large_sectors_is_read),
		cmocka_unit_test(a_filesystem_at_the_start_wins_over_a_table),
		cmocka_unit_test(an_offset_overrules_the_table),
		cmocka_unit_test(no_candidate_is_said_with_the_list),
		cmocka_unit_test(many_partitions_fit_the_message),
		cmocka_unit_test(an_lvm_partition_is_refused_with_the_command),
		cmocka_unit_test(public_disks),
	};

	return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
