/* SPDX-License-Identifier: GPL-2.0-only */
/* Directory blocks: linear entries, hash-tree index blocks that pose as one empty entry, inline directories. */
#include <stdlib.h>
#include <string.h>

#include "ext.h"

enum fsa_type ext_type_of_dirent(uint8_t file_type)
{
	static const enum fsa_type types[] = {
		[EXT2_FT_UNKNOWN] = FSA_TYPE_UNKNOWN, [EXT2_FT_REG_FILE] = FSA_TYPE_REGULAR, [EXT2_FT_DIR] = FSA_TYPE_DIRECTORY,
		[EXT2_FT_CHRDEV] = FSA_TYPE_CHARDEV, [EXT2_FT_BLKDEV] = FSA_TYPE_BLOCKDEV, [EXT2_FT_FIFO] = FSA_TYPE_FIFO,
		[EXT2_FT_SOCK] = FSA_TYPE_SOCKET, [EXT2_FT_SYMLINK] = FSA_TYPE_SYMLINK,
	};

	return file_type < EXT2_FT_MAX ? types[file_type] : FSA_TYPE_UNKNOWN;
}

/* Blocks of 64 KiB do not fit the 16 bits of rec_len: the two low bits, always 0, carry the high ones. */
static uint32_t rec_len_of(const struct ext *e, const uint8_t *p)
{
	uint32_t n = fsa_get_le16(p + 4);

	if (e->block_size < 65536)
		return n;
	if (n == 65535 || n == 0)
		return e->block_size;
	return (n & 65532) | (n & 3) << 16;
}

static bool has_hash(const struct ext_inode *i)
{
	return (i->flags & EXT4_ENCRYPT_FL) && (i->flags & EXT4_CASEFOLD_FL);
}

static void index_counts(const uint8_t *block, struct ext_dir_block *b)
{
	b->limit = fsa_get_le16(block + b->count_offset);
	b->count = fsa_get_le16(block + b->count_offset + 2);
}

static bool tail_here(const struct ext *e, const uint8_t *block)
{
	const uint8_t *t = block + e->block_size - EXT_DIRENT_TAIL;

	return fsa_get_le32(t) == 0 && fsa_get_le16(t + 4) == EXT_DIRENT_TAIL && t[6] == 0 && t[7] == EXT_DIRENT_TAIL_TYPE;
}

void ext_dir_classify(const struct ext *e, const struct ext_inode *i, uint64_t logical, const uint8_t *block,
		      struct ext_dir_block *b)
{
	uint32_t tail = e->metadata_csum ? 8 : 0;

	memset(b, 0, sizeof(*b));
	b->kind = EXT_DIR_LEAF;
	if (i->flags & EXT2_INDEX_FL && logical == 0 && rec_len_of(e, block) == 12 &&
	    rec_len_of(e, block + 12) == e->block_size - 12) {
		/* "." and "..", then the root's own header (8 bytes, its length at offset 5 of it). */
		const uint8_t *root = block + 24;

		if (fsa_get_le32(root) == 0 && root[5] == sizeof(struct ext2_dx_root_info)) {
			b->kind = EXT_DIR_ROOT;
			b->count_offset = 24 + root[5];
			index_counts(block, b);
			return;
		}
	}
	if (i->flags & EXT2_INDEX_FL && logical > 0 && fsa_get_le32(block) == 0 && rec_len_of(e, block) == e->block_size) {
		b->count_offset = EXT_DIRENT_HEADER;
		index_counts(block, b);
		/* An empty leaf looks the same but for these two: the limit of a node is fixed by its size. */
		if (b->limit == (e->block_size - EXT_DIRENT_HEADER - tail) / 8 && b->count && b->count <= b->limit) {
			b->kind = EXT_DIR_INDEX;
			return;
		}
	}
	b->limit = b->count = b->count_offset = 0;
	b->tail = e->metadata_csum && tail_here(e, block);
}

enum fsa_status ext_dir_entries(struct ext *e, const struct ext_inode *i, const uint8_t *bytes, uint32_t size,
				uint64_t image_offset, ext_dir_entry_fn fn, void *arg, uint32_t *bad)
{
	uint32_t at = 0;

	*bad = size;
	while (at < size) {
		struct ext_dir_entry d = { .offset = at };
		const uint8_t *p = bytes + at;
		enum fsa_status st;

		if (size - at < EXT_DIRENT_HEADER) {
			EXT_FIND(e, "inode", i->number, image_offset + at, "directory ends %u bytes behind its last entry, an entry takes 8",
				 size - at);
			*bad = at;
			return FSA_OK;
		}
		d.inode = fsa_get_le32(p);
		d.rec_len = rec_len_of(e, p);
		d.name_length = e->filetype ? p[6] : fsa_get_le16(p + 6);
		d.file_type = e->filetype ? p[7] : 0;
		d.name = p + EXT_DIRENT_HEADER;
		if (d.rec_len < EXT_DIRENT_HEADER || d.rec_len % 4 || d.rec_len > size - at ||
		    d.name_length + EXT_DIRENT_HEADER > d.rec_len) {
			EXT_FIND(e, "inode", i->number, image_offset + at, "directory entry of %u bytes with a name of %u at offset %u of %u",
				 d.rec_len, d.name_length, at, size);
			*bad = at;
			return FSA_OK;
		}
		if (d.inode) {
			d.used_bytes = (EXT_DIRENT_HEADER + d.name_length + 3) & ~3u;
			if (has_hash(i))
				d.used_bytes += EXT2_DIR_ENTRY_HASH_LEN;
			if (d.used_bytes > d.rec_len)
				d.used_bytes = d.rec_len;
		}
		st = fn(arg, &d);
		if (st != FSA_OK)
			return st;
		at += d.rec_len;
	}
	return FSA_OK;
}

