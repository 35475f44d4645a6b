/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What ReiserFS 3.5 and 3.6 have on disk. Facts (offsets, meanings, values) from Linux 6.1 fs/reiserfs/reiserfs.h,
 * acl.h and linux/reiserfs_xattr.h, from GRUB's reader, and from what reiserfsprogs 3.6.27 print and make; the
 * declarations are this project's own. FORMAT.md describes the format.
 */
#ifndef FSA_REISERFS_DISK_H
#define FSA_REISERFS_DISK_H

#include "fsa/bytes.h"

#define RFS_SUPER_OFFSET 65536u		/* 3.5.10 and later */
#define RFS_SUPER_OFFSET_OLD 8192u	/* before: bitmaps lie together behind it */

#define RFS_MAGIC_35 "ReIsErFs"
#define RFS_MAGIC_36 "ReIsEr2Fs"
#define RFS_MAGIC_NO_JOURNAL 20u	/* where the magic lies in a superblock that has no words about a journal */
#define RFS_MAGIC_JR "ReIsEr3Fs"	/* journal of another size, at another place or on another device */

#define RFS_VERSION_35 0u		/* s_version, meaningful with RFS_MAGIC_JR */
#define RFS_VERSION_36 2u

#define RFS_HASH_UNSET 0u
#define RFS_HASH_TEA 1u
#define RFS_HASH_YURA 2u		/* "rupasov" */
#define RFS_HASH_R5 3u

#define RFS_UMOUNT_VALID 1u
#define RFS_UMOUNT_ERROR 2u

#define RFS_FLAG_ATTRS_CLEARED 1u	/* s_flags: inode flags in stat data can be believed */
#define RFS_NO_ROOT 0xffffffffu		/* s_root_block while reiserfsck --rebuild-tree is at work */

struct rfs_journal_params {
	fsa_le32 first_block;		/* on the journal's device */
	fsa_le32 device;		/* number of that device; 0: this one (or a file when mkfs ran) */
	fsa_le32 size;			/* blocks of the log; the header is one more */
	fsa_le32 trans_max;
	fsa_le32 magic;			/* the same here and in the journal header */
	fsa_le32 max_batch;
	fsa_le32 max_commit_age;
	fsa_le32 max_trans_age;
};

struct rfs_super {
	fsa_le32 s_block_count;
	fsa_le32 s_free_blocks;
	fsa_le32 s_root_block;
	struct rfs_journal_params s_journal;
	fsa_le16 s_blocksize;
	fsa_le16 s_oid_maxsize;		/* numbers that the object id map has room for */
	fsa_le16 s_oid_cursize;
	fsa_le16 s_umount_state;
	uint8_t s_magic[10];
	fsa_le16 s_fs_state;		/* set by reiserfsck */
	fsa_le32 s_hash_function_code;
	fsa_le16 s_tree_height;		/* levels and one: the root is at level height - 1 */
	fsa_le16 s_bmap_nr;		/* 0 when they are more than 65535 */
	fsa_le16 s_version;
	fsa_le16 s_reserved_for_journal; /* blocks kept here for a journal that is elsewhere */
	/* 3.6 only: */
	fsa_le32 s_inode_generation;
	fsa_le32 s_flags;
	uint8_t s_uuid[16];
	uint8_t s_label[16];
	fsa_le16 s_mnt_count;
	fsa_le16 s_max_mnt_count;
	fsa_le32 s_lastcheck;
	fsa_le32 s_check_interval;
	uint8_t s_unused[76];
};
#define RFS_SUPER_SIZE_V1 76u		/* the object id map of 3.5 follows here */
#define RFS_SUPER_SIZE 204u		/* that of 3.6 here */

/* The third and fourth component of a key come in two forms; which one is said by the item's version. */
struct rfs_disk_key {
	fsa_le32 dir_id;
	fsa_le32 objectid;
	union {
		struct { fsa_le32 offset, uniqueness; } v1;
		fsa_le64 v2;		/* 60 bits of offset, 4 of type above them */
	} u;
};

#define RFS_UNIQUENESS_STAT 0u
#define RFS_UNIQUENESS_DIRENTRY 500u
#define RFS_UNIQUENESS_INDIRECT 0xfffffffeu
#define RFS_UNIQUENESS_DIRECT 0xffffffffu

#define RFS_ROOT_DIR_ID 1u
#define RFS_ROOT_OBJECTID 2u
#define RFS_SAFE_LINK_DIR_ID 0xffffffffu
#define RFS_BAD_BLOCKS_DIR_ID 1u	/* reiserfstune -b: pointers to bad blocks, no stat data */
#define RFS_BAD_BLOCKS_OBJECTID 0xffffffffu

struct rfs_block_head {
	fsa_le16 level;			/* 1 leaf, more above; 0 in nodes that left the tree */
	fsa_le16 nr_items;		/* items, or keys */
	fsa_le16 free_space;
	fsa_le16 reserved;
	struct rfs_disk_key right_delim_key;	/* no longer kept */
};
#define RFS_LEAF_LEVEL 1u

