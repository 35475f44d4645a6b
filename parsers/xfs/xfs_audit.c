/* SPDX-License-Identifier: GPL-2.0-only */
/* The audit as a whole: AG headers and trees, the log, inode chunks in order, then directories. */
#include <stdlib.h>
#include <string.h>

#include "xfs_audit.h"

bool xf_room(void **array, size_t *room, size_t count, size_t size)
{
	size_t n = *room ? *room * 2 : 64;
	void *p;

	if (count < *room)
		return true;
	p = realloc(*array, n * size);
	if (!p)
		return false;
	*array = p;
	*room = n;
	return true;
}

bool xf_region_add(struct xf_regions *g, uint32_t offset, uint32_t length, enum xf_detail detail)
{
	if (!length)
		return true;
	if (!xf_room((void **)&g->r, &g->room, g->n, sizeof(*g->r)))
		return false;
	g->r[g->n++] = (struct xf_region){ .offset = offset, .length = length, .detail = detail };
	return true;
}

static int compare_regions(const void *a, const void *b)
{
	const struct xf_region *x = a, *y = b;

	return (x->offset > y->offset) - (x->offset < y->offset);
}

bool xf_regions_sort(struct xf_regions *g)
{
	uint32_t at = 0;
	bool sorted = true, ok = true;

	for (size_t k = 1; k < g->n && sorted; k++)
		sorted = g->r[k - 1].offset <= g->r[k].offset;
	if (!sorted)
		qsort(g->r, g->n, sizeof(*g->r), compare_regions);
	for (size_t k = 0; k < g->n; k++) {
		uint32_t end = g->r[k].offset + g->r[k].length;

		if (g->r[k].offset < at) {
			ok = false;
			g->r[k].offset = at;
			g->r[k].length = end > at ? end - at : 0;
		}
		at = g->r[k].offset + g->r[k].length;
	}
	return ok;
}

void xf_regions_book(const struct xf_regions *g, struct fsa_split *split, uint64_t base, uint32_t from, uint32_t size,
		     enum xf_detail rest, const struct fsa_owner *owner)
{
	uint32_t at = from, limit = from + size;
	size_t k = 0, hi = g->n;

	while (k < hi) {
		size_t mid = k + (hi - k) / 2;

		if (g->r[mid].offset + g->r[mid].length <= from)
			k = mid + 1;
		else
			hi = mid;
	}
	for (; k < g->n && g->r[k].offset < limit; k++) {
		uint32_t start = (uint32_t)fsa_max(g->r[k].offset, at), end = (uint32_t)fsa_min(g->r[k].offset + g->r[k].length, limit);

		if (end <= start)
			continue;
		fsa_split_part(split, base + at - from, start - at, rest, owner);
		fsa_split_part(split, base + start - from, end - start, g->r[k].detail, owner);
		at = end;
	}
	fsa_split_part(split, base + at - from, limit - at, rest, owner);
}

void xf_regions_claim(struct xf_audit_state *s, const struct xf_regions *g, const struct xf_pieces *p, uint64_t logical, uint32_t count,
		      enum xf_detail rest, unsigned flags, const struct fsa_owner *owner)
{
	const struct xf *x = s->x;

	for (uint32_t k = 0, n; k < count; k += n) {
		struct fsa_split split;
		uint64_t first, next;

		n = 1;
		if (!xf_pieces_find(p, logical + k, &first))
			continue;
		for (; k + n < count && xf_pieces_find(p, logical + k + n, &next) && next == first + n; n++)
			;
		fsa_split_begin(&split, s->claims, 0, first, n, flags, owner);
		xf_regions_book(g, &split, 0, k << x->block_log, n << x->block_log, rest, NULL);
		fsa_split_end(&split, rest);
	}
}

enum fsa_status xf_geometry(struct fsa_fs *fs, struct fsa_ledger *ledger)
{
	struct xf *x = xf_of(fs);
	enum fsa_status st = fsa_ledger_add_device(ledger, x->blocks, x->block_size, fsa_image_size(fs->devices[0].image));

	for (unsigned k = 1; k < fs->n_devices && st == FSA_OK; k++) {
		uint64_t size = fsa_image_size(fs->devices[k].image), blocks = size >> x->block_log;

		if ((int)k == x->log_role)
			blocks = x->log_start ? 0 : fsa_min(blocks, x->log_blocks);
		else if ((int)k == x->rt_role)
			blocks = x->rt_blocks;
		st = fsa_ledger_add_device(ledger, blocks, x->block_size, size);
	}
	return st;
}

static void claim_log(struct xf_audit_state *s)
{
	static const struct fsa_owner owner = { .object = "log", .number = FSA_NO_NUMBER };
	struct xf *x = s->x;
	uint32_t ag, block;

	if (x->log_start && x->log_blocks && xf_fsb(x, x->log_start, x->log_blocks, &ag, &block)) {
		fsa_claim(s->claims, 0, xf_linear(x, ag, block), x->log_blocks, XF_D_LOG, 0, &owner);
		/* Of a group behind the end of a short image nothing is known but this. */
		if (ag >= x->ags)
			fsa_map_allocated(s->claims, 0, xf_linear(x, ag, block), x->log_blocks);
		xf_owned(s, ag, block, x->log_blocks, XF_C_LOG, XFS_RMAP_OWN_LOG, 0, false, false);
	} else if (!x->log_start && x->log_role >= 0) {
		uint64_t there = fsa_image_size(x->fs->devices[x->log_role].image) >> x->block_log;

		if (there < x->log_blocks)
			fsa_find_on(x->findings, (unsigned)x->log_role, "log", FSA_NO_NUMBER, 0, "%u blocks by the superblock, the device has %llu",
				    x->log_blocks, (ull)there);
		fsa_claim(s->claims, (unsigned)x->log_role, 0, fsa_min(there, x->log_blocks), XF_D_LOG, FSA_CLAIM_UNMAPPED, &owner);
	}
}

