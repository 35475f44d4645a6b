/* SPDX-License-Identifier: GPL-2.0-only */
/* Blocks in fixed places: superblocks, status, backups, bitmaps. */
#include <stdlib.h>
#include <string.h>

#include "reiser4_audit.h"

static void claim_front(struct r4_audit_state *s, uint64_t block, uint64_t bytes, unsigned detail, const char *object)
{
	struct fsa_owner owner = { .object = object, .number = block };

	/* Places were checked against the number of blocks when the filesystem was opened. */
	fsa_claim_with_rest(s->claims, 0, block, 1, bytes, detail, R4_D_FREE_FIXED, 0, &owner);
}

static void claim_superblocks(struct r4_audit_state *s)
{
	static const struct fsa_owner boot = { .object = "boot area", .number = FSA_NO_NUMBER };
	struct r4 *r = s->r;

	fsa_claim(s->claims, 0, 0, r->first, R4_D_BOOT, 0, &boot);
	claim_front(s, r->first, R4_MASTER_BYTES, R4_D_MASTER, "master superblock");
	claim_front(s, r->first + R4_FORMAT_AT, sizeof(struct r4_format), R4_D_FORMAT, "format superblock");
	claim_front(s, r->first + R4_JOURNAL_HEADER_AT, sizeof(struct r4_journal_header), R4_D_JOURNAL_HEADER, "journal header");
	claim_front(s, r->first + R4_JOURNAL_FOOTER_AT, sizeof(struct r4_journal_footer), R4_D_JOURNAL_FOOTER, "journal footer");
	claim_front(s, r->first + R4_STATUS_AT, sizeof(struct r4_status), R4_D_STATUS, "status block");
}

/* What the allocation map says of one block; false when its bitmap block cannot be read. */
static bool is_allocated(struct r4 *r, uint64_t block)
{
	uint64_t span = r4_bitmap_span(r), bit = block % span;
	uint8_t byte;

	return fsa_image_read(r->fs->devices[0].image, r4_at(r, r4_bitmap_block(r, block / span)) + R4_BITMAP_CHECKSUM + bit / 8, &byte, 1) == FSA_OK &&
	       (byte >> (bit & 7) & 1);
}

/* Version 4.0.0 came before the backup blocks: their places were set aside or not, and never written. */
static void take_missing_backup(struct r4_audit_state *s, uint64_t block)
{
	struct fsa_owner owner = { .object = "backup block", .number = block };

	if (block == s->r->first + R4_BACKUP_AT && is_allocated(s->r, block) && s->r->root != block)
		fsa_claim(s->claims, 0, block, 1, R4_D_NO_BACKUP, 0, &owner);
}

static enum fsa_status take_backup(void *arg, uint64_t block)
{
	struct r4_audit_state *s = arg;
	struct r4 *r = s->r;
	uint8_t raw[R4_BACKUP_FORMAT_AT + sizeof(struct r4_backup_format)];
	const uint8_t *f = raw + R4_BACKUP_FORMAT_AT;
	uint64_t bytes = sizeof(raw), blocks;

	if (fsa_read(r->fs, 0, r4_at(r, block), raw, sizeof(raw), "backup block", block) != FSA_OK)
		return FSA_OK;
	if (memcmp(f, R4_FORMAT_MAGIC, sizeof(R4_FORMAT_MAGIC)) || memcmp(raw + 1, R4_MASTER_MAGIC, sizeof(R4_MASTER_MAGIC))) {
		/* Older tools made none, and kernels ask for them with the top bit of the version until fsck obeys. */
		if (!r->version || fsa_le32v(r->format.version) != r->version) {
			take_missing_backup(s, block);
			return FSA_OK;
		}
		R4_FIND(r, "backup block", block, r4_at(r, block), "does not hold the magics \"%s\" and \"%s\"", R4_MASTER_MAGIC, R4_FORMAT_MAGIC);
	} else {
		blocks = FSA_LE(uint64_t, f, struct r4_backup_format, blocks);
		if (blocks != r->blocks)
			R4_FIND(r, "backup block", block, r4_at(r, block), "%llu blocks, the format superblock says %llu", (ull)blocks, (ull)r->blocks);
		if (FSA_LE(uint32_t, f, struct r4_backup_format, mkfs_id) != r->mkfs_id)
			R4_FIND(r, "backup block", block, r4_at(r, block), "mkfs id 0x%08x, the format superblock says 0x%08x",
				FSA_LE(uint32_t, f, struct r4_backup_format, mkfs_id), r->mkfs_id);
		if (memcmp(raw + 1, &r->master, R4_MASTER_BYTES))
			R4_FIND(r, "backup block", block, r4_at(r, block), "its copy of the master superblock differs from that one");
		if (FSA_LE(uint32_t, f, struct r4_backup_format, version))
			bytes += R4_BACKUP_PSET_BYTES;
	}
	claim_front(s, block, bytes, R4_D_BACKUP, "backup block");
	return FSA_OK;
}

static enum fsa_status take_bitmaps(struct r4_audit_state *s)
{
	struct r4 *r = s->r;
	uint64_t span = r4_bitmap_span(r), count = fsa_div_up(r->blocks, span);
	uint64_t end = fsa_image_size(r->fs->devices[0].image);
	uint8_t *raw = malloc(r->block_size);

	if (!raw)
		return FSA_ENOMEM;
	for (uint64_t n = 0; n < count; n++) {
		uint64_t block = r4_bitmap_block(r, n), bits = fsa_min(span, r->blocks - n * span);
		uint32_t stored, sum;

		/* They come in rising order. A size that is wrong can mean any number of them. */
		if (r4_at(r, block) >= end) {
			R4_FIND(r, "bitmap block", block, r4_at(r, block), "this one and those behind it lie behind the end of the image, which has "
				"%llu bytes: blocks from %llu on count as used", (ull)end, (ull)(n * span));
			fsa_map_allocated(s->claims, 0, n * span, r->blocks - n * span);
			break;
		}
		claim_front(s, block, R4_BITMAP_CHECKSUM + fsa_div_up(bits, 8), R4_D_BITMAP, "bitmap block");
		if (fsa_read(r->fs, 0, r4_at(r, block), raw, r->block_size, "bitmap block", block) != FSA_OK) {
			/* What it said is unknown: nothing may look free. */
			fsa_map_allocated(s->claims, 0, n * span, bits);
			continue;
		}
		stored = fsa_get_le32(raw);
		sum = r4_adler32(raw + R4_BITMAP_CHECKSUM, r->block_size - R4_BITMAP_CHECKSUM);
		if (stored != sum)
			R4_FIND(r, "bitmap block", block, r4_at(r, block), "checksum 0x%08x, computed 0x%08x", stored, sum);
		fsa_map_bitmap(s->claims, 0, n * span, raw + R4_BITMAP_CHECKSUM, bits);
	}
	free(raw);
	return FSA_OK;
}

enum fsa_status r4_audit_static(struct r4_audit_state *s)
{
	enum fsa_status st;

	claim_superblocks(s);
	st = take_bitmaps(s);
	return st == FSA_OK ? r4_backups(s->r, take_backup, s) : st;
}
