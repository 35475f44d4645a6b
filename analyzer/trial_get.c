/* SPDX-License-Identifier: GPL-2.0-only */
#include "trial_get.h"

#include <stdint.h>
#include <string.h>

const json_t *trial_get(const json_t *from, const char *path)
{
	while (from != NULL && *path != '\0') {
		const size_t n = strcspn(path, ".");

		from = json_object_getn(from, path, n);
		path += n + (path[n] == '.');
	}
	return json_is_null(from) ? NULL : from;
}

double trial_number(const json_t *from, const char *path, double fallback)
{
	const json_t *value = trial_get(from, path);

	return json_is_number(value) ? json_number_value(value) : fallback;
}

const char *trial_string(const json_t *from, const char *path)
{
	const char *text = json_string_value(trial_get(from, path));

	return text != NULL ? text : "";
}

bool trial_cell_done(const json_t *cell)
{
	return strcmp(trial_string(cell, "status"), "done") == 0 && trial_get(cell, "audit.ledger") != NULL;
}

double trial_df_used(const json_t *cell)
{
	return trial_number(cell, "audit.df.used_kib", 0) * 1024;
}

double trial_ledger_used(const json_t *cell)
{
	return trial_number(cell, "audit.figures.used_bytes", 0);
}

double trial_payload(const json_t *cell)
{
	return trial_number(cell, "audit.figures.payload_bytes", 0);
}

double trial_purpose(const json_t *cell, const char *purpose)
{
	return trial_number(trial_get(trial_get(cell, "audit.ledger"), purpose), "bytes", 0);
}

double trial_inode_tables(const json_t *cell)
{
	return trial_purpose(cell, "inode") + trial_purpose(cell, "inode-free");
}

const json_t *trial_filesystem(const json_t *result, const char *name)
{
	const json_t *list = json_object_get(result, "filesystems");
	json_t *one;
	size_t i;

	json_array_foreach(list, i, one)
		if (strcmp(trial_string(one, "name"), name) == 0)
			return one;
	return NULL;
}

const json_t *trial_find_cell(const json_t *result, const char *documented, const char *option, const char *collection,
			      double sync_every)
{
	json_t *cell;
	const char *key;

	json_object_foreach((json_t *)(uintptr_t)json_object_get(result, "cells"), key, cell) {
		const json_t *fs = trial_filesystem(result, trial_string(cell, "filesystem"));
		const char *wanted = trial_string(fs, "documented_option");

		if (!trial_cell_done(cell) || strcmp(trial_string(fs, "documented"), documented) != 0 ||
		    strcmp(trial_string(cell, "collection"), collection) != 0 ||
		    (*wanted != '\0' && strcmp(wanted, option) != 0) ||
		    (sync_every > 0) != (trial_number(cell, "sync_every", 0) > 0))
			continue;
		return cell;
	}
	return NULL;
}
