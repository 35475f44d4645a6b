/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of the ext parser share. Nothing outside parsers/ext includes it. */
#ifndef FSA_EXT_H
#define FSA_EXT_H

#include "ext_disk.h"
#include "../core/bitset.h"
#include "../core/feature.h"
#include "fsa/checksum.h"
#include "fsa/parser.h"

/* Details: purposes in ext's own words. The order is the one in which `audit -v` shows them. */
enum ext_detail {
	EXT_D_BOOT,
	EXT_D_SUPERBLOCK,
	EXT_D_SUPERBLOCK_COPY,
	EXT_D_DESCRIPTORS,
	EXT_D_DESCRIPTORS_COPY,
	EXT_D_BLOCK_BITMAP,
	EXT_D_INODE_BITMAP,
	EXT_D_JOURNAL_SUPER,
	EXT_D_JOURNAL_LOG,
	EXT_D_JOURNAL_FAST,
	EXT_D_INODE,
	EXT_D_INODE_DELETED,
	EXT_D_INODE_FREE,
	EXT_D_INODE_UNINIT,
	EXT_D_DIRENT,
	EXT_D_DIRENT_INLINE,
	EXT_D_HTREE,
	EXT_D_DIR_CHECKSUM,
	EXT_D_BLOCK_POINTERS,
	EXT_D_INDIRECT,
	EXT_D_EXTENT_ROOT,
	EXT_D_EXTENT_NODE,
	EXT_D_XATTR_INODE,
	EXT_D_XATTR_BLOCK,
	EXT_D_XATTR_VALUE,
	EXT_D_XATTR_INLINE_HEADER,
	EXT_D_SYMLINK_FAST,
	EXT_D_SYMLINK,
	EXT_D_FREE_DESCRIPTORS,
	EXT_D_FREE_BITMAP,
	EXT_D_FREE_INODE_TABLE,
	EXT_D_FREE_I_BLOCK,
	EXT_D_FREE_INODE_BODY,
	EXT_D_FREE_DIRECTORY,
	EXT_D_FREE_MAPPING,
	EXT_D_FREE_XATTR,
	EXT_D_FREE_SYMLINK,
	EXT_D_VERITY,
	EXT_D_QUOTA,
	EXT_D_FILE_DATA,
	EXT_D_INLINE_DATA,
	EXT_D_SLACK,
	EXT_D_UNWRITTEN,
	EXT_D_BEYOND_EOF,
	EXT_D_CLUSTER_HOLE,
	EXT_D_DELETED_OPEN,
	EXT_D_RESIZE,
	EXT_D_RESERVED_GDT,
	EXT_D_MMP,
	EXT_D_ORPHAN_FILE,
	EXT_D_BAD_BLOCKS,
	EXT_D_BOOT_LOADER,
	EXT_D_RESERVED_INODE,
	EXT_D_CLUSTER_REST,
	EXT_DETAILS
};

extern const struct fsa_detail ext_details[EXT_DETAILS];

struct ext {
	struct fsa_fs *fs;
	uint8_t sb[EXT_SUPERBLOCK_SIZE];
	uint64_t sb_offset;		/* where it was read: a backup when the first was unusable */
	bool journal_device;		/* an external journal on its own: nothing else below is set */
	uint32_t compat, incompat, ro_compat;
	uint32_t block_size;
	unsigned block_log;		/* block_size == 1 << block_log */
	unsigned cluster_log;		/* blocks of a cluster == 1 << cluster_log */
	uint64_t blocks;
	uint32_t first_data_block;
	uint32_t groups;
	uint32_t blocks_per_group, clusters_per_group;
	uint32_t inodes, inodes_per_group, first_inode;
	uint32_t inode_size;
	uint32_t table_blocks;		/* blocks of an inode table */
	uint32_t desc_size;		/* bytes of a group descriptor */
	uint32_t descs_per_block;
	uint32_t desc_blocks;
	uint8_t *descs;			/* groups * desc_size bytes, as on disk */
	uint8_t *stale;			/* a bit a group: its descriptor is a backup's; NULL when none is */
	uint32_t csum_seed;
	bool metadata_csum, gdt_csum;
	bool huge_file, large_dir, has_64bit, bigalloc, filetype;
	bool hurd;
	const char *type;		/* "ext2", "ext3", "ext4", "jbd" */
	struct feature_set features;
	struct fsa_findings *findings;
	struct ext_table_cache *cache;	/* blocks of inode tables, for reading one inode after another */
	int journal_role;		/* index of the external journal among fs->devices, or -1 */
};

