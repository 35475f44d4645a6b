/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of the ReiserFS parser share. Nothing outside parsers/reiserfs includes it. */
#ifndef FSA_REISERFS_H
#define FSA_REISERFS_H

#include "fsa/parser.h"
#include "reiserfs_disk.h"

/* Details: purposes in ReiserFS's own words. The order is the one in which `audit -v` shows them. */
enum rfs_detail {
	RFS_D_BOOT,
	RFS_D_SUPER,
	RFS_D_OID_MAP,
	RFS_D_BITMAP,
	RFS_D_JOURNAL_LOG,
	RFS_D_JOURNAL_HEADER,
	RFS_D_STAT,
	RFS_D_DIRECTORY,
	RFS_D_INDIRECT,
	RFS_D_XATTR_NAMES,
	RFS_D_XATTR_TAIL,
	RFS_D_XATTR_BLOCK,
	RFS_D_SYMLINK,
	RFS_D_LEAF_HEAD,
	RFS_D_ITEM_HEAD,
	RFS_D_INTERNAL,
	RFS_D_FREE_SUPER,
	RFS_D_FREE_BITMAP,
	RFS_D_FREE_LEAF,
	RFS_D_FREE_INTERNAL,
	RFS_D_FREE_XATTR,
	RFS_D_FREE_SYMLINK,
	RFS_D_DATA,
	RFS_D_TAIL,
	RFS_D_SLACK,
	RFS_D_TAIL_PADDING,
	RFS_D_BEYOND_EOF,
	RFS_D_DELETED_ITEM,
	RFS_D_DELETED_DATA,
	RFS_D_SAFE_LINK,
	RFS_D_BAD_BLOCKS,
	RFS_D_JOURNAL_RESERVED,
	RFS_D_JOURNAL_DEVICE,
	RFS_DETAILS
};

extern const struct fsa_detail rfs_details[RFS_DETAILS];

/* The kernel's limit is 5; what is higher is not a tree of this format. */
#define RFS_MAX_LEVEL 8u

enum rfs_item_type { RFS_STAT, RFS_INDIRECT, RFS_DIRECT, RFS_DIRENTRY, RFS_ANY = 15 };

struct rfs_key {
	uint32_t dir, oid;
	uint64_t offset;
	uint8_t type;		/* enum rfs_item_type */
};

struct rfs_cursor;

/* A directory of attributes, by whose they are. */
struct rfs_xattr_owner {
	uint32_t owner, generation;
	uint32_t dir, oid;		/* its own key */
};

struct rfs {
	struct fsa_fs *fs;
	struct fsa_findings *findings;
	uint8_t sb[RFS_SUPER_SIZE];
	uint64_t sb_offset;
	uint32_t block_size;
	unsigned block_log;		/* block_size == 1 << block_log */
	uint32_t blocks;
	uint32_t bitmaps;
	bool old_place;			/* superblock at 8 KiB, bitmaps behind it */
	bool format_35;
	bool jr;			/* the magic of a journal that is not the standard one */
	bool external_journal;
	int journal_device;		/* index among fs->devices: 0 when inside, -1 when not given */
	uint32_t journal_first, journal_size;	/* the header lies behind: at first + size */
	uint32_t reserved_first;	/* where a standard journal starts */
	uint32_t reserved_blocks;	/* kept on this device for a journal */
	uint32_t root_block, hash;
	unsigned root_level;		/* 0: the superblock's makes no sense */
	uint32_t super_size;		/* where the object id map starts */
	const char *features[FSA_MAX_FEATURES];
	struct rfs_cursor *spare;	/* a cursor not in use now; the audit's walk has buffers of its own */
	enum { RFS_PRIV_UNKNOWN, RFS_PRIV_NONE, RFS_PRIV_FOUND } priv_state;
	struct rfs_key priv, xattr_root;	/* stat data keys; xattr_root.oid 0 when there is none */
	struct rfs_xattr_owner *owners;	/* sorted; NULL until asked for */
	size_t n_owners;
	bool have_owners;
};

static inline struct rfs *rfs_of(struct fsa_fs *fs)
{
	return fs->state;
}

static inline uint64_t rfs_at(const struct rfs *r, uint64_t block)
{
	return block << r->block_log;
}

