/* SPDX-License-Identifier: GPL-2.0-only */
/* The blocks that indirect items point to: up to end of file, slack, whole blocks behind it. */
#include "reiserfs_audit.h"

void rfs_audit_flush_run(struct rfs_audit_state *s)
{
	struct rfs_current *c = &s->current;
	struct rfs_run *run = &c->run;
	unsigned flags = c->hidden ? 0 : FSA_CLAIM_CHARGED;
	enum rfs_detail detail = RFS_D_DATA, rest = RFS_D_SLACK;

	if (!run->count)
		return;
	if (c->bad_blocks) {
		detail = rest = RFS_D_BAD_BLOCKS;
		flags = 0;
	} else if (c->deleted || !c->have_stat) {
		detail = rest = RFS_D_DELETED_DATA;
		flags = c->have_stat ? flags : 0;
	} else if (c->hidden) {
		detail = RFS_D_XATTR_BLOCK;
		rest = RFS_D_FREE_XATTR;
	} else if (c->inode.type == FSA_TYPE_SYMLINK) {
		detail = RFS_D_SYMLINK;
		rest = RFS_D_FREE_SYMLINK;
	} else if (run->beyond) {
		detail = rest = RFS_D_BEYOND_EOF;
	}
	fsa_claim_with_rest(s->claims, 0, run->block, run->count, run->bytes, detail, rest, flags, &c->owner);
	run->count = 0;
}

static void count_piece(struct rfs_current *c, uint64_t logical, uint64_t block)
{
	if (!c->have_piece || c->next_logical != logical || c->next_physical != block)
		c->o.extents++;
	c->have_piece = true;
	c->next_logical = logical + 1;
	c->next_physical = block + 1;
}

static void add_block(struct rfs_audit_state *s, uint64_t logical, uint64_t block)
{
	struct rfs_current *c = &s->current;
	struct rfs_run *run = &c->run;
	uint32_t bs = s->r->block_size;
	uint64_t start = logical << s->r->block_log;
	bool beyond = start >= c->inode.size;
	uint64_t bytes = beyond ? 0 : fsa_min(bs, c->inode.size - start);

	s->data_blocks++;
	c->blocks++;
	if (beyond) {
		c->o.preallocated_bytes += bs;
	} else {
		c->o.data_bytes += bytes;
		c->o.slack_bytes += bs - bytes;
		count_piece(c, logical, block);
	}
	/* A run goes on as long as blocks are in a row, and all but the last are full. */
	if (run->count && (run->block + run->count != block || run->beyond != beyond ||
			   (!beyond && run->bytes != run->count << s->r->block_log)))
		rfs_audit_flush_run(s);
	if (!run->count)
		*run = (struct rfs_run){ .block = block, .beyond = beyond };
	run->count++;
	run->bytes += bytes;
}

void rfs_audit_data(struct rfs_audit_state *s, const struct rfs_item *item)
{
	struct rfs_current *c = &s->current;
	struct rfs *r = s->r;
	uint64_t logical = (item->key.offset - 1) >> r->block_log;

	for (unsigned k = 0; k + 4 <= item->length; k += 4, logical++) {
		uint32_t block = fsa_get_le32(item->body + k);

		if (block == 0)
			continue;
		if (!rfs_block_ok(r, block)) {
			RFS_FIND(r, "object", c->oid, item->offset + k, "block %llu of the file is block %u, which no file can have: the "
				 "filesystem has %u blocks", (ull)logical, block, r->blocks);
			continue;
		}
		add_block(s, logical, block);
	}
}
