/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names: their place by hash, that they lead to objects, that objects are named as often as they say, and that all
 * directories hang below the root.
 */
#include <stdlib.h>
#include <string.h>

#include "../core/name.h"
#include "reiserfs_audit.h"

static enum fsa_status mark_hidden(void *arg, uint32_t dir, uint32_t oid)
{
	struct rfs_audit_state *s = arg;
	uint8_t *flags;

	(void)dir;
	if (!rfs_known_get(&s->known, oid, true, &flags))
		return FSA_ENOMEM;
	*flags |= RFS_HIDDEN;
	return FSA_OK;
}

enum fsa_status rfs_audit_hidden(struct rfs_audit_state *s)
{
	return rfs_priv_each(s->r, mark_hidden, s);
}

/* --- objects ------------------------------------------------------------------------------------------------ */

static bool oid_in_use(const struct rfs_audit_state *s, uint32_t oid)
{
	uint32_t low = 0, high = s->oid_map_n;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (s->oid_map[mid] <= oid)
			low = mid + 1;
		else
			high = mid;
	}
	return low & 1;
}

enum fsa_status rfs_audit_stat(struct rfs_audit_state *s, const struct rfs_inode *i)
{
	uint8_t *flags;
	struct rfs_known *k = rfs_known_get(&s->known, i->oid, true, &flags);

	if (!k)
		return FSA_ENOMEM;
	if (*flags & RFS_SEEN)
		RFS_FIND(s->r, "object", i->oid, i->offset, "two objects have this id: [%u %u] and [%u %u]", k->dir, i->oid, i->dir, i->oid);
	else if (*flags & RFS_NAMED && k->dir != i->dir)
		RFS_FIND(s->r, "object", i->oid, i->offset, "its key is [%u %u], directory %u names [%u %u]", i->dir, i->oid, k->parent, k->dir,
			 i->oid);
	if (s->oid_map_n && !oid_in_use(s, i->oid))
		RFS_FIND(s->r, "object", i->oid, i->offset, "its id is free in the object id map of %u numbers", s->oid_map_n);
	*flags |= RFS_SEEN | (i->type == FSA_TYPE_DIRECTORY ? RFS_IS_DIR : 0);
	k->dir = i->dir;
	k->links = i->links;
	return FSA_OK;
}

/* --- entries ------------------------------------------------------------------------------------------------ */

struct naming {
	struct rfs_audit_state *s;
	const struct rfs_item *item;
	unsigned index;
	uint32_t before;
};

static bool hash_ok(const struct rfs *r, const struct rfs_entry *e)
{
	uint32_t have = e->offset & RFS_HASH_MASK;

	if (rfs_hash_known(r->hash))
		return rfs_hash(r->hash, e->name, e->name_length) == have;
	/* Not noted in the superblock before 3.5.9 or so: any of them. */
	return rfs_hash(RFS_HASH_R5, e->name, e->name_length) == have || rfs_hash(RFS_HASH_TEA, e->name, e->name_length) == have ||
	       rfs_hash(RFS_HASH_YURA, e->name, e->name_length) == have;
}

static void check_entry(struct naming *n, const struct rfs_entry *e)
{
	struct rfs *r = n->s->r;
	uint32_t directory = n->item->key.oid;
	struct fsa_shown_name shown;

	if (n->index == 0 && e->offset != n->item->key.offset)
		RFS_FIND(r, "directory", directory, e->image_offset, "first entry has the offset 0x%x, the item's key has 0x%llx", e->offset,
			 (ull)n->item->key.offset);
	if (n->index && e->offset <= n->before)
		RFS_FIND(r, "directory", directory, e->image_offset, "entry %u has the offset 0x%x, not above 0x%x before it", n->index,
			 e->offset, n->before);
	if (e->offset == RFS_DOT_OFFSET || e->offset == RFS_DOT_DOT_OFFSET) {
		if (e->name_length != e->offset || memcmp(e->name, "..", e->name_length) != 0)
			RFS_FIND(r, "directory", directory, e->image_offset, "offset %u belongs to \"%s\", the name is \"%s\"", e->offset,
				 e->offset == RFS_DOT_OFFSET ? "." : "..", fsa_show_name(&shown, (const char *)e->name, e->name_length));
		return;
	}
	if (e->state & RFS_ENTRY_VISIBLE && !hash_ok(r, e))
		RFS_FIND(r, "directory", directory, e->image_offset, "entry \"%s\" has the hash 0x%x, its name 0x%x",
			 fsa_show_name(&shown, (const char *)e->name, e->name_length), e->offset & RFS_HASH_MASK,
			 rfs_hash(r->hash, e->name, e->name_length));
}

static enum fsa_status name_dot(struct naming *n, const struct rfs_entry *e)
{
	struct rfs_audit_state *s = n->s;
	uint32_t oid = n->item->key.oid;
	struct rfs_known *k;
	uint8_t *flags;

	if (e->offset == RFS_DOT_OFFSET) {
		if (e->oid != oid || e->dir != n->item->key.dir)
			RFS_FIND(s->r, "directory", oid, e->image_offset, "\".\" is [%u %u], should be [%u %u]", e->dir, e->oid, n->item->key.dir,
				 oid);
		return FSA_OK;
	}
	k = rfs_known_get(&s->known, oid, true, &flags);
	if (!k)
		return FSA_ENOMEM;
	k->dotdot = e->oid;
	/* Above the root is nothing. */
	if (oid == RFS_ROOT_OBJECTID)
		return FSA_OK;
	k = rfs_known_get(&s->known, e->oid, true, &flags);
	if (!k)
		return FSA_ENOMEM;
	k->subs++;
	return FSA_OK;
}

