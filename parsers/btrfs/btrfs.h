/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of the btrfs parser share. Nothing outside parsers/btrfs includes it. */
#ifndef FSA_BTRFS_H
#define FSA_BTRFS_H

#include "btrfs_disk.h"
#include "../core/feature.h"
#include "fsa/parser.h"

/* Details: purposes in btrfs's own words. The order is the one in which `audit -v` shows them. */
enum btr_detail {
	BTR_D_SUPER,
	BTR_D_SUPER_COPY,
	BTR_D_CHUNK,
	BTR_D_DEV_ITEM,
	BTR_D_DEV_EXTENT,
	BTR_D_PERSISTENT,
	BTR_D_EXTENT,
	BTR_D_BACKREF,
	BTR_D_BLOCK_GROUP,
	BTR_D_FREE_SPACE,
	BTR_D_CACHE_HEADER,
	BTR_D_CACHE,
	BTR_D_LOG,
	BTR_D_INODE,
	BTR_D_INODE_REF,
	BTR_D_ORPHAN,
	BTR_D_DIR_ITEM,
	BTR_D_DIR_INDEX,
	BTR_D_ROOT_REF,
	BTR_D_FILE_EXTENT,
	BTR_D_INLINE_HEADER,
	BTR_D_XATTR,
	BTR_D_SYMLINK,
	BTR_D_HEADER,
	BTR_D_ITEM_HEADER,
	BTR_D_POINTER,
	BTR_D_ROOT_ITEM,
	BTR_D_UUID,
	BTR_D_OTHER_ITEM,
	BTR_D_UNREADABLE,
	BTR_D_FREE_LEAF,
	BTR_D_FREE_NODE,
	BTR_D_CSUM,
	BTR_D_VERITY,
	BTR_D_QUOTA,
	BTR_D_DATA,
	BTR_D_COMPRESSED,
	BTR_D_INLINE,
	BTR_D_INLINE_COMPRESSED,
	BTR_D_SLACK,
	BTR_D_UNWRITTEN,
	BTR_D_BEYOND_EOF,
	BTR_D_UNREFERENCED,
	BTR_D_DELETED_FILE,
	BTR_D_DELETED_SUBVOL,
	BTR_D_FIRST_MIB,
	BTR_D_BESIDE_SUPER,
	BTR_D_PARITY,
	BTR_D_FREE_IN_CHUNK,
	BTR_D_FREE_UNALLOCATED,
	BTR_DETAILS
};

extern const struct fsa_detail btr_details[BTR_DETAILS];

typedef unsigned long long ull;		/* for printing 64-bit numbers */

struct btr_key {
	uint64_t objectid;
	uint8_t type;
	uint64_t offset;
};

/* A device as the filesystem knows it. */
struct btr_device {
	uint64_t devid;
	uint64_t total_bytes, bytes_used;
	uint64_t extent_bytes;		/* by its device extents, while an audit counts them */
	int image;			/* index in fs->devices, or -1: missing */
	bool in_tree;			/* the chunk tree names it */
	bool seed;			/* belongs to the filesystem that this one grew from */
	bool other_super;		/* its image has the superblock of another filesystem: a seed, or a mistake */
	uint8_t uuid[16];
	uint8_t header_fsid[16];	/* of a seed: what node headers on it carry */
};

struct btr_stripe {
	unsigned device;		/* index in btr.devices */
	uint64_t offset;		/* bytes on the device */
};

struct btr_chunk {
	uint64_t logical, length;
	uint64_t type;			/* BTRFS_BLOCK_GROUP_* */
	unsigned n_stripes, sub_stripes;
	size_t first_stripe;		/* in btr.stripes */
	uint64_t base;			/* bytes of all chunks before it: addresses without gaps, for sets of bits */
	bool have_group;		/* its block group item was met */
	uint64_t group_used;
};

#define BTR_MAX_COPIES 4

/* A run of logical bytes that lies in one piece on each of its copies. */
struct btr_segment {
	uint64_t logical, length;
	unsigned copies;
	struct {
		unsigned stripe;	/* of the chunk */
		int image;		/* -1: on a missing device */
		uint64_t physical;
	} copy[BTR_MAX_COPIES];
};

