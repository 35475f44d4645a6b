/* SPDX-License-Identifier: GPL-2.0-only */
#include "trial_beside.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "format.h"
#include "trial_documented.h"
#include "trial_get.h"

/* So much above the disk's rate may be the clock's or the cache's doing. */
#define FASTER_BY 1.1
/* What a cache cannot hold back: below it, writing may well end before the disk has all. */
#define CACHE_BYTES 8e9

static struct format_text size(double bytes)
{
	return format_human(bytes > 0 ? (uint64_t)bytes : 0);
}

/* "10MB" in a table is "size-10M" here. */
static void collection_of(char *name, size_t room, const char *file_size)
{
	size_t n = strlen(file_size);

	/* Of "100B" the B is the unit, of "10MB" only the M. */
	if (n > 1 && strchr("KM", file_size[n - 2]) != NULL)
		n--;
	snprintf(name, room, "size-%.*s", (int)n, file_size);
}

static void ratio_cell(struct grid *grid, double measured, double documented)
{
	if (documented > 0 && measured >= 0)
		grid_cell(grid, "%.2f", measured / documented);
	else
		grid_cell(grid, "-");
}

static void seconds_cell(struct grid *grid, bool known, double seconds)
{
	if (known)
		grid_cell(grid, "%.3f", seconds);
	else
		grid_cell(grid, "-");
}

/* --- df of files of one size -------------------------------------------------------------------------- */

/* Places among the filesystems that both the table and the result have, by documented and by measured use. */
static void places(const json_t *result, const json_t *table, const json_t *row, unsigned *documented, unsigned *measured)
{
	const char *file_size = trial_documented_text(row, "file_size");
	char collection[64];
	const json_t *own, *cell;
	double least, mine, theirs;
	json_t *other;
	size_t i;

	collection_of(collection, sizeof(collection), file_size);
	own = trial_find_cell(result, trial_documented_text(row, "fs"), "", collection, 0);
	trial_documented_human(trial_documented_text(row, "used"), &least, &mine);
	*documented = *measured = 1;
	json_array_foreach(table, i, other) {
		if (strcmp(trial_documented_text(other, "file_size"), file_size) != 0)
			continue;
		cell = trial_find_cell(result, trial_documented_text(other, "fs"), "", collection, 0);
		if (cell == NULL || !trial_documented_human(trial_documented_text(other, "used"), &least, &theirs))
			continue;
		*documented += theirs < mine;
		*measured += trial_df_used(cell) < trial_df_used(own);
	}
}

static bool beside_sizes(const json_t *result, const json_t *table, enum grid_format format)
{
	static const char *const columns[] = {
		"<FILES-OF", "<FILESYSTEM", "DOCUMENTED", "NOW", "RATIO", "NOW-UNSYNCED", "PLACE", "PLACE-NOW", "<WHY", NULL,
	};
	struct grid grid;
	char collection[64], why[300];
	unsigned documented, measured;
	double least, most;
	json_t *row;
	size_t i;

	grid_begin(&grid, "Used by df, documented and now; place 1 uses least", columns);
	json_array_foreach(table, i, row) {
		const char *text = trial_documented_text(row, "used");
		const json_t *cell;

		collection_of(collection, sizeof(collection), trial_documented_text(row, "file_size"));
		cell = trial_find_cell(result, trial_documented_text(row, "fs"), "", collection, 0);
		if (cell == NULL || !trial_documented_human(text, &least, &most))
			continue;
		places(result, table, row, &documented, &measured);
		trial_explain_used(why, sizeof(why), cell, least, most);
		grid_cell(&grid, "%s", trial_documented_text(row, "file_size"));
		grid_cell(&grid, "%s", trial_string(cell, "filesystem"));
		grid_cell(&grid, "%s", text);
		grid_cell(&grid, "%s", size(trial_df_used(cell)).text);
		ratio_cell(&grid, trial_df_used(cell), most);
		grid_cell(&grid, "%s", size(trial_number(cell, "df_unsynced.used_kib", 0) * 1024).text);
		grid_cell(&grid, "%u", documented);
		grid_cell(&grid, "%u", measured);
		grid_cell(&grid, "%s", why);
	}
	return grid_print(&grid, format);
}

