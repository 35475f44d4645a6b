/* SPDX-License-Identifier: GPL-2.0-only */
/* What the parts of the audit share. */
#ifndef FSA_XFS_AUDIT_H
#define FSA_XFS_AUDIT_H

#include "xfs.h"

/* 64 inodes that the inode B-tree keeps in one record. */
struct xf_chunk {
	uint32_t start;			/* number of the first in its AG */
	uint16_t holes;			/* each bit: 4 inodes that have no space */
	uint64_t free;
	int32_t links[XFS_INODES_PER_CHUNK];	/* as the inodes say, minus names met */
	uint8_t type[XFS_INODES_PER_CHUNK];	/* enum fsa_type, once read; the counted ones only */
};

#define XF_TYPE_INTERNAL 0x80u		/* no name leads to it */
#define XF_TYPE_UNREAD 0x40u		/* in use by the tree, its record is unusable */

/* A record of the reference count tree, and how often its blocks were met. */
struct xf_shared {
	uint32_t start, count, refs;
	uint64_t offset;		/* where the record lies */
	uint64_t seen;			/* blocks met, each as often as it was met */
};

/* Who the reverse map says can own blocks, as it divides them. */
enum xf_class {
	XF_C_HEADERS, XF_C_LOG, XF_C_FREE_TREES, XF_C_INODE_TREES, XF_C_INODES, XF_C_REFC_TREE, XF_C_COW, XF_C_DATA, XF_C_ATTR, XF_C_MAPS,
	XF_CLASSES
};

/* Sums that are the same however neighbouring extents are cut, and differ when anything else does. */
struct xf_sum { uint64_t blocks, weight, place; };

/* An extent with its owner, kept only where the sums differ. `shift`: what its file block and its block differ by. */
struct xf_owned_extent {
	uint32_t ag;
	uint8_t class, flags;		/* XF_OWNED_* */
	uint64_t block, count, owner, shift;
};
#define XF_OWNED_UNWRITTEN 1u
#define XF_OWNED_ATTR 2u

struct xf_extent_list { struct xf_owned_extent *e; size_t n, room; bool full; };

struct xf_rmap_diff {
	uint32_t *differs;		/* each AG: a bit for each class */
	struct xf_extent_list found, mapped;
	bool failed;			/* out of memory */
};

struct xf_ag_state {
	struct xf_chunk *chunk;
	size_t n_chunks, chunk_room;
	struct xf_shared *shared;
	size_t n_shared, shared_room;
	struct xf_sum found[XF_CLASSES], mapped[XF_CLASSES];
	uint32_t rmap_blocks, refc_blocks;	/* of the trees, as met */
	bool rmap_read;
};

/* What an inode is for, when it is none of the user's. */
enum xf_role { XF_ROLE_FILE, XF_ROLE_QUOTA, XF_ROLE_RT_BITMAP, XF_ROLE_RT_SUMMARY };

/* What one user, group or project has, and what its quota record says. */
enum { XF_QUOTA_BLOCKS, XF_QUOTA_INODES, XF_QUOTA_REALTIME, XF_QUOTA_COUNTS };
struct xf_quota_id {
	uint32_t id;
	bool known, recorded;
	uint64_t at;			/* of the record */
	uint64_t is[XF_QUOTA_COUNTS], said[XF_QUOTA_COUNTS];
};
struct xf_quota {
	bool wanted;
	uint64_t inode;
	struct xf_quota_id *slot;	/* hashed by id; `room` is a power of 2 */
	size_t n, room;
};

/* The realtime bitmap as it is read, and the summary that it should have. */
struct xf_realtime {
	uint32_t *count;		/* `words` of them: level by level, in each a word a block of the bitmap */
	uint64_t words, bitmap_blocks;
	uint64_t next;			/* block of the bitmap */
	uint64_t start, length;		/* the run of free extents at hand */
	uint64_t free;
	unsigned told;
	bool unread;			/* a part of it */
};

struct xf_dir_link {
	uint64_t inode, parent;		/* parent: by the entry that names it; 0 until one does */
	uint64_t dotdot;
};

struct xf_audit_state {
	struct xf *x;
	struct fsa_audit *audit;
	struct fsa_claims *claims;
	struct bitset seen;		/* blocks of B-trees that were entered */
	struct xf_ag_state *ag;		/* x->ags of them */
	uint64_t *unlinked;		/* inodes on unlinked lists, sorted */
	size_t n_unlinked, unlinked_room;
	struct xf_dir_link *dirs;	/* in order of inode numbers */
	size_t n_dirs, dirs_room;
	uint64_t inodes, free_inodes;
	struct xf_quota quota[3];	/* user, group, project */
	struct xf_realtime realtime;
	uint64_t realtime_blocks;	/* of the inode at hand */
	struct xf_rmap_diff *diff;	/* in the second walk, which is for this alone */
	uint64_t not_map_free;		/* blocks that the counter calls free and the map does not */
};

/* Grows an array to hold one more element; false when memory ran out. */
bool xf_room(void **array, size_t *room, size_t count, size_t size);

/* Regions of a node in any order, turned into parts that tile it; what is left over is `rest`. */
struct xf_region { uint32_t offset, length; enum xf_detail detail; };
struct xf_regions { struct xf_region *r; size_t n, room; };
bool xf_region_add(struct xf_regions *g, uint32_t offset, uint32_t length, enum xf_detail detail);
/* Sorts and cuts: to be called before booking. False when regions overlapped. */
bool xf_regions_sort(struct xf_regions *g);
/* Books bytes [from, from + size) of the regions as parts of `split` at `base`. */
void xf_regions_book(const struct xf_regions *g, struct fsa_split *split, uint64_t base, uint32_t from, uint32_t size,
		     enum xf_detail rest, const struct fsa_owner *owner);
