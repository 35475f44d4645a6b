/* SPDX-License-Identifier: GPL-2.0-only */
/* Master and format superblock: finding them, deciding whether what they say can be true, and telling it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reiser4.h"

uint32_t r4_adler32(const uint8_t *p, size_t length)
{
	/* 5552 additions fit before a modulo is due. */
	uint32_t a = 1, b = 0;

	while (length) {
		size_t n = length < 5552 ? length : 5552;

		length -= n;
		while (n--) {
			a += *p++;
			b += a;
		}
		a %= 65521;
		b %= 65521;
	}
	return b << 16 | a;
}

enum fsa_status r4_backups(struct r4 *r, enum fsa_status (*backup)(void *arg, uint64_t block), void *arg)
{
	uint64_t span = r4_bitmap_span(r), previous = 0, copy, region, count;
	enum fsa_status st = FSA_OK;

	/* In the spans that hold the powers of 3/2, behind the bitmap block of each; the first behind the status block. */
	for (uint64_t at = 3; at <= r->blocks && st == FSA_OK; at = at * 3 >> 1) {
		region = at / span * span;
		count = region < r->blocks ? fsa_min(span, r->blocks - region) : 0;
		/* A last span of one block is that bitmap block alone. */
		copy = fsa_max(count == 1 ? 0 : region + 1, r->first + R4_BACKUP_AT);
		if (copy >= r->blocks)
			break;
		if (copy > previous) {
			st = backup(arg, copy);
			previous = copy;
		}
	}
	return st;
}

#define REFUSE(...) return fsa_fail(err, FSA_EDAMAGED, __VA_ARGS__)
#define UNSUPPORTED(...) return fsa_fail(err, FSA_EUNSUPPORTED, __VA_ARGS__)

static bool has_magic(const char *magic, const char *want)
{
	return !memcmp(magic, want, strlen(want));
}

/* What must be true before anything else can be used. */
static enum fsa_status read_master(struct r4 *r, const char *image, struct fsa_error *err)
{
	const struct r4_master *m = &r->master;
	unsigned format = fsa_le16v(m->format);
	uint32_t bs = fsa_le16v(m->block_size);

	if (format == 1)
		UNSUPPORTED("%s: reiser4: master superblock @0x%x: format41 (mirrors, subvolumes and distributed volumes of Reiser5) "
			    "is not read: mirror %u of %u replicas, volume plugin %u, distribution plugin %u", image, R4_MASTER_OFFSET,
			    fsa_le16v(m->mirror), fsa_le16v(m->replicas), fsa_le16v(m->volume_plugin), fsa_le16v(m->distribution_plugin));
	if (format)
		UNSUPPORTED("%s: reiser4: master superblock @0x%x: format plugin %u is unknown, only 0 (format40) is read", image,
			    R4_MASTER_OFFSET, format);
	if (!fsa_is_power_of_two(bs) || bs < R4_MIN_BLOCK_SIZE || bs > R4_MAX_BLOCK_SIZE)
		REFUSE("%s: reiser4: master superblock @0x%x: block size %u, powers of two from %u to %u are possible", image,
		       R4_MASTER_OFFSET, bs, R4_MIN_BLOCK_SIZE, R4_MAX_BLOCK_SIZE);
	r->block_size = bs;
	r->first = R4_MASTER_OFFSET / bs;
	return FSA_OK;
}

static enum fsa_status read_format(struct r4 *r, struct fsa_image *dev, const char *image, struct fsa_error *err)
{
	const struct r4_format *f = &r->format;
	uint64_t at = r4_at(r, r->first + R4_FORMAT_AT), flags;

