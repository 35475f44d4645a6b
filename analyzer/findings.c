/* SPDX-License-Identifier: GPL-2.0-only */
#include "findings.h"

#include <inttypes.h>
#include <string.h>

#include "escape.h"

static const char *image_of(const struct opened *opened, const struct fsa_finding *finding)
{
	if (finding->device == 0 || finding->device >= opened->fs->n_devices)
		return opened->argument;
	return fsa_image_name(opened->fs->devices[finding->device].image);
}

static void print_one(FILE *out, const struct opened *opened, const struct fsa_finding *finding)
{
	fprintf(out, "%s: %s: %s", image_of(opened, finding), opened->summary.type, finding->object);
	if (finding->number != FSA_NO_NUMBER)
		fprintf(out, " %" PRIu64, finding->number);
	if (finding->offset != FSA_NO_OFFSET)
		fprintf(out, " @0x%" PRIx64, finding->offset);
	fputs(": ", out);
	escape_print(out, finding->message, strlen(finding->message));
	fputc('\n', out);
}

uint64_t findings_total(const struct opened *opened)
{
	return fsa_findings_count(opened->findings) + fsa_findings_dropped(opened->findings);
}

int findings_print(FILE *out, const struct opened *opened, size_t limit)
{
	const size_t count = fsa_findings_count(opened->findings);
	const uint64_t total = findings_total(opened);
	size_t shown = limit != 0 && limit < count ? limit : count;

	fsa_findings_sort(opened->findings);
	for (size_t i = 0; i < shown; i++)
		print_one(out, opened, fsa_findings_at(opened->findings, i));
	if (total > shown)
		fprintf(out, "%s: %s: and %" PRIu64 " more\n", opened->argument, opened->summary.type,
			total - shown);
	return total != 0 ? CLI_FINDINGS : CLI_CONSISTENT;
}
