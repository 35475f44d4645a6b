/* SPDX-License-Identifier: GPL-2.0-only */
/* Inode records: where they lie, what their fields say, and stat(2) as the kernel would answer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ext.h"

static uint64_t sectors_of(const struct ext *e, const uint8_t *raw, uint32_t flags)
{
	uint64_t n = EXT_INODE32(raw, i_blocks);

	if (!e->huge_file)
		return n;
	n |= (uint64_t)EXT_INODE16(raw, osd2.linux2.l_i_blocks_hi) << 32;
	return flags & EXT4_HUGE_FILE_FL ? n << (e->block_log - 9) : n;
}

void ext_inode_decode(const struct ext *e, uint32_t ino, const uint8_t *raw, uint64_t offset, struct ext_inode *i)
{
	memset(i, 0, sizeof(*i));
	i->number = ino;
	i->raw = raw;
	i->offset = offset;
	i->mode = EXT_INODE16(raw, i_mode);
	i->type = fsa_type_of_mode(i->mode);
	i->uid = EXT_INODE16(raw, i_uid) | (uint32_t)EXT_INODE16(raw, osd2.linux2.l_i_uid_high) << 16;
	i->gid = EXT_INODE16(raw, i_gid) | (uint32_t)EXT_INODE16(raw, osd2.linux2.l_i_gid_high) << 16;
	i->size = EXT_INODE32(raw, i_size);
	/* For directories the high half is a later use of i_dir_acl, valid with large_dir only. */
	if (e->large_dir || i->type == FSA_TYPE_REGULAR)
		i->size |= (uint64_t)EXT_INODE32(raw, i_size_high) << 32;
	i->links = EXT_INODE16(raw, i_links_count);
	i->flags = EXT_INODE32(raw, i_flags);
	i->sectors = sectors_of(e, raw, i->flags);
	i->xattr_block = EXT_INODE32(raw, i_file_acl);
	if (e->has_64bit)
		i->xattr_block |= (uint64_t)EXT_INODE16(raw, osd2.linux2.l_i_file_acl_high) << 32;
	i->generation = EXT_INODE32(raw, i_generation);
	i->deletion_time = EXT_INODE32(raw, i_dtime);
	i->seed = e->metadata_csum ? ext_inode_seed(e, ino, i->generation) : 0;
	if (e->inode_size > EXT2_GOOD_OLD_INODE_SIZE) {
		i->extra_size = EXT_INODE16(raw, i_extra_isize);
		if (i->extra_size > e->inode_size - EXT2_GOOD_OLD_INODE_SIZE || i->extra_size % 4) {
			i->extra_bad = true;
			i->extra_size = 0;
		}
	}
}

uint64_t ext_inode_offset(const struct ext *e, uint32_t ino)
{
	struct ext_group g;
	uint32_t group;

	if (ino == 0 || ino > e->inodes || (ino - 1) / e->inodes_per_group >= e->groups)
		return FSA_NO_OFFSET;
	group = (ino - 1) / e->inodes_per_group;
	ext_group_get(e, group, &g);
	if (!ext_block_ok(e, g.inode_table, e->table_blocks))
		return FSA_NO_OFFSET;
	return ext_at(e, g.inode_table) + (uint64_t)((ino - 1) % e->inodes_per_group) * e->inode_size;
}

/*
 * A reader of a tree comes back to the same blocks of the tables over and over: an inode is looked at for its
 * fields, its attributes, its map. A few blocks, each in the place that its number gives it.
 */
#define CACHE_BLOCKS 256u

struct ext_table_cache {
	uint64_t block[CACHE_BLOCKS];	/* 0: empty; no table is in the boot block */
	uint8_t *bytes[CACHE_BLOCKS];	/* block_size each, made when first needed */
};

void ext_table_cache_free(struct ext_table_cache *cache)
{
	for (unsigned k = 0; cache && k < CACHE_BLOCKS; k++)
		free(cache->bytes[k]);
	free(cache);
}

