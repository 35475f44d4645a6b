/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The tree, walked once in key order. Each node is entered once, at the level that its place demands, and its keys
 * lie between those that its parent has on either side.
 */
#include <string.h>

#include "reiserfs_audit.h"

struct range {
	const struct rfs_key *low, *high;	/* keys are >= *low and < *high; NULL: no bound */
};

static uint8_t *buffer_of(struct rfs_audit_state *s, unsigned level)
{
	return s->buffers + (size_t)(level - 1) * s->r->block_size;
}

static void check_keys(struct rfs_audit_state *s, const struct rfs_node *n, struct range in)
{
	struct rfs *r = s->r;
	uint64_t at = rfs_at(r, n->block);
	struct rfs_key before = { 0 };
	char a[64], b[64];

	for (unsigned k = 0; k < n->n; k++) {
		struct rfs_key key = rfs_node_key(n, k);

		if (k && rfs_compare(&key, &before) <= 0)
			RFS_FIND(r, "node", n->block, at, "key %u is %s, not above key %u, %s", k, rfs_key_text(&key, a), k - 1,
				 rfs_key_text(&before, b));
		before = key;
		if (k == 0 && in.low && rfs_compare(&key, in.low) < 0)
			RFS_FIND(r, "node", n->block, at, "first key is %s, below the key %s that leads here", rfs_key_text(&key, a),
				 rfs_key_text(in.low, b));
		if (k == n->n - 1 && in.high && rfs_compare(&key, in.high) >= 0)
			RFS_FIND(r, "node", n->block, at, "last key is %s, not below the key %s of the next node", rfs_key_text(&key, a),
				 rfs_key_text(in.high, b));
	}
}

static void book_branch(struct rfs_audit_state *s, const struct rfs_node *n)
{
	struct rfs *r = s->r;
	struct fsa_owner owner = { .object = "node", .number = n->block };
	uint32_t used = (uint32_t)(sizeof(struct rfs_block_head) + n->n * sizeof(struct rfs_disk_key) +
				   (n->n + 1) * sizeof(struct rfs_child));

	fsa_claim_with_rest(s->claims, 0, n->block, 1, used, RFS_D_INTERNAL, RFS_D_FREE_INTERNAL, 0, &owner);
	if (n->free_space != r->block_size - used)
		RFS_FIND(r, "node", n->block, rfs_at(r, n->block), "%u bytes free by its head, %u by its keys", n->free_space,
			 r->block_size - used);
	s->audit->branch_nodes++;
	s->audit->branch_used_bytes += used;
	s->audit->branch_bytes += r->block_size;
}

/* Children that lie in a row are asked for together. */
static void prefetch(struct rfs_audit_state *s, const struct rfs_node *n)
{
	struct rfs *r = s->r;
	uint64_t start = 0, count = 0;

	for (unsigned k = 0; k <= n->n; k++) {
		uint32_t child = rfs_node_child(n, k, NULL);

		if (count && child == start + count) {
			count++;
			continue;
		}
		if (count > 1)
			fsa_image_prefetch(r->fs->devices[0].image, rfs_at(r, start), count << r->block_log);
		start = child;
		count = 1;
	}
	if (count > 1)
		fsa_image_prefetch(r->fs->devices[0].image, rfs_at(r, start), count << r->block_log);
}

static enum fsa_status walk(struct rfs_audit_state *s, uint32_t block, unsigned level, struct range in, const uint16_t *used);

static enum fsa_status walk_children(struct rfs_audit_state *s, const struct rfs_node *n, struct range in)
{
	enum fsa_status st = FSA_OK;

	if (n->level == RFS_LEAF_LEVEL + 1)
		prefetch(s, n);
	for (unsigned k = 0; k <= n->n && st == FSA_OK; k++) {
		uint16_t used;
		uint32_t child = rfs_node_child(n, k, &used);
		struct rfs_key low, high;
		struct range sub = in;

		if (k) {
			low = rfs_node_key(n, k - 1);
			sub.low = &low;
		}
		if (k < n->n) {
			high = rfs_node_key(n, k);
			sub.high = &high;
		}
		st = walk(s, child, n->level - 1, sub, &used);
	}
	return st;
}

static enum fsa_status walk(struct rfs_audit_state *s, uint32_t block, unsigned level, struct range in, const uint16_t *used)
{
	struct rfs *r = s->r;
	uint8_t *bytes = buffer_of(s, level);
	struct fsa_owner owner = { .object = "node", .number = block };
	struct rfs_node n;
	uint64_t fresh;

	if (!rfs_block_ok(r, block)) {
		RFS_FIND(r, "node", block, FSA_NO_OFFSET, "the tree points to block %u at level %u, which cannot be a node: the filesystem has %u "
			 "blocks", block, level, r->blocks);
		return FSA_OK;
	}
	if (!bitset_set(&s->nodes, block, 1, &fresh, NULL, NULL))
		return FSA_ENOMEM;
	if (!fresh) {
		RFS_FIND(r, "node", block, rfs_at(r, block), "two places of the tree point here: entered once");
		return FSA_OK;
	}
	if (s->audit->progress)
		s->audit->progress(s->audit->progress_arg, s->done++, r->blocks - fsa_min(r->blocks, fsa_le32v(rfs_super(r)->s_free_blocks)));
	if (fsa_read(r->fs, 0, rfs_at(r, block), bytes, r->block_size, "node", block) != FSA_OK ||
	    !rfs_node_open(r, block, bytes, level, &n)) {
		/* The tree holds the block, whatever is in it. */
		fsa_claim(s->claims, 0, block, 1, level > RFS_LEAF_LEVEL ? RFS_D_INTERNAL : RFS_D_LEAF_HEAD, 0, &owner);
		return FSA_OK;
	}
	if (used && *used != r->block_size - sizeof(struct rfs_block_head) - n.free_space)
		RFS_FIND(r, "node", block, rfs_at(r, block), "its parent says that %u bytes are used, its head that %d are", *used,
			 (int)r->block_size - (int)sizeof(struct rfs_block_head) - n.free_space);
	check_keys(s, &n, in);
	if (level == RFS_LEAF_LEVEL)
		return rfs_audit_leaf(s, &n);
	book_branch(s, &n);
	return walk_children(s, &n, in);
}

enum fsa_status rfs_audit_tree(struct rfs_audit_state *s)
{
	struct rfs *r = s->r;
	enum fsa_status st;

	if (r->root_level == 0)
		return FSA_OK;
	st = walk(s, r->root_block, r->root_level, (struct range){ NULL, NULL }, NULL);
	return st == FSA_OK ? rfs_audit_object_end(s) : st;
}
