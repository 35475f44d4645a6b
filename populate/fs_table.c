/* SPDX-License-Identifier: GPL-2.0-only */
/* The table of filesystems. */
#include <string.h>

#include "fs_table.h"

#define MIB	(UINT64_C(1) << 20)

static const struct pop_fs table[] = {
	{
		.name = "ext2",
		.mkfs = { "mke2fs", "-q", "-F", "-t", "ext2" },
		.block_option = "-b", .features_option = "-O",
		.version_option = "-V",
		/*
		 * Most kernels leave ext2 to the ext4 driver, and that is
		 * what makes the tree the same under every kernel.
		 */
		.mount_type = "ext4", .mount_options = "",
		.min_size = 64 * MIB, .ext = true, .lib = &pop_lib_ext,
	}, {
		.name = "ext3",
		.mkfs = { "mke2fs", "-q", "-F", "-t", "ext3" },
		.block_option = "-b", .features_option = "-O",
		.version_option = "-V",
		.mount_type = "ext4", .mount_options = "",
		.log_mount = "journal_path",
		.min_size = 64 * MIB, .ext = true, .lib = &pop_lib_ext,
	}, {
		.name = "ext4",
		.mkfs = { "mke2fs", "-q", "-F", "-t", "ext4" },
		.block_option = "-b", .features_option = "-O",
		.version_option = "-V",
		.mount_type = "ext4", .mount_options = "",
		.log_mount = "journal_path",
		.min_size = 64 * MIB, .ext = true, .lib = &pop_lib_ext,
	}, {
		.name = "xfs",
		.mkfs = { "mkfs.xfs", "-q", "-f" },
		.block_option = "-b size=%", .version_option = "-V",
		.mount_type = "xfs", .mount_options = "",
		.log_mkfs = "-l logdev=%", .log_sized = true,
		.log_mount = "logdev",
		.min_size = 320 * MIB, .lib = &pop_lib_xfs,
	}, {
		.name = "btrfs",
		.mkfs = { "mkfs.btrfs", "-q", "-f" },
		.block_option = "-s", .features_option = "-O",
		.version_option = "--version",
		.mount_type = "btrfs", .mount_options = "",
		.device_mount = "device",
		.min_size = 256 * MIB, .lib = &pop_lib_btrfs,
	}, {
		.name = "reiserfs",
		.mkfs = { "mkfs.reiserfs", "-q", "-f", "-f" },
		.block_option = "-b", .version_option = "-V",
		/* Without these it has neither attributes nor lists. */
		.mount_type = "reiserfs", .mount_options = "user_xattr,acl",
		.log_mkfs = "-j", .log_mount = "jdev",
		.tie_log = pop_tie_log_reiserfs,
		.min_size = 96 * MIB,
	}, {
		.name = "reiser4",
		.mkfs = { "mkfs.reiser4", "-y", "-f" },
		.block_option = "-b", .version_option = "-V",
		/* Only kernels with the module's patch have it. */
		.mount_type = "reiser4", .mount_options = "", .not_in_uml = true,
		.min_size = MIB / 4, .lib = &pop_lib_reiser4,
		.lib_first = true,
	}, {
		.name = "jfs",
		.mkfs = { "mkfs.jfs", "-q" },
		.version_option = "-V",
		.mount_type = "jfs", .mount_options = "",
		.log_first = { "mkfs.jfs", "-q", "-J", "journal_dev" },
		.log_mkfs = "-J device=%",
		.tie_log = pop_tie_log_jfs,
		.min_size = 64 * MIB,
	},
};

const struct pop_fs *pop_fs_at(size_t index)
{
	if (index >= sizeof(table) / sizeof(table[0]))
		return NULL;
	return &table[index];
}

const struct pop_fs *pop_fs_find(const char *name)
{
	const struct pop_fs *fs;

	for (size_t i = 0; (fs = pop_fs_at(i)); i++)
		if (!strcmp(fs->name, name))
			return fs;
	return NULL;
}
