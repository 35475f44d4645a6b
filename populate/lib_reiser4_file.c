/* SPDX-License-Identifier: GPL-2.0-only */
/* Data of regular files through libreiser4's item plugins. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib_reiser4.h"
#include "shared/pop_rand.h"

/* A hole in a file of tails is stored as zeros: so many are too many. */
#define TAIL_ZEROS	(UINT64_C(64) << 20)
/* What a file may reach; offsets in keys have 64 bits. */
#define MAX_SIZE	(UINT64_C(1) << 44)
/* The checker compares clusters by the low 32 bits of their offsets. */
#define MAX_PACKED_SIZE	(UINT64_C(1) << 32)
/* So many units of an extent item fit into any node. */
#define UNITS		64

/* --- what is in a file --------------------------------------------------- */

static int add_piece(struct lib_reiser4_file *file,
		     const struct pop_source *source, uint64_t offset,
		     uint64_t length)
{
	struct lib_reiser4_piece *p;

	if (!length)
		return 0;
	if (file->count == file->room) {
		size_t room = file->room ? file->room * 2 : 1;

		p = realloc(file->pieces, room * sizeof(*p));
		if (!p)
			return -ENOMEM;
		file->pieces = p;
		file->room = room;
	}
	file->pieces[file->count++] =
		(struct lib_reiser4_piece){ *source, offset, length };
	if (file->size < offset + length)
		file->size = offset + length;
	return 0;
}

static int add_pieces(struct lib_reiser4_file *file, const struct pop_op *op)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < op->data_count; i++)
		ret = add_piece(file, &op->source, op->data[i].offset,
				op->data[i].length);
	return ret;
}

struct lib_reiser4_file *lib_reiser4_file_new(const struct pop_op *op)
{
	struct lib_reiser4_file *file = calloc(1, sizeof(*file));

	if (!file)
		return NULL;
	file->names = 1;
	if (add_pieces(file, op)) {
		free(file->pieces);
		free(file);
		return NULL;
	}
	if (file->size < op->size)
		file->size = op->size;
	return file;
}

void lib_reiser4_file_put(struct lib_reiser4_file *file)
{
	if (file && !--file->names) {
		free(file->pieces);
		free(file);
	}
}

static bool has_data(const struct lib_reiser4_file *file, uint64_t from,
		     uint64_t length)
{
	for (size_t i = 0; i < file->count; i++) {
		const struct lib_reiser4_piece *p = &file->pieces[i];

		if (p->offset < from + length && from < p->offset + p->length)
			return true;
	}
	return false;
}

/* Where data begins at or behind an offset; the size when nowhere. */
static uint64_t next_data(const struct lib_reiser4_file *file, uint64_t from)
{
	uint64_t next = file->size;

	for (size_t i = 0; i < file->count; i++) {
		const struct lib_reiser4_piece *p = &file->pieces[i];
		uint64_t at = p->offset > from ? p->offset : from;

		if (p->offset + p->length > from && at < next)
			next = at;
	}
	return next;
}

static int content(const struct lib_reiser4_file *file, uint64_t from,
		    unsigned char *buf, size_t length)
{
	memset(buf, 0, length);
	for (size_t i = 0; i < file->count; i++) {
		const struct lib_reiser4_piece *p = &file->pieces[i];
		uint64_t at = p->offset > from ? p->offset : from;
		uint64_t end = p->offset + p->length;

		if (end > from + length)
			end = from + length;
		if (at < end) {
			int ret = pop_source_read(&p->source, at,
						  buf + (at - from),
						  (size_t)(end - at));

			if (ret)
				return ret;
		}
	}
	return 0;
}

static uint64_t data_bytes(const struct lib_reiser4_file *file)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < file->count; i++)
		sum += file->pieces[i].length;
	return sum;
}

/* --- writing it ---------------------------------------------------------- */

static bool is_compressed(const reiser4_object_t *object)
{
	return reiser4_psobj(object)->p.id.id == OBJECT_CCREG40_ID;
}

/* The plugin of the items that hold a file of this size. */
static reiser4_item_plug_t *plugin_for(const reiser4_object_t *object,
				       uint64_t size)
{
	if (is_compressed(object))
		return reiser4_psctail(object);
	if (reiser4_pspolicy(object)->tails(size))
		return reiser4_pstail(object);
	return reiser4_psextent(object);
}

static errno_t set_shift(reiser4_place_t *place, void *shift)
{
	ctail_hint_t cluster = { *(const uint8_t *)shift };
	trans_hint_t hint = { 0 };

	hint.specific = &cluster;
	hint.count = 1;
	return place->plug->object->update_units(place, &hint) == 1 ? 0 : -EIO;
}

