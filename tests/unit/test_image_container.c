/* SPDX-License-Identifier: GPL-2.0-only */
/* What is recognised and not read: disk images of other kinds, parts of something bigger, other filesystems. */
#include "image_fixture.h"

#include "fsa/parser.h"

static const struct {
	const char *magic;
	size_t length, offset;
	const char *name, *command;
} kinds[] = {
	{ "QFI\xfb\0\0\0\2", 8, 0, "qcow2", "qemu-img convert -O raw" },
	{ "QFI\xfb\0\0\0\3", 8, 0, "qcow2", "qemu-img convert -O raw" },
	{ "QED\0", 4, 0, "QED", "qemu-img convert -O raw" },
	{ "KDMV", 4, 0, "VMDK", "qemu-img convert -O raw" },
	{ "# Disk DescriptorFile\nversion=1\n", 32, 0, "VMDK descriptor", "qemu-img convert -O raw" },
	{ "conectix", 8, 0, "VHD", "qemu-img convert -O raw" },
	{ "vhdxfile", 8, 0, "VHDX", "qemu-img convert -O raw" },
	{ "\x7f\x10\xda\xbe", 4, 64, "VDI", "qemu-img convert -O raw" },
	{ "WithoutFreeSpace", 16, 0, "Parallels", "qemu-img convert -O raw" },
	{ "WithouFreSpacExt", 16, 0, "Parallels", "qemu-img convert -O raw" },
	{ "koly", 4, 99488, "UDIF", "qemu-img convert -O raw" },
	{ "\x3a\xff\x26\xed\1\0\0\0", 8, 0, "Android sparse", "simg2img" },
	{ "\x10\xb7\x2b\x7f" "Ext2 Image 1.0", 18, 0, "e2image", "e2image -r" },
	{ "XFSM", 4, 0, "XFS", "xfs_mdrestore" },
	{ "XMD2", 4, 0, "XFS", "xfs_mdrestore" },
	{ "\x8b\x66\x95\x72\xe2\x25\x5c\xbd", 8, 0, "btrfs", "btrfs-image -r" },
	{ "btrfs-stream\0\1\0\0\0", 17, 0, "send stream", "btrfs receive" },
	{ "partclone-image\0", 16, 0, "partclone", "partclone.restore" },
	{ "\0ntfsclone-image", 16, 0, "ntfsclone", "ntfsclone --restore-image" },
	{ "EVF\t\r\n\xff\0", 8, 0, "EWF", "ewfexport" },
};

static void each_kind_is_named_with_its_command(void **state)
{
	(void)state;
	for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		assert_int_equal(run("rm -f kind"), 0);
		write_file("kind", kinds[i].magic, kinds[i].length, kinds[i].offset, 100000);
		must_fail("kind", FSA_EUNSUPPORTED, kinds[i].name);
		must_fail("kind", FSA_EUNSUPPORTED, kinds[i].command);
	}
}

static void each_kind_is_named_inside_an_archive_too(void **state)
{
	struct opened_image o;
	static const char *const members[] = { "disk.vmdk", "inner", "disk.ovf", "text", NULL };

	(void)state;
	write_file("inner", "KDMV", 4, 0, 100000);
	write_file("text", "<Envelope>", 10, 0, 0);
	make_archive("appliance.ova", ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FILTER_NONE, members);
	must_fail("appliance.ova", FSA_EUNSUPPORTED, "VMDK disk image");
	/* The command cannot name a file that is not there. */
	must_fail("appliance.ova", FSA_EUNSUPPORTED, "raw FILE OUTPUT");
	o = open_with("inner", (struct fsa_image_options){ .raw = true });
	assert_int_equal(o.status, FSA_OK);
	fsa_image_close(o.image);
}

static void names_are_quoted_in_commands(void **state)
{
	(void)state;
	write_file("a disk; rm x", "KDMV", 4, 0, 100000);
	must_fail("a disk; rm x", FSA_EUNSUPPORTED, "/a disk; rm x' OUTPUT");
	must_fail("a disk; rm x", FSA_EUNSUPPORTED, "raw '/");
	write_file("it's", "KDMV", 4, 0, 100000);
	must_fail("it's", FSA_EUNSUPPORTED, "raw FILE OUTPUT");
}

static void images_of_qemu_are_known(void **state)
{
	static const char *const formats[] = { "qcow2", "qcow", "qed", "vmdk", "vpc", "vhdx", "vdi", "parallels" };

	(void)state;
	need("qemu-img");
	for (unsigned i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		assert_int_equal(run("rm -f q && qemu-img create -f %s q 10M", formats[i]), 0);
		must_fail("q", FSA_EUNSUPPORTED, "qemu-img convert -O raw");
	}
	if (run("rm -f q && qemu-img create --object secret,id=s,data=x -f luks -o key-secret=s,iter-time=10 q 10M") == 0)
		must_fail("q", FSA_EUNSUPPORTED, "cryptsetup open");
	/* A fixed VHD is raw bytes with a footer. */
	assert_int_equal(run("rm -f q && qemu-img create -f vpc -o subformat=fixed q 10M"), 0);
	struct fsa_image *image = must_open("q");

	assert_true(has_remark(image, "fixed VHD"));
	fsa_image_close(image);
}