/* The same over `count` file blocks at `logical` of a fork, wherever they lie. */
void xf_regions_claim(struct xf_audit_state *s, const struct xf_regions *g, const struct xf_pieces *p, uint64_t logical, uint32_t count,
		      enum xf_detail rest, unsigned flags, const struct fsa_owner *owner);

/* --- xfs_audit_rmap.c: the reverse map and the reference counts as further witnesses ------------------ */
void xf_owned(struct xf_audit_state *s, uint32_t ag, uint32_t block, uint64_t count, enum xf_class class, uint64_t owner, uint64_t offset,
	      bool unwritten, bool attr);
enum fsa_status xf_audit_rmap_tree(struct xf_audit_state *s, const struct xf_ag *a);
/* Findings where sums differ; *differ when any do, and then `differs` (x->ags of them) has the classes. */
void xf_audit_rmap_check(struct xf_audit_state *s, uint32_t *differs, bool *differ);
const char *xf_class_name(enum xf_class class);
enum fsa_status xf_audit_refc_tree(struct xf_audit_state *s, const struct xf_ag *a);
/* Whether `block` is shared by the reference count tree; *run is how many blocks from there on are alike. Counts them as met. */
bool xf_shared_at(struct xf_audit_state *s, uint32_t ag, uint32_t block, uint64_t count, uint64_t *run);
void xf_audit_refc_check(struct xf_audit_state *s);
enum fsa_status xf_tree_claim_block(void *arg, const struct xf_tree_block *b);
struct xf_tree_claimer {
	struct xf_audit_state *s;
	const struct xf_ag *a;
	enum xf_tree tree;
	uint32_t blocks;
};

/* --- xfs_audit_rmap_diff.c ---------------------------------------------------------------------------- */
void xf_rmap_keep(struct xf_audit_state *s, bool mapped, uint32_t ag, const struct xf_owned_extent *e);
enum fsa_status xf_rmap_diff_tell(struct xf *x, struct xf_rmap_diff *d);

/* --- xfs_audit_quota.c -------------------------------------------------------------------------------- */
void xf_quota_begin(struct xf_audit_state *s);
enum fsa_status xf_quota_add(struct xf_audit_state *s, const struct xf_inode *i, uint64_t realtime_blocks);
enum fsa_status xf_quota_record(struct xf_audit_state *s, uint64_t inode, uint64_t place, const uint8_t *r, uint64_t at);
void xf_quota_check(struct xf_audit_state *s);

/* --- xfs_audit_realtime.c: `b` is a block of scratch ---------------------------------------------------- */
enum fsa_status xf_rt_bitmap(struct xf_audit_state *s, const struct xf_inode *i, const struct xf_piece *p, uint8_t *b);
void xf_rt_summary(struct xf_audit_state *s, const struct xf_inode *i, const struct xf_piece *p, uint8_t *b);
void xf_rt_check(struct xf_audit_state *s);

/* --- xfs_audit_ag.c, xfs_audit_inobt.c ---------------------------------------------------------------- */
enum fsa_status xf_audit_ag(struct xf_audit_state *s, uint32_t number, uint8_t *sectors);
enum fsa_status xf_audit_inobt(struct xf_audit_state *s, const struct xf_ag *a);
enum fsa_status xf_audit_unlinked(struct xf_audit_state *s, const struct xf_ag *a);
bool xf_is_unlinked(const struct xf_audit_state *s, uint64_t ino);

/* --- xfs_audit_chunk.c, xfs_audit_inode.c, xfs_audit_data.c, xfs_audit_attr.c, xfs_audit_dir.c -------- */
enum fsa_status xf_audit_chunks(struct xf_audit_state *s);
enum xf_role xf_role_of(const struct xf *x, uint64_t ino);
enum fsa_status xf_audit_inode(struct xf_audit_state *s, const struct xf_inode *i, struct fsa_split *split, uint64_t slot, bool unreferenced);
/* Adds to the object; *blocks counts what st_blocks should show, *records the extents. */
enum fsa_status xf_audit_data(struct xf_audit_state *s, const struct xf_inode *i, enum xf_role role, bool unreferenced,
			      const struct fsa_owner *owner, struct fsa_object *o, uint64_t *blocks);
enum fsa_status xf_audit_map_node(struct xf_audit_state *s, const struct xf_inode *i, const struct xf_tree_block *b, bool attr,
				  bool unreferenced, unsigned flags, const struct fsa_owner *owner);
enum fsa_status xf_audit_attr_short(struct xf_audit_state *s, const struct xf_inode *i, struct xf_regions *g);
enum fsa_status xf_audit_attr(struct xf_audit_state *s, const struct xf_inode *i, bool unreferenced, unsigned flags,
			      const struct fsa_owner *owner, struct fsa_object *o, uint64_t *blocks);
enum fsa_status xf_audit_dirs(struct xf_audit_state *s);

/* --- xfs_links.c ------------------------------------------------------------------------------------- */
/* The chunk that an inode belongs to and its place there; NULL when the inode tree has none for it. */
struct xf_chunk *xf_chunk_of(const struct xf_audit_state *s, uint64_t ino, unsigned *slot);
/* In use by the inode tree. */
bool xf_in_use(const struct xf_audit_state *s, uint64_t ino, enum fsa_type *type);
void xf_links_check(struct xf_audit_state *s);

#endif
