/* SPDX-License-Identifier: GPL-2.0-only */
/* Inodes as their items pass by in key order: extents claimed, objects reported, counts compared. */
#include <sys/stat.h>

#include "btrfs_audit.h"

static uint64_t item_place(const struct btr_audit *a, const struct btr_item *item)
{
	uint64_t at;

	btr_place(a->b, item->node->logical, &at);
	return at == FSA_NO_OFFSET ? at : at + item->offset;
}

static bool counts(const struct btr_audit *a)
{
	return a->role == BTR_ROLE_SUBVOLUME;
}

static enum btr_detail detail_of(const struct btr_audit *a, enum btr_detail plain)
{
	if (a->role == BTR_ROLE_DELETED)
		return BTR_D_DELETED_SUBVOL;
	if (a->role == BTR_ROLE_ROOT_TREE)
		return BTR_D_CACHE;
	if (a->role == BTR_ROLE_SUBVOLUME && a->file.have_item && !a->file.inode.links)
		return BTR_D_DELETED_FILE;
	return plain;
}

/* --- extents ------------------------------------------------------------------------------------------------------------- */

/* The extent item that a file extent refers to, counted; NULL when there is none. */
static struct btr_extent *refer(struct btr_audit *a, const struct btr_file_extent *e, uint64_t at)
{
	struct btr_extent *x = btr_extent_find(a, e->disk_bytenr);
	uint64_t bytes;

	if (!x)
		return NULL;
	if (x->used && (x->last_root != a->root_index || x->last_inode != a->file.number))
		x->several_files = true;
	x->used = true;
	if (a->fresh[0])
		x->seen++;
	if (counts(a)) {
		a->sums[a->root_index].mapped += e->bytes;
		x->mapped += (uint32_t)fsa_min(btr_block(a->b, e->bytes), UINT32_MAX - x->mapped);
	}
	bytes = (uint64_t)x->sectors * a->b->sectorsize;
	if (!x->data || bytes != e->disk_bytes)
		BTR_FIND(a->b, "inode", a->file.number, at, "extent at %llu of %llu bytes, the extent tree has %s of %llu bytes",
			 (ull)e->disk_bytenr, (ull)e->disk_bytes, x->data ? "one" : "a tree block", (ull)bytes);
	if (x->last_root != a->root_index) {
		x->last_inode = 0;
		a->sums[a->root_index].referenced += bytes;
		x->owner = x->owner == BTR_NOBODY || x->owner == a->root_index ? a->root_index : BTR_SEVERAL;
		x->last_root = a->root_index;
	}
	return x;
}

static void check_sums(struct btr_audit *a, const struct btr_file_extent *e, uint64_t at)
{
	uint64_t start = e->compression ? e->disk_bytenr : e->disk_bytenr + e->offset;
	uint64_t length = e->compression ? e->disk_bytes : e->bytes, have;

	if (!a->fresh[0] || e->type != BTRFS_FILE_EXTENT_REG || a->file.inode.flags & BTR_INODE_NODATASUM || a->damaged ||
	    a->role != BTR_ROLE_SUBVOLUME)
		return;
	have = btr_bits_count(a, &a->summed, start, length);
	if (have < length)
		BTR_FIND(a->b, "inode", a->file.number, at, "%llu bytes at %llu have checksums for %llu of them", (ull)length, (ull)start,
			 (ull)have);
}

static void count_piece(struct btr_file *f, uint64_t logical, uint64_t disk, uint64_t bytes, uint64_t next_disk)
{
	if (f->next_logical != logical || f->next_disk != disk || !f->o.extents)
		f->o.extents++;
	f->next_logical = logical + bytes;
	f->next_disk = next_disk;
}

static bool compressed_extent(struct btr_audit *a, const struct btr_file_extent *e, struct btr_extent *x, unsigned flags,
			      const struct fsa_owner *owner)
{
	struct btr_file *f = &a->file;
	uint64_t in_file = e->logical < f->inode.size ? fsa_min(e->bytes, f->inode.size - e->logical) : 0, claimed = 0;

	f->o.flags |= FSA_OBJECT_COMPRESSED;
	/* The stream is one piece: whoever needs a part of it holds all of it, once. */
	if (!x || x->last_inode != f->number) {
		claimed = btr_claim(a, e->disk_bytenr, e->disk_bytes, detail_of(a, BTR_D_COMPRESSED), flags, owner);
		if (x && a->fresh[0] && x->seen == 1) {
			a->compressed_bytes[e->compression] += e->disk_bytes;
			a->compressed_extents[e->compression]++;
		}
	}
	if (a->fresh[0])
		a->compressed_plain[e->compression] += e->bytes;
	f->o.data_bytes += in_file;
	f->o.uncharged_bytes += in_file - claimed;
	count_piece(f, e->logical, e->disk_bytenr, e->bytes, e->disk_bytenr + e->disk_bytes);
	return btr_bits_set(a, &a->referenced, e->disk_bytenr, e->disk_bytes);
}

