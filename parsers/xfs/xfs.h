/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of the XFS parser share. Nothing outside parsers/xfs includes it. Names begin with xf_
 * because the format headers own xfs_.
 */
#ifndef FSA_XFS_H
#define FSA_XFS_H

#include "xfs_disk.h"
#include "../core/bitset.h"
#include "../core/feature.h"
#include "fsa/checksum.h"
#include "fsa/parser.h"

/* Details: purposes in XFS's own words. The order is the one in which `audit -v` shows them. */
enum xf_detail {
	XF_D_SUPERBLOCK,
	XF_D_SUPERBLOCK_COPY,
	XF_D_AGF,
	XF_D_AGI,
	XF_D_AGFL,
	XF_D_AGFL_BLOCKS,
	XF_D_BNOBT,
	XF_D_CNTBT,
	XF_D_INOBT,
	XF_D_FINOBT,
	XF_D_RMAPBT,
	XF_D_REFCBT,
	XF_D_RT_BITMAP,
	XF_D_RT_SUMMARY,
	XF_D_LOG,
	XF_D_INODE,
	XF_D_INODE_FREE,
	XF_D_INODE_DELETED,
	XF_D_DIR_SHORT,
	XF_D_DIR_HEADER,
	XF_D_DIRENT,
	XF_D_DIR_INDEX,
	XF_D_DIR_FREE_INDEX,
	XF_D_EXTENTS_INODE,
	XF_D_BMBT_ROOT,
	XF_D_BMBT,
	XF_D_XATTR_SHORT,
	XF_D_XATTR_LEAF,
	XF_D_XATTR_NODE,
	XF_D_XATTR_VALUE,
	XF_D_SYMLINK_INODE,
	XF_D_SYMLINK,
	XF_D_FREE_HEADERS,
	XF_D_FREE_BTREE,
	XF_D_FREE_FORK,
	XF_D_FREE_DIRECTORY,
	XF_D_FREE_BMBT,
	XF_D_FREE_XATTR,
	XF_D_FREE_SYMLINK,
	XF_D_FREE_QUOTA,
	XF_D_QUOTA,
	XF_D_FILE_DATA,
	XF_D_SLACK,
	XF_D_UNWRITTEN,
	XF_D_BEYOND_EOF,
	XF_D_COW_STAGING,
	XF_D_DELETED_OPEN,
	XF_DETAILS
};

extern const struct fsa_detail xf_details[XF_DETAILS];

struct xf {
	struct fsa_fs *fs;
	struct fsa_findings *findings;
	uint8_t sb[512];
	bool log_device;		/* an external log on its own: only `log_*` below is set */
	bool from_copy;			/* the superblock is that of another group */
	bool v5;
	uint32_t block_size, sector_size, inode_size, dir_block;	/* bytes */
	unsigned block_log, inode_log, inopb_log, agblk_log, agino_log;
	uint32_t inopb;			/* inodes in a block */
	uint64_t blocks;		/* of the data device */
	uint64_t rt_blocks, rt_extents;
	uint32_t rt_extent_size;	/* blocks */
	uint32_t ag_blocks, ag_count;
	uint32_t ags;			/* of them, those the image reaches into */
	uint32_t header_blocks;		/* blocks that the four header sectors of an AG take */
	uint64_t log_start;		/* fsblock; 0: external */
	uint32_t log_blocks;
	uint64_t root_ino, rbm_ino, rsum_ino, quota_ino[3];	/* NULLFSINO when none */
	uint8_t uuid[16];		/* that metadata carries */
	bool ftype, finobt, rmapbt, reflink, inobtcnt, sparse, lazy, projid32, ascii_ci, log_v2;
	uint32_t compat, ro_compat, incompat, log_incompat, features2;
	uint16_t version;
	struct feature_set features;
	int log_role, rt_role;		/* index among fs->devices, or -1 */
	bool log_known, log_dirty;	/* by xf_log_check */
};

