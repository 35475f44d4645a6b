/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * On-disk layout of XFS. The structures are those of xfslibs-dev; this header adds how to read their
 * big-endian fields, feature bits younger than that package, and asserts what the reading relies on.
 * Facts not in a structure (special block addresses, how keys and pointers lie in a node) come from the
 * "XFS Algorithms & Data Structures" book and from fs/xfs of Linux 6.1.
 */
#ifndef FSA_XFS_DISK_H
#define FSA_XFS_DISK_H

#include <xfs/xfs.h>
#include <xfs/xfs_types.h>
#include <xfs/xfs_format.h>
#include <xfs/xfs_da_format.h>
#include <xfs/xfs_log_format.h>

#include "fsa/bytes.h"

#define XF_SB(p, field) FSA_BE(uint64_t, p, struct xfs_dsb, field)
#define XF_SB32(p, field) FSA_BE(uint32_t, p, struct xfs_dsb, field)
#define XF_AGF(p, field) FSA_BE(uint32_t, p, struct xfs_agf, field)
#define XF_AGI(p, field) FSA_BE(uint32_t, p, struct xfs_agi, field)
#define XF_INO64(p, field) FSA_BE(uint64_t, p, struct xfs_dinode, field)
#define XF_INO32(p, field) FSA_BE(uint32_t, p, struct xfs_dinode, field)
#define XF_INO16(p, field) FSA_BE(uint16_t, p, struct xfs_dinode, field)
#define XF_INO8(p, field) FSA_BE(uint8_t, p, struct xfs_dinode, field)

/* Incompatible features that Linux 6.18 knows and xfslibs-dev 6.1 does not (fs/xfs/libxfs/xfs_format.h). */
#define XF_INCOMPAT_EXCHRANGE 0x40u
#define XF_INCOMPAT_PARENT 0x80u
#define XF_INCOMPAT_METADIR 0x100u
#define XF_INCOMPAT_ZONED 0x200u
#define XF_INCOMPAT_ZONE_GAPS 0x400u

/* An attribute that is a parent pointer: the file's name and its directory. */
#define XF_ATTR_PARENT 0x08u

/* agf_roots and agf_levels are named differently in later headers; they follow agf_length. */
#define XF_AGF_ROOTS (offsetof(struct xfs_agf, agf_length) + 4)
#define XF_AGF_LEVELS (XF_AGF_ROOTS + 12)

#define XF_SHORT_HEADER4 16u		/* B-tree block headers: short pointers, version 4 and 5 */
#define XF_SHORT_HEADER5 56u
#define XF_LONG_HEADER4 24u
#define XF_LONG_HEADER5 72u
#define XF_BMDR_HEADER 4u		/* of a B-tree root in an inode */
#define XF_BMAP_RECORD 16u
#define XF_CORE4 100u			/* inode core with di_next_unlinked; the data fork follows */
#define XF_CORE5 176u
#define XF_AGFL_HEADER5 36u
#define XF_DQUOT_BYTES 136u
#define XF_REMOTE_HEADER5 56u		/* of each block of a remote attribute value */
#define XF_SYMLINK_HEADER5 56u		/* of each extent of a remote symlink */
#define XF_DIR_NO_BLOCK 0xffffu		/* in a free index: there is no such data block */
#define XF_DIR_ALIGN 8u

#define XF_BBSIZE 512u			/* unit of the log and of v5 block addresses */
#define XF_LOG_HEADER_BYTES_EACH 32768u	/* a further header block for each of these in h_size */

_Static_assert(sizeof(struct xfs_dsb) == 264, "superblock");
_Static_assert(offsetof(struct xfs_dsb, sb_crc) == 224, "superblock checksum");
_Static_assert(offsetof(struct xfs_dsb, sb_meta_uuid) == 248, "metadata uuid");
_Static_assert(sizeof(struct xfs_agf) == 224 && offsetof(struct xfs_agf, agf_flfirst) == 40, "AGF");
_Static_assert(XF_AGF_ROOTS == 16 && XF_AGF_LEVELS == 28, "AGF roots");
_Static_assert(offsetof(struct xfs_agf, agf_crc) == 216, "AGF checksum");
_Static_assert(sizeof(struct xfs_agi) == 344 && offsetof(struct xfs_agi, agi_crc) == 312, "AGI");
_Static_assert(sizeof(struct xfs_agfl) == XF_AGFL_HEADER5, "AGFL");
_Static_assert(sizeof(struct xfs_dinode) == XF_CORE5, "inode");
_Static_assert(offsetof(struct xfs_dinode, di_crc) == XF_CORE4, "version 4 inode");
_Static_assert(offsetof(struct xfs_dinode, di_forkoff) == 82, "fork offset");
_Static_assert(XFS_BTREE_SBLOCK_LEN == XF_SHORT_HEADER4 && XFS_BTREE_SBLOCK_CRC_LEN == XF_SHORT_HEADER5, "short block");
_Static_assert(XFS_BTREE_LBLOCK_LEN == XF_LONG_HEADER4 && XFS_BTREE_LBLOCK_CRC_LEN == XF_LONG_HEADER5, "long block");
_Static_assert(sizeof(struct xfs_dqblk) == XF_DQUOT_BYTES, "dquot");
_Static_assert(sizeof(struct xfs_attr3_rmt_hdr) == XF_REMOTE_HEADER5, "remote attribute");
_Static_assert(sizeof(struct xfs_dsymlink_hdr) == XF_SYMLINK_HEADER5, "symlink");
_Static_assert(sizeof(struct xfs_dir2_data_hdr) == 16 && sizeof(struct xfs_dir3_data_hdr) == 64, "directory data");
_Static_assert(sizeof(struct xfs_dir2_leaf_hdr) == 16 && sizeof(struct xfs_dir3_leaf_hdr) == 64, "directory leaf");
_Static_assert(sizeof(struct xfs_dir2_free_hdr) == 16 && sizeof(struct xfs_dir3_free_hdr) == 64, "directory free index");
_Static_assert(sizeof(struct xfs_da_node_hdr) == 16 && sizeof(struct xfs_da3_node_hdr) == 64, "hash tree node");
_Static_assert(sizeof(struct xfs_attr_leaf_hdr) == 32 && sizeof(struct xfs_attr3_leaf_hdr) == 80, "attribute leaf");
_Static_assert(sizeof(struct xlog_rec_header) == 328, "log record header");

#endif
