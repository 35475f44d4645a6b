/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A reference to an inode, opaque outside its parser. Three words because a Reiser4 stat data key needs
 * them; an ext inode uses one. Two references are the same object exactly when all words are equal.
 */
#ifndef FSA_REF_H
#define FSA_REF_H

#include <stdbool.h>
#include <stdint.h>

struct fsa_ref {
	uint64_t word[3];
};

static inline bool fsa_ref_equal(struct fsa_ref a, struct fsa_ref b)
{
	return a.word[0] == b.word[0] && a.word[1] == b.word[1] && a.word[2] == b.word[2];
}

#endif
