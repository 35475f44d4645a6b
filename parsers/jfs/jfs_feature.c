/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bits of s_flag (jfs_filsys.h of Linux 6.1). JFS has one word for all of them and does not say which a
 * reader may ignore: each known one has its reason here, an unknown one is refused.
 */
#include "jfs.h"

static const struct feature_bit features[] = {
	{ 0, JFS_FLAG_UNICODE, { "unicode", "names are 16-bit units with and without it" }, false },
	{ 0, 0x00000002u, { "errors=remount-ro", "what a driver does after an error" }, false },
	{ 0, 0x00000004u, { "errors=continue", "what a driver does after an error" }, false },
	{ 0, 0x00000008u, { "errors=panic", "what a driver does after an error" }, false },
	{ 0, 0x00000010u, { "usrquota", "a mount option; quota files are files" }, false },
	{ 0, 0x00000020u, { "grpquota", "a mount option; quota files are files" }, false },
	{ 0, 0x00000040u, { "nointegrity", "a mount option: the log is not written" }, false },
	{ 0, 0x00000080u, { "discard", "a mount option" }, false },
	{ 0, 0x00000100u, { "groupcommit", "when the log is written" }, false },
	{ 0, 0x00000200u, { "lazycommit", "when the log is written" }, false },
	{ 0, 0x00000400u, { "tmpfs", "never implemented: says that nothing is logged" }, false },
	{ 0, JFS_FLAG_INLINELOG, { "inline_log", NULL }, false },
	{ 0, JFS_FLAG_INLINEMOVE, { "inline_log_moving", "set while the filesystem grows; a finding" }, false },
	{ 0, JFS_FLAG_BAD_SAIT, { "bad_secondary_table", NULL }, false },
	{ 0, 0x00020000u, { "sparse", "files may have holes; holes are read with and without it" }, false },
	{ 0, 0x00040000u, { "dasd_enabled", "OS/2's limits for directories: no layout" }, false },
	{ 0, 0x00080000u, { "dasd_prime", "OS/2's limits for directories: no layout" }, false },
	{ 0, JFS_FLAG_SWAP_BYTES, { "big_endian", "this parser reads little-endian JFS" }, true },
	{ 0, JFS_FLAG_DIR_INDEX, { "dir_index", NULL }, false },
	{ 0, JFS_FLAG_LINUX, { "linux", "the platform it was made for" }, false },
	{ 0, JFS_FLAG_DFS, { "dfs", "DCE DFS filesets, never implemented" }, true },
	{ 0, JFS_FLAG_OS2, { "os2", "names are compared without case when they are looked up; they are stored as given" }, false },
	{ 0, JFS_FLAG_AIX, { "aix", "JFS2 of AIX is another format" }, true },
};

enum fsa_status jfs_features(struct jfs *j, const char *image, bool force, struct fsa_error *err)
{
	const struct feature_word flags = { "flags", j->flags, UNKNOWN_REFUSED };

	features_read(&j->features, features, sizeof(features) / sizeof(features[0]), &flags, 1, j->findings,
		      j->sb_offset);
	if (JFS_SB32(j->sb, s_compress))
		features_add(&j->features, "compressed", "announced by s_compress, never implemented");
	return features_judge(&j->features, image, "jfs", j->sb_offset, force, j->findings, err);
}
