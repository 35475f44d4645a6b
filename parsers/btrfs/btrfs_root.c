/* SPDX-License-Identifier: GPL-2.0-only */
/* The tree of trees: root items, subvolumes, and the subvolume that reading starts at. */
#include <stdlib.h>

#include "btrfs.h"

bool btr_is_subvolume(uint64_t id)
{
	return id == BTRFS_FS_TREE_OBJECTID || (id >= BTRFS_FIRST_FREE_OBJECTID && id <= BTRFS_LAST_FREE_OBJECTID);
}

struct btr_root btr_tree_root(const struct btr *b)
{
	return (struct btr_root){
		.id = BTRFS_ROOT_TREE_OBJECTID, .bytenr = fsa_le64v(b->super.root), .level = b->super.root_level,
		.generation = b->generation, .refs = 1,
	};
}

struct btr_root btr_chunk_root(const struct btr *b)
{
	return (struct btr_root){
		.id = BTRFS_CHUNK_TREE_OBJECTID, .bytenr = fsa_le64v(b->super.chunk_root), .level = b->super.chunk_root_level,
		.generation = fsa_le64v(b->super.chunk_root_generation), .refs = 1,
	};
}

bool btr_root_parse(const struct btr_item *item, struct btr_root *root)
{
	const uint8_t *p = item->data;

	if (item->size < btrfs_legacy_root_item_size())
		return false;
	*root = (struct btr_root){
		.id = item->key.objectid,
		.key_offset = item->key.offset,
		.bytenr = FSA_LE(uint64_t, p, struct btrfs_root_item, bytenr),
		.generation = FSA_LE(uint64_t, p, struct btrfs_root_item, generation),
		.used_bytes = FSA_LE(uint64_t, p, struct btrfs_root_item, bytes_used),
		.flags = FSA_LE(uint64_t, p, struct btrfs_root_item, flags),
		.refs = FSA_LE(uint32_t, p, struct btrfs_root_item, refs),
		.level = FSA_LE(uint8_t, p, struct btrfs_root_item, level),
		.drop_level = FSA_LE(uint8_t, p, struct btrfs_root_item, drop_level),
		.drop_progress = btr_disk_key(p + offsetof(struct btrfs_root_item, drop_progress)),
	};
	return true;
}

static struct btr_root *find(const struct btr *b, uint64_t id)
{
	size_t low = 0, high = b->n_roots;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (b->roots[mid].id < id)
			low = mid + 1;
		else
			high = mid;
	}
	return low < b->n_roots && b->roots[low].id == id ? &b->roots[low] : NULL;
}

const struct btr_root *btr_root_find(const struct btr *b, uint64_t id)
{
	return find(b, id);
}

static enum fsa_status take_item(void *arg, const struct btr_item *item)
{
	struct btr *b = arg;
	struct btr_root root, *child;
	uint64_t at;
	unsigned device = btr_place(b, item->node->logical, &at);

	if (at != FSA_NO_OFFSET)
		at += item->offset;
	switch (item->key.type) {
	case BTRFS_ROOT_ITEM_KEY:
		if (!btr_root_parse(item, &root)) {
			fsa_find_on(b->findings, device, "root", item->key.objectid, at, "item of %u bytes, at least %u are needed",
				    item->size, (unsigned)btrfs_legacy_root_item_size());
			return FSA_OK;
		}
		if (root.level >= BTR_MAX_LEVEL) {
			fsa_find_on(b->findings, device, "root", root.id, at, "level %u, at most 7", root.level);
			return FSA_OK;
		}
		if (!btr_room((void **)&b->roots, &b->roots_room, b->n_roots, sizeof(*b->roots)))
			return FSA_ENOMEM;
		b->roots[b->n_roots++] = root;
		return FSA_OK;
	case BTRFS_ROOT_BACKREF_KEY:
		/* Behind the root item of the same subvolume. */
		child = find(b, item->key.objectid);
		if (child)
			child->parent = item->key.offset;
		return FSA_OK;
	default:
		return FSA_OK;
	}
}

static enum fsa_status take_default(void *arg, const struct btr_item *item)
{
	struct btr *b = arg;

