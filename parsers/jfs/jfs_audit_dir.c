/* SPDX-License-Identifier: GPL-2.0-only */
/* Directories in the audit: what each byte of their nodes is, their position tables, and their names. */
#include <stdlib.h>
#include <string.h>

#include "jfs_audit.h"
#include "../core/name.h"

/* Where an entry says it is found in the position table, and where it lies. */
struct position {
	uint32_t index;
	uint32_t place;
	uint64_t block;
};

struct dir {
	struct jfs_audit_state *s;
	const struct jfs_inode *i;
	struct fsa_split *table;	/* of the page that the record lies in */
	uint64_t slot;
	bool unreferenced;
	unsigned flags;
	const struct fsa_owner *owner;
	struct fsa_object *o;
	uint64_t *blocks;
	struct position *positions;
	size_t n_positions, positions_room;
	bool unsorted;
	uint64_t next_index;		/* of the table, while its pages are read */
	size_t next_position;
	uint64_t table_pages;
};

/* --- names ---------------------------------------------------------------------------------------------- */

/* Whether a name deserves a closer look: made of units, it need not become bytes for that. */
static bool suspicious(const struct jfs_dirent *e)
{
	bool odd = e->units == 0 || e->name[0] == '.';

	for (unsigned k = 0; k < e->units; k++)
		odd |= e->name[k] == '/' || e->name[k] == 0;
	return odd;
}

static const char *show_name(struct fsa_shown_name *shown, const struct jfs_dirent *e)
{
	uint8_t name[JFS_NAME_BYTES];
	size_t length = jfs_name_bytes(e->name, e->units, name);

	return fsa_show_name(shown, (const char *)name, length);
}

static const char *trouble_of(const struct jfs_dirent *e)
{
	uint8_t name[JFS_NAME_BYTES];
	size_t length = jfs_name_bytes(e->name, e->units, name);

	return fsa_name_trouble((const char *)name, length);
}

static enum fsa_status take_entry(void *arg, const struct jfs_dirent *e)
{
	struct dir *d = arg;
	struct jfs_audit_state *s = d->s;
	struct jfs *j = s->j;
	const char *trouble = suspicious(e) ? trouble_of(e) : NULL;
	struct fsa_shown_name shown;
	struct jfs_dir_link *child;
	enum fsa_type type;

	if (j->flags & JFS_FLAG_DIR_INDEX) {
		if (!jfs_room((void **)&d->positions, &d->positions_room, d->n_positions, sizeof(*d->positions)))
			return FSA_ENOMEM;
		/* Names are often made in order: then so are their positions. */
		d->unsorted |= d->n_positions && d->positions[d->n_positions - 1].index > e->index;
		d->positions[d->n_positions++] = (struct position){ .index = e->index, .place = e->place, .block = e->block };
	}
	if (trouble)
		JFS_FIND(j, "inode", d->i->number, e->offset, "name \"%s\" of inode %u %s", show_name(&shown, e), e->inode, trouble);
	if ((e->inode < JFS_INO_FIRST && e->inode != JFS_INO_ROOT) || !jfs_links_in_use(s, e->inode, &type)) {
		JFS_FIND(j, "inode", d->i->number, e->offset, "directory entry \"%s\" names inode %u, which is not in use", show_name(&shown, e),
			 e->inode);
		return FSA_OK;
	}
	jfs_links_ref(s, e->inode);
	if (type != FSA_TYPE_DIRECTORY)
		return FSA_OK;
	jfs_links_ref(s, d->i->number);		/* for the parent that the child notes */
	child = jfs_links_dir(s, e->inode);
	if (!child)
		return FSA_OK;
	if (e->inode == JFS_INO_ROOT)
		JFS_FIND(j, "inode", d->i->number, e->offset, "directory entry \"%s\" names the root", show_name(&shown, e));
	else if (child->parent)
		JFS_FIND(j, "inode", d->i->number, e->offset, "directory entry \"%s\" is a second name of directory %u, the first is in "
			 "directory %u", show_name(&shown, e), e->inode, child->parent);
	else
		child->parent = d->i->number;
	return FSA_OK;
}

