/* SPDX-License-Identifier: GPL-2.0-only */
/* Extended attributes: behind the fields of an inode, in a block of their own, or with values in inodes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ext.h"

#define ENTRY ((uint32_t)sizeof(struct ext2_ext_attr_entry))
#define XE(p, as, field) FSA_LE(as, p, struct ext2_ext_attr_entry, field)

/* XATTR_SIZE_MAX of Linux is 64 KiB; e2fsck checks against this larger bound. */
#define MAX_VALUE EXT2_XATTR_SIZE_MAX

enum fsa_status ext_xattr_each(struct ext *e, const struct ext_xattr_area *a, ext_xattr_fn fn, void *arg, uint32_t *end)
{
	uint32_t at = a->first_entry;

	for (;;) {
		struct ext_xattr x = { 0 };
		const uint8_t *p = a->bytes + at;
		enum fsa_status st;
		uint32_t next;

		*end = at;
		if (at + 4 > a->size)
			return FSA_OK;	/* full to the brim: no room for a terminator, and none is needed */
		if (fsa_get_le32(p) == 0) {
			*end = at + 4;
			return FSA_OK;
		}
		if (at + ENTRY > a->size || (next = at + (uint32_t)EXT2_EXT_ATTR_LEN(p[0])) > a->size) {
			fsa_find(e->findings, a->object, a->number, a->offset + at, "attribute entry at %u does not fit in %u bytes",
				 at, a->size);
			return FSA_OK;
		}
		x.name_length = p[0];
		x.index = p[1];
		x.name = p + ENTRY;
		x.value_size = XE(p, uint32_t, e_value_size);
		x.value_inode = XE(p, uint32_t, e_value_inum);
		x.entry_offset = at;
		if (x.value_inode == 0) {
			uint64_t from = (uint64_t)a->value_base + XE(p, uint32_t, e_value_offs);

			if (x.value_size && (!fsa_within(from, x.value_size, a->size))) {
				fsa_find(e->findings, a->object, a->number, a->offset + at, "value of attribute \"%.*s\" is %u bytes at "
					 "%llu, the area has %u", x.name_length, (const char *)x.name, x.value_size, (ull)from, a->size);
				at = next;
				continue;
			}
			x.value_offset = (uint32_t)from;
			x.value = a->bytes + (x.value_size ? from : 0);
		} else if (x.value_size > MAX_VALUE) {
			fsa_find(e->findings, a->object, a->number, a->offset + at, "value of attribute \"%.*s\" is %u bytes, at most %d "
				 "are possible", x.name_length, (const char *)x.name, x.value_size, MAX_VALUE);
			at = next;
			continue;
		}
		st = fn(arg, &x);
		if (st != FSA_OK)
			return st;
		at = next;
	}
}

bool ext_xattr_in_inode(const struct ext *e, const struct ext_inode *i, struct ext_xattr_area *a)
{
	uint32_t start = EXT2_GOOD_OLD_INODE_SIZE + i->extra_size;

	if (e->inode_size <= EXT2_GOOD_OLD_INODE_SIZE || i->extra_bad || start + EXT_XATTR_IBODY_HEADER > e->inode_size)
		return false;
	if (!i->extra_size || fsa_get_le32(i->raw + start) != EXT_XATTR_MAGIC)
		return false;
	*a = (struct ext_xattr_area){
		.object = "inode", .number = i->number, .offset = i->offset + start, .bytes = i->raw + start,
		.size = e->inode_size - start, .first_entry = EXT_XATTR_IBODY_HEADER, .value_base = EXT_XATTR_IBODY_HEADER,
	};
	return true;
}

