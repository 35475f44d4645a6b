/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Filesystems that find their log by a device number: mkfs, given regular
 * files, has none to write.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <unistd.h>

#include "pop_job.h"

/* Of the superblocks and of ReiserFS's journal header; bytes. */
#define JFS_SUPER		32768
#define JFS_SUPER_2		61440
#define JFS_LOGDEV		64
#define REISERFS_SUPER		65536
#define REISERFS_JOURNAL	12	/* parameters: first block, device, */
#define REISERFS_JOURNAL_LEN	8	/* and length in them */
#define REISERFS_JOURNAL_DEV	4
#define REISERFS_BLOCK_SIZE	44
#define REISERFS_HEADER_JOURNAL	12

static int put_le32(int fd, uint64_t at, uint32_t value)
{
	unsigned char le[4];

	for (unsigned int i = 0; i < 4; i++)
		le[i] = (unsigned char)(value >> (8 * i));
	return pwrite(fd, le, 4, (off_t)at) == 4 ? 0 : -EIO;
}

static int get_le32(int fd, uint64_t at, uint32_t *value)
{
	unsigned char le[4];

	if (pread(fd, le, 4, (off_t)at) != 4)
		return -EIO;
	*value = le[0] | (uint32_t)le[1] << 8 | (uint32_t)le[2] << 16 |
		(uint32_t)le[3] << 24;
	return 0;
}

int pop_tie_log_jfs(int image, int log, uint32_t number)
{
	int ret = put_le32(image, JFS_SUPER + JFS_LOGDEV, number);

	(void)log;
	return ret ? ret : put_le32(image, JFS_SUPER_2 + JFS_LOGDEV, number);
}

/* The kernel takes a journal without a number for one inside. */
int pop_tie_log_reiserfs(int image, int log, uint32_t number)
{
	uint64_t at = REISERFS_SUPER + REISERFS_JOURNAL;
	uint32_t first, length, block;
	int ret = get_le32(image, at, &first);

	if (!ret)
		ret = get_le32(image, at + REISERFS_JOURNAL_LEN, &length);
	if (!ret)
		ret = get_le32(image, REISERFS_SUPER + REISERFS_BLOCK_SIZE,
			       &block);
	if (!ret)
		ret = put_le32(image, at + REISERFS_JOURNAL_DEV, number);
	if (ret)
		return ret;
	/* The header behind the journal repeats the parameters. */
	at = ((uint64_t)first + length) * (block & 0xffff);
	return put_le32(log, at + REISERFS_HEADER_JOURNAL +
			REISERFS_JOURNAL_DEV, number);
}

int pop_tie_log(struct pop_job *job, unsigned int major, unsigned int minor)
{
	/* The kernel's way to put a device number into 32 bits. */
	uint32_t number = (minor & 0xff) | major << 8 | (minor & ~0xffU) << 12;
	int image, log, ret;

	if (!job->log_image || !job->fs->tie_log)
		return 0;
	image = open(job->image, O_RDWR | O_CLOEXEC);
	log = open(job->log_image, O_RDWR | O_CLOEXEC);
	ret = image < 0 || log < 0 ? -errno :
		job->fs->tie_log(image, log, number);
	if (image >= 0 && close(image) && !ret)
		ret = -errno;
	if (log >= 0 && close(log) && !ret)
		ret = -errno;
	return ret;
}