static inline const struct rfs_super *rfs_super(const struct rfs *r)
{
	return (const struct rfs_super *)(const void *)r->sb;
}

#define RFS_FIND(r, object, number, offset, ...) fsa_find((r)->findings, object, number, offset, __VA_ARGS__)

typedef unsigned long long ull;		/* for printing 64-bit numbers */

/* An object is found by the first two words of its keys; other formats' tools print only the second. */
static inline struct fsa_ref rfs_ref(uint32_t dir, uint32_t oid)
{
	return (struct fsa_ref){ .word = { (uint64_t)dir << 32 | oid } };
}

static inline struct rfs_key rfs_ref_key(struct fsa_ref ref)
{
	return (struct rfs_key){ .dir = (uint32_t)(ref.word[0] >> 32), .oid = (uint32_t)ref.word[0] };
}

/* --- reiserfs_super.c ------------------------------------------------------------------------------- */
enum fsa_status rfs_open(struct fsa_fs *fs, struct fsa_error *err);
enum fsa_status rfs_summary(struct fsa_fs *fs, struct fsa_summary *s);
enum fsa_status rfs_statfs(struct fsa_fs *fs, bool read_only, struct fsa_statfs *s);
uint64_t rfs_bitmap_block(const struct rfs *r, uint32_t n);
/* True when `block` may belong to the tree or a file: it lies in the filesystem and not at a fixed place. */
bool rfs_block_ok(const struct rfs *r, uint64_t block);

/* --- reiserfs_node.c -------------------------------------------------------------------------------- */
struct rfs_key rfs_key_of(const struct rfs_disk_key *k, bool v2);
/* A key of an internal node says by its type bits which form it has. */
struct rfs_key rfs_branch_key(const struct rfs_disk_key *k);
int rfs_compare(const struct rfs_key *a, const struct rfs_key *b);
const char *rfs_type_name(uint8_t type);
const char *rfs_key_text(const struct rfs_key *k, char text[64]);

struct rfs_item {
	struct rfs_key key;
	bool v2;
	uint16_t version, count, length, location;
	const uint8_t *body;
	uint32_t node;			/* block that holds it */
	unsigned index;
	uint64_t offset;		/* of the body in the image */
};

struct rfs_node {
	uint32_t block;
	unsigned level, n;		/* n: items, or keys (children are one more) */
	uint16_t free_space;
	const uint8_t *bytes;
};

/* Looks at the head of a node that should be at `level`. False: unusable, a finding says why. */
bool rfs_node_open(struct rfs *r, uint32_t block, const uint8_t *bytes, unsigned level, struct rfs_node *n);
/* Item `i` < n->n of a leaf. False: its body is not inside the node; the key is set nevertheless. */
bool rfs_node_item(const struct rfs *r, const struct rfs_node *n, unsigned i, struct rfs_item *item);
struct rfs_key rfs_node_key(const struct rfs_node *n, unsigned i);
uint32_t rfs_node_child(const struct rfs_node *n, unsigned i, uint16_t *used);

/* --- reiserfs_cursor.c ------------------------------------------------------------------------------ */
/*
 * Callers of the parser may call it again from within a callback, so each walk has a cursor to itself. NULL: out of
 * memory. What is given back is kept with its nodes for the next one.
 */
struct rfs_cursor *rfs_cursor_take(struct rfs *r);
void rfs_cursor_give(struct rfs_cursor *c);
void rfs_cursor_free(struct rfs_cursor *c);
/*
 * Goes to the first item whose key is not below `key`, or with `floor` to the last one that is not above it.
 * FSA_OK: *item is valid until the cursor moves. FSA_ENOENT: there is none.
 */
enum fsa_status rfs_seek(struct rfs_cursor *c, const struct rfs_key *key, bool floor, struct rfs_item *item);
/* The next item in key order; FSA_ENOENT at the end of the tree. */
enum fsa_status rfs_next(struct rfs_cursor *c, struct rfs_item *item);

/* --- reiserfs_inode.c ------------------------------------------------------------------------------- */
struct rfs_inode {
	uint32_t dir, oid;
	bool v2;
	uint16_t mode, attrs;
	uint32_t links, uid, gid, atime, mtime, ctime, blocks, rdev, generation;
	uint32_t first_direct;		/* 3.5: offset of the first direct item's key, or all ones */
	uint64_t size;
	enum fsa_type type;
	uint64_t offset;
};