	if (fsa_image_read(dev, at, &r->format, sizeof(r->format)) != FSA_OK)
		REFUSE("%s: reiser4: format superblock @0x%llx: the image ends before it", image, (ull)at);
	if (has_magic(f->magic, R4_FORMAT41_MAGIC))
		UNSUPPORTED("%s: reiser4: format superblock @0x%llx: format41 (mirrors, subvolumes of Reiser5) is not read", image, (ull)at);
	if (!has_magic(f->magic, R4_FORMAT_MAGIC))
		REFUSE("%s: reiser4: format superblock @0x%llx: no magic \"%s\"", image, (ull)at, R4_FORMAT_MAGIC);
	r->blocks = fsa_le64v(f->blocks);
	r->root = fsa_le64v(f->root);
	r->height = fsa_le16v(f->height);
	r->mkfs_id = fsa_le32v(f->mkfs_id);
	r->version = fsa_le32v(f->version) & R4_VERSION_MASK;
	r->free_blocks = fsa_le64v(f->free_blocks);
	flags = fsa_le64v(f->flags);
	r->large_keys = flags & R4_FLAG_LARGE_KEYS;
	r->key_bytes = r->large_keys ? 32 : 24;
	r->item_header_bytes = r->key_bytes + (unsigned)sizeof(struct r4_item_header);
	if (flags & ~(uint64_t)R4_FLAG_LARGE_KEYS) {
		if (!r->fs->options.force)
			UNSUPPORTED("%s: reiser4: format superblock @0x%llx: unknown flags 0x%llx", image, (ull)at,
				    (ull)(flags & ~(uint64_t)R4_FLAG_LARGE_KEYS));
		R4_FIND(r, "format superblock", r->first + R4_FORMAT_AT, at, "unknown flags 0x%llx", (ull)(flags & ~(uint64_t)R4_FLAG_LARGE_KEYS));
	}
	if (r->version > 2 && !r->fs->options.force)
		UNSUPPORTED("%s: reiser4: format superblock @0x%llx: version 4.0.%u, up to 4.0.2 is read", image, (ull)at, r->version);
	/* Counts of blocks must stay bytes in 64 bits. */
	if (r->blocks <= r->first + R4_BACKUP_AT || r->blocks > UINT64_MAX / 2 / r->block_size)
		REFUSE("%s: reiser4: format superblock @0x%llx: %llu blocks of %u bytes, the fixed ones alone are %llu", image, (ull)at,
		       (ull)r->blocks, r->block_size, (ull)(r->first + R4_BACKUP_AT));
	/* The least tree is a twig above a leaf. */
	if (r->height < 1 || r->height > R4_MAX_HEIGHT) {
		R4_FIND(r, "format superblock", r->first + R4_FORMAT_AT, at, "tree height %u, 2 to %u are possible: the tree is not read", r->height,
			R4_MAX_HEIGHT);
		r->height = 0;
	} else if (!r4_block_ok(r, r->root, 1)) {
		R4_FIND(r, "format superblock", r->first + R4_FORMAT_AT, at, "root block %llu, blocks %llu to %llu are possible: the tree is not read",
			(ull)r->root, (ull)r->first + 1, (ull)r->blocks - 1);
		r->height = 0;
	}
	return FSA_OK;
}

static void read_journal(struct r4 *r)
{
	struct r4_journal_header h;
	struct r4_journal_footer f;
	uint64_t at = r->first + R4_JOURNAL_HEADER_AT;

	if (fsa_read(r->fs, 0, r4_at(r, at), &h, sizeof(h), "journal header", at) == FSA_OK)
		r->last_committed = fsa_le64v(h.last_committed);
	at = r->first + R4_JOURNAL_FOOTER_AT;
	if (fsa_read(r->fs, 0, r4_at(r, at), &f, sizeof(f), "journal footer", at) == FSA_OK) {
		r->last_flushed = fsa_le64v(f.last_flushed);
		/* From the first transaction on, the counters live here. */
		if (r->last_flushed) {
			r->free_blocks = fsa_le64v(f.free_blocks);
			r->free_from_footer = true;
		}
	}
	if (r->last_committed != r->last_flushed)
		R4_FIND(r, "journal header", r->first + R4_JOURNAL_HEADER_AT, r4_at(r, r->first + R4_JOURNAL_HEADER_AT),
			"transactions up to block %llu are committed and only those up to %llu flushed: figures are of the image as it stands, "
			"before replay", (ull)r->last_committed, (ull)r->last_flushed);
}

static void read_status(struct r4 *r)
{
	uint64_t block = r->first + R4_STATUS_AT;
	struct r4_status s;

	if (fsa_read(r->fs, 0, r4_at(r, block), &s, sizeof(s), "status block", block) != FSA_OK)
		return;
	if (!has_magic(s.magic, R4_STATUS_MAGIC)) {
		R4_FIND(r, "status block", block, r4_at(r, block), "no magic \"%s\"", R4_STATUS_MAGIC);
		return;
	}
	r->status = fsa_le64v(s.status);
	snprintf(r->status_message, sizeof(r->status_message), "%.*s", (int)sizeof(s.message) - 1, s.message);
	if (r->status)
		R4_FIND(r, "status block", block, r4_at(r, block), "marked 0x%llx:%s%s%s%s%s%s", (ull)r->status,
			r->status & R4_STATUS_CORRUPTED ? " corrupted" : "", r->status & R4_STATUS_DAMAGED ? " damaged" : "",
			r->status & R4_STATUS_DESTROYED ? " destroyed" : "", r->status & R4_STATUS_IO ? " input/output error" : "",
			*r->status_message ? ": " : "", r->status_message);
}

/* What the root directory says of plugins holds for all that say nothing else. */
static void read_root_plugins(struct r4 *r)
{
	static const uint16_t standard[R4_PSET_STORED] = {
		[R4_PSET_OBJECT] = R4_OBJECT_REG, [R4_PSET_DIR] = R4_OBJECT_DIR, [R4_PSET_POLICY] = 2, [R4_PSET_HASH] = 1, [R4_PSET_FIBRE] = 2,
		[R4_PSET_DIRITEM] = R4_ITEM_ENTRIES, [R4_PSET_CMODE] = 4,
	};
	struct fsa_ref ref;
	struct r4_node n;
	struct r4_item item;
	struct r4_stat s;

	memcpy(r->pset, standard, sizeof(r->pset));
	if (r4_root(r->fs, &ref) != FSA_OK || r4_stat_find(r, ref, &n, &item) != FSA_OK || !r4_stat_decode(r, &n, &item, &s))
		return;
	for (unsigned i = 0; i < R4_PSET_STORED; i++)
		if (s.plugins >> i & 1)
			r->pset[i] = s.plugin[i];
}

