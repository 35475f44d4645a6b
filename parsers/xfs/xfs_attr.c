/* SPDX-License-Identifier: GPL-2.0-only */
/* Extended attributes: in the inode, in leaves of a hash tree, or with values in blocks of their own. */
#include <stdlib.h>
#include <string.h>

#include "xfs.h"

#define ALIGN 4u
#define MAX_DEPTH 8u

static uint32_t align(uint32_t n)
{
	return (n + ALIGN - 1) & ~(ALIGN - 1);
}

enum fsa_status xf_attr_short(struct xf *x, const struct xf_inode *i, xf_attr_fn fn, void *arg, uint32_t *end)
{
	const uint8_t *b = i->attr.bytes;
	uint32_t at = 4, total, count;
	uint64_t offset = i->offset + i->attr.offset;
	enum fsa_status st = FSA_OK;

	*end = 0;
	if (i->attr.size < 4)
		return FSA_OK;
	total = fsa_get_be16(b);
	count = b[2];
	*end = at;
	if (total < 4 || total > i->attr.size) {
		XF_FIND(x, "inode", i->number, offset, "attributes in the inode take %u bytes, the fork has %u", total, i->attr.size);
		return FSA_OK;
	}
	for (uint32_t k = 0; k < count && st == FSA_OK; k++) {
		struct xf_attr a = { .offset = at };

		if (total - at < 3 || total - at < (a.length = 3u + b[at] + b[at + 1])) {
			XF_FIND(x, "inode", i->number, offset + at, "attribute %u of %u in the inode leaves the fork's %u bytes", k, count, total);
			return FSA_OK;
		}
		a.name_length = b[at];
		a.value_length = b[at + 1];
		a.flags = b[at + 2];
		a.name = b + at + 3;
		a.value = a.name + a.name_length;
		a.used = a.length;
		at += a.length;
		*end = at;
		st = fn(arg, &a);
	}
	if (st == FSA_OK && at != total)
		XF_FIND(x, "inode", i->number, offset, "attributes in the inode are said to take %u bytes, they take %u", total, at);
	return st;
}

static uint32_t leaf_header(const struct xf *x)
{
	return x->v5 ? (uint32_t)sizeof(struct xfs_attr3_leaf_hdr) : (uint32_t)sizeof(struct xfs_attr_leaf_hdr);
}

static uint32_t count_of(const struct xf *x, const uint8_t *b)
{
	return fsa_get_be16(b + (x->v5 ? offsetof(struct xfs_da3_node_hdr, __count) : offsetof(struct xfs_da_node_hdr, __count)));
}

enum fsa_status xf_attr_leaf(struct xf *x, const struct xf_inode *i, const uint8_t *b, uint64_t offset, xf_attr_fn fn,
			     void *arg, uint32_t *entries_end)
{
	uint32_t header = leaf_header(x), count = count_of(x, b), room = (x->block_size - header) / 8, last = 0;
	enum fsa_status st = FSA_OK;

	if (count > room) {
		XF_FIND(x, "inode", i->number, offset, "attribute leaf says it has %u entries, there is room for %u", count, room);
		count = 0;
	}
	*entries_end = header + 8 * count;
	for (uint32_t k = 0; k < count && st == FSA_OK; k++) {
		const uint8_t *e = b + header + 8 * (size_t)k;
		struct xf_attr a = { .offset = fsa_get_be16(e + 4), .flags = e[6] };
		bool local = a.flags & XFS_ATTR_LOCAL;
		uint32_t fixed = local ? 3 : 9, hash = fsa_get_be32(e);
		const uint8_t *v = b + a.offset;

		if (a.offset < *entries_end || a.offset % ALIGN || !fsa_within(a.offset, fixed, x->block_size)) {
			XF_FIND(x, "inode", i->number, offset + header + 8 * (uint64_t)k, "attribute %u of a leaf lies at %u, possible are %u to %u", k,
				a.offset, *entries_end, x->block_size - fixed);
			continue;
		}
		a.name_length = v[fixed - 1];
		a.name = v + fixed;
		a.value_length = local ? fsa_get_be16(v) : fsa_get_be32(v + 4);
		a.used = fixed + a.name_length + (local ? a.value_length : 0);
		a.length = align(a.used);
		if (!fsa_within(a.offset, a.length, x->block_size) || (!local && a.value_length > XFS_XATTR_SIZE_MAX)) {
			XF_FIND(x, "inode", i->number, offset + a.offset, "attribute with a name of %u and a value of %u bytes leaves its leaf",
				a.name_length, a.value_length);
			continue;
		}
		if (local)
			a.value = a.name + a.name_length;
		else
			a.remote = fsa_get_be32(v);
		if (hash < last || (!(a.flags & XF_ATTR_PARENT) && hash != xf_dir_hash(x, a.name, a.name_length, false)))
			XF_FIND(x, "inode", i->number, offset + header + 8 * (uint64_t)k, "attribute has hash 0x%08x, its name makes 0x%08x and the one "
				"before it has 0x%08x", hash, xf_dir_hash(x, a.name, a.name_length, false), last);
		last = hash;
		st = fn(arg, &a);
	}
	return st;
}