static bool plain_extent(struct btr_audit *a, const struct btr_file_extent *e, unsigned flags, const struct fsa_owner *owner)
{
	struct btr_file *f = &a->file;
	uint64_t ss = a->b->sectorsize, start = e->disk_bytenr + e->offset, size = f->inode.size, in_file = 0, bytes, whole, claimed;

	if (e->type == BTRFS_FILE_EXTENT_PREALLOC) {
		claimed = btr_claim(a, start, e->bytes, detail_of(a, BTR_D_UNWRITTEN), flags, owner);
		f->o.preallocated_bytes += e->bytes;
		f->o.uncharged_bytes += e->bytes - claimed;
		return btr_bits_set(a, &a->referenced, start, e->bytes);
	}
	if (e->logical < size)
		in_file = fsa_min(e->bytes, fsa_div_up(size - e->logical, ss) * ss);
	bytes = e->logical < size ? fsa_min(in_file, size - e->logical) : 0;
	whole = bytes / ss * ss;
	claimed = btr_claim(a, start, whole, detail_of(a, BTR_D_DATA), flags, owner);
	if (bytes > whole) {
		a->n_parts = 0;
		if (!btr_part_add(a, 0, bytes - whole, detail_of(a, BTR_D_DATA), f->number) ||
		    !btr_part_add(a, bytes - whole, ss - (bytes - whole), detail_of(a, BTR_D_SLACK), f->number))
			return false;
		claimed += btr_claim_parts(a, start + whole, ss, detail_of(a, BTR_D_SLACK), flags, owner);
	}
	claimed += btr_claim(a, start + in_file, e->bytes - in_file, detail_of(a, BTR_D_BEYOND_EOF), flags, owner);
	f->o.data_bytes += bytes;
	f->o.slack_bytes += in_file - bytes;
	f->o.preallocated_bytes += e->bytes - in_file;
	f->o.uncharged_bytes += e->bytes - claimed;
	if (in_file)
		count_piece(f, e->logical, start, in_file, start + in_file);
	return btr_bits_set(a, &a->referenced, start, e->bytes);
}

static void inline_extent(struct btr_audit *a, const struct btr_item *item, const struct btr_file_extent *e)
{
	const struct btr_chunk *c = btr_chunk_at(a->b, item->node->logical);
	uint64_t copies = c ? btr_copies(c->type) : 1, data_copies = 1, stored = BTR_ITEM + item->size;
	struct btr_file *f = &a->file;
	uint64_t plain = fsa_min(e->ram_bytes, f->inode.size), held = e->compression ? fsa_min(plain, e->inline_size) : plain;

	f->nbytes += e->ram_bytes;
	if (e->compression) {
		f->o.flags |= FSA_OBJECT_COMPRESSED;
		if (a->fresh[0]) {
			a->compressed_bytes[e->compression] += e->inline_size;
			a->compressed_plain[e->compression] += e->ram_bytes;
			a->compressed_extents[e->compression]++;
		}
	}
	if (!S_ISREG(f->inode.mode))
		return;
	for (size_t i = 0; i < a->b->n_chunks; i++)
		if (a->b->chunks[i].type & BTRFS_BLOCK_GROUP_DATA)
			data_copies = btr_copies(a->b->chunks[i].type);
	f->o.flags |= FSA_OBJECT_INLINE;
	f->o.packed_bytes += plain;
	f->o.packed_uncharged_bytes += plain - held;
	/* What it costs beside its bytes: headers, and that metadata may lie there more often than data would. */
	f->o.packed_cost_bytes += copies * stored > held ? copies * stored - held : 0;
	f->o.unpacked_bytes += data_copies * fsa_div_up(e->ram_bytes, a->b->sectorsize) * a->b->sectorsize;
}

static enum fsa_status take_extent(struct btr_audit *a, const struct btr_item *item)
{
	struct btr_file *f = &a->file;
	struct fsa_owner owner = {
		.object = a->role == BTR_ROLE_ROOT_TREE ? "cache inode" : "inode", .number = f->number,
		.ref = btr_ref(a->root->id, f->number), .has_ref = a->role == BTR_ROLE_SUBVOLUME,
	};
	unsigned flags = a->role == BTR_ROLE_ROOT_TREE ? 0 : FSA_CLAIM_SHARED;
	uint64_t at = item_place(a, item);
	struct btr_file_extent e;
	struct btr_extent *x;
	const char *trouble = btr_file_extent_parse(a->b, item, &e);
	bool ok;

