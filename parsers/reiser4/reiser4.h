/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of the Reiser4 parser share. Nothing outside parsers/reiser4 includes it. */
#ifndef FSA_REISER4_H
#define FSA_REISER4_H

#include "reiser4_disk.h"
#include "fsa/checksum.h"
#include "fsa/parser.h"

/* Details: purposes in Reiser4's own words. The order is the one in which `audit -v` shows them. */
enum r4_detail {
	R4_D_BOOT,
	R4_D_MASTER,
	R4_D_FORMAT,
	R4_D_STATUS,
	R4_D_BACKUP,
	R4_D_BITMAP,
	R4_D_JOURNAL_HEADER,
	R4_D_JOURNAL_FOOTER,
	R4_D_TX_HEAD,
	R4_D_WANDER_RECORD,
	R4_D_WANDERED,
	R4_D_SAFE_LINK,
	R4_D_STAT,
	R4_D_ENTRIES,
	R4_D_EXTENT_ITEM,
	R4_D_CLUSTER_SHIFT,
	R4_D_ACL,
	R4_D_SYMLINK,
	R4_D_LEAF_HEADER,
	R4_D_TWIG_HEADER,
	R4_D_BRANCH_HEADER,
	R4_D_STAT_HEADER,
	R4_D_ENTRIES_HEADER,
	R4_D_POINTER_HEADER,
	R4_D_EXTENT_HEADER,
	R4_D_TAIL_HEADER,
	R4_D_CTAIL_HEADER,
	R4_D_OTHER_HEADER,
	R4_D_POINTER,
	R4_D_UNKNOWN_ITEM,
	R4_D_FREE_LEAF,
	R4_D_FREE_TWIG,
	R4_D_FREE_BRANCH,
	R4_D_FREE_FIXED,
	R4_D_FILE_DATA,
	R4_D_TAIL,
	R4_D_CTAIL,
	R4_D_SLACK,
	R4_D_BEYOND_EOF,
	R4_D_DELETED_OPEN,
	R4_D_NO_BACKUP,
	R4_DETAILS
};

extern const struct fsa_detail r4_details[R4_DETAILS];

/* A key as words; `ordering` is 0 where keys are short. */
struct r4_key {
	uint64_t locality;	/* with the type in its low four bits */
	uint64_t ordering;
	uint64_t objectid;
	uint64_t offset;
};

static inline unsigned r4_key_type(const struct r4_key *k) { return (unsigned)(k->locality & 15); }
static inline uint64_t r4_key_locality(const struct r4_key *k) { return k->locality >> 4; }
int r4_key_compare(const struct r4_key *a, const struct r4_key *b);
/* Same object, whatever the type and offset of its items. */
bool r4_key_same_object(const struct r4_key *a, const struct r4_key *b);

#define R4_MAX_HEIGHT 32u	/* the tools stop at 10 */
#define R4_NODE_CACHE 64u

struct r4_cached {
	uint64_t block;		/* 0: empty (block 0 is never a node) */
	uint64_t used;
	uint8_t *raw;
};

struct r4 {
	struct fsa_fs *fs;
	struct fsa_findings *findings;
	struct r4_master master;
	struct r4_format format;
	uint32_t block_size;
	uint64_t blocks;
	uint64_t first;		/* block of the master superblock */
	uint64_t root;
	unsigned height;
	bool large_keys;
	unsigned key_bytes, item_header_bytes;
	uint32_t mkfs_id, version;
	uint64_t free_blocks;	/* as a mount would take it: the journal footer's, once there was a transaction */
	bool free_from_footer;
	uint64_t last_committed, last_flushed;
	uint64_t status;	/* flags of the status block */
	char status_message[256];
	uint16_t pset[R4_PSET_STORED];	/* of the root directory: what others have by default */
	const char *features[FSA_MAX_FEATURES];
	struct r4_cached cache[R4_NODE_CACHE];
	uint64_t cache_clock;
	uint64_t bad_entries;	/* directory entries left out so far */
};

static inline struct r4 *r4_of(struct fsa_fs *fs)
{
	return fs->state;
}

static inline uint64_t r4_at(const struct r4 *r, uint64_t block)
{
	return block * r->block_size;
}

