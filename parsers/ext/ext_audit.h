/* SPDX-License-Identifier: GPL-2.0-only */
/* What the parts of the audit share. */
#ifndef FSA_EXT_AUDIT_H
#define FSA_EXT_AUDIT_H

#include "ext.h"
#include "ext_tally.h"

/* What an inode is for, when it is none of the user's. */
enum ext_role {
	EXT_ROLE_FILE,		/* the user's: named by a directory, or deleted while open */
	EXT_ROLE_BAD_BLOCKS,
	EXT_ROLE_RESIZE,
	EXT_ROLE_JOURNAL,
	EXT_ROLE_QUOTA,
	EXT_ROLE_BOOT_LOADER,
	EXT_ROLE_ORPHAN_FILE,
	EXT_ROLE_XATTR_VALUE,
	EXT_ROLE_RESERVED,
};

/* A directory block met while inodes were read; read later, in the order of the blocks. */
struct ext_dir_job {
	uint64_t physical;
	uint32_t logical;
	uint32_t inode;
	uint32_t flags;		/* of the inode */
	uint32_t seed;
};

/* A name in a block, for finding one that stands there twice. */
struct ext_name {
	uint64_t hash;
	uint32_t offset;	/* of its entry in the block */
	uint32_t length;
};

struct ext_dir_link {
	uint32_t inode;
	uint32_t parent;	/* by the entry that names it; 0 until one does */
	uint32_t dotdot;
};

struct ext_audit_state {
	struct ext *e;
	struct fsa_audit *audit;
	struct fsa_claims *claims;
	struct ext_orphans orphans;
	struct bitset map_nodes;	/* indirect blocks and extent nodes that were entered */
	/*
	 * A byte an inode, only for groups that use any: low half in use and type, high half links still
	 * missing (7 more to 7 too many; 15: in `links`).
	 */
	uint8_t **inode_info;
	struct ext_tally links;
	struct ext_tally xattr_blocks;	/* shared ones: references still missing */
	struct ext_tally value_inodes;	/* likewise */
	struct ext_dir_job *jobs;
	size_t n_jobs, jobs_room;
	struct ext_dir_link *dirs;	/* in order of inode numbers */
	size_t n_dirs, dirs_room;
	uint32_t *inline_dirs;
	size_t n_inline, inline_room;
	struct ext_name *names;		/* of the directory block being read */
	size_t n_names, names_room;
	uint8_t *block;			/* scratch: one block */
	uint8_t *xattr;			/* another */
	uint64_t free_inodes;
	uint32_t group_dirs;		/* directories of the group being read */
};

/* Grows an array to hold one more element; false when memory ran out. */
bool ext_room(void **array, size_t *room, size_t count, size_t size);

/* Regions of a node in any order, turned into parts that tile it; what is left over is `rest`. */
struct ext_region { uint32_t offset, length; enum ext_detail detail; };
struct ext_regions { struct ext_region *r; size_t n, room; };
bool ext_region_add(struct ext_regions *g, uint32_t offset, uint32_t length, enum ext_detail detail);
/* Returns false when regions overlap: the later one is cut. */
bool ext_regions_book(struct ext_regions *g, struct fsa_split *split, uint64_t base, uint32_t size, enum ext_detail rest,
		      const struct fsa_owner *owner);

/* ext_audit_static.c */
void ext_audit_static(struct ext_audit_state *s);
enum fsa_status ext_audit_maps(struct ext_audit_state *s);
enum fsa_status ext_audit_cluster_rests(struct ext_audit_state *s);
bool ext_is_reserved_gdt(const struct ext *e, uint64_t block);

/* ext_audit_table.c: inode tables, slot by slot */
enum fsa_status ext_audit_tables(struct ext_audit_state *s);

/* ext_audit_inode.c: one inode in use */
enum ext_role ext_role_of(const struct ext *e, const struct ext_inode *i);
enum fsa_status ext_audit_inode(struct ext_audit_state *s, const struct ext_inode *i, struct fsa_split *table,
				uint64_t slot_offset, bool unreferenced);

/* ext_audit_data.c: its blocks. Adds to the object; *blocks counts blocks that st_blocks should show. */
enum fsa_status ext_audit_data(struct ext_audit_state *s, const struct ext_inode *i, enum ext_role role, bool unreferenced,
			       const struct fsa_owner *owner, struct fsa_object *o, uint64_t *blocks);
/* A block of its own that st_blocks counts: with bigalloc the rest of its cluster goes with it. */
void ext_claim_single(struct ext_audit_state *s, uint64_t block, unsigned flags, const struct fsa_owner *owner, uint64_t *blocks);

/* ext_audit_xattr.c */
enum fsa_status ext_audit_xattrs(struct ext_audit_state *s, const struct ext_inode *i, struct fsa_split *table,
				 uint64_t slot_offset, bool unreferenced, const struct fsa_owner *owner, struct fsa_object *o,
				 uint64_t *blocks);
void ext_audit_xattr_counts(struct ext_audit_state *s);

/* ext_audit_dir.c */
enum fsa_status ext_audit_inline_dir(struct ext_audit_state *s, const struct ext_inode *i, const uint8_t *bytes, uint32_t size,
				     uint64_t image_offset, struct ext_regions *g, uint32_t base);
enum fsa_status ext_audit_dirs(struct ext_audit_state *s);

/* ext_links.c */
bool ext_links_use(struct ext_audit_state *s, const struct ext_inode *i, bool counted);
bool ext_links_ref(struct ext_audit_state *s, uint32_t ino);
bool ext_links_in_use(const struct ext_audit_state *s, uint32_t ino, enum fsa_type *type);
void ext_links_check(struct ext_audit_state *s);
void ext_links_free(struct ext_audit_state *s);

#endif
