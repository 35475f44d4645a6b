/* SPDX-License-Identifier: GPL-2.0-only */
/* One tree block: counted as a reference, split into headers, items by their kind, and what is unused. */
#include <sys/stat.h>

#include "btrfs_audit.h"

static enum btr_detail item_detail(struct btr_key key)
{
	switch (key.type) {
	case 0:
		return key.objectid == BTRFS_FREE_SPACE_OBJECTID ? BTR_D_CACHE_HEADER : BTR_D_OTHER_ITEM;
	case BTRFS_INODE_ITEM_KEY: return BTR_D_INODE;
	case BTRFS_INODE_REF_KEY:
	case BTRFS_INODE_EXTREF_KEY: return BTR_D_INODE_REF;
	case BTRFS_XATTR_ITEM_KEY: return BTR_D_XATTR;
	case BTRFS_VERITY_DESC_ITEM_KEY:
	case BTRFS_VERITY_MERKLE_ITEM_KEY: return BTR_D_VERITY;
	case BTRFS_ORPHAN_ITEM_KEY: return BTR_D_ORPHAN;
	case BTRFS_DIR_ITEM_KEY: return BTR_D_DIR_ITEM;
	case BTRFS_DIR_INDEX_KEY: return BTR_D_DIR_INDEX;
	case BTRFS_EXTENT_DATA_KEY: return BTR_D_FILE_EXTENT;
	case BTRFS_EXTENT_CSUM_KEY: return BTR_D_CSUM;
	case BTRFS_ROOT_ITEM_KEY: return BTR_D_ROOT_ITEM;
	case BTRFS_ROOT_BACKREF_KEY:
	case BTRFS_ROOT_REF_KEY: return BTR_D_ROOT_REF;
	case BTRFS_EXTENT_ITEM_KEY:
	case BTRFS_METADATA_ITEM_KEY: return BTR_D_EXTENT;
	case BTR_EXTENT_OWNER_REF_KEY:
	case BTRFS_TREE_BLOCK_REF_KEY:
	case BTRFS_EXTENT_DATA_REF_KEY:
	case BTRFS_EXTENT_REF_V0_KEY:
	case BTRFS_SHARED_BLOCK_REF_KEY:
	case BTRFS_SHARED_DATA_REF_KEY: return BTR_D_BACKREF;
	case BTRFS_BLOCK_GROUP_ITEM_KEY: return BTR_D_BLOCK_GROUP;
	case BTRFS_FREE_SPACE_INFO_KEY:
	case BTRFS_FREE_SPACE_EXTENT_KEY:
	case BTRFS_FREE_SPACE_BITMAP_KEY: return BTR_D_FREE_SPACE;
	case BTRFS_DEV_EXTENT_KEY: return BTR_D_DEV_EXTENT;
	case BTRFS_DEV_ITEM_KEY: return BTR_D_DEV_ITEM;
	case BTR_RAID_STRIPE_KEY:
	case BTRFS_CHUNK_ITEM_KEY: return BTR_D_CHUNK;
	case BTRFS_QGROUP_STATUS_KEY:
	case BTRFS_QGROUP_INFO_KEY:
	case BTRFS_QGROUP_LIMIT_KEY:
	case BTRFS_QGROUP_RELATION_KEY: return BTR_D_QUOTA;
	case BTRFS_TEMPORARY_ITEM_KEY:
	case BTRFS_PERSISTENT_ITEM_KEY:
	case BTRFS_DEV_REPLACE_KEY: return BTR_D_PERSISTENT;
	case BTRFS_UUID_KEY_SUBVOL:
	case BTRFS_UUID_KEY_RECEIVED_SUBVOL: return BTR_D_UUID;
	default: return BTR_D_OTHER_ITEM;
	}
}

static bool has_inodes(const struct btr_audit *a)
{
	return a->role == BTR_ROLE_SUBVOLUME || a->role == BTR_ROLE_RELOC || a->role == BTR_ROLE_ROOT_TREE;
}

/* Inline extents are bytes of a file behind a header, or a symbolic link's target. */
static bool add_inline(struct btr_audit *a, const struct btr_item *i, bool link)
{
	uint32_t head = (uint32_t)fsa_min(i->size, BTR_INLINE_START);
	bool compressed = head == BTR_INLINE_START && FSA_LE(uint8_t, i->data, struct btrfs_file_extent_item, compression);
	enum btr_detail detail = link ? BTR_D_SYMLINK : compressed ? BTR_D_INLINE_COMPRESSED : BTR_D_INLINE;

	return btr_part_add(a, i->offset, head, BTR_D_INLINE_HEADER, i->key.objectid) &&
	       btr_part_add(a, i->offset + head, i->size - head, detail, i->key.objectid);
}

static bool add_items(struct btr_audit *a, const struct btr_node *node)
{
	/* The mode of the inode whose items pass by: its own item may have been in the leaf before. */
	uint64_t number = a->file.open && a->file.have_item ? a->file.number : 0;
	uint32_t mode = number ? a->file.inode.mode : 0;
	bool inodes = has_inodes(a), ok = true;

	for (uint32_t k = 0; k < node->n && ok; k++) {
		struct btr_item i = btr_item_at(node, k);
		uint64_t owner = inodes && i.key.objectid >= BTRFS_FIRST_FREE_OBJECTID && i.key.objectid <= BTRFS_LAST_FREE_OBJECTID
				 ? i.key.objectid : 0;

		if (i.key.type == BTRFS_INODE_ITEM_KEY && i.size == sizeof(struct btrfs_inode_item)) {
			number = i.key.objectid;
			mode = FSA_LE(uint32_t, i.data, struct btrfs_inode_item, mode);
		}
		if (i.key.type == BTRFS_EXTENT_DATA_KEY && i.size > offsetof(struct btrfs_file_extent_item, type) &&
		    FSA_LE(uint8_t, i.data, struct btrfs_file_extent_item, type) == BTRFS_FILE_EXTENT_INLINE)
			ok = add_inline(a, &i, number == i.key.objectid && S_ISLNK(mode));
		else
			ok = btr_part_add(a, i.offset, i.size, item_detail(i.key), owner);
	}
	return ok;
}

