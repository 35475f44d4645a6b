/* SPDX-License-Identifier: GPL-2.0-only */
/* Directories: in the inode, or in blocks of data entries with a hash index behind them. */
#include <stdlib.h>
#include <string.h>

#include "xfs.h"

enum fsa_type xf_type_of_dirent(uint8_t file_type)
{
	static const enum fsa_type types[] = {
		[XFS_DIR3_FT_UNKNOWN] = FSA_TYPE_UNKNOWN, [XFS_DIR3_FT_REG_FILE] = FSA_TYPE_REGULAR,
		[XFS_DIR3_FT_DIR] = FSA_TYPE_DIRECTORY, [XFS_DIR3_FT_CHRDEV] = FSA_TYPE_CHARDEV,
		[XFS_DIR3_FT_BLKDEV] = FSA_TYPE_BLOCKDEV, [XFS_DIR3_FT_FIFO] = FSA_TYPE_FIFO,
		[XFS_DIR3_FT_SOCK] = FSA_TYPE_SOCKET, [XFS_DIR3_FT_SYMLINK] = FSA_TYPE_SYMLINK,
		[XFS_DIR3_FT_WHT] = FSA_TYPE_CHARDEV,
	};

	return file_type < sizeof(types) / sizeof(types[0]) ? types[file_type] : FSA_TYPE_UNKNOWN;
}

static uint32_t rol32(uint32_t v, unsigned n)
{
	return v << n | v >> (32 - n);
}

/* Lower case as ASCII-CI directories fold it: also Latin-1's capitals, in the hash only. */
static uint8_t fold(uint8_t c)
{
	if ((c >= 'A' && c <= 'Z') || (c >= 0xc0 && c <= 0xd6) || (c >= 0xd8 && c <= 0xde))
		return (uint8_t)(c + 32);
	return c;
}

/* Seven bits a byte, rotated in: four bytes at once are the same as one after the other. */
uint32_t xf_dir_hash(const struct xf *x, const uint8_t *name, uint32_t length, bool directory)
{
	uint32_t h = 0;

	for (uint32_t k = 0; k < length; k++)
		h = rol32(h, 7) ^ (directory && x->ascii_ci ? fold(name[k]) : name[k]);
	return h;
}

enum fsa_status xf_dir_short(struct xf *x, const struct xf_inode *i, uint64_t *parent, xf_dirent_fn fn, void *arg, uint32_t *end)
{
	const uint8_t *b = i->data.bytes;
	uint32_t size = (uint32_t)fsa_min(i->size, i->data.size), at, count, wide, number;
	enum fsa_status st = FSA_OK;

	*end = 0;
	*parent = 0;
	if (size < 6) {
		XF_FIND(x, "inode", i->number, i->offset, "directory in the inode of %u bytes, its header takes 6", size);
		return FSA_OK;
	}
	count = b[0];
	wide = b[1];
	number = wide ? 8 : 4;
	at = 2 + number;
	if (at > size) {
		XF_FIND(x, "inode", i->number, i->offset, "directory in the inode of %u bytes, its header takes %u", size, at);
		return FSA_OK;
	}
	*parent = fsa_get_be(b + 2, number);
	*end = at;
	for (uint32_t k = 0; k < count && st == FSA_OK; k++) {
		struct xf_dirent d = { .offset = at };
		uint32_t n;

		if (size - at < 3 || !b[at] || size - at < (n = 3u + b[at] + x->ftype + number)) {
			XF_FIND(x, "inode", i->number, i->offset + i->data.offset + at, "entry %u of %u in the inode leaves the directory's %u bytes",
				k, count, size);
			return FSA_OK;
		}
		d.name = b + at + 3;
		d.name_length = b[at];
		d.file_type = x->ftype ? d.name[d.name_length] : 0;
		d.inode = fsa_get_be(d.name + d.name_length + x->ftype, number);
		d.length = d.used = n;
		at += n;
		*end = at;
		st = fn(arg, &d);
	}
	if (st == FSA_OK && at != i->size)
		XF_FIND(x, "inode", i->number, i->offset, "directory size %llu, its %u entries take %u bytes", (ull)i->size, count, at);
	return st;
}

uint32_t xf_dir_header(const struct xf *x)
{
	return x->v5 ? (uint32_t)sizeof(struct xfs_dir3_data_hdr) : (uint32_t)sizeof(struct xfs_dir2_data_hdr);
}