/* False: neither form of stat data; a finding says so. */
bool rfs_inode_decode(struct rfs *r, const struct rfs_item *item, struct rfs_inode *i);
uint64_t rfs_st_blocks(const struct rfs *r, const struct rfs_inode *i);
enum fsa_status rfs_inode_of(struct rfs *r, struct fsa_ref ref, struct rfs_inode *i);
enum fsa_status rfs_root(struct fsa_fs *fs, struct fsa_ref *ref);
enum fsa_status rfs_stat(struct fsa_fs *fs, struct fsa_ref ref, struct fsa_stat *st);
enum fsa_status rfs_ref_of_number(struct fsa_fs *fs, uint64_t number, struct fsa_ref *ref);
enum fsa_status rfs_describe(struct fsa_fs *fs, struct fsa_ref ref,
			     void (*line)(void *arg, const char *name, const char *value), void *arg);

/* --- reiserfs_hash.c -------------------------------------------------------------------------------- */
/* The hash part of an entry's offset. `hash` is one of RFS_HASH_*, not RFS_HASH_UNSET. */
uint32_t rfs_hash(uint32_t hash, const uint8_t *name, size_t length);
bool rfs_hash_known(uint32_t hash);

/* --- reiserfs_dir.c --------------------------------------------------------------------------------- */
struct rfs_entry {
	uint32_t offset;		/* hash and generation */
	uint32_t dir, oid;
	uint16_t state;
	const uint8_t *name;
	uint32_t name_length;
	uint64_t image_offset;		/* of its head */
};

typedef enum fsa_status (*rfs_entry_fn)(void *arg, const struct rfs_entry *entry);
/* The entries of one directory item. Damage is a finding; what cannot be read is left out. */
enum fsa_status rfs_dir_entries(struct rfs *r, const struct rfs_item *item, rfs_entry_fn fn, void *arg);
/* All visible entries of a directory but "." and "..". */
enum fsa_status rfs_dir_each(struct rfs *r, uint32_t dir, uint32_t oid, rfs_entry_fn fn, void *arg);
/* The object that a name leads to, by its hash when that is known. */
enum fsa_status rfs_dir_find(struct rfs *r, uint32_t dir, uint32_t oid, const char *name, struct rfs_key *found);
enum fsa_status rfs_readdir(struct fsa_fs *fs, struct fsa_ref ref, fsa_dirent_fn fn, void *arg);

/* --- reiserfs_file.c -------------------------------------------------------------------------------- */
enum fsa_status rfs_extents(struct fsa_fs *fs, struct fsa_ref ref, fsa_extent_fn fn, void *arg);
enum fsa_status rfs_readlink(struct fsa_fs *fs, struct fsa_ref ref, char **target, size_t *length);

/* --- reiserfs_xattr.c ------------------------------------------------------------------------------- */
/* Finds the hidden directories, once. */
enum fsa_status rfs_priv_find(struct rfs *r);
enum fsa_status rfs_xattrs(struct fsa_fs *fs, struct fsa_ref ref, fsa_xattr_fn fn, void *arg);
/* Calls for every object below the hidden directory, itself included. */
enum fsa_status rfs_priv_each(struct rfs *r, enum fsa_status (*fn)(void *arg, uint32_t dir, uint32_t oid), void *arg);
/* reiserfs_acl.c: the value as the kernel shows it; NULL when it is none. *length is set. */
uint8_t *rfs_acl_convert(const uint8_t *disk, size_t size, size_t *length, enum fsa_status *status);

/* --- reiserfs_journal.c ----------------------------------------------------------------------------- */
void rfs_journal_check(struct rfs *r);
void rfs_journal_claim(struct rfs *r, struct fsa_claims *claims);

/* --- reiserfs_audit.c ------------------------------------------------------------------------------- */
enum fsa_status rfs_geometry(struct fsa_fs *fs, struct fsa_ledger *ledger);
enum fsa_status rfs_audit(struct fsa_fs *fs, struct fsa_audit *audit);

#endif
