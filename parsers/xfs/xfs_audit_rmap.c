/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The reverse map and the reference count tree as further witnesses.
 *
 * The reverse map names the owner of every block, extent by extent. It is not kept: what is claimed and what
 * it says are added up, per AG and kind of owner, into sums that do not depend on order or on where extents
 * are cut, and that differ when a block, an owner or an offset does.
 */
#include <stdlib.h>
#include <string.h>

#include "xfs_audit.h"

static const char *const class_names[XF_CLASSES] = {
	[XF_C_HEADERS] = "AG headers", [XF_C_LOG] = "the log", [XF_C_FREE_TREES] = "free-space trees and the AGFL",
	[XF_C_INODE_TREES] = "inode trees", [XF_C_INODES] = "inodes", [XF_C_REFC_TREE] = "the reference count tree",
	[XF_C_COW] = "copy-on-write staging", [XF_C_DATA] = "contents of files", [XF_C_ATTR] = "attributes",
	[XF_C_MAPS] = "extent B-trees",
};

const char *xf_class_name(enum xf_class class)
{
	return class_names[class];
}

static uint64_t mix(uint64_t v)
{
	v = (v ^ v >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	v = (v ^ v >> 27) * UINT64_C(0x94d049bb133111eb);
	return v ^ v >> 31;
}

static void add(struct xf_sum *sum, uint32_t block, uint64_t count, uint64_t owner, uint64_t shift, unsigned flags)
{
	/* `shift` is what offset and block differ by: the same all along an extent. */
	uint64_t key = mix(owner + mix(shift + mix(flags + 1)));

	sum->blocks += count;
	sum->weight += key * count;
	sum->place += key * (count * block + count * (count - 1) / 2);
}

void xf_owned(struct xf_audit_state *s, uint32_t ag, uint32_t block, uint64_t count, enum xf_class class, uint64_t owner, uint64_t offset,
	      bool unwritten, bool attr)
{
	bool placed = class == XF_C_DATA || class == XF_C_ATTR;
	const struct xf_owned_extent e = {
		.ag = ag, .class = (uint8_t)class, .flags = (uint8_t)((unwritten ? XF_OWNED_UNWRITTEN : 0) | (attr ? XF_OWNED_ATTR : 0)),
		.block = block, .count = count, .owner = owner, .shift = placed ? offset - block : 0,
	};

	if (!s->x->rmapbt || ag >= s->x->ags)
		return;
	if (s->diff)
		xf_rmap_keep(s, false, ag, &e);
	else
		add(&s->ag[ag].found[class], block, count, owner, e.shift, e.flags);
}

/* --- the reverse map ---------------------------------------------------------------------------------- */

struct rmap_walk {
	struct xf_tree_claimer claimer;		/* first: the block callback takes it */
	uint64_t last[3];
};

static enum xf_class class_of(uint64_t owner, uint64_t offset)
{
	if (owner == XFS_RMAP_OWN_FS)
		return XF_C_HEADERS;
	if (owner == XFS_RMAP_OWN_LOG)
		return XF_C_LOG;
	if (owner == XFS_RMAP_OWN_AG)
		return XF_C_FREE_TREES;
	if (owner == XFS_RMAP_OWN_INOBT)
		return XF_C_INODE_TREES;
	if (owner == XFS_RMAP_OWN_INODES)
		return XF_C_INODES;
	if (owner == XFS_RMAP_OWN_REFC)
		return XF_C_REFC_TREE;
	if (owner == XFS_RMAP_OWN_COW)
		return XF_C_COW;
	if (owner >> 63)
		return XF_CLASSES;
	if (offset & XFS_RMAP_OFF_BMBT_BLOCK)
		return XF_C_MAPS;
	return offset & XFS_RMAP_OFF_ATTR_FORK ? XF_C_ATTR : XF_C_DATA;
}

static enum fsa_status take_rmap(void *arg, const uint8_t *r, uint64_t at)
{
	struct rmap_walk *w = arg;
	struct xf_audit_state *s = w->claimer.s;
	const struct xf_ag *a = w->claimer.a;
	uint32_t start = fsa_get_be32(r), count = fsa_get_be32(r + 4);
	uint64_t owner = fsa_get_be64(r + 8), offset = fsa_get_be64(r + 16), pure = XFS_RMAP_OFF(offset);
	enum xf_class class = class_of(owner, offset);
	bool placed = class == XF_C_DATA || class == XF_C_ATTR;
	struct xf_owned_extent e = { .ag = a->number };
	const uint64_t key[3] = { start, owner, offset & ~XFS_RMAP_OFF_UNWRITTEN };

	if (!count || !fsa_within(start, count, a->length) || class == XF_CLASSES) {
		XF_FIND(s->x, "AG", a->number, at, "reverse map: %u blocks at %u of owner 0x%llx, the AG has %u", count, start, (ull)owner, a->length);
		return FSA_OK;
	}
	if (key[0] < w->last[0] || (key[0] == w->last[0] && (key[1] < w->last[1] || (key[1] == w->last[1] && key[2] < w->last[2]))))
		XF_FIND(s->x, "AG", a->number, at, "reverse map: record of block %u follows one of block %llu", start, (ull)w->last[0]);
	memcpy(w->last, key, sizeof(key));
	e.block = start;
	e.count = count;
	e.owner = owner;
	e.shift = placed ? pure - start : 0;
	e.class = (uint8_t)class;
	e.flags = (uint8_t)((offset & XFS_RMAP_OFF_UNWRITTEN ? XF_OWNED_UNWRITTEN : 0) | (offset & XFS_RMAP_OFF_ATTR_FORK ? XF_OWNED_ATTR : 0));
	if (s->diff)
		xf_rmap_keep(s, true, a->number, &e);
	else
		add(&s->ag[a->number].mapped[class], start, count, owner, e.shift, e.flags);
	return FSA_OK;
}

enum fsa_status xf_audit_rmap_tree(struct xf_audit_state *s, const struct xf_ag *a)
{
	struct rmap_walk w = { .claimer = { .s = s, .a = a, .tree = XF_RMAP } };
	const struct xf_tree_ops ops = { .record = take_rmap, .block = xf_tree_claim_block, .arg = &w, .seen = &s->seen };
	enum fsa_status st = xf_tree_walk(s->x, a, XF_RMAP, &ops);

	s->ag[a->number].rmap_read = a->has[XF_RMAP];
	s->ag[a->number].rmap_blocks = w.claimer.blocks;
	return st;
}

void xf_audit_rmap_check(struct xf_audit_state *s, uint32_t *differs, bool *differ)
{
	struct xf *x = s->x;

	for (uint32_t ag = 0; ag < x->ags; ag++) {
		const struct xf_ag_state *g = &s->ag[ag];

		for (unsigned c = 0; g->rmap_read && c < XF_CLASSES; c++) {
			if (memcmp(&g->found[c], &g->mapped[c], sizeof(g->found[c])) == 0)
				continue;
			differs[ag] |= 1u << c;
			*differ = true;
			XF_FIND(x, "AG", ag, xf_at(x, xf_linear(x, ag, 0)), "the reverse map says %llu blocks are of %s, %llu were found%s",
				(ull)g->mapped[c].blocks, class_names[c], (ull)g->found[c].blocks,
				g->mapped[c].blocks == g->found[c].blocks ? ", with other owners or places" : "");
		}
	}
}

/* --- reference counts --------------------------------------------------------------------------------- */

struct refc_walk {
	struct xf_tree_claimer claimer;		/* first: the block callback takes it */
	uint64_t next[2];			/* behind the last record: shared, staging */
};

static enum fsa_status take_refc(void *arg, const uint8_t *r, uint64_t at)
{
	struct refc_walk *w = arg;
	struct xf_audit_state *s = w->claimer.s;
	const struct xf_ag *a = w->claimer.a;
	struct xf_ag_state *g = &s->ag[a->number];
	uint32_t start = fsa_get_be32(r), count = fsa_get_be32(r + 4), refs = fsa_get_be32(r + 8);
	bool cow = start & XFS_REFC_COWFLAG;

	start &= ~XFS_REFC_COWFLAG;
	if (!count || !xf_ag_block_ok(s->x, a->number, start, count) || start < w->next[cow] || (cow ? refs != 1 : refs < 2)) {
		XF_FIND(s->x, "AG", a->number, at, "reference counts: %u blocks at %u with %u references%s, the record before ends at %llu and the AG "
			"has %u blocks", count, start, refs, cow ? " (staging)" : "", (ull)w->next[cow], a->length);
		return FSA_OK;
	}
	w->next[cow] = (uint64_t)start + count;
	if (cow) {
		const struct fsa_owner owner = { .object = "AG", .number = a->number };

		XF_FIND(s->x, "AG", a->number, at, "%u blocks at %u are left from copy-on-write that did not finish: the next mount frees them", count,
			start);
		fsa_claim(s->claims, 0, xf_linear(s->x, a->number, start), count, XF_D_COW_STAGING, 0, &owner);
		xf_owned(s, a->number, start, count, XF_C_COW, XFS_RMAP_OWN_COW, 0, false, false);
		return FSA_OK;
	}
	if (!xf_room((void **)&g->shared, &g->shared_room, g->n_shared, sizeof(*g->shared)))
		return FSA_ENOMEM;
	g->shared[g->n_shared++] = (struct xf_shared){ .start = start, .count = count, .refs = refs, .offset = at };
	return FSA_OK;
}

enum fsa_status xf_audit_refc_tree(struct xf_audit_state *s, const struct xf_ag *a)
{
	struct refc_walk w = { .claimer = { .s = s, .a = a, .tree = XF_REFC } };
	const struct xf_tree_ops ops = { .record = take_refc, .block = xf_tree_claim_block, .arg = &w, .seen = &s->seen };
	enum fsa_status st = xf_tree_walk(s->x, a, XF_REFC, &ops);

	s->ag[a->number].refc_blocks = w.claimer.blocks;
	return st;
}

bool xf_shared_at(struct xf_audit_state *s, uint32_t ag, uint32_t block, uint64_t count, uint64_t *run)
{
	size_t lo = 0, hi;
	struct xf_ag_state *g;

	*run = count;
	if (ag >= s->x->ags)
		return false;
	g = &s->ag[ag];
	hi = g->n_shared;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if ((uint64_t)g->shared[mid].start + g->shared[mid].count <= block)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == g->n_shared)
		return false;
	if (g->shared[lo].start > block) {
		*run = fsa_min(count, g->shared[lo].start - block);
		return false;
	}
	*run = fsa_min(count, (uint64_t)g->shared[lo].start + g->shared[lo].count - block);
	g->shared[lo].seen += *run;
	return true;
}

void xf_audit_refc_check(struct xf_audit_state *s)
{
	for (uint32_t ag = 0; ag < s->x->ags; ag++)
		for (size_t k = 0; k < s->ag[ag].n_shared; k++) {
			const struct xf_shared *r = &s->ag[ag].shared[k];

			if (r->seen != (uint64_t)r->refs * r->count)
				XF_FIND(s->x, "AG", ag, r->offset, "%u blocks at %u have reference count %u, files use them %llu.%02llu times", r->count, r->start,
					r->refs, (ull)(r->seen / r->count), (ull)(r->seen % r->count * 100 / r->count));
		}
}
