/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The ledger: every byte of every device gets exactly one purpose.
 *
 * A parser feeds two things while it walks: what the filesystem's own allocation map says
 * (fsa_map_allocated, fsa_map_free) and what it claims because something reachable uses it (fsa_claim,
 * fsa_split_*). The ledger keeps one bit a block for each (two more only where sharing happens), sparsely,
 * and sums per detail; it does not keep owners. Asked for owners, a second walk is made with a callback in place
 * of the ledger.
 *
 * Units: `block` and `count` are in blocks of the device (fsa_ledger_add_device's block_size); offsets and
 * lengths of parts are bytes.
 */
#ifndef FSA_LEDGER_H
#define FSA_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fsa/purpose.h"
#include "fsa/ref.h"
#include "fsa/status.h"

/* Who holds a block. Nothing in it is owned; it is copied where it must outlive the call. */
struct fsa_owner {
	const char *object;	/* "inode", "group", "superblock copy": static string */
	uint64_t number;	/* FSA_NO_NUMBER when it has none */
	struct fsa_ref ref;	/* the inode, when has_ref */
	bool has_ref;
};

enum fsa_claim_flags {
	FSA_CLAIM_SHARED = 1,	/* the format allows several owners here: counted once, not a conflict */
	/*
	 * These bytes are in some named object's st_blocks, as `du` adds them up. Claims of internal objects
	 * (journal, quota file) and of what is in no st_blocks must not carry it.
	 */
	FSA_CLAIM_CHARGED = 2,
	FSA_CLAIM_UNMAPPED = 4,	/* the format's allocation map does not cover these blocks */
};

/* A piece of a device with one purpose and one owner, as a callback sees it. */
struct fsa_run {
	unsigned device;
	uint64_t offset;	/* bytes */
	uint64_t length;	/* bytes, > 0 */
	unsigned detail;
	unsigned flags;		/* enum fsa_claim_flags */
	const struct fsa_owner *owner;
};

struct fsa_ledger;
struct fsa_claims;

/* `details` is the parser's table and must outlive the ledger. NULL when out of memory. */
struct fsa_ledger *fsa_ledger_new(const struct fsa_detail *details, unsigned n_details);
void fsa_ledger_free(struct fsa_ledger *ledger);

/*
 * Adds a device: `blocks` of `block_size` bytes belong to the filesystem, the image holds `image_bytes`
 * (more is `outside`, less is reported as missing; 2^28 blocks behind the end of the image the books end, and
 * claims there are refused). Devices are numbered from 0 in order of adding.
 */
enum fsa_status fsa_ledger_add_device(struct fsa_ledger *ledger, uint64_t blocks, uint32_t block_size,
				      uint64_t image_bytes);

/* Where a walk puts its claims: into the ledger ... */
struct fsa_claims *fsa_claims_to_ledger(struct fsa_ledger *ledger);
/* ... or to a callback, which gets every run and every part of a split node. The ledger gives geometry. */
struct fsa_claims *fsa_claims_to_callback(const struct fsa_ledger *ledger,
					  void (*run)(void *arg, const struct fsa_run *run), void *arg);
/*
 * Ends a shard: its sums are added to the ledger. Several shards of one ledger may be filled, each by
 * its own thread; claims are then booked to whoever comes first, so a parser that meets a conflict in a
 * parallel walk leaves the order to chance only in images that are damaged or share blocks.
 */
void fsa_claims_free(struct fsa_claims *claims);

/* True when the claims go to a callback: a parser may then skip work that only feeds sums. */
bool fsa_claims_want_owners(const struct fsa_claims *claims);
/* The ledger whose geometry they have. */
const struct fsa_ledger *fsa_claims_ledger(const struct fsa_claims *claims);

/* What the allocation map says. Blocks outside the device are ignored: the parser reports them. */
void fsa_map_allocated(struct fsa_claims *claims, unsigned device, uint64_t block, uint64_t count);
void fsa_map_free(struct fsa_claims *claims, unsigned device, uint64_t block, uint64_t count);
/* The first `bits` bits at `bitmap` (bit 0 of byte 0 first, 1 = allocated) are the map from `block` on. */
void fsa_map_bitmap(struct fsa_claims *claims, unsigned device, uint64_t block, const void *bitmap,
		    uint64_t bits);

/*
 * Claims `count` blocks at `block` for `detail`. Blocks that were already claimed are a conflict unless
 * both claims say FSA_CLAIM_SHARED; either way their bytes are booked once, to the first. A claim whose
 * detail has purpose `free` only tells what kind of free the blocks are. Returns false when the range
 * leaves the device: nothing is booked then and the caller reports it.
 */
bool fsa_claim(struct fsa_claims *claims, unsigned device, uint64_t block, uint64_t count, unsigned detail,
	       unsigned flags, const struct fsa_owner *owner);

/*
 * The last block of a file: `bytes` of it (or of `count` blocks) have purpose `detail`, what is left has
 * `rest_detail`. The same as a split of two parts, without the ceremony.
 */
bool fsa_claim_with_rest(struct fsa_claims *claims, unsigned device, uint64_t block, uint64_t count,
			 uint64_t bytes, unsigned detail, unsigned rest_detail, unsigned flags,
			 const struct fsa_owner *owner);

/*
 * A node with several purposes: begin, add parts that together are exactly its size, end. A part's offset
 * is in bytes from the node's start. Parts may come in any order but not overlap. Ends with false when the
 * parts do not add up or the blocks leave the device; the difference is then booked as `rest_detail` so
 * that the ledger still closes.
 */
struct fsa_taken;

struct fsa_split {				/* on the caller's stack; its fields are the ledger's */
	struct fsa_claims *claims;
	unsigned device;
	unsigned flags;
	uint64_t start;				/* byte offset of the node on the device */
	uint64_t size;				/* bytes of the node */
	uint64_t parts;				/* bytes of the parts so far */
	uint64_t fresh;				/* bytes that this node is the first to claim */
	bool valid;				/* lies within the device */
	bool overfull;				/* parts exceeded the node */
	struct fsa_taken *taken;		/* what others had claimed before; NULL nearly always */
	const struct fsa_owner *owner;
	uint64_t bytes[FSA_MAX_DETAILS];
};

void fsa_split_begin(struct fsa_split *split, struct fsa_claims *claims, unsigned device, uint64_t block,
		     uint64_t count, unsigned flags, const struct fsa_owner *owner);
/* `owner` NULL means the node's own. A length of 0 is allowed and does nothing. */
void fsa_split_part(struct fsa_split *split, uint64_t offset, uint64_t length, unsigned detail,
		    const struct fsa_owner *owner);
bool fsa_split_end(struct fsa_split *split, unsigned rest_detail);

/* --- after the walk ------------------------------------------------------------------------------ */

/* Blocks [block, block + count) of a device, in the state the name of the list says. */
struct fsa_range {
	unsigned device;
	uint64_t block;
	uint64_t count;
};

/* Everything known once the walk is over. Arrays belong to the ledger. */
struct fsa_ledger_result {
	uint64_t image_bytes;			/* of all devices */
	uint64_t purpose_bytes[FSA_PURPOSES];	/* adds up to image_bytes, exactly */
	const uint64_t *detail_bytes;		/* one for each detail of the parser's table */
	const uint64_t *charged_bytes;		/* of those, the part that is in some st_blocks */
	uint64_t plain_free_bytes;		/* free without a detail of its own */
	uint64_t missing_bytes;			/* claimed or mapped behind the end of a short image */
	uint64_t allocated_blocks;		/* by the map */
	uint64_t claimed_blocks;
	uint64_t unmapped_blocks;		/* claimed where the map does not reach */
	uint64_t lost_blocks;			/* allocated, not claimed */
	uint64_t used_free_blocks;		/* claimed, free in the map */
	uint64_t conflict_blocks;		/* claimed again though the format does not share */
	uint64_t shared_blocks;			/* blocks with more than one owner where it does */
	uint64_t shared_extra_bytes;		/* bytes that sharing saved: claims beyond the first */
	uint64_t charged_extra_bytes;		/* of those, in some st_blocks */
	uint64_t charged_conflict_bytes;	/* in some st_blocks, claimed before by another owner */
	uint64_t charged_missing_bytes;		/* in some st_blocks, behind the end of a short image */
	uint64_t map_free_blocks;
	/* Free space by run length: runs and blocks of size 2^i .. 2^(i+1)-1 blocks. */
	uint64_t free_runs[64];
	uint64_t free_run_blocks[64];
};

/* Closes the books. To be called once, after all shards are freed. */
enum fsa_status fsa_ledger_close(struct fsa_ledger *ledger, struct fsa_ledger_result *result);

/* Ranges of the kind asked for, at most `limit` (further ones are counted in *total). */
enum fsa_range_kind { FSA_RANGE_LOST, FSA_RANGE_USED_FREE, FSA_RANGE_CONFLICT };
size_t fsa_ledger_ranges(const struct fsa_ledger *ledger, enum fsa_range_kind kind,
			 struct fsa_range *ranges, size_t limit, uint64_t *total);

/* The state of a block and how many blocks from there on share it: for `map`. */
enum fsa_block_state { FSA_BLOCK_FREE, FSA_BLOCK_CLAIMED, FSA_BLOCK_LOST };
enum fsa_block_state fsa_ledger_state(const struct fsa_ledger *ledger, unsigned device, uint64_t block,
				      uint64_t *run);

unsigned fsa_ledger_devices(const struct fsa_ledger *ledger);
uint32_t fsa_ledger_block_size(const struct fsa_ledger *ledger, unsigned device);
uint64_t fsa_ledger_blocks(const struct fsa_ledger *ledger, unsigned device);

/* Heap bytes that the ledger holds now: for the test of its bound. */
uint64_t fsa_ledger_memory(const struct fsa_ledger *ledger);

#endif
