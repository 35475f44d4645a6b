/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The interface between a format and everything above it. A format is one constant descriptor,
 * struct fsa_parser, at the end of parsers/<fs>/<fs>.c; an opened filesystem is a struct fsa_fs.
 *
 * All functions of a parser may be called from one thread at a time for one fsa_fs; a callback may call the same
 * parser again (to read what it was just told of), so a walk keeps its place in memory of its own. Pointers handed to
 * callbacks are valid during the callback only. A callback returns FSA_OK to go on; anything else ends
 * the walk and is returned by it (FSA_STOP for an early end that is no error).
 */
#ifndef FSA_PARSER_H
#define FSA_PARSER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fsa/finding.h"
#include "fsa/image.h"
#include "fsa/ledger.h"
#include "fsa/ref.h"
#include "fsa/status.h"

struct fsa_fs;
struct fsa_parser;

/* --- opening ------------------------------------------------------------------------------------- */

enum fsa_role {
	FSA_ROLE_MAIN,		/* the filesystem itself; several for btrfs */
	FSA_ROLE_LOG,		/* external log or journal */
	FSA_ROLE_REALTIME,	/* XFS realtime device */
};

struct fsa_device {
	struct fsa_image *image;	/* borrowed; the caller closes it after the filesystem */
	enum fsa_role role;
};

#define FSA_MAX_DEVICES 64

struct fsa_open_options {
	bool force;		/* analyse in spite of unknown incompatible features (a finding then) */
	const char *subvolume;	/* btrfs: path of the subvolume to start at; NULL for the default */
};

/* An opened filesystem. Fields are set before parser->open and not changed afterwards. */
struct fsa_fs {
	const struct fsa_parser *parser;
	struct fsa_device devices[FSA_MAX_DEVICES];
	unsigned n_devices;
	struct fsa_open_options options;
	struct fsa_findings *findings;	/* borrowed; may be NULL */
	void *state;			/* the parser's own; freed by parser->close */
};

/*
 * Opens what lies on `devices` with the parser that recognises it (`type` as libblkid says it, or NULL to
 * try them all). On success *fs is owned by the caller: fsa_close. The first device must be a main one.
 */
enum fsa_status fsa_open(const struct fsa_device *devices, unsigned n_devices, const char *type,
			 const struct fsa_open_options *options, struct fsa_findings *findings,
			 struct fsa_fs **fs, struct fsa_error *err);
void fsa_close(struct fsa_fs *fs);	/* NULL is allowed */

/*
 * Reads for a parser: as fsa_image_read, and a failure is also a finding about `object` `number`, which
 * says how many bytes were wanted where.
 */
enum fsa_status fsa_read(struct fsa_fs *fs, unsigned device, uint64_t offset, void *buffer, size_t length,
			 const char *object, uint64_t number);

/* --- summary and df ------------------------------------------------------------------------------ */

#define FSA_MAX_FEATURES 64

struct fsa_summary {
	char type[32];			/* "ext4", as libblkid calls it */
	char version[32];		/* the format's own: "1.0", "3.6" */
	uint32_t block_size;		/* bytes, the ledger's unit */
	uint64_t blocks;		/* of the filesystem, all devices */
	char label[256];		/* bytes as on disk, NUL-terminated */
	char uuid[40];			/* empty when the format has none */
	const char *features[FSA_MAX_FEATURES];	/* names, static or owned by the fs; NULL-terminated */
	uint64_t inodes;		/* 0 when the format has no fixed number */
	char state[64];			/* "clean", "journal needs recovery", ... */
	bool clean;			/* cleanly unmounted */
	char external[128];		/* what lies on another device that was not given, or empty */
};

enum fsa_statfs_field { FSA_DF_SIZE, FSA_DF_FREE, FSA_DF_AVAILABLE, FSA_DF_FILES, FSA_DF_FILES_FREE };

/* One step of a df figure: fields are the sums of their terms. */
struct fsa_statfs_term {
	enum fsa_statfs_field field;
	int64_t value;			/* blocks of block_size, or inodes */
	const char *what;		/* static: "blocks in the superblock", "inode tables" */
};

#define FSA_MAX_TERMS 32