enum xf_dir_kind xf_dir_classify(struct xf *x, const struct xf_inode *i, uint64_t logical, uint64_t block, const uint8_t *b)
{
	struct xf_self self = { .object = "inode", .number = i->number, .what = "directory block", .owner_bytes = 8, .want_owner = i->number };
	uint32_t magic = fsa_get_be32(b), info = fsa_get_be16(b + 8), want;
	enum xf_dir_kind kind = XF_DIR_BAD;
	uint64_t at = xf_at(x, block);

	if (logical < xf_dir_leaf_start(x) || logical >= xf_dir_free_start(x)) {
		self.crc = offsetof(struct xfs_dir3_blk_hdr, crc);
		self.blkno = offsetof(struct xfs_dir3_blk_hdr, blkno);
		self.uuid = offsetof(struct xfs_dir3_blk_hdr, uuid);
		self.owner = offsetof(struct xfs_dir3_blk_hdr, owner);
	} else {
		self.crc = offsetof(struct xfs_da3_blkinfo, crc);
		self.blkno = offsetof(struct xfs_da3_blkinfo, blkno);
		self.uuid = offsetof(struct xfs_da3_blkinfo, uuid);
		self.owner = offsetof(struct xfs_da3_blkinfo, owner);
	}
	if (logical < xf_dir_leaf_start(x)) {
		/* One block and nothing behind it: the index is in the same block. */
		bool single = i->size == x->dir_block;

		want = single ? x->v5 ? XFS_DIR3_BLOCK_MAGIC : XFS_DIR2_BLOCK_MAGIC : x->v5 ? XFS_DIR3_DATA_MAGIC : XFS_DIR2_DATA_MAGIC;
		if (magic == (x->v5 ? XFS_DIR3_BLOCK_MAGIC : XFS_DIR2_BLOCK_MAGIC) && single)
			kind = XF_DIR_BLOCK;
		else if (magic == (x->v5 ? XFS_DIR3_DATA_MAGIC : XFS_DIR2_DATA_MAGIC))
			kind = XF_DIR_DATA;
	} else if (logical >= xf_dir_free_start(x)) {
		want = x->v5 ? XFS_DIR3_FREE_MAGIC : XFS_DIR2_FREE_MAGIC;
		if (magic == want)
			kind = XF_DIR_FREE;
	} else {
		want = x->v5 ? XFS_DIR3_LEAFN_MAGIC : XFS_DIR2_LEAFN_MAGIC;
		magic = info;
		if (info == want)
			kind = XF_DIR_LEAFN;
		else if (info == (x->v5 ? XFS_DIR3_LEAF1_MAGIC : XFS_DIR2_LEAF1_MAGIC))
			kind = XF_DIR_LEAF1;
		else if (info == (x->v5 ? XFS_DA3_NODE_MAGIC : XFS_DA_NODE_MAGIC))
			kind = XF_DIR_NODE;
	}
	if (kind == XF_DIR_BAD) {
		XF_FIND(x, "inode", i->number, at, "directory block (file block %llu) has magic 0x%08x, should be 0x%08x", (ull)logical, magic,
			want);
		return kind;
	}
	xf_check_self(x, &self, b, x->dir_block, at);
	return kind;
}

enum fsa_status xf_dir_entries(struct xf *x, const struct xf_inode *i, const uint8_t *b, uint32_t end, uint64_t offset,
			       xf_dirent_fn fn, enum fsa_status (*unused)(void *arg, uint32_t at, uint32_t length), void *arg,
			       uint32_t *bad)
{
	uint32_t at = xf_dir_header(x);
	enum fsa_status st = FSA_OK;

	while (at < end && st == FSA_OK) {
		struct xf_dirent d = { .offset = at };
		uint32_t n = 0, tag;

		*bad = at;
		if (end - at >= XF_DIR_ALIGN && fsa_get_be16(b + at) == XFS_DIR2_DATA_FREE_TAG) {
			n = fsa_get_be16(b + at + 2);
			if (!n || n % XF_DIR_ALIGN || n > end - at || (tag = fsa_get_be16(b + at + n - 2)) != (uint16_t)at) {
				XF_FIND(x, "inode", i->number, offset + at, "unused stretch of %u bytes in a directory block, %u are left", n, end - at);
				return FSA_OK;
			}
			st = unused ? unused(arg, at, n) : FSA_OK;
			at += n;
			continue;
		}
		if (end - at >= 16) {
			d.name_length = b[at + 8];
			d.used = 8 + 1 + d.name_length + x->ftype;
			n = (d.used + 2 + XF_DIR_ALIGN - 1) & ~(XF_DIR_ALIGN - 1);
		}
		if (!n || !d.name_length || n > end - at || (tag = fsa_get_be16(b + at + n - 2)) != (uint16_t)at) {
			XF_FIND(x, "inode", i->number, offset + at, "directory entry of %u bytes with a name of %u, %u bytes are left and its tag is "
				"%s", n, d.name_length, end - at, !n || n > end - at ? "not there" : "not its offset");
			return FSA_OK;
		}
		d.inode = fsa_get_be64(b + at);
		d.name = b + at + 9;
		d.file_type = x->ftype ? d.name[d.name_length] : 0;
		d.length = n;
		st = fn(arg, &d);
		at += n;
	}
	*bad = at;
	return st;
}

