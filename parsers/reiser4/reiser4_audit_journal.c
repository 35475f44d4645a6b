/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Transactions that are committed and not yet flushed. There is no journal area: each transaction is a head
 * block anywhere, a chain of wander records, and for each block that it overwrites a copy in a free place.
 */
#include <stdlib.h>
#include <string.h>

#include "reiser4_audit.h"

static bool claim_log(struct r4_audit_state *s, uint64_t block, unsigned detail, const char *object)
{
	struct fsa_owner owner = { .object = object, .number = block };
	uint64_t fresh = 0;

	if (!r4_block_ok(s->r, block, 1) || bitset_test(&s->nodes, block))
		return false;
	if (!bitset_set(&s->nodes, block, 1, &fresh, NULL, NULL))
		return false;
	return fsa_claim(s->claims, 0, block, 1, detail, 0, &owner);
}

/* Reads a block of the log and claims it when it is what it should be. */
static bool take_log(struct r4_audit_state *s, uint64_t block, const char *magic, unsigned detail, const char *object, uint8_t *raw)
{
	struct r4 *r = s->r;

	return r4_block_ok(r, block, 1) && fsa_read(r->fs, 0, r4_at(r, block), raw, r->block_size, object, block) == FSA_OK &&
	       !memcmp(raw, magic, 8) && claim_log(s, block, detail, object);
}

static void take_records(struct r4_audit_state *s, uint64_t head, uint64_t record, uint64_t records, uint8_t *raw)
{
	struct r4 *r = s->r;

	for (; record && record != head && records; records--) {
		if (!take_log(s, record, R4_RECORD_MAGIC, R4_D_WANDER_RECORD, "wander record", raw)) {
			R4_FIND(r, "transaction", head, r4_at(r, head), "no wander record in block %llu", (ull)record);
			return;
		}
		for (size_t at = sizeof(struct r4_record); at + sizeof(struct r4_record_entry) <= r->block_size; at += sizeof(struct r4_record_entry)) {
			uint64_t wandered = FSA_LE(uint64_t, raw + at, struct r4_record_entry, wandered);

			if (!FSA_LE(uint64_t, raw + at, struct r4_record_entry, original))
				break;
			if (!claim_log(s, wandered, R4_D_WANDERED, "wandered block"))
				R4_FIND(r, "wander record", record, r4_at(r, record) + at, "copy in block %llu, which lies outside or is a copy already", (ull)wandered);
		}
		record = FSA_LE(uint64_t, raw, struct r4_record, next);
	}
}

enum fsa_status r4_audit_journal(struct r4_audit_state *s)
{
	struct r4 *r = s->r;
	uint8_t *raw = malloc(r->block_size);
	uint64_t head = r->last_committed;
	uint64_t left = r->blocks;

	if (!raw)
		return FSA_ENOMEM;
	while (head && head != r->last_flushed && left--) {
		uint64_t total, next, previous;

		if (!take_log(s, head, R4_TX_MAGIC, R4_D_TX_HEAD, "transaction", raw)) {
			R4_FIND(r, "transaction", head, head < r->blocks ? r4_at(r, head) : FSA_NO_OFFSET, "no transaction head in block %llu", (ull)head);
			break;
		}
		total = FSA_LE(uint32_t, raw, struct r4_tx_head, total);
		next = FSA_LE(uint64_t, raw, struct r4_tx_head, next);
		previous = FSA_LE(uint64_t, raw, struct r4_tx_head, previous);
		take_records(s, head, next, total ? total - 1 : 0, raw);
		head = previous;
	}
	free(raw);
	return FSA_OK;
}