/* What statfs(2) returns on the mounted image, and from what it is made. */
struct fsa_statfs {
	uint32_t block_size;		/* f_frsize, bytes */
	uint64_t blocks, free, available;	/* f_blocks, f_bfree, f_bavail, in block_size */
	uint64_t files, files_free;	/* f_files, f_ffree */
	const char *kernel;		/* static: whose formulas these are, "Linux 6.1 ext4" */
	unsigned n_terms;
	struct fsa_statfs_term terms[FSA_MAX_TERMS];
};

/* Adds a term to a field and to its sum; what exceeds FSA_MAX_TERMS is only summed. */
void fsa_statfs_add(struct fsa_statfs *s, enum fsa_statfs_field field, int64_t value, const char *what);

/* --- audit --------------------------------------------------------------------------------------- */

enum fsa_type {
	FSA_TYPE_UNKNOWN,
	FSA_TYPE_REGULAR,
	FSA_TYPE_DIRECTORY,
	FSA_TYPE_SYMLINK,
	FSA_TYPE_CHARDEV,
	FSA_TYPE_BLOCKDEV,
	FSA_TYPE_FIFO,
	FSA_TYPE_SOCKET,
};

/* By the type bits of a Unix mode, which these formats all store as they are; FSA_TYPE_UNKNOWN for none of them. */
enum fsa_type fsa_type_of_mode(uint32_t mode);

enum fsa_object_flags {
	FSA_OBJECT_INTERNAL = 1,	/* journal, quota file, ...: no name, not in du */
	FSA_OBJECT_UNREFERENCED = 2,	/* deleted while open, or reachable from no directory */
	FSA_OBJECT_INLINE = 4,		/* its packed bytes are inline data (else: a packed tail) */
	FSA_OBJECT_COMPRESSED = 8,
	FSA_OBJECT_ENCRYPTED = 16,
};

/*
 * One inode as the audit sees it. Everything that figures are made of; a parser adds up nothing else.
 * All fields are bytes unless named otherwise.
 */
struct fsa_object {
	struct fsa_ref ref;
	uint64_t number;		/* inode number or object id, as tools of the format print it */
	enum fsa_type type;
	unsigned flags;			/* enum fsa_object_flags */
	uint64_t size_bytes;		/* st_size */
	uint64_t links;			/* st_nlink */
	uint64_t st_blocks;		/* as stat(2), in units of 512 bytes */
	uint64_t data_bytes;		/* of st_size, held in own blocks (holes and unwritten not counted) */
	uint64_t packed_bytes;		/* of st_size, held in tails or inline data */
	uint64_t slack_bytes;		/* between end of file and end of its last block or cluster */
	uint64_t preallocated_bytes;	/* unwritten, or whole blocks behind end of file */
	uint64_t mapping_bytes;		/* blocks of its own that only map (indirect, extent tree) */
	uint64_t xattr_bytes;		/* blocks of its own that hold xattrs */
	uint64_t other_bytes;		/* blocks of its own for anything else: a verity tree */
	/*
	 * Of the fields above, what no claimed block stands for, modulo 2^64: bytes that compression saves, or
	 * that lie on a missing device.
	 */
	uint64_t uncharged_bytes;
	uint64_t packed_cost_bytes;	/* item headers, keys: what the packing costs */
	uint64_t packed_uncharged_bytes;	/* of packed_bytes, what compression keeps off the image */
	uint64_t unpacked_bytes;	/* whole blocks the packed bytes would take in own blocks */
	uint64_t extents;		/* physically and logically contiguous pieces of data */
};

/* Free and used counters that the filesystem keeps beside its map: a further witness. */
struct fsa_counters {
	bool have_free_blocks;
	uint64_t free_blocks;		/* in ledger blocks of device 0's size */
	bool lazy;			/* kept lazily by the format: a difference is not damage */
};

/* Tells how far a walk is, for a progress line: `done` of `total` in any unit. */
typedef void (*fsa_progress_fn)(void *arg, uint64_t done, uint64_t total);