static void metadata_images_are_known(void **state)
{
	(void)state;
	need("e2image");
	make_ext2("meta.img", "meta", 0);
	/* A superblock lies where that of a filesystem would, and yet it is none. */
	assert_int_equal(run("e2image meta.img meta.e2i"), 0);
	must_fail("meta.e2i", FSA_EUNSUPPORTED, "metadata image of e2image");
	assert_int_equal(run("e2image -Q meta.img meta.qcow2"), 0);
	must_fail("meta.qcow2", FSA_EUNSUPPORTED, "qcow2");
	assert_int_equal(run("e2image -r meta.img meta.raw"), 0);
	fsa_image_close(must_open("meta.raw"));
}

static void members_of_something_bigger_are_refused(void **state)
{
	static const char lvm[] = "LABELONE\1\0\0\0\0\0\0\0\0\0\0\0\x20\0\0\0LVM2 001";

	(void)state;
	write_file("pv", lvm, sizeof(lvm), 512, 4 << 20);
	must_fail("pv", FSA_EUNSUPPORTED, "LVM2_member");
	must_fail("pv", FSA_EUNSUPPORTED, "vgchange -ay");
	write_file("luks", "LUKS\xba\xbe\0\1", 8, 0, 4 << 20);
	must_fail("luks", FSA_EUNSUPPORTED, "crypto_LUKS");
	must_fail("luks", FSA_EUNSUPPORTED, "cryptsetup open --readonly");
}

/* The superblock of Linux RAID, version 1.0: at the end, so that the filesystem of a mirror starts at 0. */
static void half_of_a_mirror_is_read_when_the_place_is_given(void **state)
{
	static unsigned char super[256 + 4] = { 0xfc, 0x4e, 0x2b, 0xa9, 1 };
	const uint64_t size = 2 << 20, at = ((size / 512 - 16) & ~7ULL) * 512;
	struct opened_image o;

	(void)state;
	make_ext2("mirror", "mirror", 0);
	super[144] = (unsigned char)(at / 512);
	super[145] = (unsigned char)(at / 512 >> 8);
	write_file("mirror", super, sizeof(super), at, size);
	must_fail("mirror", FSA_EUNSUPPORTED, "linux_raid_member");
	must_fail("mirror", FSA_EUNSUPPORTED, "mdadm --assemble");
	o = open_with("mirror", (struct fsa_image_options){ .have_offset = true });
	assert_int_equal(o.status, FSA_OK);
	assert_string_equal(fsa_image_content(o.image), "ext2");
	assert_label(o.image, "mirror");
	fsa_image_close(o.image);
}

static void reasons(void **state)
{
	static const char *const ours[] = {
		"ext2", "ext3", "ext4", "ext4dev", "jbd", "xfs", "xfs_external_log", "reiserfs", "reiser4", "jfs", "btrfs",
	};
	static const char *const others[] = {
		"ntfs", "vfat", "squashfs", "erofs", "f2fs", "nilfs2", "iso9660", "swap", "crypto_LUKS", "LVM2_member",
		"something of next year",
	};

	(void)state;
	assert_null(fsa_unsupported_reason(NULL));
	for (unsigned i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
		assert_null(fsa_unsupported_reason(ours[i]));
	for (unsigned i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		assert_non_null(fsa_unsupported_reason(others[i]));
		assert_true(strlen(fsa_unsupported_reason(others[i])) > 5);
	}
}

static void other_filesystems_open_with_their_name(void **state)
{
	static const struct { const char *file, *content; } public[] = {
		{ "squashfs/util-linux__squashfs4.img.xz", "squashfs" },
		{ "f2fs/util-linux__f2fs.img.xz", "f2fs" },
		{ "nilfs2/util-linux__nilfs2.img.xz", "nilfs2" },
		{ "erofs/util-linux__erofs.img.xz", "erofs" },
		{ "xfs_external_log/util-linux__xfs-log.img.xz", "xfs_external_log" },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(public) / sizeof(public[0]); i++) {
		struct fsa_image *image;
		struct fsa_error err;

		assert_int_equal(fsa_image_open(corpus(public[i].file), NULL, &image, &err), FSA_OK);
		assert_string_equal(fsa_image_content(image), public[i].content);
		fsa_image_close(image);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_kind_is_named_with_its_command),
		cmocka_unit_test(each_kind_is_named_inside_an_archive_too),
		cmocka_unit_test(names_are_quoted_in_commands),
		cmocka_unit_test(images_of_qemu_are_known),
		cmocka_unit_test(metadata_images_are_known),
		cmocka_unit_test(members_of_something_bigger_are_refused),
		cmocka_unit_test(half_of_a_mirror_is_read_when_the_place_is_given),
		cmocka_unit_test(reasons),
		cmocka_unit_test(other_filesystems_open_with_their_name),
	};

	return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