/* Into the tree; data NULL is a hole. */
static int put(struct lib_reiser4 *w, reiser4_object_t *object,
	       reiser4_item_plug_t *plugin, void *data, uint64_t offset,
	       uint64_t length, uint8_t *shift)
{
	trans_hint_t hint = { 0 };
	int64_t done;

	hint.count = length;
	hint.specific = data;
	hint.shift_flags = SF_DEFAULT;
	hint.plug = plugin;
	if (shift) {
		hint.place_func = set_shift;
		hint.data = shift;
	}
	hint.offset = object->position;
	reiser4_key_set_offset(&hint.offset, offset);
	done = reiser4_flow_write(w->fs->tree, &hint);
	if (done < 0)
		return (int)done;
	return (uint64_t)done == length ? 0 : -ENOSPC;
}

static int put_range(struct lib_reiser4 *w, reiser4_object_t *object,
		     reiser4_item_plug_t *plugin,
		     const struct lib_reiser4_file *file, uint64_t at,
		     uint64_t end)
{
	int ret = 0;

	while (!ret && at < end) {
		size_t n = end - at < LIB_REISER4_BUF ? (size_t)(end - at) :
			LIB_REISER4_BUF;

		ret = content(file, at, w->buf, n);
		if (!ret)
			ret = put(w, object, plugin, w->buf, at, n, NULL);
		at += n;
	}
	return ret;
}

/* Units of extents on their way into the tree. */
struct units {
	uint64_t offset;	/* of the first, bytes in the file */
	uint64_t blocks;	/* of all of them */
	size_t count;
	ptr_hint_t unit[UNITS];
};

static int flush_units(struct lib_reiser4 *w, reiser4_object_t *object,
		       struct units *u)
{
	reiser4_tree_t *tree = w->fs->tree;
	trans_hint_t hint = { 0 };
	lookup_hint_t lookup = { 0 };
	reiser4_place_t place;

	if (!u->count)
		return 0;
	hint.plug = reiser4_psextent(object);
	hint.specific = u->unit;
	hint.count = u->count;
	hint.shift_flags = SF_DEFAULT;
	hint.offset = object->position;
	reiser4_key_set_offset(&hint.offset, u->offset);
	lookup.key = &hint.offset;
	lookup.level = LEAF_LEVEL;
	if (reiser4_tree_lookup(tree, &lookup, FIND_CONV, &place) < 0 ||
	    reiser4_tree_insert(tree, &place, &hint, (uint8_t)
		reiser4_tree_target_level(tree,
			(reiser4_plug_t *)hint.plug)) < 0)
		return -EIO;
	u->offset += u->blocks * w->block_size;
	u->blocks = 0;
	u->count = 0;
	return 0;
}

static int add_unit(struct lib_reiser4 *w, reiser4_object_t *object,
		    struct units *u, uint64_t start, uint64_t width)
{
	ptr_hint_t *last = u->count ? &u->unit[u->count - 1] : NULL;
	int ret = 0;

	if (last && (start == EXTENT_HOLE_UNIT ?
		     last->start == EXTENT_HOLE_UNIT :
		     last->start && last->start + last->width == start)) {
		last->width += width;
		u->blocks += width;
		return 0;
	}
	if (u->count == UNITS)
		ret = flush_units(w, object, u);
	u->unit[u->count++] = (ptr_hint_t){ start, width };
	u->blocks += width;
	return ret;
}

/*
 * Blocks with data. The library knows only to delay their allocation and
 * has lost the code that makes up for it, so they are taken and written here.
 */
static int put_blocks(struct lib_reiser4 *w, reiser4_object_t *object,
		      const struct lib_reiser4_file *file, struct units *u,
		      uint64_t at, uint64_t end)
{
	uint64_t bs = w->block_size;
	int ret = 0;

	while (!ret && at < end) {
		uint64_t want = (end - at + bs - 1) / bs, got;
		blk_t start = w->next_block;

		if (want > LIB_REISER4_BUF / bs)
			want = LIB_REISER4_BUF / bs;
		got = reiser4_alloc_allocate(w->fs->alloc, &start, want);
		if (!got && w->next_block) {
			/* From the start once more. */
			w->next_block = 0;
			continue;
		}
		if (!got || reiser4_format_dec_free(w->fs->format, got))
			return -ENOSPC;
		w->next_block = start + got;
		ret = content(file, at, w->buf, (size_t)(got * bs));
		if (ret)
			return ret;
		if (pwrite(w->fd, w->buf, (size_t)(got * bs),
			   (off_t)(start * bs)) != (ssize_t)(got * bs))
			return -EIO;
		ret = add_unit(w, object, u, start, got);
		at += got * bs;
	}
	return ret;
}