uint32_t xf_attr_remote_blocks(const struct xf *x, uint32_t length)
{
	return (uint32_t)fsa_div_up(length, x->block_size - (x->v5 ? XF_REMOTE_HEADER5 : 0));
}

/* --- the tree ---------------------------------------------------------------------------------------- */

struct tree {
	struct xf *x;
	const struct xf_inode *i;
	const struct xf_pieces *p;
	xf_attr_block_fn fn;
	void *arg;
	uint8_t *buffers;		/* MAX_DEPTH blocks */
	uint64_t left;			/* blocks that may still be met: the fork has no more */
};

static enum fsa_status walk(struct tree *t, uint64_t logical, unsigned depth, int32_t level)
{
	struct xf *x = t->x;
	const struct xf_self self = {
		.object = "inode", .number = t->i->number, .what = "attribute block", .crc = offsetof(struct xfs_da3_blkinfo, crc),
		.blkno = offsetof(struct xfs_da3_blkinfo, blkno), .uuid = offsetof(struct xfs_da3_blkinfo, uuid),
		.owner = offsetof(struct xfs_da3_blkinfo, owner), .owner_bytes = 8, .want_owner = t->i->number,
	};
	uint8_t *b = t->buffers + (size_t)depth * x->block_size;
	struct xf_attr_block ab = { .logical = logical, .bytes = b };
	uint32_t magic, header, room;
	int32_t got_level;
	enum fsa_status st;

	if (!t->left || !xf_pieces_find(t->p, logical, &ab.block)) {
		XF_FIND(x, "inode", t->i->number, t->i->offset, "attribute tree points to block %llu of the fork, which %s", (ull)logical,
			t->left ? "is a hole" : "has been seen");
		return FSA_OK;
	}
	t->left--;
	if (fsa_read(x->fs, 0, xf_at(x, ab.block), b, x->block_size, "inode", t->i->number) != FSA_OK)
		return FSA_OK;
	magic = fsa_get_be16(b + 8);
	ab.leaf = magic == (x->v5 ? XFS_ATTR3_LEAF_MAGIC : XFS_ATTR_LEAF_MAGIC);
	if ((ab.leaf && level > 0) || (!ab.leaf && (level == 0 || magic != (x->v5 ? XFS_DA3_NODE_MAGIC : XFS_DA_NODE_MAGIC)))) {
		XF_FIND(x, "inode", t->i->number, xf_at(x, ab.block), "attribute block %llu of the fork has magic 0x%04x, no %s", (ull)logical, magic,
			level == 0 ? "leaf" : level > 0 ? "node" : "leaf and no node");
		return FSA_OK;
	}
	xf_check_self(x, &self, b, x->block_size, xf_at(x, ab.block));
	if (ab.leaf)
		return t->fn(t->arg, &ab);
	header = x->v5 ? (uint32_t)sizeof(struct xfs_da3_node_hdr) : (uint32_t)sizeof(struct xfs_da_node_hdr);
	room = (x->block_size - header) / 8;
	ab.count = count_of(x, b);
	got_level = fsa_get_be16(b + header - (x->v5 ? 6 : 2));
	if (ab.count > room || !got_level || (level >= 0 && got_level != level) || depth + 1 >= MAX_DEPTH) {
		XF_FIND(x, "inode", t->i->number, xf_at(x, ab.block), "attribute node of level %d with %u entries, there is room for %u and the level "
			"above it is %d", got_level, ab.count, room, level + 1);
		ab.count = 0;
	}
	st = t->fn(t->arg, &ab);
	for (uint32_t k = 0; k < ab.count && st == FSA_OK; k++)
		st = walk(t, fsa_get_be32(b + header + 8 * (size_t)k + 4), depth + 1, got_level - 1);
	return st;
}