static inline struct ext *ext_of(struct fsa_fs *fs)
{
	return fs->state;
}

/* Byte offset of a block on device 0. */
static inline uint64_t ext_at(const struct ext *e, uint64_t block)
{
	return block << e->block_log;
}

static inline bool ext_compat(const struct ext *e, uint32_t bit) { return e->compat & bit; }
static inline bool ext_incompat(const struct ext *e, uint32_t bit) { return e->incompat & bit; }
static inline bool ext_ro_compat(const struct ext *e, uint32_t bit) { return e->ro_compat & bit; }

/* True when `count` blocks from `block` on can hold something: behind the boot block, before the end. */
static inline bool ext_block_ok(const struct ext *e, uint64_t block, uint64_t count)
{
	return block >= e->first_data_block && block != 0 && fsa_within(block, count, e->blocks);
}

#define EXT_FIND(e, object, number, offset, ...) \
	fsa_find((e)->findings, object, number, offset, __VA_ARGS__)

typedef unsigned long long ull;		/* for printing 64-bit numbers */

/* --- ext_super.c ------------------------------------------------------------------------------------ */
enum fsa_status ext_open(struct fsa_fs *fs, struct fsa_error *err);
enum fsa_status ext_summary(struct fsa_fs *fs, struct fsa_summary *summary);
uint64_t ext_sb_free_blocks(const struct ext *e);	/* in blocks */
bool ext_sb_clean(const struct ext *e);

/* --- ext_feature.c ---------------------------------------------------------------------------------- */
/* Names of all set feature bits; unknown incompatible ones are refused unless forced. */
enum fsa_status ext_features(struct ext *e, const char *image, bool force, struct fsa_error *err);
const char *ext_type_name(const struct ext *e);

/* --- ext_group.c ------------------------------------------------------------------------------------ */
struct ext_group {
	uint64_t block_bitmap, inode_bitmap, inode_table;	/* block numbers */
	uint32_t free_blocks, free_inodes, directories, unused_inodes;	/* free_blocks: clusters */
	uint16_t flags;						/* EXT2_BG_* */
};

/* Where a group's share of superblock and descriptors lies; counts of 0 when it has none. */
struct ext_group_layout {
	uint64_t first;			/* first block of the group */
	uint64_t blocks;		/* fewer in the last group */
	bool has_super;
	uint64_t super_block;		/* block that holds the superblock copy */
	uint64_t desc_first;
	uint32_t desc_count;		/* descriptor blocks */
	uint32_t reserved_count;	/* blocks behind them kept for growing */
};

enum fsa_status ext_read_descs(struct ext *e, struct fsa_error *err);
void ext_group_get(const struct ext *e, uint32_t group, struct ext_group *g);
const uint8_t *ext_group_desc(const struct ext *e, uint32_t group);
void ext_group_layout(const struct ext *e, uint32_t group, struct ext_group_layout *l);
uint64_t ext_desc_offset(const struct ext *e, uint32_t group);	/* of its descriptor in the image */
bool ext_group_has_super(const struct ext *e, uint32_t group);
/* Backups are not kept up to date: places in such a descriptor hold, flags, counts and checksums do not. */
bool ext_group_stale(const struct ext *e, uint32_t group);
bool ext_group_uninit(const struct ext *e, const struct ext_group *g, uint16_t flag);

/* --- ext_bitmap.c ----------------------------------------------------------------------------------- */
/*
 * The bitmap of a group (clusters_per_group or inodes_per_group bits) into `buffer` of block_size bytes;
 * what the format says of an uninitialised one is filled in. False when it could not be read: a finding
 * says why and the buffer is all ones.
 */
