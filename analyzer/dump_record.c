/* SPDX-License-Identifier: GPL-2.0-only */
/* The records of a dump: integers are little-endian here, which restore(8) takes on any machine. */
#include <string.h>

#include "dump_private.h"

#define MAGIC 60012u
/* All words of a header add up to this. */
#define CHECKSUM 84446u
#define ATTRIBUTES_ARE_XATTRS 3u

/* Where the fields of a header are. */
enum {
	AT_TYPE = 0,
	AT_DATE = 4,
	AT_VOLUME = 12,
	AT_RECORD = 16,
	AT_NUMBER = 20,
	AT_MAGIC = 24,
	AT_CHECKSUM = 28,
	AT_INODE = 32,
	AT_COUNT = 160,
	AT_FOLLOWS = 164,
	AT_LABEL = 676,
	AT_LEVEL = 692,
	AT_FILESYSTEM = 696,
	AT_DEVICE = 760,
	AT_HOST = 824,
	AT_FLAGS = 888,
	AT_RECORDS_AT_ONCE = 896,
	AT_ATTRIBUTES = 900,
};

/* The same in the inode: the layout of 4.4BSD's disks. */
enum {
	INODE_MODE = 0,
	INODE_LINKS = 2,
	INODE_OLD_UID = 4,
	INODE_OLD_GID = 6,
	INODE_SIZE = 8,
	INODE_ATIME = 16,
	INODE_MTIME = 24,
	INODE_CTIME = 32,
	INODE_RDEV = 40,
	INODE_ATTRIBUTES = 100,
	INODE_BLOCKS = 104,
	INODE_GENERATION = 108,
	INODE_UID = 112,
	INODE_GID = 116,
};

static void put16(uint8_t *at, uint32_t v)
{
	at[0] = (uint8_t)v;
	at[1] = (uint8_t)(v >> 8);
}

static void put32(uint8_t *at, uint32_t v)
{
	put16(at, v);
	put16(at + 2, v >> 16);
}

static void put_time(uint8_t *at, const struct fsa_time *time)
{
	if (!time->set)
		return;
	put32(at, (uint32_t)time->sec);
	put32(at + 4, time->nsec / 1000);
}

static void put_inode(uint8_t *at, const struct dump_inode *inode)
{
	put16(at + INODE_MODE, inode->mode);
	put16(at + INODE_LINKS, inode->links < INT16_MAX ? (uint32_t)inode->links : INT16_MAX);
	put16(at + INODE_OLD_UID, inode->uid);
	put16(at + INODE_OLD_GID, inode->gid);
	put32(at + INODE_SIZE, (uint32_t)inode->size);
	put32(at + INODE_SIZE + 4, (uint32_t)(inode->size >> 32));
	put_time(at + INODE_ATIME, &inode->atime);
	put_time(at + INODE_MTIME, &inode->mtime);
	put_time(at + INODE_CTIME, &inode->ctime);
	put32(at + INODE_RDEV, inode->rdev);
	put32(at + INODE_ATTRIBUTES, inode->attributes);
	put32(at + INODE_BLOCKS, inode->blocks < INT32_MAX ? (uint32_t)inode->blocks : INT32_MAX);
	put32(at + INODE_GENERATION, inode->generation);
	put32(at + INODE_UID, inode->uid);
	put32(at + INODE_GID, inode->gid);
}

static uint32_t sum(const uint8_t *record)
{
	uint32_t total = 0;

	for (unsigned i = 0; i < DUMP_RECORD; i += 4)
		total += (uint32_t)record[i] | (uint32_t)record[i + 1] << 8 | (uint32_t)record[i + 2] << 16 |
			 (uint32_t)record[i + 3] << 24;
	return total;
}

void dump_make_header(const struct dump_stream *s, const struct dump_header *header, uint8_t record[DUMP_RECORD])
{
	memset(record, 0, DUMP_RECORD);
	put32(record + AT_TYPE, header->type);
	put32(record + AT_DATE, s->date);
	put32(record + AT_VOLUME, 1);
	put32(record + AT_RECORD, (uint32_t)(s->bytes / DUMP_RECORD));
	put32(record + AT_NUMBER, header->number);
	put32(record + AT_MAGIC, MAGIC);
	if (header->inode != NULL)
		put_inode(record + AT_INODE, header->inode);
	put32(record + AT_COUNT, header->count);
	if (header->follows != NULL)
		memcpy(record + AT_FOLLOWS, header->follows, header->count < DUMP_ADDRS ? header->count : DUMP_ADDRS);
	memcpy(record + AT_LABEL, s->label, sizeof(s->label));
	memcpy(record + AT_FILESYSTEM, s->filesystem, sizeof(s->filesystem));
	memcpy(record + AT_DEVICE, s->device, sizeof(s->device));
	memcpy(record + AT_HOST, s->host, sizeof(s->host));
	put32(record + AT_FLAGS, header->flags | DUMP_NEW_INODES);
	put32(record + AT_RECORDS_AT_ONCE, DUMP_RECORDS_AT_ONCE);
	put32(record + AT_ATTRIBUTES, header->attributes ? ATTRIBUTES_ARE_XATTRS : 0);
	put32(record + AT_CHECKSUM, CHECKSUM - sum(record));
}

bool dump_put(struct dump_stream *s, const void *data, uint64_t length)
{
	if (s->error != 0)
		return false;
	s->bytes += length;
	if (writebehind_put(s->out, data, length))
		return true;
	s->error = writebehind_error(s->out);
	return false;
}

bool dump_pad(struct dump_stream *s)
{
	return dump_put(s, NULL, (DUMP_RECORD - s->bytes % DUMP_RECORD) % DUMP_RECORD);
}

bool dump_put_header(struct dump_stream *s, const struct dump_header *header)
{
	uint8_t record[DUMP_RECORD];

	dump_make_header(s, header, record);
	return dump_put(s, record, sizeof(record));
}
