/* SPDX-License-Identifier: GPL-2.0-only */
/* Figures of passes as a table and as JSON. */
#ifndef FSA_ANALYZER_READBACK_REPORT_H
#define FSA_ANALYZER_READBACK_REPORT_H

#include <jansson.h>

#include "readback.h"

/* One image's table; `bytes`: exact numbers. CLI_CONSISTENT or CLI_FAILED. */
int readback_report_text(const struct opened *opened, const struct readback_result *results, unsigned n,
			 const struct readback_options *options, bool bytes, bool no_headings);

/* One image's object; NULL when out of memory. */
json_t *readback_report_json(const struct opened *opened, const struct readback_result *results, unsigned n,
			     const struct readback_options *options);

#endif
