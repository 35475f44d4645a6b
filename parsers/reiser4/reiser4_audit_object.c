/* SPDX-License-Identifier: GPL-2.0-only */
/* Objects: stat data and bodies put together, locality by locality. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "reiser4_audit.h"

enum fsa_status r4_audit_stat(struct r4_audit_state *s, const struct r4_node *n, const struct r4_item *item, struct r4_stat *stat)
{
	struct r4 *r = s->r;
	uint64_t at = r4_at(r, n->block) + item->offset;
	struct r4_object *o;

	if (!r4_stat_decode(r, n, item, stat))
		s->damaged++;
	if (r4_key_type(&item->key) != R4_KEY_STAT || item->key.offset)
		R4_FIND(r, "object", item->key.objectid, at, "stat data with a key of type %u and offset %llu, not 1 and 0", r4_key_type(&item->key),
			(ull)item->key.offset);
	if (stat->light && stat->type == FSA_TYPE_UNKNOWN)
		R4_FIND(r, "object", item->key.objectid, at, "mode 0%o is of no type", stat->mode);
	if (!stat->light)
		R4_FIND(r, "object", item->key.objectid, at, "stat data without mode, links and size");
	if (stat->type == FSA_TYPE_SYMLINK && stat->symlink && stat->size != stat->target_length)
		R4_FIND(r, "object", item->key.objectid, at, "size %llu, the target has %u bytes", (ull)stat->size, stat->target_length);
	if (s->n_objects && !r4_key_compare(&s->objects[s->n_objects - 1].key, &item->key))
		R4_FIND(r, "object", item->key.objectid, at, "second stat data with the same key");
	r4_audit_dir_stat(s, &item->key, stat);
	s->link_sum -= r4_link_hash(r4_ref_of(&item->key)) * r4_link_names(&item->key, stat);
	if (s->n_objects == s->room) {
		size_t room = s->room ? s->room * 2 : 64;

		o = realloc(s->objects, room * sizeof(*o));
		if (!o)
			return FSA_ENOMEM;
		s->objects = o;
		s->room = room;
	}
	o = &s->objects[s->n_objects++];
	*o = (struct r4_object){ .key = item->key, .stat = *stat, .stat_offset = at };
	return FSA_OK;
}

static int compare_objects(const struct r4_key *a, const struct r4_key *b)
{
	if (a->ordering != b->ordering)
		return a->ordering < b->ordering ? -1 : 1;
	return (a->objectid > b->objectid) - (a->objectid < b->objectid);
}

/* Adds stored bytes to the sum. What comes last is the checksum, and which bytes that are is known only at the end. */
static void sum_cluster(struct r4_object *o, const uint8_t *bytes, unsigned length)
{
	unsigned held = o->cluster_held, whole = held + length, out = whole - (unsigned)fsa_min(whole, R4_CLUSTER_CHECKSUM);
	unsigned from_held = (unsigned)fsa_min(out, held), from_bytes = out - from_held;

	o->cluster_sum = (uint32_t)adler32(o->cluster_sum, o->cluster_last, from_held);
	memmove(o->cluster_last, o->cluster_last + from_held, held - from_held);
	o->cluster_sum = (uint32_t)adler32(o->cluster_sum, bytes, from_bytes);
	memcpy(o->cluster_last + held - from_held, bytes + from_bytes, length - from_bytes);
	o->cluster_held = whole - out;
}

static void check_cluster(struct r4_audit_state *s, const struct r4_object *o)
{
	const struct r4_cluster *c = &o->cluster;
	uint32_t want = fsa_get_le32(o->cluster_last);

	if (c->stored <= R4_CLUSTER_CHECKSUM)
		R4_FIND(s->r, "object", o->key.objectid, c->first_offset, "cluster at %llu: %u bytes stored, the checksum alone takes %u",
			(ull)(c->index << c->shift), c->stored, (unsigned)R4_CLUSTER_CHECKSUM);
	else if (want != o->cluster_sum)
		R4_FIND(s->r, "object", o->key.objectid, c->first_offset, "cluster at %llu: checksum 0x%08x, computed 0x%08x",
			(ull)(c->index << c->shift), want, o->cluster_sum);
}

/* Ends the cluster that an object was in. */
static void end_cluster(struct r4_audit_state *s, struct r4_object *o)
{
	struct r4_cluster *c = &o->cluster;
	uint32_t plain = r4_cluster_plain(c, o->stat.size);

	if (!c->stored)
		return;
	if (!c->bad && (!plain || c->stored > plain))
		R4_FIND(s->r, "object", o->key.objectid, c->first_offset, "cluster at %llu: %u bytes stored, the file has %u there",
			(ull)(c->index << c->shift), c->stored, plain);
	else if (!c->bad && c->stored < plain)
		check_cluster(s, o);
	o->packed_bytes += plain;
	o->squeezed_bytes += plain - fsa_min(plain, c->stored);
	c->stored = 0;
}

