/* SPDX-License-Identifier: GPL-2.0-only */
/* Tying an ext filesystem to a journal on another image. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <ext2fs/ext2_fs.h>
#include <ext2fs/ext2fs.h>
#include <et/com_err.h>

#include "pop_job.h"

/* Of the journal's superblock, which no installed header describes. */
#define JSB_MAGIC	UINT32_C(0xc03b3998)
#define JSB_NR_USERS	0x40
#define JSB_USERS	0x100

static void put_be32(unsigned char *p, uint32_t v)
{
	for (unsigned int i = 0; i < 4; i++)
		p[i] = (unsigned char)(v >> (24 - 8 * i));
}

uint32_t pop_ext_block_size(const char *image)
{
	uint32_t size;
	ext2_filsys fs;

	if (ext2fs_open(image, 0, 0, 0, unix_io_manager, &fs))
		return 0;
	size = fs->blocksize;
	ext2fs_free(fs);
	return size;
}

bool pop_ext_revision_0(const char *image)
{
	ext2_filsys fs;
	bool old;

	if (ext2fs_open(image, EXT2_FLAG_64BITS, 0, 0, unix_io_manager, &fs))
		return false;
	old = fs->super->s_rev_level == EXT2_GOOD_OLD_REV;
	ext2fs_free(fs);
	return old;
}

/* Enters the filesystem as the one user of the journal; takes its id. */
static errcode_t claim_journal(const char *log, const __u8 *user, __u8 *uuid)
{
	unsigned char jsb[SUPERBLOCK_SIZE], magic[4];
	ext2_filsys jfs;
	errcode_t err;
	blk64_t at;

	err = ext2fs_open(log, EXT2_FLAG_RW | EXT2_FLAG_JOURNAL_DEV_OK, 0, 0,
			  unix_io_manager, &jfs);
	if (err)
		return err;
	memcpy(uuid, jfs->super->s_uuid, 16);
	/* Behind the block that holds the ext superblock. */
	at = (blk64_t)ext2fs_journal_sb_start((int)jfs->blocksize);
	put_be32(magic, JSB_MAGIC);
	err = io_channel_read_blk64(jfs->io, at, -SUPERBLOCK_SIZE, jsb);
	if (!err && memcmp(jsb, magic, sizeof(magic)))
		err = EXT2_ET_NO_JOURNAL_SB;
	if (!err) {
		put_be32(jsb + JSB_NR_USERS, 1);
		memcpy(jsb + JSB_USERS, user, 16);
		err = io_channel_write_blk64(jfs->io, at, -SUPERBLOCK_SIZE,
					     jsb);
	}
	errcode_t last = io_channel_flush(jfs->io);
	ext2fs_free(jfs);
	return err ? err : last;
}

int pop_ext_external_journal(const char *image, const char *log, char *why,
			     size_t why_size)
{
	ext2_filsys fs;
	errcode_t err;

	err = ext2fs_open(image, EXT2_FLAG_RW | EXT2_FLAG_64BITS, 0, 0,
			  unix_io_manager, &fs);
	if (!err) {
		err = claim_journal(log, fs->super->s_uuid,
				    fs->super->s_journal_uuid);
		if (!err) {
			fs->super->s_journal_inum = 0;
			/* Which device it will be is said when mounting. */
			fs->super->s_journal_dev = 0;
			memset(fs->super->s_jnl_blocks, 0,
			       sizeof(fs->super->s_jnl_blocks));
			ext2fs_set_feature_journal(fs->super);
			ext2fs_mark_super_dirty(fs);
		}
		errcode_t last = ext2fs_close(fs);
		err = err ? err : last;
	}
	if (err) {
		snprintf(why, why_size, "%s", error_message(err));
		return -EIO;
	}
	return 0;
}
