/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What statfs(2) says of the mounted filesystem, term by term, as Linux 6.1 computes it (6.18 gives the same):
 * xfs_fs_statfs; what a read-write mount takes before: xfs_reserve_blocks and xfs_ag_resv_init.
 */
#include <stdlib.h>

#include "xfs.h"

#define MAX_RESERVE 8192u		/* blocks of the reserve pool at most (xfs_default_resblks) */
#define SET_ASIDE_EACH 8u		/* blocks an AG: 4 to fill the AGFL, 4 to split a file's B-tree */

/* The free counter of a mount in progress. */
struct mount {
	struct xf *x;
	int64_t free;			/* m_fdblocks */
	int64_t reserve;		/* m_resblks_avail */
	int64_t set_aside, in_trees;	/* what is never given out */
	uint64_t pool, for_trees, for_rmap;	/* taken so far */
	uint8_t *known;			/* an AG each: its AGF was read */
	enum fsa_status status;
};

/* Blocks of a B-tree of `records`, every node filled to its minimum. */
static uint64_t tree_size(const struct xf *x, uint32_t record, uint32_t entry, uint64_t records)
{
	uint32_t room = x->block_size - xf_short_header(x);
	uint64_t leaf = room / record / 2, node = room / entry / 2, level, blocks;

	level = blocks = fsa_div_up(records, leaf);
	while (level > 1) {
		level = fsa_div_up(level, node);
		blocks += level;
	}
	return blocks;
}

/* Takes blocks off the counter, or out of the reserve pool when they are not there; false when neither has them. */
static bool take(struct mount *m, uint64_t blocks, uint64_t *taken)
{
	if (m->free - (int64_t)blocks >= m->set_aside + m->in_trees) {
		m->free -= (int64_t)blocks;
		*taken += blocks;
		return true;
	}
	if (m->reserve < (int64_t)blocks)
		return false;
	m->reserve -= (int64_t)blocks;
	return true;
}

static enum fsa_status ignore_record(void *arg, const uint8_t *record, uint64_t offset)
{
	(void)arg;
	(void)record;
	(void)offset;
	return FSA_OK;
}

static enum fsa_status count_block(void *arg, const struct xf_tree_block *b)
{
	(void)b;
	++*(uint64_t *)arg;
	return FSA_OK;
}

/* Blocks of the AG that can ever hold records: the log never becomes free. */
static uint32_t usable(const struct xf *x, const struct xf_ag *a)
{
	if (x->log_start && x->log_start >> x->agblk_log == a->number && x->log_blocks < a->length)
		return a->length - x->log_blocks;
	return a->length;
}

/* The AGF is read: from then on the blocks of both free-space trees (roots not counted) are set aside. */
static void know_agf(struct mount *m, const struct xf_ag *a)
{
	int64_t n = (int64_t)a->btree_blocks - (m->x->rmapbt ? (int64_t)a->rmap_blocks - 1 : 0);

	if (!m->known[a->number] && n > 0)
		m->in_trees += n;
	m->known[a->number] = 1;
}

static uint64_t excess(uint64_t ask, uint64_t used)
{
	return ask > used ? ask - used : 0;
}

static void reserve_ag(struct mount *m, const struct xf_ag *a)
{
	struct xf *x = m->x;
	uint64_t refc_ask = 0, refc_used = 0, fino_ask = 0, fino_used = 0, rmap;
	uint32_t blocks = usable(x, a);

	if (x->reflink) {
		know_agf(m, a);
		refc_ask = tree_size(x, 12, 8, blocks);
		refc_used = a->refc_blocks;
	}
	if (x->finobt) {
		const struct xf_tree_ops ops = { .record = ignore_record, .block = count_block, .arg = &fino_used };

		fino_ask = tree_size(x, 16, 8, (uint64_t)blocks * x->inopb / XFS_INODES_PER_CHUNK);
		fino_used = a->fino_blocks;
		if (!x->inobtcnt) {
			fino_used = 0;
			m->status = xf_tree_walk(x, a, XF_FINO, &ops);
		}
	}
	/* When there is not enough for both, the free inode tree goes without. */
	if (!take(m, excess(refc_ask + fino_ask, refc_used + fino_used), &m->for_trees) &&
	    !take(m, excess(refc_ask, refc_used), &m->for_trees))
		return;
	if (x->rmapbt) {
		know_agf(m, a);
		rmap = fsa_max(blocks / 100, tree_size(x, 24, 44, blocks));
		/* The reverse map lives in free space, so all of its reservation is hidden. */
		take(m, fsa_max(rmap, a->rmap_blocks), &m->for_rmap);
	}
	if (refc_ask || fino_ask || x->rmapbt)
		know_agf(m, a);
}

static enum fsa_status reserve_all(struct mount *m, uint8_t *sectors)
{
	struct xf_ag a;

	m->for_trees = m->for_rmap = 0;
	for (uint32_t k = 0; k < m->x->ags && m->status == FSA_OK; k++) {
		xf_ag_read(m->x, k, sectors, &a);
		if (a.agf_ok && a.agi_ok)
			reserve_ag(m, &a);
	}
	return m->status;
}

/*
 * Every mount reserves for the time that the log is recovered and gives it back (xfs_mountfs), which has read the AGFs of all
 * AGs that have something to reserve for. A read-write mount then fills the pool and reserves again.
 */
static enum fsa_status do_mount(struct mount *m, bool read_only)
{
	struct xf *x = m->x;
	uint8_t *sectors = malloc(4 * (size_t)x->sector_size);
	int64_t counter = m->free, there;
	enum fsa_status st = FSA_ENOMEM;

