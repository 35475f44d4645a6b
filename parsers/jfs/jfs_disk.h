/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * On-disk layout of JFS, version 1 and 2 of the superblock (Linux and OS/2; AIX's JFS2 is another format).
 * Everything is little-endian. Facts from fs/jfs of Linux 6.1 (jfs_superblock.h, jfs_filsys.h, jfs_types.h,
 * jfs_dmap.h, jfs_imap.h, jfs_dinode.h, jfs_xtree.h, jfs_dtree.h, jfs_xattr.h, jfs_logmgr.h), checked against
 * what jfs_debugfs 1.1.15 prints.
 */
#ifndef FSA_JFS_DISK_H
#define FSA_JFS_DISK_H

#include "fsa/bytes.h"

/* Every page of metadata is this long, and so is the only block size that any driver takes. */
#define JFS_PAGE 4096u
#define JFS_L2PAGE 12u

/* Fixed places, bytes. */
#define JFS_SUPER1_OFFSET 0x8000u
#define JFS_AIM_OFFSET 0x9000u		/* aggregate inode map: control page, first IAG */
#define JFS_AIT_OFFSET 0xb000u		/* aggregate inode table: its first inode extent */
#define JFS_SUPER2_OFFSET 0xf000u
#define JFS_BMAP_OFFSET 0x10000u

#define JFS_MAX_BLOCKS (UINT64_C(1) << 40)	/* block addresses have 40 bits */
#define JFS_MAX_FILE_SIZE (UINT64_C(1) << 52)

/* Extent of blocks: length in the low 24 bits of the first word, address bits 39..32 above them. */
struct jfs_pxd {
	fsa_le32 len_addr;
	fsa_le32 addr2;
};

static inline uint32_t jfs_pxd_length(const struct jfs_pxd *p)
{
	return fsa_le32v(p->len_addr) & 0xffffffu;
}

static inline uint64_t jfs_pxd_address(const struct jfs_pxd *p)
{
	return (uint64_t)(fsa_le32v(p->len_addr) >> 24) << 32 | fsa_le32v(p->addr2);
}

/* Extent of something of its own, with a size in bytes. */
struct jfs_dxd {
	uint8_t flag;
	uint8_t reserved[3];
	fsa_le32 size;		/* bytes */
	struct jfs_pxd loc;
};

#define JFS_DXD_INDEX 0x80u
#define JFS_DXD_INLINE 0x40u
#define JFS_DXD_EXTENT 0x20u
#define JFS_DXD_FILE 0x10u
#define JFS_DXD_CORRUPT 0x08u

struct jfs_time {
	fsa_le32 sec;
	fsa_le32 nsec;
};

struct jfs_superblock {
	char s_magic[4];		/* "JFS1" */
	fsa_le32 s_version;
	fsa_le64 s_size;		/* of what the block map covers, in hardware blocks */
	fsa_le32 s_bsize;
	fsa_le16 s_l2bsize;
	fsa_le16 s_l2bfactor;		/* log2(blocks / hardware blocks) */
	fsa_le32 s_pbsize;		/* hardware block, bytes */
	fsa_le16 s_l2pbsize;
	fsa_le16 pad;
	fsa_le32 s_agsize;		/* blocks of an allocation group */
	fsa_le32 s_flag;
	fsa_le32 s_state;
	fsa_le32 s_compress;
	struct jfs_pxd s_ait2;		/* secondary aggregate inode table */
	struct jfs_pxd s_aim2;		/* secondary aggregate inode map */
	fsa_le32 s_logdev;
	fsa_le32 s_logserial;
	struct jfs_pxd s_logpxd;	/* inline log */
	struct jfs_pxd s_fsckpxd;	/* work space of jfs_fsck */
	struct jfs_time s_time;
	fsa_le32 s_fsckloglen;		/* blocks at the end of the work space: jfs_fsck's service log */
	uint8_t s_fscklog;
	char s_fpack[11];		/* label, version 1 */
	fsa_le64 s_xsize;		/* while the filesystem is being extended */
	struct jfs_pxd s_xfsckpxd;
	struct jfs_pxd s_xlogpxd;
	uint8_t s_uuid[16];
	char s_label[16];		/* label, version 2 */
	uint8_t s_loguuid[16];
};

/* s_state */
#define JFS_STATE_CLEAN 0u
#define JFS_STATE_MOUNTED 1u
#define JFS_STATE_DIRTY 2u
#define JFS_STATE_LOGREDO 4u
#define JFS_STATE_EXTENDING 8u

/* s_flag */
#define JFS_FLAG_UNICODE 0x00000001u
#define JFS_FLAG_INLINELOG 0x00000800u
#define JFS_FLAG_INLINEMOVE 0x00001000u
#define JFS_FLAG_BAD_SAIT 0x00010000u
#define JFS_FLAG_DIR_INDEX 0x00200000u
#define JFS_FLAG_LINUX 0x10000000u
#define JFS_FLAG_OS2 0x40000000u
#define JFS_FLAG_SWAP_BYTES 0x00100000u
#define JFS_FLAG_DFS 0x20000000u
#define JFS_FLAG_AIX 0x80000000u

/* --- block allocation map ------------------------------------------------------------------------- */

#define JFS_MAX_AG 128u
#define JFS_BLOCKS_PER_DMAP 8192u
#define JFS_L2_BLOCKS_PER_DMAP 13u
#define JFS_DMAP_LEAVES 256u
#define JFS_DMAP_TREE 341u		/* 1 + 4 + 16 + 64 + 256 */
#define JFS_DMAP_LEAF 85u		/* index of the first leaf */
#define JFS_DMAP_BUDMIN 5u		/* a leaf stands for 2^5 blocks */
#define JFS_CTL_LEAVES 1024u
#define JFS_L2_CTL_LEAVES 10u
#define JFS_CTL_TREE 1365u
#define JFS_CTL_LEAF 341u
#define JFS_NO_FREE (-1)

struct jfs_bmap_control {
	fsa_le64 dn_mapsize;		/* blocks */
	fsa_le64 dn_nfree;
	fsa_le32 dn_l2nbperpage;
	fsa_le32 dn_numag;
	fsa_le32 dn_maxlevel;
	fsa_le32 dn_maxag;
	fsa_le32 dn_agpref;
	fsa_le32 dn_aglevel;
	fsa_le32 dn_agheight;
	fsa_le32 dn_agwidth;
	fsa_le32 dn_agstart;
	fsa_le32 dn_agl2size;
	fsa_le64 dn_agfree[JFS_MAX_AG];
	fsa_le64 dn_agsize;
	int8_t dn_maxfreebud;
	uint8_t pad[3007];
};

/* What a dmap and the control pages above it have in common: a tree of the longest free runs, log2. */
struct jfs_tree_head {
	fsa_le32 nleafs;
	fsa_le32 l2nleafs;
	fsa_le32 leafidx;
	fsa_le32 height;
	int8_t budmin;
};

struct jfs_dmap {
	fsa_le32 nblocks;
	fsa_le32 nfree;
	fsa_le64 start;
	struct jfs_tree_head head;
	int8_t stree[JFS_DMAP_TREE];
	uint8_t pad_tree[2];
	uint8_t pad[1672];
	fsa_le32 wmap[JFS_DMAP_LEAVES];	/* working map: bit 31 of word 0 is the first block */
	fsa_le32 pmap[JFS_DMAP_LEAVES];	/* persistent map: what is committed */
};

struct jfs_dmapctl {
	struct jfs_tree_head head;
	int8_t stree[JFS_CTL_TREE];
	uint8_t pad[2714];
};

/* --- inode maps ------------------------------------------------------------------------------------ */

#define JFS_INODE_SIZE 512u
#define JFS_INODES_PER_EXTENT 32u
#define JFS_INODES_PER_PAGE 8u
#define JFS_EXTENTS_PER_IAG 128u
#define JFS_INODES_PER_IAG 4096u
#define JFS_MAX_IAGS ((1u << 20) - 1)
#define JFS_NO_IAG UINT32_MAX

struct jfs_iag {
	fsa_le64 agstart;		/* first block of the allocation group it serves */
	fsa_le32 iagnum;
	fsa_le32 inofreefwd, inofreeback;	/* list of IAGs of a group with free inodes */
	fsa_le32 extfreefwd, extfreeback;	/* list of those with free extents */
	fsa_le32 iagfree;			/* list of IAGs without extents */
	fsa_le32 inosmap[4];		/* bit set: no inode of that extent can be had */
	fsa_le32 extsmap[4];		/* bit set: that extent exists */
	fsa_le32 nfreeinos;
	fsa_le32 nfreeexts;
	uint8_t pad[1976];
	fsa_le32 wmap[JFS_EXTENTS_PER_IAG];
	fsa_le32 pmap[JFS_EXTENTS_PER_IAG];
	struct jfs_pxd inoext[JFS_EXTENTS_PER_IAG];
};

struct jfs_iagctl {
	fsa_le32 inofree;		/* heads of the lists above */
	fsa_le32 extfree;
	fsa_le32 numinos;
	fsa_le32 numfree;
};

struct jfs_imap_control {
	fsa_le32 in_freeiag;
	fsa_le32 in_nextiag;
	fsa_le32 in_numinos;
	fsa_le32 in_numfree;
	fsa_le32 in_nbperiext;
	fsa_le32 in_l2nbperiext;
	fsa_le32 in_diskblock;
	fsa_le32 in_maxag;
	uint8_t pad[2016];
	struct jfs_iagctl in_agctl[JFS_MAX_AG];
};

/* --- B+-trees -------------------------------------------------------------------------------------- */

#define JFS_BT_TYPE 0x07u
#define JFS_BT_ROOT 0x01u
#define JFS_BT_LEAF 0x02u
#define JFS_BT_INTERNAL 0x04u

#define JFS_TREE_DEPTH 8u		/* levels, the root included */

struct jfs_xad {
	uint8_t flag;
	uint8_t reserved[2];
	uint8_t off1;			/* bits 39..32 of the offset in blocks */
	fsa_le32 off2;
	struct jfs_pxd loc;
};

#define JFS_XAD_NEW 0x01u
#define JFS_XAD_EXTENDED 0x02u
#define JFS_XAD_COMPRESSED 0x04u
#define JFS_XAD_NOTRECORDED 0x08u
#define JFS_XAD_COW 0x10u

/* Takes the place of the first two xads of a node. */
struct jfs_xtree_header {
	fsa_le64 next;
	fsa_le64 prev;
	uint8_t flag;
	uint8_t reserved1;
	fsa_le16 nextindex;
	fsa_le16 maxentry;
	fsa_le16 reserved2;
	struct jfs_pxd self;
};

#define JFS_XT_START 2u			/* index of the first entry */
#define JFS_XT_PAGE_SLOTS 256u
#define JFS_XT_ROOT_SLOTS 18u
#define JFS_XT_DIR_ROOT_SLOTS 6u

#define JFS_DT_SLOT 32u
#define JFS_DT_ROOT_SLOTS 9u

/* Head slot of an entry in a leaf; without the directory index the name goes on in the last field. */
struct jfs_dt_leaf_entry {
	fsa_le32 inumber;
	int8_t next;
	uint8_t namlen;			/* of 16-bit units */
	fsa_le16 name[11];
	fsa_le32 index;			/* in the directory table */
};

#define JFS_DT_LEAF_UNITS 11u
#define JFS_DT_LEAF_UNITS_LEGACY 13u

struct jfs_dt_internal_entry {
	struct jfs_pxd xd;		/* the node below */
	int8_t next;
	uint8_t namlen;
	fsa_le16 name[11];
};

#define JFS_DT_INTERNAL_UNITS 11u

/* Further slots of an entry. */
struct jfs_dt_slot {
	int8_t next;
	int8_t count;
	fsa_le16 name[15];
};

#define JFS_DT_SLOT_UNITS 15u

struct jfs_dt_root_header {
	uint8_t dasd[16];		/* OS/2's limits */
	uint8_t flag;
	uint8_t nextindex;		/* entries in the sorted table */
	int8_t freecnt;
	int8_t freelist;
	fsa_le32 idotdot;		/* parent */
	int8_t stbl[8];
};

struct jfs_dt_page_header {
	fsa_le64 next;
	fsa_le64 prev;
	uint8_t flag;
	uint8_t nextindex;
	int8_t freecnt;
	int8_t freelist;
	uint8_t maxslot;
	uint8_t stblindex;		/* first slot of the sorted table */
	uint8_t reserved[2];
	struct jfs_pxd self;
};

/* Directory table: from the number that readdir's position is to where the entry lies. */
struct jfs_dir_table_slot {
	uint8_t reserved;
	uint8_t flag;			/* 1: in use */
	uint8_t slot;			/* place in the sorted table */
	uint8_t addr1;
	fsa_le32 addr2;			/* node, 0 for the root; when not in use the next number to try */
};

#define JFS_DIR_TABLE_INLINE 12u	/* numbers 2 to 13 */

/* --- inode ----------------------------------------------------------------------------------------- */

struct jfs_dinode {
	fsa_le32 di_inostamp;
	fsa_le32 di_fileset;
	fsa_le32 di_number;
	fsa_le32 di_gen;
	struct jfs_pxd di_ixpxd;	/* extent of inodes that it lies in */
	fsa_le64 di_size;
	fsa_le64 di_nblocks;
	fsa_le32 di_nlink;
	fsa_le32 di_uid;
	fsa_le32 di_gid;
	fsa_le32 di_mode;
	struct jfs_time di_atime;
	struct jfs_time di_ctime;
	struct jfs_time di_mtime;
	struct jfs_time di_otime;
	struct jfs_dxd di_acl;
	struct jfs_dxd di_ea;
	fsa_le32 di_next_index;
	fsa_le32 di_acltype;
	uint8_t di_table[96];		/* directories: inline table or root of its xtree */
	uint8_t di_tree[288];		/* root of the dtree or xtree, or what the three below say */
};

/* Inside di_tree. */
#define JFS_TREE_AT 224u		/* of di_tree in the record */
#define JFS_INLINE_AT 256u		/* short symlink, device number */
#define JFS_INLINE_SIZE 256u		/* a symlink may take the attribute room too */
#define JFS_INLINE_EA_AT 384u
#define JFS_INLINE_EA_SIZE 128u
#define JFS_TABLE_AT 128u

/* di_mode above the permission bits */
#define JFS_MODE_JOURNAL 0x00010000u
#define JFS_MODE_SPARSE 0x00020000u
#define JFS_MODE_INLINEEA 0x00040000u	/* the inline attribute room is free */
#define JFS_MODE_NOATIME 0x00080000u
#define JFS_MODE_DIRSYNC 0x00100000u
#define JFS_MODE_SYNC 0x00200000u
#define JFS_MODE_SECRM 0x00400000u
#define JFS_MODE_UNRM 0x00800000u
#define JFS_MODE_APPEND 0x01000000u
#define JFS_MODE_IMMUTABLE 0x02000000u
#define JFS_MODE_READONLY 0x02000000u	/* OS/2 */
#define JFS_MODE_HIDDEN 0x04000000u
#define JFS_MODE_SYSTEM 0x08000000u
#define JFS_MODE_DIRECTORY 0x20000000u
#define JFS_MODE_ARCHIVE 0x40000000u
#define JFS_MODE_NEWNAME 0x80000000u

/* Aggregate inodes */
#define JFS_AGGR_RESERVED 0u
#define JFS_AGGR_MAP 1u
#define JFS_AGGR_BMAP 2u
#define JFS_AGGR_LOG 3u
#define JFS_AGGR_BAD 4u
#define JFS_AGGR_FILESET 16u

/* Fileset inodes */
#define JFS_INO_RESERVED 0u
#define JFS_INO_EXTENSION 1u
#define JFS_INO_ROOT 2u
#define JFS_INO_ACL 3u
#define JFS_INO_FIRST 4u

/* --- extended attributes ---------------------------------------------------------------------------- */

struct jfs_ea_header {			/* name, NUL and value follow */
	uint8_t flag;
	uint8_t namelen;
	fsa_le16 valuelen;
};

#define JFS_EA_LIST_HEADER 4u		/* size of the whole list, itself included */
#define JFS_EA_MAX 65535u

/* --- log -------------------------------------------------------------------------------------------- */

#define JFS_LOG_MAGIC 0x87654321u
#define JFS_LOG_SUPER_PAGE 1u
#define JFS_LOG_ACTIVE 128u

struct jfs_log_super {
	fsa_le32 magic;
	fsa_le32 version;
	fsa_le32 serial;
	fsa_le32 size;			/* pages */
	fsa_le32 bsize;
	fsa_le32 l2bsize;
	fsa_le32 flag;
	fsa_le32 state;
	fsa_le32 end;			/* address of the last record, set when the log was replayed */
	uint8_t uuid[16];
	char label[16];
	uint8_t active[JFS_LOG_ACTIVE][16];
};

#define JFS_LOG_MOUNTED 0u
#define JFS_LOG_REDONE 1u
#define JFS_LOG_WRAPPED 2u
#define JFS_LOG_READ_ERROR 3u

_Static_assert(sizeof(struct jfs_pxd) == 8, "pxd");
_Static_assert(sizeof(struct jfs_dxd) == 16, "dxd");
_Static_assert(sizeof(struct jfs_superblock) == 184, "superblock");
_Static_assert(offsetof(struct jfs_superblock, s_flag) == 36, "flag");
_Static_assert(offsetof(struct jfs_superblock, s_ait2) == 48, "secondary table");
_Static_assert(offsetof(struct jfs_superblock, s_logpxd) == 72, "log");
_Static_assert(offsetof(struct jfs_superblock, s_fpack) == 101, "volume name");
_Static_assert(offsetof(struct jfs_superblock, s_uuid) == 136, "uuid");
_Static_assert(offsetof(struct jfs_superblock, s_label) == 152, "label");
_Static_assert(sizeof(struct jfs_bmap_control) == JFS_PAGE, "block map control page");
_Static_assert(offsetof(struct jfs_bmap_control, dn_agsize) == 1080, "group size");
_Static_assert(sizeof(struct jfs_dmap) == JFS_PAGE, "dmap");
_Static_assert(offsetof(struct jfs_dmap, stree) == 33, "dmap tree");
_Static_assert(offsetof(struct jfs_dmap, wmap) == 2048, "working map");
_Static_assert(sizeof(struct jfs_dmapctl) == JFS_PAGE, "dmap control page");
_Static_assert(offsetof(struct jfs_dmapctl, stree) == 17, "control tree");
_Static_assert(sizeof(struct jfs_iag) == JFS_PAGE, "IAG");
_Static_assert(offsetof(struct jfs_iag, wmap) == 2048, "IAG working map");
_Static_assert(offsetof(struct jfs_iag, inoext) == 3072, "IAG extents");
_Static_assert(sizeof(struct jfs_imap_control) == JFS_PAGE, "inode map control page");
_Static_assert(offsetof(struct jfs_imap_control, in_agctl) == 2048, "group lists");
_Static_assert(sizeof(struct jfs_xad) == 16, "xad");
_Static_assert(sizeof(struct jfs_xtree_header) == 32, "xtree header");
_Static_assert(sizeof(struct jfs_dt_leaf_entry) == JFS_DT_SLOT, "leaf entry");
_Static_assert(sizeof(struct jfs_dt_internal_entry) == JFS_DT_SLOT, "internal entry");
_Static_assert(sizeof(struct jfs_dt_slot) == JFS_DT_SLOT, "slot");
_Static_assert(sizeof(struct jfs_dt_root_header) == JFS_DT_SLOT, "dtree root");
_Static_assert(sizeof(struct jfs_dt_page_header) == JFS_DT_SLOT, "dtree page");
_Static_assert(sizeof(struct jfs_dir_table_slot) == 8, "directory table");
_Static_assert(sizeof(struct jfs_dinode) == JFS_INODE_SIZE, "inode");
_Static_assert(offsetof(struct jfs_dinode, di_nlink) == 40, "links");
_Static_assert(offsetof(struct jfs_dinode, di_ea) == 104, "attributes");
_Static_assert(offsetof(struct jfs_dinode, di_table) == JFS_TABLE_AT, "directory table");
_Static_assert(offsetof(struct jfs_dinode, di_tree) == JFS_TREE_AT, "tree root");
_Static_assert(sizeof(struct jfs_ea_header) == 4, "attribute");
_Static_assert(sizeof(struct jfs_log_super) == 2116, "log superblock");
_Static_assert(offsetof(struct jfs_log_super, uuid) == 36, "log uuid");

#endif