static void check_counters(struct xf_audit_state *s)
{
	struct xf *x = s->x;
	uint64_t made = XF_SB(x->sb, sb_icount), free_made = XF_SB(x->sb, sb_ifree);

	/* With lazy counters only an unmount writes them; before replay nothing can be said. */
	if (x->log_dirty || !x->log_known || (made == s->inodes && free_made == s->free_inodes))
		return;
	XF_FIND(x, "superblock", 0, 0, "counts %llu inodes, %llu of them free; the inode trees have %llu and %llu", (ull)made, (ull)free_made,
		(ull)s->inodes, (ull)s->free_inodes);
}

static enum fsa_status walk(struct xf_audit_state *s, uint8_t *sectors)
{
	struct xf *x = s->x;
	enum fsa_status st = FSA_OK;

	for (uint32_t k = 0; k < x->ags && st == FSA_OK; k++) {
		st = xf_audit_ag(s, k, sectors);
		if (s->audit->progress)
			s->audit->progress(s->audit->progress_arg, k, 2 * (uint64_t)x->ags);
	}
	claim_log(s);
	if (st == FSA_OK)
		st = xf_audit_chunks(s);
	if (st == FSA_OK)
		st = xf_audit_dirs(s);
	if (st != FSA_OK)
		return st;
	xf_links_check(s);
	xf_audit_refc_check(s);
	xf_quota_check(s);
	xf_rt_check(s);
	check_counters(s);
	return FSA_OK;
}

static void release(struct xf_audit_state *s)
{
	for (uint32_t k = 0; s->ag && k < s->x->ags; k++) {
		free(s->ag[k].chunk);
		free(s->ag[k].shared);
	}
	free(s->ag);
	for (unsigned k = 0; k < 3; k++)
		free(s->quota[k].slot);
	free(s->realtime.count);
	free(s->unlinked);
	free(s->dirs);
	bitset_release(&s->seen);
}

static void ignore_run(void *arg, const struct fsa_run *run)
{
	(void)arg;
	(void)run;
}

/* Where the reverse map's sums differ: a second, silent walk that keeps the extents in question. */
static enum fsa_status check_rmap(struct xf_audit_state *s, uint8_t *sectors)
{
	struct xf *x = s->x;
	struct fsa_audit audit = { .claims = NULL };
	struct xf_rmap_diff diff = { .differs = calloc(x->ags ? x->ags : 1, sizeof(*diff.differs)) };
	struct xf_audit_state again = { .x = x, .audit = &audit, .diff = &diff };
	enum fsa_status st = FSA_ENOMEM;
	bool differ = false;

	if (!diff.differs)
		return st;
	xf_audit_rmap_check(s, diff.differs, &differ);
	/* A walk for owners is muted already, and its findings were told. */
	if (!differ || fsa_claims_want_owners(s->claims)) {
		free(diff.differs);
		return FSA_OK;
	}
	audit.claims = again.claims = fsa_claims_to_callback(fsa_claims_ledger(s->claims), ignore_run, NULL);
	again.ag = calloc(x->ags ? x->ags : 1, sizeof(*again.ag));
	if (again.claims && again.ag && bitset_init(&again.seen, x->blocks)) {
		fsa_findings_mute(x->findings, true);
		st = walk(&again, sectors);
		fsa_findings_mute(x->findings, false);
	}
	if (st == FSA_OK)
		st = xf_rmap_diff_tell(x, &diff);
	release(&again);
	fsa_claims_free(again.claims);
	free(diff.found.e);
	free(diff.mapped.e);
	free(diff.differs);
	return st;
}

enum fsa_status xf_audit(struct fsa_fs *fs, struct fsa_audit *audit)
{
	struct xf *x = xf_of(fs);
	struct xf_audit_state s = { .x = x, .audit = audit, .claims = audit->claims };
	uint64_t counter = x->log_device ? 0 : XF_SB(x->sb, sb_fdblocks);
	uint8_t *sectors;
	enum fsa_status st = FSA_ENOMEM;

	xf_log_check(x);
	if (x->log_device) {
		static const struct fsa_owner owner = { .object = "log", .number = FSA_NO_NUMBER };

		fsa_claim(audit->claims, 0, 0, x->blocks, XF_D_LOG, FSA_CLAIM_UNMAPPED, &owner);
		return FSA_OK;
	}
	xf_quota_begin(&s);
	sectors = malloc(4 * (size_t)x->sector_size);
	s.ag = calloc(x->ags ? x->ags : 1, sizeof(*s.ag));
	if (sectors && s.ag && bitset_init(&s.seen, x->blocks))
		st = walk(&s, sectors);
	if (st == FSA_OK && x->rmapbt)
		st = check_rmap(&s, sectors);
	free(sectors);
	/*
	 * The counter calls blocks of the AGFL and of the free-space trees (roots not counted) free. The realtime device has one of
	 * its own; the ledger's map speaks of both.
	 */
	audit->counters = (struct fsa_counters){
		.have_free_blocks = counter >= s.not_map_free,
		.free_blocks = counter - s.not_map_free + (x->rt_role < 0 ? 0 : XF_SB(x->sb, sb_frextents) * x->rt_extent_size),
		.lazy = x->log_dirty || !x->log_known,
	};
	release(&s);
	return st;
}
