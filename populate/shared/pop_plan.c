/* SPDX-License-Identifier: GPL-2.0-only */
/* The plan as a file: one "key value" a line. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pop_plan.h"
#include "pop_text.h"

static void put_string(FILE *f, const char *key, const char *value)
{
	fprintf(f, "%s ", key);
	pop_text_put(f, value ? value : "");
	putc('\n', f);
}

int pop_plan_write(const struct pop_plan *plan, int dir, const char *name)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
			0600);
	FILE *f;
	int bad;

	if (fd < 0)
		return -errno;
	f = fdopen(fd, "w");
	if (!f) {
		close(fd);
		return -ENOMEM;
	}
	put_string(f, "device", plan->device);
	put_string(f, "mount-type", plan->mount_type);
	put_string(f, "mount-options", plan->mount_options);
	put_string(f, "collection", plan->collection);
	fprintf(f, "files %" PRIu64 "\n", plan->files);
	fprintf(f, "file-size %" PRIu64 "\n", plan->file_size);
	fprintf(f, "seed %" PRIu64 "\n", plan->seed);
	put_string(f, "tree", plan->tree);
	fprintf(f, "clones %" PRIu64 "\n", plan->clones);
	fprintf(f, "tar %" PRIu64 "\n", plan->tar);
	fprintf(f, "remove %" PRIu64 "\n", plan->remove);
	fprintf(f, "sync-every %" PRIu64 "\n", plan->sync_every);
	fprintf(f, "old-times %" PRIu64 "\n", plan->old_times);
	bad = ferror(f);
	if (fclose(f) || bad)
		return -EIO;
	return 0;
}

static int take_line(struct pop_plan *plan, char **field)
{
	const struct {
		const char *key;
		char **string;
		uint64_t *number;
	} keys[] = {
		{ "device", &plan->device, NULL },
		{ "mount-type", &plan->mount_type, NULL },
		{ "mount-options", &plan->mount_options, NULL },
		{ "collection", &plan->collection, NULL },
		{ "files", NULL, &plan->files },
		{ "file-size", NULL, &plan->file_size },
		{ "seed", NULL, &plan->seed },
		{ "tree", &plan->tree, NULL },
		{ "clones", NULL, &plan->clones },
		{ "tar", NULL, &plan->tar },
		{ "remove", NULL, &plan->remove },
		{ "sync-every", NULL, &plan->sync_every },
		{ "old-times", NULL, &plan->old_times },
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (strcmp(field[0], keys[i].key))
			continue;
		if (keys[i].number)
			return pop_text_u64(field[1], keys[i].number) ?
				-EINVAL : 0;
		free(*keys[i].string);
		*keys[i].string = strdup(field[1]);
		return *keys[i].string ? 0 : -ENOMEM;
	}
	return -EINVAL;
}

int pop_plan_read(struct pop_plan *plan, int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	char *line = NULL;
	size_t room = 0;
	int ret = 0;
	FILE *f;

	*plan = (struct pop_plan){ 0 };
	if (fd < 0)
		return -errno;
	f = fdopen(fd, "r");
	if (!f) {
		close(fd);
		return -ENOMEM;
	}
	while (!ret && getline(&line, &room, f) > 0) {
		char *field[2];

		if (pop_text_split(line, field, 2) != 2)
			ret = -EINVAL;
		else
			ret = take_line(plan, field);
	}
	free(line);
	fclose(f);
	if (!ret && (!plan->device || !plan->mount_type ||
		     !plan->mount_options || !plan->collection || !plan->tree))
		ret = -EINVAL;
	if (ret)
		pop_plan_free(plan);
	return ret;
}

void pop_plan_free(struct pop_plan *plan)
{
	free(plan->device);
	free(plan->mount_type);
	free(plan->mount_options);
	free(plan->collection);
	free(plan->tree);
	*plan = (struct pop_plan){ 0 };
}
