/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Extended attributes of a dump: behind an inode comes a header like its own, flagged, and a block as ext2 has them
 * on disk: entries from the front, values from the back, names without their prefix, which is a number, and ACLs in
 * the short form. restore(8) knows six prefixes and blocks of up to 4 KiB; of a directory it keeps one block.
 */
#include <string.h>

#include "dump_private.h"
#include "fsa/bytes.h"

#define MAGIC 0xEA020000u
#define HEAD 32u
#define ENTRY_HEAD 16u
#define ACL_ACCESS 2u
#define ACL_DEFAULT 3u

static const struct {
	const char *prefix;
	uint8_t number;
	bool whole;		/* the name is nothing but the prefix */
} prefixes[] = {
	{ "user.", 1, false },
	{ "system.posix_acl_access", ACL_ACCESS, true },
	{ "system.posix_acl_default", ACL_DEFAULT, true },
	{ "trusted.", 4, false },
	{ "lustre.", 5, false },
	{ "security.", 6, false },
};

static void put16(uint8_t *at, uint32_t v)
{
	at[0] = (uint8_t)v;
	at[1] = (uint8_t)(v >> 8);
}

static void put32(uint8_t *at, uint32_t v)
{
	put16(at, v);
	put16(at + 2, v >> 16);
}

/* Finds the prefix; *rest is what follows it. 0: none that restore(8) knows. */
static uint8_t find_prefix(const char *name, const char **rest)
{
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		const size_t length = strlen(prefixes[i].prefix);

		if (strncmp(name, prefixes[i].prefix, length) != 0)
			continue;
		*rest = name + length;
		if ((**rest == '\0') == prefixes[i].whole)
			return prefixes[i].number;
	}
	return 0;
}

/*
 * An ACL as the kernel hands it out (version 2, entries of tag, permissions and id) in the form it has on disk
 * (version 1, the id only where there is one). 0 when it is none.
 */
static size_t shorten_acl(const uint8_t *acl, size_t length, uint8_t *out, size_t room)
{
	size_t used = 4;

	if (length < 4 || (length - 4) % 8 != 0 || fsa_get_le32(acl) != 2)
		return 0;
	put32(out, 1);
	for (size_t at = 4; at < length; at += 8) {
		const unsigned tag = fsa_get_le16(acl + at);
		/* ACL_USER and ACL_GROUP name somebody. */
		const size_t size = tag == 0x02 || tag == 0x08 ? 8 : 4;

		if (size > room - used)
			return 0;
		memcpy(out + used, acl + at, size);
		used += size;
	}
	return used;
}

void dump_xattr_begin(struct dump_xattr_block *block)
{
	memset(block, 0, sizeof(*block));
	block->entries = HEAD;
}

enum dump_xattr_result dump_xattr_add(struct dump_xattr_block *block, const char *name, const void *value,
				      size_t length)
{
	uint8_t acl[DUMP_XATTR_BLOCK];
	const char *rest = "";
	const uint8_t prefix = find_prefix(name, &rest);
	const size_t name_length = strlen(rest);
	size_t entry_size, value_size;
	uint8_t *entry;

	if (prefix == 0 || name_length > 255)
		return DUMP_XATTR_UNFIT;
	if (prefix == ACL_ACCESS || prefix == ACL_DEFAULT) {
		length = shorten_acl(value, length, acl, sizeof(acl));
		if (length == 0)
			return DUMP_XATTR_UNFIT;
		value = acl;
	}
	entry_size = (ENTRY_HEAD + name_length + 3) / 4 * 4;
	value_size = (length + 3) / 4 * 4;
	/* Four zero bytes end the entries. */
	if (value_size > DUMP_XATTR_BLOCK || HEAD + entry_size + 4 + value_size > DUMP_XATTR_BLOCK)
		return DUMP_XATTR_UNFIT;
	if (block->entries + entry_size + 4 + block->values + value_size > DUMP_XATTR_BLOCK)
		return DUMP_XATTR_FULL;
	block->values += value_size;
	entry = block->bytes + block->entries;
	entry[0] = (uint8_t)name_length;
	entry[1] = prefix;
	/* For now counted from the end of the block, whose size is not known yet. */
	put16(entry + 2, length != 0 ? (uint32_t)block->values : 0);
	put32(entry + 8, (uint32_t)length);
	memcpy(entry + ENTRY_HEAD, rest, name_length);
	if (length != 0)
		memcpy(block->bytes + DUMP_XATTR_BLOCK - block->values, value, length);
	block->entries += entry_size;
	block->count++;
	return DUMP_XATTR_ADDED;
}

