/* SPDX-License-Identifier: GPL-2.0-only */
/* What a trial keeps of an audit: the figures that its tables are made of. */
#ifndef FSA_ANALYZER_TRIAL_AUDIT_H
#define FSA_ANALYZER_TRIAL_AUDIT_H

#include <jansson.h>

#include "assay.h"

/* NULL when out of memory. */
json_t *trial_audit_json(const struct assay *assay);

#endif
