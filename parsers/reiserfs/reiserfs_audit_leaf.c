/* SPDX-License-Identifier: GPL-2.0-only */
/* A leaf: heads from the front, bodies from the end downwards without gaps, what is between them unused. */
#include "reiserfs_audit.h"

static void book_heads(struct rfs_audit_state *s, struct fsa_split *split, const struct rfs_node *n)
{
	const uint32_t head = sizeof(struct rfs_block_head), item = sizeof(struct rfs_item_head);

	fsa_split_part(split, 0, head, RFS_D_LEAF_HEAD, NULL);
	if (!s->want_owners) {
		fsa_split_part(split, head, (uint64_t)n->n * item, RFS_D_ITEM_HEAD, NULL);
		return;
	}
	for (unsigned k = 0; k < n->n; k++) {
		struct rfs_key key = rfs_node_key(n, k);
		struct fsa_owner owner = {
			.object = "object", .number = key.oid, .ref = rfs_ref(key.dir, key.oid), .has_ref = key.dir != RFS_SAFE_LINK_DIR_ID,
		};

		fsa_split_part(split, head + (uint64_t)k * item, item, RFS_D_ITEM_HEAD, &owner);
	}
}

static void check_head(struct rfs_audit_state *s, const struct rfs_node *n, const struct rfs_item *item)
{
	struct rfs *r = s->r;
	uint64_t at = rfs_at(r, n->block);

	if (item->version & 0x8000)
		RFS_FIND(r, "node", n->block, at, "item %u is marked as unreachable: reiserfsck --rebuild-tree was not finished", item->index);
	if ((item->version & 0x7fff) > 1)
		RFS_FIND(r, "node", n->block, at, "item %u has version %u, known are 0 and 1", item->index, item->version & 0x7fff);
	if (item->key.type == RFS_ANY)
		RFS_FIND(r, "node", n->block, at, "item %u of object [%u %u] is of no known type", item->index, item->key.dir, item->key.oid);
}

enum fsa_status rfs_audit_leaf(struct rfs_audit_state *s, const struct rfs_node *n)
{
	struct rfs *r = s->r;
	uint64_t at = rfs_at(r, n->block);
	struct fsa_owner owner = { .object = "node", .number = n->block };
	uint32_t heads = (uint32_t)(sizeof(struct rfs_block_head) + n->n * sizeof(struct rfs_item_head));
	uint32_t end = r->block_size, used = heads;
	enum fsa_status st = FSA_OK;
	struct fsa_split split;

	fsa_split_begin(&split, s->claims, 0, n->block, 1, 0, &owner);
	book_heads(s, &split, n);
	for (unsigned k = 0; k < n->n && st == FSA_OK; k++) {
		struct rfs_item item;
		bool inside = rfs_node_item(r, n, k, &item);
		uint32_t item_end = (uint32_t)item.location + item.length;

		check_head(s, n, &item);
		if (!inside || item_end > end) {
			RFS_FIND(r, "node", n->block, at, "item %u has bytes %u to %u of the node, %u to %u are left for it", k, item.location,
				 item_end, heads, end);
			continue;
		}
		if (item_end < end)
			RFS_FIND(r, "node", n->block, at, "item %u ends at byte %u, the one before it begins at %u", k, item_end, end);
		fsa_split_part(&split, item_end, end - item_end, RFS_D_FREE_LEAF, NULL);
		end = item.location;
		used += item.length;
		st = rfs_audit_item(s, &split, &item);
	}
	fsa_split_part(&split, heads, end - heads, RFS_D_FREE_LEAF, NULL);
	fsa_split_end(&split, RFS_D_FREE_LEAF);
	if (n->free_space != r->block_size - used)
		RFS_FIND(r, "node", n->block, at, "%u bytes free by its head, %u by its items", n->free_space, r->block_size - used);
	if (n->n == 0)
		RFS_FIND(r, "node", n->block, at, "a leaf with 0 items, should have at least 1");
	s->audit->leaf_nodes++;
	s->audit->leaf_used_bytes += used;
	s->audit->leaf_bytes += r->block_size;
	return st;
}
