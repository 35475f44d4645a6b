/* SPDX-License-Identifier: GPL-2.0-only */
/* The blocks of one file or long symbolic link: contents, slack, what lies behind the end, xtree pages. */
#include "jfs_audit.h"

struct filer {
	struct jfs_audit_state *s;
	const struct jfs_inode *i;
	bool unreferenced;
	unsigned flags;
	const struct fsa_owner *owner;
	struct fsa_object *o;
	uint64_t *blocks;
	uint64_t eof_blocks;		/* blocks up to end of file, the last one possibly in part */
	uint64_t next_logical, next_physical;	/* behind the last piece of data: for counting extents */
	bool have_last;
};

static void claim(struct filer *f, uint64_t block, uint64_t count, enum jfs_detail detail)
{
	if (count)
		fsa_claim(f->s->claims, 0, block, count, f->unreferenced ? JFS_D_DELETED : detail, f->flags, f->owner);
}

static void count_extent(struct filer *f, const struct jfs_piece *p, uint64_t count)
{
	if (!f->have_last || f->next_logical != p->logical || f->next_physical != p->physical)
		f->o->extents++;
	f->have_last = true;
	f->next_logical = p->logical + count;
	f->next_physical = p->physical + count;
}

static enum fsa_status take_piece(void *arg, const struct jfs_piece *p)
{
	struct filer *f = arg;
	bool symlink = f->i->type == FSA_TYPE_SYMLINK;
	uint64_t in_file = p->logical < f->eof_blocks ? fsa_min(p->count, f->eof_blocks - p->logical) : 0;
	uint64_t bytes, last_bytes;

	*f->blocks += p->count;
	claim(f, p->physical + in_file, p->count - in_file, JFS_D_BEYOND_EOF);
	f->o->preallocated_bytes += (p->count - in_file) << JFS_L2PAGE;
	if (!in_file)
		return FSA_OK;
	if (p->unwritten) {
		claim(f, p->physical, in_file, JFS_D_UNWRITTEN);
		f->o->preallocated_bytes += in_file << JFS_L2PAGE;
		return FSA_OK;
	}
	count_extent(f, p, in_file);
	bytes = fsa_min(in_file << JFS_L2PAGE, f->i->size - (p->logical << JFS_L2PAGE));
	f->o->data_bytes += bytes;
	f->o->slack_bytes += (in_file << JFS_L2PAGE) - bytes;
	last_bytes = bytes & (JFS_PAGE - 1);
	if (!last_bytes || f->unreferenced) {
		claim(f, p->physical, in_file, symlink ? JFS_D_SYMLINK : JFS_D_FILE_DATA);
		return FSA_OK;
	}
	claim(f, p->physical, in_file - 1, symlink ? JFS_D_SYMLINK : JFS_D_FILE_DATA);
	fsa_claim_with_rest(f->s->claims, 0, p->physical + in_file - 1, 1, last_bytes, symlink ? JFS_D_SYMLINK : JFS_D_FILE_DATA,
			    symlink ? JFS_D_FREE_SYMLINK : JFS_D_SLACK, f->flags, f->owner);
	return FSA_OK;
}

static enum fsa_status take_node(void *arg, const struct jfs_node *n)
{
	struct filer *f = arg;

	*f->blocks += 1;
	f->o->mapping_bytes += JFS_PAGE;
	if (f->unreferenced)
		claim(f, n->block, 1, JFS_D_DELETED);
	else
		jfs_book_xtree_node(f->s, n, JFS_D_XTREE, f->flags, f->owner);
	return FSA_OK;
}

enum fsa_status jfs_audit_data(struct jfs_audit_state *s, const struct jfs_inode *i, bool unreferenced, unsigned flags,
			       const struct fsa_owner *owner, struct fsa_object *o, uint64_t *blocks)
{
	struct filer f = {
		.s = s, .i = i, .unreferenced = unreferenced, .flags = flags, .owner = owner, .o = o, .blocks = blocks,
		.eof_blocks = fsa_div_up(i->size, JFS_PAGE),
	};
	struct jfs_xtree_ops ops = { .piece = take_piece, .node = take_node, .arg = &f, .seen = &s->nodes, .check_siblings = true };

	if (i->size > JFS_MAX_FILE_SIZE)
		JFS_FIND(s->j, "inode", i->number, i->offset, "size %llu, at most %llu is possible", (ull)i->size, (ull)JFS_MAX_FILE_SIZE);
	return jfs_xtree_walk(s->j, i, &ops);
}
