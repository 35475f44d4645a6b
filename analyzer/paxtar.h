/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A pax archive (POSIX.1-2001 tar) written to a file descriptor: one header, then exactly its data.
 *
 * libarchive writes this format too, but what it writes does not bring back every tree: a time before 1970
 * with a fraction loses its sign, names of extended attributes come out percent-encoded in a way that only
 * libarchive undoes, the mode of a file with an ACL loses the mask, and a hole costs as much as data.
 */
#ifndef FSA_ANALYZER_PAXTAR_H
#define FSA_ANALYZER_PAXTAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum paxtar_type {
	PAXTAR_REGULAR = '0',
	PAXTAR_HARD_LINK = '1',
	PAXTAR_SYMLINK = '2',
	PAXTAR_CHARDEV = '3',
	PAXTAR_BLOCKDEV = '4',
	PAXTAR_DIRECTORY = '5',
	PAXTAR_FIFO = '6',
};

struct paxtar_time {
	int64_t sec;	/* since 1970, rounded down; nsec counts forward from there */
	uint32_t nsec;
	bool set;
};

/* A stretch of a sparse file that has data; the rest reads as zeros. */
struct paxtar_piece {
	uint64_t offset, length;
};

struct paxtar_entry {
	enum paxtar_type type;
	const char *path;		/* bytes, relative; a directory's needs no slash at its end */
	size_t path_length;
	const char *link;		/* target of a symbolic or hard link */
	size_t link_length;
	uint32_t mode;			/* permission bits, st_mode's lower twelve */
	uint64_t uid, gid;
	uint64_t size;			/* of a regular file */
	uint32_t rdev_major, rdev_minor;
	struct paxtar_time mtime, atime, ctime;
	/* A sparse file: rising pieces; `sparse` with no piece is all hole. */
	bool sparse;
	const struct paxtar_piece *pieces;
	size_t n_pieces;
};

struct paxtar;

/*
 * Starts an archive on `fd`, which stays the caller's. `stop` is looked at before each write (NULL: never)
 * and ends the archive when it returns true. NULL when out of memory.
 */
struct paxtar *paxtar_new(int fd, bool (*stop)(void *arg), void *arg);
/* The same to `out`, which becomes the archive's and is freed with it (at once when this returns NULL). */
struct writebehind;
struct paxtar *paxtar_new_to(struct writebehind *out);
void paxtar_free(struct paxtar *tar);

/*
 * Adds a record for the next header: an extended attribute by its whole name, or an ACL as its text
 * ("SCHILY.acl.access" is made from "access"). False when out of memory; paxtar_header() then fails too.
 */
bool paxtar_xattr(struct paxtar *tar, const char *name, const void *value, size_t length);
bool paxtar_acl(struct paxtar *tar, bool default_acl, const char *text);
/* Forgets the records added since the last header. */
void paxtar_forget(struct paxtar *tar);

/* What follows returns false once anything went wrong; paxtar_error() tells what. */
bool paxtar_header(struct paxtar *tar, const struct paxtar_entry *entry);
/*
 * The next bytes of a regular file's data: all `size` of them, or those of the pieces only. NULL are zeros.
 */
bool paxtar_data(struct paxtar *tar, const void *data, uint64_t length);
/* As those of writebehind.h: data out of `bytes` is not copied. */
void paxtar_lend(struct paxtar *tar, const void *bytes, size_t length);
bool paxtar_settle(struct paxtar *tar);
bool paxtar_flush(struct paxtar *tar);
/* Ends an entry: fails when the data was not as long as its header said. */
bool paxtar_end_entry(struct paxtar *tar);
/* The end of the archive; everything is written when this returns true. */
bool paxtar_finish(struct paxtar *tar);

/* errno of the failure, 0 when there was none. ECANCELED: stop() said so. */
int paxtar_error(const struct paxtar *tar);
/* Bytes handed to the descriptor or waiting to be. */
uint64_t paxtar_bytes(const struct paxtar *tar);

#endif
