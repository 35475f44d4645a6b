/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The journal: `size` blocks of log and a header behind them. A transaction is a description block, its blocks and
 * a commit block, wrapping at the end of the log. The header says which was written back last and where the
 * next one would start; if one is there, it is still to be replayed (journal_read of fs/reiserfs/journal.c).
 */
#include <stdlib.h>
#include <string.h>

#include "reiserfs.h"

struct log {
	struct rfs *r;
	unsigned device;
	uint64_t first, size;
	uint8_t *block;
	uint32_t trans_max;
};

struct transaction {
	uint32_t id, length, mount_id;
};

static uint64_t log_at(const struct log *l, uint64_t offset)
{
	return (l->first + offset) << l->r->block_log;
}

static bool is_desc(const struct log *l, const uint8_t *block)
{
	return memcmp(block + l->r->block_size - RFS_JOURNAL_MAGIC_FROM_END, RFS_JOURNAL_DESC_MAGIC, 8) == 0;
}

/*
 * A whole transaction begins at `offset` of the log. Nothing there is no damage: the log holds old blocks. *broken
 * (which may be NULL) becomes the id of one that is not whole.
 */
static bool transaction_at(struct log *l, uint64_t offset, struct transaction *t, uint32_t *broken)
{
	struct rfs *r = l->r;
	struct fsa_image *image = r->fs->devices[l->device].image;
	const struct rfs_journal_desc *d = (const struct rfs_journal_desc *)(const void *)l->block;
	const struct rfs_journal_commit *c = (const struct rfs_journal_commit *)(const void *)l->block;

	if (fsa_image_read(image, log_at(l, offset), l->block, r->block_size) != FSA_OK || !is_desc(l, l->block))
		return false;
	*t = (struct transaction){ fsa_le32v(d->trans_id), fsa_le32v(d->length), fsa_le32v(d->mount_id) };
	if (t->length == 0 || t->length > l->trans_max || t->length + 2 > l->size)
		return false;
	if (fsa_image_read(image, log_at(l, (offset + t->length + 1) % l->size), l->block, r->block_size) != FSA_OK)
		return false;
	if (fsa_le32v(c->trans_id) == t->id && fsa_le32v(c->length) == t->length)
		return true;
	if (broken)
		*broken = t->id;
	return false;
}

/*
 * Where replay starts when the header says nothing, as the kernel searches: the oldest whole transaction, none of an
 * older mount than the newest met before, and none that is younger than one met broken. Mounts count from 10.
 */
static bool find_oldest(struct log *l, uint64_t *start, struct transaction *oldest)
{
	uint32_t newest = 9, broken = 0;
	bool found = false;

	for (uint64_t k = 0; k < l->size; ) {
		struct transaction t;

		if (!transaction_at(l, k, &t, &broken) || (broken && t.id > broken) || newest > t.mount_id) {
			k++;
			continue;
		}
		if (!found || t.id < oldest->id) {
			oldest->id = t.id;
			*start = k;
		}
		newest = t.mount_id;
		found = true;
		k += (uint64_t)t.length + 2;
	}
	oldest->mount_id = newest;
	return found;
}

static void report_pending(struct log *l, const struct rfs_journal_header *h)
{
	struct rfs *r = l->r;
	uint64_t start = fsa_le32v(h->first_unflushed_offset), at, blocks = 0, header_at = log_at(l, l->size);
	struct transaction first = { fsa_le32v(h->last_flush_trans_id) + 1, 0, fsa_le32v(h->mount_id) }, t;
	unsigned count = 0;

	if (start >= l->size || fsa_le32v(h->last_flush_trans_id) == 0) {
		if (start >= l->size)
			fsa_find_on(r->findings, l->device, "journal header", FSA_NO_NUMBER, header_at, "first transaction not written back "
				    "is at block %llu of the log, which has %llu", (ull)start, (ull)l->size);
		if (!find_oldest(l, &start, &first))
			return;
	}
	for (at = start; transaction_at(l, at, &t, NULL) && t.id >= first.id && t.mount_id == first.mount_id; ) {
		count++;
		blocks += t.length;
		at = (at + t.length + 2) % l->size;
		first.id = t.id + 1;
		/* Once around: a log that is full of transactions ends where it began. */
		if (blocks + 2 * (uint64_t)count >= l->size)
			break;
	}
	if (count)
		fsa_find_on(r->findings, l->device, "journal", FSA_NO_NUMBER, log_at(l, start), "%u transactions with %llu blocks from "
			    "block %llu of the log on are not written back, the last is %u: figures are of the image as it stands, "
			    "before replay", count, (ull)blocks, (ull)start, t.id);
}

