/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What collections of a tree share: it keeps directories' times until the
 * end (their contents change them), falls back where a time is refused, and
 * leaves out what hangs on something refused.
 *
 * All functions return 0, POP_REFUSED or a negative errno; a caller may hand
 * a refusal to pop_gen_ok() to go on.
 */
#ifndef FSA_POP_COLLECTION_GEN_H
#define FSA_POP_COLLECTION_GEN_H

#include "collection.h"

struct pop_gen_dir {
	char *path;
	int64_t mtime;
};

struct pop_gen {
	struct pop_sink *sink;
	uint64_t seed;
	uint64_t files;
	struct pop_gen_dir *dirs;
	size_t dir_count, dir_room;
};

/* A refusal is no reason to stop. */
static inline int pop_gen_ok(int ret)
{
	return ret < 0 ? ret : 0;
}

/* A directory; its time is set by pop_gen_finish(). */
int pop_gen_dir(struct pop_gen *g, const char *path);
int pop_gen_dir_as(struct pop_gen *g, const char *path, uint32_t mode,
		   uint32_t uid, uint32_t gid);

/* A file full of content, mode and time drawn from the seed and the path. */
int pop_gen_file(struct pop_gen *g, const char *path, uint64_t size);

/* The same with these ranges written and the rest left out. */
int pop_gen_sparse(struct pop_gen *g, const char *path, uint64_t size,
		   const struct pop_range *data, size_t count);

int pop_gen_write(struct pop_gen *g, const char *path, uint64_t offset,
		  uint64_t length, bool sync);
int pop_gen_truncate(struct pop_gen *g, const char *path, uint64_t size);
int pop_gen_prealloc(struct pop_gen *g, const char *path, uint64_t offset,
		     uint64_t length, bool keep_size);
int pop_gen_link(struct pop_gen *g, const char *old_path,
		 const char *new_path);
int pop_gen_symlink(struct pop_gen *g, const char *path, const char *target);
int pop_gen_node(struct pop_gen *g, const char *path, uint32_t mode,
		 uint32_t major, uint32_t minor);
int pop_gen_xattr(struct pop_gen *g, const char *path, const char *name,
		  const void *value, size_t len);

/* An attribute with seeded bytes of this length as its value. */
int pop_gen_xattr_bytes(struct pop_gen *g, const char *path,
			const char *name, size_t len);
int pop_gen_attr(struct pop_gen *g, const char *path, uint32_t mode,
		 uint32_t uid, uint32_t gid);
int pop_gen_unlink(struct pop_gen *g, const char *path);
int pop_gen_rmdir(struct pop_gen *g, const char *path);

/*
 * Sets a time; where it is refused, a plain one takes its place so that the
 * object's time is known all the same.
 */
int pop_gen_time(struct pop_gen *g, const char *path, int64_t sec,
		 uint32_t nsec);

/* The seeded time of a path (1990 to 2030, full seconds), after writes. */
int pop_gen_time_again(struct pop_gen *g, const char *path);

/* Sets the times of all directories, deepest last made first. */
int pop_gen_finish(struct pop_gen *g);
void pop_gen_free(struct pop_gen *g);

/* The two halves of the mixed collection. */
int pop_mixed_data(struct pop_gen *g);
int pop_mixed_meta(struct pop_gen *g);

#endif
