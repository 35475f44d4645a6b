/* SPDX-License-Identifier: GPL-2.0-only */
/* size-*: many files of one size in one directory. */
#include <inttypes.h>
#include <stdio.h>

#include "collection.h"
#include "pop_rand.h"

/* 2013-05-01, when the table that these collections repeat was made. */
#define SIZE_MTIME	INT64_C(1367366400)

int pop_size_run(const struct pop_collection_args *args,
		 struct pop_sink *sink)
{
	struct pop_op op = {
		.kind = POP_MKDIR, .path = "files", .mode = 0755,
	};
	char path[64];
	int ret;

	ret = sink->emit(sink, &op);
	if (ret)
		return ret;
	for (uint64_t i = 0; i < args->files; i++) {
		const struct pop_range data = { 0, args->file_size };

		snprintf(path, sizeof(path), "files/%06" PRIu64, i);
		op = (struct pop_op){
			.kind = POP_CREATE, .path = path, .mode = 0644,
			.size = args->file_size, .data = &data,
			.data_count = args->file_size ? 1 : 0,
			.source = { .seed = pop_seed_of(args->seed, path) },
			.mtime = SIZE_MTIME + (int64_t)i,
		};
		ret = sink->emit(sink, &op);
		if (ret < 0)
			return ret;
	}
	static const char *const dirs[] = { "files", "." };
	for (size_t i = 0; i < 2; i++) {
		op = (struct pop_op){
			.kind = POP_UTIMES, .path = dirs[i],
			.mtime = SIZE_MTIME,
		};
		ret = sink->emit(sink, &op);
		if (ret < 0)
			return ret;
	}
	return 0;
}

void pop_size_need(const struct pop_collection_args *args,
		   uint64_t *bytes, uint64_t *inodes)
{
	/* To whole blocks, with the name and the share of an inode table. */
	*bytes = args->files * ((args->file_size + 4095) / 4096 * 4096 + 512);
	*inodes = args->files + 2;
}