uint32_t xf_dir_block_end(struct xf *x, const struct xf_inode *i, const uint8_t *b, uint64_t offset)
{
	uint32_t tail = x->dir_block - 8, count = fsa_get_be32(b + tail), header = xf_dir_header(x);

	if (count > (tail - header) / 8) {
		XF_FIND(x, "inode", i->number, offset + tail, "directory block says its index has %u entries, there is room for %u", count,
			(tail - header) / 8);
		return header;
	}
	return tail - 8 * count;
}

/* --- listing ----------------------------------------------------------------------------------------- */

struct lister {
	struct xf *x;
	uint64_t offset;		/* of the block or fork in the image */
	fsa_dirent_fn fn;
	void *arg;
};

static enum fsa_status give_entry(void *arg, const struct xf_dirent *d)
{
	struct lister *l = arg;
	struct fsa_dirent e = {
		.name = (const char *)d->name, .name_length = d->name_length, .ref = { .word = { d->inode } }, .number = d->inode,
		.type = xf_type_of_dirent(d->file_type), .offset = l->offset + d->offset,
	};

	if (d->name[0] == '.' && (d->name_length == 1 || (d->name_length == 2 && d->name[1] == '.')))
		return FSA_OK;
	return l->fn(l->arg, &e);
}

static enum fsa_status list_blocks(struct xf *x, const struct xf_inode *i, struct lister *l)
{
	uint32_t per = x->dir_block >> x->block_log, bad;
	struct xf_pieces p = { 0 };
	uint8_t *b = malloc(x->dir_block);
	enum fsa_status st = b ? xf_pieces_read(x, i, &i->data, &p) : FSA_ENOMEM;
	uint64_t next = 0;

	for (size_t k = 0; k < p.n && st == FSA_OK; k++) {
		uint64_t at = fsa_max(next, p.p[k].logical / per * per);

		for (; at < p.p[k].logical + p.p[k].count && at < xf_dir_leaf_start(x) && st == FSA_OK; at += per) {
			enum xf_dir_kind kind;
			uint64_t block;

			next = at + per;
			if (!xf_pieces_find(&p, at, &block) || !xf_pieces_get(x, &p, at, per, b, "inode", i->number)) {
				XF_FIND(x, "inode", i->number, i->offset, "directory block at file block %llu is not all there", (ull)at);
				continue;
			}
			kind = xf_dir_classify(x, i, at, block, b);
			if (kind == XF_DIR_BAD)
				continue;
			l->offset = xf_at(x, block);
			st = xf_dir_entries(x, i, b, kind == XF_DIR_BLOCK ? xf_dir_block_end(x, i, b, l->offset) : x->dir_block, l->offset,
					    give_entry, NULL, l, &bad);
		}
	}
	free(p.p);
	free(b);
	return st;
}

enum fsa_status xf_readdir(struct fsa_fs *fs, struct fsa_ref ref, fsa_dirent_fn fn, void *arg)
{
	struct xf *x = xf_of(fs);
	struct lister l = { .x = x, .fn = fn, .arg = arg };
	struct xf_inode i;
	uint64_t parent;
	uint32_t end;
	uint8_t *raw;
	enum fsa_status st = xf_inode_of(x, ref.word[0], &raw, &i);

	if (st != FSA_OK)
		return st;
	if (i.type != FSA_TYPE_DIRECTORY) {
		st = FSA_ENOTDIR;
	} else if (i.data.format == XFS_DINODE_FMT_LOCAL) {
		l.offset = i.offset + i.data.offset;
		st = xf_dir_short(x, &i, &parent, give_entry, &l, &end);
	} else {
		st = list_blocks(x, &i, &l);
	}
	free(raw);
	return st;
}
