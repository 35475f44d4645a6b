/* SPDX-License-Identifier: GPL-2.0-only */
/* Names as bytes, and the listing of a directory. */
#include <string.h>

#include "jfs.h"

/*
 * On disk a name is 16-bit units. Mounted without the option iocharset the kernel takes one byte for one
 * unit, both ways, so that a name is whatever bytes it was made of; with iocharset=utf8, and on OS/2, units
 * are Unicode. Nothing on disk says which. A unit above 255 can only be Unicode: such a name becomes UTF-8,
 * every other one is the bytes that a mount without options shows.
 */
size_t jfs_name_bytes(const uint16_t *units, unsigned count, uint8_t out[JFS_NAME_BYTES])
{
	bool wide = false;
	size_t n = 0;

	for (unsigned k = 0; k < count; k++)
		wide |= units[k] > 0xff;
	for (unsigned k = 0; k < count; k++) {
		uint32_t c = units[k];

		if (!wide || c < 0x80) {
			out[n++] = (uint8_t)c;
			continue;
		}
		if (c < 0x800) {
			out[n++] = (uint8_t)(0xc0 | c >> 6);
			out[n++] = (uint8_t)(0x80 | (c & 0x3f));
			continue;
		}
		/* Two surrogates make one character of four bytes; a lone one stays what it is. */
		if (c >= 0xd800 && c < 0xdc00 && k + 1 < count && units[k + 1] >= 0xdc00 && units[k + 1] < 0xe000) {
			c = 0x10000 + ((c - 0xd800) << 10) + (units[++k] - 0xdc00u);
			out[n++] = (uint8_t)(0xf0 | c >> 18);
			out[n++] = (uint8_t)(0x80 | (c >> 12 & 0x3f));
		} else {
			out[n++] = (uint8_t)(0xe0 | c >> 12);
		}
		out[n++] = (uint8_t)(0x80 | (c >> 6 & 0x3f));
		out[n++] = (uint8_t)(0x80 | (c & 0x3f));
	}
	return n;
}

struct lister {
	fsa_dirent_fn fn;
	void *arg;
};

static enum fsa_status give_entry(void *arg, const struct jfs_dirent *d)
{
	struct lister *l = arg;
	uint8_t name[JFS_NAME_BYTES];
	struct fsa_dirent e = {
		.name = (const char *)name, .name_length = jfs_name_bytes(d->name, d->units, name), .ref = { .word = { d->inode } },
		.number = d->inode, .type = FSA_TYPE_UNKNOWN, .offset = d->offset,
	};

	return l->fn(l->arg, &e);
}

enum fsa_status jfs_readdir(struct fsa_fs *fs, struct fsa_ref ref, fsa_dirent_fn fn, void *arg)
{
	struct jfs *j = jfs_of(fs);
	struct lister l = { .fn = fn, .arg = arg };
	struct jfs_dtree_ops ops = { .entry = give_entry, .arg = &l };
	uint8_t raw[JFS_INODE_SIZE];
	struct jfs_inode i;
	enum fsa_status st;

	if (j->log_device || ref.word[0] > UINT32_MAX)
		return FSA_ENOENT;
	st = jfs_inode_read(j, (uint32_t)ref.word[0], raw, &i);
	if (st != FSA_OK)
		return st;
	return i.type == FSA_TYPE_DIRECTORY ? jfs_dtree_walk(j, &i, &ops) : FSA_ENOTDIR;
}
