/* SPDX-License-Identifier: GPL-2.0-only */
/* Inodes: stat, symbolic links, extended attributes. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "btrfs.h"

static struct fsa_time time_at(const uint8_t *p)
{
	return (struct fsa_time){
		.sec = (int64_t)FSA_LE(uint64_t, p, struct btrfs_timespec, sec),
		.nsec = FSA_LE(uint32_t, p, struct btrfs_timespec, nsec),
		.set = true,
	};
}

bool btr_inode_parse(const struct btr_item *item, struct btr_inode *i)
{
	const uint8_t *p = item->data;

	if (item->size != sizeof(struct btrfs_inode_item))
		return false;
	*i = (struct btr_inode){
		.number = item->key.objectid,
		.size = FSA_LE(uint64_t, p, struct btrfs_inode_item, size),
		.nbytes = FSA_LE(uint64_t, p, struct btrfs_inode_item, nbytes),
		.generation = FSA_LE(uint64_t, p, struct btrfs_inode_item, generation),
		.rdev = FSA_LE(uint64_t, p, struct btrfs_inode_item, rdev),
		.flags = FSA_LE(uint64_t, p, struct btrfs_inode_item, flags),
		.links = FSA_LE(uint32_t, p, struct btrfs_inode_item, nlink),
		.uid = FSA_LE(uint32_t, p, struct btrfs_inode_item, uid),
		.gid = FSA_LE(uint32_t, p, struct btrfs_inode_item, gid),
		.mode = FSA_LE(uint32_t, p, struct btrfs_inode_item, mode),
		.atime = time_at(p + offsetof(struct btrfs_inode_item, atime)),
		.ctime = time_at(p + offsetof(struct btrfs_inode_item, ctime)),
		.mtime = time_at(p + offsetof(struct btrfs_inode_item, mtime)),
		.btime = time_at(p + offsetof(struct btrfs_inode_item, otime)),
		.logical = item->node->logical,
		.offset = item->offset,
	};
	/* Inodes from before creation times were kept. */
	i->btime.set = i->btime.sec || i->btime.nsec;
	return true;
}

static enum fsa_status take(void *arg, const struct btr_item *item)
{
	return btr_inode_parse(item, arg) ? FSA_OK : FSA_EDAMAGED;
}

/* The empty directory that stands for a subvolume inside a snapshot, after new_simple_dir of Linux 6.1. */
static enum fsa_status simple_dir(struct btr *b, struct fsa_ref ref, struct btr_inode *i)
{
	struct btr_inode parent;
	enum fsa_status st = btr_inode_get(b, btr_ref(ref.word[0], ref.word[1]), &parent);

	if (st != FSA_OK)
		return st;
	*i = (struct btr_inode){
		.number = BTRFS_EMPTY_SUBVOL_DIR_OBJECTID, .subvolume = ref.word[0], .root = parent.root, .links = 1,
		.mode = S_IFDIR | 0755, .atime = parent.mtime, .mtime = parent.mtime, .ctime = parent.mtime, .btime = parent.mtime,
		.logical = parent.logical, .offset = parent.offset,
	};
	return FSA_OK;
}

enum fsa_status btr_inode_get(struct btr *b, struct fsa_ref ref, struct btr_inode *i)
{
	const struct btr_root *root;
	enum fsa_status st;

	if (ref.word[2])
		return simple_dir(b, ref, i);
	root = btr_root_find(b, ref.word[0]);
	if (!root || !btr_is_subvolume(ref.word[0])) {
		BTR_FIND(b, "subvolume", ref.word[0], FSA_NO_OFFSET, "a directory names it, there is no such subvolume");
		return FSA_EDAMAGED;
	}
	st = btr_find_item(b, root, (struct btr_key){ ref.word[1], BTRFS_INODE_ITEM_KEY, 0 }, take, i);
	if (st == FSA_ENOENT || st == FSA_EDAMAGED) {
		BTR_FIND(b, "inode", ref.word[1], FSA_NO_OFFSET, "subvolume %llu has no usable inode item for it", (ull)ref.word[0]);
		return FSA_EDAMAGED;
	}
	i->subvolume = ref.word[0];
	i->root = root;
	return st;
}