struct btr_root {
	uint64_t id;			/* objectid of the root item */
	uint64_t key_offset;		/* and its offset: relocation trees are told apart by it */
	uint64_t bytenr, generation;
	uint64_t used_bytes;		/* bytes_used: what its nodes take by the tree's own counter */
	uint64_t flags;
	uint32_t refs;			/* 0: deleted, not yet cleaned */
	uint8_t level, drop_level;
	struct btr_key drop_progress;
	uint64_t parent;		/* subvolume whose directory names it; 0: none known */
};

struct btr_node {
	unsigned refs;
	uint64_t logical, generation, owner;
	unsigned level;
	uint32_t n;			/* items or pointers that can be used */
	uint64_t used;			/* clock of its last use, in the cache */
	uint8_t *data;
};

#define BTR_CACHE 256

struct btr {
	struct fsa_fs *fs;
	struct fsa_findings *findings;
	struct btr_disk_super super;
	uint64_t super_offset;		/* where it was read */
	unsigned super_image;
	uint32_t sectorsize, nodesize;
	unsigned csum_type, csum_size;
	uint64_t incompat, compat_ro;
	uint64_t generation;
	uint8_t header_fsid[16];	/* what node headers carry */
	struct btr_device *devices;
	size_t n_devices, devices_room;
	struct btr_chunk *chunks;	/* by logical address, never overlapping */
	size_t n_chunks, chunks_room;
	struct btr_stripe *stripes;
	size_t n_stripes, stripes_room;
	struct btr_root *roots;		/* by id and key offset */
	size_t n_roots, roots_room;
	uint64_t chunk_bytes;		/* of all chunks, logical */
	uint64_t default_subvolume;
	uint64_t start_subvolume;	/* where reading starts */
	bool degraded;
	bool verify_copies;		/* every copy of a node is read and compared */
	struct btr_node *cache[BTR_CACHE];
	uint64_t clock;
	struct feature_set features;
};

static inline struct btr *btr_of(struct fsa_fs *fs)
{
	return fs->state;
}

#define BTR_FIND(b, object, number, offset, ...) fsa_find((b)->findings, object, number, offset, __VA_ARGS__)

static inline int btr_key_cmp(struct btr_key a, struct btr_key b)
{
	if (a.objectid != b.objectid)
		return a.objectid < b.objectid ? -1 : 1;
	if (a.type != b.type)
		return a.type < b.type ? -1 : 1;
	return a.offset < b.offset ? -1 : a.offset > b.offset;
}

static inline struct btr_key btr_disk_key(const void *p)
{
	return (struct btr_key){
		.objectid = FSA_LE(uint64_t, p, struct btrfs_disk_key, objectid),
		.type = FSA_LE(uint8_t, p, struct btrfs_disk_key, type),
		.offset = FSA_LE(uint64_t, p, struct btrfs_disk_key, offset),
	};
}

/* Grows an array to hold one more element; false when memory ran out. */
bool btr_room(void **array, size_t *room, size_t count, size_t size);

/* --- btrfs_super.c ---------------------------------------------------------------------------------- */
enum fsa_status btr_open(struct fsa_fs *fs, struct fsa_error *err);
void btr_close(struct fsa_fs *fs);
uint64_t btr_super_place(unsigned mirror);		/* byte offset on a device */
enum fsa_status btr_device_group(struct fsa_image *image, struct fsa_group *group);
void btr_report_super_copies(struct btr *b);

/* --- btrfs_feature.c -------------------------------------------------------------------------------- */
enum fsa_status btr_features(struct btr *b, const char *image, bool force, struct fsa_error *err);
enum fsa_status btr_summary(struct fsa_fs *fs, struct fsa_summary *summary);
const char *btr_csum_name(unsigned type);

