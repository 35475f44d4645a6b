/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The purposes a byte can have: the same words for every filesystem. What each holds is said once, in
 * fsa_purpose_meaning(), and shown by the man page.
 */
#ifndef FSA_PURPOSE_H
#define FSA_PURPOSE_H

enum fsa_purpose {
	FSA_SUPERBLOCK,
	FSA_GEOMETRY,
	FSA_ALLOCATION,
	FSA_JOURNAL,
	FSA_INODE,
	FSA_INODE_FREE,
	FSA_DIRECTORY,
	FSA_MAPPING,
	FSA_XATTR,
	FSA_SYMLINK,
	FSA_TREE,
	FSA_NODE_FREE,
	FSA_CHECKSUM,
	FSA_QUOTA,
	FSA_FILE_DATA,
	FSA_FILE_TAIL,
	FSA_FILE_SLACK,
	FSA_PREALLOCATED,
	FSA_UNREFERENCED,
	FSA_RESERVED,
	FSA_FREE,
	FSA_LOST,
	FSA_OUTSIDE,
	FSA_PURPOSES	/* how many there are */
};

/* "file-data" and so on; static, never NULL for a purpose below FSA_PURPOSES. */
const char *fsa_purpose_name(enum fsa_purpose purpose);

/* One line that says what the purpose holds; static. */
const char *fsa_purpose_meaning(enum fsa_purpose purpose);

/*
 * A detail is a purpose told in the format's own words ("AGF", "leaf item header"). A parser has one
 * constant table of them and names a detail by its index there.
 */
struct fsa_detail {
	enum fsa_purpose purpose;
	const char *name;
};

/* Upper bound on the details of one parser; keeps a node split on the stack. */
#define FSA_MAX_DETAILS 96

#endif
