/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Quota records against what the inodes of each user, group and project hold: as the kernel's quotacheck counts
 * (xfs_qm_dqusage_adjust): blocks by the inodes' own count, those of the realtime device apart; quota inodes count for nobody.
 */
#include <stdlib.h>
#include <string.h>

#include "xfs_audit.h"

static const char *const kind_names[] = { "user", "group", "project" };

static struct xf_quota_id *find(struct xf_quota *q, uint32_t id)
{
	size_t at = (id * 0x9e3779b1u) & (q->room - 1);

	while (q->slot[at].known && q->slot[at].id != id)
		at = (at + 1) & (q->room - 1);
	return &q->slot[at];
}

static struct xf_quota_id *entry(struct xf_quota *q, uint32_t id)
{
	struct xf_quota_id *e;

	if (q->n * 2 >= q->room) {
		struct xf_quota bigger = { .room = q->room ? q->room * 2 : 64 };

		bigger.slot = calloc(bigger.room, sizeof(*bigger.slot));
		if (!bigger.slot)
			return NULL;
		for (size_t k = 0; k < q->room; k++)
			if (q->slot[k].known)
				*find(&bigger, q->slot[k].id) = q->slot[k];
		free(q->slot);
		q->slot = bigger.slot;
		q->room = bigger.room;
	}
	e = find(q, id);
	if (!e->known) {
		e->known = true;
		e->id = id;
		q->n++;
	}
	return e;
}

void xf_quota_begin(struct xf_audit_state *s)
{
	struct xf *x = s->x;
	uint32_t flags = FSA_BE(uint16_t, x->sb, struct xfs_dsb, sb_qflags);
	/* Version 4 has one file, and one bit, for either groups or projects. */
	const struct { uint32_t counted, checked; } by[3] = {
		{ XFS_UQUOTA_ACCT, XFS_UQUOTA_CHKD },
		{ XFS_GQUOTA_ACCT, XFS_GQUOTA_CHKD | (x->v5 ? 0 : XFS_OQUOTA_CHKD) },
		{ XFS_PQUOTA_ACCT, XFS_PQUOTA_CHKD | (x->v5 ? 0 : XFS_OQUOTA_CHKD) },
	};

	for (unsigned k = 0; k < 3; k++) {
		struct xf_quota *q = &s->quota[k];

		q->inode = x->quota_ino[k];
		if (k == 2 && !x->v5)
			q->inode = x->quota_ino[1];
		/* Without both the next mount that wants quotas counts anew; with work in the log nothing can be said. */
		q->wanted = flags & by[k].counted && flags & by[k].checked && q->inode != UINT64_MAX && x->log_known && !x->log_dirty;
	}
}

enum fsa_status xf_quota_add(struct xf_audit_state *s, const struct xf_inode *i, uint64_t realtime_blocks)
{
	const uint32_t ids[3] = { i->uid, i->gid, i->project };

	for (unsigned k = 0; k < 3; k++) {
		struct xf_quota_id *e;

		if (!s->quota[k].wanted)
			continue;
		e = entry(&s->quota[k], ids[k]);
		if (!e)
			return FSA_ENOMEM;
		e->is[XF_QUOTA_BLOCKS] += i->blocks - fsa_min(realtime_blocks, i->blocks);
		e->is[XF_QUOTA_INODES]++;
		e->is[XF_QUOTA_REALTIME] += realtime_blocks;
	}
	return FSA_OK;
}

enum fsa_status xf_quota_record(struct xf_audit_state *s, uint64_t inode, uint64_t place, const uint8_t *r, uint64_t at)
{
	uint32_t id = FSA_BE(uint32_t, r, struct xfs_disk_dquot, d_id);

	/* The last block has room for ids that there are not. */
	if (place > UINT32_MAX)
		return FSA_OK;
	if (id != place) {
		XF_FIND(s->x, "inode", inode, at, "quota record says it is of id %u, its place is that of %llu", id, (ull)place);
		return FSA_OK;
	}
	for (unsigned k = 0; k < 3; k++) {
		struct xf_quota *q = &s->quota[k];
		struct xf_quota_id *e;

		if (!q->wanted || q->inode != inode)
			continue;
		e = entry(q, id);
		if (!e)
			return FSA_ENOMEM;
		e->recorded = true;
		e->at = at;
		e->said[XF_QUOTA_BLOCKS] = FSA_BE(uint64_t, r, struct xfs_disk_dquot, d_bcount);
		e->said[XF_QUOTA_INODES] = FSA_BE(uint64_t, r, struct xfs_disk_dquot, d_icount);
		e->said[XF_QUOTA_REALTIME] = FSA_BE(uint64_t, r, struct xfs_disk_dquot, d_rtbcount);
	}
	return FSA_OK;
}

static bool all_inodes_read(const struct xf_audit_state *s)
{
	for (uint32_t ag = 0; ag < s->x->ags; ag++)
		for (size_t k = 0; k < s->ag[ag].n_chunks; k++)
			if (memchr(s->ag[ag].chunk[k].type, XF_TYPE_UNREAD, XFS_INODES_PER_CHUNK))
				return false;
	return true;
}

void xf_quota_check(struct xf_audit_state *s)
{
	bool complete = all_inodes_read(s) && s->x->ags == s->x->ag_count;

	for (unsigned k = 0; k < 3; k++) {
		const struct xf_quota *q = &s->quota[k];

		for (size_t n = 0; n < q->room && complete; n++) {
			const struct xf_quota_id *e = &q->slot[n];

			if (!e->known || memcmp(e->said, e->is, sizeof(e->is)) == 0)
				continue;
			if (e->recorded)
				XF_FIND(s->x, "inode", q->inode, e->at, "quota record of %s %u says %llu blocks, %llu inodes, %llu realtime blocks; "
					"the inodes have %llu, %llu, %llu", kind_names[k], e->id, (ull)e->said[0], (ull)e->said[1], (ull)e->said[2],
					(ull)e->is[0], (ull)e->is[1], (ull)e->is[2]);
			else
				XF_FIND(s->x, "inode", q->inode, xf_inode_offset(s->x, q->inode), "no quota record of %s %u, which has %llu blocks, %llu "
					"inodes, %llu realtime blocks", kind_names[k], e->id, (ull)e->is[0], (ull)e->is[1], (ull)e->is[2]);
		}
	}
}