struct r4_object *r4_audit_owner(struct r4_audit_state *s, const struct r4_node *n, const struct r4_item *item)
{
	struct r4_object *o;

	/* Bodies come in the same order as stat data. */
	while (s->current < s->n_objects && compare_objects(&s->objects[s->current].key, &item->key) < 0)
		end_cluster(s, &s->objects[s->current++]);
	o = s->current < s->n_objects ? &s->objects[s->current] : NULL;
	if (!o || compare_objects(&o->key, &item->key)) {
		/* Where parts of the tree are missing, that is no news. */
		if (!s->damaged)
			R4_FIND(s->r, "object", item->key.objectid, r4_at(s->r, n->block) + item->offset, "data at byte %llu and no stat data for it",
				(ull)item->key.offset);
		return NULL;
	}
	if (o->stat.type != FSA_TYPE_REGULAR)
		R4_FIND(s->r, "object", item->key.objectid, r4_at(s->r, n->block) + item->offset, "data of an object with mode 0%o, which is no regular file",
			o->stat.mode);
	o->body = true;
	return o;
}

/* What an item holds must start where the one before it ended, unless the format leaves gaps for holes. */
static void check_place(struct r4_audit_state *s, const struct r4_node *n, const struct r4_item *item, struct r4_object *o, uint64_t bytes)
{
	if (item->key.offset != o->end && !s->damaged)
		R4_FIND(s->r, "object", o->key.objectid, r4_at(s->r, n->block) + item->offset, "item for byte %llu on, what came before ends at %llu",
			(ull)item->key.offset, (ull)o->end);
	if (!fsa_add(item->key.offset, bytes, &o->end))
		o->end = UINT64_MAX;
}

void r4_audit_tail(struct r4_audit_state *s, const struct r4_node *n, const struct r4_item *item, struct r4_object *o)
{
	uint64_t size = o->stat.size, at = item->key.offset;

	o->cost_bytes += s->r->item_header_bytes;
	if (item->plugin == R4_ITEM_TAIL) {
		end_cluster(s, o);
		check_place(s, n, item, o, item->length);
		o->stored_bytes += item->length;
		if (at < size)
			o->packed_bytes += fsa_min(item->length, size - at);
		return;
	}
	if (r4_cluster_other(&o->cluster, item))
		end_cluster(s, o);
	if (!o->cluster.stored) {
		o->cluster_sum = 1;
		o->cluster_held = 0;
	}
	r4_cluster_add(s->r, &o->cluster, n, item);
	if (item->length > R4_CTAIL_HEADER)
		sum_cluster(o, item->body + R4_CTAIL_HEADER, item->length - R4_CTAIL_HEADER);
	o->cost_bytes += R4_CTAIL_HEADER;
	o->stored_bytes += item->length - fsa_min(item->length, R4_CTAIL_HEADER);
}

/* Blocks at `start` hold the file from byte `at` on. */
static void take_blocks(struct r4_audit_state *s, struct r4_object *o, uint64_t at, uint64_t start, uint64_t width, const struct fsa_owner *owner)
{
	struct r4 *r = s->r;
	uint64_t bs = r->block_size, bytes = width * bs, size = o ? o->stat.size : UINT64_MAX;
	bool gone = o && o->stat.light && !o->stat.links;
	uint64_t data = at < size ? fsa_min(size - at, bytes) : 0;
	uint64_t used = fsa_div_up(data, bs);

	s->counts.data_blocks += width;
	if (o) {
		o->data_bytes += data;
		o->slack_bytes += used * bs - data;
		o->preallocated_bytes += (width - used) * bs;
		o->stored_bytes += bytes;
		if (o->next_logical != at || o->next_physical != start || !o->extents)
			o->extents++;
		o->next_logical = at + bytes;
		o->next_physical = start + width;
	}
	if (used)
		fsa_claim_with_rest(s->claims, 0, start, used, data, gone ? R4_D_DELETED_OPEN : R4_D_FILE_DATA, R4_D_SLACK, FSA_CLAIM_CHARGED, owner);
	if (width > used)
		fsa_claim(s->claims, 0, start + used, width - used, R4_D_BEYOND_EOF, FSA_CLAIM_CHARGED, owner);
}