bool ext_block_bitmap(struct ext *e, uint32_t group, uint8_t *buffer);
bool ext_inode_bitmap(struct ext *e, uint32_t group, uint8_t *buffer);

/* How many of the first `bits` bits are clear. */
uint32_t ext_count_clear(const uint8_t *bitmap, uint32_t bits);
/* One behind the last set bit of [from, bits); 0 when all of them are clear. */
uint32_t ext_last_set(const uint8_t *bitmap, uint32_t from, uint32_t bits);

static inline bool ext_bit(const uint8_t *bitmap, uint32_t bit)
{
	return bitmap[bit >> 3] >> (bit & 7) & 1;
}

/* --- ext_checksum.c --------------------------------------------------------------------------------- */
/* Each is true when the format has no such checksum or it is right; got and want are for the finding. */
struct ext_csum { uint32_t got, want; };
bool ext_csum_super(const struct ext *e, struct ext_csum *c);
bool ext_csum_desc(const struct ext *e, uint32_t group, const uint8_t *desc, struct ext_csum *c);
bool ext_csum_bitmap(const struct ext *e, uint32_t group, const uint8_t *bitmap, bool inodes, struct ext_csum *c);
bool ext_csum_inode(const struct ext *e, uint32_t ino, const uint8_t *raw, struct ext_csum *c);
bool ext_csum_extent_block(const struct ext *e, uint32_t seed, const uint8_t *block, struct ext_csum *c);
bool ext_csum_xattr_block(const struct ext *e, uint64_t nr, const uint8_t *block, struct ext_csum *c);
bool ext_csum_mmp(const struct ext *e, const uint8_t *block, struct ext_csum *c);
bool ext_csum_orphan_block(const struct ext *e, uint32_t seed, uint64_t nr, const uint8_t *block, struct ext_csum *c);
bool ext_csum_dir_leaf(uint32_t seed, const uint8_t *block, uint32_t size, struct ext_csum *c);
bool ext_csum_dir_index(uint32_t seed, const uint8_t *block, uint32_t count_offset, uint32_t limit, uint32_t count,
			struct ext_csum *c);
uint32_t ext_inode_seed(const struct ext *e, uint32_t ino, uint32_t generation);

/* --- ext_inode.c ------------------------------------------------------------------------------------ */
struct ext_inode {
	uint32_t number;
	uint16_t mode;
	uint32_t uid, gid;
	uint64_t size;
	uint32_t links;
	uint32_t flags;			/* EXT2_*_FL, EXT4_*_FL */
	uint64_t sectors;		/* i_blocks in 512-byte units */
	uint64_t xattr_block;		/* i_file_acl */
	uint32_t generation, deletion_time;
	uint32_t seed;			/* for checksums of what belongs to it */
	uint16_t extra_size;		/* bytes behind the first 128 that are fields */
	bool extra_bad;			/* i_extra_isize makes no sense: taken as 0 */
	uint64_t offset;		/* where the record lies, bytes */
	const uint8_t *raw;		/* inode_size bytes, borrowed */
	enum fsa_type type;
};

/* Decodes the record at `raw`; never fails: what cannot be true is the caller's to report. */
void ext_inode_decode(const struct ext *e, uint32_t ino, const uint8_t *raw, uint64_t offset, struct ext_inode *i);
/* Reads the record of `ino` into `raw` (inode_size bytes, the caller's) and decodes it. */
enum fsa_status ext_inode_read(struct ext *e, uint32_t ino, uint8_t *raw, struct ext_inode *i);
uint64_t ext_inode_offset(const struct ext *e, uint32_t ino);	/* FSA_NO_OFFSET when its table is bad */
/* st_blocks: the kernel adds what inline data of a regular file would take. */
uint64_t ext_st_blocks(const struct ext *e, const struct ext_inode *i);
bool ext_inode_fast_symlink(const struct ext *e, const struct ext_inode *i);
bool ext_inode_inline(const struct ext *e, const struct ext_inode *i);
/* True when i_block holds a map (pointers or an extent tree) rather than data, a target or a number. */
bool ext_inode_mapped(const struct ext *e, const struct ext_inode *i);
void ext_table_cache_free(struct ext_table_cache *cache);
enum fsa_status ext_root(struct fsa_fs *fs, struct fsa_ref *ref);
enum fsa_status ext_stat(struct fsa_fs *fs, struct fsa_ref ref, struct fsa_stat *st);
enum fsa_status ext_ref_of_number(struct fsa_fs *fs, uint64_t number, struct fsa_ref *ref);
enum fsa_status ext_describe(struct fsa_fs *fs, struct fsa_ref ref,
			     void (*line)(void *arg, const char *name, const char *value), void *arg);