enum fsa_status xf_attr_tree(struct xf *x, const struct xf_inode *i, const struct xf_pieces *p, xf_attr_block_fn fn, void *arg)
{
	struct tree t = { .x = x, .i = i, .p = p, .fn = fn, .arg = arg, .left = p->blocks };
	enum fsa_status st;

	if (!p->n)
		return FSA_OK;
	t.buffers = malloc((size_t)MAX_DEPTH * x->block_size);
	if (!t.buffers)
		return FSA_ENOMEM;
	st = walk(&t, 0, 0, -1);
	free(t.buffers);
	return st;
}

/* --- listing ----------------------------------------------------------------------------------------- */

struct lister {
	struct xf *x;
	const struct xf_inode *i;
	struct xf_pieces p;
	uint64_t offset;
	fsa_xattr_fn fn;
	void *arg;
};

/* A value in blocks of its own, into `to`; false when it cannot be had: a finding says why. */
static bool read_remote(struct lister *l, const struct xf_attr *a, uint8_t *to)
{
	struct xf *x = l->x;
	uint32_t header = x->v5 ? XF_REMOTE_HEADER5 : 0, done = 0;
	uint8_t *b = malloc(x->block_size);
	bool ok = b != NULL;

	for (uint64_t k = 0; ok && done < a->value_length; k++) {
		uint32_t n = (uint32_t)fsa_min(x->block_size - header, a->value_length - done);
		uint64_t block;

		if (!xf_pieces_find(&l->p, a->remote + k, &block)) {
			XF_FIND(x, "inode", l->i->number, l->i->offset, "attribute value at block %llu of the fork, which is a hole",
				(ull)(a->remote + k));
			ok = false;
			break;
		}
		ok = fsa_read(x->fs, 0, xf_at(x, block), b, x->block_size, "inode", l->i->number) == FSA_OK;
		if (ok && header && (fsa_get_be32(b) != XFS_ATTR3_RMT_MAGIC || FSA_BE(uint32_t, b, struct xfs_attr3_rmt_hdr, rm_bytes) != n ||
				     FSA_BE(uint32_t, b, struct xfs_attr3_rmt_hdr, rm_offset) != done)) {
			XF_FIND(x, "inode", l->i->number, xf_at(x, block), "attribute value block has magic 0x%08x with %u bytes from %u on, should be "
				"0x%08x, %u, %u", fsa_get_be32(b), FSA_BE(uint32_t, b, struct xfs_attr3_rmt_hdr, rm_bytes),
				FSA_BE(uint32_t, b, struct xfs_attr3_rmt_hdr, rm_offset), XFS_ATTR3_RMT_MAGIC, n, done);
			ok = false;
		}
		if (ok)
			memcpy(to + done, b + header, n);
		done += n;
	}
	free(b);
	return ok;
}

static void put_le16(uint8_t *p, uint16_t v)
{
	p[0] = (uint8_t)v;
	p[1] = (uint8_t)(v >> 8);
}

static void put_le32(uint8_t *p, uint32_t v)
{
	put_le16(p, (uint16_t)v);
	put_le16(p + 2, (uint16_t)(v >> 16));
}

/* XFS's own ACL form, big-endian and 12 bytes an entry, as the system.posix_acl_* attribute that users see. */
static enum fsa_status give_acl(struct lister *l, const char *name, const uint8_t *v, uint32_t length)
{
	uint32_t count = length >= 4 ? fsa_get_be32(v) : UINT32_MAX;
	enum fsa_status st;
	uint8_t *acl;

