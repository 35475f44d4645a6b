/* SPDX-License-Identifier: GPL-2.0-only */
/* Extent trees: a root of up to four entries in the inode, nodes of a block each below. */
#include <stdlib.h>
#include <string.h>

#include "ext.h"

/*
 * A tree of depth 5 maps all 2^32 blocks at the smallest block size and is the most that Linux reads
 * (EXT4_MAX_EXTENT_DEPTH); deeper ones, which e2fsck can flatten, are walked all the same.
 */
#define KERNEL_DEPTH 5u
#define MAX_DEPTH 16u

#define HEADER ((uint32_t)sizeof(struct ext3_extent_header))
#define ENTRY ((uint32_t)sizeof(struct ext3_extent))

struct walk {
	struct ext *e;
	const struct ext_inode *i;
	const struct ext_map_ops *ops;
	uint8_t *buffer[MAX_DEPTH];
	uint64_t next;			/* first file block not yet mapped: extents must rise */
	struct bitset *seen;
};

#define EH(p, field) FSA_LE(uint32_t, p, struct ext3_extent_header, field)

/* Checks the header of a node with room for `room` bytes; 0 entries when it is unusable. */
static bool header_ok(struct walk *w, const uint8_t *node, uint32_t room, unsigned depth, uint64_t block)
{
	struct ext *e = w->e;
	uint32_t entries = EH(node, eh_entries), max = EH(node, eh_max);
	ull at = block ? ext_at(e, block) : w->i->offset + offsetof(struct ext2_inode_large, i_block);

	if (EH(node, eh_magic) != EXT3_EXT_MAGIC) {
		EXT_FIND(e, "inode", w->i->number, at, "extent node has magic 0x%04x, not 0x%04x", EH(node, eh_magic), EXT3_EXT_MAGIC);
		return false;
	}
	if (EH(node, eh_depth) != depth) {
		EXT_FIND(e, "inode", w->i->number, at, "extent node says depth %u, the tree has %u there", EH(node, eh_depth), depth);
		return false;
	}
	if (max > (room - HEADER) / ENTRY || entries > max) {
		EXT_FIND(e, "inode", w->i->number, at, "extent node says %u of %u entries, there is room for %u", entries, max,
			 (room - HEADER) / ENTRY);
		return false;
	}
	return true;
}

static enum fsa_status leaf_entry(struct walk *w, const uint8_t *x, uint64_t at)
{
	struct ext *e = w->e;
	uint32_t length = FSA_LE(uint32_t, x, struct ext3_extent, ee_len);
	struct ext_piece p = {
		.logical = FSA_LE(uint32_t, x, struct ext3_extent, ee_block),
		.physical = FSA_LE(uint64_t, x, struct ext3_extent, ee_start) |
			    FSA_LE(uint64_t, x, struct ext3_extent, ee_start_hi) << 32,
		.count = length,
	};

	if (length > EXT_INIT_MAX_LEN) {
		p.unwritten = true;
		p.count = length - EXT_INIT_MAX_LEN;
	}
	if (!p.count) {
		EXT_FIND(e, "inode", w->i->number, at, "extent of no blocks at file block %llu", (ull)p.logical);
		return FSA_OK;
	}
	if (!ext_block_ok(e, p.physical, p.count)) {
		EXT_FIND(e, "inode", w->i->number, at, "extent of file blocks %llu+%llu is at block %llu, the filesystem has %u "
			 "to %llu", (ull)p.logical, (ull)p.count, (ull)p.physical, e->first_data_block, (ull)e->blocks - 1);
		return FSA_OK;
	}
	if (p.logical < w->next) {
		EXT_FIND(e, "inode", w->i->number, at, "extent at file block %llu, file block %llu was mapped before it",
			 (ull)p.logical, (ull)w->next - 1);
		/* Still claimed: the blocks are held. Readers drop what overlaps (fsa_file_extents). */
	} else {
		w->next = p.logical + p.count;
	}
	return w->ops->piece(w->ops->arg, &p);
}

static enum fsa_status walk_node(struct walk *w, const uint8_t *node, unsigned depth, uint64_t at);