enum fsa_status btr_root_ref(struct fsa_fs *fs, struct fsa_ref *ref)
{
	*ref = btr_ref(btr_of(fs)->start_subvolume, BTRFS_FIRST_FREE_OBJECTID);
	return FSA_OK;
}

enum fsa_status btr_ref_of_number(struct fsa_fs *fs, uint64_t number, struct fsa_ref *ref)
{
	*ref = btr_ref(btr_of(fs)->start_subvolume, number);
	return FSA_OK;
}

static void flag_names(uint64_t flags, char *text, size_t room)
{
	static const char *const names[] = {
		"nodatasum", "nodatacow", "readonly", "nocompress", "prealloc", "sync", "immutable", "append", "nodump", "noatime",
		"dirsync", "compress",
	};
	size_t n = 0;

	text[0] = '\0';
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]) && n < room; i++)
		if (flags & UINT64_C(1) << i)
			n += (size_t)snprintf(text + n, room - n, "%s%s", n ? "," : "", names[i]);
	if (flags >> 32 & 1 && n < room)
		snprintf(text + n, room - n, "%sverity", n ? "," : "");
}

enum fsa_status btr_stat(struct fsa_fs *fs, struct fsa_ref ref, struct fsa_stat *stat)
{
	struct btr *b = btr_of(fs);
	struct btr_inode i;
	enum fsa_status st = btr_inode_get(b, ref, &i);
	uint64_t at;

	if (st != FSA_OK)
		return st;
	btr_place(b, i.logical, &at);
	*stat = (struct fsa_stat){
		.ref = ref, .number = i.number, .type = fsa_type_of_mode(i.mode), .mode = i.mode, .uid = i.uid, .gid = i.gid,
		.links = i.links, .size = i.size, .st_blocks = fsa_div_up(i.nbytes, b->sectorsize) * (b->sectorsize / 512),
		.atime = i.atime, .mtime = i.mtime, .ctime = i.ctime, .btime = i.btime, .generation = i.generation,
		.offset = at == FSA_NO_OFFSET ? at : at + i.offset,
	};
	/* The kernel stores its own device number: 12 bits and 20 bits. */
	if (stat->type == FSA_TYPE_CHARDEV || stat->type == FSA_TYPE_BLOCKDEV) {
		stat->rdev_major = (uint32_t)(i.rdev >> 20 & 0xfff);
		stat->rdev_minor = (uint32_t)(i.rdev & 0xfffff);
	}
	flag_names(i.flags, stat->flag_names, sizeof(stat->flag_names));
	return FSA_OK;
}

/* --- symbolic links: an inline extent --------------------------------------------------------------------------- */

struct link { struct btr *b; char *target; size_t length; uint64_t number; const char *trouble; };

static enum fsa_status take_link(void *arg, const struct btr_item *item)
{
	struct link *l = arg;
	struct btr_file_extent e;

	l->trouble = btr_file_extent_parse(l->b, item, &e);
	if (l->trouble)
		return FSA_EDAMAGED;
	if (e.type != BTRFS_FILE_EXTENT_INLINE || e.compression) {
		l->trouble = "its target is no plain inline extent";
		return FSA_EDAMAGED;
	}
	l->target = malloc((size_t)e.inline_size + 1);
	if (!l->target)
		return FSA_ENOMEM;
	memcpy(l->target, e.inline_data, e.inline_size);
	l->target[e.inline_size] = '\0';
	l->length = e.inline_size;
	return FSA_OK;
}

enum fsa_status btr_readlink(struct fsa_fs *fs, struct fsa_ref ref, char **target, size_t *length)
{
	struct btr *b = btr_of(fs);
	struct link l = { .b = b };
	struct btr_inode i;
	enum fsa_status st = btr_inode_get(b, ref, &i);

