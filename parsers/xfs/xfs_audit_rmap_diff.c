/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which extents the reverse map and the inodes do not have in common: only when their sums differ, by a second walk that keeps
 * the extents of the groups and kinds of owner where they do.
 */
#include <stdio.h>
#include <stdlib.h>

#include "xfs_audit.h"

#define MOST_KEPT (1u << 18)	/* extents of one side: 12 MiB */
#define MOST_NAMED 8u		/* differences told of a group and kind of owner */

static bool keep(struct xf_extent_list *l, const struct xf_owned_extent *e)
{
	if (l->full || !e->count)
		return true;
	if (l->n == MOST_KEPT) {
		l->full = true;
		return true;
	}
	if (!xf_room((void **)&l->e, &l->room, l->n, sizeof(*l->e)))
		return false;
	l->e[l->n++] = *e;
	return true;
}

void xf_rmap_keep(struct xf_audit_state *s, bool mapped, uint32_t ag, const struct xf_owned_extent *e)
{
	struct xf_rmap_diff *d = s->diff;

	if (ag < s->x->ags && d->differs[ag] >> e->class & 1 && !keep(mapped ? &d->mapped : &d->found, e))
		d->failed = true;
}

/* Extents that are the same but for where they lie come together, in order. */
static int compare(const void *a, const void *b)
{
	const struct xf_owned_extent *x = a, *y = b;
	const uint64_t k[5][2] = {
		{ x->ag, y->ag }, { x->class, y->class }, { x->owner, y->owner }, { x->shift, y->shift }, { x->flags, y->flags },
	};

	for (unsigned n = 0; n < 5; n++)
		if (k[n][0] != k[n][1])
			return k[n][0] < k[n][1] ? -1 : 1;
	return (x->block > y->block) - (x->block < y->block);
}

static bool alike(const struct xf_owned_extent *a, const struct xf_owned_extent *b)
{
	struct xf_owned_extent moved = *b;

	moved.block = a->block;
	return compare(a, &moved) == 0;
}

/* However each side cuts them: neighbours become one. */
static void settle(struct xf_extent_list *l)
{
	size_t n = 0;

	if (l->n)
		qsort(l->e, l->n, sizeof(*l->e), compare);
	for (size_t k = 0; k < l->n; k++) {
		struct xf_owned_extent *last = n ? &l->e[n - 1] : NULL;
		uint64_t end = l->e[k].block + l->e[k].count;

		if (last && alike(last, &l->e[k]) && l->e[k].block <= last->block + last->count)
			last->count = fsa_max(last->block + last->count, end) - last->block;
		else
			l->e[n++] = l->e[k];
	}
	l->n = n;
}

struct teller { struct xf *x; uint32_t ag; uint8_t class; unsigned told; };

static void tell(struct teller *t, const struct xf_owned_extent *e, uint64_t from, uint64_t to, const char *what)
{
	char whose[96];

	if (t->ag != e->ag || t->class != e->class)
		*t = (struct teller){ .x = t->x, .ag = e->ag, .class = e->class };
	if (t->told++ >= MOST_NAMED)
		return;
	if (e->class == XF_C_DATA || e->class == XF_C_ATTR)
		snprintf(whose, sizeof(whose), "inode %llu at file block %llu%s%s", (ull)e->owner, (ull)(e->shift + from),
			 e->flags & XF_OWNED_ATTR ? " of its attributes" : "", e->flags & XF_OWNED_UNWRITTEN ? ", unwritten" : "");
	else if (e->class == XF_C_MAPS)
		snprintf(whose, sizeof(whose), "the extent B-tree of inode %llu%s", (ull)e->owner, e->flags & XF_OWNED_ATTR ? "'s attributes" : "");
	else
		snprintf(whose, sizeof(whose), "%s", xf_class_name(e->class));
	XF_FIND(t->x, "AG", e->ag, xf_at(t->x, xf_linear(t->x, e->ag, (uint32_t)from)), "blocks %llu to %llu of the group: %s for %s", (ull)from,
		(ull)to - 1, what, whose);
}

/* What of `a` is not in `b`; both settled. */
static void tell_missing(struct xf *x, const struct xf_extent_list *a, const struct xf_extent_list *b, const char *what)
{
	struct teller t = { .x = x, .ag = UINT32_MAX };
	size_t j = 0;

	for (size_t k = 0; k < a->n; k++) {
		const struct xf_owned_extent *e = &a->e[k];
		uint64_t at = e->block, end = e->block + e->count;

		while (j < b->n && (alike(&b->e[j], e) ? b->e[j].block + b->e[j].count <= at : compare(&b->e[j], e) < 0))
			j++;
		for (size_t i = j; i < b->n && alike(&b->e[i], e) && b->e[i].block < end; i++) {
			if (b->e[i].block > at)
				tell(&t, e, at, b->e[i].block, what);
			at = fsa_max(at, b->e[i].block + b->e[i].count);
		}
		if (at < end)
			tell(&t, e, at, end, what);
	}
}

enum fsa_status xf_rmap_diff_tell(struct xf *x, struct xf_rmap_diff *d)
{
	if (d->failed)
		return FSA_ENOMEM;
	/* With more than can be kept the sums have said what there is to say. */
	if (d->found.full || d->mapped.full)
		return FSA_OK;
	settle(&d->found);
	settle(&d->mapped);
	tell_missing(x, &d->found, &d->mapped, "found, not in the reverse map,");
	tell_missing(x, &d->mapped, &d->found, "in the reverse map, not found,");
	return FSA_OK;
}
