/* SPDX-License-Identifier: GPL-2.0-only */
/* Inode chunks in order, slot by slot. */
#include <stdlib.h>
#include <string.h>

#include "xfs_audit.h"

struct chunks {
	struct xf_audit_state *s;
	uint32_t ag;
	uint8_t *buffer;
	struct fsa_split split;
};

static bool hole_at(const struct xf_chunk *c, unsigned slot)
{
	return c->holes >> (slot / XFS_INODES_PER_HOLEMASK_BIT) & 1;
}

/* A slot in use: reads what it says and hands it on. */
static enum fsa_status take_slot(struct chunks *w, struct xf_chunk *c, unsigned slot, const uint8_t *raw, uint64_t image_offset,
				 uint64_t split_offset)
{
	struct xf_audit_state *s = w->s;
	struct xf *x = s->x;
	uint64_t ino = ((uint64_t)w->ag << x->agino_log) + c->start + slot;
	const struct fsa_owner owner = { .object = "inode", .number = ino, .ref = { .word = { ino } }, .has_ref = true };
	struct xf_inode i;
	bool unlinked;

	if (XF_INO16(raw, di_magic) != XFS_DINODE_MAGIC) {
		XF_FIND(x, "inode", ino, image_offset, "in use, but its magic is 0x%04x, should be 0x%04x", XF_INO16(raw, di_magic), XFS_DINODE_MAGIC);
		c->type[slot] = XF_TYPE_UNREAD;
		fsa_split_part(&w->split, split_offset, x->inode_size, XF_D_INODE, &owner);
		return FSA_OK;
	}
	xf_inode_decode(x, ino, raw, image_offset, &i);
	unlinked = xf_is_unlinked(s, ino);
	c->type[slot] = (uint8_t)i.type;
	if (xf_role_of(x, ino) != XF_ROLE_FILE)
		c->type[slot] |= XF_TYPE_INTERNAL;
	else
		c->links[slot] += (int32_t)i.links;
	if (xf_role_of(x, ino) == XF_ROLE_FILE && !i.links && !unlinked)
		XF_FIND(x, "inode", ino, image_offset, "in use with link count 0 and on no unlinked list");
	if (i.type == FSA_TYPE_DIRECTORY && !unlinked) {
		if (!xf_room((void **)&s->dirs, &s->dirs_room, s->n_dirs, sizeof(*s->dirs)))
			return FSA_ENOMEM;
		s->dirs[s->n_dirs++] = (struct xf_dir_link){ .inode = ino };
	}
	return xf_audit_inode(s, &i, &w->split, split_offset, unlinked);
}

/* Slots [from, to) of a chunk, whose first lies at `base` of the split and of the buffer. */
static enum fsa_status take_slots(struct chunks *w, struct xf_chunk *c, unsigned from, unsigned to, bool readable, uint64_t image_offset,
				  uint64_t base)
{
	struct xf *x = w->s->x;
	enum fsa_status st = FSA_OK;

	for (unsigned k = from; k < to && st == FSA_OK; k++) {
		uint64_t at = base + ((uint64_t)(k - from) << x->inode_log);
		unsigned n = 1;

		if (readable && !(c->free >> k & 1)) {
			st = take_slot(w, c, k, w->buffer + at, image_offset + at, at);
			continue;
		}
		if (!readable && !(c->free >> k & 1))
			c->type[k] = XF_TYPE_UNREAD;
		while (readable && k + n < to && c->free >> (k + n) & 1)
			n++;
		fsa_split_part(&w->split, at, (uint64_t)n << x->inode_log, readable ? XF_D_INODE_FREE : XF_D_INODE, NULL);
		k += n - 1;
	}
	return st;
}