static inline bool r4_block_ok(const struct r4 *r, uint64_t block, uint64_t count)
{
	return block > r->first && fsa_within(block, count, r->blocks);
}

#define R4_FIND(r, object, number, offset, ...) \
	fsa_find((r)->findings, object, number, offset, __VA_ARGS__)

typedef unsigned long long ull;		/* for printing 64-bit numbers */

/* --- reiser4_super.c ------------------------------------------------------------------------------------- */
enum fsa_status r4_open(struct fsa_fs *fs, struct fsa_error *err);
void r4_close(struct fsa_fs *fs);
enum fsa_status r4_summary(struct fsa_fs *fs, struct fsa_summary *summary);
enum fsa_status r4_geometry(struct fsa_fs *fs, struct fsa_ledger *ledger);
/* Blocks that one bitmap block speaks for. */
static inline uint64_t r4_bitmap_span(const struct r4 *r)
{
	return (uint64_t)(r->block_size - R4_BITMAP_CHECKSUM) * 8;
}
/* The block that holds the bitmap of span `n`. */
static inline uint64_t r4_bitmap_block(const struct r4 *r, uint64_t n)
{
	return n ? n * r4_bitmap_span(r) : r->first + R4_BITMAP_AT;
}
/* Calls back for each place of a backup block. */
enum fsa_status r4_backups(struct r4 *r, enum fsa_status (*backup)(void *arg, uint64_t block), void *arg);
uint32_t r4_adler32(const uint8_t *p, size_t length);

/* --- reiser4_statfs.c ------------------------------------------------------------------------------------ */
enum fsa_status r4_statfs(struct fsa_fs *fs, bool read_only, struct fsa_statfs *s);

/* --- reiser4_node.c -------------------------------------------------------------------------------------- */
struct r4_node {
	uint64_t block;
	const uint8_t *raw;	/* block_size bytes, borrowed */
	unsigned level;
	unsigned header_bytes;
	unsigned items;		/* whose headers and bodies lie where they may */
	unsigned stored_items;	/* as the header says, cut to what the node can hold */
	unsigned free_start;	/* end of the last item */
	unsigned free_bytes;	/* between the items and their headers */
	bool damaged;		/* items are missing from what is shown */
};

struct r4_item {
	struct r4_key key;
	unsigned plugin, flags;
	unsigned offset, length;	/* of the body, bytes in the node */
	const uint8_t *body;
};

/*
 * Decodes and checks a node that should be at `level`. False when it is none: a finding says why. Items
 * behind the first that makes no sense are left out, with a finding.
 */
bool r4_node_check(struct r4 *r, uint64_t block, const uint8_t *raw, unsigned level, struct r4_node *n);
void r4_node_item(const struct r4 *r, const struct r4_node *n, unsigned i, struct r4_item *item);
void r4_key_get(const struct r4 *r, const uint8_t *p, struct r4_key *key);
/* Reads a node through a small cache. FSA_EDAMAGED with a finding when it is none. raw stays until the next. */
enum fsa_status r4_node_read(struct r4 *r, uint64_t block, unsigned level, struct r4_node *n);
const char *r4_key_text(const struct r4_key *k, char text[96]);

/* --- reiser4_cursor.c ------------------------------------------------------------------------------------ */
/* A place in the tree; goes through items in key order. Internal items are not shown. */
struct r4_level {
	struct r4_node node;
	unsigned next;		/* item to look at */
	uint8_t *raw;
};

struct r4_cursor {
	struct r4 *r;
	unsigned top;		/* level of the root */
	unsigned depth;		/* levels in use, counted from the root */
	uint64_t nodes_left;	/* bound on nodes visited */
	uint64_t damaged;	/* nodes that could not be read */
	struct r4_level level[R4_MAX_HEIGHT];
	struct r4_node node;	/* of the item shown last */
	unsigned item_index;
};

/* Positions before the first item whose key is not below `key` (all of the tree: NULL). */
enum fsa_status r4_cursor_open(struct r4_cursor *c, struct r4 *r, const struct r4_key *key);
/* The next item: FSA_OK, FSA_ENOENT at the end, or program trouble. */
enum fsa_status r4_cursor_next(struct r4_cursor *c, struct r4_item *item);
void r4_cursor_close(struct r4_cursor *c);