static enum fsa_status take_entry(void *arg, const struct rfs_entry *e)
{
	struct naming *n = arg;
	struct rfs_audit_state *s = n->s;
	struct rfs_known *k;
	uint8_t *flags;

	check_entry(n, e);
	n->before = e->offset;
	n->index++;
	if (!(e->state & RFS_ENTRY_VISIBLE))
		return FSA_OK;
	if (e->offset == RFS_DOT_OFFSET || e->offset == RFS_DOT_DOT_OFFSET)
		return name_dot(n, e);
	k = rfs_known_get(&s->known, e->oid, true, &flags);
	if (!k)
		return FSA_ENOMEM;
	if (!(*flags & (RFS_SEEN | RFS_NAMED)))
		k->dir = e->dir;
	else if (k->dir != e->dir)
		RFS_FIND(s->r, "directory", n->item->key.oid, e->image_offset, "entry names [%u %u], the object is [%u %u]", e->dir, e->oid,
			 k->dir, e->oid);
	*flags |= RFS_NAMED;
	k->refs++;
	k->parent = n->item->key.oid;
	return FSA_OK;
}

enum fsa_status rfs_audit_names(struct rfs_audit_state *s, const struct rfs_item *item)
{
	struct naming n = { .s = s, .item = item };
	enum fsa_status st = rfs_dir_entries(s->r, item, take_entry, &n);

	if (st == FSA_OK && item->count == 0)
		RFS_FIND(s->r, "directory", item->key.oid, item->offset, "an item with 0 entries, should have at least 1");
	return st;
}

/* --- when all are known ------------------------------------------------------------------------------------ */

static uint64_t stat_offset(struct rfs_audit_state *s, const struct rfs_known *k, uint32_t oid)
{
	struct rfs_inode i;

	return rfs_inode_of(s->r, rfs_ref(k->dir, oid), &i) == FSA_OK ? i.offset : FSA_NO_OFFSET;
}

static void check_directory(struct rfs_audit_state *s, const struct rfs_known *k, uint32_t oid)
{
	struct rfs *r = s->r;
	bool root = oid == RFS_ROOT_OBJECTID && k->dir == RFS_ROOT_DIR_ID;
	uint32_t want = 2 + k->subs;

	if (root) {
		/* mkfs gives a new root one link too many, which stays. */
		if (k->links != want && k->links != want + 1 && k->links != 1)
			RFS_FIND(r, "object", oid, stat_offset(s, k, oid), "the root has %u links, with %u directories in it %u or %u", k->links,
				 k->subs, want, want + 1);
		return;
	}
	if (k->links == 0)
		return;
	if (k->refs != 1) {
		RFS_FIND(r, "object", oid, stat_offset(s, k, oid), "%u entries name this directory, should be 1", k->refs);
		return;
	}
	/* With more than 64535 the count stays at 1. */
	if (k->links != 1 && k->links != want)
		RFS_FIND(r, "object", oid, stat_offset(s, k, oid), "directory with %u links, with %u directories in it should be %u", k->links,
			 k->subs, want);
	if (k->dotdot != k->parent)
		RFS_FIND(r, "object", oid, stat_offset(s, k, oid), "\"..\" is object %u, directory %u names it", k->dotdot, k->parent);
}

static void check_object(struct rfs_audit_state *s, const struct rfs_known *k, uint32_t oid, uint8_t flags)
{
	struct rfs *r = s->r;

	if (!(flags & RFS_SEEN)) {
		if (flags & RFS_NAMED)
			RFS_FIND(r, "object", oid, FSA_NO_OFFSET, "directory %u names [%u %u], which has no stat data", k->parent, k->dir, oid);
		return;
	}
	if (flags & RFS_IS_DIR)
		check_directory(s, k, oid);
	else if (k->links != k->refs)
		RFS_FIND(r, "object", oid, stat_offset(s, k, oid), "%u links, %u entries name it", k->links, k->refs);
	if (k->links == 0 && k->refs == 0 && !(flags & RFS_SAFE))
		RFS_FIND(r, "object", oid, stat_offset(s, k, oid), "0 links and no safe link: nothing will ever delete it");
}

/* From each directory up until one that is known to hang below the root, or until a circle closes. */
static void check_up(struct rfs_audit_state *s, uint32_t start)
{
	uint32_t oid = start;
	uint8_t *flags;
	struct rfs_known *k;
	bool up = false, circle = false;

	while ((k = rfs_known_get(&s->known, oid, false, &flags)) != NULL) {
		if (oid == RFS_ROOT_OBJECTID || *flags & RFS_UP) {
			up = true;
			break;
		}
		if (*flags & RFS_WALKED) {
			circle = true;
			break;
		}
		if (!(*flags & RFS_NAMED))
			break;
		*flags |= RFS_WALKED;
		oid = k->parent;
	}
	if (circle)
		RFS_FIND(s->r, "object", oid, FSA_NO_OFFSET, "directory is above itself: its parents lead in a circle and not to the root");
	for (oid = start; (k = rfs_known_get(&s->known, oid, false, &flags)) != NULL && *flags & RFS_WALKED; oid = k->parent) {
		*flags &= (uint8_t)~RFS_WALKED;
		/* Of a circle one finding is enough. */
		if (up || circle)
			*flags |= RFS_UP;
	}
}

void rfs_audit_links(struct rfs_audit_state *s)
{
	size_t count = rfs_known_count(&s->known);
	uint32_t oid;
	uint8_t *flags;

	for (size_t n = 0; n < count; n++) {
		struct rfs_known *k = rfs_known_at(&s->known, n, &oid, &flags);

		if (!*flags)
			continue;
		check_object(s, k, oid, *flags);
		if (*flags & RFS_IS_DIR && k->links)
			check_up(s, oid);
	}
}
