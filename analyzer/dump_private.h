/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of the dump stream (dump*.c) share; nobody else includes this. */
#ifndef FSA_ANALYZER_DUMP_PRIVATE_H
#define FSA_ANALYZER_DUMP_PRIVATE_H

#include "dump.h"

/* Everything in a dump is made of records of this size; a header is one of them. */
#define DUMP_RECORD 1024u
/* A header tells of so many records whether they follow or are a hole. */
#define DUMP_ADDRS 512u
/* Directories are cut into blocks of this size, which no entry crosses. */
#define DUMP_DIRBLOCK 512u
/* restore(8) takes attributes in blocks up to this size. */
#define DUMP_XATTR_BLOCK 4096u
/* Streams end on a multiple of so many records. */
#define DUMP_RECORDS_AT_ONCE 32u
#define DUMP_ROOT 2u

/* --- dump_record.c: the stream, record by record ------------------------------------------------------- */

enum dump_record_type {
	DUMP_TAPE = 1,		/* the start */
	DUMP_INODE = 2,		/* an inode, or attributes of the one before */
	DUMP_BITS = 3,		/* map of the inodes in the stream */
	DUMP_ADDR = 4,		/* more of the same inode */
	DUMP_END = 5,
	DUMP_CLRI = 6,		/* map of the inodes in use */
};

enum dump_flags {
	DUMP_NEW_HEADER = 1,
	DUMP_NEW_INODES = 2,
	DUMP_ATTRIBUTES = 0x8000,
};

struct dump_stream {
	struct writebehind *out;
	int error;		/* errno of the output */
	uint64_t bytes;
	/* The same in all headers: */
	uint32_t date;
	char label[16];
	char filesystem[64], device[64], host[64];
};

/* The inode in a header: what stat(2) tells, in the words of the format. */
struct dump_inode {
	uint32_t mode;
	uint64_t links, size;
	struct fsa_time atime, mtime, ctime;
	uint32_t rdev;
	uint64_t blocks;
	uint32_t attributes, generation, uid, gid;
};

struct dump_header {
	enum dump_record_type type;
	uint32_t flags;
	uint32_t number;		/* of the inode */
	uint32_t count;			/* records that follow, holes included */
	bool attributes;		/* they hold extended attributes */
	const struct dump_inode *inode;	/* NULL: zeros */
	const uint8_t *follows;		/* for each of them, at most DUMP_ADDRS: 1 it does, 0 a hole; NULL: zeros */
};

/* What follows returns false once the output failed; stream->error tells why. */
bool dump_put(struct dump_stream *s, const void *data, uint64_t length);	/* NULL: zeros */
bool dump_put_header(struct dump_stream *s, const struct dump_header *header);
/* Zeros up to the end of the record. */
bool dump_pad(struct dump_stream *s);
/* A header in memory, for tests too. */
void dump_make_header(const struct dump_stream *s, const struct dump_header *header, uint8_t record[DUMP_RECORD]);

/* --- dump_inodes.c: what there is to dump --------------------------------------------------------------- */

struct dumped {
	struct fsa_ref ref;
	uint64_t number;	/* on the image */
	uint32_t dumped;	/* in the stream; 0: left out */
	uint32_t parent;	/* index of the directory that a directory was entered from; the root's own */
	bool directory;
	bool named;		/* scratch of dump_dir.c: the entry that leads to the directory is written */
};

struct dump_inodes {
	struct dumped *list;	/* in the order of `dumped` when the walk is over */
	size_t count, room;
	uint32_t *slots;	/* by ref: index + 1; 0 empty */
	size_t n_slots;
	uint32_t highest;	/* number in the stream */
	bool renumbered;
	uint32_t date;		/* of the latest change */
};

/* Walks the tree; what cannot be in a dump is a finding and counted. */
enum fsa_status dump_collect(struct dump *d);
/* Its entry; NULL when it is not in the dump. */
struct dumped *dump_find(const struct dump_inodes *inodes, struct fsa_ref ref);
void dump_inodes_free(struct dump_inodes *inodes);
/* For tests: adds one, false when out of memory; then gives the numbers and sorts. */
bool dump_add_inode(struct dump_inodes *inodes, const struct dumped *inode, bool *fresh);
bool dump_number_inodes(struct dump_inodes *inodes);

/* --- dump_dir.c, dump_file.c, dump_xattr.c: one inode each ---------------------------------------------- */

struct dump_text {
	uint8_t *data;
	size_t length, room;
};

/* Makes room for `more` bytes; false when out of memory. */
bool dump_reserve(struct dump_text *text, size_t more);

enum fsa_status dump_directory(struct dump *d, struct dumped *inode);
enum fsa_status dump_file(struct dump *d, const struct dumped *inode, const struct fsa_stat *stat);
/* The attributes of the inode just written, whose header says `inode`. */
enum fsa_status dump_xattrs(struct dump *d, const struct dumped *dumped, const struct dump_inode *inode);

/* An attribute's block in the format of ext2, which is what the stream has: see dump_xattr.c. */
struct dump_xattr_block {
	uint8_t bytes[DUMP_XATTR_BLOCK];
	size_t entries, values;	/* bytes of each, the former from the front and the latter from the back */
	unsigned count;
};

void dump_xattr_begin(struct dump_xattr_block *block);
enum dump_xattr_result {
	DUMP_XATTR_ADDED,
	DUMP_XATTR_FULL,	/* the next block may have room */
	DUMP_XATTR_UNFIT,	/* no block has */
};
enum dump_xattr_result dump_xattr_add(struct dump_xattr_block *block, const char *name, const void *value,
				      size_t length);
/* Bytes of the finished block: a multiple of DUMP_RECORD. */
size_t dump_xattr_end(struct dump_xattr_block *block);

/* --- dump.c ------------------------------------------------------------------------------------------------ */

/* Stretches of a file that have data, in records; see dump_file.c. */
struct dump_run {
	uint64_t start, end;
};

struct dump {
	const struct opened *opened;
	struct fsa_fs *fs;
	struct progress *progress;
	struct window *window;
	struct dump_stream stream;
	struct dump_inodes inodes;
	struct dump_counts counts;
	struct dump_text text;		/* of the directory being made */
	uint32_t *names;		/* of its names, by hash */
	size_t names_room;
	struct dump_run *runs;		/* of the file being written */
	size_t n_runs, runs_room;
};

/* The header's inode for what stat(2) tells. Counts what does not fit. */
void dump_set_inode(struct dump *d, const struct fsa_stat *stat, struct dump_inode *inode);
/* Trouble with the output, as a status. */
enum fsa_status dump_output(const struct dump *d, bool good);

#endif
