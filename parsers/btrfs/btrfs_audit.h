/* SPDX-License-Identifier: GPL-2.0-only */
/* What the parts of the audit share. */
#ifndef FSA_BTRFS_AUDIT_H
#define FSA_BTRFS_AUDIT_H

#include "../core/bitset.h"
#include "btrfs.h"

#define BTR_NOBODY 0u
#define BTR_SEVERAL UINT32_MAX

/* An extent by the extent tree: 48 bytes for each are the audit's memory besides sets of bits. */
struct btr_extent {
	uint64_t start;			/* logical */
	uint32_t sectors;
	uint32_t refs;			/* by its item */
	uint32_t seen;			/* references met */
	uint32_t owner;			/* 1 + index of the root that refers to it, BTR_SEVERAL, BTR_NOBODY */
	uint64_t last_inode;		/* who referred to it last, to claim a compressed extent once for each */
	uint32_t last_root;
	uint32_t mapped;		/* sectors of files that lie in it, saturated: what FIEMAP would add up */
	bool data;
	bool several_files;		/* FIEMAP_EXTENT_SHARED */
	bool used;			/* some reference was met, counted or not */
};

/* What a tree is walked for. */
enum btr_role {
	BTR_ROLE_ROOT_TREE,
	BTR_ROLE_INTERNAL,		/* a tree of the filesystem itself */
	BTR_ROLE_SUBVOLUME,
	BTR_ROLE_DELETED,		/* a subvolume with no name left, not yet cleaned */
	BTR_ROLE_RELOC,			/* a balance's copy of a subvolume */
	BTR_ROLE_LOG,
};

struct btr_tree_count { uint64_t leaves, nodes, items, levels, used_bytes; };

/* Sums that one subvolume's figures are made of, bytes. */
struct btr_subvolume_sum { uint64_t referenced, exclusive, files, file_bytes, mapped, mapped_exclusive; };

/* The inode whose items are passing by. */
struct btr_file {
	bool open;			/* its items are being read */
	bool have_item;
	struct btr_inode inode;
	struct fsa_object o;
	uint64_t names;
	uint64_t name_bytes;		/* of entries in a directory */
	uint64_t nbytes;		/* by its extents */
	uint64_t next_logical, next_disk;
	uint64_t extent_end;		/* end of the extent before, for overlaps */
	bool orphan;
	uint64_t number;
};

struct btr_part { uint32_t offset, length; uint16_t detail; uint64_t inode; };

struct btr_audit {
	struct btr *b;
	struct fsa_audit *audit;
	struct fsa_claims *claims;
	struct btr_extent *extents;
	size_t n_extents, extents_room;
	bool extents_damaged;		/* the extent tree could not be read as a whole */
	struct btr_range { uint64_t logical, length; } *excluded;	/* kept free of extents around superblocks */
	size_t n_excluded, excluded_room;
	struct btr_place_on { unsigned device; uint64_t offset, length; size_t chunk; } *places;	/* stripes in order */
	size_t n_places;
	uint64_t outside_chunks;	/* bytes of devices that are reserved and in no chunk */
	uint64_t parity_free;		/* bytes */
	struct bitset nodes;		/* sectors of tree blocks that were visited */
	struct bitset referenced;	/* sectors of data that a file refers to */
	struct bitset summed;		/* sectors of data with a checksum */
	/* The tree being walked */
	const struct btr_root *root;
	uint32_t root_index;		/* 1 + index in b->roots */
	enum btr_role role;
	bool fresh[BTR_MAX_LEVEL + 1];	/* the node of this level on the way was visited for the first time */
	struct btr_tree_count count;
	struct btr_file file;
	struct btr_part *parts;
	size_t n_parts, parts_room;
	uint64_t dev_extents;
	unsigned device_index;		/* in b->devices, of the device extent being looked at */
	uint64_t nodes_done;
	uint64_t compressed_bytes[4], compressed_plain[4], compressed_extents[4];
	uint64_t unreferenced_bytes;
	struct btr_subvolume_sum *sums;	/* one for each root */
	bool damaged;			/* some part could not be read: counts of references say nothing then */
};

/* Ledger block of a byte offset. */
static inline uint64_t btr_block(const struct btr *b, uint64_t bytes)
{
	return bytes / b->sectorsize;
}

/* Bit of a logical address in the sets; the address lies in a chunk. */
static inline uint64_t btr_bit(const struct btr *b, const struct btr_chunk *c, uint64_t logical)
{
	return (c->base + (logical - c->logical)) / b->sectorsize;
}

/* --- btrfs_audit.c --- */
/*
 * Claims logical bytes (whole sectors) on all their copies; only one copy is in st_blocks. Returns the bytes
 * that have such a copy, which is less than `length` only where devices are missing.
 */
uint64_t btr_claim(struct btr_audit *a, uint64_t logical, uint64_t length, enum btr_detail detail, unsigned flags,
	       const struct fsa_owner *owner);
/* The same for parts that tile `length` bytes, in order. */
uint64_t btr_claim_parts(struct btr_audit *a, uint64_t logical, uint64_t length, enum btr_detail rest, unsigned flags,
		     const struct fsa_owner *owner);
bool btr_part_add(struct btr_audit *a, uint64_t offset, uint64_t length, enum btr_detail detail, uint64_t inode);
struct btr_extent *btr_extent_find(struct btr_audit *a, uint64_t start);
/* Sets bits for sectors; runs that no chunk holds are left out. */
bool btr_bits_set(struct btr_audit *a, struct bitset *set, uint64_t logical, uint64_t length);
/* Bytes of the range whose bits are set. */
uint64_t btr_bits_count(const struct btr_audit *a, const struct bitset *set, uint64_t logical, uint64_t length);

/* --- btrfs_audit_extent.c: the allocation side --- */
enum fsa_status btr_audit_extents(struct btr_audit *a);
void btr_audit_unreferenced(struct btr_audit *a);
/* Index of the first extent that ends behind `logical`; n_extents when none does. */
size_t btr_extent_behind(const struct btr_audit *a, uint64_t logical);
/* A file that holds the extent at `logical`, by its back references; false: none is named there. */
bool btr_extent_holder(struct btr_audit *a, uint64_t logical, uint64_t *root_id, uint64_t *inode);

/* --- btrfs_audit_data.c: contents against their checksums, when that is wanted --- */
enum fsa_status btr_audit_data(struct btr_audit *a);

/* --- btrfs_audit_space.c: devices, chunks, free space --- */
enum fsa_status btr_audit_space(struct btr_audit *a);
enum fsa_status btr_audit_map(struct btr_audit *a);

/* --- btrfs_audit_node.c: one tree block split into its purposes --- */
enum fsa_status btr_audit_node(void *arg, const struct btr_node *node, uint64_t logical, unsigned level, bool *enter);

/* --- btrfs_audit_file.c: inodes and their extents --- */
enum fsa_status btr_audit_item(void *arg, const struct btr_item *item);
enum fsa_status btr_file_finish(struct btr_audit *a);

/* --- btrfs_audit_check.c: further witnesses --- */
enum fsa_status btr_check_item(struct btr_audit *a, const struct btr_item *item);
void btr_check_totals(struct btr_audit *a);
enum fsa_status btr_check_free_space(struct btr_audit *a);

/* --- btrfs_figure.c --- */
void btr_figure_tree(struct btr_audit *a);
void btr_figures(struct btr_audit *a);

#endif