	if (trouble) {
		BTR_FIND(a->b, "inode", f->number, at, "extent at %llu: %s", (ull)item->key.offset, trouble);
		return FSA_OK;
	}
	if (e.logical < f->extent_end)
		BTR_FIND(a->b, "inode", f->number, at, "extent at %llu starts before the end of the one before it, %llu", (ull)e.logical,
			 (ull)f->extent_end);
	if (e.type == BTRFS_FILE_EXTENT_INLINE) {
		f->extent_end = fsa_max(f->extent_end, e.ram_bytes);
		if (a->role != BTR_ROLE_LOG)
			inline_extent(a, item, &e);
		return FSA_OK;
	}
	f->extent_end = fsa_max(f->extent_end, e.logical + e.bytes);
	if (!e.disk_bytenr)
		return FSA_OK;
	f->nbytes += e.bytes;
	if (!btr_chunk_at(a->b, e.disk_bytenr)) {
		BTR_FIND(a->b, "inode", f->number, at, "extent at %llu lies at %llu, which is in no chunk", (ull)e.logical,
			 (ull)e.disk_bytenr);
		return FSA_OK;
	}
	if (a->role == BTR_ROLE_LOG) {
		/* Space of a file that was fsynced: only replay puts it into the extent tree. */
		if (!btr_extent_find(a, e.disk_bytenr))
			btr_claim(a, e.disk_bytenr, e.disk_bytes, BTR_D_LOG, FSA_CLAIM_UNMAPPED | FSA_CLAIM_SHARED, &owner);
		return FSA_OK;
	}
	if (counts(a) && f->have_item && f->inode.links)
		flags |= FSA_CLAIM_CHARGED;
	x = refer(a, &e, at);
	check_sums(a, &e, at);
	if (e.compression && e.type == BTRFS_FILE_EXTENT_REG)
		ok = compressed_extent(a, &e, x, flags, &owner);
	else
		ok = plain_extent(a, &e, flags, &owner);
	if (x)
		x->last_inode = f->number;
	return ok ? FSA_OK : FSA_ENOMEM;
}

/* --- names ---------------------------------------------------------------------------------------------------------------- */

static void take_refs(struct btr_audit *a, const struct btr_item *item)
{
	bool extended = item->key.type == BTRFS_INODE_EXTREF_KEY;
	uint32_t head = extended ? (uint32_t)sizeof(struct btrfs_inode_extref) : (uint32_t)sizeof(struct btrfs_inode_ref);

	for (uint32_t at = 0; at < item->size;) {
		const uint8_t *p = item->data + at;
		uint32_t length;

		if (item->size - at < head)
			break;
		length = extended ? FSA_LE(uint16_t, p, struct btrfs_inode_extref, name_len)
				  : FSA_LE(uint16_t, p, struct btrfs_inode_ref, name_len);
		if (length > item->size - at - head) {
			BTR_FIND(a->b, "inode", a->file.number, item_place(a, item), "reference at %u with a name of %u bytes in %u bytes",
				 at, length, item->size);
			break;
		}
		a->file.names++;
		at += head + length;
	}
}

static void take_entries(struct btr_audit *a, const struct btr_item *item)
{
	for (uint32_t at = 0; at < item->size;) {
		struct btr_dirent e;

		if (!btr_dirent_at(item, at, &e)) {
			BTR_FIND(a->b, "inode", a->file.number, item_place(a, item), "directory entry at %u does not fit into %u bytes", at,
				 item->size);
			return;
		}
		/* Names of the same hash share an item; the index is by number. */
		if (item->key.type != BTRFS_DIR_INDEX_KEY && btr_name_hash(e.name, e.name_length) != item->key.offset)
			BTR_FIND(a->b, "inode", a->file.number, item_place(a, item), "name at %u has hash %u, its key says %llu", at,
				 btr_name_hash(e.name, e.name_length), (ull)item->key.offset);
		if (item->key.type != BTRFS_XATTR_ITEM_KEY)
			a->file.name_bytes += e.name_length;
		at += e.bytes;
	}
}

/* --- an inode as a whole --------------------------------------------------------------------------------------------------- */

