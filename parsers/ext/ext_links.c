/* SPDX-License-Identifier: GPL-2.0-only */
/* Link counts: what inodes claim against the names that lead to them, in a byte an inode. */
#include <stdlib.h>

#include "ext_audit.h"

#define IN_USE 0x01u
#define UNCOUNTED IN_USE		/* in use, with no type: internal inodes, to which no name leads */
#define BIAS 7			/* high half: links still missing, plus this */
#define ELSEWHERE 15u

static uint8_t *info_of(struct ext_audit_state *s, uint32_t ino)
{
	uint32_t group = (ino - 1) / s->e->inodes_per_group;

	if (!s->inode_info[group])
		s->inode_info[group] = malloc(s->e->inodes_per_group);
	if (!s->inode_info[group])
		return NULL;
	return &s->inode_info[group][(ino - 1) % s->e->inodes_per_group];
}

static bool ensure_group(struct ext_audit_state *s, uint32_t ino)
{
	uint32_t group = (ino - 1) / s->e->inodes_per_group;

	if (s->inode_info[group])
		return true;
	if (!info_of(s, ino))
		return false;
	for (uint32_t k = 0; k < s->e->inodes_per_group; k++)
		s->inode_info[group][k] = BIAS << 4;
	return true;
}

static int64_t get(const struct ext_audit_state *s, uint32_t ino, uint8_t info)
{
	const int64_t *v;

	if (info >> 4 != ELSEWHERE)
		return (int64_t)(info >> 4) - BIAS;
	v = ext_tally_find(&s->links, ino);
	return v ? *v : 0;
}

static bool put(struct ext_audit_state *s, uint32_t ino, uint8_t *info, int64_t value)
{
	bool made;
	int64_t *v;

	if (*info >> 4 != ELSEWHERE && value >= -BIAS && value < (int64_t)ELSEWHERE - BIAS) {
		*info = (uint8_t)((*info & 0x0f) | (unsigned)(value + BIAS) << 4);
		return true;
	}
	v = ext_tally_at(&s->links, ino, 0, &made);
	if (!v)
		return false;
	*v = value;
	*info = (uint8_t)((*info & 0x0f) | ELSEWHERE << 4);
	return true;
}

bool ext_links_use(struct ext_audit_state *s, const struct ext_inode *i, bool counted)
{
	uint8_t *info;

	if (!ensure_group(s, i->number))
		return false;
	info = info_of(s, i->number);
	*info = (uint8_t)((*info & 0xf0) | (counted ? (unsigned)i->type << 1 | IN_USE : UNCOUNTED));
	return !counted || put(s, i->number, info, get(s, i->number, *info) + (int64_t)i->links);
}

bool ext_links_ref(struct ext_audit_state *s, uint32_t ino)
{
	uint8_t *info;

	if (!ensure_group(s, ino))
		return false;
	info = info_of(s, ino);
	return put(s, ino, info, get(s, ino, *info) - 1);
}

bool ext_links_in_use(const struct ext_audit_state *s, uint32_t ino, enum fsa_type *type)
{
	uint32_t group = (ino - 1) / s->e->inodes_per_group;
	uint8_t info = s->inode_info[group] ? s->inode_info[group][(ino - 1) % s->e->inodes_per_group] : 0;

	*type = (info & 0x0f) == UNCOUNTED ? FSA_TYPE_UNKNOWN : (enum fsa_type)(info >> 1 & 7);
	return info & IN_USE;
}

static void check_one(struct ext_audit_state *s, uint32_t ino, uint8_t info)
{
	int64_t left = get(s, ino, info);
	bool directory = (info >> 1 & 7) == FSA_TYPE_DIRECTORY;
	uint8_t *raw;
	struct ext_inode i;

	if (!left || ext_inode_of(s->e, (struct fsa_ref){ .word = { ino } }, &raw, &i) != FSA_OK)
		return;
	free(raw);
	/* With dir_nlink a directory of more than 65000 subdirectories gives up counting and says 1. */
	if (directory && i.links == 1 && ext_ro_compat(s->e, EXT4_FEATURE_RO_COMPAT_DIR_NLINK))
		return;
	if (!i.links)
		return;
	if (left == (int64_t)i.links)
		EXT_FIND(s->e, "inode", ino, i.offset, "in use with link count %u, and no directory names it", i.links);
	else
		EXT_FIND(s->e, "inode", ino, i.offset, "link count %u, %lld names lead to it", i.links,
			 (long long)((int64_t)i.links - left));
}

void ext_links_check(struct ext_audit_state *s)
{
	for (uint32_t group = 0; group < s->e->groups; group++)
		for (uint32_t k = 0; s->inode_info[group] && k < s->e->inodes_per_group; k++) {
			uint8_t info = s->inode_info[group][k];

			if ((info & IN_USE) && (info & 0x0f) != UNCOUNTED && info >> 4 != BIAS)
				check_one(s, group * s->e->inodes_per_group + k + 1, info);
		}
}

void ext_links_free(struct ext_audit_state *s)
{
	for (uint32_t group = 0; s->inode_info && group < s->e->groups; group++)
		free(s->inode_info[group]);
	free(s->inode_info);
	ext_tally_free(&s->links);
}