/* --- reiser4_stat.c -------------------------------------------------------------------------------------- */
struct r4_stat {
	uint16_t mask;
	bool light, unix_fields, times, symlink, has_flags;
	uint16_t mode;
	uint32_t links;
	uint64_t size;
	uint32_t uid, gid, atime, mtime, ctime;
	uint64_t bytes;		/* or the device number */
	uint32_t nsec[3];	/* atime, mtime, ctime */
	uint32_t flags;
	unsigned target, target_length;	/* of a symbolic link, in the item */
	uint16_t plugins;	/* bit a member of the set below that the item has */
	uint16_t plugin[R4_PSET_STORED];
	enum fsa_type type;
	bool compressed;
};

/* False when the item is cut short: a finding says where; what came before is set. */
bool r4_stat_decode(struct r4 *r, const struct r4_node *n, const struct r4_item *item, struct r4_stat *s);
/* A member of the plugin set: the object's own or the root directory's. */
unsigned r4_stat_plugin(const struct r4 *r, const struct r4_stat *s, enum r4_pset_member member);
uint64_t r4_stat_sectors(const struct r4_stat *s);
struct fsa_ref r4_ref_of(const struct r4_key *k);
void r4_key_of_ref(struct fsa_ref ref, struct r4_key *k);
/* Finds the stat data behind a reference. The item's node stays until the next node is read. */
enum fsa_status r4_stat_find(struct r4 *r, struct fsa_ref ref, struct r4_node *n, struct r4_item *item);
enum fsa_status r4_root(struct fsa_fs *fs, struct fsa_ref *ref);
enum fsa_status r4_stat_op(struct fsa_fs *fs, struct fsa_ref ref, struct fsa_stat *st);
enum fsa_status r4_readlink(struct fsa_fs *fs, struct fsa_ref ref, char **target, size_t *length);

/* --- reiser4_describe.c ---------------------------------------------------------------------------------- */
enum fsa_status r4_describe(struct fsa_fs *fs, struct fsa_ref ref,
			    void (*line)(void *arg, const char *name, const char *value), void *arg);

/* --- reiser4_dir.c --------------------------------------------------------------------------------------- */
struct r4_entry {
	struct fsa_ref ref;
	const char *name;
	size_t length;
	unsigned offset;	/* of the entry's body in the node */
	struct r4_key key;	/* of the name */
};
typedef enum fsa_status (*r4_entry_fn)(void *arg, const struct r4_entry *entry);
/* All entries of a directory item, also "." and "..". */
enum fsa_status r4_entries(struct r4 *r, const struct r4_node *n, const struct r4_item *item, r4_entry_fn entry, void *arg);
enum fsa_status r4_readdir(struct fsa_fs *fs, struct fsa_ref ref, fsa_dirent_fn entry, void *arg);

/* --- reiser4_file.c, reiser4_cluster.c ------------------------------------------------------------------- */
struct r4_cluster {
	uint64_t index;			/* in clusters */
	unsigned shift;
	uint32_t stored;		/* bytes in items */
	uint64_t first_offset;		/* where the first of them lies on the device */
	bool bad;			/* its items do not follow each other, or reach out of it */
};
enum fsa_status r4_extents(struct fsa_fs *fs, struct fsa_ref ref, fsa_extent_fn extent, void *arg);
/* Adds an item to a cluster; true when the item starts another (the caller handles the old one first). */
bool r4_cluster_other(const struct r4_cluster *c, const struct r4_item *item);
void r4_cluster_add(struct r4 *r, struct r4_cluster *c, const struct r4_node *n, const struct r4_item *item);
/* Bytes of the file in a cluster. */
uint32_t r4_cluster_plain(const struct r4_cluster *c, uint64_t size);
enum fsa_status r4_decode(struct fsa_fs *fs, const struct fsa_extent *extent, void *buffer);

/* --- reiser4_unpack.c ------------------------------------------------------------------------------------ */
const char *r4_compress_name(unsigned plugin);
/* Decompresses exactly `plain` bytes; false when the bytes are not that. */
bool r4_unpack(unsigned plugin, const uint8_t *from, size_t length, uint8_t *to, size_t plain);

/* --- reiser4_audit.c ------------------------------------------------------------------------------------- */
enum fsa_status r4_audit(struct fsa_fs *fs, struct fsa_audit *audit);

#endif
