/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bits of s_flag (jfs_filsys.h of Linux 6.1). JFS has one word for all of them and does not say which a
 * reader may ignore: each known one has its reason here, an unknown one is refused.
 */
#include <stdio.h>
#include <string.h>

#include "jfs.h"

struct feature {
	uint32_t bit;
	bool refused;
	struct fsa_feature f;
};

static const struct feature features[] = {
	{ JFS_FLAG_UNICODE, false, { "unicode", "names are 16-bit units with and without it" } },
	{ 0x00000002u, false, { "errors=remount-ro", "what a driver does after an error" } },
	{ 0x00000004u, false, { "errors=continue", "what a driver does after an error" } },
	{ 0x00000008u, false, { "errors=panic", "what a driver does after an error" } },
	{ 0x00000010u, false, { "usrquota", "a mount option; quota files are files" } },
	{ 0x00000020u, false, { "grpquota", "a mount option; quota files are files" } },
	{ 0x00000040u, false, { "nointegrity", "a mount option: the log is not written" } },
	{ 0x00000080u, false, { "discard", "a mount option" } },
	{ 0x00000100u, false, { "groupcommit", "when the log is written" } },
	{ 0x00000200u, false, { "lazycommit", "when the log is written" } },
	{ 0x00000400u, false, { "tmpfs", "never implemented: says that nothing is logged" } },
	{ JFS_FLAG_INLINELOG, false, { "inline_log", NULL } },
	{ JFS_FLAG_INLINEMOVE, false, { "inline_log_moving", "set while the filesystem grows; a finding" } },
	{ JFS_FLAG_BAD_SAIT, false, { "bad_secondary_table", NULL } },
	{ 0x00020000u, false, { "sparse", "files may have holes; holes are read with and without it" } },
	{ 0x00040000u, false, { "dasd_enabled", "OS/2's limits for directories: no layout" } },
	{ 0x00080000u, false, { "dasd_prime", "OS/2's limits for directories: no layout" } },
	{ JFS_FLAG_SWAP_BYTES, true, { "big_endian", "this parser reads little-endian JFS" } },
	{ JFS_FLAG_DIR_INDEX, false, { "dir_index", NULL } },
	{ JFS_FLAG_LINUX, false, { "linux", "the platform it was made for" } },
	{ JFS_FLAG_DFS, true, { "dfs", "DCE DFS filesets, never implemented" } },
	{ JFS_FLAG_OS2, false, { "os2", "names are compared without case when they are looked up; they are stored as given" } },
	{ JFS_FLAG_AIX, true, { "aix", "JFS2 of AIX is another format" } },
};

static void append(char *text, size_t size, const char *name)
{
	size_t n = strlen(text);

	snprintf(text + n, size - n, "%s%s", n ? ", " : "", name);
}

enum fsa_status jfs_features(struct jfs *j, const char *image, bool force, struct fsa_error *err)
{
	uint32_t known = 0, compress = JFS_SB32(j->sb, s_compress);
	char refused[256] = "";
	size_t n = 0;

	for (size_t k = 0; k < sizeof(features) / sizeof(features[0]); k++) {
		const struct feature *f = &features[k];

		known |= f->bit;
		if (!(j->flags & f->bit))
			continue;
		j->feature_names[n++] = f->f.name;
		if (f->refused) {
			char text[96];

			snprintf(text, sizeof(text), "%s (%s)", f->f.name, f->f.why_ignored);
			append(refused, sizeof(refused), text);
		}
	}
	if (j->flags & ~known) {
		snprintf(j->unknown_feature, sizeof(j->unknown_feature), "unknown flags 0x%x", j->flags & ~known);
		j->feature_names[n++] = j->unknown_feature;
		append(refused, sizeof(refused), j->unknown_feature);
	}
	if (compress) {
		j->feature_names[n++] = "compressed";
		append(refused, sizeof(refused), "compressed (announced by s_compress, never implemented)");
	}
	j->feature_names[n] = NULL;
	if (!refused[0])
		return FSA_OK;
	if (!force)
		return fsa_fail(err, FSA_EUNSUPPORTED, "%s: jfs: superblock @0x%llx: flags not supported: %s (--force analyses all the "
				"same)", image, (ull)j->sb_offset, refused);
	JFS_FIND(j, "superblock", 0, j->sb_offset, "flags not understood: %s", refused);
	return FSA_OK;
}
