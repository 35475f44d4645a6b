/* SPDX-License-Identifier: GPL-2.0-only */
/* The one list of formats: adding one is a folder and a line here. */
#include "fsa/parser.h"

extern const struct fsa_parser fsa_ext_parser;

const struct fsa_parser *const fsa_parsers[] = {
	&fsa_ext_parser,
	NULL,
};