/* The block's bytes; NULL when it cannot be cached (memory, or an image that ends inside it). */
static const uint8_t *cached_block(struct ext *e, uint64_t block)
{
	unsigned k = (unsigned)(block % CACHE_BLOCKS);
	struct ext_table_cache *c = e->cache;

	if (!c)
		c = e->cache = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	if (c->block[k] == block)
		return c->bytes[k];
	if (!c->bytes[k])
		c->bytes[k] = malloc(e->block_size);
	c->block[k] = 0;
	if (!c->bytes[k] || fsa_image_read(e->fs->devices[0].image, ext_at(e, block), c->bytes[k], e->block_size) != FSA_OK)
		return NULL;
	c->block[k] = block;
	return c->bytes[k];
}

enum fsa_status ext_inode_read(struct ext *e, uint32_t ino, uint8_t *raw, struct ext_inode *i)
{
	uint64_t offset = ext_inode_offset(e, ino);
	const uint8_t *block;
	enum fsa_status st;

	if (offset == FSA_NO_OFFSET) {
		EXT_FIND(e, "inode", ino, FSA_NO_OFFSET, "no such inode: the filesystem has %u, and its table must lie "
			 "inside", e->inodes);
		return FSA_EDAMAGED;
	}
	block = cached_block(e, offset >> e->block_log);
	st = FSA_OK;
	if (block)
		memcpy(raw, block + (offset & (e->block_size - 1)), e->inode_size);
	else
		st = fsa_read(e->fs, 0, offset, raw, e->inode_size, "inode", ino);
	if (st == FSA_OK)
		ext_inode_decode(e, ino, raw, offset, i);
	return st;
}

enum fsa_status ext_inode_of(struct ext *e, struct fsa_ref ref, uint8_t **raw, struct ext_inode *i)
{
	enum fsa_status st;

	*raw = NULL;
	if (e->journal_device)
		return FSA_EUNSUPPORTED;
	if (ref.word[0] == 0 || ref.word[0] > e->inodes)
		return FSA_ENOENT;
	*raw = malloc(e->inode_size);
	if (!*raw)
		return FSA_ENOMEM;
	st = ext_inode_read(e, (uint32_t)ref.word[0], *raw, i);
	if (st != FSA_OK) {
		free(*raw);
		*raw = NULL;
	}
	return st;
}

bool ext_inode_inline(const struct ext *e, const struct ext_inode *i)
{
	return (i->flags & EXT4_INLINE_DATA_FL) && ext_incompat(e, EXT4_FEATURE_INCOMPAT_INLINE_DATA);
}

uint64_t ext_st_blocks(const struct ext *e, const struct ext_inode *i)
{
	/* ext4_file_getattr of Linux 6.1: so that tools do not take a small file for an empty one. */
	if (i->type == FSA_TYPE_REGULAR && ext_inode_inline(e, i) && i->size <= e->inode_size)
		return i->sectors + (i->size + 511) / 512;
	return i->sectors;
}

bool ext_inode_fast_symlink(const struct ext *e, const struct ext_inode *i)
{
	uint64_t xattr_sectors;

	if (i->type != FSA_TYPE_SYMLINK || ext_inode_inline(e, i))
		return false;
	if (ext_incompat(e, EXT4_FEATURE_INCOMPAT_EA_INODE))
		return i->size > 0 && i->size < EXT_INODE_BLOCK_BYTES;
	/* An attribute block is the only block such a link can have. */
	xattr_sectors = i->xattr_block ? (uint64_t)e->block_size << e->cluster_log >> 9 : 0;
	return i->sectors == xattr_sectors && !(i->flags & EXT4_EXTENTS_FL && i->size >= EXT_INODE_BLOCK_BYTES);
}

bool ext_inode_mapped(const struct ext *e, const struct ext_inode *i)
{
	if (ext_inode_inline(e, i))
		return false;
	switch (i->type) {
	case FSA_TYPE_REGULAR:
	case FSA_TYPE_DIRECTORY:
		return true;
	case FSA_TYPE_SYMLINK:
		return !ext_inode_fast_symlink(e, i);
	case FSA_TYPE_UNKNOWN:
		/* The bad-block, resize and journal inodes may have no type. */
		return i->number < e->first_inode;
	default:
		return false;
	}
}

enum fsa_status ext_root(struct fsa_fs *fs, struct fsa_ref *ref)
{
	if (ext_of(fs)->journal_device)
		return FSA_EUNSUPPORTED;
	*ref = (struct fsa_ref){ .word = { EXT2_ROOT_INO } };
	return FSA_OK;
}

