/* SPDX-License-Identifier: GPL-2.0-only */
/* Building blocks of tree collections. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "collection_gen.h"
#include "pop_rand.h"

/* The range that every format keeps: after 1970, before 2038. */
#define TIME_FIRST	INT64_C(631152000)	/* 1990-01-01 */
#define TIME_SPAN	INT64_C(1262304000)	/* to 2030 */

static int64_t seeded_time(const struct pop_gen *g, const char *path)
{
	uint64_t h = pop_seed_of(g->seed ^ 0x74696d65, path);

	return TIME_FIRST + (int64_t)(h % (uint64_t)TIME_SPAN);
}

static int emit(struct pop_gen *g, const struct pop_op *op)
{
	return g->sink->emit(g->sink, op);
}

static int remember_dir(struct pop_gen *g, const char *path)
{
	if (g->dir_count == g->dir_room) {
		size_t room = g->dir_room ? g->dir_room * 2 : 64;
		struct pop_gen_dir *dirs;

		dirs = realloc(g->dirs, room * sizeof(*dirs));
		if (!dirs)
			return -ENOMEM;
		g->dirs = dirs;
		g->dir_room = room;
	}
	char *copy = strdup(path);
	if (!copy)
		return -ENOMEM;
	g->dirs[g->dir_count++] = (struct pop_gen_dir){
		.path = copy, .mtime = seeded_time(g, path),
	};
	return 0;
}

int pop_gen_dir_as(struct pop_gen *g, const char *path, uint32_t mode,
		   uint32_t uid, uint32_t gid)
{
	int ret;

	ret = emit(g, &(struct pop_op){
		.kind = POP_MKDIR, .path = path, .mode = mode,
		.uid = uid, .gid = gid,
	});
	return ret ? ret : remember_dir(g, path);
}

int pop_gen_dir(struct pop_gen *g, const char *path)
{
	return pop_gen_dir_as(g, path, 0755, 0, 0);
}

int pop_gen_sparse(struct pop_gen *g, const char *path, uint64_t size,
		   const struct pop_range *data, size_t count)
{
	static const uint16_t modes[] = { 0644, 0644, 0600, 0640, 0755, 0444 };
	static const uint32_t ids[] = { 0, 0, 1000, 1001, 33 };
	struct pop_rand r;

	pop_rand_init(&r, pop_seed_of(g->seed ^ 0x6d6f6465, path));
	return emit(g, &(struct pop_op){
		.kind = POP_CREATE, .path = path, .size = size,
		.mode = modes[pop_rand_below(&r, 6)],
		.uid = ids[pop_rand_below(&r, 5)],
		.gid = ids[pop_rand_below(&r, 5)],
		.source = { .seed = pop_seed_of(g->seed, path) },
		.data = data, .data_count = count,
		.mtime = seeded_time(g, path),
	});
}

int pop_gen_file(struct pop_gen *g, const char *path, uint64_t size)
{
	const struct pop_range all = { 0, size };

	return pop_gen_sparse(g, path, size, &all, size ? 1 : 0);
}

int pop_gen_write(struct pop_gen *g, const char *path, uint64_t offset,
		  uint64_t length, bool sync)
{
	const struct pop_range range = { offset, length };

	return emit(g, &(struct pop_op){
		.kind = POP_WRITE, .path = path, .data = &range,
		.data_count = 1, .sync = sync,
		.source = { .seed = pop_seed_of(g->seed, path) },
	});
}

int pop_gen_truncate(struct pop_gen *g, const char *path, uint64_t size)
{
	return emit(g, &(struct pop_op){
		.kind = POP_TRUNCATE, .path = path, .size = size,
	});
}

int pop_gen_prealloc(struct pop_gen *g, const char *path, uint64_t offset,
		     uint64_t length, bool keep_size)
{
	return emit(g, &(struct pop_op){
		.kind = POP_PREALLOC, .path = path,
		.range = { offset, length }, .keep_size = keep_size,
	});
}