	if (st != FSA_OK)
		return st;
	if (fsa_type_of_mode(i.mode) != FSA_TYPE_SYMLINK)
		return FSA_EINVAL;
	st = btr_find_item(b, i.root, (struct btr_key){ i.number, BTRFS_EXTENT_DATA_KEY, 0 }, take_link, &l);
	/* mkfs.btrfs --rootdir stores the 0 behind a target, too; the kernel reads as far as the size. */
	if (st == FSA_OK && l.length == i.size + 1 && l.target[i.size] == '\0')
		l.length = i.size;
	if (st == FSA_ENOENT || l.trouble || (st == FSA_OK && l.length != i.size)) {
		uint64_t at;

		btr_place(b, i.logical, &at);
		BTR_FIND(b, "inode", i.number, at, "symbolic link of %llu bytes: %s", (ull)i.size,
			 l.trouble ? l.trouble : st == FSA_ENOENT ? "it has no target" : "its target has another length");
		if (st == FSA_ENOENT)
			st = FSA_EDAMAGED;
	}
	if (st != FSA_OK)
		return st;
	*target = l.target;
	*length = l.length;
	return FSA_OK;
}

/* --- extended attributes -------------------------------------------------------------------------------------------- */

struct attrs { struct btr *b; uint64_t number; fsa_xattr_fn xattr; void *arg; enum fsa_status st; };

static enum fsa_status take_attrs(void *arg, const struct btr_item *item)
{
	struct attrs *a = arg;
	char name[BTR_NAME_LEN + 1];

	if (item->key.objectid != a->number || item->key.type != BTRFS_XATTR_ITEM_KEY)
		return FSA_STOP;
	for (uint32_t at = 0; at < item->size;) {
		struct btr_dirent e;

		if (!btr_dirent_at(item, at, &e) || !e.name_length || e.name_length > BTR_NAME_LEN ||
		    memchr(e.name, 0, e.name_length)) {
			BTR_FIND(a->b, "inode", a->number, FSA_NO_OFFSET, "attribute at %u of %u bytes has a name of %u bytes", at,
				 item->size, at + sizeof(struct btrfs_dir_item) <= item->size ? e.name_length : 0);
			return FSA_OK;
		}
		memcpy(name, e.name, e.name_length);
		name[e.name_length] = '\0';
		a->st = a->xattr(a->arg, name, e.value, e.value_length);
		if (a->st != FSA_OK)
			return a->st;
		at += e.bytes;
	}
	return FSA_OK;
}

enum fsa_status btr_xattrs(struct fsa_fs *fs, struct fsa_ref ref, fsa_xattr_fn xattr, void *arg)
{
	struct btr *b = btr_of(fs);
	struct attrs a = { .b = b, .xattr = xattr, .arg = arg };
	struct btr_walk w = { .b = b, .item = take_attrs, .arg = &a };
	struct btr_inode i;
	enum fsa_status st = btr_inode_get(b, ref, &i);

	if (st != FSA_OK || ref.word[2])
		return st;
	a.number = i.number;
	w.from = (struct btr_key){ i.number, BTRFS_XATTR_ITEM_KEY, 0 };
	st = btr_walk_root(&w, i.root);
	if (a.st != FSA_OK)
		return a.st;
	if (st == FSA_STOP)
		st = FSA_OK;
	return st == FSA_OK && w.damaged ? FSA_EDAMAGED : st;
}

enum fsa_status btr_describe(struct fsa_fs *fs, struct fsa_ref ref,
			     void (*line)(void *arg, const char *name, const char *value), void *arg)
{
	struct btr *b = btr_of(fs);
	struct btr_inode i;
	enum fsa_status st = btr_inode_get(b, ref, &i);
	char text[64];

	if (st != FSA_OK)
		return st;
	snprintf(text, sizeof(text), "%llu", (ull)i.subvolume);
	line(arg, "subvolume", text);
	snprintf(text, sizeof(text), "%llu", (ull)i.nbytes);
	line(arg, "bytes in extents", text);
	return FSA_OK;
}
