/* SPDX-License-Identifier: GPL-2.0-only */
/* Feature bits: what each means for a reader, and which ones it cannot live with. */
#include <stdio.h>
#include <string.h>

#include "xfs.h"

enum word { VERSION, FEATURES2, RO_COMPAT, INCOMPAT, LOG_INCOMPAT, COMPAT, WORDS };

struct feature {
	enum word word;
	uint32_t bit;
	struct fsa_feature f;
	bool refused;
};

/* why_ignored NULL: read and explained. Where there is a reason, the audit is complete without it. */
static const struct feature features[] = {
	{ VERSION, XFS_SB_VERSION_ATTRBIT, { "attr", NULL }, false },
	{ VERSION, XFS_SB_VERSION_NLINKBIT, { "nlink", NULL }, false },
	{ VERSION, XFS_SB_VERSION_QUOTABIT, { "quota", NULL }, false },
	{ VERSION, XFS_SB_VERSION_ALIGNBIT, { "align", "where inode chunks may start is a rule for allocating" }, false },
	{ VERSION, XFS_SB_VERSION_DALIGNBIT, { "dalign", "stripe units are a rule for allocating" }, false },
	{ VERSION, XFS_SB_VERSION_SHAREDBIT, { "shared", "nobody knows what it does; the kernel refuses it" }, true },
	{ VERSION, XFS_SB_VERSION_LOGV2BIT, { "logv2", NULL }, false },
	{ VERSION, XFS_SB_VERSION_SECTORBIT, { "sector", NULL }, false },
	{ VERSION, XFS_SB_VERSION_EXTFLGBIT, { "extflg", NULL }, false },
	{ VERSION, XFS_SB_VERSION_DIRV2BIT, { "dirv2", NULL }, false },
	{ VERSION, XFS_SB_VERSION_BORGBIT, { "ascii-ci", NULL }, false },
	{ VERSION, XFS_SB_VERSION_MOREBITSBIT, { "morebits", NULL }, false },

	{ FEATURES2, XFS_SB_VERSION2_LAZYSBCOUNTBIT, { "lazysbcount", NULL }, false },
	{ FEATURES2, XFS_SB_VERSION2_ATTR2BIT, { "attr2", NULL }, false },
	{ FEATURES2, XFS_SB_VERSION2_PARENTBIT, { "parent (IRIX)", "never reached Linux" }, true },
	{ FEATURES2, XFS_SB_VERSION2_PROJID32BIT, { "projid32", NULL }, false },
	{ FEATURES2, XFS_SB_VERSION2_CRCBIT, { "crc", NULL }, false },
	{ FEATURES2, XFS_SB_VERSION2_FTYPE, { "ftype", NULL }, false },

	{ RO_COMPAT, XFS_SB_FEAT_RO_COMPAT_FINOBT, { "finobt", NULL }, false },
	{ RO_COMPAT, XFS_SB_FEAT_RO_COMPAT_RMAPBT, { "rmapbt", NULL }, false },
	{ RO_COMPAT, XFS_SB_FEAT_RO_COMPAT_REFLINK, { "reflink", NULL }, false },
	{ RO_COMPAT, XFS_SB_FEAT_RO_COMPAT_INOBTCNT, { "inobtcount", NULL }, false },

	{ INCOMPAT, XFS_SB_FEAT_INCOMPAT_FTYPE, { "ftype", NULL }, false },
	{ INCOMPAT, XFS_SB_FEAT_INCOMPAT_SPINODES, { "sparse inodes", NULL }, false },
	{ INCOMPAT, XFS_SB_FEAT_INCOMPAT_META_UUID, { "meta uuid", NULL }, false },
	{ INCOMPAT, XFS_SB_FEAT_INCOMPAT_BIGTIME, { "bigtime", NULL }, false },
	{ INCOMPAT, XFS_SB_FEAT_INCOMPAT_NEEDSREPAIR, { "needsrepair", NULL }, false },
	{ INCOMPAT, XFS_SB_FEAT_INCOMPAT_NREXT64, { "nrext64", NULL }, false },
	{ INCOMPAT, XF_INCOMPAT_EXCHRANGE, { "exchange-range", "changes what the log may hold only" }, false },
	{ INCOMPAT, XF_INCOMPAT_PARENT, { "parent pointers", NULL }, false },
	{ INCOMPAT, XF_INCOMPAT_METADIR, { "metadata directory", "realtime groups and their trees are not read" }, true },
	{ INCOMPAT, XF_INCOMPAT_ZONED, { "zoned", "realtime groups and their trees are not read" }, true },
	{ INCOMPAT, XF_INCOMPAT_ZONE_GAPS, { "zone gaps", "realtime groups and their trees are not read" }, true },

	{ LOG_INCOMPAT, XFS_SB_FEAT_INCOMPAT_LOG_XATTRS, { "logged xattrs", "changes what the log may hold only" }, false },
};

