/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Access control lists: on disk version 1 with ids only where they mean something (fs/reiserfs/xattr_acl.c), for
 * readers the form that every Linux filesystem shows (linux/posix_acl_xattr.h: version 2, each entry with an id).
 */
#include <stdlib.h>

#include "reiserfs.h"

#define SHOWN_VERSION 2u
#define NO_ID 0xffffffffu

static void put16(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)v;
	p[1] = (uint8_t)(v >> 8);
}

static void put32(uint8_t *p, uint32_t v)
{
	put16(p, v & 0xffff);
	put16(p + 2, v >> 16);
}

uint8_t *rfs_acl_convert(const uint8_t *disk, size_t size, size_t *length, enum fsa_status *status)
{
	size_t at = 4, out = 4;
	uint8_t *shown;

	*status = FSA_EDAMAGED;
	if (size < 4 || fsa_get_le32(disk) != RFS_ACL_VERSION)
		return NULL;
	/* Twice the size is enough: an entry grows from four bytes to eight. */
	shown = malloc(size * 2);
	if (!shown) {
		*status = FSA_ENOMEM;
		return NULL;
	}
	put32(shown, SHOWN_VERSION);
	while (at < size) {
		uint32_t tag, id = NO_ID;

		if (size - at < RFS_ACL_SHORT)
			goto bad;
		tag = fsa_get_le16(disk + at);
		put16(shown + out, tag);
		put16(shown + out + 2, fsa_get_le16(disk + at + 2));
		if (tag == RFS_ACL_USER || tag == RFS_ACL_GROUP) {
			if (size - at < sizeof(struct rfs_acl_entry))
				goto bad;
			id = fsa_get_le32(disk + at + 4);
			at += sizeof(struct rfs_acl_entry);
		} else if (tag == RFS_ACL_USER_OBJ || tag == RFS_ACL_GROUP_OBJ || tag == RFS_ACL_MASK || tag == RFS_ACL_OTHER) {
			at += RFS_ACL_SHORT;
		} else {
			goto bad;
		}
		put32(shown + out + 4, id);
		out += 8;
	}
	*length = out;
	*status = FSA_OK;
	return shown;
bad:
	free(shown);
	return NULL;
}