static inline struct xf *xf_of(struct fsa_fs *fs)
{
	return fs->state;
}

typedef unsigned long long ull;		/* for printing 64-bit numbers */

#define XF_FIND(x, object, number, offset, ...) fsa_find((x)->findings, object, number, offset, __VA_ARGS__)

/* --- addresses --------------------------------------------------------------------------------------- */

static inline uint64_t xf_at(const struct xf *x, uint64_t block)
{
	return block << x->block_log;
}

/* Blocks of an allocation group: the last may be shorter. */
static inline uint32_t xf_ag_length(const struct xf *x, uint32_t ag)
{
	uint64_t left = x->blocks - (uint64_t)ag * x->ag_blocks;

	return (uint32_t)fsa_min(left, x->ag_blocks);
}

/* A block of an AG as the ledger counts blocks: without the holes that fsblock numbers have. */
static inline uint64_t xf_linear(const struct xf *x, uint32_t ag, uint32_t block)
{
	return (uint64_t)ag * x->ag_blocks + block;
}

static inline bool xf_ag_block_ok(const struct xf *x, uint32_t ag, uint64_t block, uint64_t count)
{
	return ag < x->ag_count && block >= x->header_blocks && fsa_within(block, count, xf_ag_length(x, ag));
}

/* Splits an fsblock number; false when `count` blocks there leave the AG. */
static inline bool xf_fsb(const struct xf *x, uint64_t fsb, uint64_t count, uint32_t *ag, uint32_t *block)
{
	uint64_t a = fsb >> x->agblk_log, b = fsb & ((UINT64_C(1) << x->agblk_log) - 1);

	if (a >= x->ag_count || !xf_ag_block_ok(x, (uint32_t)a, b, count))
		return false;
	*ag = (uint32_t)a;
	*block = (uint32_t)b;
	return true;
}

static inline uint32_t xf_short_header(const struct xf *x) { return x->v5 ? XF_SHORT_HEADER5 : XF_SHORT_HEADER4; }
static inline uint32_t xf_long_header(const struct xf *x) { return x->v5 ? XF_LONG_HEADER5 : XF_LONG_HEADER4; }

/* --- xfs_super.c, xfs_feature.c ---------------------------------------------------------------------- */
enum fsa_status xf_open(struct fsa_fs *fs, struct fsa_error *err);
enum fsa_status xf_summary(struct fsa_fs *fs, struct fsa_summary *summary);
/* What must be true of x->sb before anything else in it can be used. */
enum fsa_status xf_read_shape(struct xf *x, const char *image, struct fsa_error *err);
enum fsa_status xf_features(struct xf *x, const char *image, bool force, struct fsa_error *err);

/* --- xfs_backup.c ------------------------------------------------------------------------------------ */
/* Whether the first group's AGF and AGI are where they should be: an XFS, whatever its superblock. */
bool xf_has_ag_headers(struct fsa_image *image);
/* Finds a copy that can be used; then x->sb is it, *at where it lies. */
bool xf_backup_find(struct xf *x, uint64_t *at);
/* Counters of a superblock that is a copy: from the groups' headers. */
void xf_backup_count(struct xf *x);

/* --- xfs_check.c: what a v5 block says about itself -------------------------------------------------- */
/* The checksum at `field`, in `length` bytes: false when wrong. */
bool xf_crc_ok(const uint8_t *bytes, size_t length, size_t field, uint32_t *got, uint32_t *want);
struct xf_self {
	const char *object;
	uint64_t number;
	const char *what;		/* "directory block" */
	size_t crc, blkno, uuid, owner;	/* offsets of the fields */
	unsigned owner_bytes;		/* 4 or 8 */
	uint64_t want_owner;
};
/* Findings when checksum, place, uuid or owner are not right; false when any is not. */
bool xf_check_self(const struct xf *x, const struct xf_self *s, const uint8_t *bytes, size_t length, uint64_t offset);

