/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * On-disk layout of ext2, ext3 and ext4. The structures are libext2fs's published ones; this header adds
 * only how to read their little-endian fields and what libext2fs keeps to itself (the jbd2 superblock,
 * from Documentation/filesystems/ext4/journal.rst of Linux 6.1; big-endian).
 */
#ifndef FSA_EXT_DISK_H
#define FSA_EXT_DISK_H

#include <ext2fs/ext2_fs.h>
#include <ext2fs/ext3_extents.h>
#include <ext2fs/ext2_ext_attr.h>

#include "fsa/bytes.h"

#define EXT_SUPERBLOCK_OFFSET 1024u	/* bytes from the start of the device */
#define EXT_SUPERBLOCK_SIZE 1024u

#define EXT_SB32(sb, field) FSA_LE(uint32_t, sb, struct ext2_super_block, field)
#define EXT_SB16(sb, field) FSA_LE(uint16_t, sb, struct ext2_super_block, field)
#define EXT_SB8(sb, field) FSA_LE(uint8_t, sb, struct ext2_super_block, field)
#define EXT_SB64(sb, field) FSA_LE(uint64_t, sb, struct ext2_super_block, field)
#define EXT_GD32(gd, field) FSA_LE(uint32_t, gd, struct ext4_group_desc, field)
#define EXT_GD16(gd, field) FSA_LE(uint16_t, gd, struct ext4_group_desc, field)
#define EXT_INODE32(ino, field) FSA_LE(uint32_t, ino, struct ext2_inode_large, field)
#define EXT_INODE16(ino, field) FSA_LE(uint16_t, ino, struct ext2_inode_large, field)

#define EXT_INODE_BLOCK_BYTES 60u	/* i_block: pointers, extent root, fast symlink or inline data */

/* Extended attributes inside an inode start with this header; the names index starts behind it. */
#define EXT_XATTR_MAGIC 0xEA020000u
#define EXT_XATTR_IBODY_HEADER 4u
#define EXT_XATTR_INDEX_ENCRYPTION 9u
#define EXT_XATTR_INDEX_SYSTEM 7u	/* with the name "data": the second part of inline data */

/* jbd2: every block of the log's own starts with this header. */
#define JBD2_MAGIC 0xC03B3998u
#define JBD2_BLOCK_SUPERBLOCK_V1 3u
#define JBD2_BLOCK_SUPERBLOCK_V2 4u
#define JBD2_INCOMPAT_CSUM_V2 0x8u
#define JBD2_INCOMPAT_CSUM_V3 0x10u
#define JBD2_INCOMPAT_FAST_COMMIT 0x20u
#define JBD2_INCOMPAT_KNOWN 0x3fu
#define JBD2_DEFAULT_FAST_COMMIT_BLOCKS 256u

struct jbd2_superblock {
	fsa_be32 h_magic;
	fsa_be32 h_blocktype;
	fsa_be32 h_sequence;
	fsa_be32 s_blocksize;		/* bytes */
	fsa_be32 s_maxlen;		/* blocks of the journal, this one included */
	fsa_be32 s_first;		/* first block of the log proper */
	fsa_be32 s_sequence;		/* first transaction expected in the log */
	fsa_be32 s_start;		/* block where the log starts; 0: nothing to replay */
	fsa_be32 s_errno;
	fsa_be32 s_feature_compat;	/* from here on version 2 only */
	fsa_be32 s_feature_incompat;
	fsa_be32 s_feature_ro_compat;
	uint8_t s_uuid[16];
	fsa_be32 s_nr_users;
	fsa_be32 s_dynsuper;
	fsa_be32 s_max_transaction;
	fsa_be32 s_max_trans_data;
	uint8_t s_checksum_type;
	uint8_t s_padding2[3];
	fsa_be32 s_num_fc_blks;		/* blocks at the end for fast commits */
	uint8_t s_padding[164];
	fsa_be32 s_checksum;		/* crc32c of this structure with this field zero */
	uint8_t s_users[16 * 48];	/* uuids of the filesystems that use an external journal */
};

/* Hash of an encrypted and casefolded name, behind the name in its directory entry. */
#define EXT_DIRENT_HEADER 8u
#define EXT_DIRENT_TAIL 12u
#define EXT_DIRENT_TAIL_TYPE 0xDEu	/* file_type of the checksum that poses as an entry */

_Static_assert(sizeof(struct ext2_super_block) == 1024, "superblock");
_Static_assert(offsetof(struct ext2_super_block, s_checksum) == 0x3fc, "superblock checksum");
_Static_assert(offsetof(struct ext2_super_block, s_desc_size) == 0xfe, "descriptor size");
_Static_assert(offsetof(struct ext2_super_block, s_orphan_file_inum) == 0x280, "orphan file");
_Static_assert(sizeof(struct ext4_group_desc) == 64, "group descriptor");
_Static_assert(offsetof(struct ext4_group_desc, bg_checksum) == 0x1e, "descriptor checksum");
_Static_assert(offsetof(struct ext2_inode_large, i_block) == 0x28, "i_block");
_Static_assert(offsetof(struct ext2_inode_large, i_extra_isize) == 0x80, "extra size");
_Static_assert(offsetof(struct ext2_inode_large, i_projid) == 0x9c, "project id");
_Static_assert(sizeof(struct ext3_extent) == 12 && sizeof(struct ext3_extent_idx) == 12, "extents");
_Static_assert(sizeof(struct ext3_extent_header) == 12, "extent header");
_Static_assert(sizeof(struct ext2_ext_attr_header) == 32, "xattr header");
_Static_assert(sizeof(struct ext2_ext_attr_entry) == 16, "xattr entry");
_Static_assert(sizeof(struct jbd2_superblock) == 1024, "journal superblock");
_Static_assert(offsetof(struct jbd2_superblock, s_checksum) == 0xfc, "journal checksum");
_Static_assert(sizeof(struct mmp_struct) == 1024, "mmp");

#endif