struct rfs_item_head {
	struct rfs_disk_key key;
	fsa_le16 count;			/* directory: entries; old indirect: unused bytes in the last block */
	fsa_le16 length;		/* of the body */
	fsa_le16 location;		/* of the body in the node */
	fsa_le16 version;		/* 0: key of 3.5, 1: of 3.6; bit 15 is reiserfsck's */
};

struct rfs_child {
	fsa_le32 block;
	fsa_le16 size;			/* bytes in use in the child, its block head left out */
	fsa_le16 reserved;
};

struct rfs_stat_v1 {
	fsa_le16 mode, nlink, uid, gid;
	fsa_le32 size, atime, mtime, ctime;
	fsa_le32 rdev_or_blocks;
	fsa_le32 first_direct_byte;
};

struct rfs_stat_v2 {
	fsa_le16 mode, attrs;
	fsa_le32 nlink;
	fsa_le64 size;
	fsa_le32 uid, gid, atime, mtime, ctime;
	fsa_le32 blocks;
	fsa_le32 rdev_or_generation;
};

struct rfs_entry_head {
	fsa_le32 offset;		/* hash in bits 7 to 30, generation in 0 to 6 */
	fsa_le32 dir_id, objectid;	/* of what it names */
	fsa_le16 location;		/* of the name in the item; names lie from the end downwards */
	fsa_le16 state;
};
#define RFS_ENTRY_VISIBLE 4u		/* state bit 2 */
#define RFS_ENTRY_WITH_STAT 1u		/* never written */
#define RFS_DOT_OFFSET 1u
#define RFS_DOT_DOT_OFFSET 2u
#define RFS_HASH_MASK 0x7fffff80u

struct rfs_journal_header {
	fsa_le32 last_flush_trans_id;
	fsa_le32 first_unflushed_offset;
	fsa_le32 mount_id;
	struct rfs_journal_params params;
};

/* First and last block of a transaction; block numbers follow, and the magic in the last 12 bytes of the first. */
struct rfs_journal_desc { fsa_le32 trans_id, length, mount_id; };
struct rfs_journal_commit { fsa_le32 trans_id, length; };
#define RFS_JOURNAL_DESC_MAGIC "ReIsErLB"
#define RFS_JOURNAL_MAGIC_FROM_END 12u

/* Extended attributes are files in /.reiserfs_priv/xattrs/OBJECTID.GENERATION, named like the attribute. */
#define RFS_PRIV_ROOT ".reiserfs_priv"
#define RFS_XATTR_ROOT "xattrs"
struct rfs_xattr_header { fsa_le32 magic, hash; };
#define RFS_XATTR_MAGIC 0x52465841u

#define RFS_ACL_VERSION 1u
struct rfs_acl_entry { fsa_le16 tag, perm; fsa_le32 id; };	/* id only with named users and groups */
#define RFS_ACL_SHORT 4u
#define RFS_ACL_USER_OBJ 1u
#define RFS_ACL_USER 2u
#define RFS_ACL_GROUP_OBJ 4u
#define RFS_ACL_GROUP 8u
#define RFS_ACL_MASK 16u
#define RFS_ACL_OTHER 32u

_Static_assert(sizeof(struct rfs_journal_params) == 32, "journal parameters");
_Static_assert(sizeof(struct rfs_super) == RFS_SUPER_SIZE, "superblock");
_Static_assert(offsetof(struct rfs_super, s_blocksize) == 44, "block size");
_Static_assert(offsetof(struct rfs_super, s_magic) == 52, "magic");
_Static_assert(offsetof(struct rfs_super, s_hash_function_code) == 64, "hash");
_Static_assert(offsetof(struct rfs_super, s_inode_generation) == RFS_SUPER_SIZE_V1, "superblock of 3.5");
_Static_assert(offsetof(struct rfs_super, s_uuid) == 84, "uuid");
_Static_assert(offsetof(struct rfs_super, s_label) == 100, "label");
_Static_assert(sizeof(struct rfs_disk_key) == 16, "key");
_Static_assert(sizeof(struct rfs_block_head) == 24, "block head");
_Static_assert(sizeof(struct rfs_item_head) == 24, "item head");
_Static_assert(offsetof(struct rfs_item_head, location) == 20, "item location");
_Static_assert(sizeof(struct rfs_child) == 8, "child pointer");
_Static_assert(sizeof(struct rfs_stat_v1) == 32, "stat data of 3.5");
_Static_assert(sizeof(struct rfs_stat_v2) == 44, "stat data of 3.6");
_Static_assert(sizeof(struct rfs_entry_head) == 16, "directory entry head");
_Static_assert(sizeof(struct rfs_journal_header) == 44, "journal header");
_Static_assert(sizeof(struct rfs_xattr_header) == 8, "attribute header");
_Static_assert(sizeof(struct rfs_acl_entry) == 8, "access control entry");

#endif
