/* SPDX-License-Identifier: GPL-2.0-only */
/* Feature bits: what each means for a reader, and which ones it cannot live with. */
#include "xfs.h"

enum word { VERSION, FEATURES2, RO_COMPAT, INCOMPAT, LOG_INCOMPAT, COMPAT, WORDS };

/* why_ignored NULL: read and explained. Where there is a reason, the audit is complete without it. */
static const struct feature_bit features[] = {
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

enum fsa_status xf_features(struct xf *x, const char *image, bool force, struct fsa_error *err)
{
	const struct feature_word words[WORDS] = {
		[VERSION] = { "version", x->version & XFS_SB_VERSION_ALLFBITS, UNKNOWN_FOUND_AND_REFUSED },
		[FEATURES2] = { "version 2", x->features2, x->v5 ? UNKNOWN_FOUND : UNKNOWN_FOUND_AND_REFUSED },
		[RO_COMPAT] = { "read-only compatible", x->ro_compat, UNKNOWN_FOUND },
		[INCOMPAT] = { "incompatible", x->incompat, UNKNOWN_REFUSED },
		[LOG_INCOMPAT] = { "log-incompatible", x->log_incompat, UNKNOWN_FOUND },
		[COMPAT] = { "compatible", x->compat, UNKNOWN_FOUND },
	};

	/* Version 4 superblocks end before the later words. */
	features_read(&x->features, features, sizeof(features) / sizeof(features[0]), words,
		      x->v5 ? WORDS : RO_COMPAT, x->findings, 0);
	return features_judge(&x->features, image, "xfs", 0, force, x->findings, err);
}