int pop_gen_link(struct pop_gen *g, const char *old_path,
		 const char *new_path)
{
	return emit(g, &(struct pop_op){
		.kind = POP_LINK, .path = new_path, .target = old_path,
	});
}

int pop_gen_symlink(struct pop_gen *g, const char *path, const char *target)
{
	int ret;

	ret = emit(g, &(struct pop_op){
		.kind = POP_SYMLINK, .path = path, .target = target,
	});
	return ret ? ret : pop_gen_time_again(g, path);
}

int pop_gen_node(struct pop_gen *g, const char *path, uint32_t mode,
		 uint32_t major, uint32_t minor)
{
	int ret;

	ret = emit(g, &(struct pop_op){
		.kind = POP_MKNOD, .path = path, .mode = mode,
		.major = major, .minor = minor,
	});
	return ret ? ret : pop_gen_time_again(g, path);
}

int pop_gen_xattr(struct pop_gen *g, const char *path, const char *name,
		  const void *value, size_t len)
{
	return emit(g, &(struct pop_op){
		.kind = POP_SETXATTR, .path = path, .name = name,
		.value = value, .value_len = len,
	});
}

int pop_gen_xattr_bytes(struct pop_gen *g, const char *path,
			const char *name, size_t len)
{
	unsigned char *value = malloc(len ? len : 1);
	int ret;

	if (!value)
		return -ENOMEM;
	pop_content(pop_seed_of(g->seed, name), 0, value, len);
	ret = pop_gen_xattr(g, path, name, value, len);
	free(value);
	return ret;
}

int pop_gen_attr(struct pop_gen *g, const char *path, uint32_t mode,
		 uint32_t uid, uint32_t gid)
{
	return emit(g, &(struct pop_op){
		.kind = POP_SETATTR, .path = path, .mode = mode,
		.uid = uid, .gid = gid,
	});
}

int pop_gen_unlink(struct pop_gen *g, const char *path)
{
	return emit(g, &(struct pop_op){ .kind = POP_UNLINK, .path = path });
}

int pop_gen_rmdir(struct pop_gen *g, const char *path)
{
	int ret;

	ret = emit(g, &(struct pop_op){ .kind = POP_RMDIR, .path = path });
	if (ret)
		return ret;
	for (size_t i = g->dir_count; i-- > 0; ) {
		if (strcmp(g->dirs[i].path, path))
			continue;
		free(g->dirs[i].path);
		memmove(&g->dirs[i], &g->dirs[i + 1],
			(g->dir_count - i - 1) * sizeof(g->dirs[0]));
		g->dir_count--;
		break;
	}
	return 0;
}

static int set_time(struct pop_gen *g, const char *path, int64_t sec,
		    uint32_t nsec)
{
	return emit(g, &(struct pop_op){
		.kind = POP_UTIMES, .path = path, .mtime = sec,
		.mtime_nsec = nsec,
	});
}

int pop_gen_time(struct pop_gen *g, const char *path, int64_t sec,
		 uint32_t nsec)
{
	int ret = set_time(g, path, sec, nsec);

	if (ret != POP_REFUSED)
		return ret;
	return pop_gen_time_again(g, path);
}

int pop_gen_time_again(struct pop_gen *g, const char *path)
{
	return set_time(g, path, seeded_time(g, path), 0);
}

int pop_gen_finish(struct pop_gen *g)
{
	int ret = 0;

	for (size_t i = g->dir_count; i-- > 0 && ret >= 0; )
		ret = set_time(g, g->dirs[i].path, g->dirs[i].mtime, 0);
	if (ret >= 0)
		ret = pop_gen_attr(g, ".", 0755, 0, 0);
	if (ret >= 0)
		ret = pop_gen_time_again(g, ".");
	return pop_gen_ok(ret);
}

void pop_gen_free(struct pop_gen *g)
{
	for (size_t i = 0; i < g->dir_count; i++)
		free(g->dirs[i].path);
	free(g->dirs);
}