/* The parts of a node that is in use; false when memory ran out. */
static bool split(struct btr_audit *a, const struct btr_node *node, uint64_t *used)
{
	const struct btr *b = a->b;
	uint32_t entries = node->n * (node->level ? BTR_PTR : BTR_ITEM), end = b->nodesize;
	bool ok = btr_part_add(a, 0, BTR_HEADER, BTR_D_HEADER, 0);

	if (node->level) {
		*used = BTR_HEADER + entries;
		return ok && btr_part_add(a, BTR_HEADER, entries, BTR_D_POINTER, 0) &&
		       btr_part_add(a, *used, b->nodesize - *used, BTR_D_FREE_NODE, 0);
	}
	if (node->n)
		end = btr_item_at(node, node->n - 1).offset;
	*used = b->nodesize - (end - BTR_HEADER - entries);
	return ok && btr_part_add(a, BTR_HEADER, entries, BTR_D_ITEM_HEADER, 0) &&
	       btr_part_add(a, BTR_HEADER + entries, end - BTR_HEADER - entries, BTR_D_FREE_LEAF, 0) && add_items(a, node);
}

/* A parent that was met for the first time refers to this node: one reference more. */
static void count_reference(struct btr_audit *a, uint64_t logical, unsigned level)
{
	struct btr_extent *e = btr_extent_find(a, logical);

	if (!e)
		return;
	e->used = true;
	if (a->fresh[level + 1])
		e->seen++;
	if (e->last_root != a->root_index || !a->root_index) {
		e->last_root = a->root_index;
		a->sums[a->root_index].referenced += a->b->nodesize;
		e->owner = e->owner == BTR_NOBODY ? a->root_index : e->owner == a->root_index ? a->root_index : BTR_SEVERAL;
	}
}

static void count_node(struct btr_audit *a, const struct btr_node *node, uint64_t used, bool fresh)
{
	struct fsa_audit *audit = a->audit;

	if (node->level)
		a->count.nodes++;
	else
		a->count.leaves++;
	a->count.used_bytes += used;
	if (!node->level)
		a->count.items += node->n;
	if (!fresh || fsa_claims_want_owners(a->claims))
		return;
	if (node->level) {
		audit->branch_nodes++;
		audit->branch_used_bytes += used;
		audit->branch_bytes += a->b->nodesize;
	} else {
		audit->leaf_nodes++;
		audit->leaf_used_bytes += used;
		audit->leaf_bytes += a->b->nodesize;
	}
}

enum fsa_status btr_audit_node(void *arg, const struct btr_node *node, uint64_t logical, unsigned level, bool *enter)
{
	struct btr_audit *a = arg;
	struct btr *b = a->b;
	const struct btr_chunk *c = btr_chunk_at(b, logical);
	struct fsa_owner owner = { .object = a->role == BTR_ROLE_LOG ? "log tree" : "tree", .number = a->root->id };
	bool several = a->role == BTR_ROLE_SUBVOLUME || a->role == BTR_ROLE_DELETED || a->role == BTR_ROLE_RELOC;
	unsigned flags = (several ? FSA_CLAIM_SHARED : 0) | (a->role == BTR_ROLE_LOG ? FSA_CLAIM_UNMAPPED : 0);
	uint64_t used = b->nodesize, bit;
	bool fresh, ok = true;

	(void)enter;
	if (!c || !fsa_within(logical - c->logical, b->nodesize, c->length))
		return FSA_OK;
	bit = btr_bit(b, c, logical);
	fresh = !bitset_test(&a->nodes, bit);
	if (a->role != BTR_ROLE_LOG)
		count_reference(a, logical, level);
	a->fresh[level] = fresh;
	if (fresh && !bitset_set(&a->nodes, bit, 1, &(uint64_t){ 0 }, NULL, NULL))
		return FSA_ENOMEM;
	a->n_parts = 0;
	if (!node) {
		btr_claim(a, logical, b->nodesize, BTR_D_UNREADABLE, flags, &owner);
		return FSA_OK;
	}
	if (a->role == BTR_ROLE_LOG) {
		btr_claim(a, logical, b->nodesize, BTR_D_LOG, flags, &owner);
	} else if (a->role == BTR_ROLE_DELETED) {
		btr_claim(a, logical, b->nodesize, BTR_D_DELETED_SUBVOL, flags, &owner);
	} else {
		ok = split(a, node, &used);
		btr_claim_parts(a, logical, b->nodesize, level ? BTR_D_FREE_NODE : BTR_D_FREE_LEAF, flags, &owner);
	}
	count_node(a, node, used, fresh);
	if (a->audit->progress && ++a->nodes_done % 256 == 0)
		a->audit->progress(a->audit->progress_arg, a->nodes_done * b->nodesize, fsa_le64v(b->super.bytes_used));
	return ok ? FSA_OK : FSA_ENOMEM;
}