static bool usable(const struct rfs *r, uint64_t *blocks)
{
	if (r->journal_device < 0)
		return false;
	*blocks = r->journal_device ? fsa_image_size(r->fs->devices[r->journal_device].image) >> r->block_log : r->blocks;
	return fsa_within(r->journal_first, (uint64_t)r->journal_size + 1, *blocks) && r->journal_size;
}

void rfs_journal_check(struct rfs *r)
{
	const struct rfs_journal_params *mine = &rfs_super(r)->s_journal;
	struct log l = { .r = r, .device = (unsigned)r->journal_device, .first = r->journal_first, .size = r->journal_size };
	struct rfs_journal_header h;
	uint64_t blocks = 0, at = log_at(&l, l.size);

	if (r->journal_device < 0)
		return;
	if (!usable(r, &blocks)) {
		fsa_find_on(r->findings, l.device, "journal", FSA_NO_NUMBER, 0, "a log of %llu blocks and a header from block %llu on, the "
			    "device has %llu", (ull)l.size, (ull)l.first, (ull)blocks);
		return;
	}
	if (fsa_read(r->fs, l.device, at, &h, sizeof(h), "journal header", FSA_NO_NUMBER) != FSA_OK)
		return;
	if (r->jr && fsa_le32v(h.params.magic) != fsa_le32v(mine->magic)) {
		fsa_find_on(r->findings, l.device, "journal header", FSA_NO_NUMBER, at, "magic 0x%08x, the superblock names 0x%08x: not the "
			    "journal of this filesystem", fsa_le32v(h.params.magic), fsa_le32v(mine->magic));
		return;
	}
	l.trans_max = fsa_le32v(h.params.trans_max);
	if (l.trans_max == 0)
		l.trans_max = 1024;	/* what was fixed before the header said it */
	l.block = malloc(r->block_size);
	if (!l.block)
		return;
	report_pending(&l, &h);
	free(l.block);
}

void rfs_journal_claim(struct rfs *r, struct fsa_claims *claims)
{
	static const struct fsa_owner owner = { .object = "journal", .number = FSA_NO_NUMBER };
	static const struct fsa_owner rest = { .object = "journal device", .number = FSA_NO_NUMBER };
	const uint64_t first = r->journal_first, size = r->journal_size;
	unsigned device = (unsigned)r->journal_device, flags = device ? FSA_CLAIM_UNMAPPED : 0;
	uint64_t blocks;

	if (r->journal_device > 0) {
		blocks = fsa_image_size(r->fs->devices[device].image) >> r->block_log;
		if (!usable(r, &blocks)) {
			if (blocks)
				fsa_claim(claims, device, 0, blocks, RFS_D_JOURNAL_DEVICE, flags, &rest);
			return;
		}
		if (first)
			fsa_claim(claims, device, 0, first, RFS_D_JOURNAL_DEVICE, flags, &rest);
	}
	if (r->journal_device >= 0) {
		fsa_claim(claims, device, first, size, RFS_D_JOURNAL_LOG, flags, &owner);
		fsa_claim(claims, device, first + size, 1, RFS_D_JOURNAL_HEADER, flags, &owner);
	}
}