bool ext_xattr_read_block(struct ext *e, uint64_t nr, uint32_t ino, uint8_t *buffer, struct ext_xattr_area *a)
{
	struct ext_csum c;
	uint32_t magic;

	if (!ext_block_ok(e, nr, 1)) {
		EXT_FIND(e, "inode", ino, ext_inode_offset(e, ino), "attribute block %llu, the filesystem has %u to %llu", (ull)nr,
			 e->first_data_block, (ull)e->blocks - 1);
		return false;
	}
	if (fsa_read(e->fs, 0, ext_at(e, nr), buffer, e->block_size, "xattr block", nr) != FSA_OK)
		return false;
	magic = FSA_LE(uint32_t, buffer, struct ext2_ext_attr_header, h_magic);
	if (magic != EXT_XATTR_MAGIC || FSA_LE(uint32_t, buffer, struct ext2_ext_attr_header, h_blocks) != 1) {
		EXT_FIND(e, "xattr block", nr, ext_at(e, nr), "magic 0x%08x and %u blocks, should be 0x%08x and 1 (inode %u)", magic,
			 FSA_LE(uint32_t, buffer, struct ext2_ext_attr_header, h_blocks), EXT_XATTR_MAGIC, ino);
		return false;
	}
	if (!ext_csum_xattr_block(e, nr, buffer, &c))
		EXT_FIND(e, "xattr block", nr, ext_at(e, nr), "checksum 0x%08x, computed 0x%08x", c.got, c.want);
	*a = (struct ext_xattr_area){
		.object = "xattr block", .number = nr, .offset = ext_at(e, nr), .bytes = buffer, .size = e->block_size,
		.first_entry = sizeof(struct ext2_ext_attr_header), .value_base = 0,
	};
	return true;
}

struct find_data {
	struct ext_xattr x;
	bool found;
};

static enum fsa_status find_data(void *arg, const struct ext_xattr *x)
{
	struct find_data *f = arg;

	if (x->index != EXT_XATTR_INDEX_SYSTEM || x->name_length != 4 || memcmp(x->name, "data", 4) != 0)
		return FSA_OK;
	f->x = *x;
	f->found = true;
	return FSA_STOP;
}

bool ext_inline_rest(struct ext *e, const struct ext_inode *i, struct ext_xattr *x, uint64_t *image_offset)
{
	struct find_data f = { .found = false };
	struct ext_xattr_area a;
	uint32_t end;

	if (!ext_xattr_in_inode(e, i, &a))
		return false;
	ext_xattr_each(e, &a, find_data, &f, &end);
	if (!f.found || !f.x.value)
		return false;
	*x = f.x;
	*image_offset = a.offset + f.x.value_offset;
	return true;
}

/* --- for reading ------------------------------------------------------------------------------------- */

/* Name prefixes by e_name_index (Documentation/filesystems/ext4/attributes.rst). */
static const char *prefix_of(uint8_t index)
{
	static const char *const prefixes[] = {
		"", "user.", "system.posix_acl_access", "system.posix_acl_default", "trusted.", "lustre.", "security.",
		"system.", "system.richacl", "encryption.", "hurd.",
	};

	return index < sizeof(prefixes) / sizeof(prefixes[0]) ? prefixes[index] : NULL;
}

/*
 * ext stores ACLs in a short form (version 1: entries of 4 or 8 bytes); attributes carry the kernel's
 * (version 2: entries of 8 bytes). Returns the length of `out` (room for MAX entries), 0 when malformed.
 */
#define ACL_MAX_ENTRIES 8192u

static size_t convert_acl(const uint8_t *in, size_t length, uint8_t *out)
{
	size_t n = 4, at = 4;

	if (length < 4 || fsa_get_le32(in) != 1)
		return 0;
	memcpy(out, "\2\0\0\0", 4);
	while (at + 4 <= length) {
		uint16_t tag = fsa_get_le16(in + at);
		bool has_id = tag == 0x02 || tag == 0x08;	/* ACL_USER, ACL_GROUP */

		if (at + (has_id ? 8 : 4) > length)
			return 0;
		memcpy(out + n, in + at, 4);
		if (has_id)
			memcpy(out + n + 4, in + at + 4, 4);
		else
			memset(out + n + 4, 0xff, 4);
		at += has_id ? 8 : 4;
		n += 8;
	}
	return at == length ? n : 0;
}

struct lister {
	struct ext *e;
	uint32_t ino;
	fsa_xattr_fn fn;
	void *arg;
};

struct value {
	uint8_t *bytes;
	uint64_t size;
};

struct blocks_reader {
	struct ext *e;
	struct value *v;
	uint32_t ino;
};

static enum fsa_status value_piece(void *arg, const struct ext_piece *p)
{
	struct blocks_reader *b = arg;
	uint64_t from = p->logical << b->e->block_log, n;

	if (from >= b->v->size)
		return FSA_STOP;
	n = fsa_min(p->count << b->e->block_log, b->v->size - from);
	if (!p->unwritten)
		fsa_read(b->e->fs, 0, ext_at(b->e, p->physical), b->v->bytes + from, n, "xattr value in inode", b->ino);
	return FSA_OK;
}

