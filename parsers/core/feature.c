/* SPDX-License-Identifier: GPL-2.0-only */
/* Feature words of a superblock; see feature.h. */
#include "feature.h"

#include <stdio.h>
#include <string.h>

typedef unsigned long long ull;

static const struct feature_bit *feature_of(const struct feature_bit *bits, size_t n, unsigned word, uint64_t bit)
{
	for (size_t i = 0; i < n; i++)
		if (bits[i].word == word && bits[i].bit == bit)
			return &bits[i];
	return NULL;
}

static void refuse(struct feature_set *set, const char *name, const char *why)
{
	size_t n = strlen(set->refused);
	const char *comma = n ? ", " : "";

	if (why)
		snprintf(set->refused + n, sizeof(set->refused) - n, "%s%s (%s)", comma, name, why);
	else
		snprintf(set->refused + n, sizeof(set->refused) - n, "%s%s", comma, name);
}

/* Two words may hold the same feature (XFS's ftype): it is named once. */
static void add_name(struct feature_set *set, const char *name)
{
	for (size_t i = 0; i < set->count; i++)
		if (strcmp(set->names[i], name) == 0)
			return;
	if (set->count < FSA_MAX_FEATURES - 1)
		set->names[set->count++] = name;
}

void features_add(struct feature_set *set, const char *name, const char *why)
{
	add_name(set, name);
	if (why)
		refuse(set, name, why);
}

void features_read(struct feature_set *set, const struct feature_bit *bits, size_t n_bits,
		   const struct feature_word *words, unsigned n_words, struct fsa_findings *findings, uint64_t offset)
{
	for (unsigned w = 0; w < n_words && w < FSA_MAX_FEATURE_WORDS; w++) {
		enum feature_unknown how = words[w].unknown;
		uint64_t unknown = 0;

		for (unsigned b = 0; b < 64; b++) {
			uint64_t bit = UINT64_C(1) << b;
			const struct feature_bit *f;

			if (!(words[w].value & bit))
				continue;
			f = feature_of(bits, n_bits, w, bit);
			if (f)
				features_add(set, f->f.name, f->refused ? f->f.why_ignored : NULL);
			else
				unknown |= bit;
		}
		if (!unknown)
			continue;
		snprintf(set->unknown[w], sizeof(set->unknown[w]), "unknown %s 0x%llx", words[w].name, (ull)unknown);
		add_name(set, set->unknown[w]);
		if (how == UNKNOWN_REFUSED || how == UNKNOWN_FOUND_AND_REFUSED)
			refuse(set, set->unknown[w], NULL);
		if (how == UNKNOWN_FOUND || how == UNKNOWN_FOUND_AND_REFUSED)
			fsa_find(findings, "superblock", 0, offset, "feature bits 0x%llx are %s and unknown", (ull)unknown,
				 words[w].name);
	}
}

enum fsa_status features_judge(const struct feature_set *set, const char *image, const char *fs, uint64_t offset,
			       bool force, struct fsa_findings *findings, struct fsa_error *err)
{
	if (!set->refused[0])
		return FSA_OK;
	if (!force)
		return fsa_fail(err, FSA_EUNSUPPORTED,
				"%s: %s: superblock @0x%llx: incompatible features not supported: %s "
				"(--force analyses all the same)", image, fs, (ull)offset, set->refused);
	fsa_find(findings, "superblock", 0, offset, "incompatible features not understood: %s", set->refused);
	return FSA_OK;
}