	m->known = calloc(x->ags ? x->ags : 1, 1);
	if (sectors && m->known)
		st = reserve_all(m, sectors);
	m->free = counter;
	m->for_trees = m->for_rmap = 0;
	if (st == FSA_OK && !read_only) {
		there = counter - m->set_aside - m->in_trees;
		m->reserve = there > 0 ? (int64_t)fsa_min((uint64_t)there, fsa_min(x->blocks / 20, MAX_RESERVE)) : 0;
		m->free -= m->reserve;
		m->pool = (uint64_t)m->reserve;
		st = reserve_all(m, sectors);
	}
	free(sectors);
	free(m->known);
	return st;
}

/* Inodes are made where there is space: as many as fit into what is free, up to sb_imax_pct. */
static void add_inodes(const struct xf *x, struct fsa_statfs *s)
{
	const uint64_t max_number = (UINT64_C(1) << 56) - 1;
	uint64_t made = XF_SB(x->sb, sb_icount), free_made = XF_SB(x->sb, sb_ifree), percent = XF_SB32(x->sb, sb_imax_pct);
	uint64_t chunk = fsa_max(XFS_INODES_PER_CHUNK, x->inopb) >> x->inopb_log, files, limit, could;
	uint64_t used;

	could = s->free << x->inopb_log;
	files = fsa_min(made + could, max_number);
	fsa_statfs_add(s, FSA_DF_FILES, (int64_t)made, "inodes made so far");
	fsa_statfs_add(s, FSA_DF_FILES, (int64_t)could, "inodes that fit into the free blocks");
	if (files < made + could)
		fsa_statfs_add(s, FSA_DF_FILES, -(int64_t)(made + could - files), "above 2^56 - 1");
	if (percent) {
		uint64_t whole = x->blocks / 100 * percent + x->blocks % 100 * percent / 100;

		limit = (whole / chunk * chunk) << x->inopb_log;
		if (files > limit) {
			fsa_statfs_add(s, FSA_DF_FILES, -(int64_t)(files - limit), "above the share of the space that inodes may take (imaxpct)");
			files = limit;
		}
	}
	if (files < made)
		fsa_statfs_add(s, FSA_DF_FILES, (int64_t)(made - files), "more are made than that share");
	files = fsa_max(files, made);
	used = made - free_made;
	fsa_statfs_add(s, FSA_DF_FILES_FREE, (int64_t)files, "inodes");
	fsa_statfs_add(s, FSA_DF_FILES_FREE, -(int64_t)fsa_min(used, files), "inodes in use");
}

/* A root that hands on the realtime flag makes df speak of the realtime device. */
static bool root_is_realtime(struct xf *x)
{
	struct xf_inode i;
	uint8_t *raw;
	bool yes;

	if (x->rt_role < 0 || !x->rt_blocks || xf_inode_of(x, x->root_ino, &raw, &i) != FSA_OK)
		return false;
	yes = i.flags & (XFS_DIFLAG_RTINHERIT | XFS_DIFLAG_REALTIME);
	free(raw);
	return yes;
}

static void add_both(struct fsa_statfs *s, int64_t value, const char *what)
{
	fsa_statfs_add(s, FSA_DF_FREE, value, what);
	fsa_statfs_add(s, FSA_DF_AVAILABLE, value, what);
}

enum fsa_status xf_statfs(struct fsa_fs *fs, bool read_only, struct fsa_statfs *s)
{
	struct xf *x = xf_of(fs);
	struct mount m = { .x = x };
	uint64_t counter;
	enum fsa_status st;

	*s = (struct fsa_statfs){ .block_size = x->block_size, .kernel = "Linux 6.1 xfs driver" };
	if (x->log_device)
		return FSA_EUNSUPPORTED;
	counter = fsa_min(XF_SB(x->sb, sb_fdblocks), x->blocks);
	m.free = (int64_t)counter;
	m.set_aside = (int64_t)x->ag_count * SET_ASIDE_EACH;
	st = do_mount(&m, read_only);
	if (st != FSA_OK)
		return st;
	fsa_statfs_add(s, FSA_DF_SIZE, (int64_t)x->blocks, "blocks of the filesystem");
	if (x->log_start)
		fsa_statfs_add(s, FSA_DF_SIZE, -(int64_t)x->log_blocks, "log");
	add_both(s, (int64_t)counter, "free by the superblock's counter");
	if (m.pool)
		add_both(s, -(int64_t)m.pool, "reserve pool: 5 % or 8192 blocks");
	if (m.for_trees)
		add_both(s, -(int64_t)m.for_trees, "kept in each AG for the reference count and free inode trees to grow");
	if (m.for_rmap)
		add_both(s, -(int64_t)m.for_rmap, "kept in each AG for the reverse map");
	if (m.free < m.set_aside + m.in_trees) {
		add_both(s, -m.free, "all that is left is within the set-aside");
	} else {
		add_both(s, -m.set_aside, "set aside: 8 blocks an AG for the AGFL and a file's B-tree");
		if (m.in_trees)
			add_both(s, -m.in_trees, "blocks of the free-space trees, which the counter calls free");
	}
	add_inodes(x, s);
	if (root_is_realtime(x)) {
		uint64_t free_rt = XF_SB(x->sb, sb_frextents) * x->rt_extent_size;

		fsa_statfs_add(s, FSA_DF_SIZE, (int64_t)(x->rt_blocks - s->blocks), "the realtime device instead");
		add_both(s, (int64_t)(free_rt - s->free), "free on the realtime device instead");
	}
	return FSA_OK;
}
