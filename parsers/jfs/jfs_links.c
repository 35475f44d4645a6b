/* SPDX-License-Identifier: GPL-2.0-only */
/* Names against link counts, and whether directories make a tree. */
#include <stdlib.h>
#include <string.h>

#include "jfs_audit.h"

enum fsa_status jfs_links_use(struct jfs_audit_state *s, uint32_t number, const uint8_t *raw, bool *directory)
{
	struct jfs_iag_links **l = &s->links[number / JFS_INODES_PER_IAG];
	enum fsa_type type = fsa_type_of_mode(FSA_LE(uint32_t, raw, struct jfs_dinode, di_mode));
	uint32_t n = number % JFS_INODES_PER_IAG;

	if (!*l && !(*l = calloc(1, sizeof(**l))))
		return FSA_ENOMEM;
	(*l)->type[n] = (uint8_t)(type + 1);
	(*l)->missing[n] = FSA_LE(uint32_t, raw, struct jfs_dinode, di_nlink);
	*directory = type == FSA_TYPE_DIRECTORY;
	if (!*directory)
		return FSA_OK;
	if (!jfs_room((void **)&s->dirs, &s->dirs_room, s->n_dirs, sizeof(*s->dirs)))
		return FSA_ENOMEM;
	s->dirs[s->n_dirs++] = (struct jfs_dir_link){ .inode = number, .dotdot = jfs_dtree_parent(raw) };
	return FSA_OK;
}

bool jfs_links_in_use(const struct jfs_audit_state *s, uint32_t ino, enum fsa_type *type)
{
	const struct jfs_iag_links *l;
	uint32_t n = ino % JFS_INODES_PER_IAG;

	if (ino / JFS_INODES_PER_IAG >= s->j->iags)
		return false;
	l = s->links[ino / JFS_INODES_PER_IAG];
	if (!l || !l->type[n])
		return false;
	*type = (enum fsa_type)(l->type[n] - 1);
	return true;
}

void jfs_links_ref(struct jfs_audit_state *s, uint32_t ino)
{
	s->links[ino / JFS_INODES_PER_IAG]->missing[ino % JFS_INODES_PER_IAG]--;
}

struct jfs_dir_link *jfs_links_dir(struct jfs_audit_state *s, uint32_t ino)
{
	size_t lo = 0, hi = s->n_dirs;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (s->dirs[mid].inode < ino)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < s->n_dirs && s->dirs[lo].inode == ino ? &s->dirs[lo] : NULL;
}

static ull offset_of(struct jfs_audit_state *s, uint32_t ino)
{
	uint8_t raw[JFS_INODE_SIZE];
	struct jfs_inode i;

	return jfs_inode_read(s->j, ino, raw, &i) == FSA_OK ? i.offset : FSA_NO_OFFSET;
}

/* A directory that the root does not lead to: follow parents until the root, a stranger, or a circle. */
static void check_tree(struct jfs_audit_state *s)
{
	uint32_t *state = calloc(s->n_dirs ? s->n_dirs : 1, sizeof(*state));

	for (size_t k = 0; state && k < s->n_dirs; k++) {
		struct jfs_dir_link *d = &s->dirs[k];
		uint32_t mark = (uint32_t)k + 1;

		if (d->parent && d->dotdot != d->parent)
			JFS_FIND(s->j, "inode", d->inode, offset_of(s, d->inode), "parent is inode %u, directory %u names it", d->dotdot, d->parent);
		if (d->inode == JFS_INO_ROOT && d->dotdot != d->inode)
			JFS_FIND(s->j, "inode", d->inode, offset_of(s, d->inode), "parent of the root is inode %u", d->dotdot);
		while (d && d->inode != JFS_INO_ROOT && d->parent && !state[d - s->dirs]) {
			state[d - s->dirs] = mark;
			d = jfs_links_dir(s, d->parent);
		}
		if (d && d->inode != JFS_INO_ROOT && d->parent && state[d - s->dirs] == mark)
			JFS_FIND(s->j, "inode", d->inode, offset_of(s, d->inode), "directory is above itself: its parents lead in a circle and not "
				 "to the root");
		else if (d && !d->parent && d->inode != JFS_INO_ROOT && !state[d - s->dirs]) {
			/* Told once, whatever lies below it. A deleted one that is still open has no links. */
			uint8_t raw[JFS_INODE_SIZE];
			struct jfs_inode i;

			state[d - s->dirs] = mark;
			if (jfs_inode_read(s->j, d->inode, raw, &i) != FSA_OK || i.links)
				JFS_FIND(s->j, "inode", d->inode, offset_of(s, d->inode), "directory is named by none: the root does not lead to it");
		}
	}
	free(state);
}

void jfs_links_check(struct jfs_audit_state *s)
{
	for (uint32_t iag = 0; iag < s->j->iags; iag++) {
		const struct jfs_iag_links *l = s->links[iag];

		for (uint32_t n = 0; l && n < JFS_INODES_PER_IAG; n++) {
			uint32_t ino = iag * JFS_INODES_PER_IAG + n;
			uint8_t raw[JFS_INODE_SIZE];
			struct jfs_inode i;

			/* Reserved ones are named by no directory and have one link all the same. */
			if (!l->missing[n] || !l->type[n] || (ino < JFS_INO_FIRST && ino != JFS_INO_ROOT))
				continue;
			if (jfs_inode_read(s->j, ino, raw, &i) == FSA_OK)
				JFS_FIND(s->j, "inode", ino, i.offset, "link count %u, directories make it %u", i.links, i.links - l->missing[n]);
		}
	}
	check_tree(s);
}

void jfs_links_free(struct jfs_audit_state *s)
{
	for (uint32_t iag = 0; s->links && iag < s->j->iags; iag++)
		free(s->links[iag]);
	free(s->links);
	free(s->dirs);
}
