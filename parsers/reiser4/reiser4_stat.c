/* SPDX-License-Identifier: GPL-2.0-only */
/* Stat data: a mask of extensions, then the extensions in the order of their numbers. */
#include <stdlib.h>
#include <string.h>

#include "reiser4.h"

/* What is still to read of an item. */
struct rest {
	struct r4 *r;
	const struct r4_node *n;
	const struct r4_item *item;
	unsigned at;
};

static const uint8_t *take(struct rest *rest, unsigned bytes)
{
	const uint8_t *p = rest->item->body + rest->at;

	if (bytes > rest->item->length - rest->at)
		return NULL;
	rest->at += bytes;
	return p;
}

static bool take_plugins(struct rest *rest, struct r4_stat *s, bool own)
{
	const uint8_t *p = take(rest, 2);
	unsigned count = p ? fsa_get_le16(p) : 0;

	if (!p)
		return false;
	for (unsigned i = 0; i < count; i++) {
		unsigned member;

		p = take(rest, sizeof(struct r4_sd_slot));
		if (!p)
			return false;
		member = FSA_LE(uint16_t, p, struct r4_sd_slot, member);
		if (!own || member >= R4_PSET_STORED)
			continue;
		s->plugins |= (uint16_t)(1u << member);
		s->plugin[member] = FSA_LE(uint16_t, p, struct r4_sd_slot, plugin);
	}
	return true;
}

static bool take_extension(struct rest *rest, unsigned id, struct r4_stat *s)
{
	const uint8_t *p;
	const void *nul;

	switch (id) {
	case R4_SD_LIGHT:
		p = take(rest, sizeof(struct r4_sd_light));
		if (!p)
			return false;
		s->light = true;
		s->mode = FSA_LE(uint16_t, p, struct r4_sd_light, mode);
		s->links = FSA_LE(uint32_t, p, struct r4_sd_light, links);
		s->size = FSA_LE(uint64_t, p, struct r4_sd_light, size);
		s->type = fsa_type_of_mode(s->mode);
		return true;
	case R4_SD_UNIX:
		p = take(rest, sizeof(struct r4_sd_unix));
		if (!p)
			return false;
		s->unix_fields = true;
		s->uid = FSA_LE(uint32_t, p, struct r4_sd_unix, uid);
		s->gid = FSA_LE(uint32_t, p, struct r4_sd_unix, gid);
		s->atime = FSA_LE(uint32_t, p, struct r4_sd_unix, atime);
		s->mtime = FSA_LE(uint32_t, p, struct r4_sd_unix, mtime);
		s->ctime = FSA_LE(uint32_t, p, struct r4_sd_unix, ctime);
		s->bytes = FSA_LE(uint64_t, p, struct r4_sd_unix, bytes);
		return true;
	case R4_SD_TIMES:
		p = take(rest, sizeof(struct r4_sd_times));
		if (!p)
			return false;
		s->times = true;
		for (unsigned i = 0; i < 3; i++)
			s->nsec[i] = fsa_get_le32(p + 4 * i);
		return true;
	case R4_SD_SYMLINK:
		/* As long as it is, and a NUL. */
		p = rest->item->body + rest->at;
		nul = memchr(p, 0, rest->item->length - rest->at);
		if (!nul)
			return false;
		s->symlink = true;
		s->target = rest->at;
		s->target_length = (unsigned)((const uint8_t *)nul - p);
		rest->at += s->target_length + 1;
		return true;
	case R4_SD_PLUGINS:
	case R4_SD_HEIR:
		return take_plugins(rest, s, id == R4_SD_PLUGINS);
	case R4_SD_FLAGS:
		p = take(rest, 4);
		if (!p)
			return false;
		s->has_flags = true;
		s->flags = fsa_get_le32(p);
		return true;
	case R4_SD_CAPS:
		return take(rest, 8) != NULL;
	case R4_SD_CRYPTO:
		/* The size of the secret key, then a fingerprint of 4 bytes, which is what the only digest has. */
		return take(rest, 2 + 4) != NULL;
	default:
		return false;
	}
}

bool r4_stat_decode(struct r4 *r, const struct r4_node *n, const struct r4_item *item, struct r4_stat *s)
{
	struct rest rest = { .r = r, .n = n, .item = item };
	const uint8_t *p = take(&rest, 2);
	ull at = r4_at(r, n->block) + item->offset;

	memset(s, 0, sizeof(*s));
	if (!p) {
		R4_FIND(r, "object", item->key.objectid, at, "stat data of %u bytes, the mask of extensions alone takes 2", item->length);
		return false;
	}
	s->mask = fsa_get_le16(p);
	if (s->mask >> R4_SD_KNOWN)
		R4_FIND(r, "object", item->key.objectid, at, "stat data with extensions 0x%x, 0x%x are known", s->mask, (1u << R4_SD_KNOWN) - 1);
	for (unsigned id = 0; id < R4_SD_KNOWN; id++) {
		if (!(s->mask >> id & 1))
			continue;
		if (!take_extension(&rest, id, s)) {
			R4_FIND(r, "object", item->key.objectid, at, "stat data of %u bytes ends within extension %u, which starts at %u", item->length, id,
				rest.at);
			return false;
		}
	}
	if (!(s->mask >> R4_SD_KNOWN) && rest.at != item->length)
		R4_FIND(r, "object", item->key.objectid, at, "stat data of %u bytes, its extensions take %u", item->length, rest.at);
	s->compressed = s->type == FSA_TYPE_REGULAR && (s->plugins >> R4_PSET_OBJECT & 1) && s->plugin[R4_PSET_OBJECT] == R4_OBJECT_CRYPTCOMPRESS;
	return true;
}

