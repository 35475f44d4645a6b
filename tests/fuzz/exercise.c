/* SPDX-License-Identifier: GPL-2.0-only */
#include "exercise.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fsa/parser.h"
#include "fsa/read.h"

/* Names of one tree that are looked at, and bytes of one file that are read. */
#define MOST_NAMES 400
#define MOST_BYTES (64u << 10)

#define MUST(condition, ...) \
	do { \
		if (!(condition)) { \
			fprintf(stderr, "must hold: " __VA_ARGS__); \
			fputc('\n', stderr); \
			abort(); \
		} \
	} while (0)

struct seen {
	const struct fsa_fs *fs;
	const struct fsa_ledger *ledger;
	unsigned names;
	volatile uint64_t sum;	/* makes the sanitizers see every byte that was delivered */
};

static enum fsa_status on_object(void *arg, const struct fsa_object *object)
{
	struct seen *seen = arg;

	seen->sum += object->size_bytes + object->number;
	return FSA_OK;
}

static void on_run(void *arg, const struct fsa_run *run)
{
	struct seen *seen = arg;
	uint64_t end, size;

	MUST(run->device < fsa_ledger_devices(seen->ledger), "device %u exists", run->device);
	MUST(run->detail < seen->fs->parser->n_details, "detail %u exists", run->detail);
	size = fsa_ledger_blocks(seen->ledger, run->device) * fsa_ledger_block_size(seen->ledger, run->device);
	MUST(run->length > 0 && !__builtin_add_overflow(run->offset, run->length, &end) && end <= size,
	     "%" PRIu64 " bytes at %" PRIu64 " lie within the device of %" PRIu64, run->length, run->offset, size);
}

static void on_figure(void *arg, const char *group, const char *name, uint64_t value, const char *unit)
{
	struct seen *seen = arg;

	seen->sum += value + (uint64_t)(unsigned char)group[0] + (unsigned char)name[0] + (unsigned char)unit[0];
}

static enum fsa_status on_bytes(void *arg, const void *data, uint64_t length, bool unreadable)
{
	struct seen *seen = arg;
	const uint8_t *bytes = data;

	(void)unreadable;
	for (uint64_t i = 0; bytes != NULL && i < length; i++)
		seen->sum += bytes[i];
	return FSA_OK;
}

static enum fsa_status on_extent(void *arg, const struct fsa_extent *extent)
{
	struct seen *seen = arg;

	MUST(extent->length > 0, "an extent has a length");
	seen->sum += extent->physical;
	return FSA_OK;
}

static enum fsa_status on_xattr(void *arg, const char *name, const void *value, size_t length)
{
	struct seen *seen = arg;

	for (; *name != '\0'; name++)
		seen->sum += (unsigned char)*name;
	return on_bytes(seen, value, length, false);
}

static void on_line(void *arg, const char *name, const char *value)
{
	struct seen *seen = arg;

	seen->sum += (unsigned char)name[0] + (uint64_t)(unsigned char)value[0];
}

static enum fsa_status on_name(void *arg, const struct fsa_walk_entry *entry)
{
	struct seen *seen = arg;
	struct fsa_fs *fs = (struct fsa_fs *)(uintptr_t)seen->fs;
	const struct fsa_parser *parser = fs->parser;
	const struct fsa_stat *stat = entry->stat;

	if (entry->entry != NULL) {
		MUST(entry->entry->name_length > 0, "a name is not empty");
		MUST(memchr(entry->entry->name, '/', entry->entry->name_length) == NULL, "a name has no '/'");
		MUST(entry->path[0] != '/', "a path starts with no '/'");
	}
	if (stat != NULL) {
		if (stat->type == FSA_TYPE_REGULAR && parser->extents != NULL) {
			(void)fsa_file_extents(fs, entry->ref, stat->size, on_extent, seen);
			(void)fsa_file_read_part(fs, entry->ref, stat->size, 0, MOST_BYTES, on_bytes, seen);
			if (stat->size > MOST_BYTES)
				(void)fsa_file_read_part(fs, entry->ref, stat->size, stat->size - 4096, 4096,
							 on_bytes, seen);
		}
		if (stat->type == FSA_TYPE_SYMLINK && parser->readlink != NULL) {
			char *target = NULL;
			size_t length = 0;

			if (parser->readlink(fs, entry->ref, &target, &length) == FSA_OK)
				(void)on_bytes(seen, target, length + 1, false);
			free(target);
		}
	}
	if (parser->xattrs != NULL)
		(void)parser->xattrs(fs, entry->ref, on_xattr, seen);
	if (parser->describe != NULL)
		(void)parser->describe(fs, entry->ref, on_line, seen);
	return ++seen->names < MOST_NAMES ? FSA_OK : FSA_STOP;
}

