/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Words for what fsassay recognises and does not read: disk images that are not raw bytes, parts of
 * something bigger, and other filesystems.
 */
#include <string.h>

#include "fsa/bytes.h"
#include "fsa/parser.h"
#include "image_private.h"

struct fsa_container {
	const char *name;
	unsigned offset;
	unsigned length;
	const char *magic;
	const char *before, *after;	/* the command, around the file's name; NULL: nothing converts it */
};

/*
 * Magic numbers that libblkid does not know. Where each is described: qcow2, Parallels: QEMU's docs/interop;
 * qcow, QED, VDI, Bochs, cloop: QEMU's block drivers of these names; VMDK: VMware's Virtual Disk Format 5.0;
 * VHD, VHDX: Microsoft's Virtual Hard Disk Image Format and [MS-VHDX]; Android sparse: AOSP's
 * libsparse/sparse_format.h; e2image: lib/ext2fs/e2image.h of e2fsprogs; XFS: include/xfs_metadump.h of
 * xfsprogs; btrfs: image/metadump.h of btrfs-progs and fs/btrfs/send.h of Linux; packed ReiserFS: what
 * debugreiserfs -p of reiserfsprogs 3.6.27 writes; partclone: src/partclone.h; ntfsclone: its header in
 * ntfsprogs; EWF: libewf's format documentation. xfsdump, dump: magics of their headers in xfsdump
 * (common/media.h) and dump (compat/include/protocols/dumprestore.h, at offset 24).
 */
#define QEMU(name, offset, magic) { name, offset, sizeof(magic) - 1, magic, "qemu-img convert -O raw ", " OUTPUT" }
#define OTHER(name, offset, magic, before, after) { name, offset, sizeof(magic) - 1, magic, before, after }

static const struct fsa_container containers[] = {
	QEMU("qcow2 disk image", 0, "QFI\xfb\0\0\0\2"),
	QEMU("qcow2 disk image", 0, "QFI\xfb\0\0\0\3"),
	QEMU("qcow disk image", 0, "QFI\xfb\0\0\0\1"),
	QEMU("QED disk image", 0, "QED\0"),
	QEMU("VMDK disk image", 0, "KDMV"),
	QEMU("VMDK disk image", 0, "COWD"),
	QEMU("VMDK descriptor, whose disk lies in other files,", 0, "# Disk DescriptorFile"),
	QEMU("VHD disk image", 0, "conectix"),
	QEMU("VHDX disk image", 0, "vhdxfile"),
	QEMU("VDI disk image", 64, "\x7f\x10\xda\xbe"),
	QEMU("Parallels disk image", 0, "WithoutFreeSpace"),
	QEMU("Parallels disk image", 0, "WithouFreSpacExt"),
	QEMU("Bochs disk image", 0, "Bochs Virtual HD Image"),
	QEMU("cloop disk image", 0, "#!/bin/sh\n#V2.0 Format"),
	OTHER("Android sparse image", 0, "\x3a\xff\x26\xed", "simg2img ", " OUTPUT"),
	OTHER("metadata image of e2image", 0, "\x10\xb7\x2b\x7f" "Ext2 Image", NULL, NULL),
	OTHER("metadata dump of XFS", 0, "XFSM", "xfs_mdrestore ", " OUTPUT"),
	OTHER("metadata dump of XFS", 0, "XMD2", "xfs_mdrestore ", " OUTPUT"),
	OTHER("metadata image of btrfs", 0, "\x8b\x66\x95\x72\xe2\x25\x5c\xbd", "btrfs-image -r ", " OUTPUT"),
	OTHER("send stream of btrfs", 0, "btrfs-stream\0", "btrfs receive DIRECTORY -f ", ""),
	OTHER("metadata dump of ReiserFS", 0, "sIeR", "debugreiserfs -u OUTPUT < ", ""),
	OTHER("partclone image", 0, "partclone-image", "partclone.restore -C -W -O OUTPUT -s ", ""),
	OTHER("ntfsclone image", 0, "\0ntfsclone-image", "ntfsclone --restore-image --overwrite OUTPUT ", ""),
	OTHER("EWF (EnCase) image", 0, "EVF\t\r\n\xff\0", "ewfexport -f raw -t OUTPUT ", ""),
	OTHER("dump of xfsdump", 0, "xFSdump0", "xfsrestore -f ", " DIRECTORY"),
	OTHER("dump stream", 24, "\x6c\xea\0\0", "restore -r -f ", ""),
};

