/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of the Reiser4 audit share. */
#ifndef FSA_REISER4_AUDIT_H
#define FSA_REISER4_AUDIT_H

#include "reiser4.h"
#include "../core/bitset.h"

/* An object between its stat data and its last item. */
struct r4_object {
	struct r4_key key;		/* of the stat data */
	struct r4_stat stat;
	uint64_t stat_offset;
	struct r4_cluster cluster;
	/* Of the cluster's stored bytes: the sum of all but the last four, and those, which are its checksum when it is compressed. */
	uint32_t cluster_sum;
	uint8_t cluster_last[R4_CLUSTER_CHECKSUM];
	unsigned cluster_held;		/* bytes in cluster_last */
	uint64_t data_bytes, packed_bytes, slack_bytes, preallocated_bytes, cost_bytes, extents;
	uint64_t squeezed_bytes;	/* of packed_bytes, what compression keeps off the image */
	uint64_t stored_bytes;		/* as the byte count of the stat data should have it */
	uint64_t end;			/* first byte behind what its items hold */
	uint64_t next_logical, next_physical;
	bool body;			/* it has items of data */
};

struct r4_counts {
	uint64_t nodes[3], used[3];	/* leaves, twigs, branches; used bytes as measurefs counts them */
	uint64_t data_blocks;		/* unformatted, as extents count them */
	uint64_t items, item[R4_ITEM_PLUGINS];
	uint64_t pointed, jumps;	/* blocks pointed to in tree order, and how often not to the next */
	uint64_t last_block;
	uint64_t tail_sizes[17];	/* items of tails by powers of two */
	uint64_t tail_item_bytes, ctail_item_bytes;
};

struct r4_audit_state {
	struct r4 *r;
	struct fsa_audit *audit;
	struct fsa_claims *claims;
	struct bitset nodes;		/* walked */
	uint8_t *raw[R4_MAX_HEIGHT + 1];	/* a node a level */
	struct r4_key last_key;
	bool have_key;
	uint64_t damaged;		/* nodes and objects left out: sums over all of them make no sense then */
	/* Objects of one locality, in key order: first come all their stat data, then all their bodies. */
	struct r4_object *objects;
	size_t n_objects, room, current;
	uint64_t locality;
	/* Each entry adds its object, each stat data takes off its links: nothing is left when all agree. */
	uint64_t link_sum;
	uint64_t dir_sum;	/* the same of what directories say of themselves and what they hold */
	struct r4_counts counts;
};

/* --- reiser4_audit_static.c --- */
enum fsa_status r4_audit_static(struct r4_audit_state *s);
enum fsa_status r4_audit_journal(struct r4_audit_state *s);

/* --- reiser4_audit_node.c --- */
enum fsa_status r4_audit_tree(struct r4_audit_state *s);

/* --- reiser4_audit_object.c --- */
enum fsa_status r4_audit_stat(struct r4_audit_state *s, const struct r4_node *n, const struct r4_item *item, struct r4_stat *stat);
/* The object that a body item belongs to; NULL, with a finding, when it has no stat data. */
struct r4_object *r4_audit_owner(struct r4_audit_state *s, const struct r4_node *n, const struct r4_item *item);
enum fsa_status r4_audit_extents(struct r4_audit_state *s, const struct r4_node *n, const struct r4_item *item);
void r4_audit_tail(struct r4_audit_state *s, const struct r4_node *n, const struct r4_item *item, struct r4_object *o);
/* Tells the visitor about all objects of the locality that is left, when `locality` is another. */
enum fsa_status r4_audit_locality(struct r4_audit_state *s, uint64_t locality);

/* --- reiser4_audit_links.c --- */
uint64_t r4_link_hash(struct fsa_ref ref);
/* How many entries must name an object. */
uint64_t r4_link_names(const struct r4_key *key, const struct r4_stat *stat);
enum fsa_status r4_audit_links(struct r4_audit_state *s);

/* --- reiser4_audit_dirs.c --- */
void r4_audit_dir_stat(struct r4_audit_state *s, const struct r4_key *key, const struct r4_stat *stat);
void r4_audit_dir_item(struct r4_audit_state *s, const struct r4_item *item);
enum fsa_status r4_audit_dirs(struct r4_audit_state *s);

#endif
