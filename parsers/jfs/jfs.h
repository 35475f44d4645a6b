/* SPDX-License-Identifier: GPL-2.0-only */
/* What the parts of the JFS parser share. Layouts are in jfs_disk.h. */
#ifndef FSA_JFS_H
#define FSA_JFS_H

#include "../core/bitset.h"
#include "../core/feature.h"
#include "fsa/parser.h"
#include "jfs_disk.h"

enum jfs_detail {
	JFS_D_BOOT,
	JFS_D_SUPERBLOCK,
	JFS_D_SUPERBLOCK_COPY,
	JFS_D_IMAP_CONTROL,
	JFS_D_IAG,
	JFS_D_IAG_EXTENTS,
	JFS_D_BMAP_CONTROL,
	JFS_D_DMAPCTL,
	JFS_D_DMAP,
	JFS_D_SECONDARY_MAP,
	JFS_D_SECONDARY_TABLE,
	JFS_D_MAP_XTREE,
	JFS_D_LOG_SUPER,
	JFS_D_LOG,
	JFS_D_AGGREGATE_INODE,
	JFS_D_INODE,
	JFS_D_INODE_DELETED,
	JFS_D_INODE_FREE,
	JFS_D_AGGREGATE_FREE,
	JFS_D_DTREE_ROOT,
	JFS_D_DTREE,
	JFS_D_DTREE_INTERNAL,
	JFS_D_DIR_TABLE,
	JFS_D_XTREE_ROOT,
	JFS_D_XTREE,
	JFS_D_DIR_XTREE,
	JFS_D_EA_INLINE,
	JFS_D_EA,
	JFS_D_ACL,
	JFS_D_SYMLINK_INLINE,
	JFS_D_SYMLINK,
	JFS_D_FREE_SUPER,
	JFS_D_FREE_IMAP,
	JFS_D_FREE_BMAP,
	JFS_D_FREE_LOG,
	JFS_D_FREE_INODE,
	JFS_D_FREE_DTREE,
	JFS_D_FREE_XTREE,
	JFS_D_FREE_EA,
	JFS_D_FREE_SYMLINK,
	JFS_D_FILE_DATA,
	JFS_D_SLACK,
	JFS_D_UNWRITTEN,
	JFS_D_BEYOND_EOF,
	JFS_D_DELETED,
	JFS_D_FSCK_SPACE,
	JFS_D_FSCK_LOG,
	JFS_D_LOG_UNUSED,
	JFS_D_BMAP_SPARE,
	JFS_D_BAD_BLOCKS,
	JFS_D_UNMAPPED_GAP,
	JFS_DETAILS
};

extern const struct fsa_detail jfs_details[JFS_DETAILS];

/* A run of pages or blocks of a file. */
struct jfs_piece {
	uint64_t logical;		/* block in the file */
	uint64_t physical;		/* block of the filesystem */
	uint64_t count;			/* > 0 */
	bool unwritten;
};

struct jfs_pieces {
	struct jfs_piece *p;
	size_t n, room;
	uint64_t blocks;		/* of all pieces */
};

/* The three maps of inodes: the aggregate's, its copy, and the fileset's. */
enum jfs_map_kind { JFS_MAP_AGGREGATE, JFS_MAP_SECONDARY, JFS_MAP_FILESET, JFS_MAPS };

struct jfs_extent_range {
	uint64_t block, count;
	bool ok;			/* not empty and within the image's blocks */
};