/* --- nodes ---------------------------------------------------------------------------------------------- */

/* Neighbouring bytes of one detail, booked as one part. */
struct stretch {
	struct fsa_split *split;
	const struct fsa_owner *owner;
	uint64_t at, length;
	enum jfs_detail detail;
};

static void add_bytes(struct stretch *t, uint32_t bytes, enum jfs_detail detail)
{
	if (!bytes)
		return;
	if (detail != t->detail) {
		fsa_split_part(t->split, t->at, t->length, t->detail, t->owner);
		t->at += t->length;
		t->length = 0;
		t->detail = detail;
	}
	t->length += bytes;
}

/* Slot by slot: the sorted table up to its last entry, entries up to the end of their names, the rest. */
static void book_node(struct fsa_split *split, uint64_t base, const struct jfs_dt_node *n, enum jfs_detail detail,
		      enum jfs_detail rest, const struct fsa_owner *owner)
{
	struct stretch t = { .split = split, .owner = owner, .at = base + JFS_DT_SLOT, .detail = detail };

	for (unsigned k = 1; k < n->slots; k++) {
		uint32_t used = n->used[k], tail = n->tail[k] ? 4 : 0;

		if (k >= n->stbl_slot && k < n->stbl_slot + n->stbl_slots) {
			uint32_t before = (k - n->stbl_slot) * JFS_DT_SLOT;

			used = n->entries > before ? (uint32_t)fsa_min(n->entries - before, JFS_DT_SLOT) : 0;
			tail = 0;
		}
		add_bytes(&t, used, detail);
		add_bytes(&t, JFS_DT_SLOT - used - tail, rest);
		add_bytes(&t, tail, detail);
	}
	fsa_split_part(split, t.at, t.length, t.detail, owner);
}

static void book_root(struct dir *d, const struct jfs_dt_node *n)
{
	const uint32_t header = offsetof(struct jfs_dt_root_header, stbl), table = JFS_DT_SLOT - header;
	uint64_t at = d->slot + JFS_TREE_AT;
	uint32_t used = (uint32_t)fsa_min(n->entries, table);

	if (d->unreferenced)
		return;
	fsa_split_part(d->table, at, header + used, JFS_D_DTREE_ROOT, d->owner);
	fsa_split_part(d->table, at + header + used, table - used, JFS_D_FREE_INODE, d->owner);
	book_node(d->table, at, n, JFS_D_DTREE_ROOT, JFS_D_FREE_INODE, d->owner);
}

static enum fsa_status take_node(void *arg, const struct jfs_dt_node *n)
{
	struct dir *d = arg;
	enum jfs_detail detail = n->leaf ? JFS_D_DTREE : JFS_D_DTREE_INTERNAL;
	struct fsa_split split;

	if (!n->block) {
		book_root(d, n);
		return FSA_OK;
	}
	*d->blocks += 1;
	d->o->data_bytes += JFS_PAGE;
	d->o->extents++;
	if (d->unreferenced) {
		fsa_claim(d->s->claims, 0, n->block, 1, JFS_D_DELETED, d->flags, d->owner);
		return FSA_OK;
	}
	fsa_split_begin(&split, d->s->claims, 0, n->block, 1, d->flags, d->owner);
	fsa_split_part(&split, 0, JFS_DT_SLOT, detail, NULL);
	book_node(&split, 0, n, detail, JFS_D_FREE_DTREE, NULL);
	fsa_split_end(&split, JFS_D_FREE_DTREE);
	return FSA_OK;
}

/* --- the table of positions ------------------------------------------------------------------------------ */

static int compare_positions(const void *a, const void *b)
{
	const struct position *x = a, *y = b;

	return (x->index > y->index) - (x->index < y->index);
}

