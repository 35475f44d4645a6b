/* SPDX-License-Identifier: GPL-2.0-only */
/* The pieces of a file: blocks that indirect items point to, and bytes in direct items. */
#include <stdlib.h>
#include <string.h>

#include "fsa/read.h"
#include "reiserfs.h"

struct piecer {
	struct rfs *r;
	struct fsa_extent run;		/* blocks not handed out yet; length 0: none */
	fsa_extent_fn fn;
	void *arg;
};

static enum fsa_status flush(struct piecer *p)
{
	enum fsa_status st = p->run.length ? p->fn(p->arg, &p->run) : FSA_OK;

	p->run.length = 0;
	return st;
}

static enum fsa_status add_block(struct piecer *p, uint64_t logical, uint32_t block, uint32_t oid, uint64_t at)
{
	struct rfs *r = p->r;
	bool bad = !rfs_block_ok(r, block);
	enum fsa_extent_kind kind = bad ? FSA_EXTENT_UNREADABLE : FSA_EXTENT_DATA;
	uint64_t physical = bad ? FSA_NO_OFFSET : rfs_at(r, block);
	enum fsa_status st;

	if (bad)
		RFS_FIND(r, "object", oid, at, "block %llu of the file is block %u, which no file can have: the filesystem has %u blocks",
			 (ull)(logical >> r->block_log), block, r->blocks);
	if (p->run.length && p->run.kind == kind && p->run.logical + p->run.length == logical &&
	    (bad || p->run.physical + p->run.length == physical)) {
		p->run.length += r->block_size;
		return FSA_OK;
	}
	st = flush(p);
	p->run = (struct fsa_extent){ .kind = kind, .logical = logical, .length = r->block_size, .physical = physical };
	return st;
}

static enum fsa_status indirect(struct piecer *p, const struct rfs_item *item)
{
	uint64_t logical = item->key.offset - 1;
	enum fsa_status st = FSA_OK;

	for (unsigned k = 0; k + 4 <= item->length && st == FSA_OK; k += 4, logical += p->r->block_size) {
		uint32_t block = fsa_get_le32(item->body + k);

		if (block)
			st = add_block(p, logical, block, item->key.oid, item->offset + k);
	}
	return st;
}

static enum fsa_status direct(struct piecer *p, const struct rfs_item *item)
{
	struct fsa_extent e = {
		.kind = FSA_EXTENT_PACKED, .logical = item->key.offset - 1, .length = item->length, .physical = item->offset,
	};
	enum fsa_status st = flush(p);

	return st == FSA_OK && item->length ? p->fn(p->arg, &e) : st;
}

enum fsa_status rfs_extents(struct fsa_fs *fs, struct fsa_ref ref, fsa_extent_fn fn, void *arg)
{
	struct rfs *r = rfs_of(fs);
	struct piecer p = { .r = r, .fn = fn, .arg = arg };
	struct rfs_key key = rfs_ref_key(ref);
	struct rfs_cursor *c = rfs_cursor_take(r);
	struct rfs_item item;
	enum fsa_status st;

	if (!c)
		return FSA_ENOMEM;
	key.offset = 1;
	st = rfs_seek(c, &key, false, &item);
	while (st == FSA_OK && item.key.dir == key.dir && item.key.oid == key.oid) {
		if (item.key.type == RFS_INDIRECT)
			st = indirect(&p, &item);
		else if (item.key.type == RFS_DIRECT)
			st = direct(&p, &item);
		if (st == FSA_OK)
			st = rfs_next(c, &item);
	}
	if (st == FSA_OK || st == FSA_ENOENT)
		st = flush(&p);
	rfs_cursor_give(c);
	return st;
}

/* --- symbolic links ------------------------------------------------------------------------------------ */

struct collector {
	char *text;
	size_t length, room;
};

static enum fsa_status collect(void *arg, const void *data, uint64_t length, bool unreadable)
{
	struct collector *c = arg;

	(void)unreadable;	/* the finding is made; zeros are there */
	if (length > c->room - c->length)
		return FSA_EDAMAGED;
	if (data)
		memcpy(c->text + c->length, data, length);
	else
		memset(c->text + c->length, 0, length);
	c->length += length;
	return FSA_OK;
}

enum fsa_status rfs_readlink(struct fsa_fs *fs, struct fsa_ref ref, char **target, size_t *length)
{
	struct rfs *r = rfs_of(fs);
	struct collector c = { 0 };
	struct rfs_inode i;
	enum fsa_status st = rfs_inode_of(r, ref, &i);

	if (st != FSA_OK)
		return st;
	if (i.type != FSA_TYPE_SYMLINK)
		return FSA_EINVAL;
	/* The kernel keeps a target in one item, so less than a block. */
	if (i.size >= r->block_size) {
		RFS_FIND(r, "object", i.oid, i.offset, "symbolic link of %llu bytes, at most %u are possible", (ull)i.size, r->block_size - 1);
		return FSA_EDAMAGED;
	}
	c.room = (size_t)i.size;
	c.text = malloc(c.room + 1);
	if (!c.text)
		return FSA_ENOMEM;
	st = fsa_file_read(fs, ref, i.size, collect, &c);
	if (st != FSA_OK) {
		free(c.text);
		return st;
	}
	c.text[c.length] = '\0';
	*target = c.text;
	*length = strlen(c.text);
	return FSA_OK;
}
