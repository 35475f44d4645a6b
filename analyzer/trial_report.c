/* SPDX-License-Identifier: GPL-2.0-only */
/* What was measured: space, times, readback, and what failed. */
#include "trial_report.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "format.h"
#include "trial_beside.h"
#include "trial_get.h"

static struct format_text size(double bytes)
{
	return bytes < 0 ? format_human_signed((int64_t)bytes) : format_human((uint64_t)bytes);
}

/* Place by what df shows as used, among the cells of the same collection. */
static unsigned rank(const json_t *cells, const json_t *cell)
{
	unsigned place = 1;
	const char *key;
	json_t *other;

	json_object_foreach((json_t *)(uintptr_t)cells, key, other)
		if (trial_cell_done(other) &&
		    strcmp(trial_string(other, "collection"), trial_string(cell, "collection")) == 0 &&
		    trial_number(other, "sync_every", 0) == trial_number(cell, "sync_every", 0) &&
		    trial_df_used(other) < trial_df_used(cell))
			place++;
	return place;
}

/* A word on the audits of a cell: that filled, and that emptied. */
static const char *verdict(const json_t *cell)
{
	const json_t *audits[] = { trial_get(cell, "audit"), trial_get(cell, "remove.audit") };

	for (size_t i = 0; i < 2; i++) {
		if (audits[i] == NULL)
			continue;
		if (trial_get(audits[i], "error") != NULL)
			return "failed";
		if (trial_number(audits[i], "findings", 0) > 0 || !json_is_true(trial_get(audits[i], "consistent")))
			return "findings";
		if (json_is_false(trial_get(audits[i], "df_as_kernel")))
			return "df differs";
	}
	return trial_get(audits[0], "df_as_kernel") != NULL ? "closed, df as the kernel's" : "closed";
}

static bool print_space(const json_t *result, enum grid_format format)
{
	static const char *const columns[] = {
		"<COLLECTION", "<FILESYSTEM", "FILES", "PAYLOAD", "DF-USED", "RANK", "UNSYNCED", "EMPTY", "REMOVED", "IMAGE-FILE",
		NULL,
	};
	const json_t *cells = json_object_get(result, "cells");
	struct grid grid;
	const char *key;
	json_t *cell;

	grid_begin(&grid, "Space: what df shows filled, before write-back, empty, and with all removed", columns);
	json_object_foreach((json_t *)(uintptr_t)cells, key, cell) {
		if (!trial_cell_done(cell))
			continue;
		grid_cell(&grid, "%s", trial_string(cell, "collection"));
		grid_cell(&grid, "%s%s", trial_string(cell, "filesystem"),
				trial_number(cell, "sync_every", 0) > 0 ? " (synced)" : "");
		grid_cell(&grid, "%.0f", trial_number(cell, "audit.figures.files", 0));
		grid_cell(&grid, "%s", size(trial_payload(cell)).text);
		grid_cell(&grid, "%.0fK", trial_df_used(cell) / 1024);
		grid_cell(&grid, "%u", rank(cells, cell));
		grid_cell(&grid, trial_get(cell, "df_unsynced") != NULL ? "%.0fK" : "-",
				trial_number(cell, "df_unsynced.used_kib", 0));
		grid_cell(&grid, trial_get(cell, "df_new") != NULL ? "%.0fK" : "-",
				trial_number(cell, "df_new.used_kib", 0));
		grid_cell(&grid, trial_get(cell, "remove.audit.df") != NULL ? "%.0fK" : "-",
				trial_number(cell, "remove.audit.df.used_kib", 0));
		grid_cell(&grid, "%s", size(trial_number(cell, "image_bytes", 0)).text);
	}
	return grid_print(&grid, format);
}