static int put_extents(struct lib_reiser4 *w, reiser4_object_t *object,
		       const struct lib_reiser4_file *file, uint64_t at)
{
	uint64_t bs = w->block_size, start, end;
	struct units u = { .offset = at };
	int ret = 0;

	while (!ret && at < file->size) {
		start = next_data(file, at);
		start = start < file->size ? start / bs * bs :
			(start + bs - 1) / bs * bs;
		if (start > at)
			ret = add_unit(w, object, &u, EXTENT_HOLE_UNIT,
				       (start - at) / bs);
		for (end = start; end < file->size && has_data(file, end, bs); )
			end += bs;
		if (!ret)
			ret = put_blocks(w, object, file, &u, start, end);
		at = end > at ? end : file->size;
	}
	return ret ? ret : flush_units(w, object, &u);
}

/*
 * The start of a cluster in an item of its own: the library would put it
 * behind the cluster before it when that is stored in full length. Returns
 * how much went in.
 */
static int64_t put_cluster_start(struct lib_reiser4 *w,
				 reiser4_object_t *object, void *data,
				 uint64_t offset, uint64_t length,
				 uint8_t *shift)
{
	reiser4_tree_t *tree = w->fs->tree;
	lookup_hint_t lookup = { 0 };
	trans_hint_t hint = { 0 };
	reiser4_place_t place;

	hint.count = length;
	hint.specific = data;
	hint.shift_flags = SF_DEFAULT;
	hint.plug = reiser4_psctail(object);
	hint.place_func = set_shift;
	hint.data = shift;
	hint.blocks = tree->blocks;
	hint.offset = object->position;
	reiser4_key_set_offset(&hint.offset, offset);
	lookup.key = &hint.offset;
	lookup.level = LEAF_LEVEL;
	if (reiser4_tree_lookup(tree, &lookup, FIND_CONV, &place) < 0)
		return -EIO;
	if (place.pos.unit != MAX_UINT32 &&
	    place.pos.item < reiser4_node_items(place.node) &&
	    !reiser4_place_fetch(&place) &&
	    place.plug->p.id.group == CTAIL_ITEM &&
	    !reiser4_key_compshort(&place.key, &hint.offset)) {
		place.pos.item++;
		place.pos.unit = MAX_UINT32;
	}
	return reiser4_tree_write(tree, &place, &hint, LEAF_LEVEL);
}

static int put_clusters(struct lib_reiser4 *w, reiser4_object_t *object,
			const struct lib_reiser4_file *file)
{
	uint64_t size = reiser4_pscluster(object)->clsize;
	uint8_t shift = (uint8_t)__builtin_ctz((unsigned)size);
	unsigned char *stored;
	uint64_t at = 0;
	int64_t done;
	int ret = 0;

	if (size > LIB_REISER4_BUF)
		return -EINVAL;
	while (!ret && (at = next_data(file, at)) < file->size) {
		size_t n, packed = 0;

		at = at / size * size;
		n = file->size - at < size ? (size_t)(file->size - at) :
			(size_t)size;
		ret = content(file, at, w->buf, n);
		if (ret)
			return ret;
		if (reiser4_pscmode(object)->id.id != CMODE_NONE_ID)
			packed = lib_reiser4_pack(
				reiser4_pscompress(object)->id.id, w->buf, n,
				w->packed, LIB_REISER4_BUF);
		stored = packed ? w->packed : w->buf;
		n = packed ? packed : n;
		done = put_cluster_start(w, object, stored, at, n, &shift);
		if (done <= 0)
			ret = done < 0 ? (int)done : -ENOSPC;
		else if ((size_t)done < n)
			ret = put(w, object, reiser4_psctail(object),
				  stored + done, at + (uint64_t)done,
				  n - (size_t)done, &shift);
		at += size;
	}
	return ret;
}

/* As the checker adds them up: bytes of tails, blocks of extents. */
static errno_t add_bytes(reiser4_place_t *place, void *sum)
{
	if (place->plug->object->bytes)
		*(uint64_t *)sum += place->plug->object->bytes(place);
	return 0;
}

static int finish(struct lib_reiser4 *w, reiser4_object_t *object,
		  const struct lib_reiser4_file *file)
{
	struct lib_reiser4_attr attr = { .set_size = true,
					 .size = file->size };

	if (reiser4_object_metadata(object, add_bytes, &attr.bytes))
		return -EIO;
	return lib_reiser4_set_attr(w, object, &attr);
}