/* --- xfs_ag.c ---------------------------------------------------------------------------------------- */
enum xf_tree { XF_BNO, XF_CNT, XF_INO, XF_FINO, XF_RMAP, XF_REFC, XF_TREES };

struct xf_ag {
	uint32_t number, length;
	bool agf_ok, agi_ok, agfl_ok;
	uint32_t root[XF_TREES], level[XF_TREES];
	bool has[XF_TREES];
	uint32_t fl_first, fl_last, fl_count, free_blocks, longest, btree_blocks, rmap_blocks, refc_blocks;
	uint32_t inodes, free_inodes, ino_blocks, fino_blocks;
	uint32_t unlinked[XFS_AGI_UNLINKED_BUCKETS];
};

/* Reads the header sectors of an AG into `sectors` (4 * sector_size bytes, the caller's) and decodes them. */
void xf_ag_read(struct xf *x, uint32_t number, uint8_t *sectors, struct xf_ag *a);
/* Calls `fn` for each block on the AGFL. */
enum fsa_status xf_agfl_each(struct xf *x, const struct xf_ag *a, const uint8_t *sectors,
			     enum fsa_status (*fn)(void *arg, uint32_t block), void *arg);

/* --- xfs_btree.c ------------------------------------------------------------------------------------- */
struct xf_tree_type {
	const char *name;
	uint32_t magic4, magic5;
	uint8_t record, key;		/* bytes */
	enum xf_detail detail;
};
extern const struct xf_tree_type xf_tree_types[XF_TREES];

struct xf_tree_block {
	uint64_t block;			/* linear */
	unsigned level;
	uint32_t count, max;		/* records or pointers in it, room for */
	uint32_t header, record, key, pointer;	/* bytes */
	const uint8_t *bytes;
};

struct xf_tree_ops {
	enum fsa_status (*record)(void *arg, const uint8_t *record, uint64_t offset);
	enum fsa_status (*block)(void *arg, const struct xf_tree_block *block);	/* may be NULL */
	void *arg;
	struct bitset *seen;		/* blocks entered by any tree; NULL: the walk is bounded by its own */
};

/* Walks a tree of an AG from its root. Damage is a finding and what it hides is left out. */
enum fsa_status xf_tree_walk(struct xf *x, const struct xf_ag *a, enum xf_tree tree, const struct xf_tree_ops *ops);
/* Parts of a tree block: header, records in use; the rest is `rest`. */
void xf_tree_book(struct fsa_claims *claims, const struct xf_tree_block *b, enum xf_detail detail, enum xf_detail rest,
		  unsigned flags, const struct fsa_owner *owner);

/* --- xfs_inode.c ------------------------------------------------------------------------------------- */
struct xf_fork {
	uint8_t format;			/* enum xfs_dinode_fmt */
	bool attr;
	uint32_t offset, size;		/* in the record */
	const uint8_t *bytes;
	uint64_t extents;		/* as the inode counts them */
};

struct xf_inode {
	uint64_t number;
	uint64_t offset;		/* of the record in the image */
	const uint8_t *raw;		/* inode_size bytes, borrowed */
	uint8_t version;
	uint16_t mode;
	enum fsa_type type;
	uint32_t uid, gid, links, project, generation, next_unlinked;
	uint64_t size, blocks;		/* blocks: di_nblocks */
	uint16_t flags;
	uint64_t flags2;
	uint32_t core;			/* bytes before the data fork */
	bool realtime;			/* data lies on the realtime device */
	bool bad_fork;			/* di_forkoff leaves the record */
	struct xf_fork data, attr;	/* attr.size 0: none */
};

