/* SPDX-License-Identifier: GPL-2.0-only */
/* An assay as text and as JSON. */
#ifndef FSA_ANALYZER_REPORT_H
#define FSA_ANALYZER_REPORT_H

#include <jansson.h>

#include "assay.h"

struct report_options {
	bool bytes;		/* exact sizes */
	bool verbose;		/* details, every term of df, purposes and lines that are zero */
	bool no_headings;
	const char *columns;	/* only the ledger, with these columns; NULL: the whole report */
};

/* The columns that report_options.columns may name, as a list for --help. */
extern const char report_columns[];

/* False when a column is unknown; it is set then. */
bool report_columns_valid(const char *columns, char *unknown, size_t size);

/* Both give CLI_CONSISTENT, or CLI_FAILED with the reason printed. */
int report_text(const struct assay *assay, const struct report_options *options);
int report_ledger(const struct assay *assay, const struct report_options *options);

/* One element of "images"; NULL when out of memory. */
json_t *report_json(const struct assay *assay);

#endif