/* Reads the inode behind a ref; *raw is malloc'd and the caller's. */
enum fsa_status ext_inode_of(struct ext *e, struct fsa_ref ref, uint8_t **raw, struct ext_inode *i);

/* --- ext_map.c, ext_extent.c ------------------------------------------------------------------------ */
struct ext_piece {
	uint64_t logical;		/* block in the file */
	uint64_t physical;		/* block of the filesystem */
	uint64_t count;			/* blocks, > 0 */
	bool unwritten;
};

/* A block that only maps: an indirect block or a node of the extent tree. */
struct ext_map_node {
	uint64_t block;
	unsigned level;			/* 1 points to data or leaves' extents, more is further up */
	uint32_t used_bytes;		/* header and entries, or pointers up to the last one in use */
	uint32_t tail_bytes;		/* checksum at the end */
	bool extent;			/* node of an extent tree */
	const uint8_t *bytes;		/* block_size of them */
};

struct ext_map_ops {
	enum fsa_status (*piece)(void *arg, const struct ext_piece *piece);
	enum fsa_status (*node)(void *arg, const struct ext_map_node *node);	/* may be NULL */
	void *arg;
	/*
	 * Nodes that were entered before, by any inode: they are given to `node` but not entered again, which
	 * bounds the walk whatever the pointers say. NULL: the walk keeps its own.
	 */
	struct bitset *seen;
};

/*
 * Walks all that an inode maps, in logical order. Damage is a finding about the inode and what it hides
 * is left out; the walk goes on. Returns what a callback returned, or FSA_ENOMEM.
 */
enum fsa_status ext_map_walk(struct ext *e, const struct ext_inode *i, const struct ext_map_ops *ops);
enum fsa_status ext_extent_walk(struct ext *e, const struct ext_inode *i, const struct ext_map_ops *ops);
/* True the first time a node is met. Says what is wrong otherwise. */
bool ext_map_enter(struct ext *e, const struct ext_inode *i, struct bitset *seen, uint64_t block);
/* Bytes of i_block that the root of the map uses (the rest is unused). */
uint32_t ext_map_root_bytes(const struct ext *e, const struct ext_inode *i);
enum fsa_status ext_extents(struct fsa_fs *fs, struct fsa_ref ref, fsa_extent_fn fn, void *arg);
enum fsa_status ext_readlink(struct fsa_fs *fs, struct fsa_ref ref, char **target, size_t *length);

/* --- ext_xattr.c ------------------------------------------------------------------------------------ */
struct ext_xattr {
	uint8_t index;			/* e_name_index */
	uint8_t name_length;
	const uint8_t *name;
	uint32_t value_size;
	uint32_t value_inode;		/* holds the value when not 0 */
	const uint8_t *value;		/* NULL when in an inode */
	uint32_t entry_offset;		/* bytes from the start of the area */
	uint32_t value_offset;		/* likewise; meaningless with value_inode */
};

/* An area of attributes: the rest of an inode record, or a block. */
struct ext_xattr_area {
	const char *object;		/* "inode" or "xattr block", with number, for findings */
	uint64_t number;
	uint64_t offset;		/* of the area in the image */
	const uint8_t *bytes;
	uint32_t size;
	uint32_t first_entry;		/* offset of the first entry in the area */
	uint32_t value_base;		/* e_value_offs counts from here */
};

typedef enum fsa_status (*ext_xattr_fn)(void *arg, const struct ext_xattr *x);
/* Lists the entries; *end is the offset behind the last one with its terminator. Damage is a finding. */
enum fsa_status ext_xattr_each(struct ext *e, const struct ext_xattr_area *a, ext_xattr_fn fn, void *arg,
			       uint32_t *end);