static void name_features(struct r4 *r)
{
	static const char *const policies[] = { "extents", "tails", "smart" };
	static const char *const hashes[] = { "rupasov_hash", "r5_hash", "tea_hash", "fnv1_hash", "deg_hash" };
	static const char *const fibres[] = { "lexic_fibre", "dot_o_fibre", "ext_1_fibre", "ext_3_fibre" };
	unsigned policy = fsa_le16v(r->format.policy), n = 0;
	unsigned node = fsa_le32v(r->format.node_plugin);

	r->features[n++] = r->large_keys ? "large_keys" : "short_keys";
	r->features[n++] = node == R4_NODE41 ? "node41" : "node40";
	if (policy < sizeof(policies) / sizeof(policies[0]))
		r->features[n++] = policies[policy];
	if (r->pset[R4_PSET_HASH] < sizeof(hashes) / sizeof(hashes[0]))
		r->features[n++] = hashes[r->pset[R4_PSET_HASH]];
	if (r->pset[R4_PSET_FIBRE] < sizeof(fibres) / sizeof(fibres[0]))
		r->features[n++] = fibres[r->pset[R4_PSET_FIBRE]];
	if (r->pset[R4_PSET_CREATE] == R4_OBJECT_CRYPTCOMPRESS) {
		r->features[n++] = "cryptcompress";
		r->features[n++] = r4_compress_name(r->pset[R4_PSET_COMPRESS]);
	}
	r->features[n] = NULL;
}

void r4_close(struct fsa_fs *fs)
{
	struct r4 *r = r4_of(fs);

	for (unsigned i = 0; i < R4_NODE_CACHE; i++)
		free(r->cache[i].raw);
	free(r);
	fs->state = NULL;
}

enum fsa_status r4_open(struct fsa_fs *fs, struct fsa_error *err)
{
	struct fsa_image *image = fs->devices[0].image;
	const char *name = fsa_image_name(image);
	enum fsa_status st;
	uint64_t want;
	struct r4 *r = calloc(1, sizeof(*r));

	if (!r)
		return fsa_fail(err, FSA_ENOMEM, "%s: out of memory", name);
	r->fs = fs;
	r->findings = fs->findings;
	if (fsa_image_read(image, R4_MASTER_OFFSET, &r->master, sizeof(r->master)) != FSA_OK ||
	    !has_magic(r->master.magic, R4_MASTER_MAGIC)) {
		free(r);
		return FSA_ENOENT;
	}
	st = read_master(r, name, err);
	if (st == FSA_OK)
		st = read_format(r, image, name, err);
	if (st != FSA_OK) {
		free(r);
		return st;
	}
	fs->state = r;
	want = r4_at(r, r->blocks);
	if (fsa_image_size(image) < want)
		R4_FIND(r, "format superblock", r->first + R4_FORMAT_AT, r4_at(r, r->first + R4_FORMAT_AT),
			"%llu blocks of %u bytes are %llu bytes, the image holds %llu", (ull)r->blocks, r->block_size, (ull)want,
			(ull)fsa_image_size(image));
	read_journal(r);
	read_status(r);
	read_root_plugins(r);
	name_features(r);
	return FSA_OK;
}

static void uuid_text(const uint8_t *u, char text[40])
{
	static const uint8_t none[16];
	size_t n = 0;

	text[0] = '\0';
	for (int i = 0; memcmp(u, none, 16) && i < 16; i++)
		n += (size_t)snprintf(text + n, 40 - n, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", u[i]);
}

enum fsa_status r4_summary(struct fsa_fs *fs, struct fsa_summary *s)
{
	struct r4 *r = r4_of(fs);

	memset(s, 0, sizeof(*s));
	snprintf(s->type, sizeof(s->type), "reiser4");
	snprintf(s->version, sizeof(s->version), "4.0.%u", r->version);
	s->block_size = r->block_size;
	s->blocks = r->blocks;
	memcpy(s->label, r->master.label, sizeof(r->master.label));
	uuid_text(r->master.uuid, s->uuid);
	memcpy(s->features, r->features, sizeof(s->features));
	s->clean = r->last_committed == r->last_flushed && !r->status;
	snprintf(s->state, sizeof(s->state), "%s%s", r->last_committed == r->last_flushed ? "clean" : "journal needs replay",
		 r->status ? ", marked damaged" : "");
	return FSA_OK;
}

enum fsa_status r4_geometry(struct fsa_fs *fs, struct fsa_ledger *ledger)
{
	struct r4 *r = r4_of(fs);

	return fsa_ledger_add_device(ledger, r->blocks, r->block_size, fsa_image_size(fs->devices[0].image));
}
