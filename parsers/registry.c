/* SPDX-License-Identifier: GPL-2.0-only */
/* The one list of formats: adding one is a folder and a line here. */
#include "fsa/parser.h"

extern const struct fsa_parser fsa_ext_parser;
extern const struct fsa_parser fsa_xfs_parser;
extern const struct fsa_parser fsa_reiserfs_parser;
extern const struct fsa_parser fsa_reiser4_parser;
extern const struct fsa_parser fsa_jfs_parser;
extern const struct fsa_parser fsa_btrfs_parser;

const struct fsa_parser *const fsa_parsers[] = {
	&fsa_ext_parser,
	&fsa_xfs_parser,
	&fsa_reiserfs_parser,
	&fsa_reiser4_parser,
	&fsa_jfs_parser,
	&fsa_btrfs_parser,
	NULL,
};