enum fsa_status r4_audit_extents(struct r4_audit_state *s, const struct r4_node *n, const struct r4_item *item)
{
	struct r4 *r = s->r;
	struct r4_object *o = r4_audit_owner(s, n, item);
	struct r4_key sd = item->key;
	struct fsa_owner owner = { .object = "object", .number = sd.objectid, .has_ref = true };
	uint64_t logical = item->key.offset, bytes;
	ull at = r4_at(r, n->block) + item->offset;

	sd.locality = (sd.locality & ~UINT64_C(15)) | R4_KEY_STAT;
	owner.ref = r4_ref_of(&sd);
	if (o)
		end_cluster(s, o);
	if (item->length % sizeof(struct r4_extent) || !item->length)
		R4_FIND(r, "object", sd.objectid, at, "extent item of %u bytes, units have %zu", item->length, sizeof(struct r4_extent));
	for (unsigned k = 0; k + sizeof(struct r4_extent) <= item->length; k += sizeof(struct r4_extent)) {
		uint64_t start = FSA_LE(uint64_t, item->body + k, struct r4_extent, start);
		uint64_t width = FSA_LE(uint64_t, item->body + k, struct r4_extent, width), here = logical;

		if (!width || !fsa_mul(width, r->block_size, &bytes) || !fsa_add(logical, bytes, &logical)) {
			R4_FIND(r, "object", sd.objectid, at + k, "extent of %llu blocks at byte %llu of the file", (ull)width, (ull)here);
			break;
		}
		if (start == R4_EXTENT_HOLE)
			continue;
		if (start == R4_EXTENT_UNALLOCATED || !r4_block_ok(r, start, width)) {
			R4_FIND(r, "object", sd.objectid, at + k, "extent of %llu blocks at block %llu%s", (ull)width, (ull)start,
				start == R4_EXTENT_UNALLOCATED ? ", which means that it never got blocks" : ", outside of the filesystem");
			continue;
		}
		take_blocks(s, o, here, start, width, &owner);
	}
	if (o)
		check_place(s, n, item, o, logical - item->key.offset);
	return FSA_OK;
}

/* Size and byte count against what the items hold, as the format's own checker does it. */
static void check_size(const struct r4_audit_state *s, const struct r4_object *o)
{
	uint64_t size = o->stat.size;

	if (o->stat.type != FSA_TYPE_REGULAR || o->stat.compressed || s->damaged)
		return;
	/* The last block of extents need not be full. */
	if (o->end != size && (!o->data_bytes || o->end < size || o->end - size >= s->r->block_size) &&
	    !(o->end > size && o->end - size < s->r->block_size && !o->packed_bytes))
		R4_FIND(s->r, "object", o->key.objectid, o->stat_offset, "size %llu, its items hold %llu bytes", (ull)size, (ull)o->end);
	if (o->stat.unix_fields && o->stat.bytes != o->stored_bytes)
		R4_FIND(s->r, "object", o->key.objectid, o->stat_offset, "byte count %llu, its items hold %llu", (ull)o->stat.bytes, (ull)o->stored_bytes);
}

static enum fsa_status report(struct r4_audit_state *s, struct r4_object *o)
{
	uint64_t bs = s->r->block_size;
	struct fsa_object out = {
		.ref = r4_ref_of(&o->key), .number = o->key.objectid, .type = o->stat.type,
		.flags = (o->stat.compressed ? FSA_OBJECT_COMPRESSED : 0u) | (o->stat.light && !o->stat.links ? FSA_OBJECT_UNREFERENCED : 0u),
		.size_bytes = o->stat.size, .links = o->stat.links, .st_blocks = r4_stat_sectors(&o->stat),
		.data_bytes = o->data_bytes, .packed_bytes = o->packed_bytes, .slack_bytes = o->slack_bytes,
		.preallocated_bytes = o->preallocated_bytes, .packed_cost_bytes = o->cost_bytes,
		.packed_uncharged_bytes = o->squeezed_bytes,
		.unpacked_bytes = fsa_div_up(o->packed_bytes, bs) * bs, .extents = o->extents,
	};

	check_size(s, o);
	return s->audit->object ? s->audit->object(s->audit->object_arg, &out) : FSA_OK;
}

enum fsa_status r4_audit_locality(struct r4_audit_state *s, uint64_t locality)
{
	enum fsa_status st = FSA_OK;

	if (locality == s->locality)
		return FSA_OK;
	for (size_t i = 0; i < s->n_objects && st == FSA_OK; i++) {
		end_cluster(s, &s->objects[i]);
		st = report(s, &s->objects[i]);
	}
	s->n_objects = 0;
	s->current = 0;
	s->locality = locality;
	return st;
}