enum fsa_status ext_ref_of_number(struct fsa_fs *fs, uint64_t number, struct fsa_ref *ref)
{
	struct ext *e = ext_of(fs);

	if (e->journal_device)
		return FSA_EUNSUPPORTED;
	if (number == 0 || number > e->inodes)
		return FSA_ENOENT;
	*ref = (struct fsa_ref){ .word = { number } };
	return FSA_OK;
}

/* True when the extra part of the record reaches over a field that ends at `end` of the structure. */
static bool has_extra(const struct ext_inode *i, size_t end)
{
	return EXT2_GOOD_OLD_INODE_SIZE + (size_t)i->extra_size >= end;
}

#define HAS_EXTRA(i, field) \
	has_extra(i, offsetof(struct ext2_inode_large, field) + sizeof(((struct ext2_inode_large *)0)->field))

/* 32 signed bits and, in the extra word, two more of the epoch and 30 of nanoseconds. */
static struct fsa_time time_of(uint32_t base, bool has, uint32_t extra)
{
	struct fsa_time t = { .sec = (int32_t)base, .set = true };

	if (has) {
		t.sec += (int64_t)(extra & EXT4_EPOCH_MASK) << 32;
		t.nsec = extra >> EXT4_EPOCH_BITS;
	}
	return t;
}

static void read_times(const struct ext_inode *i, struct fsa_stat *st)
{
	const uint8_t *r = i->raw;
	bool c = HAS_EXTRA(i, i_ctime_extra), m = HAS_EXTRA(i, i_mtime_extra), a = HAS_EXTRA(i, i_atime_extra);

	st->ctime = time_of(EXT_INODE32(r, i_ctime), c, c ? EXT_INODE32(r, i_ctime_extra) : 0);
	st->mtime = time_of(EXT_INODE32(r, i_mtime), m, m ? EXT_INODE32(r, i_mtime_extra) : 0);
	st->atime = time_of(EXT_INODE32(r, i_atime), a, a ? EXT_INODE32(r, i_atime_extra) : 0);
	if (HAS_EXTRA(i, i_crtime)) {
		bool x = HAS_EXTRA(i, i_crtime_extra);

		st->btime = time_of(EXT_INODE32(r, i_crtime), x, x ? EXT_INODE32(r, i_crtime_extra) : 0);
	}
}

/* Two encodings of a device number: 8+8 bits in the first word, else 12+20 bits in the second. */
static void read_rdev(const struct ext_inode *i, struct fsa_stat *st)
{
	const uint8_t *blocks = i->raw + offsetof(struct ext2_inode_large, i_block);
	uint32_t old = fsa_get_le32(blocks), wide = fsa_get_le32(blocks + 4);

	if (old) {
		st->rdev_major = old >> 8 & 0xff;
		st->rdev_minor = old & 0xff;
	} else {
		st->rdev_major = (wide & 0xfff00) >> 8;
		st->rdev_minor = (wide & 0xff) | (wide >> 12 & 0xfff00);
	}
}

static void flag_names(uint32_t flags, char *text, size_t size)
{
	static const struct { uint32_t bit; const char *name; } names[] = {
		{ EXT2_SECRM_FL, "secure-deletion" }, { EXT2_UNRM_FL, "undelete" }, { EXT2_COMPR_FL, "compress" },
		{ EXT2_SYNC_FL, "sync" }, { EXT2_IMMUTABLE_FL, "immutable" }, { EXT2_APPEND_FL, "append-only" },
		{ EXT2_NODUMP_FL, "no-dump" }, { EXT2_NOATIME_FL, "no-atime" }, { EXT4_ENCRYPT_FL, "encrypted" },
		{ EXT2_INDEX_FL, "indexed" }, { EXT3_JOURNAL_DATA_FL, "journal-data" }, { EXT2_NOTAIL_FL, "no-tail" },
		{ EXT2_DIRSYNC_FL, "dir-sync" }, { EXT2_TOPDIR_FL, "top-dir" }, { EXT4_HUGE_FILE_FL, "huge-file" },
		{ EXT4_EXTENTS_FL, "extents" }, { EXT4_VERITY_FL, "verity" }, { EXT4_EA_INODE_FL, "xattr-value" },
		{ FS_DAX_FL, "dax" }, { EXT4_INLINE_DATA_FL, "inline-data" }, { EXT4_PROJINHERIT_FL, "project-inherit" },
		{ EXT4_CASEFOLD_FL, "casefold" },
	};
	size_t n = 0;

	text[0] = '\0';
	for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++)
		if (flags & names[k].bit && n < size)
			n += (size_t)snprintf(text + n, size - n, "%s%s", n ? " " : "", names[k].name);
}