/* The value that lies in an inode of its own, malloc'd. */
static enum fsa_status inode_value(struct lister *l, const struct ext_xattr *x, struct value *v)
{
	struct blocks_reader b = { .e = l->e, .v = v, .ino = x->value_inode };
	struct ext_map_ops ops = { .piece = value_piece, .arg = &b };
	struct ext_inode i;
	uint8_t *raw;
	enum fsa_status st = ext_inode_of(l->e, (struct fsa_ref){ .word = { x->value_inode } }, &raw, &i);

	if (st != FSA_OK)
		return st;
	if (!(i.flags & EXT4_EA_INODE_FL) || i.size != x->value_size) {
		EXT_FIND(l->e, "inode", l->ino, i.offset, "attribute value of %u bytes is in inode %u, which holds %llu%s", x->value_size,
			 x->value_inode, (ull)i.size, i.flags & EXT4_EA_INODE_FL ? "" : " and is no value inode");
		free(raw);
		return FSA_EDAMAGED;
	}
	v->size = x->value_size;
	v->bytes = calloc(1, v->size ? v->size : 1);
	st = v->bytes ? ext_map_walk(l->e, &i, &ops) : FSA_ENOMEM;
	free(raw);
	return st == FSA_STOP ? FSA_OK : st;
}

static enum fsa_status give(struct lister *l, const struct ext_xattr *x, const uint8_t *value, size_t size)
{
	const char *prefix = prefix_of(x->index);
	bool acl = x->index == 2 || x->index == 3;
	uint8_t *converted = NULL;
	char name[320];
	enum fsa_status st;

	if (prefix)
		snprintf(name, sizeof(name), "%s%.*s", prefix, acl ? 0 : x->name_length, (const char *)x->name);
	else
		snprintf(name, sizeof(name), "unknown-%u.%.*s", x->index, x->name_length, (const char *)x->name);
	if (acl) {
		if (size > 4 + 8 * (size_t)ACL_MAX_ENTRIES)
			return FSA_OK;
		converted = malloc(4 + 2 * size + 8);
		if (!converted)
			return FSA_ENOMEM;
		size = convert_acl(value, size, converted);
		if (!size) {
			EXT_FIND(l->e, "inode", l->ino, ext_inode_offset(l->e, l->ino), "attribute %s is no ACL of version 1", name);
			free(converted);
			return FSA_OK;
		}
		value = converted;
	}
	st = l->fn(l->arg, name, value, size);
	free(converted);
	return st;
}

static enum fsa_status list_one(void *arg, const struct ext_xattr *x)
{
	struct lister *l = arg;
	struct value v = { 0 };
	enum fsa_status st;

	/* Inline data poses as an attribute; it is contents. */
	if (x->index == EXT_XATTR_INDEX_SYSTEM && x->name_length == 4 && memcmp(x->name, "data", 4) == 0)
		return FSA_OK;
	/* The key identifier of an encrypted file: the kernel shows it to nobody either. */
	if (x->index == EXT_XATTR_INDEX_ENCRYPTION)
		return FSA_OK;
	if (!x->value_inode)
		return give(l, x, x->value, x->value_size);
	st = inode_value(l, x, &v);
	if (st == FSA_OK)
		st = give(l, x, v.bytes, v.size);
	else if (st != FSA_ENOMEM)
		st = FSA_OK;	/* the finding is made; the other attributes can still be read */
	free(v.bytes);
	return st;
}

enum fsa_status ext_xattrs(struct fsa_fs *fs, struct fsa_ref ref, fsa_xattr_fn fn, void *arg)
{
	struct ext *e = ext_of(fs);
	struct lister l = { .e = e, .ino = (uint32_t)ref.word[0], .fn = fn, .arg = arg };
	struct ext_xattr_area a;
	struct ext_inode i;
	uint32_t end;
	uint8_t *raw, *block;
	enum fsa_status st = ext_inode_of(e, ref, &raw, &i);

	if (st != FSA_OK)
		return st;
	if (ext_xattr_in_inode(e, &i, &a))
		st = ext_xattr_each(e, &a, list_one, &l, &end);
	if (st == FSA_OK && i.xattr_block) {
		block = malloc(e->block_size);
		if (!block)
			st = FSA_ENOMEM;
		else if (ext_xattr_read_block(e, i.xattr_block, i.number, block, &a))
			st = ext_xattr_each(e, &a, list_one, &l, &end);
		free(block);
	}
	free(raw);
	return st;
}
