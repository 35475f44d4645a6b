/* SPDX-License-Identifier: GPL-2.0-only */
/* Directories: names by their index, and where a name leads into another subvolume. */
#include "btrfs.h"
#include "fsa/checksum.h"

uint32_t btr_name_hash(const char *name, size_t length)
{
	return fsa_crc32c(~1u, name, length);
}

bool btr_dirent_at(const struct btr_item *item, uint32_t at, struct btr_dirent *e)
{
	const uint8_t *p = item->data + at;
	const uint32_t head = (uint32_t)sizeof(struct btrfs_dir_item);

	if (at > item->size || item->size - at < head)
		return false;
	*e = (struct btr_dirent){
		.location = btr_disk_key(p + offsetof(struct btrfs_dir_item, location)),
		.type = FSA_LE(uint8_t, p, struct btrfs_dir_item, type),
		.name_length = FSA_LE(uint16_t, p, struct btrfs_dir_item, name_len),
		.value_length = FSA_LE(uint16_t, p, struct btrfs_dir_item, data_len),
		.name = (const char *)p + head,
	};
	e->bytes = head + e->name_length + e->value_length;
	e->value = p + head + e->name_length;
	return e->bytes <= item->size - at;
}

static enum fsa_type type_of(uint8_t ft)
{
	switch (ft) {
	case BTRFS_FT_REG_FILE: return FSA_TYPE_REGULAR;
	case BTRFS_FT_DIR: return FSA_TYPE_DIRECTORY;
	case BTRFS_FT_CHRDEV: return FSA_TYPE_CHARDEV;
	case BTRFS_FT_BLKDEV: return FSA_TYPE_BLOCKDEV;
	case BTRFS_FT_FIFO: return FSA_TYPE_FIFO;
	case BTRFS_FT_SOCK: return FSA_TYPE_SOCKET;
	case BTRFS_FT_SYMLINK: return FSA_TYPE_SYMLINK;
	default: return FSA_TYPE_UNKNOWN;
	}
}

struct lister {
	struct btr *b;
	uint64_t subvolume, dir;
	fsa_dirent_fn entry;
	void *arg;
};

struct ref_match { uint64_t dir; const char *name; uint16_t length; bool same; };

static enum fsa_status match_ref(void *arg, const struct btr_item *item)
{
	struct ref_match *m = arg;
	const uint8_t *p = item->data;
	uint16_t length;

	if (item->size < sizeof(struct btrfs_root_ref))
		return FSA_OK;
	length = FSA_LE(uint16_t, p, struct btrfs_root_ref, name_len);
	m->same = FSA_LE(uint64_t, p, struct btrfs_root_ref, dirid) == m->dir && length == m->length &&
		  length <= item->size - sizeof(struct btrfs_root_ref) &&
		  memcmp(p + sizeof(struct btrfs_root_ref), m->name, length) == 0;
	return FSA_OK;
}

/*
 * A name whose key is a root leads into that subvolume when the root tree says so too. In a snapshot it does
 * not: subvolumes are not part of snapshots, and the kernel shows an empty directory (new_simple_dir).
 */
static struct fsa_ref subvolume_ref(struct lister *l, const struct btr_dirent *e)
{
	struct btr_root root = btr_tree_root(l->b);
	struct ref_match m = { .dir = l->dir, .name = e->name, .length = e->name_length };
	struct btr_key key = { l->subvolume, BTRFS_ROOT_REF_KEY, e->location.objectid };

	if (btr_find_item(l->b, &root, key, match_ref, &m) == FSA_OK && m.same)
		return btr_ref(e->location.objectid, BTRFS_FIRST_FREE_OBJECTID);
	/* Told apart by the directory that holds it and the subvolume that it stood for. */
	return (struct fsa_ref){ .word = { l->subvolume, l->dir, e->location.objectid } };
}

static enum fsa_status list_item(void *arg, const struct btr_item *item)
{
	struct lister *l = arg;
	struct fsa_dirent d = { .name = NULL };
	struct btr_dirent e;
	uint64_t at;

	if (item->key.objectid != l->dir || item->key.type != BTRFS_DIR_INDEX_KEY)
		return FSA_STOP;
	btr_place(l->b, item->node->logical, &at);
	if (at != FSA_NO_OFFSET)
		at += item->offset;
	if (!btr_dirent_at(item, 0, &e) || e.bytes != item->size) {
		BTR_FIND(l->b, "inode", l->dir, at, "directory index %llu of %u bytes does not hold one name", (ull)item->key.offset,
			 item->size);
		return FSA_OK;
	}
	d.name = e.name;
	d.name_length = e.name_length;
	d.type = type_of(e.type);
	d.offset = at;
	d.number = e.location.objectid;
	if (e.location.type == BTRFS_INODE_ITEM_KEY) {
		d.ref = btr_ref(l->subvolume, e.location.objectid);
	} else if (e.location.type == BTRFS_ROOT_ITEM_KEY) {
		d.ref = subvolume_ref(l, &e);
		d.number = d.ref.word[2] ? BTRFS_EMPTY_SUBVOL_DIR_OBJECTID : BTRFS_FIRST_FREE_OBJECTID;
	} else {
		BTR_FIND(l->b, "inode", l->dir, at, "directory index %llu leads to a key of type %u", (ull)item->key.offset,
			 e.location.type);
		return FSA_OK;
	}
	return l->entry(l->arg, &d);
}

struct relay { struct lister l; enum fsa_status st; };

/* The end of the directory and a callback's wish to stop must not look alike. */
static enum fsa_status relay_item(void *arg, const struct btr_item *item)
{
	struct relay *r = arg;

	if (item->key.objectid != r->l.dir || item->key.type != BTRFS_DIR_INDEX_KEY)
		return FSA_STOP;
	r->st = list_item(&r->l, item);
	return r->st;
}

enum fsa_status btr_readdir(struct fsa_fs *fs, struct fsa_ref ref, fsa_dirent_fn entry, void *arg)
{
	struct btr *b = btr_of(fs);
	struct relay r = { .l = { .b = b, .subvolume = ref.word[0], .dir = ref.word[1], .entry = entry, .arg = arg } };
	struct btr_walk w = {
		.b = b, .item = relay_item, .arg = &r, .from = { ref.word[1], BTRFS_DIR_INDEX_KEY, 0 },
	};
	struct btr_inode inode;
	enum fsa_status st = btr_inode_get(b, ref, &inode);

	if (st != FSA_OK)
		return st;
	if (fsa_type_of_mode(inode.mode) != FSA_TYPE_DIRECTORY)
		return FSA_ENOTDIR;
	if (ref.word[2])
		return FSA_OK;
	st = btr_walk_root(&w, inode.root);
	if (r.st != FSA_OK)
		return r.st;
	if (st == FSA_STOP)
		st = FSA_OK;
	if (st == FSA_OK && w.damaged)
		return FSA_EDAMAGED;
	return st;
}
