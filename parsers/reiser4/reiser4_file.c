/* SPDX-License-Identifier: GPL-2.0-only */
/* Bodies of regular files: extents, plain tails, compressed tails, in any mixture that keys allow. */
#include <string.h>

#include "reiser4.h"

struct pieces {
	struct r4 *r;
	struct r4_stat stat;
	uint64_t object;
	unsigned plugin;		/* compression */
	fsa_extent_fn extent;
	void *arg;
	/* A cluster may be stored as it is: then its items are plain pieces, known only at its end. */
	struct r4_cluster cluster;
	struct fsa_extent stored[64];
	unsigned n_stored;
	bool overflow;			/* in more pieces than `stored` holds: never seen, each node holds one */
};

static enum fsa_status end_cluster(struct pieces *p)
{
	struct r4_cluster *c = &p->cluster;
	uint32_t plain = r4_cluster_plain(c, p->stat.size);
	uint64_t start = c->index << c->shift;
	enum fsa_status st = FSA_OK;

	if (c->stored && plain) {
		struct fsa_extent e = { .kind = FSA_EXTENT_ENCODED, .logical = start, .length = plain, .physical = c->first_offset };

		e.encoded_length = c->stored;
		e.decoded_length = plain;
		e.encoding = r4_compress_name(p->plugin);
		e.cookie[0] = p->plugin;
		e.cookie[1] = p->object;
		if (c->stored == plain && p->overflow)
			R4_FIND(p->r, "object", p->object, c->first_offset, "cluster at %llu lies in more than %u items", (ull)start, p->n_stored);
		if (c->bad || c->stored > plain || (c->stored == plain && p->overflow)) {
			if (c->stored > plain)
				R4_FIND(p->r, "object", p->object, c->first_offset, "cluster at %llu: %u bytes stored, the file has %u there", (ull)start,
					c->stored, plain);
			e.kind = FSA_EXTENT_UNREADABLE;
			e.physical = FSA_NO_OFFSET;
			st = p->extent(p->arg, &e);
		} else if (c->stored == plain && p->n_stored) {
			for (unsigned i = 0; i < p->n_stored && st == FSA_OK; i++)
				st = p->extent(p->arg, &p->stored[i]);
		} else {
			st = p->extent(p->arg, &e);
		}
	}
	c->stored = 0;
	p->n_stored = 0;
	p->overflow = false;
	return st;
}

static enum fsa_status add_ctail(struct pieces *p, const struct r4_node *n, const struct r4_item *item)
{
	enum fsa_status st = FSA_OK;

	if (r4_cluster_other(&p->cluster, item))
		st = end_cluster(p);
	if (st != FSA_OK)
		return st;
	r4_cluster_add(p->r, &p->cluster, n, item);
	if (p->n_stored == sizeof(p->stored) / sizeof(p->stored[0]))
		p->overflow = true;
	else if (item->length > R4_CTAIL_HEADER)
		p->stored[p->n_stored++] = (struct fsa_extent){
			.kind = FSA_EXTENT_PACKED, .logical = item->key.offset, .length = item->length - R4_CTAIL_HEADER,
			.physical = r4_at(p->r, n->block) + item->offset + R4_CTAIL_HEADER,
		};
	return FSA_OK;
}

static enum fsa_status add_extents(struct pieces *p, const struct r4_node *n, const struct r4_item *item)
{
	struct r4 *r = p->r;
	uint64_t logical = item->key.offset;
	enum fsa_status st = FSA_OK;

	for (unsigned at = 0; at + sizeof(struct r4_extent) <= item->length && st == FSA_OK; at += sizeof(struct r4_extent)) {
		uint64_t start = FSA_LE(uint64_t, item->body + at, struct r4_extent, start);
		uint64_t width = FSA_LE(uint64_t, item->body + at, struct r4_extent, width), bytes;
		struct fsa_extent e = { .kind = FSA_EXTENT_DATA, .logical = logical };

		if (!width || !fsa_mul(width, r->block_size, &bytes) || !fsa_add(logical, bytes, &logical)) {
			R4_FIND(r, "object", p->object, r4_at(r, n->block) + item->offset + at, "extent of %llu blocks at byte %llu of the file", (ull)width,
				(ull)e.logical);
			break;
		}
		e.length = bytes;
		e.physical = FSA_NO_OFFSET;
		if (start == R4_EXTENT_HOLE) {
			e.kind = FSA_EXTENT_HOLE;
		} else if (start == R4_EXTENT_UNALLOCATED || !r4_block_ok(r, start, width)) {
			R4_FIND(r, "object", p->object, r4_at(r, n->block) + item->offset + at, "extent of %llu blocks at block %llu%s", (ull)width, (ull)start,
				start == R4_EXTENT_UNALLOCATED ? ", which means that it never got blocks" : ", outside of the filesystem");
			e.kind = FSA_EXTENT_UNREADABLE;
		} else {
			e.physical = r4_at(r, start);
		}
		st = p->extent(p->arg, &e);
	}
	return st;
}

static enum fsa_status add_item(struct pieces *p, const struct r4_node *n, const struct r4_item *item)
{
	struct fsa_extent e = { .kind = FSA_EXTENT_PACKED, .logical = item->key.offset, .length = item->length };
	enum fsa_status st;

	if (item->plugin == R4_ITEM_CTAIL)
		return add_ctail(p, n, item);
	st = end_cluster(p);
	if (st != FSA_OK || !item->length)
		return st;
	if (item->plugin == R4_ITEM_EXTENTS)
		return add_extents(p, n, item);
	if (item->plugin != R4_ITEM_TAIL)
		return FSA_OK;
	e.physical = r4_at(p->r, n->block) + item->offset;
	return p->extent(p->arg, &e);
}

enum fsa_status r4_extents(struct fsa_fs *fs, struct fsa_ref ref, fsa_extent_fn extent, void *arg)
{
	struct r4 *r = r4_of(fs);
	struct pieces p = { .r = r, .object = ref.word[2], .extent = extent, .arg = arg };
	struct r4_node n;
	struct r4_item item;
	struct r4_cursor c;
	struct r4_key key;
	enum fsa_status st = r4_stat_find(r, ref, &n, &item);

	if (st != FSA_OK)
		return st == FSA_ENOENT ? FSA_EDAMAGED : st;
	r4_stat_decode(r, &n, &item, &p.stat);
	p.plugin = r4_stat_plugin(r, &p.stat, R4_PSET_COMPRESS);
	r4_key_of_ref(ref, &key);
	key.locality = (key.locality & ~UINT64_C(15)) | R4_KEY_BODY;
	st = r4_cursor_open(&c, r, &key);
	while (st == FSA_OK && (st = r4_cursor_next(&c, &item)) == FSA_OK) {
		if (r4_key_compare(&item.key, &key) < 0)
			continue;
		if (item.key.locality != key.locality || !r4_key_same_object(&item.key, &key))
			break;
		st = add_item(&p, &c.node, &item);
	}
	if (st == FSA_OK || st == FSA_ENOENT) {
		st = end_cluster(&p);
		if (st == FSA_OK && c.damaged)
			st = FSA_EDAMAGED;
	}
	r4_cursor_close(&c);
	return st;
}