static enum fsa_status index_entry(struct walk *w, const uint8_t *x, unsigned depth, uint64_t at)
{
	struct ext *e = w->e;
	uint8_t *bytes = w->buffer[depth - 1];
	uint64_t block = FSA_LE(uint64_t, x, struct ext3_extent_idx, ei_leaf) |
			 FSA_LE(uint64_t, x, struct ext3_extent_idx, ei_leaf_hi) << 32;
	uint32_t logical = FSA_LE(uint32_t, x, struct ext3_extent_idx, ei_block);
	struct ext_map_node node = { .block = block, .level = depth, .extent = true, .bytes = bytes };
	struct ext_csum c;
	bool usable, enter;

	if (!ext_block_ok(e, block, 1)) {
		EXT_FIND(e, "inode", w->i->number, at, "extent node for file block %u is at block %llu, the filesystem has %u to %llu",
			 logical, (ull)block, e->first_data_block, (ull)e->blocks - 1);
		return FSA_OK;
	}
	enter = ext_map_enter(e, w->i, w->seen, block);
	if (fsa_read(e->fs, 0, ext_at(e, block), bytes, e->block_size, "extent node", block) != FSA_OK)
		memset(bytes, 0, e->block_size);
	usable = header_ok(w, bytes, e->block_size, depth - 1, block);
	if (usable) {
		node.used_bytes = HEADER + EH(bytes, eh_entries) * ENTRY;
		if (!ext_csum_extent_block(e, w->i->seed, bytes, &c))
			EXT_FIND(e, "inode", w->i->number, ext_at(e, block), "extent node checksum 0x%08x, computed 0x%08x", c.got, c.want);
		if (e->metadata_csum)
			node.tail_bytes = 4;
		if (EH(bytes, eh_entries) && FSA_LE(uint32_t, bytes + HEADER, struct ext3_extent, ee_block) < logical)
			EXT_FIND(e, "inode", w->i->number, ext_at(e, block), "extent node starts at file block %u, its parent says %u",
				 FSA_LE(uint32_t, bytes + HEADER, struct ext3_extent, ee_block), logical);
	}
	if (w->ops->node) {
		enum fsa_status st = w->ops->node(w->ops->arg, &node);

		if (st != FSA_OK)
			return st;
	}
	return usable && enter ? walk_node(w, bytes, depth - 1, ext_at(e, block)) : FSA_OK;
}

static enum fsa_status walk_node(struct walk *w, const uint8_t *node, unsigned depth, uint64_t at)
{
	uint32_t n = EH(node, eh_entries);
	enum fsa_status st = FSA_OK;

	for (uint32_t k = 0; k < n && st == FSA_OK; k++) {
		uint32_t offset = HEADER + k * ENTRY;

		st = depth ? index_entry(w, node + offset, depth, at + offset) : leaf_entry(w, node + offset, at + offset);
	}
	return st;
}

enum fsa_status ext_extent_walk(struct ext *e, const struct ext_inode *i, const struct ext_map_ops *ops)
{
	struct walk w = { .e = e, .i = i, .ops = ops, .seen = ops->seen };
	const size_t root_at = offsetof(struct ext2_inode_large, i_block);
	const uint8_t *root = i->raw + root_at;
	unsigned depth = EH(root, eh_depth);
	uint8_t *buffers = NULL;
	struct bitset own;
	enum fsa_status st;

	if (depth > MAX_DEPTH) {
		EXT_FIND(e, "inode", i->number, i->offset + root_at, "extent tree of depth %u, at most %u is possible", depth, MAX_DEPTH);
		return FSA_OK;
	}
	if (depth > KERNEL_DEPTH)
		EXT_FIND(e, "inode", i->number, i->offset + root_at, "extent tree of depth %u, the kernel reads at most %u", depth, KERNEL_DEPTH);
	if (!header_ok(&w, root, EXT_INODE_BLOCK_BYTES, depth, 0))
		return FSA_OK;
	if (depth) {
		buffers = malloc((size_t)depth * e->block_size);
		if (!buffers)
			return FSA_ENOMEM;
		for (unsigned k = 0; k < depth; k++)
			w.buffer[k] = buffers + (size_t)k * e->block_size;
		if (!ops->seen) {
			if (!bitset_init(&own, e->blocks)) {
				free(buffers);
				return FSA_ENOMEM;
			}
			w.seen = &own;
		}
	}
	st = walk_node(&w, root, depth, i->offset + root_at);
	if (depth && !ops->seen)
		bitset_release(&own);
	free(buffers);
	return st;
}