	for (uint32_t at = 0; at < item->size;) {
		struct btr_dirent e;

		if (!btr_dirent_at(item, at, &e))
			break;
		if (e.name_length == 7 && memcmp(e.name, "default", 7) == 0 && e.location.type == BTRFS_ROOT_ITEM_KEY)
			b->default_subvolume = e.location.objectid;
		at += e.bytes;
	}
	return FSA_STOP;
}

enum fsa_status btr_read_roots(struct btr *b, struct fsa_error *err)
{
	struct btr_root root = btr_tree_root(b);
	struct btr_walk w = { .b = b, .item = take_item, .arg = b };
	const char *name = fsa_image_name(b->fs->devices[b->super_image].image);
	struct btr_walk d = {
		.b = b, .item = take_default, .arg = b,
		.from = { .objectid = fsa_le64v(b->super.root_dir_objectid), .type = BTRFS_DIR_ITEM_KEY },
	};
	struct btr_node *node;
	enum fsa_status st = btr_node_get(b, root.bytenr, root.level, root.generation, &node);

	if (st == FSA_EDAMAGED)
		return fsa_fail(err, FSA_EDAMAGED, "%s: btrfs: superblock @0x%llx: no copy of the root tree's root at %llu can be read%s",
				name, (ull)b->super_offset, (ull)root.bytenr, b->degraded ? "; devices are missing" : "");
	if (st == FSA_OK) {
		btr_node_put(node);
		st = btr_walk_root(&w, &root);
	}
	if (st == FSA_OK) {
		b->default_subvolume = BTRFS_FS_TREE_OBJECTID;
		st = btr_walk_root(&d, &root);
		if (st == FSA_STOP)
			st = FSA_OK;
	}
	if (st != FSA_OK)
		return fsa_fail(err, st, "%s: %s", name, fsa_status_name(st));
	if (!find(b, b->default_subvolume)) {
		BTR_FIND(b, "root tree", FSA_NO_NUMBER, FSA_NO_OFFSET, "the default subvolume %llu does not exist; the top level is taken",
			 (ull)b->default_subvolume);
		b->default_subvolume = BTRFS_FS_TREE_OBJECTID;
	}
	b->start_subvolume = b->default_subvolume;
	return FSA_OK;
}

/* --- a subvolume by path --------------------------------------------------------------------------------------- */

struct picker {
	const char *name;
	size_t length;
	struct fsa_ref ref;
	bool found;
};

static enum fsa_status pick(void *arg, const struct fsa_dirent *entry)
{
	struct picker *p = arg;

	if (entry->name_length != p->length || memcmp(entry->name, p->name, p->length) != 0)
		return FSA_OK;
	p->ref = entry->ref;
	p->found = true;
	return FSA_STOP;
}

/* options.subvolume: a path from the top level, as mount's subvol= takes it, or a number as subvolid=. */
enum fsa_status btr_pick_subvolume(struct btr *b, struct fsa_error *err)
{
	const char *path = b->fs->options.subvolume, *image = fsa_image_name(b->fs->devices[0].image);
	struct fsa_ref ref = btr_ref(BTRFS_FS_TREE_OBJECTID, BTRFS_FIRST_FREE_OBJECTID);
	char *end;

	if (!path)
		return FSA_OK;
	if (*path >= '0' && *path <= '9') {
		uint64_t id = strtoull(path, &end, 10);

		if (!*end && btr_is_subvolume(id) && find(b, id)) {
			b->start_subvolume = id;
			return FSA_OK;
		}
	}
	while (*path) {
		struct picker p = { .name = path };
		enum fsa_status st;

		while (*path == '/')
			p.name = ++path;
		while (path[p.length] && path[p.length] != '/')
			p.length++;
		if (!p.length)
			break;
		st = btr_readdir(b->fs, ref, pick, &p);
		if (st != FSA_OK && st != FSA_STOP)
			return fsa_fail(err, st, "%s: subvolume %s: %s", image, b->fs->options.subvolume, fsa_status_name(st));
		if (!p.found)
			return fsa_fail(err, FSA_ENOENT, "%s: no subvolume %s", image, b->fs->options.subvolume);
		ref = p.ref;
		path += p.length;
	}
	if (ref.word[1] != BTRFS_FIRST_FREE_OBJECTID || ref.word[2])
		return fsa_fail(err, FSA_EINVAL, "%s: %s is no subvolume", image, b->fs->options.subvolume);
	b->start_subvolume = ref.word[0];
	return FSA_OK;
}