/* Apple's UDIF has its magic in the last 512 bytes only (QEMU's block/dmg.c). */
static const struct fsa_container udif = QEMU("Apple UDIF (DMG) disk image", 0, "koly");

#define FOOTER_BYTES 512

static bool read_footer(int fd, uint64_t size, unsigned char footer[FOOTER_BYTES])
{
	return size >= 2 * FOOTER_BYTES &&
	       fsa_pread_all(fd, footer, FOOTER_BYTES, size - FOOTER_BYTES) == FOOTER_BYTES;
}

const struct fsa_container *fsa_container_find(int fd, uint64_t size)
{
	unsigned char head[96], footer[FOOTER_BYTES];
	ssize_t got = fsa_pread_all(fd, head, sizeof(head), 0);

	if (got <= 0)
		return NULL;
	for (size_t i = 0; i < sizeof(containers) / sizeof(containers[0]); i++) {
		const struct fsa_container *c = &containers[i];

		if ((size_t)got >= (size_t)c->offset + c->length &&
		    memcmp(head + c->offset, c->magic, c->length) == 0)
			return c;
	}
	if (read_footer(fd, size, footer) && memcmp(footer, udif.magic, udif.length) == 0)
		return &udif;
	return NULL;
}

bool fsa_is_fixed_vhd(int fd, uint64_t size)
{
	unsigned char footer[FOOTER_BYTES];

	/* Disk type 2 at offset 60: fixed; dynamic ones carry the magic at their start as well. */
	return read_footer(fd, size, footer) && memcmp(footer, "conectix", 8) == 0 &&
	       fsa_get_be32(footer + 60) == 2;
}

bool fsa_container_is_certain(const struct fsa_container *container)
{
	return container->length >= 8;
}