static bool print_ledger(const json_t *result, enum grid_format format)
{
	static const char *const columns[] = {
		"<COLLECTION", "<FILESYSTEM", "USED", "EFFICIENCY", "PER-FILE", "SLACK", "PACKED", "SAVED", "JOURNAL", "INODES",
		"DIRECTORY", "OTHER", "KEPT-BACK", "<AUDIT", NULL,
	};
	struct grid grid;
	const char *key;
	json_t *cell;

	grid_begin(&grid, "Ledger: what the used bytes are for", columns);
	json_object_foreach((json_t *)(uintptr_t)json_object_get(result, "cells"), key, cell) {
		const double used = trial_ledger_used(cell), payload = trial_payload(cell);
		const double slack = trial_purpose(cell, "file-slack");
		const double named = trial_purpose(cell, "journal") + trial_inode_tables(cell) +
				     trial_purpose(cell, "directory");

		if (!trial_cell_done(cell))
			continue;
		grid_cell(&grid, "%s", trial_string(cell, "collection"));
		grid_cell(&grid, "%s%s", trial_string(cell, "filesystem"),
				trial_number(cell, "sync_every", 0) > 0 ? " (synced)" : "");
		grid_cell(&grid, "%s", size(used).text);
		grid_cell(&grid, "%.1f %%", 100 * trial_number(cell, "audit.figures.efficiency", 0));
		grid_cell(&grid, "%s", size(trial_number(cell, "audit.figures.overhead_per_file_bytes", 0)).text);
		grid_cell(&grid, "%s", size(slack).text);
		grid_cell(&grid, "%.0f", trial_number(cell, "audit.tails.files", 0) +
						       trial_number(cell, "audit.inline.files", 0));
		grid_cell(&grid, "%s", size(trial_number(cell, "audit.tails.saved_bytes", 0) +
						  trial_number(cell, "audit.inline.saved_bytes", 0)).text);
		grid_cell(&grid, "%s", size(trial_purpose(cell, "journal")).text);
		grid_cell(&grid, "%s", size(trial_inode_tables(cell)).text);
		grid_cell(&grid, "%s", size(trial_purpose(cell, "directory")).text);
		grid_cell(&grid, "%s", size(used - payload - slack - named).text);
		grid_cell(&grid, "%s", size(trial_df_used(cell) - used).text);
		grid_cell(&grid, "%s", verdict(cell));
	}
	return grid_print(&grid, format);
}

static void time_cell(struct grid *grid, const json_t *times, const char *phase, const char *clock)
{
	const json_t *time = trial_get(times, phase);

	if (time == NULL)
		grid_cell(grid, "-");
	else
		grid_cell(grid, "%.3f", trial_number(time, clock, 0));
}

static bool print_times(const json_t *result, enum grid_format format)
{
	static const char *const columns[] = {
		"<COLLECTION", "<FILESYSTEM", "SYNC-EVERY", "MKFS", "WRITE", "USER", "SYS", "SYNC", "LIST", "REMOVE", "RM-USER",
		"RM-SYS", "<WHERE", NULL,
	};
	struct grid grid;
	const char *key;
	json_t *cell;

	grid_begin(&grid, "Times in seconds: mkfs, writing (real, user, sys), the last sync, listing, removing", columns);
	json_object_foreach((json_t *)(uintptr_t)json_object_get(result, "cells"), key, cell) {
		const json_t *times = trial_get(cell, "populate.times"), *removed = trial_get(cell, "remove.times");

		if (!trial_cell_done(cell) || trial_get(times, "write") == NULL)
			continue;
		grid_cell(&grid, "%s", trial_string(cell, "collection"));
		grid_cell(&grid, "%s", trial_string(cell, "filesystem"));
		grid_cell(&grid, "%.0f", trial_number(cell, "sync_every", 0));
		time_cell(&grid, times, "mkfs", "real_s");
		time_cell(&grid, times, "write", "real_s");
		time_cell(&grid, times, "write", "user_s");
		time_cell(&grid, times, "write", "sys_s");
		time_cell(&grid, times, "sync", "real_s");
		time_cell(&grid, times, "list", "real_s");
		time_cell(&grid, removed, "remove", "real_s");
		time_cell(&grid, removed, "remove", "user_s");
		time_cell(&grid, removed, "remove", "sys_s");
		grid_cell(&grid, "%s, %s", trial_string(cell, "populate.engine"),
				*trial_string(cell, "populate.kernel") ? trial_string(cell, "populate.kernel") : "no kernel");
	}
	return grid_print(&grid, format);
}

/* Collections with phases of their own: a line a phase. */
static bool print_phases(const json_t *result, enum grid_format format)
{
	static const char *const columns[] = {
		"<COLLECTION", "<FILESYSTEM", "<PHASE", "REAL", "USER", "SYS", "<WHERE", NULL,
	};
	struct grid grid;
	const char *key, *phase;
	json_t *cell, *time;

	grid_begin(&grid, "Times in seconds, phase by phase", columns);
	json_object_foreach((json_t *)(uintptr_t)json_object_get(result, "cells"), key, cell) {
		const json_t *times = trial_get(cell, "populate.times"), *removed = trial_get(cell, "remove.times");

		if (!trial_cell_done(cell) || trial_get(times, "write") != NULL)
			continue;
		for (unsigned part = 0; part < 2; part++)
			json_object_foreach((json_t *)(uintptr_t)(part == 0 ? times : removed), phase, time) {
				grid_cell(&grid, "%s", trial_string(cell, "collection"));
				grid_cell(&grid, "%s", trial_string(cell, "filesystem"));
				grid_cell(&grid, "%s", phase);
				grid_cell(&grid, "%.3f", trial_number(time, "real_s", 0));
				grid_cell(&grid, "%.3f", trial_number(time, "user_s", 0));
				grid_cell(&grid, "%.3f", trial_number(time, "sys_s", 0));
				grid_cell(&grid, "%s", trial_string(time, "measured"));
			}
	}
	return grid_print(&grid, format);
}

