/* SPDX-License-Identifier: GPL-2.0-only */
#include "map_at.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "escape.h"
#include "fsa/bytes.h"
#include "fsa/read.h"
#include "json.h"
#include "progress.h"

/* Owners named of a byte that many share; finding a path costs a walk over the tree. */
#define MAX_OWNERS 16

struct claim {
	uint64_t offset, length;
	unsigned detail;
	bool has_owner;
	struct fsa_owner owner;
	char *path;			/* of the owner, or NULL */
	bool have_file_offset;
	uint64_t file_offset;		/* of the byte in the owner's file */
};

struct answer {
	const struct opened *opened;
	const struct fsa_ledger *ledger;
	uint64_t offset;
	struct claim claims[MAX_OWNERS];
	unsigned n_claims;
	uint64_t more;			/* claims beyond */
	/* When nothing claims it: */
	enum fsa_purpose purpose;
	uint64_t run_offset, run_length;
};

static void on_run(void *arg, const struct fsa_run *run)
{
	struct answer *a = arg;
	struct claim *claim;

	if (run->device != 0 || a->offset < run->offset || a->offset - run->offset >= run->length)
		return;
	if (a->n_claims == MAX_OWNERS) {
		a->more++;
		return;
	}
	claim = &a->claims[a->n_claims++];
	*claim = (struct claim){ .offset = run->offset, .length = run->length, .detail = run->detail };
	if (run->owner != NULL) {
		claim->has_owner = true;
		claim->owner = *run->owner;
	}
}

/* Where in its owner's file the byte stands. */
struct search {
	const struct answer *answer;
	struct claim *claim;
};

static enum fsa_status on_extent(void *arg, const struct fsa_extent *extent)
{
	const struct search *s = arg;
	const uint64_t offset = s->answer->offset;

	if (extent->kind != FSA_EXTENT_DATA && extent->kind != FSA_EXTENT_UNWRITTEN &&
	    extent->kind != FSA_EXTENT_PACKED)
		return FSA_OK;
	if (extent->device != 0 || extent->physical == FSA_NO_OFFSET || offset < extent->physical ||
	    offset - extent->physical >= extent->length)
		return FSA_OK;
	s->claim->have_file_offset = true;
	s->claim->file_offset = extent->logical + (offset - extent->physical);
	return FSA_STOP;
}

static void find_in_file(const struct answer *a, struct claim *claim)
{
	struct search s = { a, claim };
	struct fsa_fs *fs = a->opened->fs;
	struct fsa_stat stat;

	if (fs->parser->extents == NULL || fs->parser->stat == NULL)
		return;
	if (fs->parser->stat(fs, claim->owner.ref, &stat) == FSA_OK && stat.type == FSA_TYPE_REGULAR)
		fsa_file_extents(fs, claim->owner.ref, stat.size, on_extent, &s);
}

static enum fsa_status look(struct answer *a)
{
	struct progress progress;
	struct fsa_audit audit = { .progress = progress_audit, .progress_arg = &progress };
	enum fsa_status status;

	audit.claims = fsa_claims_to_callback(a->ledger, on_run, a);
	if (audit.claims == NULL)
		return FSA_ENOMEM;
	progress_begin(&progress, "looking", a->opened->argument);
	fsa_findings_mute(a->opened->findings, true);
	status = a->opened->fs->parser->audit(a->opened->fs, &audit);
	fsa_claims_free(audit.claims);
	for (unsigned i = 0; i < a->n_claims && status == FSA_OK; i++) {
		struct claim *claim = &a->claims[i];

		if (!claim->has_owner || !claim->owner.has_ref)
			continue;
		if (fsa_path_of(a->opened->fs, claim->owner.ref, &claim->path) != FSA_OK)
			claim->path = NULL;
		find_in_file(a, claim);
	}
	fsa_findings_mute(a->opened->findings, false);
	progress_end(&progress);
	return status;
}

/* The stretch around the byte when nothing claims it: as far as the ledger's state goes on from there. */
static void ask_ledger(struct answer *a)
{
	const uint64_t size = fsa_ledger_block_size(a->ledger, 0);
	const uint64_t block = a->offset / size;
	uint64_t run = 0;

	if (block >= fsa_ledger_blocks(a->ledger, 0)) {
		a->purpose = FSA_OUTSIDE;
		a->run_offset = fsa_ledger_blocks(a->ledger, 0) * size;
		a->run_length = fsa_image_size(a->opened->images[0]) - a->run_offset;
		return;
	}
	switch (fsa_ledger_state(a->ledger, 0, block, &run)) {
	case FSA_BLOCK_FREE:
		a->purpose = FSA_FREE;
		break;
	case FSA_BLOCK_LOST:
		a->purpose = FSA_LOST;
		break;
	case FSA_BLOCK_CLAIMED:
		a->purpose = FSA_NODE_FREE;
		break;
	}
	a->run_offset = block * size;
	a->run_length = run * size;
}

/* --- as text ------------------------------------------------------------------------------------- */

static void print_run(uint64_t offset, uint64_t length)
{
	printf("stretch:  0x%" PRIx64 ", %" PRIu64 " bytes\n", offset, length);
}