static bool plain_word(const char *s)
{
	for (; *s; s++)
		if (!((*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || (*s >= '0' && *s <= '9') ||
		      strchr("/._-+,:=@%", *s)))
			return false;
	return true;
}

/* The file's name as a word of a command: quoted when it must be, a stand-in when quoting is not simple. */
static const char *command_word(const char *file, char *buffer, size_t size)
{
	if (file == NULL)
		return "FILE";
	if (plain_word(file) && file[0] != '-')
		return file;
	if (strchr(file, '\'') || strlen(file) + 5 > size)
		return "FILE";
	snprintf(buffer, size, "%s'%s'", file[0] == '-' ? "./" : "", file);
	return buffer;
}

static const char *article(const char *name)
{
	return strchr("AEIaei", name[0]) ? "an" : "a";
}

enum fsa_status fsa_container_refuse(const struct fsa_container *container, const char *name, const char *file,
				     struct fsa_error *err)
{
	char word[300];

	/* Installed by e2image -I it lacks the journal's blocks; only a raw one is an image of everything. */
	if (!container->before)
		return fsa_fail(err, FSA_EUNSUPPORTED, "%s: %s %s is not supported; a raw one is: e2image -r DEVICE OUTPUT",
				name, article(container->name), container->name);
	return fsa_fail(err, FSA_EUNSUPPORTED, "%s: %s %s is not supported, only raw bytes are; this converts it: %s%s%s",
			name, article(container->name), container->name, container->before,
			command_word(file, word, sizeof(word)), container->after);
}

/* Parts of something bigger, by libblkid's names; the last one stands for all others. */
static const struct {
	const char *type, *what, *before, *after;
} members[] = {
	{ "LVM2_member", "a physical volume of LVM", "losetup --read-only --find --show ",
	  "; vgchange -ay; then give /dev/GROUP/VOLUME" },
	{ "LVM1_member", "a physical volume of LVM 1", "losetup --read-only --find --show ",
	  "; vgchange -ay; then give /dev/GROUP/VOLUME" },
	{ "crypto_LUKS", "encrypted by LUKS", "cryptsetup open --readonly ", " NAME; then give /dev/mapper/NAME" },
	{ "BitLocker", "encrypted by BitLocker", "cryptsetup open --readonly --type bitlk ",
	  " NAME; then give /dev/mapper/NAME" },
	{ "cs_fvault2", "encrypted by FileVault", "cryptsetup open --readonly --type fvault2 ",
	  " NAME; then give /dev/mapper/NAME" },
	{ "DM_integrity", "a device of dm-integrity", "integritysetup open ", " NAME; then give /dev/mapper/NAME" },
	{ "linux_raid_member", "a member of a Linux RAID", "mdadm --assemble --readonly /dev/md/NAME ",
	  "; then give /dev/md/NAME" },
	{ "bcache", "a device of bcache", "losetup --find --show ",
	  ", then register it with bcache and give /dev/bcacheN" },
	{ "drbd", "a device of DRBD", "drbdadm up RESOURCE with ", "; then give /dev/drbdN" },
	{ "zfs_member", "a member of a ZFS pool", "zpool import -d ", " -o readonly=on" },
	{ "VMFS_volume_member", "a member of a VMFS volume", "vmfs-fuse ", " DIRECTORY" },
	{ "stratis", "a device of a Stratis pool", "stratis pool start with ", "; then give the filesystem's device" },
	{ "ubi", "a volume container of UBI", "ubiattach with ", "; then give the volume's device" },
	{ NULL, "a member of something bigger", "assemble what ", " belongs to; then give the device" },
};

enum fsa_status fsa_member_refuse(const char *type, const char *name, const char *file, struct fsa_error *err)
{
	char word[300];
	size_t i = 0;

	while (members[i].type && strcmp(members[i].type, type) != 0)
		i++;
	return fsa_fail(err, FSA_EUNSUPPORTED, "%s: is %s (%s), which is not supported by itself; this opens it: %s%s%s",
			name, members[i].what, type, members[i].before, command_word(file, word, sizeof(word)),
			members[i].after);
}

static const char *const ours_main[] = {
	"ext2", "ext3", "ext4", "ext4dev", "xfs", "reiserfs", "reiser4", "jfs", "btrfs", NULL,
};
static const char *const ours_log[] = { "jbd", "xfs_external_log", NULL };

static bool in(const char *const *list, const char *word)
{
	for (; *list; list++)
		if (strcmp(*list, word) == 0)
			return true;
	return false;
}

bool fsa_content_is_ours(const char *type, bool main_only)
{
	return in(ours_main, type) || (!main_only && in(ours_log, type));
}

/* Other content by libblkid's names. */
static const struct {
	const char *type, *what;
} others[] = {
	{ "ntfs", "a filesystem of Windows NT" },
	{ "ReFS", "a filesystem of Windows Server" },
	{ "vfat", "a FAT filesystem" },
	{ "exfat", "an exFAT filesystem" },
	{ "hpfs", "a filesystem of OS/2" },
	{ "hfs", "a filesystem of Mac OS" },
	{ "hfsplus", "a filesystem of Mac OS" },
	{ "apfs", "a filesystem of macOS" },
	{ "ufs", "a Unix filesystem of the BSDs or Solaris" },
	{ "zfs_member", "a member of a ZFS pool" },
	{ "iso9660", "a CD or DVD image" },
	{ "udf", "a DVD or Blu-ray image" },
	{ "squashfs", "a compressed read-only filesystem; unsquashfs unpacks it" },
	{ "squashfs3", "a compressed read-only filesystem; unsquashfs unpacks it" },
	{ "erofs", "a compressed read-only filesystem; fsck.erofs --extract unpacks it" },
	{ "cramfs", "a compressed read-only filesystem" },
	{ "romfs", "a read-only filesystem" },
	{ "f2fs", "a flash filesystem of Linux" },
	{ "jffs2", "a flash filesystem of Linux" },
	{ "ubifs", "a flash filesystem of Linux" },
	{ "nilfs2", "a log-structured filesystem of Linux" },
	{ "bcachefs", "a copy-on-write filesystem of Linux" },
	{ "minix", "a filesystem of Minix" },
	{ "sysv", "a filesystem of Unix System V" },
	{ "xenix", "a filesystem of Xenix" },
	{ "vxfs", "a Veritas filesystem" },
	{ "bfs", "a boot filesystem of UnixWare" },
	{ "befs", "a filesystem of BeOS" },
	{ "adfs", "a filesystem of Acorn" },
	{ "affs", "a filesystem of Amiga" },
	{ "ocfs", "a cluster filesystem" },
	{ "ocfs2", "a cluster filesystem" },
	{ "gfs", "a cluster filesystem" },
	{ "gfs2", "a cluster filesystem" },
	{ "exfs", "an XFS for clusters" },
	{ "swap", "swap space" },
	{ "swsuspend", "a hibernated system in swap space" },
	{ "swap_zero", "swap space" },
};

const char *fsa_unsupported_reason(const char *content)
{
	if (content == NULL || fsa_content_is_ours(content, false))
		return NULL;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (strcmp(others[i].type, content) == 0)
			return others[i].what;
	for (size_t i = 0; members[i].type; i++)
		if (strcmp(members[i].type, content) == 0)
			return members[i].what;
	return "none of the formats that fsassay reads";
}
