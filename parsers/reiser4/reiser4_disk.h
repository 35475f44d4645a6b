/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * On-disk layout of Reiser4. All integers are little-endian and unaligned. Sources of the facts: the public
 * headers of reiser4progs 1.2.2 (/usr/include/reiser4: types.h, plugin.h, backup.h), its plugins (format40,
 * alloc40, journal40, node40, node41, the item plugins) and the kernel module (wander.h, safe_link.c,
 * plugin/item/static_stat.h, plugin/file/cryptcompress.c).
 */
#ifndef FSA_REISER4_DISK_H
#define FSA_REISER4_DISK_H

#include "fsa/bytes.h"

/* --- fixed places --------------------------------------------------------------------------------------- */

#define R4_MASTER_OFFSET 65536u		/* bytes; everything before it is the boot area */
#define R4_MASTER_MAGIC "ReIsEr4"
#define R4_FORMAT_MAGIC "ReIsEr40FoRmAt"
#define R4_FORMAT41_MAGIC "ReIsEr41FoRmAt"
#define R4_STATUS_MAGIC "ReiSeR4StATusBl"
#define R4_MIN_BLOCK_SIZE 512u
#define R4_MAX_BLOCK_SIZE 8192u

/* Blocks behind the master superblock's, which is the first block behind the boot area. */
enum { R4_FORMAT_AT = 1, R4_BITMAP_AT, R4_JOURNAL_HEADER_AT, R4_JOURNAL_FOOTER_AT, R4_STATUS_AT, R4_BACKUP_AT };

struct r4_master {
	char magic[16];
	fsa_le16 format;		/* plugin: 0 format40, 1 format41 */
	fsa_le16 block_size;
	uint8_t uuid[16];
	char label[16];
	/* From here on only with format41: */
	uint8_t subvolume_uuid[16];
	fsa_le16 volume_plugin, distribution_plugin;
	fsa_le16 mirror;		/* 0: the original */
	fsa_le16 replicas;
	uint8_t stripe_bits;
};
#define R4_MASTER_BYTES 52u		/* of format40 */

struct r4_format {
	fsa_le64 blocks;
	fsa_le64 free_blocks;
	fsa_le64 root;			/* block */
	fsa_le64 next_oid;
	fsa_le64 files;			/* object ids in use */
	fsa_le64 flushes;
	fsa_le32 mkfs_id;		/* the same in every node */
	char magic[16];
	fsa_le16 height;		/* levels of the tree, leaves included */
	fsa_le16 policy;		/* default tail policy */
	fsa_le64 flags;
	fsa_le32 version;		/* minor one; the top bit asks fsck to renew the backup blocks */
	fsa_le32 node_plugin;
};
#define R4_FLAG_LARGE_KEYS 1u
#define R4_VERSION_MASK 0x7fffffffu

struct r4_status {
	char magic[16];
	fsa_le64 status, extended;
	fsa_le64 stack[10];
	char message[256];
};
enum { R4_STATUS_CORRUPTED = 1, R4_STATUS_DAMAGED = 2, R4_STATUS_DESTROYED = 4, R4_STATUS_IO = 8 };

/* A backup block: a byte for its version, the master superblock, 8 bytes for later, then this. */
#define R4_BACKUP_FORMAT_AT (1 + R4_MASTER_BYTES + 8)
struct r4_backup_format {
	char magic[16];
	fsa_le64 blocks;
	fsa_le32 mkfs_id;
	fsa_le16 policy;
	fsa_le64 flags;
	fsa_le32 version;
	fsa_le64 reserved;
};
/* Then, when the version is not 0, "PsEt" and 32-bit plugin numbers. */
#define R4_BACKUP_PSET_BYTES (4 + 4 * R4_PSET_STORED)

#define R4_BITMAP_CHECKSUM 4u		/* adler32 in front of each bitmap block */

/* --- journal --------------------------------------------------------------------------------------------- */

struct r4_journal_header { fsa_le64 last_committed; };	/* block of a transaction head; 0: none */
struct r4_journal_footer { fsa_le64 last_flushed, free_blocks, files, next_oid; };

#define R4_TX_MAGIC "TxMagic4"
#define R4_RECORD_MAGIC "LogMagc4"
struct r4_tx_head {
	char magic[8];
	fsa_le64 id;
	fsa_le32 total;			/* this block and its wander records */
	fsa_le32 padding;
	fsa_le64 previous;		/* head of the transaction before */
	fsa_le64 next;			/* first wander record */
	fsa_le64 free_blocks, files, next_oid;
};
struct r4_record {
	char magic[8];
	fsa_le64 id;
	fsa_le32 total, serial;
	fsa_le64 next;
};
struct r4_record_entry { fsa_le64 original, wandered; };

/* --- nodes and items -------------------------------------------------------------------------------------- */

struct r4_node_header {
	fsa_le16 plugin;		/* 0 node40, 1 node41 */
	fsa_le16 items;
	fsa_le16 free_bytes;
	fsa_le16 free_start;
	fsa_le32 magic;
	fsa_le32 mkfs_id;
	fsa_le64 flush_id;
	fsa_le16 flags;
	uint8_t level;			/* 1: leaf, 2: twig */
	uint8_t pad;
};
struct r4_node41_header { struct r4_node_header node; fsa_le32 checksum; };
#define R4_NODE40_MAGIC 0x52344653u	/* "R4FS" */
#define R4_NODE41_MAGIC 0x19051966u
enum { R4_NODE40, R4_NODE41 };
enum { R4_LEAF = 1, R4_TWIG = 2 };