/* What the kernel shows of the flags: EXT4_FL_USER_VISIBLE of Linux 6.1. */
#define SHOWN_FLAGS 0x725BDFFFu

enum fsa_status ext_stat(struct fsa_fs *fs, struct fsa_ref ref, struct fsa_stat *st)
{
	struct ext *e = ext_of(fs);
	struct ext_inode i;
	uint8_t *raw;
	enum fsa_status status = ext_inode_of(e, ref, &raw, &i);

	if (status != FSA_OK)
		return status;
	memset(st, 0, sizeof(*st));
	st->ref = ref;
	st->number = i.number;
	st->type = i.type;
	st->mode = i.mode;
	st->uid = i.uid;
	st->gid = i.gid;
	st->links = i.links;
	st->size = i.size;
	st->st_blocks = ext_st_blocks(e, &i);
	st->generation = i.generation;
	st->offset = i.offset;
	if (i.flags & EXT4_ENCRYPT_FL)
		st->flags |= FSA_OBJECT_ENCRYPTED;
	if (ext_inode_inline(e, &i))
		st->flags |= FSA_OBJECT_INLINE;
	if (i.type == FSA_TYPE_CHARDEV || i.type == FSA_TYPE_BLOCKDEV)
		read_rdev(&i, st);
	read_times(&i, st);
	if (ext_ro_compat(e, EXT4_FEATURE_RO_COMPAT_PROJECT) && HAS_EXTRA(&i, i_projid))
		st->project = EXT_INODE32(raw, i_projid);
	flag_names(i.flags, st->flag_names, sizeof(st->flag_names));
	st->attributes = i.flags & SHOWN_FLAGS;
	free(raw);
	return FSA_OK;
}

enum fsa_status ext_describe(struct fsa_fs *fs, struct fsa_ref ref,
			     void (*line)(void *arg, const char *name, const char *value), void *arg)
{
	struct ext *e = ext_of(fs);
	struct ext_inode i;
	struct ext_csum c;
	char text[96];
	uint8_t *raw;
	enum fsa_status st = ext_inode_of(e, ref, &raw, &i);

	if (st != FSA_OK)
		return st;
	snprintf(text, sizeof(text), "%u, slot %u", (i.number - 1) / e->inodes_per_group,
		 (i.number - 1) % e->inodes_per_group);
	line(arg, "group", text);
	snprintf(text, sizeof(text), "%u of %u bytes", EXT2_GOOD_OLD_INODE_SIZE + i.extra_size, e->inode_size);
	line(arg, "inode fields", text);
	line(arg, "block map", ext_inode_inline(e, &i) ? "inline data" : ext_inode_fast_symlink(e, &i) ? "target in the inode" :
	     !ext_inode_mapped(e, &i) ? "none" : i.flags & EXT4_EXTENTS_FL ? "extent tree" : "indirect blocks");
	if (i.flags & EXT4_EXTENTS_FL && ext_inode_mapped(e, &i)) {
		snprintf(text, sizeof(text), "%u",
			 FSA_LE(uint32_t, raw + offsetof(struct ext2_inode_large, i_block), struct ext3_extent_header, eh_depth));
		line(arg, "extent tree depth", text);
	}
	if (i.xattr_block) {
		snprintf(text, sizeof(text), "%llu", (ull)i.xattr_block);
		line(arg, "xattr block", text);
	}
	if (e->metadata_csum) {
		bool ok = ext_csum_inode(e, i.number, raw, &c);

		snprintf(text, sizeof(text), ok ? "0x%08x, right" : "0x%08x, computed 0x%08x", c.got, c.want);
		line(arg, "checksum", text);
	}
	if (i.deletion_time) {
		snprintf(text, sizeof(text), "%u", i.deletion_time);
		line(arg, i.links ? "deletion time" : "deletion time or next orphan", text);
	}
	free(raw);
	return FSA_OK;
}
