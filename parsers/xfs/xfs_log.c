/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The log: whether there is work in it. It is a ring of 512-byte blocks; each block's first word is the
 * cycle in which it was written (in a record header the word behind the magic), so the place where the cycle
 * drops by one is the head. A cleanly unmounted log ends there with a record of one operation, the unmount.
 */
#include <stdlib.h>
#include <string.h>

#include "xfs.h"

/* How far back from the head a record may start: eight buffers of 256 KiB, in blocks. */
#define MAX_BACK ((8u * XLOG_MAX_RECORD_BSIZE) / XF_BBSIZE)

struct log {
	struct xf *x;
	unsigned device;
	uint64_t start;			/* bytes */
	uint32_t blocks;
	bool failed;
};

static bool get_block(struct log *l, uint32_t block, uint8_t *b)
{
	if (fsa_read(l->x->fs, l->device, l->start + (uint64_t)block * XF_BBSIZE, b, XF_BBSIZE, "log", FSA_NO_NUMBER) != FSA_OK)
		l->failed = true;
	return !l->failed;
}

static uint32_t cycle_of(const uint8_t *b)
{
	uint32_t first = fsa_get_be32(b);

	return first == XLOG_HEADER_MAGIC_NUM ? fsa_get_be32(b + 4) : first;
}

static uint32_t cycle_at(struct log *l, uint32_t block)
{
	uint8_t b[XF_BBSIZE];

	return get_block(l, block, b) ? cycle_of(b) : 0;
}

/* The first block in [from, to] that is of cycle `cycle`; block `to` is, block `from` is not. */
static uint32_t first_of(struct log *l, uint32_t from, uint32_t to, uint32_t cycle)
{
	while (to - from > 1 && !l->failed) {
		uint32_t mid = from + (to - from) / 2;

		if (cycle_at(l, mid) == cycle)
			to = mid;
		else
			from = mid;
	}
	return to;
}

/* Where the next record would be written; false when the log was never used. */
static bool find_head(struct log *l, uint32_t *head)
{
	uint32_t last = l->blocks - 1, first_cycle = cycle_at(l, 0), last_cycle = cycle_at(l, last);

	if (!first_cycle)
		return false;
	*head = first_cycle == last_cycle ? 0 : first_of(l, 0, last, last_cycle);
	return !l->failed;
}

/* The last record header before the head; *back is how many blocks before it. */
static bool find_record(struct log *l, uint32_t head, uint8_t *header, uint32_t *back)
{
	for (*back = 1; *back <= MAX_BACK && *back <= l->blocks; ++*back) {
		uint32_t block = head >= *back ? head - *back : l->blocks - (*back - head);

		if (!get_block(l, block, header))
			return false;
		if (fsa_get_be32(header) == XLOG_HEADER_MAGIC_NUM)
			return true;
	}
	return false;
}

static uint32_t header_blocks(const uint8_t *h)
{
	uint32_t size = FSA_BE(uint32_t, h, struct xlog_rec_header, h_size);

	if (!(FSA_BE(uint32_t, h, struct xlog_rec_header, h_version) & XLOG_VERSION_2) || size <= XF_LOG_HEADER_BYTES_EACH ||
	    size > XLOG_MAX_RECORD_BSIZE)
		return 1;
	return (uint32_t)fsa_div_up(size, XF_LOG_HEADER_BYTES_EACH);
}

/* A clean log's last record: one operation, and its flags say unmount. The head follows it. */
static bool is_unmount(struct log *l, uint32_t head, const uint8_t *h, uint32_t back)
{
	uint32_t blocks = header_blocks(h), length = FSA_BE(uint32_t, h, struct xlog_rec_header, h_len);
	uint32_t data = head >= back ? head - back : l->blocks - (back - head);
	uint8_t b[XF_BBSIZE];

	if (FSA_BE(uint32_t, h, struct xlog_rec_header, h_num_logops) != 1 || blocks + fsa_div_up(length, XF_BBSIZE) != back)
		return false;
	data = (uint32_t)(((uint64_t)data + blocks) % l->blocks);
	/* The cycle number replaced the operation's first four bytes; its flags are behind them. */
	return get_block(l, data, b) && b[offsetof(struct xlog_op_header, oh_flags)] & XLOG_UNMOUNT_TRANS;
}

void xf_log_check(struct xf *x)
{
	struct log l = { .x = x };
	uint32_t head = 0, back = 0, ag, ag_block;
	uint64_t tail, blocks = (uint64_t)x->log_blocks << (x->block_log - 9);
	uint8_t header[XF_BBSIZE];

	if (x->log_known)
		return;
	if (x->log_start) {
		if (!xf_fsb(x, x->log_start, x->log_blocks, &ag, &ag_block))
			return;
		l.start = xf_at(x, xf_linear(x, ag, ag_block));
	} else if (x->log_role < 0) {
		return;
	} else {
		l.device = (unsigned)x->log_role;
		blocks = fsa_min(blocks, fsa_image_size(x->fs->devices[l.device].image) / XF_BBSIZE);
	}
	if (blocks < 8 || blocks > UINT32_MAX)
		return;
	l.blocks = (uint32_t)blocks;
	if (!find_head(&l, &head)) {
		x->log_known = !l.failed;
		return;
	}
	if (!find_record(&l, head, header, &back)) {
		if (!l.failed)
			fsa_find_on(x->findings, l.device, "log", FSA_NO_NUMBER, l.start, "no record before its head at block %u", head);
		x->log_known = x->log_dirty = !l.failed;
		return;
	}
	if (!x->log_device && memcmp(header + offsetof(struct xlog_rec_header, h_fs_uuid), x->sb + offsetof(struct xfs_dsb, sb_uuid), 16) != 0 &&
	    memcmp(header + offsetof(struct xlog_rec_header, h_fs_uuid), x->uuid, 16) != 0)
		fsa_find_on(x->findings, l.device, "log", FSA_NO_NUMBER, l.start, "its records carry another filesystem's uuid");
	x->log_known = true;
	if (is_unmount(&l, head, header, back))
		return;
	x->log_dirty = !l.failed;
	tail = FSA_BE(uint64_t, header, struct xlog_rec_header, h_tail_lsn);
	fsa_find_on(x->findings, l.device, "log", FSA_NO_NUMBER, l.start, "has work from block %u of cycle %u to block %u: figures are of the image "
		    "as it stands, before replay", (uint32_t)tail, (uint32_t)(tail >> 32), head);
}
