/* SPDX-License-Identifier: GPL-2.0-only */
/* The ledger as a table: part of the whole report, or alone with chosen columns. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "escape.h"
#include "format.h"
#include "report.h"
#include "table.h"

enum column { COL_IMAGE, COL_PURPOSE, COL_DETAIL, COL_BYTES, COL_SHARE, COL_CHARGED, COL_HOLDS, N_COLUMNS };

static const struct table_column all_columns[N_COLUMNS] = {
	[COL_IMAGE] = { "IMAGE", TABLE_LEFT },
	[COL_PURPOSE] = { "PURPOSE", TABLE_LEFT },
	[COL_DETAIL] = { "DETAIL", TABLE_LEFT },
	[COL_BYTES] = { "BYTES", TABLE_RIGHT },
	[COL_SHARE] = { "SHARE", TABLE_RIGHT },
	[COL_CHARGED] = { "CHARGED", TABLE_RIGHT },
	[COL_HOLDS] = { "HOLDS", TABLE_CUT },
};

const char report_columns[] = "IMAGE, PURPOSE, DETAIL, BYTES, SHARE, CHARGED, HOLDS";

struct selection {
	enum column columns[2 * N_COLUMNS];
	unsigned n;
};

/* False at a name that is none (*bad, of *bad_length) or when there are too many. */
static bool select_columns(const char *list, struct selection *selection, const char **bad, size_t *bad_length)
{
	selection->n = 0;
	for (const char *p = list;; p++) {
		const size_t length = strcspn(p, ",");
		unsigned c = 0;

		while (c < N_COLUMNS && (strncasecmp(p, all_columns[c].name, length) != 0 ||
					 all_columns[c].name[length] != '\0'))
			c++;
		if (c == N_COLUMNS || selection->n == 2 * N_COLUMNS) {
			*bad = p;
			*bad_length = length;
			return false;
		}
		selection->columns[selection->n++] = (enum column)c;
		p += length;
		if (*p == '\0')
			return true;
	}
}

bool report_columns_valid(const char *columns, char *unknown, size_t size)
{
	struct selection selection;
	const char *bad;
	size_t length;

	if (select_columns(columns, &selection, &bad, &length))
		return true;
	snprintf(unknown, size, "%.*s", (int)length, bad);
	return false;
}

struct row {
	const char *purpose;
	const char *detail;
	const char *holds;
	uint64_t bytes;
	uint64_t charged;
};

static void put_row(struct table *table, const struct selection *selection, const struct assay *assay,
		    const struct report_options *options, const char *image, const struct row *row)
{
	table_row(table);
	for (unsigned i = 0; i < selection->n; i++) {
		switch (selection->columns[i]) {
		case COL_IMAGE:
			table_cell(table, image);
			break;
		case COL_PURPOSE:
			table_cell(table, row->purpose);
			break;
		case COL_DETAIL:
			table_cell(table, row->detail);
			break;
		case COL_BYTES:
			table_cell(table, format_size(row->bytes, options->bytes).text);
			break;
		case COL_SHARE:
			table_cell(table, format_percent(row->bytes, assay->result.image_bytes).text);
			break;
		case COL_CHARGED:
			table_cell(table, format_size(row->charged, options->bytes).text);
			break;
		case COL_HOLDS:
			table_cell(table, row->holds);
			break;
		case N_COLUMNS:
			break;
		}
	}
}

static uint64_t charged_of(const struct assay *assay, unsigned purpose)
{
	const struct fsa_parser *parser = assay->opened->fs->parser;
	uint64_t sum = 0;

	for (unsigned i = 0; i < parser->n_details; i++)
		if (parser->details[i].purpose == purpose)
			sum += assay->result.charged_bytes[i];
	return sum;
}

static void put_details(struct table *table, const struct selection *selection, const struct assay *assay,
			const struct report_options *options, const char *image, unsigned purpose, bool nested)
{
	const struct fsa_parser *parser = assay->opened->fs->parser;
	char indented[128];

	for (unsigned i = 0; i < parser->n_details; i++) {
		struct row row = { .purpose = fsa_purpose_name(purpose), .detail = parser->details[i].name };

		if (parser->details[i].purpose != purpose || assay->result.detail_bytes[i] == 0)
			continue;
		/* One that only repeats its purpose's name says nothing new. */
		if (nested && strcmp(row.detail, row.purpose) == 0)
			continue;
		row.bytes = assay->result.detail_bytes[i];
		row.charged = assay->result.charged_bytes[i];
		if (nested) {
			snprintf(indented, sizeof(indented), "  %s", row.detail);
			row.purpose = indented;
		}
		put_row(table, selection, assay, options, image, &row);
	}
	if (purpose == FSA_FREE && assay->result.plain_free_bytes != 0 &&
	    assay->result.plain_free_bytes != assay->result.purpose_bytes[FSA_FREE]) {
		const struct row row = { .purpose = nested ? "  other free" : "free", .detail = "other free",
					 .bytes = assay->result.plain_free_bytes };

		put_row(table, selection, assay, options, image, &row);
	}
}

/* `nested`: details are indented below their purpose; else they have the DETAIL column. */
static bool print_ledger(const struct assay *assay, const struct report_options *options,
			 const struct selection *selection, bool nested)
{
	const struct fsa_ledger_result *result = &assay->result;
	struct table table;
	char image[1024];

	escape(image, sizeof(image), assay->opened->argument, strlen(assay->opened->argument));
	table_begin(&table, NULL, 0, !options->no_headings);
	for (unsigned i = 0; i < selection->n; i++)
		table_add_column(&table, &all_columns[selection->columns[i]]);
	for (unsigned p = 0; p < FSA_PURPOSES; p++) {
		const struct row row = {
			.purpose = fsa_purpose_name(p), .holds = fsa_purpose_meaning(p), .detail = "",
			.bytes = result->purpose_bytes[p], .charged = charged_of(assay, p),
		};

		/* That nothing is lost is worth a line, and `free` is what one looks for first. */
		if (row.bytes == 0 && nested && !options->verbose && p != FSA_LOST && p != FSA_FREE)
			continue;
		put_row(&table, selection, assay, options, image, &row);
		if (p == FSA_LOST && row.bytes != 0)
			table_emphasis(&table, "red");
		if (options->verbose)
			put_details(&table, selection, assay, options, image, p, nested);
	}
	if (nested) {
		const struct row total = { .purpose = "total", .holds = "the whole image", .detail = "",
					   .bytes = result->image_bytes };

		put_row(&table, selection, assay, options, image, &total);
		table_emphasis(&table, "bold");
	}
	return table_print(&table);
}

int report_ledger(const struct assay *assay, const struct report_options *options)
{
	struct selection selection = {
		.columns = { COL_PURPOSE, COL_BYTES, COL_SHARE, COL_HOLDS }, .n = 4,
	};
	const char *bad;
	size_t length;

	if (options->columns != NULL && !select_columns(options->columns, &selection, &bad, &length))
		return CLI_FAILED;
	return print_ledger(assay, options, &selection, options->columns == NULL) ? CLI_CONSISTENT : CLI_FAILED;
}