static void print_purpose(enum fsa_purpose purpose, const char *detail)
{
	printf("purpose:  %s (%s)\n", fsa_purpose_name(purpose), fsa_purpose_meaning(purpose));
	if (detail != NULL)
		printf("detail:   %s\n", detail);
}

static void print_claim(const struct answer *a, const struct claim *claim)
{
	const struct fsa_detail *detail = &a->opened->fs->parser->details[claim->detail];

	print_purpose(detail->purpose, detail->name);
	print_run(claim->offset, claim->length);
	if (claim->has_owner) {
		printf("owner:    %s", claim->owner.object);
		if (claim->owner.number != FSA_NO_NUMBER)
			printf(" %" PRIu64, claim->owner.number);
		putchar('\n');
	}
	if (claim->path != NULL) {
		fputs("path:     ", stdout);
		escape_print(stdout, claim->path, strlen(claim->path));
		putchar('\n');
	}
	if (claim->have_file_offset)
		printf("in file:  byte %" PRIu64 "\n", claim->file_offset);
}

static void print_text(const struct answer *a)
{
	const uint64_t size = fsa_ledger_block_size(a->ledger, 0);

	printf("offset:   0x%" PRIx64 " (%" PRIu64 "), byte %" PRIu64 " of block %" PRIu64 "\n", a->offset, a->offset,
	       a->offset % size, a->offset / size);
	if (a->n_claims == 0) {
		print_purpose(a->purpose, NULL);
		print_run(a->run_offset, a->run_length);
	}
	for (unsigned i = 0; i < a->n_claims; i++) {
		if (i != 0)
			printf("also claimed as\n");
		print_claim(a, &a->claims[i]);
	}
	if (a->more != 0)
		printf("and %" PRIu64 " more claims\n", a->more);
}

/* --- as JSON ------------------------------------------------------------------------------------- */

static json_t *claim_json(const struct answer *a, const struct claim *claim)
{
	const struct fsa_detail *detail = &a->opened->fs->parser->details[claim->detail];
	json_t *object = json_object();
	int bad = object == NULL;

	if (bad)
		return NULL;
	bad |= json_object_set_new(object, "purpose", json_string(fsa_purpose_name(detail->purpose)));
	bad |= json_object_set_new(object, "detail", json_string(detail->name));
	bad |= json_object_set_new(object, "offset", json_unsigned(claim->offset));
	bad |= json_object_set_new(object, "length", json_unsigned(claim->length));
	if (claim->has_owner) {
		bad |= json_object_set_new(object, "object", json_string(claim->owner.object));
		if (claim->owner.number != FSA_NO_NUMBER)
			bad |= json_object_set_new(object, "number", json_unsigned(claim->owner.number));
	}
	if (claim->path != NULL)
		bad |= json_set_bytes(object, "path", claim->path, strlen(claim->path));
	if (claim->have_file_offset)
		bad |= json_object_set_new(object, "file_offset", json_unsigned(claim->file_offset));
	if (!bad)
		return object;
	json_decref(object);
	return NULL;
}

static json_t *answer_json(const struct answer *a)
{
	json_t *object = json_object(), *claims = json_array();
	int bad = object == NULL || claims == NULL;

	if (!bad) {
		bad |= json_object_set_new(object, "offset", json_unsigned(a->offset));
		bad |= json_object_set_new(object, "block_size",
					   json_unsigned(fsa_ledger_block_size(a->ledger, 0)));
	}
	if (!bad && a->n_claims == 0) {
		json_t *none = json_pack("{s:s, s:o, s:o}", "purpose", fsa_purpose_name(a->purpose), "offset",
					 json_unsigned(a->run_offset), "length", json_unsigned(a->run_length));

		bad |= json_array_append_new(claims, none);
	}
	for (unsigned i = 0; i < a->n_claims && !bad; i++)
		bad |= json_array_append_new(claims, claim_json(a, &a->claims[i]));
	if (!bad)
		bad |= json_object_set(object, "claims", claims);
	json_decref(claims);
	if (!bad)
		return object;
	json_decref(object);
	return NULL;
}

int map_at(const struct opened *opened, const struct fsa_ledger *ledger, uint64_t offset, bool json)
{
	struct answer a = { .opened = opened, .ledger = ledger, .offset = offset };
	int result = CLI_CONSISTENT;
	enum fsa_status status;

	if (offset >= fsa_image_size(opened->images[0])) {
		cli_error("%s: offset %" PRIu64 " lies behind the end of the image, %" PRIu64, opened->argument,
			  offset, fsa_image_size(opened->images[0]));
		return CLI_FAILED;
	}
	status = look(&a);
	if (a.n_claims == 0)
		ask_ledger(&a);
	if (status != FSA_OK) {
		cli_error("%s: %s", opened->argument, fsa_status_name(status));
		result = CLI_FAILED;
	}
	if (json)
		result = json_print(answer_json(&a), result);
	else
		print_text(&a);
	for (unsigned i = 0; i < a.n_claims; i++)
		free(a.claims[i].path);
	return result;
}