/* --- btrfs_checksum.c ------------------------------------------------------------------------------- */
unsigned btr_csum_size(unsigned type);			/* 0: unknown */
void btr_csum(unsigned type, const void *data, size_t length, uint8_t out[32]);
/* Short hexadecimal text of a checksum, for findings. */
struct btr_csum_text { char text[2 * 32 + 1]; };
const char *btr_csum_print(const uint8_t *csum, unsigned size, struct btr_csum_text *text);

/* --- btrfs_chunk.c ---------------------------------------------------------------------------------- */
enum fsa_status btr_chunks_from_super(struct btr *b, struct fsa_error *err);
enum fsa_status btr_chunks_from_tree(struct btr *b, struct fsa_error *err);
const struct btr_chunk *btr_chunk_at(const struct btr *b, uint64_t logical);	/* NULL: in no chunk */
/* The run at `logical`, at most `max` bytes (> 0); false when no chunk holds it. */
bool btr_segment_at(const struct btr *b, uint64_t logical, uint64_t max, struct btr_segment *s);
unsigned btr_copies(uint64_t type);		/* how often each byte of data lies on devices */
unsigned btr_parity(uint64_t type);		/* parity stripes in a row */
unsigned btr_data_stripes(const struct btr_chunk *c);	/* stripes that divide the chunk's length */
uint64_t btr_stripe_bytes(const struct btr_chunk *c);	/* bytes on each of its stripes */
/* Index among fs->devices and byte offset of the first copy present, for findings. */
unsigned btr_place(const struct btr *b, uint64_t logical, uint64_t *offset);
const char *btr_profile_name(uint64_t type);
const char *btr_type_name(uint64_t type);

/* --- btrfs_sum.c ------------------------------------------------------------------------------------ */
#define BTR_SUMS 256u				/* looked at together */
#define BTR_COOKIE_NO_SUMS (UINT64_C(1) << 34)	/* of a plain piece: nodatasum */

struct btr_sums {
	uint8_t bytes[BTR_SUMS * 32];		/* csum_size of each sector */
	bool have[BTR_SUMS];
};

/* Adds to a finding who holds the data at `logical`, in at most `room` bytes. */
struct btr_sum_teller {
	void (*tell)(void *arg, uint64_t logical, char *text, size_t room);
	void *arg;
};

struct btr_sum_count { uint64_t repaired, lost; };	/* sectors */

/*
 * Compares `n` (at most BTR_SUMS) sectors within one segment, read from `mirror`, with their checksums; what is
 * wrong is a finding, is replaced in `bytes` where another way gives it right, and is counted. `read` false: the
 * mirror could not be read. FSA_EDAMAGED: some sector is right nowhere.
 */
enum fsa_status btr_sums_compare(struct btr *b, uint64_t logical, uint8_t *bytes, bool read, size_t n, const struct btr_sums *sums,
				 unsigned mirror, const struct btr_sum_teller *teller, struct btr_sum_count *count);
/* Contents of files, whole sectors: the first way that can be read, put right from the others. As above. */
enum fsa_status btr_read_data(struct btr *b, uint64_t logical, uint8_t *buffer, size_t length);
enum fsa_status btr_verify(struct fsa_fs *fs, const struct fsa_extent *extent, const void *bytes, size_t length, void *repaired,
			   bool *changed);

/* --- btrfs_raid.c ----------------------------------------------------------------------------------- */
/* Ways to read a run: its copies, and for RAID5 and RAID6 what parity gives. */
unsigned btr_mirrors(const struct btr *b, uint64_t logical);
enum fsa_status btr_read_mirror(struct btr *b, uint64_t logical, void *buffer, size_t length, unsigned mirror);
/* The first way that works; no checksum is looked at. */
enum fsa_status btr_read_logical(struct btr *b, uint64_t logical, void *buffer, size_t length);

/* --- btrfs_node.c ----------------------------------------------------------------------------------- */
/*
 * The node at `logical`, checked, or a finding and FSA_EDAMAGED. `generation` 0: any. The caller puts it
 * back when done.
 */
enum fsa_status btr_node_get(struct btr *b, uint64_t logical, unsigned level, uint64_t generation,
			     struct btr_node **node);