	if (count > (length - 4) / 12 || length < 4) {
		XF_FIND(l->x, "inode", l->i->number, l->offset, "ACL of %u bytes says it has %u entries", length, count);
		return FSA_OK;
	}
	acl = malloc(4 + 8 * (size_t)count);
	if (!acl)
		return FSA_ENOMEM;
	put_le32(acl, 2);
	for (uint32_t k = 0; k < count; k++) {
		const uint8_t *e = v + 4 + 12 * (size_t)k;
		uint8_t *to = acl + 4 + 8 * (size_t)k;
		uint32_t tag = fsa_get_be32(e);

		put_le16(to, (uint16_t)tag);
		put_le16(to + 2, fsa_get_be16(e + 8));
		/* Only named users and groups carry an id. */
		put_le32(to + 4, tag == 0x02 || tag == 0x08 ? fsa_get_be32(e + 4) : UINT32_MAX);
	}
	st = l->fn(l->arg, name, acl, 4 + 8 * (size_t)count);
	free(acl);
	return st;
}

static bool is(const struct xf_attr *a, const char *name)
{
	return a->name_length == strlen(name) && memcmp(a->name, name, a->name_length) == 0;
}

static enum fsa_status give_attr(void *arg, const struct xf_attr *a)
{
	struct lister *l = arg;
	const char *prefix = a->flags & XFS_ATTR_ROOT ? "trusted." : a->flags & XFS_ATTR_SECURE ? "security." : "user.";
	const uint8_t *value = a->value;
	uint8_t *own = NULL;
	char name[16 + 256];
	size_t n = strlen(prefix);
	enum fsa_status st;

	/* Half made ones and parent pointers are not shown. */
	if (a->flags & (XFS_ATTR_INCOMPLETE | XF_ATTR_PARENT))
		return FSA_OK;
	if (!value && a->value_length) {
		own = malloc(a->value_length);
		if (!own)
			return FSA_ENOMEM;
		if (!read_remote(l, a, own)) {
			free(own);
			return FSA_OK;
		}
		value = own;
	}
	if (a->flags & XFS_ATTR_ROOT && is(a, SGI_ACL_FILE)) {
		st = give_acl(l, "system.posix_acl_access", value, a->value_length);
	} else if (a->flags & XFS_ATTR_ROOT && is(a, SGI_ACL_DEFAULT)) {
		st = give_acl(l, "system.posix_acl_default", value, a->value_length);
	} else if (!a->name_length || memchr(a->name, '\0', a->name_length)) {
		XF_FIND(l->x, "inode", l->i->number, l->offset + a->offset, "attribute name of %u bytes is empty or holds NUL", a->name_length);
		st = FSA_OK;
	} else {
		memcpy(name, prefix, n);
		memcpy(name + n, a->name, a->name_length);
		name[n + a->name_length] = '\0';
		st = l->fn(l->arg, name, value ? value : (const uint8_t *)"", a->value_length);
	}
	free(own);
	return st;
}

static enum fsa_status list_block(void *arg, const struct xf_attr_block *b)
{
	struct lister *l = arg;
	uint32_t end;

	if (!b->leaf)
		return FSA_OK;
	l->offset = xf_at(l->x, b->block);
	return xf_attr_leaf(l->x, l->i, b->bytes, l->offset, give_attr, l, &end);
}

enum fsa_status xf_xattrs(struct fsa_fs *fs, struct fsa_ref ref, fsa_xattr_fn fn, void *arg)
{
	struct xf *x = xf_of(fs);
	struct xf_inode i;
	struct lister l = { .x = x, .i = &i, .fn = fn, .arg = arg };
	uint32_t end;
	uint8_t *raw;
	enum fsa_status st = xf_inode_of(x, ref.word[0], &raw, &i);

	if (st != FSA_OK)
		return st;
	l.offset = i.offset + i.attr.offset;
	if (i.attr.size && i.attr.format == XFS_DINODE_FMT_LOCAL) {
		st = xf_attr_short(x, &i, give_attr, &l, &end);
	} else if (i.attr.size) {
		st = xf_pieces_read(x, &i, &i.attr, &l.p);
		if (st == FSA_OK)
			st = xf_attr_tree(x, &i, &l.p, list_block, &l);
	}
	free(l.p.p);
	free(raw);
	return st;
}
