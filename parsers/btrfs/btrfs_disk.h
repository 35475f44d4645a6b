/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * On-disk layout of btrfs. Items come from the published <linux/btrfs_tree.h> and are read by FSA_LE; the
 * superblock and the node header, which older copies of that header lack, are written down here after the
 * on-disk format page of the btrfs documentation. Sizes and offsets are asserted below.
 */
#ifndef FSA_BTRFS_DISK_H
#define FSA_BTRFS_DISK_H

#include <linux/btrfs_tree.h>

#include "fsa/bytes.h"

#define BTR_SUPER_SIZE 4096u
#define BTR_SUPER_MIRRORS 3
#define BTR_SUPER_OFFSET UINT64_C(65536)
#define BTR_SYS_CHUNK_ARRAY 2048u
#define BTR_SUPER_MAGIC "_BHRfS_M"
#define BTR_LABEL 256u
#define BTR_NAME_LEN 255u
#define BTR_MAX_LEVEL 8
#define BTR_STRIPE_LEN UINT64_C(65536)		/* every chunk's stripe length, whatever the item says */
#define BTR_DEVICE_RESERVED (UINT64_C(1) << 20)	/* no chunk starts in the first MiB of a device */
#define BTR_MAX_STRIPES 1024u			/* an item holds about 500 in a node of 16 KiB */

/* Keys newer than the packaged header. */
#define BTR_RAID_STRIPE_TREE_OBJECTID 12ULL
#define BTR_EXTENT_OWNER_REF_KEY 172
#define BTR_RAID_STRIPE_KEY 230

struct btr_disk_super {
	uint8_t csum[32];		/* over everything behind it */
	uint8_t fsid[16];
	fsa_le64 bytenr;		/* where this copy lies */
	fsa_le64 flags;
	uint8_t magic[8];
	fsa_le64 generation;
	fsa_le64 root;			/* logical addresses */
	fsa_le64 chunk_root;
	fsa_le64 log_root;
	fsa_le64 log_root_transid;
	fsa_le64 total_bytes;		/* of all devices */
	fsa_le64 bytes_used;		/* logical bytes in extents */
	fsa_le64 root_dir_objectid;
	fsa_le64 num_devices;
	fsa_le32 sectorsize;
	fsa_le32 nodesize;
	fsa_le32 leafsize;
	fsa_le32 stripesize;
	fsa_le32 sys_chunk_array_size;	/* bytes */
	fsa_le64 chunk_root_generation;
	fsa_le64 compat_flags;
	fsa_le64 compat_ro_flags;
	fsa_le64 incompat_flags;
	fsa_le16 csum_type;
	uint8_t root_level;
	uint8_t chunk_root_level;
	uint8_t log_root_level;
	uint8_t dev_item[98];		/* struct btrfs_dev_item */
	uint8_t label[BTR_LABEL];
	fsa_le64 cache_generation;
	fsa_le64 uuid_tree_generation;
	uint8_t metadata_uuid[16];
	fsa_le64 reserved[28];
	uint8_t sys_chunk_array[BTR_SYS_CHUNK_ARRAY];
	uint8_t backup_roots[4][168];
	uint8_t padding[565];
};

struct btr_disk_header {
	uint8_t csum[32];
	uint8_t fsid[16];
	fsa_le64 bytenr;		/* the node's own logical address */
	fsa_le64 flags;			/* BTRFS_HEADER_FLAG_*, back reference revision in the top byte */
	uint8_t chunk_tree_uuid[16];
	fsa_le64 generation;
	fsa_le64 owner;			/* tree that the node was written for */
	fsa_le32 nritems;
	uint8_t level;
};

struct btr_disk_item {
	uint8_t key[17];		/* struct btrfs_disk_key */
	fsa_le32 offset;		/* of the data, from the end of the header */
	fsa_le32 size;
};

struct btr_disk_ptr {
	uint8_t key[17];
	fsa_le64 blockptr;		/* logical address */
	fsa_le64 generation;
};

#define BTR_HEADER ((uint32_t)sizeof(struct btr_disk_header))
#define BTR_ITEM ((uint32_t)sizeof(struct btr_disk_item))
#define BTR_PTR ((uint32_t)sizeof(struct btr_disk_ptr))
#define BTR_INLINE_START ((uint32_t)offsetof(struct btrfs_file_extent_item, disk_bytenr))

_Static_assert(sizeof(struct btr_disk_super) == BTR_SUPER_SIZE, "superblock");
_Static_assert(offsetof(struct btr_disk_super, magic) == 0x40, "superblock magic");
_Static_assert(offsetof(struct btr_disk_super, sectorsize) == 0x90, "superblock sector size");
_Static_assert(offsetof(struct btr_disk_super, csum_type) == 0xc4, "superblock checksum type");
_Static_assert(offsetof(struct btr_disk_super, dev_item) == 0xc9, "superblock device item");
_Static_assert(offsetof(struct btr_disk_super, label) == 0x12b, "superblock label");
_Static_assert(offsetof(struct btr_disk_super, sys_chunk_array) == 0x32b, "superblock chunk array");
_Static_assert(offsetof(struct btr_disk_super, backup_roots) == 0xb2b, "superblock backup roots");
_Static_assert(sizeof(struct btr_disk_header) == 101, "node header");
_Static_assert(sizeof(struct btr_disk_item) == 25, "item header");
_Static_assert(sizeof(struct btr_disk_ptr) == 33, "key pointer");
_Static_assert(sizeof(struct btrfs_disk_key) == 17, "key");
_Static_assert(sizeof(struct btrfs_dev_item) == 98, "device item");
_Static_assert(sizeof(struct btrfs_stripe) == 32, "stripe");
_Static_assert(offsetof(struct btrfs_chunk, stripe) == 48, "chunk item");
_Static_assert(sizeof(struct btrfs_inode_item) == 160, "inode item");
_Static_assert(sizeof(struct btrfs_root_item) == 439, "root item");
_Static_assert(sizeof(struct btrfs_dir_item) == 30, "directory item");
_Static_assert(sizeof(struct btrfs_inode_ref) == 10, "inode reference");
_Static_assert(sizeof(struct btrfs_inode_extref) == 18, "extended inode reference");
_Static_assert(sizeof(struct btrfs_root_ref) == 18, "root reference");
_Static_assert(sizeof(struct btrfs_file_extent_item) == 53, "file extent item");
_Static_assert(BTR_INLINE_START == 21, "inline extent");
_Static_assert(sizeof(struct btrfs_extent_item) == 24, "extent item");
_Static_assert(sizeof(struct btrfs_extent_data_ref) == 28, "data back reference");
_Static_assert(sizeof(struct btrfs_tree_block_info) == 18, "tree block info");
_Static_assert(sizeof(struct btrfs_block_group_item) == 24, "block group item");
_Static_assert(sizeof(struct btrfs_dev_extent) == 48, "device extent");
_Static_assert(sizeof(struct btrfs_free_space_info) == 8, "free space info");
_Static_assert(sizeof(struct btrfs_free_space_header) == 41, "free space cache header");

#endif