void xf_inode_decode(const struct xf *x, uint64_t ino, const uint8_t *raw, uint64_t offset, struct xf_inode *i);
/* Where the record of `ino` lies; FSA_NO_OFFSET when that is nowhere. */
uint64_t xf_inode_offset(const struct xf *x, uint64_t ino);
/* Reads the record of `ino` into *raw (malloc'd, the caller's) and decodes it; checks magic. */
enum fsa_status xf_inode_of(struct xf *x, uint64_t ino, uint8_t **raw, struct xf_inode *i);
enum fsa_status xf_root(struct fsa_fs *fs, struct fsa_ref *ref);
enum fsa_status xf_stat(struct fsa_fs *fs, struct fsa_ref ref, struct fsa_stat *st);
enum fsa_status xf_ref_of_number(struct fsa_fs *fs, uint64_t number, struct fsa_ref *ref);
enum fsa_status xf_describe(struct fsa_fs *fs, struct fsa_ref ref,
			    void (*line)(void *arg, const char *name, const char *value), void *arg);

/* --- xfs_map.c --------------------------------------------------------------------------------------- */
struct xf_piece {
	uint64_t logical;		/* block in the file */
	uint64_t block;			/* linear on the data device, or on the realtime device */
	uint64_t count;
	uint32_t ag, ag_block;		/* data device only */
	bool realtime, unwritten;
};

struct xf_map_ops {
	enum fsa_status (*piece)(void *arg, const struct xf_piece *piece);
	enum fsa_status (*node)(void *arg, const struct xf_tree_block *block);	/* may be NULL */
	void *arg;
	struct bitset *seen;		/* nodes entered by any map; NULL: bounded by the fork's own size */
};

/* Walks all that a fork maps, in logical order. Damage is a finding; what it hides is left out. */
enum fsa_status xf_map_walk(struct xf *x, const struct xf_inode *i, const struct xf_fork *f, const struct xf_map_ops *ops);
/* Bytes of the fork that extents, or the root of its tree, take. */
uint32_t xf_map_root_bytes(const struct xf *x, const struct xf_fork *f, uint32_t *pointers_at, uint32_t *pointer_bytes);

/* A fork's pieces as an array: for forks that are read by block number. */
struct xf_pieces { struct xf_piece *p; size_t n, room; uint64_t blocks; };
enum fsa_status xf_pieces_read(struct xf *x, const struct xf_inode *i, const struct xf_fork *f, struct xf_pieces *p);
/* The linear block of file block `logical`; false in a hole. */
bool xf_pieces_find(const struct xf_pieces *p, uint64_t logical, uint64_t *block);
/* Reads `count` file blocks at `logical` into `buffer`; false when any is a hole or cannot be read. */
bool xf_pieces_get(struct xf *x, const struct xf_pieces *p, uint64_t logical, uint32_t count, uint8_t *buffer,
		   const char *object, uint64_t number);

/* --- xfs_file.c -------------------------------------------------------------------------------------- */
enum fsa_status xf_extents(struct fsa_fs *fs, struct fsa_ref ref, fsa_extent_fn fn, void *arg);
enum fsa_status xf_readlink(struct fsa_fs *fs, struct fsa_ref ref, char **target, size_t *length);

/* --- xfs_dir.c --------------------------------------------------------------------------------------- */
struct xf_dirent {
	uint64_t inode;
	const uint8_t *name;
	uint32_t name_length;
	uint8_t file_type;		/* XFS_DIR3_FT_*, 0 when the format has none */
	uint32_t offset, length;	/* in the block or fork */
	uint32_t used;			/* of length, without padding */
};

typedef enum fsa_status (*xf_dirent_fn)(void *arg, const struct xf_dirent *entry);

/* The entries of a directory in the inode. *end is where the last good one ends in the fork. */
enum fsa_status xf_dir_short(struct xf *x, const struct xf_inode *i, uint64_t *parent, xf_dirent_fn fn, void *arg, uint32_t *end);