/* The in-inode area; false when the inode has none (or no room or no magic). */
bool ext_xattr_in_inode(const struct ext *e, const struct ext_inode *i, struct ext_xattr_area *a);
/* Reads and checks the block `nr` into `buffer`; false when it is no attribute block: a finding says so. */
bool ext_xattr_read_block(struct ext *e, uint64_t nr, uint32_t ino, uint8_t *buffer, struct ext_xattr_area *a);
enum fsa_status ext_xattrs(struct fsa_fs *fs, struct fsa_ref ref, fsa_xattr_fn fn, void *arg);
/* Inline data behind i_block: the value of "system.data"; false when there is none. */
bool ext_inline_rest(struct ext *e, const struct ext_inode *i, struct ext_xattr *x, uint64_t *image_offset);

/* --- ext_dir.c -------------------------------------------------------------------------------------- */
struct ext_dir_entry {
	uint32_t inode;
	uint32_t rec_len;
	uint32_t name_length;
	const uint8_t *name;
	uint8_t file_type;		/* EXT2_FT_*, 0 when the format has none */
	uint32_t offset;		/* in the block */
	uint32_t used_bytes;		/* of rec_len: header, name, padding, hash */
};

enum ext_dir_block_kind { EXT_DIR_LEAF, EXT_DIR_ROOT, EXT_DIR_INDEX };

struct ext_dir_block {
	enum ext_dir_block_kind kind;
	uint32_t count_offset;		/* of limit and count, in index blocks */
	uint32_t limit, count;
	bool tail;			/* ends with a checksum */
};

/* What block `logical` of directory `i` is. */
void ext_dir_classify(const struct ext *e, const struct ext_inode *i, uint64_t logical, const uint8_t *block,
		      struct ext_dir_block *b);
/*
 * Lists the entries of a run of directory bytes (a block without its tail, or an inline part), empty ones
 * (inode 0) included. False when an entry is malformed: a finding is made, what follows is not listed and
 * *bad is its offset.
 */
typedef enum fsa_status (*ext_dir_entry_fn)(void *arg, const struct ext_dir_entry *entry);
enum fsa_status ext_dir_entries(struct ext *e, const struct ext_inode *i, const uint8_t *bytes, uint32_t size,
				uint64_t image_offset, ext_dir_entry_fn fn, void *arg, uint32_t *bad);
enum fsa_status ext_readdir(struct fsa_fs *fs, struct fsa_ref ref, fsa_dirent_fn fn, void *arg);
enum fsa_type ext_type_of_dirent(uint8_t file_type);

/* --- ext_journal.c ---------------------------------------------------------------------------------- */
struct ext_journal {
	bool found;
	uint32_t block_size, blocks, first, start, sequence;
	uint32_t fast_commit_blocks;
};

/* Reads and reports on a journal superblock. */
bool ext_journal_super(struct ext *e, const uint8_t *block, unsigned device, uint64_t offset,
		       const char *object, uint64_t number, struct ext_journal *j);
enum fsa_status ext_journal_device_audit(struct ext *e, struct fsa_claims *claims, unsigned device);

/* --- ext_orphan.c ----------------------------------------------------------------------------------- */
struct ext_orphans {
	uint32_t *inode;		/* sorted */
	size_t count;
};
/* Gathers the orphan list and the orphan file. Findings when it is broken. */
enum fsa_status ext_orphans_read(struct ext *e, struct ext_orphans *o);
bool ext_orphans_has(const struct ext_orphans *o, uint32_t ino);
void ext_orphans_free(struct ext_orphans *o);

/* --- ext_statfs.c ----------------------------------------------------------------------------------- */
enum fsa_status ext_statfs(struct fsa_fs *fs, bool read_only, struct fsa_statfs *s);

/* --- ext_audit*.c ----------------------------------------------------------------------------------- */
enum fsa_status ext_geometry(struct fsa_fs *fs, struct fsa_ledger *ledger);
enum fsa_status ext_audit(struct fsa_fs *fs, struct fsa_audit *audit);

#endif
