/* SPDX-License-Identifier: GPL-2.0-only */
/* Where the maps lie: pages of the block map and of the inode map, inode allocation groups (IAG). */
#include <stdlib.h>
#include <string.h>

#include "jfs.h"

bool jfs_room(void **array, size_t *room, size_t count, size_t size)
{
	size_t n = *room ? *room * 2 : 16;
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

void jfs_pieces_free(struct jfs_pieces *p)
{
	free(p->p);
	memset(p, 0, sizeof(*p));
}

uint64_t jfs_pieces_find(const struct jfs_pieces *p, uint64_t page)
{
	size_t lo = 0, hi = p->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (p->p[mid].logical + p->p[mid].count <= page)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == p->n || p->p[lo].logical > page)
		return 0;
	return p->p[lo].physical + (page - p->p[lo].logical);
}

static enum fsa_status add_piece(void *arg, const struct jfs_piece *piece)
{
	struct jfs_pieces *p = arg;

	if (!jfs_room((void **)&p->p, &p->room, p->n, sizeof(*p->p)))
		return FSA_ENOMEM;
	p->p[p->n++] = *piece;
	p->blocks += piece->count;
	return FSA_OK;
}

enum fsa_status jfs_pieces_of(struct jfs *j, const struct jfs_inode *i, struct jfs_pieces *p)
{
	struct jfs_xtree_ops ops = { .piece = add_piece, .arg = p };

	memset(p, 0, sizeof(*p));
	return jfs_xtree_walk(j, i, &ops);
}

void jfs_aggregate_inode(const struct jfs *j, unsigned table, uint32_t number, struct jfs_inode *i)
{
	uint64_t at = table ? jfs_at(j->ait2.block) : JFS_AIT_OFFSET;
	uint32_t in_table = number * JFS_INODE_SIZE;

	jfs_inode_decode(number, true, j->ait[table] + in_table, at + in_table, i);
}

enum fsa_status jfs_iag_read(struct jfs *j, uint32_t n)
{
	uint64_t block;
	enum fsa_status st;

	if (j->have_iag && j->iag_number == n)
		return FSA_OK;
	if (n >= j->iags)
		return FSA_ENOENT;
	block = jfs_pieces_find(&j->imap, (uint64_t)n + 1);
	if (!block) {
		JFS_FIND(j, "IAG", n, FSA_NO_OFFSET, "not mapped by the inode of the inode map");
		return FSA_EDAMAGED;
	}
	j->have_iag = false;
	st = fsa_read(j->fs, 0, jfs_at(block), j->iag, sizeof(j->iag), "IAG", n);
	j->have_iag = st == FSA_OK;
	j->iag_number = n;
	return st;
}