struct jfs {
	struct fsa_fs *fs;
	struct fsa_findings *findings;
	uint8_t sb[JFS_PAGE];		/* the superblock page that is used */
	uint64_t sb_offset;
	uint64_t blocks;		/* that the block map covers */
	uint64_t all_blocks;		/* with fsck work space and log behind them */
	uint32_t flags, state;
	struct jfs_extent_range fsck_space, log, ait2, aim2;
	uint8_t ait[2][4 * JFS_PAGE];	/* first inode extents of the aggregate inode table and its copy */
	bool ait_ok[2];
	unsigned ait_used;		/* 1 when the primary table cannot be used */
	struct jfs_pieces imap;		/* where the fileset's inode map lies */
	uint32_t iags;			/* pages of it behind the control page */
	uint8_t imap_control[JFS_PAGE];
	bool imap_control_ok;
	uint8_t bmap_control[JFS_PAGE];
	bool bmap_control_ok;
	struct jfs_pieces bmap;
	uint32_t inostamp;		/* that inodes of the fileset carry */
	/* The IAG read last: walks ask for inodes that lie together. */
	uint8_t iag[JFS_PAGE];
	uint32_t iag_number;
	bool have_iag;
	struct feature_set features;
	int log_role;			/* index of the external log among fs->devices, or -1 */
	bool log_device;		/* the image is an external log and nothing else */
};

static inline struct jfs *jfs_of(struct fsa_fs *fs)
{
	return fs->state;
}

static inline uint64_t jfs_at(uint64_t block)
{
	return block << JFS_L2PAGE;
}

/* True when `count` blocks from `block` on are ones that a file or a map may have. */
static inline bool jfs_block_ok(const struct jfs *j, uint64_t block, uint64_t count)
{
	return block > JFS_SUPER1_OFFSET >> JFS_L2PAGE && fsa_within(block, count, j->blocks);
}

static inline uint64_t jfs_image_blocks(const struct jfs *j)
{
	return fsa_image_size(j->fs->devices[0].image) >> JFS_L2PAGE;
}

#define JFS_FIND(j, object, number, offset, ...) fsa_find((j)->findings, object, number, offset, __VA_ARGS__)

typedef unsigned long long ull;		/* for printing 64-bit numbers */

/* Grows an array to hold one more element; false when memory ran out. */
bool jfs_room(void **array, size_t *room, size_t count, size_t size);

#define JFS_SB32(sb, field) FSA_LE(uint32_t, sb, struct jfs_superblock, field)
#define JFS_SB16(sb, field) FSA_LE(uint16_t, sb, struct jfs_superblock, field)
#define JFS_SB64(sb, field) FSA_LE(uint64_t, sb, struct jfs_superblock, field)
#define JFS_BC32(p, field) FSA_LE(uint32_t, p, struct jfs_bmap_control, field)
#define JFS_BC64(p, field) FSA_LE(uint64_t, p, struct jfs_bmap_control, field)
#define JFS_IC32(p, field) FSA_LE(uint32_t, p, struct jfs_imap_control, field)

/* --- jfs_super.c ------------------------------------------------------------------------------------- */
enum fsa_status jfs_open(struct fsa_fs *fs, struct fsa_error *err);
void jfs_close(struct fsa_fs *fs);
enum fsa_status jfs_summary(struct fsa_fs *fs, struct fsa_summary *summary);
bool jfs_is_clean(const struct jfs *j);

/* --- jfs_feature.c ----------------------------------------------------------------------------------- */
enum fsa_status jfs_features(struct jfs *j, const char *image, bool force, struct fsa_error *err);

/* --- jfs_statfs.c ------------------------------------------------------------------------------------ */
enum fsa_status jfs_statfs(struct fsa_fs *fs, bool read_only, struct fsa_statfs *s);

/* --- jfs_inode.c ------------------------------------------------------------------------------------- */
struct jfs_inode {
	uint32_t number;
	bool aggregate;
	uint32_t stamp, fileset, said_number, generation;
	uint64_t size, blocks;
	uint32_t links, uid, gid, mode;		/* mode with JFS_MODE_* */
	uint32_t next_index;
	enum fsa_type type;
	uint64_t ixpxd_address;
	uint32_t ixpxd_length;
	uint8_t ea_flag, acl_flag;
	uint32_t ea_size, acl_size;		/* bytes */
	uint64_t ea_address, acl_address;
	uint32_t ea_length, acl_length;		/* blocks */
	uint64_t offset;			/* where the record lies, bytes */
	const uint8_t *raw;			/* JFS_INODE_SIZE bytes, borrowed */
};