/* Slots of the table from number `first` on against the entries, which are sorted by number. */
static void check_slots(struct dir *d, const uint8_t *slots, unsigned count, uint64_t first, ull at)
{
	struct jfs *j = d->s->j;

	for (unsigned k = 0; k < count; k++) {
		const uint8_t *t = slots + k * sizeof(struct jfs_dir_table_slot);
		uint64_t index = first + k, block = (uint64_t)t[3] << 32 | fsa_get_le32(t + 4);
		const struct position *p;
		bool valid = t[1] == 1 && index < d->i->next_index;

		/* Most pages are used in part: where neither side has anything left there is nothing to compare. */
		if (index >= d->i->next_index && d->next_position == d->n_positions)
			break;
		while (d->next_position < d->n_positions && d->positions[d->next_position].index < index)
			d->next_position++;
		p = d->next_position < d->n_positions && d->positions[d->next_position].index == index ? &d->positions[d->next_position] : NULL;
		if (p && !valid)
			JFS_FIND(j, "inode", d->i->number, at + k * 8, "position %llu is free in the table, an entry in node %llu has it",
				 (ull)index, (ull)p->block);
		else if (!p && valid)
			JFS_FIND(j, "inode", d->i->number, at + k * 8, "position %llu leads to entry %u of node %llu, no entry has it",
				 (ull)index, t[2], (ull)block);
		else if (p && (p->block != block || p->place != t[2]))
			JFS_FIND(j, "inode", d->i->number, at + k * 8, "position %llu leads to entry %u of node %llu, it is entry %u of node %llu",
				 (ull)index, t[2], (ull)block, p->place, (ull)p->block);
	}
}

/* Runs of slots in use and not in use. */
static void book_slots(struct fsa_split *split, uint64_t at, const uint8_t *slots, unsigned count, uint64_t first, uint32_t next_index,
		       enum jfs_detail rest, const struct fsa_owner *owner)
{
	const unsigned size = sizeof(struct jfs_dir_table_slot);

	unsigned given = next_index > first ? (unsigned)fsa_min(next_index - first, count) : 0;

	for (unsigned k = 0, n; k < given; k += n) {
		bool valid = slots[k * size + 1] == 1;

		for (n = 1; k + n < given && (slots[(k + n) * size + 1] == 1) == valid; n++)
			;
		fsa_split_part(split, at + k * size, n * size, valid ? JFS_D_DIR_TABLE : rest, owner);
	}
	fsa_split_part(split, at + given * size, (count - given) * size, rest, owner);
}

static void book_table_page(struct dir *d, uint64_t page, uint64_t block)
{
	const unsigned per_page = JFS_PAGE / sizeof(struct jfs_dir_table_slot);
	uint8_t bytes[JFS_PAGE];
	struct fsa_split split;

	*d->blocks += 1;
	d->table_pages++;
	d->o->data_bytes += JFS_PAGE;
	if (d->unreferenced || fsa_read(d->s->j->fs, 0, jfs_at(block), bytes, sizeof(bytes), "inode", d->i->number) != FSA_OK) {
		fsa_claim(d->s->claims, 0, block, 1, d->unreferenced ? JFS_D_DELETED : JFS_D_DIR_TABLE, d->flags, d->owner);
		return;
	}
	fsa_split_begin(&split, d->s->claims, 0, block, 1, d->flags, d->owner);
	book_slots(&split, 0, bytes, per_page, page * per_page + 2, d->i->next_index, JFS_D_FREE_DTREE, NULL);
	fsa_split_end(&split, JFS_D_FREE_DTREE);
	check_slots(d, bytes, per_page, page * per_page + 2, jfs_at(block));
}

static enum fsa_status take_table_piece(void *arg, const struct jfs_piece *p)
{
	struct dir *d = arg;
	uint64_t in_image = jfs_image_blocks(d->s->j);

	d->o->extents++;
	for (uint64_t k = 0; k < p->count; k++) {
		if (p->physical + k >= in_image) {
			/* One finding for the whole run: size of the image is told elsewhere. */
			fsa_claim(d->s->claims, 0, p->physical + k, p->count - k, JFS_D_DIR_TABLE, d->flags, d->owner);
			*d->blocks += p->count - k;
			break;
		}
		book_table_page(d, p->logical + k, p->physical + k);
	}
	return FSA_OK;
}

static enum fsa_status take_table_node(void *arg, const struct jfs_node *n)
{
	struct dir *d = arg;

