/* SPDX-License-Identifier: GPL-2.0-only */
/* Link counts: what inodes say against the names that lead to them. */
#include "xfs_audit.h"

struct xf_chunk *xf_chunk_of(const struct xf_audit_state *s, uint64_t ino, unsigned *slot)
{
	const struct xf *x = s->x;
	uint64_t ag = ino >> x->agino_log, agino = ino & ((UINT64_C(1) << x->agino_log) - 1);
	size_t lo = 0, hi;

	if (ag >= x->ags)
		return NULL;
	hi = s->ag[ag].n_chunks;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if ((uint64_t)s->ag[ag].chunk[mid].start + XFS_INODES_PER_CHUNK <= agino)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == s->ag[ag].n_chunks || s->ag[ag].chunk[lo].start > agino)
		return NULL;
	*slot = (unsigned)(agino - s->ag[ag].chunk[lo].start);
	return &s->ag[ag].chunk[lo];
}

bool xf_in_use(const struct xf_audit_state *s, uint64_t ino, enum fsa_type *type)
{
	unsigned slot;
	const struct xf_chunk *c = xf_chunk_of(s, ino, &slot);

	*type = FSA_TYPE_UNKNOWN;
	if (!c || c->free >> slot & 1 || c->holes >> (slot / XFS_INODES_PER_HOLEMASK_BIT) & 1)
		return false;
	if (!(c->type[slot] & (XF_TYPE_INTERNAL | XF_TYPE_UNREAD)))
		*type = (enum fsa_type)c->type[slot];
	return true;
}

static void check_chunk(struct xf_audit_state *s, uint32_t ag, const struct xf_chunk *c)
{
	struct xf *x = s->x;

	for (unsigned k = 0; k < XFS_INODES_PER_CHUNK; k++) {
		uint64_t ino = ((uint64_t)ag << x->agino_log) + c->start + k;

		if (!c->links[k] || c->type[k] & (XF_TYPE_INTERNAL | XF_TYPE_UNREAD) || c->free >> k & 1)
			continue;
		XF_FIND(x, "inode", ino, xf_inode_offset(x, ino), "link count and the names that lead to it differ by %d: %s", c->links[k],
			c->links[k] > 0 ? "names are missing" : "there are more names than that");
	}
}

void xf_links_check(struct xf_audit_state *s)
{
	for (uint32_t ag = 0; ag < s->x->ags; ag++)
		for (size_t k = 0; k < s->ag[ag].n_chunks; k++)
			check_chunk(s, ag, &s->ag[ag].chunk[k]);
}
