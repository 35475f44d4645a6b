/* SPDX-License-Identifier: GPL-2.0-only */
/* What the parts of the audit share. */
#ifndef FSA_JFS_AUDIT_H
#define FSA_JFS_AUDIT_H

#include "jfs.h"

/* For each inode of an IAG: what it is, and names still missing (links minus names, modulo 2^32). */
struct jfs_iag_links {
	uint32_t missing[JFS_INODES_PER_IAG];
	uint8_t type[JFS_INODES_PER_IAG];	/* enum fsa_type + 1; 0: not in use */
};

struct jfs_dir_link {
	uint32_t inode;
	uint32_t parent;		/* by the entry that names it; 0 until one does */
	uint32_t dotdot;
};

/* Blocks by what holds them: jfs_fsck prints such a summary. */
struct jfs_usage {
	uint64_t dir_blocks, file_blocks, ea_blocks, acl_blocks;
	uint64_t directories, files;
};

struct jfs_audit_state {
	struct jfs *j;
	struct fsa_audit *audit;
	struct fsa_claims *claims;
	struct bitset nodes;		/* xtree and dtree pages that were entered */
	struct jfs_iag_links **links;	/* an entry an IAG; NULL: none of its inodes is in use */
	struct jfs_dir_link *dirs;	/* in order of inode numbers */
	size_t n_dirs, dirs_room;
	/* Pages of inodes with a directory among them: booked when the types of all inodes are known. */
	struct jfs_dir_page { uint64_t block; uint32_t first; uint8_t in_use; } *pages;
	size_t n_pages, pages_room;
	struct jfs_usage usage;
};

/* jfs_audit_static.c */
enum fsa_status jfs_audit_static(struct jfs_audit_state *s);
void jfs_book_xtree_node(struct jfs_audit_state *s, const struct jfs_node *n, enum jfs_detail detail, unsigned flags,
			 const struct fsa_owner *owner);

/* jfs_audit_bmap.c */
enum fsa_status jfs_audit_bmap(struct jfs_audit_state *s);

/* jfs_bmap_tree.c: summary trees */
int8_t jfs_word_buddy(uint32_t word);
/* Turns leaves into a whole tree in place; the root's value is returned. */
int8_t jfs_tree_build(int8_t *tree, unsigned leaves, unsigned first_leaf, int budmin);

/* jfs_audit_imap.c */
enum fsa_status jfs_audit_imap(struct jfs_audit_state *s);
void jfs_book_imap_control(struct jfs_audit_state *s, uint64_t block, const struct fsa_owner *owner);
void jfs_book_iag(struct jfs_audit_state *s, uint64_t block, const uint8_t *page, const struct fsa_owner *owner);

/* jfs_audit_inode.c: one inode in use, a part of the page `table` at `slot` */
enum fsa_status jfs_audit_inode(struct jfs_audit_state *s, const struct jfs_inode *i, struct fsa_split *table, uint64_t slot);
void jfs_book_aggregate(struct fsa_split *table, uint64_t slot, const struct jfs_inode *i, const struct fsa_owner *owner);

/* jfs_audit_data.c: blocks of regular files and symbolic links. *blocks counts as di_nblocks counts. */
enum fsa_status jfs_audit_data(struct jfs_audit_state *s, const struct jfs_inode *i, bool unreferenced, unsigned flags,
			       const struct fsa_owner *owner, struct fsa_object *o, uint64_t *blocks);

/* jfs_audit_dir.c */
enum fsa_status jfs_audit_dir(struct jfs_audit_state *s, const struct jfs_inode *i, struct fsa_split *table, uint64_t slot,
			      bool unreferenced, unsigned flags, const struct fsa_owner *owner, struct fsa_object *o,
			      uint64_t *blocks);

/* jfs_links.c */
/* Notes the type and the links of the record `raw`. */
enum fsa_status jfs_links_use(struct jfs_audit_state *s, uint32_t number, const uint8_t *raw, bool *directory);
bool jfs_links_in_use(const struct jfs_audit_state *s, uint32_t ino, enum fsa_type *type);
void jfs_links_ref(struct jfs_audit_state *s, uint32_t ino);
struct jfs_dir_link *jfs_links_dir(struct jfs_audit_state *s, uint32_t ino);
void jfs_links_check(struct jfs_audit_state *s);
void jfs_links_free(struct jfs_audit_state *s);

#endif
