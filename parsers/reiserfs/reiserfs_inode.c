/* SPDX-License-Identifier: GPL-2.0-only */
/* Stat data, the inode of ReiserFS: 32 bytes in format 3.5, 44 in 3.6; both may be in one filesystem. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reiserfs.h"

static bool special(const struct rfs_inode *i)
{
	return i->type == FSA_TYPE_CHARDEV || i->type == FSA_TYPE_BLOCKDEV || i->type == FSA_TYPE_FIFO || i->type == FSA_TYPE_SOCKET;
}

static void decode_v1(const uint8_t *body, struct rfs_inode *i)
{
	const struct rfs_stat_v1 *s = (const struct rfs_stat_v1 *)(const void *)body;

	i->mode = fsa_le16v(s->mode);
	i->links = fsa_le16v(s->nlink);
	i->uid = fsa_le16v(s->uid);
	i->gid = fsa_le16v(s->gid);
	i->size = fsa_le32v(s->size);
	i->atime = fsa_le32v(s->atime);
	i->mtime = fsa_le32v(s->mtime);
	i->ctime = fsa_le32v(s->ctime);
	i->blocks = i->rdev = fsa_le32v(s->rdev_or_blocks);
	i->first_direct = fsa_le32v(s->first_direct_byte);
	i->generation = i->dir;
}

static void decode_v2(const uint8_t *body, struct rfs_inode *i)
{
	const struct rfs_stat_v2 *s = (const struct rfs_stat_v2 *)(const void *)body;

	i->v2 = true;
	i->mode = fsa_le16v(s->mode);
	i->attrs = fsa_le16v(s->attrs);
	i->links = fsa_le32v(s->nlink);
	i->size = fsa_le64v(s->size);
	i->uid = fsa_le32v(s->uid);
	i->gid = fsa_le32v(s->gid);
	i->atime = fsa_le32v(s->atime);
	i->mtime = fsa_le32v(s->mtime);
	i->ctime = fsa_le32v(s->ctime);
	i->blocks = fsa_le32v(s->blocks);
	i->rdev = i->generation = fsa_le32v(s->rdev_or_generation);
}

bool rfs_inode_decode(struct rfs *r, const struct rfs_item *item, struct rfs_inode *i)
{
	*i = (struct rfs_inode){ .dir = item->key.dir, .oid = item->key.oid, .offset = item->offset };
	if (item->length == sizeof(struct rfs_stat_v1) && !item->v2) {
		decode_v1(item->body, i);
	} else if (item->length == sizeof(struct rfs_stat_v2) && item->v2) {
		decode_v2(item->body, i);
	} else {
		RFS_FIND(r, "object", item->key.oid, item->offset, "stat data of %u bytes with version %u, possible are 32 with 0 and 44 with 1",
			 item->length, item->version);
		return false;
	}
	i->type = fsa_type_of_mode(i->mode);
	/* The word holds a device number then; the kernel takes the parent's id as generation. */
	if (i->v2 && (i->type == FSA_TYPE_CHARDEV || i->type == FSA_TYPE_BLOCKDEV))
		i->generation = i->dir;
	return true;
}

/*
 * The kernel counts in bytes (init_inode and real_space_diff of fs/reiserfs/inode.c): to the blocks on disk it adds
 * the stat data and a pointer for each block up to end of file, as if nothing were packed; for directories
 * and symbolic links it adds stat data to the size instead.
 */
uint64_t rfs_st_blocks(const struct rfs *r, const struct rfs_inode *i)
{
	uint64_t stat_size = i->v2 ? sizeof(struct rfs_stat_v2) : sizeof(struct rfs_stat_v1);
	uint64_t sectors = i->blocks;

	if (special(i) || i->type == FSA_TYPE_UNKNOWN)
		return 0;
	if (i->type != FSA_TYPE_REGULAR)
		return (i->size + stat_size) >> 9;
	if (!i->v2) {
		/* Up to 3.5.23 the count could become negative: the kernel never believes more than the size. */
		uint64_t most = fsa_div_up(i->size, r->block_size) << (r->block_log - 9);

		sectors = fsa_min(sectors, most);
		sectors += sectors & 1;
	}
	return (sectors * 512 + (uint64_t)(int64_t)(int32_t)(fsa_div_up(i->size, r->block_size) * 4 + stat_size)) >> 9;
}

enum fsa_status rfs_inode_of(struct rfs *r, struct fsa_ref ref, struct rfs_inode *i)
{
	struct rfs_key key = rfs_ref_key(ref);
	struct rfs_cursor *c = rfs_cursor_take(r);
	struct rfs_item item;
	enum fsa_status st;

	if (!c)
		return FSA_ENOMEM;
	st = rfs_seek(c, &key, false, &item);
	if (st == FSA_OK && (item.key.dir != key.dir || item.key.oid != key.oid || item.key.type != RFS_STAT))
		st = FSA_ENOENT;
	if (st == FSA_ENOENT) {
		RFS_FIND(r, "object", key.oid, FSA_NO_OFFSET, "no stat data with key [%u %u]", key.dir, key.oid);
		st = FSA_EDAMAGED;
	}
	if (st == FSA_OK && !rfs_inode_decode(r, &item, i))
		st = FSA_EDAMAGED;
	rfs_cursor_give(c);
	return st;
}

enum fsa_status rfs_root(struct fsa_fs *fs, struct fsa_ref *ref)
{
	(void)fs;
	*ref = rfs_ref(RFS_ROOT_DIR_ID, RFS_ROOT_OBJECTID);
	return FSA_OK;
}

static struct fsa_time time_of(uint32_t t)
{
	return (struct fsa_time){ .sec = t, .set = true };
}

