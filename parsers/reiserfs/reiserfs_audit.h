/* SPDX-License-Identifier: GPL-2.0-only */
/* What the parts of the audit share. */
#ifndef FSA_REISERFS_AUDIT_H
#define FSA_REISERFS_AUDIT_H

#include "../core/bitset.h"
#include "reiserfs.h"

/* --- reiserfs_known.c: what is known of each object id, for links and parents ------------------------------ */

enum rfs_known_flags {
	RFS_SEEN = 1,			/* has stat data */
	RFS_IS_DIR = 2,
	RFS_NAMED = 4,			/* by an entry */
	RFS_HIDDEN = 8,			/* belongs to the tree of attributes */
	RFS_SAFE = 16,			/* a safe link says that its deletion is not finished */
	RFS_UP = 32,			/* the root is above it */
	RFS_WALKED = 64,		/* met on the way up just now */
};

struct rfs_known {
	uint32_t dir;			/* first word of its key */
	uint32_t links;			/* as its stat data says */
	uint32_t refs;			/* entries that name it */
	uint32_t subs;			/* directories whose ".." it is */
	uint32_t parent;		/* object id of the directory that names it */
	uint32_t dotdot;
};

struct rfs_known_table {
	struct rfs_known_chunk *chunks;
	size_t n, room;
	uint32_t *slots;		/* open addressing: chunk index + 1, 0 is empty */
	size_t n_slots;
};

/* NULL: not there, or with `create` out of memory. Valid until the next creation. */
struct rfs_known *rfs_known_get(struct rfs_known_table *t, uint32_t oid, bool create, uint8_t **flags);
void rfs_known_free(struct rfs_known_table *t);
/* For looking at all: places 0 .. count - 1, those without flags are unused. */
size_t rfs_known_count(const struct rfs_known_table *t);
struct rfs_known *rfs_known_at(struct rfs_known_table *t, size_t k, uint32_t *oid, uint8_t **flags);

/* --- the object whose items are being read ------------------------------------------------------------------ */

struct rfs_run {
	uint64_t block, count, bytes;	/* bytes: up to end of file */
	bool beyond;			/* whole blocks behind end of file */
};

struct rfs_current {
	bool active, have_stat, hidden, deleted, bad_blocks;
	uint32_t dir, oid;
	struct rfs_inode inode;
	struct fsa_object o;
	struct fsa_owner owner;
	uint64_t next;			/* byte of the file behind the last item */
	uint64_t entry_bytes;		/* of its directory items */
	struct rfs_run run;
	uint64_t next_logical, next_physical;	/* blocks behind the last piece, for counting extents */
	bool have_piece;
	uint64_t blocks;		/* of its own */
	uint64_t first_direct;		/* offset of the first direct item's key; 0: none yet */
	uint64_t packed_blocks;		/* blocks of the file up to the last that packed bytes would take */
	uint64_t item_offset;		/* where the first item lies */
};

struct rfs_audit_state {
	struct rfs *r;
	struct fsa_audit *audit;
	struct fsa_claims *claims;
	bool want_owners;
	struct rfs_known_table known;
	struct bitset nodes;		/* met so far */
	struct rfs_current current;
	struct rfs_key last;		/* key of the item before */
	bool have_last;
	uint32_t *oid_map;		/* borders: used from an even place on, free from an odd one on */
	uint32_t oid_map_n;
	uint8_t *buffers;		/* a node for each level */
	uint64_t done;			/* blocks, for progress */
	uint64_t items[4], item_bytes[4];	/* by type: figures that debugreiserfs prints too */
	uint64_t tail_sizes[17];	/* direct items of files by powers of two of their length */
	uint64_t data_blocks;
	enum fsa_status status;		/* first trouble of the program, from callbacks */
};

/* reiserfs_audit_tree.c */
enum fsa_status rfs_audit_tree(struct rfs_audit_state *s);
/* reiserfs_audit_leaf.c */
enum fsa_status rfs_audit_leaf(struct rfs_audit_state *s, const struct rfs_node *n);
/* reiserfs_audit_object.c: each item comes once, in key order; its body is booked into the leaf's split */
enum fsa_status rfs_audit_item(struct rfs_audit_state *s, struct fsa_split *split, const struct rfs_item *item);
enum fsa_status rfs_audit_object_end(struct rfs_audit_state *s);
/* reiserfs_audit_data.c */
void rfs_audit_data(struct rfs_audit_state *s, const struct rfs_item *item);
void rfs_audit_flush_run(struct rfs_audit_state *s);
/* reiserfs_audit_names.c */
enum fsa_status rfs_audit_hidden(struct rfs_audit_state *s);
enum fsa_status rfs_audit_names(struct rfs_audit_state *s, const struct rfs_item *item);
enum fsa_status rfs_audit_stat(struct rfs_audit_state *s, const struct rfs_inode *i);
void rfs_audit_links(struct rfs_audit_state *s);

#endif