/* Item headers grow from the end of the node: a key, then this. */
struct r4_item_header { fsa_le16 offset, flags, plugin; };

enum r4_item_plugin {
	R4_ITEM_STAT,
	R4_ITEM_SIMPLE_ENTRY,		/* one name; never used by default */
	R4_ITEM_ENTRIES,
	R4_ITEM_POINTER,
	R4_ITEM_ACL,			/* a number that no code implements */
	R4_ITEM_EXTENTS,
	R4_ITEM_TAIL,
	R4_ITEM_CTAIL,
	R4_ITEM_BLACKBOX,		/* safe links */
	R4_ITEM_PLUGINS
};

/* Keys: three words (short) or four; a word is 64 bits. */
#define R4_KEY_MAX_BYTES 32u
enum { R4_KEY_NAME = 0, R4_KEY_STAT = 1, R4_KEY_BODY = 4 };	/* low four bits of the first word */
#define R4_OBJECTID_MASK UINT64_C(0x0fffffffffffffff)
#define R4_NAME_HASHED (UINT64_C(1) << 56)	/* in the first word of a name's hash: the name is in the item */
#define R4_NAME_FIBRE (UINT64_C(0xff) << 56)	/* fibration and the bit above: no part of the name */

#define R4_ROOT_LOCALITY 0x29u
#define R4_ROOT_OID 0x2au
#define R4_SAFE_LOCALITY 0x2bu

struct r4_extent { fsa_le64 start, width; };	/* blocks */
#define R4_EXTENT_HOLE 0u
#define R4_EXTENT_UNALLOCATED 1u

#define R4_CTAIL_HEADER 1u		/* binary logarithm of the cluster size */
#define R4_CTAIL_UNPREPPED 0xffu
enum { R4_CLUSTER_SHIFT_MIN = 12, R4_CLUSTER_SHIFT_MAX = 16 };
#define R4_CLUSTER_CHECKSUM 4u		/* adler32 behind a compressed cluster */

/* --- stat data -------------------------------------------------------------------------------------------- */

enum r4_stat_extension {
	R4_SD_LIGHT, R4_SD_UNIX, R4_SD_TIMES, R4_SD_SYMLINK, R4_SD_PLUGINS, R4_SD_FLAGS, R4_SD_CAPS, R4_SD_CRYPTO,
	R4_SD_HEIR, R4_SD_KNOWN,
	R4_SD_MORE = 15			/* another mask of 16 extensions follows */
};
struct r4_sd_light { fsa_le16 mode; fsa_le32 links; fsa_le64 size; };
struct r4_sd_unix { fsa_le32 uid, gid, atime, mtime, ctime; fsa_le64 bytes; };	/* bytes: or the device number */
struct r4_sd_times { fsa_le32 atime, mtime, ctime; };	/* nanoseconds */
struct r4_sd_slot { fsa_le16 member, plugin; };		/* behind a 16-bit count */

enum r4_pset_member {
	R4_PSET_OBJECT, R4_PSET_DIR, R4_PSET_PERM, R4_PSET_POLICY, R4_PSET_HASH, R4_PSET_FIBRE, R4_PSET_STAT,
	R4_PSET_DIRITEM, R4_PSET_CRYPTO, R4_PSET_DIGEST, R4_PSET_COMPRESS, R4_PSET_CMODE, R4_PSET_CLUSTER,
	R4_PSET_CREATE, R4_PSET_STORED
};
enum { R4_OBJECT_REG, R4_OBJECT_DIR, R4_OBJECT_SYM, R4_OBJECT_SPECIAL, R4_OBJECT_CRYPTCOMPRESS };
enum { R4_COMPRESS_LZO1, R4_COMPRESS_GZIP1, R4_COMPRESS_ZSTD1 };

_Static_assert(offsetof(struct r4_master, subvolume_uuid) == R4_MASTER_BYTES, "master superblock");
_Static_assert(offsetof(struct r4_master, block_size) == 18, "block size");
_Static_assert(sizeof(struct r4_master) == 77, "master superblock of format41");
_Static_assert(sizeof(struct r4_format) == 88, "format superblock");
_Static_assert(offsetof(struct r4_format, magic) == 52, "format magic");
_Static_assert(offsetof(struct r4_format, flags) == 72, "format flags");
_Static_assert(sizeof(struct r4_status) == 368, "status block");
_Static_assert(sizeof(struct r4_backup_format) == 50, "format in a backup block");
_Static_assert(sizeof(struct r4_journal_footer) == 32, "journal footer");
_Static_assert(sizeof(struct r4_tx_head) == 64, "transaction head");
_Static_assert(sizeof(struct r4_record) == 32, "wander record");
_Static_assert(sizeof(struct r4_record_entry) == 16, "wander record entry");
_Static_assert(sizeof(struct r4_node_header) == 28, "node header");
_Static_assert(offsetof(struct r4_node_header, level) == 26, "node level");
_Static_assert(sizeof(struct r4_node41_header) == 32, "node41 header");
_Static_assert(sizeof(struct r4_item_header) == 6, "item header behind the key");
_Static_assert(sizeof(struct r4_extent) == 16, "extent");
_Static_assert(sizeof(struct r4_sd_light) == 14, "light-weight stat data");
_Static_assert(sizeof(struct r4_sd_unix) == 28, "unix stat data");
_Static_assert(sizeof(struct r4_sd_times) == 12, "nanoseconds");
_Static_assert(sizeof(struct r4_sd_slot) == 4, "plugin slot");

#endif