unsigned r4_stat_plugin(const struct r4 *r, const struct r4_stat *s, enum r4_pset_member member)
{
	return s->plugins >> member & 1 ? s->plugin[member] : r->pset[member];
}

/* As the kernel module sets i_blocks: full sectors of the byte count; a light-weight object's is its size. */
uint64_t r4_stat_sectors(const struct r4_stat *s)
{
	if (s->type == FSA_TYPE_CHARDEV || s->type == FSA_TYPE_BLOCKDEV)
		return 0;
	return (s->unix_fields ? s->bytes : s->size) >> 9;
}

struct fsa_ref r4_ref_of(const struct r4_key *k)
{
	return (struct fsa_ref){ .word = { k->locality, k->ordering, k->objectid } };
}

void r4_key_of_ref(struct fsa_ref ref, struct r4_key *k)
{
	*k = (struct r4_key){ ref.word[0], ref.word[1], ref.word[2], 0 };
}

enum fsa_status r4_root(struct fsa_fs *fs, struct fsa_ref *ref)
{
	(void)fs;
	*ref = (struct fsa_ref){ .word = { R4_ROOT_LOCALITY << 4 | R4_KEY_STAT, 0, R4_ROOT_OID } };
	return FSA_OK;
}

/* The way down to one key; only this node is looked at. */
enum fsa_status r4_stat_find(struct r4 *r, struct fsa_ref ref, struct r4_node *n, struct r4_item *item)
{
	uint64_t block = r->root;
	struct r4_key key;
	enum fsa_status st;

	r4_key_of_ref(ref, &key);
	if (!r->height)
		return FSA_EDAMAGED;
	for (unsigned level = r->height; ; level--) {
		unsigned low = 0, high;

		st = r4_node_read(r, block, level, n);
		if (st != FSA_OK)
			return st;
		/* The last item whose key is not above. */
		for (high = n->items; low < high; ) {
			unsigned middle = low + (high - low) / 2;

			r4_node_item(r, n, middle, item);
			if (r4_key_compare(&item->key, &key) <= 0)
				low = middle + 1;
			else
				high = middle;
		}
		if (!low)
			return FSA_ENOENT;
		r4_node_item(r, n, low - 1, item);
		if (level == R4_LEAF || item->plugin != R4_ITEM_POINTER)
			break;
		block = item->length >= 8 ? fsa_get_le64(item->body) : 0;
		if (!r4_block_ok(r, block, 1))
			return FSA_EDAMAGED;
	}
	return item->plugin == R4_ITEM_STAT && !r4_key_compare(&item->key, &key) ? FSA_OK : FSA_ENOENT;
}

static void set_time(struct fsa_time *t, const struct r4_stat *s, uint32_t sec, uint32_t nsec)
{
	*t = (struct fsa_time){ .sec = sec, .nsec = s->times && nsec < 1000000000 ? nsec : 0, .set = s->unix_fields };
}

enum fsa_status r4_stat_op(struct fsa_fs *fs, struct fsa_ref ref, struct fsa_stat *st)
{
	struct r4 *r = r4_of(fs);
	struct r4_node n;
	struct r4_item item;
	struct r4_stat s;
	enum fsa_status status = r4_stat_find(r, ref, &n, &item);

	memset(st, 0, sizeof(*st));
	if (status == FSA_ENOENT) {
		R4_FIND(r, "object", ref.word[2], FSA_NO_OFFSET, "no stat data with the key [%llx:1:%llx:%llx:0]", (ull)(ref.word[0] >> 4),
			(ull)ref.word[1], (ull)ref.word[2]);
		return FSA_EDAMAGED;
	}
	if (status != FSA_OK)
		return status;
	if (!r4_stat_decode(r, &n, &item, &s) && !s.light)
		return FSA_EDAMAGED;
	st->ref = ref;
	st->number = ref.word[2];
	st->type = s.type;
	st->flags = s.compressed ? FSA_OBJECT_COMPRESSED : 0;
	st->mode = s.mode;
	st->uid = s.uid;
	st->gid = s.gid;
	st->links = s.links;
	st->size = s.size;
	st->st_blocks = r4_stat_sectors(&s);
	if (s.type == FSA_TYPE_CHARDEV || s.type == FSA_TYPE_BLOCKDEV) {
		/* The kernel's own device number: 12 bits and 20 bits. */
		st->rdev_major = (uint32_t)(s.bytes >> 20 & 0xfff);
		st->rdev_minor = (uint32_t)(s.bytes & 0xfffff);
	}
	set_time(&st->atime, &s, s.atime, s.nsec[0]);
	set_time(&st->mtime, &s, s.mtime, s.nsec[1]);
	set_time(&st->ctime, &s, s.ctime, s.nsec[2]);
	st->offset = r4_at(r, n.block) + item.offset;
	return FSA_OK;
}

enum fsa_status r4_readlink(struct fsa_fs *fs, struct fsa_ref ref, char **target, size_t *length)
{
	struct r4 *r = r4_of(fs);
	struct r4_node n;
	struct r4_item item;
	struct r4_stat s;
	enum fsa_status st = r4_stat_find(r, ref, &n, &item);

	if (st != FSA_OK)
		return st == FSA_ENOENT ? FSA_EDAMAGED : st;
	if (!r4_stat_decode(r, &n, &item, &s) || !s.symlink) {
		R4_FIND(r, "object", ref.word[2], r4_at(r, n.block) + item.offset, "symbolic link without a target");
		return FSA_EDAMAGED;
	}
	*target = malloc((size_t)s.target_length + 1);
	if (!*target)
		return FSA_ENOMEM;
	memcpy(*target, item.body + s.target, s.target_length);
	(*target)[s.target_length] = '\0';
	*length = s.target_length;
	return FSA_OK;
}
