/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reading, written once above all formats: paths, files through their extents, walks over trees.
 */
#ifndef FSA_READ_H
#define FSA_READ_H

#include "fsa/parser.h"

/*
 * Finds `path` (components separated by '/', bytes, leading slash optional, symbolic links not followed;
 * "#N" or "<N>" as the whole path is inode number N where the format has numbers). On failure err names
 * the component that failed.
 */
enum fsa_status fsa_lookup(struct fsa_fs *fs, const char *path, struct fsa_ref *ref, struct fsa_error *err);

/* Finds `name` in a directory: FSA_OK, FSA_ENOENT, or why the directory could not be read. */
enum fsa_status fsa_lookup_in(struct fsa_fs *fs, struct fsa_ref dir, const char *name, size_t length,
			      struct fsa_dirent *entry);

/*
 * As parser->extents for a file of `size` bytes, with every gap below `size` reported as a hole and
 * pieces out of order, empty or overlapping turned into a finding and left out.
 */
enum fsa_status fsa_file_extents(struct fsa_fs *fs, struct fsa_ref ref, uint64_t size, fsa_extent_fn extent,
				 void *arg);

/*
 * The bytes of a file in order. `data` NULL means `length` zeros that are stored nowhere (a hole or
 * unwritten space). Exactly `size` bytes are delivered whatever the damage; bytes that cannot be read
 * come as zeros with `unreadable` true, and the finding is made.
 */
typedef enum fsa_status (*fsa_bytes_fn)(void *arg, const void *data, uint64_t length, bool unreadable);
enum fsa_status fsa_file_read(struct fsa_fs *fs, struct fsa_ref ref, uint64_t size, fsa_bytes_fn bytes,
			      void *arg);
/* The same for the part [from, from + length) of it, as far as that lies below `size`. */
enum fsa_status fsa_file_read_part(struct fsa_fs *fs, struct fsa_ref ref, uint64_t size, uint64_t from,
				   uint64_t length, fsa_bytes_fn bytes, void *arg);

/* One name met by a walk. */
struct fsa_walk_entry {
	const char *path;		/* bytes from the start of the walk, no leading slash; "" for the start */
	size_t path_length;
	const struct fsa_dirent *entry;	/* NULL for the start */
	struct fsa_ref ref;
	const struct fsa_stat *stat;	/* NULL when it could not be read: a finding says why */
	unsigned depth;			/* 0 for the start */
};

/*
 * Walks the tree below `start`. A directory is followed by what is in it: first everything that is no
 * directory, in directory order, then each directory with all below it (so that an archive in this order
 * can be unpacked in one go, the times of directories included). Directories are entered once each: a
 * directory met again is a finding and is not entered. Names that no tree may hold ("", ".", "..", with
 * '/' or NUL) and names that a directory holds twice are findings and are left out. Depth is bounded.
 */
typedef enum fsa_status (*fsa_walk_fn)(void *arg, const struct fsa_walk_entry *entry);
enum fsa_status fsa_walk(struct fsa_fs *fs, struct fsa_ref start, bool recursive, fsa_walk_fn visit,
			 void *arg);

/* The same tree as listings: all entries of one directory in its order, then those of the next. */
enum fsa_status fsa_walk_listings(struct fsa_fs *fs, struct fsa_ref start, bool recursive, fsa_walk_fn visit,
				  void *arg);

/*
 * The first path that leads to `ref`, malloc'd, with a leading slash; FSA_ENOENT when no directory names
 * it. Walks the tree: meant for a handful of references at a time.
 */
enum fsa_status fsa_path_of(struct fsa_fs *fs, struct fsa_ref ref, char **path);

#endif