size_t dump_xattr_end(struct dump_xattr_block *block)
{
	const size_t size = (block->entries + 4 + block->values + DUMP_RECORD - 1) / DUMP_RECORD * DUMP_RECORD;

	put32(block->bytes, MAGIC);
	put32(block->bytes + 4, 1);	/* references */
	put32(block->bytes + 8, 1);	/* blocks */
	memmove(block->bytes + size - block->values, block->bytes + DUMP_XATTR_BLOCK - block->values, block->values);
	/* The values may have moved over the gap, never over entries: what is between the two is zeros again. */
	memset(block->bytes + block->entries, 0, size - block->values - block->entries);
	for (size_t at = HEAD; at < block->entries;) {
		uint8_t *entry = block->bytes + at;

		if (fsa_get_le16(entry + 2) != 0)
			put16(entry + 2, (uint32_t)size - fsa_get_le16(entry + 2));
		at += (ENTRY_HEAD + (size_t)entry[0] + 3) / 4 * 4;
	}
	return size;
}

/* --- the inode's --------------------------------------------------------------------------------- */

struct collector {
	struct dump *d;
	const struct dumped *dumped;
	const struct dump_inode *inode;
	struct dump_xattr_block block;
	bool any;		/* a block is written */
};

static enum fsa_status put_block(struct collector *c)
{
	const size_t size = dump_xattr_end(&c->block);
	static const uint8_t follows[DUMP_XATTR_BLOCK / DUMP_RECORD] = { 1, 1, 1, 1 };
	struct dump_inode inode = *c->inode;
	const struct dump_header header = {
		.type = DUMP_INODE,
		.flags = DUMP_ATTRIBUTES,
		.number = c->dumped->dumped,
		.count = (uint32_t)(size / DUMP_RECORD),
		.attributes = true,
		.inode = &inode,
		.follows = follows,
	};

	inode.size = size;
	c->any = true;
	return dump_output(c->d, dump_put_header(&c->d->stream, &header) && dump_put(&c->d->stream, c->block.bytes, size));
}

static enum fsa_status add(void *arg, const char *name, const void *value, size_t length)
{
	struct collector *c = arg;
	enum dump_xattr_result result = dump_xattr_add(&c->block, name, value, length);
	enum fsa_status status;

	if (result == DUMP_XATTR_FULL && !c->dumped->directory) {
		status = put_block(c);
		if (status != FSA_OK)
			return status;
		dump_xattr_begin(&c->block);
		result = dump_xattr_add(&c->block, name, value, length);
	}
	c->d->counts.xattrs += result != DUMP_XATTR_ADDED;
	return FSA_OK;
}

enum fsa_status dump_xattrs(struct dump *d, const struct dumped *dumped, const struct dump_inode *inode)
{
	struct collector c;
	enum fsa_status status;

	if (d->fs->parser->xattrs == NULL)
		return FSA_OK;
	c.d = d;
	c.dumped = dumped;
	c.inode = inode;
	c.any = false;
	dump_xattr_begin(&c.block);
	status = d->fs->parser->xattrs(d->fs, dumped->ref, add, &c);
	/* Damage was reported by the parser and costs the attributes that it hides, nothing else. */
	if (status == FSA_ENOMEM || d->stream.error != 0)
		return status != FSA_OK ? status : dump_output(d, false);
	return c.block.count != 0 ? put_block(&c) : FSA_OK;
}
