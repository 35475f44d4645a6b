/* SPDX-License-Identifier: GPL-2.0-only */
/* Extended attributes: one list of all of them, in the record of the inode or in an extent. */
#include <stdlib.h>
#include <string.h>

#include "jfs.h"

enum fsa_status jfs_ea_load(struct jfs *j, const struct jfs_inode *i, uint8_t **bytes, uint32_t *size)
{
	uint32_t max;
	uint64_t at;

	*bytes = NULL;
	*size = 0;
	/* jfs_fsck clears the flag of a bad list and leaves its size: the flag decides. */
	if (!i->ea_flag || !i->ea_size)
		return FSA_OK;
	if (jfs_inode_inline_ea(i)) {
		max = JFS_INLINE_EA_SIZE;
		at = i->offset + JFS_INLINE_EA_AT;
	} else if (i->ea_flag & JFS_DXD_EXTENT && i->ea_length && jfs_block_ok(j, i->ea_address, i->ea_length)) {
		max = (uint32_t)fsa_min((uint64_t)i->ea_length * JFS_PAGE, JFS_EA_MAX);
		at = jfs_at(i->ea_address);
	} else {
		JFS_FIND(j, "inode", i->number, i->offset, "attributes with flags 0x%x in %u blocks at %llu", i->ea_flag, i->ea_length,
			 (ull)i->ea_address);
		return FSA_OK;
	}
	if (i->ea_size > max || i->ea_size < JFS_EA_LIST_HEADER) {
		JFS_FIND(j, "inode", i->number, i->offset, "attributes of %u bytes, there is room for %u", i->ea_size, max);
		return FSA_OK;
	}
	*bytes = malloc(i->ea_size);
	if (!*bytes)
		return FSA_ENOMEM;
	*size = i->ea_size;
	if (jfs_inode_inline_ea(i)) {
		memcpy(*bytes, i->raw + JFS_INLINE_EA_AT, *size);
	} else if (fsa_read(j->fs, 0, at, *bytes, *size, "inode", i->number) != FSA_OK) {
		free(*bytes);
		*bytes = NULL;
		return FSA_OK;
	}
	if (fsa_get_le32(*bytes) != *size) {
		JFS_FIND(j, "inode", i->number, at, "list of attributes says %u bytes, the inode %u", fsa_get_le32(*bytes), *size);
		free(*bytes);
		*bytes = NULL;
	}
	return FSA_OK;
}

enum fsa_status jfs_ea_each(struct jfs *j, const struct jfs_inode *i, const uint8_t *bytes, uint32_t size, jfs_ea_fn fn, void *arg)
{
	uint32_t at = JFS_EA_LIST_HEADER;
	enum fsa_status st = FSA_OK;

	while (at < size && st == FSA_OK) {
		const uint8_t *p = bytes + at;
		struct jfs_ea ea;
		uint32_t length;

		if (size - at < sizeof(struct jfs_ea_header)) {
			JFS_FIND(j, "inode", i->number, i->offset, "%u bytes behind the last attribute", size - at);
			break;
		}
		ea.name_length = p[1];
		ea.value_length = fsa_get_le16(p + 2);
		length = (uint32_t)sizeof(struct jfs_ea_header) + ea.name_length + 1 + ea.value_length;
		if (!ea.name_length || length > size - at || p[sizeof(struct jfs_ea_header) + ea.name_length]) {
			JFS_FIND(j, "inode", i->number, i->offset, "attribute at byte %u of the list takes %u bytes (name %u, value %u), %u are left",
				 at, length, ea.name_length, ea.value_length, size - at);
			break;
		}
		ea.name = p + sizeof(struct jfs_ea_header);
		ea.value = ea.name + ea.name_length + 1;
		st = fn(arg, &ea);
		at += length;
	}
	return st;
}

struct lister {
	fsa_xattr_fn fn;
	void *arg;
};

static enum fsa_status give(void *arg, const struct jfs_ea *ea)
{
	static const char *const known[] = { "system.", "user.", "security.", "trusted." };
	struct lister *l = arg;
	char name[4 + 255 + 1] = "";
	size_t n = 0;
	bool foreign = true;

	for (size_t k = 0; k < sizeof(known) / sizeof(known[0]); k++)
		if (strncmp((const char *)ea->name, known[k], strlen(known[k])) == 0)
			foreign = false;
	/* As the kernel shows names that OS/2 made. ACLs are kept in the form that the kernel shows. */
	if (foreign) {
		memcpy(name, "os2.", 4);
		n = 4;
	}
	memcpy(name + n, ea->name, ea->name_length);
	name[n + ea->name_length] = '\0';
	return l->fn(l->arg, name, ea->value, ea->value_length);
}

enum fsa_status jfs_xattrs(struct fsa_fs *fs, struct fsa_ref ref, fsa_xattr_fn fn, void *arg)
{
	struct jfs *j = jfs_of(fs);
	struct lister l = { .fn = fn, .arg = arg };
	uint8_t raw[JFS_INODE_SIZE], *bytes;
	struct jfs_inode i;
	uint32_t size;
	enum fsa_status st;

	if (j->log_device || ref.word[0] > UINT32_MAX)
		return FSA_ENOENT;
	st = jfs_inode_read(j, (uint32_t)ref.word[0], raw, &i);
	if (st == FSA_OK)
		st = jfs_ea_load(j, &i, &bytes, &size);
	else
		return st;
	if (st == FSA_OK && bytes)
		st = jfs_ea_each(j, &i, bytes, size, give, &l);
	free(bytes);
	return st;
}