struct fsa_audit {
	struct fsa_claims *claims;
	/* NULL when only the claims are wanted. */
	enum fsa_status (*object)(void *arg, const struct fsa_object *object);
	void *object_arg;
	fsa_progress_fn progress;	/* may be NULL */
	void *progress_arg;
	/* Contents of files are read too, all copies, and compared with the checksums that the format has of them. */
	bool verify_data;
	struct fsa_counters counters;	/* set by the parser */
	/*
	 * Figures in the format's own words that tools of the format print ("usage", "global reserve", bytes):
	 * `group` names a table, `unit` is "bytes", "blocks" or "" for a count. May be NULL. The strings are
	 * valid during the call only.
	 */
	void (*figure)(void *arg, const char *group, const char *name, uint64_t value, const char *unit);
	void *figure_arg;
	/* Average fill of metadata nodes, for formats whose data lives in a tree; 0 nodes elsewhere. */
	uint64_t leaf_nodes, leaf_used_bytes, leaf_bytes;
	uint64_t branch_nodes, branch_used_bytes, branch_bytes;
	/* Inner nodes that are not counted above: those next to the leaves, where a format has items of files in them too. */
	uint64_t twig_nodes, twig_used_bytes, twig_bytes;
};

/* --- reading ------------------------------------------------------------------------------------- */

struct fsa_time {
	int64_t sec;		/* since 1970-01-01 UTC, negative before */
	uint32_t nsec;
	bool set;		/* the format has this time and the inode carries it */
};

struct fsa_stat {
	struct fsa_ref ref;
	uint64_t number;
	enum fsa_type type;
	unsigned flags;		/* enum fsa_object_flags */
	uint32_t mode;		/* as st_mode: type bits and permission bits */
	uint32_t uid, gid;
	uint64_t links;
	uint64_t size;
	uint64_t st_blocks;	/* in units of 512 bytes */
	uint32_t rdev_major, rdev_minor;
	struct fsa_time atime, mtime, ctime, btime;
	uint64_t generation;
	uint32_t project;
	uint64_t offset;	/* where the inode lies on device 0, bytes; FSA_NO_OFFSET when it is spread */
	char flag_names[160];	/* the format's own inode flags, in words; empty when none */
	uint32_t attributes;	/* as the kernel's FS_IOC_GETFLAGS gives them (FS_IMMUTABLE_FL and so on) */
};

struct fsa_dirent {
	const char *name;	/* bytes, any but '/' and NUL; not NUL-terminated */
	size_t name_length;	/* 1 .. 65535 */
	struct fsa_ref ref;
	uint64_t number;	/* inode number or object id */
	enum fsa_type type;	/* FSA_TYPE_UNKNOWN when the directory does not say */
	uint64_t offset;	/* where the entry lies, bytes; FSA_NO_OFFSET when unknown */
	bool encrypted;		/* the name is an encoded form of an encrypted one */
};

enum fsa_extent_kind {
	FSA_EXTENT_DATA,	/* bytes at `physical` of `device` */
	FSA_EXTENT_HOLE,	/* reads as zeros, no blocks */
	FSA_EXTENT_UNWRITTEN,	/* reads as zeros, blocks at `physical` */
	FSA_EXTENT_PACKED,	/* bytes at `physical`, inside a metadata node; or at `bytes` when not NULL */
	FSA_EXTENT_ENCODED,	/* compressed: read through parser->decode */
	FSA_EXTENT_UNREADABLE,	/* damage: the bytes cannot be had; a finding says why */
};

/*
 * A piece of a file. Pieces come in rising, not overlapping logical order; what they leave out below the
 * file's size is a hole (fsa_file_extents fills it in). A piece may reach behind the end of the file:
 * that part is slack or preallocation.
 */
struct fsa_extent {
	enum fsa_extent_kind kind;
	uint64_t logical;	/* byte offset in the file */
	uint64_t length;	/* bytes of the file, > 0 */
	unsigned device;
	uint64_t physical;	/* byte offset on the device; FSA_NO_OFFSET when it has none */
	const void *bytes;	/* packed: the bytes themselves, when they had to be put together */
	/* Encoded pieces: */
	uint64_t encoded_length;	/* bytes on the image */
	uint64_t decoded_length;	/* bytes of the whole decoded extent */
	uint64_t decoded_offset;	/* where this piece starts in it */
	const char *encoding;		/* "zstd"; static */
	uint64_t cookie[2];		/* the parser's, for decode */
};

typedef enum fsa_status (*fsa_dirent_fn)(void *arg, const struct fsa_dirent *entry);
typedef enum fsa_status (*fsa_extent_fn)(void *arg, const struct fsa_extent *extent);
/* `name` is the full name with its prefix ("user.comment"), NUL-terminated; value may hold any bytes. */
typedef enum fsa_status (*fsa_xattr_fn)(void *arg, const char *name, const void *value, size_t length);

