/* SPDX-License-Identifier: GPL-2.0-only */
/* Feature words of a superblock: which bits are set, what is unknown, and what a reader must refuse. */
#ifndef FSA_CORE_FEATURES_H
#define FSA_CORE_FEATURES_H

#include "fsa/parser.h"

#define FSA_MAX_FEATURE_WORDS 6

/* A known bit. `word` is an index into the format's own list of words. */
struct feature_bit {
	unsigned word;
	uint64_t bit;
	struct fsa_feature f;	/* why_ignored of a refused one says what it is */
	bool refused;		/* changes the layout in a way that is not read */
};

/* What an unknown bit of a word means for one who only reads. */
enum feature_unknown {
	UNKNOWN_NOTED,		/* nothing: it is named, that is all */
	UNKNOWN_FOUND,		/* nothing certain: a finding */
	UNKNOWN_REFUSED,	/* the layout may be another one */
	UNKNOWN_FOUND_AND_REFUSED,	/* the same where a refusal is overruled */
};

struct feature_word {
	const char *name;	/* "incompatible"; for messages */
	uint64_t value;		/* its bits as they are set in the image */
	enum feature_unknown unknown;
};

struct feature_set {
	const char *names[FSA_MAX_FEATURES];	/* what is set; ends with NULL */
	size_t count;
	char unknown[FSA_MAX_FEATURE_WORDS][48];
	char refused[512];			/* comma-separated with reasons; empty when nothing is */
};

/*
 * Fills a zeroed set from at most FSA_MAX_FEATURE_WORDS words. Unknown bits become findings of the
 * superblock at byte `offset` where the word says so.
 */
void features_read(struct feature_set *set, const struct feature_bit *bits, size_t n_bits,
		   const struct feature_word *words, unsigned n_words, struct fsa_findings *findings, uint64_t offset);

/* Names one that is no bit. With a reason it is refused. `name` and `why` must outlive the set. */
void features_add(struct feature_set *set, const char *name, const char *why);

/*
 * FSA_OK when nothing was refused. Else FSA_EUNSUPPORTED with the reason in err; when `force`, FSA_OK and
 * a finding. `fs` is the format's name for the message.
 */
enum fsa_status features_judge(const struct feature_set *set, const char *image, const char *fs, uint64_t offset,
			       bool force, struct fsa_findings *findings, struct fsa_error *err);

#endif