void jfs_inode_decode(uint32_t number, bool aggregate, const uint8_t *raw, uint64_t offset, struct jfs_inode *i);
/* Reads the record of a fileset inode into `raw` (JFS_INODE_SIZE bytes, the caller's). */
enum fsa_status jfs_inode_read(struct jfs *j, uint32_t number, uint8_t *raw, struct jfs_inode *i);
/* The target lies in the record. */
bool jfs_inode_fast_symlink(const struct jfs_inode *i);
/* di_tree holds an xtree. */
bool jfs_inode_mapped(const struct jfs_inode *i);
bool jfs_inode_inline_ea(const struct jfs_inode *i);
/* A directory whose table of positions is in the record rather than in an xtree of its own. */
bool jfs_dir_table_inline(const struct jfs_inode *i);
enum fsa_status jfs_root(struct fsa_fs *fs, struct fsa_ref *ref);
enum fsa_status jfs_stat(struct fsa_fs *fs, struct fsa_ref ref, struct fsa_stat *st);
enum fsa_status jfs_ref_of_number(struct fsa_fs *fs, uint64_t number, struct fsa_ref *ref);
enum fsa_status jfs_describe(struct fsa_fs *fs, struct fsa_ref ref,
			     void (*line)(void *arg, const char *name, const char *value), void *arg);

/* --- jfs_imap.c -------------------------------------------------------------------------------------- */
/* The block of page `page` of a map, or 0. */
uint64_t jfs_pieces_find(const struct jfs_pieces *p, uint64_t page);
/* The pieces of an aggregate inode, those that leave the image cut off with a finding. */
enum fsa_status jfs_pieces_of(struct jfs *j, const struct jfs_inode *i, struct jfs_pieces *p);
void jfs_pieces_free(struct jfs_pieces *p);
/* Reads IAG `n` of the fileset into j->iag; the finding is made when it cannot be had. */
enum fsa_status jfs_iag_read(struct jfs *j, uint32_t n);
void jfs_aggregate_inode(const struct jfs *j, unsigned table, uint32_t number, struct jfs_inode *i);

static inline bool jfs_map_bit(const uint8_t *map, uint32_t bit)
{
	return fsa_get_le32(map + (bit >> 5) * 4) >> (31 - (bit & 31)) & 1;
}

/* --- jfs_xtree.c ------------------------------------------------------------------------------------- */
struct jfs_node {
	uint64_t block;
	uint32_t used_bytes;		/* header and entries */
	bool leaf;
};

struct jfs_xtree_ops {
	enum fsa_status (*piece)(void *arg, const struct jfs_piece *piece);
	enum fsa_status (*node)(void *arg, const struct jfs_node *node);	/* may be NULL */
	void *arg;
	/* Nodes entered before by any walk: given to `node`, not entered again. NULL: the walk keeps its own. */
	struct bitset *seen;
	bool check_siblings;
};

/* Where the root of an xtree lies in the record of an inode. */
struct jfs_xtree_root {
	uint32_t at;			/* bytes */
	uint32_t slots;			/* at most, the header's two included */
};

struct jfs_xtree_root jfs_xtree_root_of(const struct jfs_inode *i);
/* Bytes of the root that are in use; what makes no sense is cut. */
uint32_t jfs_xtree_root_bytes(const struct jfs_inode *i, uint32_t *room);
enum fsa_status jfs_xtree_walk(struct jfs *j, const struct jfs_inode *i, const struct jfs_xtree_ops *ops);
/* Files: pieces as the reader wants them. */
enum fsa_status jfs_extents(struct fsa_fs *fs, struct fsa_ref ref, fsa_extent_fn fn, void *arg);
enum fsa_status jfs_readlink(struct fsa_fs *fs, struct fsa_ref ref, char **target, size_t *length);

/* --- jfs_dtree.c ------------------------------------------------------------------------------------- */
#define JFS_NAME_UNITS 255u