/* "10MB" files: 10 000 of them, as the tables have it. */
static double table_bytes(const json_t *row)
{
	const char *text = trial_documented_text(row, "file_size");
	double bytes = 0;
	char unit = 'B';

	if (sscanf(text, "%lf%c", &bytes, &unit) < 1)
		return 0;
	return bytes * (unit == 'M' ? 1e6 : unit == 'K' ? 1e3 : 1) * 10000;
}

static void disk_remark(struct grid *grid, const json_t *result, double bytes, double seconds)
{
	const double rate = trial_number(result, "disk_rate", 0);

	if (rate > 0 && seconds > 0 && bytes > CACHE_BYTES && bytes / seconds > rate * FASTER_BY)
		grid_cell(grid, "CANNOT BE TRUE: %s/s, and the disk does %s/s", size(bytes / seconds).text,
				size(rate).text);
	else
		grid_cell(grid, "%s", "");
}

static bool beside_size_times(const json_t *result, const json_t *table, enum grid_format format)
{
	static const char *const columns[] = {
		"<FILES-OF", "<FILESYSTEM", "COPY", "WRITE-NOW", "RATIO", "LIST", "LIST-NOW", "RATIO", "REMOVE", "REMOVE-NOW",
		"RATIO", "<REMARK", NULL,
	};
	static const struct {
		const char *documented, *measured;
	} steps[] = {
		{ "cp_real_s", "populate.times.write.real_s" },
		{ "list_real_s", "populate.times.list.real_s" },
		{ "rm_real_s", "remove.times.remove.real_s" },
	};
	struct grid grid;
	char collection[64];
	json_t *row;
	size_t i;

	grid_begin(&grid, "Seconds to copy, list and remove, documented and now", columns);
	json_array_foreach(table, i, row) {
		const json_t *cell;
		double copy = 0;

		collection_of(collection, sizeof(collection), trial_documented_text(row, "file_size"));
		cell = trial_find_cell(result, trial_documented_text(row, "fs"), "", collection, 0);
		if (cell == NULL)
			continue;
		grid_cell(&grid, "%s", trial_documented_text(row, "file_size"));
		grid_cell(&grid, "%s", trial_string(cell, "filesystem"));
		for (size_t s = 0; s < sizeof(steps) / sizeof(steps[0]); s++) {
			const double measured = trial_number(cell, steps[s].measured, -1);
			double documented;
			const bool known = trial_documented_number(row, steps[s].documented, &documented);

			seconds_cell(&grid, known, documented);
			seconds_cell(&grid, measured >= 0, measured);
			ratio_cell(&grid, measured, known ? documented : 0);
			if (s == 0 && known)
				copy = documented;
		}
		disk_remark(&grid, result, table_bytes(row), copy);
	}
	return grid_print(&grid, format);
}

static bool beside_sync(const json_t *result, const json_t *table, enum grid_format format)
{
	static const char *const columns[] = {
		"<FILES-OF", "<FILESYSTEM", "SYNCED", "NOW", "RATIO", "NOT-SYNCED", "NOW", "RATIO", "LAST-SYNC", "NOW", "RATIO",
		"<REMARK", NULL,
	};
	struct grid grid;
	char collection[64];
	json_t *row;
	size_t i;

	grid_begin(&grid, "Seconds to copy with a sync after each 1000 files, without, and the last sync", columns);
	json_array_foreach(table, i, row) {
		const json_t *cells[3];
		static const char *const documented[] = { "cp_sync_real_s", "cp_nosync_real_s", "final_sync_s" };
		static const char *const measured[] = {
			"populate.times.write.real_s", "populate.times.write.real_s", "populate.times.sync.real_s",
		};
		double values[3] = { 0 };
		const char *fs = trial_documented_text(row, "fs");

		collection_of(collection, sizeof(collection), trial_documented_text(row, "file_size"));
		cells[0] = trial_find_cell(result, fs, "", collection, 1);
		cells[1] = cells[2] = trial_find_cell(result, fs, "", collection, 0);
		if (cells[0] == NULL && cells[1] == NULL)
			continue;
		grid_cell(&grid, "%s", trial_documented_text(row, "file_size"));
		grid_cell(&grid, "%s", fs);
		for (size_t s = 0; s < 3; s++) {
			const bool known = trial_documented_number(row, documented[s], &values[s]);
			const double now = trial_number(cells[s], measured[s], -1);

			seconds_cell(&grid, known, values[s]);
			seconds_cell(&grid, now >= 0, now);
			ratio_cell(&grid, now, known ? values[s] : 0);
		}
		disk_remark(&grid, result, table_bytes(row), values[1] + values[2]);
	}
	return grid_print(&grid, format);
}