void btr_node_put(struct btr_node *node);
void btr_cache_free(struct btr *b);

struct btr_item {
	struct btr_key key;
	const uint8_t *data;
	uint32_t size;
	uint32_t offset;		/* of the data from the start of the node */
	const struct btr_node *node;
	uint32_t slot;
};

/* slot < n of a leaf; the data lies within the node (checked when it was read). */
static inline struct btr_item btr_item_at(const struct btr_node *node, uint32_t slot)
{
	const uint8_t *p = node->data + BTR_HEADER + slot * BTR_ITEM;
	uint32_t offset = BTR_HEADER + FSA_LE(uint32_t, p, struct btr_disk_item, offset);

	return (struct btr_item){
		.key = btr_disk_key(p), .data = node->data + offset, .offset = offset,
		.size = FSA_LE(uint32_t, p, struct btr_disk_item, size), .node = node, .slot = slot,
	};
}

/* --- btrfs_tree.c ----------------------------------------------------------------------------------- */
struct btr_walk {
	struct btr *b;
	struct btr_key from;		/* items before it are not visited */
	/* Each item from `from` on, in order. */
	enum fsa_status (*item)(void *arg, const struct btr_item *item);
	/*
	 * Before a node is entered, also when it is damaged (then node is NULL); may be NULL. *enter is true
	 * at the call; false leaves the node out.
	 */
	enum fsa_status (*node)(void *arg, const struct btr_node *node, uint64_t logical, unsigned level, bool *enter);
	void *arg;
	bool damaged;			/* set when a part of the tree could not be read */
	bool prefetch;
};

enum fsa_status btr_walk_tree(struct btr_walk *w, uint64_t bytenr, unsigned level, uint64_t generation);
static inline enum fsa_status btr_walk_root(struct btr_walk *w, const struct btr_root *root)
{
	return btr_walk_tree(w, root->bytenr, root->level, root->generation);
}
/* The last key of the tree that is not behind `key`; FSA_ENOENT when all are. */
enum fsa_status btr_key_before(struct btr *b, const struct btr_root *root, struct btr_key key, struct btr_key *found);
/* The item with exactly this key: found(arg, item) is called once; FSA_ENOENT otherwise. */
enum fsa_status btr_find_item(struct btr *b, const struct btr_root *root, struct btr_key key,
			      enum fsa_status (*found)(void *arg, const struct btr_item *item), void *arg);

/* --- btrfs_root.c ----------------------------------------------------------------------------------- */
enum fsa_status btr_read_roots(struct btr *b, struct fsa_error *err);
const struct btr_root *btr_root_find(const struct btr *b, uint64_t id);
bool btr_is_subvolume(uint64_t id);
struct btr_root btr_tree_root(const struct btr *b);
struct btr_root btr_chunk_root(const struct btr *b);
bool btr_root_parse(const struct btr_item *item, struct btr_root *root);
enum fsa_status btr_pick_subvolume(struct btr *b, struct fsa_error *err);

/* --- btrfs_inode.c ---------------------------------------------------------------------------------- */
struct btr_inode {
	uint64_t number, subvolume;
	const struct btr_root *root;
	uint64_t size, nbytes, generation, rdev, flags;
	uint32_t links, uid, gid, mode;
	struct fsa_time atime, mtime, ctime, btime;
	uint64_t logical;		/* of the node that holds the item */
	uint32_t offset;		/* in it */
};

#define BTR_INODE_NODATASUM 1u		/* in btr_inode.flags */