/* --- for reading ------------------------------------------------------------------------------------- */

struct lister {
	struct ext *e;
	const struct ext_inode *i;
	fsa_dirent_fn fn;
	void *arg;
	uint8_t *block;
	uint64_t image_offset;		/* of the bytes being listed */
};

/* base64 for file names (RFC 4648 section 5), without padding: an encrypted name may hold '/' and NUL. */
static size_t encode_name(const uint8_t *in, size_t n, char *out)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
	uint32_t bits = 0;
	unsigned have = 0;
	size_t m = 0;

	for (size_t k = 0; k < n; k++) {
		bits = (bits << 8 | in[k]) & 0xffffff;
		have += 8;
		while (have >= 6) {
			have -= 6;
			out[m++] = digits[bits >> have & 63];
		}
	}
	if (have)
		out[m++] = digits[bits << (6 - have) & 63];
	return m;
}

static enum fsa_status list_entry(void *arg, const struct ext_dir_entry *d)
{
	struct lister *l = arg;
	struct fsa_dirent x = {
		.name = (const char *)d->name, .name_length = d->name_length, .ref = { .word = { d->inode } },
		.number = d->inode, .type = ext_type_of_dirent(d->file_type), .offset = l->image_offset + d->offset,
	};
	char encoded[512];

	if (!d->inode || !d->name_length)
		return FSA_OK;
	if (d->name[0] == '.' && (d->name_length == 1 || (d->name_length == 2 && d->name[1] == '.')))
		return FSA_OK;
	if (d->inode > l->e->inodes) {
		EXT_FIND(l->e, "inode", l->i->number, x.offset, "directory entry \"%.*s\" names inode %u, the filesystem has %u",
			 (int)d->name_length, (const char *)d->name, d->inode, l->e->inodes);
		return FSA_OK;
	}
	if (l->i->flags & EXT4_ENCRYPT_FL) {
		x.name_length = encode_name(d->name, d->name_length, encoded);
		x.name = encoded;
		x.encrypted = true;
	}
	return l->fn(l->arg, &x);
}

static enum fsa_status list_bytes(struct lister *l, const uint8_t *bytes, uint32_t size, uint64_t image_offset)
{
	uint32_t bad;

	l->image_offset = image_offset;
	return ext_dir_entries(l->e, l->i, bytes, size, image_offset, list_entry, l, &bad);
}

static enum fsa_status list_block(struct lister *l, uint64_t logical, uint64_t block)
{
	struct ext *e = l->e;
	struct ext_dir_block b;

	if (fsa_read(e->fs, 0, ext_at(e, block), l->block, e->block_size, "directory block", block) != FSA_OK)
		return FSA_OK;
	ext_dir_classify(e, l->i, logical, l->block, &b);
	if (b.kind == EXT_DIR_INDEX)
		return FSA_OK;
	if (b.kind == EXT_DIR_ROOT)	/* behind "." and ".." there is only index */
		return FSA_OK;
	return list_bytes(l, l->block, e->block_size - (b.tail ? EXT_DIRENT_TAIL : 0), ext_at(e, block));
}

static enum fsa_status list_piece(void *arg, const struct ext_piece *p)
{
	struct lister *l = arg;
	uint64_t end = fsa_div_up(l->i->size, l->e->block_size);
	enum fsa_status st = FSA_OK;

	if (p->unwritten)
		return FSA_OK;
	for (uint64_t k = 0; k < p->count && p->logical + k < end && st == FSA_OK; k++)
		st = list_block(l, p->logical + k, p->physical + k);
	return st;
}

static enum fsa_status list_inline(struct lister *l)
{
	const size_t at = offsetof(struct ext2_inode_large, i_block);
	const struct ext_inode *i = l->i;
	struct ext_xattr rest;
	uint64_t offset;
	/* The first four bytes are the parent's inode number, in place of "..". */
	enum fsa_status st = list_bytes(l, i->raw + at + EXT4_INLINE_DATA_DOTDOT_SIZE,
					EXT_INODE_BLOCK_BYTES - EXT4_INLINE_DATA_DOTDOT_SIZE,
					i->offset + at + EXT4_INLINE_DATA_DOTDOT_SIZE);

	if (st == FSA_OK && ext_inline_rest(l->e, i, &rest, &offset) && rest.value_size)
		st = list_bytes(l, rest.value, rest.value_size, offset);
	return st;
}

enum fsa_status ext_readdir(struct fsa_fs *fs, struct fsa_ref ref, fsa_dirent_fn fn, void *arg)
{
	struct ext *e = ext_of(fs);
	struct lister l = { .e = e, .fn = fn, .arg = arg };
	struct ext_map_ops ops = { .piece = list_piece, .arg = &l };
	struct ext_inode i;
	uint8_t *raw;
	enum fsa_status st = ext_inode_of(e, ref, &raw, &i);

	if (st != FSA_OK)
		return st;
	l.i = &i;
	if (i.type != FSA_TYPE_DIRECTORY) {
		st = FSA_ENOTDIR;
	} else if (ext_inode_inline(e, &i)) {
		st = list_inline(&l);
	} else {
		l.block = malloc(e->block_size);
		st = l.block ? ext_map_walk(e, &i, &ops) : FSA_ENOMEM;
		free(l.block);
	}
	free(raw);
	return st;
}