/* --- clones --------------------------------------------------------------------------------------------- */

/* Other trees than those of old are compared by how filesystems stand to each other: to the first one of the table. */
static bool beside_clones(const json_t *result, const json_t *table, enum grid_format format)
{
	static const char *const columns[] = {
		"<FILESYSTEM", "DOCUMENTED", "TO-FIRST", "NOW", "TO-FIRST", "RATIO", "PLACE", "PLACE-NOW", "PAYLOAD-OF-DF",
		"<THE-REST-NOW", NULL,
	};
	const json_t *first = NULL;
	struct grid grid;
	double first_used = 0;
	json_t *row, *other;
	size_t i, k;

	grid_begin(&grid, "Used with all clones, documented and now, and each to the first; place 1 uses least", columns);
	json_array_foreach(table, i, row) {
		const char *fs = trial_documented_text(row, "fs"), *option = trial_documented_text(row, "mkfs_option");
		const json_t *cell = trial_find_cell(result, fs, option, "clones", 0);
		double used, theirs, clones;
		unsigned place = 1, now = 1;

		if (cell == NULL || !trial_documented_number(row, "used_kib", &used) ||
		    !trial_documented_number(row, "clones", &clones) || clones == 0)
			continue;
		if (first == NULL) {
			first = cell;
			first_used = used;
		}
		json_array_foreach(table, k, other) {
			const json_t *that = trial_find_cell(result, trial_documented_text(other, "fs"),
							     trial_documented_text(other, "mkfs_option"), "clones", 0);

			if (that == NULL || !trial_documented_number(other, "used_kib", &theirs) ||
			    !trial_documented_number(other, "clones", &clones) || clones == 0)
				continue;
			place += theirs < used;
			now += trial_df_used(that) < trial_df_used(cell);
		}
		grid_cell(&grid, "%s%s%s", fs, *option ? " " : "", option);
		grid_cell(&grid, "%.0fK", used);
		grid_cell(&grid, "%.3f", used / first_used);
		grid_cell(&grid, "%.0fK", trial_df_used(cell) / 1024);
		grid_cell(&grid, "%.3f", trial_df_used(cell) / trial_df_used(first));
		grid_cell(&grid, "%.3f", trial_df_used(cell) / trial_df_used(first) / (used / first_used));
		grid_cell(&grid, "%u", place);
		grid_cell(&grid, "%u", now);
		grid_cell(&grid, "%.1f %%", 100 * trial_payload(cell) / trial_df_used(cell));
		grid_cell(&grid, "slack %s, packing saves %s, kept back %s, not counted %s",
				size(trial_purpose(cell, "file-slack")).text,
				size(trial_number(cell, "audit.tails.saved_bytes", 0) +
				     trial_number(cell, "audit.inline.saved_bytes", 0)).text,
				size(trial_df_used(cell) - trial_ledger_used(cell)).text,
				size(trial_ledger_used(cell) - trial_df_used(cell)).text);
	}
	return grid_print(&grid, format);
}