/* Ranges of the image that are not free, for cutting it there. */
static size_t used_ranges(const struct fsa_ledger *ledger, uint64_t (*used)[2], size_t limit)
{
	const uint64_t block_size = fsa_ledger_block_size(ledger, 0);
	size_t n = 0;

	for (uint64_t block = 0, run; block < fsa_ledger_blocks(ledger, 0) && n < limit; block += run) {
		if (fsa_ledger_state(ledger, 0, block, &run) != FSA_BLOCK_FREE) {
			used[n][0] = block * block_size;
			used[n++][1] = run * block_size;
		}
		MUST(run > 0, "a run of blocks is not empty");
	}
	return n;
}

static size_t audit(struct fsa_fs *fs, uint64_t (*used)[2], size_t limit)
{
	const struct fsa_parser *parser = fs->parser;
	struct fsa_ledger *ledger = fsa_ledger_new(parser->details, parser->n_details);
	struct seen seen = { .fs = fs, .ledger = ledger };
	struct fsa_ledger_result result;
	struct fsa_range ranges[16];
	struct fsa_audit a = { .object = on_object, .object_arg = &seen, .figure = on_figure, .figure_arg = &seen,
			       .verify_data = true };
	uint64_t sum = 0, total;
	size_t n = 0;

	if (ledger == NULL || parser->geometry(fs, ledger) != FSA_OK)
		goto out;
	a.claims = fsa_claims_to_ledger(ledger);
	if (a.claims == NULL)
		goto out;
	(void)parser->audit(fs, &a);
	fsa_claims_free(a.claims);
	if (fsa_ledger_close(ledger, &result) != FSA_OK)
		goto out;
	for (unsigned i = 0; i < FSA_PURPOSES; i++)
		sum += result.purpose_bytes[i];
	MUST(sum == result.image_bytes, "the ledger adds up: %" PRIu64 " of %" PRIu64, sum, result.image_bytes);
	MUST(result.image_bytes == fsa_image_size(fs->devices[0].image), "the ledger is of the whole image");
	for (int kind = FSA_RANGE_LOST; kind <= FSA_RANGE_CONFLICT; kind++)
		(void)fsa_ledger_ranges(ledger, (enum fsa_range_kind)kind, ranges, 16, &total);
	if (used != NULL)
		n = used_ranges(ledger, used, limit);

	fsa_findings_mute(fs->findings, true);
	a = (struct fsa_audit){ .claims = fsa_claims_to_callback(ledger, on_run, &seen) };
	if (a.claims != NULL)
		(void)parser->audit(fs, &a);
	fsa_claims_free(a.claims);
	fsa_findings_mute(fs->findings, false);
out:
	fsa_ledger_free(ledger);
	return n;
}

size_t exercise(const uint8_t *bytes, size_t size, int force, uint64_t (*used)[2], size_t limit)
{
	const struct fsa_open_options options = { .force = force != 0 };
	struct fsa_findings *findings = fsa_findings_new(64);
	struct fsa_device device = { .role = FSA_ROLE_MAIN };
	struct fsa_fs *fs = NULL;
	struct fsa_summary summary;
	struct fsa_statfs statfs;
	struct seen seen = { 0 };
	struct fsa_error err;
	struct fsa_ref root;
	size_t n = 0;

	if (findings == NULL || fsa_image_from_memory(bytes, size, "memory", &device.image) != FSA_OK) {
		fsa_findings_free(findings);
		return 0;
	}
	if (fsa_open(&device, 1, NULL, &options, findings, &fs, &err) == FSA_OK) {
		(void)fs->parser->summary(fs, &summary);
		if (fs->parser->statfs != NULL) {
			(void)fs->parser->statfs(fs, false, &statfs);
			(void)fs->parser->statfs(fs, true, &statfs);
		}
		n = audit(fs, used, limit);
		seen.fs = fs;
		if (fs->parser->root != NULL && fs->parser->root(fs, &root) == FSA_OK)
			(void)fsa_walk(fs, root, true, on_name, &seen);
		fsa_findings_sort(findings);
		fsa_close(fs);
	}
	fsa_image_close(device.image);
	fsa_findings_free(findings);
	return n;
}