	*d->blocks += 1;
	d->o->mapping_bytes += JFS_PAGE;
	if (d->unreferenced)
		fsa_claim(d->s->claims, 0, n->block, 1, JFS_D_DELETED, d->flags, d->owner);
	else
		jfs_book_xtree_node(d->s, n, JFS_D_DIR_XTREE, d->flags, d->owner);
	return FSA_OK;
}

static enum fsa_status audit_table(struct dir *d)
{
	struct jfs *j = d->s->j;
	const struct jfs_inode *i = d->i;
	struct jfs_xtree_ops ops = {
		.piece = take_table_piece, .node = take_table_node, .arg = d, .seen = &d->s->nodes, .check_siblings = true,
	};
	const uint32_t room = JFS_TREE_AT - JFS_TABLE_AT;
	enum fsa_status st;

	if (!(j->flags & JFS_FLAG_DIR_INDEX)) {
		if (!d->unreferenced)
			fsa_split_part(d->table, d->slot + JFS_TABLE_AT, room, JFS_D_FREE_INODE, d->owner);
		return FSA_OK;
	}
	if (d->unsorted)
		qsort(d->positions, d->n_positions, sizeof(*d->positions), compare_positions);
	for (size_t k = 0; k < d->n_positions; k++) {
		uint32_t index = d->positions[k].index;

		if (index < 2 || index >= i->next_index)
			JFS_FIND(j, "inode", i->number, i->offset, "an entry in node %llu has position %u, possible are 2 to %u",
				 (ull)d->positions[k].block, index, i->next_index - 1);
		else if (k && d->positions[k - 1].index == index)
			JFS_FIND(j, "inode", i->number, i->offset, "two entries have position %u", index);
	}
	if (jfs_dir_table_inline(i)) {
		check_slots(d, i->raw + JFS_TABLE_AT, JFS_DIR_TABLE_INLINE, 2, i->offset + JFS_TABLE_AT);
		if (!d->unreferenced)
			book_slots(d->table, d->slot + JFS_TABLE_AT, i->raw + JFS_TABLE_AT, JFS_DIR_TABLE_INLINE, 2, i->next_index,
				   JFS_D_FREE_INODE, d->owner);
		return FSA_OK;
	}
	if (!d->unreferenced) {
		uint32_t max, used = jfs_xtree_root_bytes(i, &max);

		fsa_split_part(d->table, d->slot + JFS_TABLE_AT, used, JFS_D_XTREE_ROOT, d->owner);
		fsa_split_part(d->table, d->slot + JFS_TABLE_AT + used, room - used, JFS_D_FREE_INODE, d->owner);
	}
	st = jfs_xtree_walk(j, i, &ops);
	if (d->table_pages < fsa_div_up(i->next_index - 2, JFS_PAGE / sizeof(struct jfs_dir_table_slot)))
		JFS_FIND(j, "inode", i->number, i->offset, "table of positions of %llu pages, positions up to %u take %llu",
			 (ull)d->table_pages, i->next_index - 1,
			 (ull)fsa_div_up(i->next_index - 2, JFS_PAGE / sizeof(struct jfs_dir_table_slot)));
	return st;
}

enum fsa_status jfs_audit_dir(struct jfs_audit_state *s, const struct jfs_inode *i, struct fsa_split *table, uint64_t slot,
			      bool unreferenced, unsigned flags, const struct fsa_owner *owner, struct fsa_object *o, uint64_t *blocks)
{
	struct dir d = {
		.s = s, .i = i, .table = table, .slot = slot, .unreferenced = unreferenced, .flags = flags, .owner = owner, .o = o,
		.blocks = blocks,
	};
	struct jfs_dtree_ops ops = { .entry = take_entry, .node = take_node, .arg = &d, .seen = &s->nodes, .check = true };
	enum fsa_status st;

	if (i->links)
		jfs_links_ref(s, i->number);	/* for itself, as "." elsewhere */
	if (i->number == JFS_INO_ROOT)
		jfs_links_ref(s, i->number);	/* it is its own parent */
	st = jfs_dtree_walk(s->j, i, &ops);
	if (st == FSA_OK)
		st = audit_table(&d);
	free(d.positions);
	return st;
}