static bool beside_runs(const json_t *result, const json_t *table, enum grid_format format)
{
	static const char *const columns[] = {
		"<FILESYSTEM", "CLONE", "DOCUMENTED", "TO-FIRST", "NOW", "TO-FIRST", "SYSTEM", "SYSTEM-NOW", "<MEASURED", NULL,
	};
	const json_t *first = NULL;
	struct grid grid;
	json_t *row;
	size_t i;

	grid_begin(&grid, "Seconds for each clone, documented and now, and each to that of the first filesystem", columns);
	json_array_foreach(table, i, row) {
		const char *fs = trial_documented_text(row, "fs"), *option = trial_documented_text(row, "mkfs_option");
		const json_t *cell = trial_find_cell(result, fs, option, "clones", 0), *now, *then;
		double elapsed, system, first_elapsed = 0;
		char phase[64];
		json_t *other;
		size_t k;

		snprintf(phase, sizeof(phase), "populate.times.tree-%.20s", trial_documented_text(row, "run"));
		now = trial_get(cell, phase);
		if (now == NULL || !trial_documented_number(row, "elapsed_s", &elapsed) ||
		    !trial_documented_number(row, "system_s", &system))
			continue;
		if (first == NULL)
			first = row;
		json_array_foreach(table, k, other)
			if (strcmp(trial_documented_text(other, "fs"), trial_documented_text(first, "fs")) == 0 &&
			    strcmp(trial_documented_text(other, "run"), trial_documented_text(row, "run")) == 0)
				trial_documented_number(other, "elapsed_s", &first_elapsed);
		then = trial_get(trial_find_cell(result, trial_documented_text(first, "fs"),
						 trial_documented_text(first, "mkfs_option"), "clones", 0), phase);
		grid_cell(&grid, "%s%s%s", fs, *option ? " " : "", option);
		grid_cell(&grid, "%s", trial_documented_text(row, "run"));
		grid_cell(&grid, "%.2f", elapsed);
		ratio_cell(&grid, elapsed, first_elapsed);
		grid_cell(&grid, "%.2f", trial_number(now, "real_s", 0));
		ratio_cell(&grid, trial_number(now, "real_s", 0), trial_number(then, "real_s", 0));
		grid_cell(&grid, "%.2f", system);
		grid_cell(&grid, "%.2f", trial_number(now, "sys_s", 0));
		grid_cell(&grid, "%s, engine %s", trial_string(now, "measured"), trial_string(cell, "populate.engine"));
	}
	return grid_print(&grid, format);
}

/* --- readback --------------------------------------------------------------------------------------------- */

/* The rate of dd on the disk of a row: nothing that reads it all is faster. */
static double dd_rate(const json_t *table, const json_t *row)
{
	json_t *other;
	double rate;
	size_t i;

	json_array_foreach(table, i, other)
		if (strncmp(trial_documented_text(other, "tool"), "dd", 2) == 0 &&
		    strcmp(trial_documented_text(other, "disk"), trial_documented_text(row, "disk")) == 0 &&
		    trial_documented_number(other, "documented_bytes_per_s", &rate))
			return rate;
	return 0;
}

static const char null_tar[] = "GNU tar to /dev/null";

/* Bytes per second of the pass that a documented tool stands for. */
static double rate_now(const json_t *cell, const char *tool, const char **what)
{
	const char *pass = strncmp(tool, "dump", 4) == 0 ? "dump" : strncmp(tool, "dd", 2) == 0 ? "dd" : "tar";
	const double seconds = trial_number(cell, "populate.times.tar-null.real_s", 0);
	double rate = 0, bytes = 0;
	json_t *one;
	size_t i;

	json_array_foreach(trial_get(cell, "readback.passes"), i, one) {
		const json_t *run = json_array_get(trial_get(one, "runs"), 0);

		if (strcmp(trial_string(one, "pass"), pass) != 0)
			continue;
		rate = trial_number(run, "bytes_per_second", 0);
		bytes = trial_number(run, "bytes", 0);
	}
	*what = pass;
	/* The bytes that a tar would hold, in the time of one that does not read them: how that row came about. */
	if (strcmp(tool, "tar /dev/null") == 0 && seconds > 0) {
		*what = null_tar;
		return bytes / seconds;
	}
	return rate;
}