static int check_size(const reiser4_object_t *object,
		      const struct lib_reiser4_file *file)
{
	if (file->size > (is_compressed(object) ? MAX_PACKED_SIZE : MAX_SIZE))
		return -EFBIG;
	if (plugin_for(object, file->size) == reiser4_pstail(object) &&
	    file->size - data_bytes(file) > TAIL_ZEROS &&
	    file->size > data_bytes(file))
		return -EFBIG;
	return 0;
}

int lib_reiser4_fill(struct lib_reiser4 *w, reiser4_object_t *object,
		     const struct lib_reiser4_file *file)
{
	reiser4_item_plug_t *plugin = plugin_for(object, file->size);
	int ret = check_size(object, file);

	if (ret)
		return ret;
	if (is_compressed(object))
		ret = put_clusters(w, object, file);
	else if (plugin == reiser4_psextent(object))
		ret = put_extents(w, object, file, 0);
	else
		ret = put_range(w, object, plugin, file, 0, file->size);
	return ret ? ret : finish(w, object, file);
}

/* The blocks of an extent item become free. */
static int release_blocks(struct lib_reiser4 *w, const reiser4_place_t *place)
{
	const unsigned char *unit = place->body;

	for (uint32_t at = 0; at + 16 <= place->len; at += 16) {
		uint64_t start = 0, width = 0;

		for (int i = 7; i >= 0; i--) {
			start = start << 8 | unit[at + (uint32_t)i];
			width = width << 8 | unit[at + 8 + (uint32_t)i];
		}
		if (start == EXTENT_HOLE_UNIT)
			continue;
		if (reiser4_alloc_release(w->fs->alloc, start, width) ||
		    reiser4_format_inc_free(w->fs->format, width))
			return -EIO;
	}
	return 0;
}

/*
 * Takes away all items of data, the last one first. Not by the library's own
 * cut, which finds no end when it meets extents.
 */
int lib_reiser4_empty(struct lib_reiser4 *w, reiser4_object_t *object)
{
	reiser4_tree_t *tree = w->fs->tree;
	reiser4_key_t key = object->position;

	reiser4_key_set_offset(&key, MAX_UINT64);
	for (;;) {
		lookup_hint_t lookup = { .key = &key, .level = LEAF_LEVEL };
		trans_hint_t hint = { 0 };
		reiser4_place_t place;

		if (reiser4_tree_lookup(tree, &lookup, FIND_EXACT, &place) < 0)
			return -EIO;
		if (!place.node || place.pos.item >=
		    reiser4_node_items(place.node))
			return 0;
		if (reiser4_place_fetch(&place))
			return -EIO;
		if (reiser4_key_compshort(&place.key, &key) ||
		    place.plug->p.id.group == STAT_ITEM)
			return 0;
		if (place.plug->p.id.group == EXTENT_ITEM &&
		    release_blocks(w, &place))
			return -EIO;
		hint.count = 1;
		hint.shift_flags = SF_DEFAULT;
		place.pos.unit = MAX_UINT32;
		if (reiser4_tree_remove(tree, &place, &hint))
			return -EIO;
	}
}

static int fill_again(struct lib_reiser4 *w, reiser4_object_t *object,
		      const struct lib_reiser4_file *file)
{
	int ret = lib_reiser4_empty(w, object);

	return ret ? ret : lib_reiser4_fill(w, object, file);
}

int lib_reiser4_write(struct lib_reiser4 *w, reiser4_object_t *object,
		      struct lib_reiser4_file *file, const struct pop_op *op)
{
	uint64_t old = file->size, bs = w->block_size, first = UINT64_MAX;
	reiser4_item_plug_t *plugin;
	int ret = add_pieces(file, op);

	if (ret)
		return ret;
	for (size_t i = 0; i < op->data_count; i++)
		if (op->data[i].offset < first)
			first = op->data[i].offset;
	plugin = plugin_for(object, file->size);
	/* What only grows by whole blocks keeps the blocks that it has. */
	if (old && old % bs == 0 && first >= old &&
	    plugin == reiser4_psextent(object) &&
	    plugin == plugin_for(object, old)) {
		ret = put_extents(w, object, file, old);
		return ret ? ret : finish(w, object, file);
	}
	return fill_again(w, object, file);
}

int lib_reiser4_truncate(struct lib_reiser4 *w, reiser4_object_t *object,
			 struct lib_reiser4_file *file, uint64_t size)
{
	size_t kept = 0;

	for (size_t i = 0; i < file->count; i++) {
		struct lib_reiser4_piece p = file->pieces[i];

		if (p.offset >= size)
			continue;
		if (p.length > size - p.offset)
			p.length = size - p.offset;
		file->pieces[kept++] = p;
	}
	file->count = kept;
	file->size = size;
	return fill_again(w, object, file);
}
