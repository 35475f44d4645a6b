/* SPDX-License-Identifier: GPL-2.0-only */
#include "df.h"

#include <inttypes.h>
#include <string.h>

/* value * unit / 1024, rounded up, without overflow for any block size up to 2^32 - 1. */
static uint64_t to_kib(uint64_t value, uint32_t unit)
{
	const uint64_t whole = value / 1024, rest = value % 1024;

	return whole * unit + (rest * unit + 1023) / 1024;
}

/* Used of what an ordinary user could use: df rounds up, so that 100 % comes before it is full. */
static int percent(int64_t used, uint64_t available)
{
	const long double both = (long double)used + (long double)available;
	const uint64_t plain = (uint64_t)used;
	long double exact;
	int whole;

	if (used >= 0 && plain <= UINT64_MAX / 100 && plain + available >= plain) {
		if (plain + available == 0)
			return DF_NO_PERCENT;
		return (int)(plain * 100 / (plain + available) + (plain * 100 % (plain + available) != 0));
	}
	if (both == 0)
		return DF_NO_PERCENT;
	exact = 100 * (long double)used / both;
	/* Only a filesystem that is nothing but damage gets here with such a value. */
	if (exact < INT_MIN / 2 || exact > INT_MAX / 2)
		return DF_NO_PERCENT;
	whole = (int)exact;
	return whole + (whole < exact);
}

struct df_line df_line(const struct fsa_statfs *statfs)
{
	const bool negative = statfs->blocks < statfs->free;
	const uint64_t used = negative ? statfs->free - statfs->blocks : statfs->blocks - statfs->free;
	const int64_t used_kib = (int64_t)to_kib(used, statfs->block_size);

	return (struct df_line){
		.size_kib = to_kib(statfs->blocks, statfs->block_size),
		.used_kib = negative ? -used_kib : used_kib,
		.available_kib = to_kib(statfs->available, statfs->block_size),
		.use_percent = percent((int64_t)(statfs->blocks - statfs->free), statfs->available),
	};
}

struct df_inodes df_inodes(const struct fsa_statfs *statfs)
{
	const int64_t used = (int64_t)(statfs->files - statfs->files_free);

	return (struct df_inodes){
		.total = statfs->files,
		.used = used,
		.available = statfs->files_free,
		.use_percent = percent(used, statfs->files_free),
	};
}

#define COLUMNS 6

/* A heading and a cell each; the first and the last are aligned left, the others right. */
static void print_table(FILE *out, const char *cells[2][COLUMNS])
{
	/* df's least widths: 14 for the device, 5 for numbers, 4 for the percentage. */
	size_t width[COLUMNS] = { 14, 5, 5, 5, 4, 0 };

	for (int c = 0; c < COLUMNS; c++)
		for (int r = 0; r < 2; r++)
			if (strlen(cells[r][c]) > width[c])
				width[c] = strlen(cells[r][c]);
	for (int r = 0; r < 2; r++) {
		fprintf(out, "%-*s", (int)width[0], cells[r][0]);
		for (int c = 1; c < COLUMNS - 1; c++)
			fprintf(out, " %*s", (int)width[c], cells[r][c]);
		fprintf(out, " %s\n", cells[r][COLUMNS - 1]);
	}
}

static void print_numbers(FILE *out, const char *headings[COLUMNS], const char *source, uint64_t total,
			  int64_t used, uint64_t available, int use_percent)
{
	char text[3][24], use[16];
	const char *cells[2][COLUMNS];

	snprintf(text[0], sizeof(text[0]), "%" PRIu64, total);
	snprintf(text[1], sizeof(text[1]), "%" PRId64, used);
	snprintf(text[2], sizeof(text[2]), "%" PRIu64, available);
	if (use_percent == DF_NO_PERCENT)
		strcpy(use, "-");
	else
		snprintf(use, sizeof(use), "%d%%", use_percent);
	memcpy(cells[0], headings, sizeof(cells[0]));
	cells[1][0] = source;
	for (int i = 0; i < 3; i++)
		cells[1][i + 1] = text[i];
	cells[1][4] = use;
	cells[1][5] = "-";	/* mounted nowhere */
	print_table(out, cells);
}

void df_print(FILE *out, const char *source, const struct df_line *line)
{
	const char *headings[COLUMNS] = { "Filesystem", "1K-blocks", "Used", "Available", "Use%", "Mounted on" };

	print_numbers(out, headings, source, line->size_kib, line->used_kib, line->available_kib,
		      line->use_percent);
}

void df_print_inodes(FILE *out, const char *source, const struct df_inodes *inodes)
{
	const char *headings[COLUMNS] = { "Filesystem", "Inodes", "IUsed", "IFree", "IUse%", "Mounted on" };

	print_numbers(out, headings, source, inodes->total, inodes->used, inodes->available, inodes->use_percent);
}