/* Bits of ext2, whose tool sets them. */
static void flag_names(uint16_t attrs, char *text, size_t size)
{
	static const struct { uint16_t bit; const char *name; } names[] = {
		{ 0x0001, "secure-deletion" }, { 0x0002, "undelete" }, { 0x0004, "compress" }, { 0x0008, "sync" },
		{ 0x0010, "immutable" }, { 0x0020, "append-only" }, { 0x0040, "no-dump" }, { 0x0080, "no-atime" },
		{ 0x8000, "no-tail" },
	};
	size_t n = 0;

	text[0] = '\0';
	for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++)
		if (attrs & names[k].bit && n < size)
			n += (size_t)snprintf(text + n, size - n, "%s%s", n ? " " : "", names[k].name);
}

enum fsa_status rfs_stat(struct fsa_fs *fs, struct fsa_ref ref, struct fsa_stat *st)
{
	struct rfs *r = rfs_of(fs);
	struct rfs_inode i;
	enum fsa_status status = rfs_inode_of(r, ref, &i);

	if (status != FSA_OK)
		return status;
	memset(st, 0, sizeof(*st));
	st->ref = ref;
	st->number = i.oid;
	st->type = i.type;
	st->mode = i.mode;
	st->uid = i.uid;
	st->gid = i.gid;
	st->links = i.links;
	st->size = i.size;
	st->st_blocks = rfs_st_blocks(r, &i);
	st->generation = i.generation;
	st->offset = i.offset;
	st->atime = time_of(i.atime);
	st->mtime = time_of(i.mtime);
	st->ctime = time_of(i.ctime);
	if (i.type == FSA_TYPE_CHARDEV || i.type == FSA_TYPE_BLOCKDEV) {
		st->rdev_major = (i.rdev & 0xfff00) >> 8;
		st->rdev_minor = (i.rdev & 0xff) | (i.rdev >> 12 & 0xfff00);
	}
	flag_names(i.attrs, st->flag_names, sizeof(st->flag_names));
	return FSA_OK;
}

/* Object ids have no index of their own: all leaves are looked at. */
enum fsa_status rfs_ref_of_number(struct fsa_fs *fs, uint64_t number, struct fsa_ref *ref)
{
	struct rfs *r = rfs_of(fs);
	struct rfs_cursor *c = rfs_cursor_take(r);
	struct rfs_key key = { 0 };
	struct rfs_item item;
	enum fsa_status st;

	if (!c)
		return FSA_ENOMEM;
	st = rfs_seek(c, &key, false, &item);
	while (st == FSA_OK && (item.key.oid != number || item.key.type != RFS_STAT || item.key.dir == RFS_SAFE_LINK_DIR_ID))
		st = rfs_next(c, &item);
	if (st == FSA_OK)
		*ref = rfs_ref(item.key.dir, item.key.oid);
	rfs_cursor_give(c);
	return st;
}

struct describer {
	void (*line)(void *arg, const char *name, const char *value);
	void *arg;
	unsigned direct;
};

static void describe_item(struct describer *d, const struct rfs_inode *i, const struct rfs_item *item)
{
	char text[128];

	switch (item->key.type) {
	case RFS_DIRECT:
		if (++d->direct > 8)
			return;
		snprintf(text, sizeof(text), "%u bytes for byte %llu on: block %u, item %u, offset %u", item->length,
			 (ull)item->key.offset - (item->key.offset != 0), item->node, item->index, item->location);
		d->line(d->arg, i->type == FSA_TYPE_SYMLINK ? "target" : "tail", text);
		return;
	case RFS_INDIRECT:
		snprintf(text, sizeof(text), "%u pointers: block %u, item %u, offset %u", item->length / 4u, item->node, item->index,
			 item->location);
		d->line(d->arg, "indirect item", text);
		return;
	case RFS_DIRENTRY:
		snprintf(text, sizeof(text), "%u entries, %u bytes: block %u, item %u, offset %u", item->count, item->length, item->node,
			 item->index, item->location);
		d->line(d->arg, "directory item", text);
		return;
	default:
		return;
	}
}

enum fsa_status rfs_describe(struct fsa_fs *fs, struct fsa_ref ref,
			     void (*line)(void *arg, const char *name, const char *value), void *arg)
{
	struct rfs *r = rfs_of(fs);
	struct describer d = { .line = line, .arg = arg };
	struct rfs_key key = rfs_ref_key(ref);
	struct rfs_cursor *c;
	unsigned lines = 0;
	struct rfs_inode i;
	struct rfs_item item;
	char text[96];
	enum fsa_status st = rfs_inode_of(r, ref, &i);

	if (st != FSA_OK)
		return st;
	c = rfs_cursor_take(r);
	if (!c)
		return FSA_ENOMEM;
	snprintf(text, sizeof(text), "[%u %u]", i.dir, i.oid);
	line(arg, "key", text);
	st = rfs_seek(c, &key, false, &item);
	if (st == FSA_OK) {
		snprintf(text, sizeof(text), "format %s: block %u, item %u, offset %u", i.v2 ? "3.6" : "3.5", item.node, item.index,
			 item.location);
		line(arg, "stat data", text);
	}
	snprintf(text, sizeof(text), "%u", i.blocks);
	if (!special(&i))
		line(arg, "sectors in the stat data", text);
	while (st == FSA_OK && (st = rfs_next(c, &item)) == FSA_OK && item.key.dir == key.dir && item.key.oid == key.oid && lines++ < 16)
		describe_item(&d, &i, &item);
	rfs_cursor_give(c);
	if (lines > 16)
		line(arg, "further items", "not shown");
	return st == FSA_ENOENT ? FSA_OK : st;
}