enum xf_dir_kind { XF_DIR_DATA, XF_DIR_BLOCK, XF_DIR_LEAF1, XF_DIR_LEAFN, XF_DIR_NODE, XF_DIR_FREE, XF_DIR_BAD };
/* What a directory block is, by magic and by where it lies in the file; checks what it says of itself. */
enum xf_dir_kind xf_dir_classify(struct xf *x, const struct xf_inode *i, uint64_t logical, uint64_t block, const uint8_t *bytes);
uint32_t xf_dir_header(const struct xf *x);
/* The entries of a data (or block-format) directory block. `unused` gets free stretches; *bad is where it broke off. */
enum fsa_status xf_dir_entries(struct xf *x, const struct xf_inode *i, const uint8_t *bytes, uint32_t end, uint64_t offset,
			       xf_dirent_fn fn, enum fsa_status (*unused)(void *arg, uint32_t at, uint32_t length), void *arg,
			       uint32_t *bad);
/* Where the entries of a block-format block end: the index follows. */
uint32_t xf_dir_block_end(struct xf *x, const struct xf_inode *i, const uint8_t *bytes, uint64_t offset);
uint32_t xf_dir_hash(const struct xf *x, const uint8_t *name, uint32_t length, bool directory);
enum fsa_status xf_readdir(struct fsa_fs *fs, struct fsa_ref ref, fsa_dirent_fn fn, void *arg);
enum fsa_type xf_type_of_dirent(uint8_t file_type);

/* First file block of the index and of the free index. */
static inline uint64_t xf_dir_leaf_start(const struct xf *x) { return XFS_DIR2_LEAF_OFFSET >> x->block_log; }
static inline uint64_t xf_dir_free_start(const struct xf *x) { return XFS_DIR2_FREE_OFFSET >> x->block_log; }

/* --- xfs_attr.c -------------------------------------------------------------------------------------- */
struct xf_attr {
	uint8_t flags;
	const uint8_t *name;
	uint32_t name_length;
	uint32_t value_length;
	const uint8_t *value;		/* NULL when remote */
	uint32_t remote;		/* file block of the value when remote */
	uint32_t offset, used, length;	/* of name and value in the block or fork, with padding */
};

typedef enum fsa_status (*xf_attr_fn)(void *arg, const struct xf_attr *attr);
enum fsa_status xf_attr_short(struct xf *x, const struct xf_inode *i, xf_attr_fn fn, void *arg, uint32_t *end);
/* One leaf; *entries_end is where its entry table ends. False in *ok when it is no leaf. */
enum fsa_status xf_attr_leaf(struct xf *x, const struct xf_inode *i, const uint8_t *bytes, uint64_t offset, xf_attr_fn fn,
			     void *arg, uint32_t *entries_end);
/* Walks the tree of an attribute fork: each node and leaf once. */
struct xf_attr_block {
	uint64_t logical, block;
	const uint8_t *bytes;
	bool leaf;
	uint32_t count;			/* pointers of a node */
};
typedef enum fsa_status (*xf_attr_block_fn)(void *arg, const struct xf_attr_block *block);
enum fsa_status xf_attr_tree(struct xf *x, const struct xf_inode *i, const struct xf_pieces *p, xf_attr_block_fn fn, void *arg);
/* Blocks that a remote value of `length` bytes takes. */
uint32_t xf_attr_remote_blocks(const struct xf *x, uint32_t length);
enum fsa_status xf_xattrs(struct fsa_fs *fs, struct fsa_ref ref, fsa_xattr_fn fn, void *arg);

/* --- xfs_log.c --------------------------------------------------------------------------------------- */
/* Finds head and tail; a finding when there is work. Sets log_known and log_dirty. */
void xf_log_check(struct xf *x);

/* --- xfs_statfs.c ------------------------------------------------------------------------------------ */
enum fsa_status xf_statfs(struct fsa_fs *fs, bool read_only, struct fsa_statfs *s);

/* --- xfs_audit*.c ------------------------------------------------------------------------------------ */
enum fsa_status xf_geometry(struct fsa_fs *fs, struct fsa_ledger *ledger);
enum fsa_status xf_audit(struct fsa_fs *fs, struct fsa_audit *audit);

#endif
