/* SPDX-License-Identifier: GPL-2.0-only */
#include "trial_audit.h"

#include "findings.h"
#include "report.h"

/* Purposes and details that hold nothing say nothing. */
static json_t *without_zeros(const json_t *ledger)
{
	json_t *out = json_object(), *row, *detail;
	size_t i, k;

	json_array_foreach(ledger, i, row) {
		json_t *details = json_object();
		const json_int_t bytes = json_integer_value(json_object_get(row, "bytes"));

		json_array_foreach(json_object_get(row, "details"), k, detail)
			if (json_integer_value(json_object_get(detail, "bytes")) != 0)
				json_object_set(details, json_string_value(json_object_get(detail, "name")),
						json_object_get(detail, "bytes"));
		if (bytes != 0)
			json_object_set_new(out, json_string_value(json_object_get(row, "purpose")),
					    json_pack("{s:I, s:O}", "bytes", bytes, "details", details));
		json_decref(details);
	}
	return out;
}

/* The three numbers that the kernel's df shows too. */
static json_t *df_of(const json_t *df)
{
	if (!json_is_object(df))
		return json_null();
	return json_pack("{s:O, s:O, s:O}", "size_kib", json_object_get(df, "size_kib"), "used_kib",
			 json_object_get(df, "used_kib"), "available_kib", json_object_get(df, "available_kib"));
}

/* The first few, as text; their number beside them. */
static json_t *findings_of(const json_t *findings)
{
	json_t *out = json_array(), *one;
	size_t i;

	json_array_foreach(findings, i, one)
		if (i < 5)
			json_array_append_new(out, json_sprintf("%s: %s",
								json_string_value(json_object_get(one, "object")),
								json_string_value(json_object_get(one, "message"))));
	return out;
}

json_t *trial_audit_json(const struct assay *assay)
{
	json_t *full = report_json(assay), *out;

	if (full == NULL)
		return NULL;
	out = json_pack("{s:o, s:o, s:O, s:O, s:O, s:O, s:I, s:I, s:b, s:I, s:o}", "df", df_of(json_object_get(full, "df")),
			"ledger", without_zeros(json_object_get(full, "ledger")), "figures",
			json_object_get(full, "figures"), "tails", json_object_get(full, "tails"), "inline",
			json_object_get(full, "inline"), "size_classes", json_object_get(full, "size_classes"), "du_bytes",
			(json_int_t)assay->bridge.du, "unexplained_bytes", (json_int_t)assay->bridge.unexplained,
			"consistent", assay->complete && assay->consistent, "findings",
			(json_int_t)findings_total(assay->opened), "first_findings",
			findings_of(json_object_get(full, "findings")));
	json_decref(full);
	return out;
}