/* References: subvolume, inode number, and 1 for the empty directory where a snapshot has lost a subvolume. */
static inline struct fsa_ref btr_ref(uint64_t subvolume, uint64_t inode)
{
	return (struct fsa_ref){ .word = { subvolume, inode, 0 } };
}
bool btr_inode_parse(const struct btr_item *item, struct btr_inode *inode);
enum fsa_status btr_inode_get(struct btr *b, struct fsa_ref ref, struct btr_inode *inode);
enum fsa_status btr_root_ref(struct fsa_fs *fs, struct fsa_ref *ref);
enum fsa_status btr_stat(struct fsa_fs *fs, struct fsa_ref ref, struct fsa_stat *stat);
enum fsa_status btr_readlink(struct fsa_fs *fs, struct fsa_ref ref, char **target, size_t *length);
enum fsa_status btr_xattrs(struct fsa_fs *fs, struct fsa_ref ref, fsa_xattr_fn xattr, void *arg);
enum fsa_status btr_ref_of_number(struct fsa_fs *fs, uint64_t number, struct fsa_ref *ref);
enum fsa_status btr_describe(struct fsa_fs *fs, struct fsa_ref ref,
			     void (*line)(void *arg, const char *name, const char *value), void *arg);

/* --- btrfs_dir.c ------------------------------------------------------------------------------------ */
/* What the keys of directory items and attributes hold: CRC-32C of the name from ~1 on, not inverted behind. */
uint32_t btr_name_hash(const char *name, size_t length);
struct btr_dirent {
	struct btr_key location;
	uint8_t type;			/* BTRFS_FT_* */
	const char *name;
	uint16_t name_length;
	const uint8_t *value;
	uint16_t value_length;
	uint32_t bytes;			/* of the whole record */
};

/* The record at `at` of a directory or xattr item; false when it does not fit. */
bool btr_dirent_at(const struct btr_item *item, uint32_t at, struct btr_dirent *entry);
enum fsa_status btr_readdir(struct fsa_fs *fs, struct fsa_ref ref, fsa_dirent_fn entry, void *arg);

/* --- btrfs_extent.c --------------------------------------------------------------------------------- */
struct btr_file_extent {
	uint64_t logical;		/* in the file */
	uint64_t generation, ram_bytes;
	uint8_t compression, encryption, type;
	uint16_t other_encoding;
	uint64_t disk_bytenr, disk_bytes, offset, bytes;	/* regular and preallocated */
	const uint8_t *inline_data;
	uint32_t inline_size;		/* as stored */
};

/* What is wrong with an item, or NULL and *extent. */
const char *btr_file_extent_parse(const struct btr *b, const struct btr_item *item, struct btr_file_extent *extent);
enum fsa_status btr_extents(struct fsa_fs *fs, struct fsa_ref ref, fsa_extent_fn extent, void *arg);
enum fsa_status btr_decode(struct fsa_fs *fs, const struct fsa_extent *extent, void *buffer);

/* --- btrfs_compress.c ------------------------------------------------------------------------------- */
const char *btr_compression_name(unsigned algorithm);	/* NULL: unknown */
/* Decodes into `out` of `room` bytes, *length gets what came out. What is wrong with it, or NULL. */
const char *btr_decompress(const struct btr *b, unsigned algorithm, const uint8_t *in, size_t in_size, uint8_t *out,
			   size_t room, size_t *length);

/* --- btrfs_statfs.c --------------------------------------------------------------------------------- */
struct btr_group_sum {		/* of one type: data, metadata, system, or mixed */
	uint64_t type;		/* type bits */
	uint64_t profiles;	/* profile bits of its groups; BTRFS_AVAIL_ALLOC_BIT_SINGLE for single */
	uint64_t total, used;		/* logical bytes */
	uint64_t disk_total, disk_used;	/* by the kernel's factor: parity does not count */
	uint64_t read_only_free;	/* on disk: free in groups that the kernel will not write to */
};
struct btr_space { struct btr_group_sum sum[4]; unsigned n; uint64_t reserve; };
enum fsa_status btr_block_groups(struct btr *b);	/* fills chunks' have_group and group_used */
enum fsa_status btr_space(struct btr *b, struct btr_space *space);
enum fsa_status btr_statfs(struct fsa_fs *fs, bool read_only, struct fsa_statfs *statfs);
uint64_t btr_global_reserve(const struct btr *b);

/* --- btrfs_audit.c ---------------------------------------------------------------------------------- */
enum fsa_status btr_geometry(struct fsa_fs *fs, struct fsa_ledger *ledger);
enum fsa_status btr_audit(struct fsa_fs *fs, struct fsa_audit *audit);

#endif