/* `disk`: the rate that the documented one exceeds, 0: it does not. `null`: it wrote to /dev/null. */
static void readback_remark(struct grid *grid, const json_t *cell, double disk, bool null)
{
	const double piped = trial_number(cell, "populate.times.tar-pipe.real_s", 0);
	const double unread = trial_number(cell, "populate.times.tar-null.real_s", 0);
	char effect[200] = "";

	if (null && unread > 0)
		snprintf(effect, sizeof(effect),
			 "GNU tar here: %.3f s to /dev/null, %.3f s to a pipe; it read %s and %s of the device", unread, piped,
			 size(trial_number(cell, "populate.times.tar-null.read_bytes", 0)).text,
			 size(trial_number(cell, "populate.times.tar-pipe.read_bytes", 0)).text);
	if (disk > 0)
		grid_cell(grid, "CANNOT BE TRUE: faster than the disk, which dd reads at %s/s%s%s", size(disk).text,
			  *effect != '\0' ? "; " : "", effect);
	else
		grid_cell(grid, "%s", effect);
}

static bool beside_readback(const json_t *result, const json_t *table, enum grid_format format)
{
	static const char *const columns[] = {
		"<TOOL", "<FILESYSTEM", "<DISK", "DOCUMENTED", "OF-DD", "<NOW-BY", "NOW", "OF-DD", "<REMARK", NULL,
	};
	struct grid grid;
	json_t *row;
	size_t i;

	grid_begin(&grid, "Bytes a second read back, documented and now, and each as a part of dd's", columns);
	json_array_foreach(table, i, row) {
		const char *tool = trial_documented_text(row, "tool"), *what, *dd;
		const json_t *cell = trial_find_cell(result, trial_documented_text(row, "fs"), "", "clones", 0);
		const double of_dd = dd_rate(table, row);
		double documented, bytes, seconds, now, now_dd;

		if (cell == NULL)
			continue;
		if (!trial_documented_number(row, "documented_bytes_per_s", &documented)) {
			if (!trial_documented_number(row, "bytes_read", &bytes) ||
			    !trial_documented_number(row, "real_s", &seconds) || seconds <= 0)
				continue;
			documented = bytes / seconds;
		}
		now = rate_now(cell, tool, &what);
		now_dd = rate_now(cell, "dd", &dd);
		grid_cell(&grid, "%s", tool);
		grid_cell(&grid, "%s", trial_string(cell, "filesystem"));
		grid_cell(&grid, "%s", trial_documented_text(row, "disk"));
		grid_cell(&grid, "%s/s", size(documented).text);
		ratio_cell(&grid, documented, of_dd);
		grid_cell(&grid, "%s", what);
		grid_cell(&grid, "%s/s", size(now).text);
		/* GNU tar ran where the filesystem was mounted, dd maybe on the host: these two do not compare. */
		ratio_cell(&grid, now, strcmp(what, null_tar) == 0 ? 0 : now_dd);
		readback_remark(&grid, cell, of_dd > 0 && documented > of_dd * FASTER_BY ? of_dd : 0,
				strcmp(what, null_tar) == 0);
	}
	return grid_print(&grid, format);
}

bool trial_beside(const json_t *result, enum grid_format format)
{
	static const char *const sizes[] = { "file_size", "used", "cp_real_s", NULL };
	static const char *const sync[] = { "file_size", "cp_sync_real_s", NULL };
	static const char *const clones[] = { "clones", "used_kib", NULL };
	static const char *const runs[] = { "run", "elapsed_s", NULL };
	static const char *const readback[] = { "tool", "documented_bytes_per_s", NULL };
	static const struct {
		const char *const *headings;
		bool (*print)(const json_t *result, const json_t *table, enum grid_format format);
	} kinds[] = {
		{ sizes, beside_sizes }, { sizes, beside_size_times }, { sync, beside_sync }, { clones, beside_clones },
		{ runs, beside_runs }, { readback, beside_readback },
	};
	const json_t *documented = json_object_get(result, "documented");

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const json_t *table = trial_documented_find(documented, kinds[i].headings, NULL);

		if (table != NULL && !kinds[i].print(result, table, format))
			return false;
	}
	return true;
}