/* A run of blocks with chunks in it: `slots` of chunk c from `from` on, and with big blocks of those behind it. */
static enum fsa_status take_run(struct chunks *w, struct xf_chunk *c, size_t left, unsigned from, unsigned to, size_t *taken)
{
	struct xf_audit_state *s = w->s;
	struct xf *x = s->x;
	const struct fsa_owner owner = { .object = "inode chunk", .number = ((uint64_t)w->ag << x->agino_log) + c->start };
	uint32_t block = (c->start + from) >> x->inopb_log, in_block = (c->start + from) & (x->inopb - 1);
	uint32_t count = x->inopb > XFS_INODES_PER_CHUNK ? 1 : (to - from) >> x->inopb_log;
	uint64_t linear = xf_linear(x, w->ag, block), at = xf_at(x, linear), done = 0;
	bool readable;
	enum fsa_status st;

	*taken = 1;
	if (!count)
		count = 1;
	if (!xf_ag_block_ok(x, w->ag, block, count)) {
		XF_FIND(x, "AG", w->ag, FSA_NO_OFFSET, "inode B-tree: inodes in %u blocks at %u, the AG has %u", count, block, xf_ag_length(x, w->ag));
		return FSA_OK;
	}
	readable = fsa_read(x->fs, 0, at, w->buffer, (size_t)count << x->block_log, "inode chunk", owner.number) == FSA_OK;
	fsa_split_begin(&w->split, s->claims, 0, linear, count, 0, &owner);
	xf_owned(s, w->ag, block, count, XF_C_INODES, XFS_RMAP_OWN_INODES, 0, false, false);
	st = FSA_OK;
	for (size_t k = 0; k < left && st == FSA_OK; k++) {
		uint64_t base = (uint64_t)in_block << x->inode_log;

		if (k) {
			/* Big blocks hold several chunks. */
			if (x->inopb <= XFS_INODES_PER_CHUNK || c[k].start >> x->inopb_log != block)
				break;
			base = (uint64_t)(c[k].start & (x->inopb - 1)) << x->inode_log;
			from = 0;
			to = XFS_INODES_PER_CHUNK;
			*taken = k + 1;
		}
		fsa_split_part(&w->split, done, base - done, XF_D_INODE_FREE, NULL);
		st = take_slots(w, &c[k], from, to, readable, at, base);
		done = base + ((uint64_t)(to - from) << x->inode_log);
	}
	fsa_split_part(&w->split, done, w->split.size - done, XF_D_INODE_FREE, NULL);
	if (!fsa_split_end(&w->split, XF_D_INODE_FREE) && st == FSA_OK && w->split.valid)
		XF_FIND(x, "inode chunk", owner.number, at, "its parts do not add up to %llu bytes", (ull)w->split.size);
	return st;
}

enum fsa_status xf_audit_chunks(struct xf_audit_state *s)
{
	struct xf *x = s->x;
	struct chunks w = { .s = s };
	enum fsa_status st = FSA_OK;
	uint32_t bytes = (uint32_t)fsa_max((uint64_t)x->block_size, (uint64_t)XFS_INODES_PER_CHUNK << x->inode_log);

	w.buffer = calloc(1, bytes);
	if (!w.buffer)
		return FSA_ENOMEM;
	for (uint32_t ag = 0; ag < x->ags && st == FSA_OK; ag++) {
		w.ag = ag;
		for (size_t k = 0, taken; k < s->ag[ag].n_chunks && st == FSA_OK; k += taken) {
			struct xf_chunk *c = &s->ag[ag].chunk[k];

			taken = 1;
			for (unsigned from = 0, to; from < XFS_INODES_PER_CHUNK && st == FSA_OK; from = to) {
				to = from + 1;
				while (to < XFS_INODES_PER_CHUNK && hole_at(c, to) == hole_at(c, from))
					to++;
				if (!hole_at(c, from))
					st = take_run(&w, c, s->ag[ag].n_chunks - k, from, to, &taken);
			}
			if (s->audit->progress && k % 256 == 0)
				s->audit->progress(s->audit->progress_arg, (uint64_t)x->ags + ag, 2 * (uint64_t)x->ags);
		}
	}
	free(w.buffer);
	return st;
}
