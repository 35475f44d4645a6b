/* SPDX-License-Identifier: GPL-2.0-only */
#include "trial_result.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cli.h"
#include "trial_documented.h"
#include "version.h"

#define RESULT_FORMAT 1

const char *trial_release(const char *text, char *buffer, size_t size)
{
	snprintf(buffer, size, "%.*s", (int)strspn(text, "0123456789."), text);
	return buffer;
}

/* The machine by what times depend on, and by nothing that names it. */
static json_t *machine_json(void)
{
	char line[512], model[256] = "?", release[64];
	FILE *cpuinfo = fopen("/proc/cpuinfo", "re");
	struct utsname uts;
	const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);

	while (cpuinfo != NULL && fgets(line, sizeof(line), cpuinfo) != NULL)
		if (sscanf(line, "model name : %255[^\n]", model) == 1)
			break;
	if (cpuinfo != NULL)
		fclose(cpuinfo);
	return json_pack("{s:s, s:I, s:I, s:s}", "processor", model, "processors",
			 (json_int_t)sysconf(_SC_NPROCESSORS_ONLN), "memory_bytes", (json_int_t)pages * page, "kernel",
			 uname(&uts) == 0 ? trial_release(uts.release, release, sizeof(release)) : "?");
}

static json_t *filesystems_json(const struct trial_plan *plan)
{
	json_t *list = json_array();

	for (size_t i = 0; i < plan->n_filesystems; i++) {
		const struct trial_filesystem *fs = &plan->filesystems[i];

		json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s, s:s, s:I, s:s?, s:s?}", "name", fs->name, "fs",
						      fs->fs, "mkfs_options", fs->mkfs_options ? fs->mkfs_options : "",
						      "mount_options", fs->mount_options ? fs->mount_options : "",
						      "features", fs->features ? fs->features : "", "block_size",
						      (json_int_t)fs->block_size, "documented", fs->documented,
						      "documented_option", fs->documented_option));
	}
	return list;
}

json_t *trial_result_new(const struct trial_plan *plan)
{
	json_t *documented = trial_documented_load(plan), *result, *collections = json_array();

	if (documented == NULL)
		return NULL;
	for (size_t i = 0; i < plan->n_collections; i++)
		json_array_append_new(collections, json_string(plan->collections[i]));
	result = json_pack("{s:i, s:s, s:s, s:s, s:o, s:o, s:o, s:I, s:b, s:o, s:o}", "format", RESULT_FORMAT, "program",
			   "fsassay " FSASSAY_VERSION, "title", plan->title, "plan", plan->text, "machine", machine_json(),
			   "filesystems", filesystems_json(plan), "collections", collections, "disk_rate",
			   (json_int_t)plan->disk_rate, "complete", 0, "documented", documented, "cells", json_object());
	if (result == NULL)
		cli_error("out of memory");
	return result;
}

json_t *trial_result_load(const char *path, bool *missing)
{
	json_error_t error;
	json_t *result;

	*missing = access(path, F_OK) != 0 && errno == ENOENT;
	if (*missing)
		return NULL;
	result = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
	if (result == NULL) {
		cli_error("%s: is no result of a trial: line %d: %s", path, error.line, error.text);
		return NULL;
	}
	if (json_integer_value(json_object_get(result, "format")) != RESULT_FORMAT ||
	    !json_is_object(json_object_get(result, "cells")) || !json_is_object(json_object_get(result, "documented")) ||
	    !json_is_array(json_object_get(result, "filesystems"))) {
		cli_error("%s: is no result of a trial, or of another version", path);
		json_decref(result);
		return NULL;
	}
	return result;
}

bool trial_result_is_of(const json_t *result, const struct trial_plan *plan)
{
	const char *text = json_string_value(json_object_get(result, "plan"));

	return text != NULL && strcmp(text, plan->text) == 0;
}

bool trial_result_save(const json_t *result, const char *path)
{
	const mode_t mask = umask(0);
	char *temporary;
	int fd;
	bool good;

	umask(mask);
	if (asprintf(&temporary, "%s.XXXXXX", path) < 0) {
		cli_error("out of memory");
		return false;
	}
	fd = mkostemp(temporary, O_CLOEXEC);
	good = fd >= 0 && json_dumpfd(result, fd, JSON_INDENT(1) | JSON_REAL_PRECISION(17)) == 0 &&
	       write(fd, "\n", 1) == 1 && fchmod(fd, 0666 & ~mask) == 0;
	/* Some filesystems tell only now that there was no room. */
	if (fd >= 0 && (fsync(fd) != 0 || close(fd) != 0))
		good = false;
	if (good && rename(temporary, path) != 0)
		good = false;
	if (!good) {
		cli_error("%s: cannot be written: %s", path, strerror(errno));
		if (fd >= 0)
			unlink(temporary);
	}
	free(temporary);
	return good;
}

json_t *trial_result_cell(const json_t *result, const char *key)
{
	return json_object_get(json_object_get(result, "cells"), key);
}

bool trial_result_put(json_t *result, const char *key, json_t *cell)
{
	/* In the order of their making: an older one goes first. */
	json_object_del(json_object_get(result, "cells"), key);
	return json_object_set_new(json_object_get(result, "cells"), key, cell) == 0;
}