struct jfs_dirent {
	uint32_t inode;
	uint32_t index;			/* in the directory table; 0 when the format has none */
	unsigned units;
	uint16_t name[JFS_NAME_UNITS];
	unsigned place;			/* in the sorted table of its node */
	uint64_t block;			/* its node, 0 for the root */
	uint64_t offset;		/* of the head slot in the image */
};

/* A node of a directory, with what each slot is for. */
struct jfs_dt_node {
	uint64_t block;			/* 0: root, in the record */
	const uint8_t *bytes;
	unsigned slots;			/* 9 in the root, else 128 */
	unsigned entries;
	unsigned stbl_slot, stbl_slots;	/* where the sorted table lies; the root's is in its header */
	bool leaf;
	uint64_t offset;		/* in the image */
	/* Bytes in use at the front of each slot and, with `tail`, the last four: an entry's index. */
	uint8_t used[128];
	bool tail[128];
};

struct jfs_dtree_ops {
	enum fsa_status (*entry)(void *arg, const struct jfs_dirent *entry);
	enum fsa_status (*node)(void *arg, const struct jfs_dt_node *node);	/* may be NULL; after its entries */
	void *arg;
	struct bitset *seen;		/* as in xtree walks */
	bool check;			/* also what a reader does not need: free slots, order, siblings */
};

enum fsa_status jfs_dtree_walk(struct jfs *j, const struct jfs_inode *i, const struct jfs_dtree_ops *ops);
uint32_t jfs_dtree_parent(const uint8_t *raw);	/* of a directory's record */
/* The order of a directory's names: below, at or above 0. */
int jfs_compare_names(const uint16_t *a, unsigned a_units, const uint16_t *b, unsigned b_units, bool ignore_case);

/* --- jfs_upper.c ------------------------------------------------------------------------------------- */
uint16_t jfs_upper(uint16_t unit);

/* --- jfs_dir.c --------------------------------------------------------------------------------------- */
#define JFS_NAME_BYTES (3u * JFS_NAME_UNITS)
/* A name as bytes: one a unit when all fit, as the kernel does by default, else UTF-8. */
size_t jfs_name_bytes(const uint16_t *units, unsigned count, uint8_t out[JFS_NAME_BYTES]);
enum fsa_status jfs_readdir(struct fsa_fs *fs, struct fsa_ref ref, fsa_dirent_fn fn, void *arg);

/* --- jfs_xattr.c ------------------------------------------------------------------------------------- */
struct jfs_ea {
	const uint8_t *name;		/* namelen bytes, a NUL behind them */
	uint8_t name_length;
	const uint8_t *value;
	uint16_t value_length;
};

typedef enum fsa_status (*jfs_ea_fn)(void *arg, const struct jfs_ea *ea);
/* The list of an inode's attributes: malloc'd into *bytes, NULL when there are none or they are unusable. */
enum fsa_status jfs_ea_load(struct jfs *j, const struct jfs_inode *i, uint8_t **bytes, uint32_t *size);
enum fsa_status jfs_ea_each(struct jfs *j, const struct jfs_inode *i, const uint8_t *bytes, uint32_t size,
			    jfs_ea_fn fn, void *arg);
enum fsa_status jfs_xattrs(struct fsa_fs *fs, struct fsa_ref ref, fsa_xattr_fn fn, void *arg);

/* --- jfs_log.c --------------------------------------------------------------------------------------- */
struct jfs_log {
	bool found;
	uint32_t pages, state, serial;
};

/* Reads and reports on a log superblock. `start` is the block where the log lies. */
void jfs_log_read(struct jfs *j, unsigned device, uint64_t start, uint64_t blocks, struct jfs_log *l);
void jfs_log_claim(struct jfs *j, struct fsa_claims *claims, unsigned device, uint64_t start, uint64_t blocks, unsigned flags);
void jfs_uuid_text(const uint8_t *u, char text[40]);

/* --- jfs_audit*.c ------------------------------------------------------------------------------------ */
enum fsa_status jfs_geometry(struct fsa_fs *fs, struct fsa_ledger *ledger);
enum fsa_status jfs_audit(struct fsa_fs *fs, struct fsa_audit *audit);

#endif
