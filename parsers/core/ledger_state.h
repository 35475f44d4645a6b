/* SPDX-License-Identifier: GPL-2.0-only */
/* What the two halves of the ledger share: claiming (ledger.c) and closing (ledger_close.c). */
#ifndef FSA_LEDGER_STATE_H
#define FSA_LEDGER_STATE_H

#include <pthread.h>

#include "bitset.h"
#include "fsa/bytes.h"
#include "fsa/ledger.h"
#include "fsa/parser.h"

/* Conflicts are kept as ranges up to this many; further ones are only counted. */
#define LEDGER_MAX_CONFLICTS 4096

/*
 * How far behind the end of a short image the books go. What a superblock says of its size must not decide how
 * much memory is taken: even the tables of a sparse bit set add up.
 */
#define LEDGER_BEYOND_BLOCKS (UINT64_C(1) << 28)

struct ledger_device {
	uint64_t blocks;
	uint32_t block_size;
	uint64_t image_bytes;
	struct bitset allocated;	/* by the filesystem's own map */
	struct bitset claimed;
	struct bitset sharable;		/* claimed with FSA_CLAIM_SHARED; only once that happens */
	struct bitset multiple;		/* has a second owner, where that is allowed */
	bool sharing;			/* the two above exist */
};

struct fsa_ledger {
	const struct fsa_detail *details;
	unsigned n_details;
	struct ledger_device device[FSA_MAX_DEVICES];
	unsigned n_devices;
	pthread_mutex_t lock;		/* the bit sets and everything below */
	enum fsa_status failed;		/* FSA_ENOMEM once memory ran out: the books cannot be closed */
	uint64_t bytes[FSA_MAX_DETAILS];
	uint64_t charged[FSA_MAX_DETAILS];
	uint64_t missing_bytes;
	uint64_t conflict_blocks;
	uint64_t shared_blocks;
	uint64_t shared_extra_bytes;
	uint64_t charged_extra_bytes;
	uint64_t charged_conflict_bytes;
	uint64_t charged_missing_bytes;
	uint64_t unmapped_blocks;
	struct fsa_range *conflicts;
	size_t n_conflicts;
	uint64_t conflict_ranges;	/* including those not kept */
};

/* Bytes of [start, start + length) that the image holds. */
static inline uint64_t ledger_in_image(const struct ledger_device *d, uint64_t start, uint64_t length)
{
	if (start >= d->image_bytes)
		return 0;
	return fsa_min(length, d->image_bytes - start);
}

#endif