static void check_inode(struct btr_audit *a)
{
	struct btr_file *f = &a->file;
	const struct btr_inode *i = &f->inode;
	uint64_t at;

	btr_place(a->b, i->logical, &at);
	if (at != FSA_NO_OFFSET)
		at += i->offset;
	if (fsa_type_of_mode(i->mode) == FSA_TYPE_UNKNOWN)
		BTR_FIND(a->b, "inode", f->number, at, "mode 0%o has no file type", i->mode);
	/* Items of this inode may be among what could not be read. */
	if (a->damaged)
		return;
	/* mkfs.btrfs gives the top directory the bytes of a node; the checker looks at files only, and so do we. */
	if (i->nbytes != f->nbytes && !S_ISDIR(i->mode))
		BTR_FIND(a->b, "inode", f->number, at, "%llu bytes by its item, its extents have %llu", (ull)i->nbytes, (ull)f->nbytes);
	if (S_ISDIR(i->mode)) {
		if (i->size != f->name_bytes && i->links)
			BTR_FIND(a->b, "inode", f->number, at, "directory size %llu, its names make %llu", (ull)i->size,
				 (ull)f->name_bytes);
	} else if (i->links != f->names && i->links) {
		BTR_FIND(a->b, "inode", f->number, at, "link count %u, %llu names", i->links, (ull)f->names);
	}
}

enum fsa_status btr_file_finish(struct btr_audit *a)
{
	struct btr_file *f = &a->file;
	struct fsa_object *o = &f->o;

	if (!f->open)
		return FSA_OK;
	f->open = false;
	/* Elsewhere only the claims matter: a balance's copies and logs are no files of their own. */
	if (a->role == BTR_ROLE_LOG || a->role == BTR_ROLE_RELOC)
		return FSA_OK;
	if (!f->have_item) {
		if (a->role == BTR_ROLE_SUBVOLUME && !a->damaged)
			BTR_FIND(a->b, "inode", f->number, FSA_NO_OFFSET, "subvolume %llu has items of it and no inode item",
				 (ull)a->root->id);
		return FSA_OK;
	}
	if (counts(a))
		check_inode(a);
	o->ref = btr_ref(a->root->id, f->number);
	o->number = f->number;
	o->type = fsa_type_of_mode(f->inode.mode);
	o->size_bytes = f->inode.size;
	o->links = f->inode.links;
	o->st_blocks = fsa_div_up(f->inode.nbytes, a->b->sectorsize) * (a->b->sectorsize / 512);
	if (!counts(a) && a->role != BTR_ROLE_DELETED)
		o->flags |= FSA_OBJECT_INTERNAL;
	else if (!f->inode.links || a->role == BTR_ROLE_DELETED)
		o->flags |= FSA_OBJECT_UNREFERENCED;
	if (counts(a)) {
		a->sums[a->root_index].files++;
		a->sums[a->root_index].file_bytes += o->data_bytes + o->packed_bytes;
	}
	return a->audit->object ? a->audit->object(a->audit->object_arg, o) : FSA_OK;
}

static bool of_inode(uint8_t type)
{
	return type < BTRFS_EXTENT_CSUM_KEY && type > 0 && type != BTRFS_ORPHAN_ITEM_KEY;
}

enum fsa_status btr_audit_item(void *arg, const struct btr_item *item)
{
	struct btr_audit *a = arg;
	struct btr_file *f = &a->file;
	enum fsa_status st;

	if (a->role == BTR_ROLE_INTERNAL && a->root->id != BTRFS_DATA_RELOC_TREE_OBJECTID)
		return btr_check_item(a, item);
	if (!of_inode(item->key.type) || item->key.objectid > BTRFS_LAST_FREE_OBJECTID)
		return FSA_OK;
	if (!f->open || f->number != item->key.objectid) {
		st = btr_file_finish(a);
		if (st != FSA_OK)
			return st;
		*f = (struct btr_file){ .open = true, .number = item->key.objectid };
	}
	/* The directory of the tree of trees has names only. */
	if (a->role == BTR_ROLE_ROOT_TREE && f->number < BTRFS_FIRST_FREE_OBJECTID)
		return FSA_OK;
	switch (item->key.type) {
	case BTRFS_INODE_ITEM_KEY:
		f->have_item = btr_inode_parse(item, &f->inode);
		if (!f->have_item)
			BTR_FIND(a->b, "inode", f->number, item_place(a, item), "inode item of %u bytes, it should have %zu", item->size,
				 sizeof(struct btrfs_inode_item));
		return FSA_OK;
	case BTRFS_INODE_REF_KEY:
	case BTRFS_INODE_EXTREF_KEY:
		take_refs(a, item);
		return FSA_OK;
	case BTRFS_XATTR_ITEM_KEY:
	case BTRFS_DIR_ITEM_KEY:
	case BTRFS_DIR_INDEX_KEY:
		take_entries(a, item);
		return FSA_OK;
	case BTRFS_EXTENT_DATA_KEY:
		return take_extent(a, item);
	default:
		return FSA_OK;
	}
}