#define FEATURES (sizeof(features) / sizeof(features[0]))

static const struct feature *feature_of(enum word word, uint32_t bit)
{
	for (size_t i = 0; i < FEATURES; i++)
		if (features[i].word == word && features[i].bit == bit)
			return &features[i];
	return NULL;
}

static void append(char *text, size_t size, const char *name)
{
	size_t n = strlen(text);

	snprintf(text + n, size - n, "%s%s", n ? ", " : "", name);
}

static void add_name(struct xf *x, size_t *n, const char *name)
{
	for (size_t k = 0; k < *n; k++)
		if (strcmp(x->feature_names[k], name) == 0)
			return;
	if (*n < FSA_MAX_FEATURES - 1)
		x->feature_names[(*n)++] = name;
}

enum fsa_status xf_features(struct xf *x, const char *image, bool force, struct fsa_error *err)
{
	const uint32_t words[WORDS] = {
		[VERSION] = x->version & XFS_SB_VERSION_ALLFBITS, [FEATURES2] = x->features2, [RO_COMPAT] = x->ro_compat,
		[INCOMPAT] = x->incompat, [LOG_INCOMPAT] = x->log_incompat, [COMPAT] = x->compat,
	};
	static const char *const word_names[WORDS] = {
		[VERSION] = "version", [FEATURES2] = "version 2", [RO_COMPAT] = "read-only compatible",
		[INCOMPAT] = "incompatible", [LOG_INCOMPAT] = "log-incompatible", [COMPAT] = "compatible",
	};
	char refused[512] = "";
	size_t n = 0, unknown_texts = 0;

	for (enum word w = VERSION; w < WORDS; w++) {
		uint32_t unknown = 0;

		if (!x->v5 && w >= RO_COMPAT)
			break;
		for (unsigned b = 0; b < 32; b++) {
			uint32_t bit = UINT32_C(1) << b;
			const struct feature *f = feature_of(w, bit);

			if (!(words[w] & bit))
				continue;
			if (!f) {
				unknown |= bit;
				continue;
			}
			add_name(x, &n, f->f.name);
			if (f->refused) {
				char text[128];

				snprintf(text, sizeof(text), "%s (%s)", f->f.name, f->f.why_ignored);
				append(refused, sizeof(refused), text);
			}
		}
		if (!unknown)
			continue;
		if (unknown_texts < sizeof(x->unknown_features) / sizeof(x->unknown_features[0])) {
			char *text = x->unknown_features[unknown_texts++];

			snprintf(text, sizeof(x->unknown_features[0]), "unknown %s 0x%x", word_names[w], unknown);
			add_name(x, &n, text);
			if (w == INCOMPAT || w == VERSION || (w == FEATURES2 && !x->v5))
				append(refused, sizeof(refused), text);
		}
		if (w != INCOMPAT)
			XF_FIND(x, "superblock", 0, 0, "feature bits 0x%x are %s and unknown", unknown, word_names[w]);
	}
	x->feature_names[n] = NULL;
	if (!refused[0])
		return FSA_OK;
	if (!force)
		return fsa_fail(err, FSA_EUNSUPPORTED, "%s: xfs: superblock @0x0: incompatible features not supported: %s "
				"(--force analyses all the same)", image, refused);
	XF_FIND(x, "superblock", 0, 0, "incompatible features not understood: %s", refused);
	return FSA_OK;
}