/* So that images given together can be joined. */
struct fsa_group {
	char id[64];		/* that all images of one filesystem share and no other has */
	char member[64];	/* that no other image of it has */
	unsigned members;	/* images that make the whole */
};

/* A feature bit of a format, and why a reader may ignore it when it does. */
struct fsa_feature {
	const char *name;
	const char *why_ignored;	/* NULL: it is read and explained */
};

struct fsa_parser {
	const char *name;			/* folder name: "ext" */
	const char *const *types;		/* what libblkid calls it; NULL-terminated */
	const struct fsa_detail *details;	/* purposes in the format's words */
	unsigned n_details;			/* at most FSA_MAX_DETAILS */

	/*
	 * Looks at the first bytes and decides whether this is its format: FSA_OK opened (fs->state set),
	 * FSA_ENOENT not this format (err untouched), anything else a refusal with its reason in err.
	 */
	enum fsa_status (*open)(struct fsa_fs *fs, struct fsa_error *err);
	void (*close)(struct fsa_fs *fs);
	enum fsa_status (*summary)(struct fsa_fs *fs, struct fsa_summary *summary);
	/* read_only: as a read-only mount would show it. */
	enum fsa_status (*statfs)(struct fsa_fs *fs, bool read_only, struct fsa_statfs *statfs);
	/* Adds the devices of this filesystem to a new ledger: the geometry that claims refer to. */
	enum fsa_status (*geometry)(struct fsa_fs *fs, struct fsa_ledger *ledger);
	/* Claims everything and reports objects. Damage is a finding; the walk goes on. */
	enum fsa_status (*audit)(struct fsa_fs *fs, struct fsa_audit *audit);

	/* For reading; NULL when the format has none of it (an external journal), and commands say so. */
	enum fsa_status (*root)(struct fsa_fs *fs, struct fsa_ref *ref);
	enum fsa_status (*stat)(struct fsa_fs *fs, struct fsa_ref ref, struct fsa_stat *stat);
	/* All entries except "." and ".." */
	enum fsa_status (*readdir)(struct fsa_fs *fs, struct fsa_ref ref, fsa_dirent_fn entry, void *arg);
	enum fsa_status (*extents)(struct fsa_fs *fs, struct fsa_ref ref, fsa_extent_fn extent, void *arg);
	/* The target, NUL-terminated, into *target (malloc'd, the caller frees it). */
	enum fsa_status (*readlink)(struct fsa_fs *fs, struct fsa_ref ref, char **target, size_t *length);
	enum fsa_status (*xattrs)(struct fsa_fs *fs, struct fsa_ref ref, fsa_xattr_fn xattr, void *arg);
	/* Decodes the whole extent behind an encoded piece: decoded_length bytes into `buffer`. */
	enum fsa_status (*decode)(struct fsa_fs *fs, const struct fsa_extent *extent, void *buffer);
	/*
	 * For formats with checksums of file contents: compares the `length` bytes at `bytes`, which were read as the
	 * DATA piece `extent` (cut to just them). FSA_OK: all of them are right; or *changed is set, all that were wrong
	 * are findings, and the right ones are in `repaired` (room for `length`; may be `bytes`) together with the rest.
	 * FSA_EDAMAGED: some are right on no copy; asked for less at a time it tells which. `bytes` NULL: they could
	 * not be read, any other copy will do. NULL: the format has no such checksums.
	 */
	enum fsa_status (*verify)(struct fsa_fs *fs, const struct fsa_extent *extent, const void *bytes, size_t length,
				  void *repaired, bool *changed);
	/* The reference for a number as tools of the format print it ("inode 12"); NULL: not possible. */
	enum fsa_status (*ref_of_number)(struct fsa_fs *fs, uint64_t number, struct fsa_ref *ref);
	/* For filesystems on several main devices: what an image is a part of. NULL: the format never spans devices. */
	enum fsa_status (*device_group)(struct fsa_image *image, struct fsa_group *group);
	/* Extra lines about an object for `stat`, "name" and "value" pairs; NULL when there are none. */
	enum fsa_status (*describe)(struct fsa_fs *fs, struct fsa_ref ref,
				    void (*line)(void *arg, const char *name, const char *value), void *arg);
};

/* The one list of formats: NULL-terminated. */
extern const struct fsa_parser *const fsa_parsers[];

/* Content that libblkid can name and fsassay does not read: NULL, or the words to say about it. */
const char *fsa_unsupported_reason(const char *content);

#endif