static void readback_row(struct grid *grid, const json_t *cell, const char *what, const json_t *run)
{
	const double real = trial_number(run, "real_s", 0), bytes = trial_number(run, "bytes", trial_number(run, "read_bytes", 0));

	grid_cell(grid, "%s", trial_string(cell, "collection"));
	grid_cell(grid, "%s", trial_string(cell, "filesystem"));
	grid_cell(grid, "%s", what);
	grid_cell(grid, "%.3f", real);
	grid_cell(grid, "%.3f", trial_number(run, "user_s", 0));
	grid_cell(grid, "%.3f", trial_number(run, "sys_s", 0));
	if (bytes > 0) {
		grid_cell(grid, "%.0f", bytes);
		grid_cell(grid, "%s/s", size(real > 0 ? bytes / real : 0).text);
	} else {
		grid_cell(grid, "-");
		grid_cell(grid, "-");
	}
	grid_cell(grid, "%s", *trial_string(run, "digest") ? trial_string(run, "digest") : "-");
}

static bool print_readback(const json_t *result, enum grid_format format)
{
	static const char *const columns[] = {
		"<COLLECTION", "<FILESYSTEM", "<PASS", "REAL", "USER", "SYS", "BYTES", "RATE", "<DIGEST", NULL,
	};
	struct grid grid;
	const char *key;
	json_t *cell, *pass;
	size_t i;

	grid_begin(&grid, "Readback: times in seconds, and the proof", columns);
	json_object_foreach((json_t *)(uintptr_t)json_object_get(result, "cells"), key, cell) {
		const json_t *times = trial_get(cell, "populate.times");

		if (!trial_cell_done(cell))
			continue;
		json_array_foreach(trial_get(cell, "readback.passes"), i, pass)
			readback_row(&grid, cell, trial_string(pass, "pass"), json_array_get(trial_get(pass, "runs"), 0));
		/* GNU tar tells no bytes; what the device has read for it shows that to /dev/null it reads no file. */
		if (trial_get(times, "tar-null") != NULL)
			readback_row(&grid, cell, "GNU tar to /dev/null", trial_get(times, "tar-null"));
		if (trial_get(times, "tar-pipe") != NULL)
			readback_row(&grid, cell, "GNU tar to a pipe", trial_get(times, "tar-pipe"));
	}
	return grid_print(&grid, format);
}

static bool print_failures(const json_t *result, enum grid_format format)
{
	static const char *const columns[] = { "<CELL", "<WHY", NULL };
	struct grid grid;
	const char *key;
	json_t *cell;

	grid_begin(&grid, "Failed", columns);
	json_object_foreach((json_t *)(uintptr_t)json_object_get(result, "cells"), key, cell) {
		const char *why = trial_string(cell, "error");

		if (*why == '\0')
			why = trial_string(cell, "audit.error");
		if (*why == '\0')
			why = trial_string(cell, "remove.error");
		if (*why == '\0')
			continue;
		grid_cell(&grid, "%s", key);
		grid_cell(&grid, "%s", why);
	}
	return grid_print(&grid, format);
}

static void print_head(const json_t *result, enum grid_format format)
{
	const json_t *machine = json_object_get(result, "machine");

	if (format == GRID_CSV)
		return;
	printf(format == GRID_MARKDOWN ? "## %s\n\n" : "%s\n", trial_string(result, "title"));
	printf("%.0f x %s, %s of memory, Linux %s; %zu cells%s.\n\n", trial_number(machine, "processors", 1),
	       trial_string(machine, "processor"), size(trial_number(machine, "memory_bytes", 0)).text,
	       trial_string(machine, "kernel"), json_object_size(json_object_get(result, "cells")),
	       json_is_true(json_object_get(result, "complete")) ? "" : ", not complete");
}

bool trial_report(const json_t *result, enum grid_format format)
{
	print_head(result, format);
	return print_space(result, format) && print_ledger(result, format) && print_times(result, format) &&
	       print_phases(result, format) && print_readback(result, format) && trial_beside(result, format) &&
	       print_failures(result, format);
}
