/* SPDX-License-Identifier: GPL-2.0-only */
/* Contents of files and symbolic links. */
#include <stdlib.h>
#include <string.h>

#include "xfs.h"

struct reader {
	struct xf *x;
	fsa_extent_fn fn;
	void *arg;
};

static enum fsa_status give_piece(void *arg, const struct xf_piece *p)
{
	struct reader *r = arg;
	struct fsa_extent e = {
		.kind = p->unwritten ? FSA_EXTENT_UNWRITTEN : FSA_EXTENT_DATA, .logical = xf_at(r->x, p->logical),
		.length = xf_at(r->x, p->count), .physical = xf_at(r->x, p->block),
	};

	/* Behind what a file can hold: damage, which the audit names. */
	if (p->logical >= UINT64_C(1) << (63 - r->x->block_log))
		return FSA_OK;
	if (p->realtime) {
		e.device = (unsigned)r->x->rt_role;
		if (r->x->rt_role < 0) {
			e.kind = FSA_EXTENT_UNREADABLE;
			e.device = 0;
			e.physical = FSA_NO_OFFSET;
		}
	}
	return r->fn(r->arg, &e);
}

enum fsa_status xf_extents(struct fsa_fs *fs, struct fsa_ref ref, fsa_extent_fn fn, void *arg)
{
	struct xf *x = xf_of(fs);
	struct reader r = { .x = x, .fn = fn, .arg = arg };
	struct xf_map_ops ops = { .piece = give_piece, .arg = &r };
	struct xf_inode i;
	uint8_t *raw;
	enum fsa_status st = xf_inode_of(x, ref.word[0], &raw, &i);

	if (st != FSA_OK)
		return st;
	if (i.data.format == XFS_DINODE_FMT_LOCAL && i.size) {
		struct fsa_extent e = {
			.kind = FSA_EXTENT_PACKED, .length = fsa_min(i.size, i.data.size), .physical = i.offset + i.data.offset,
		};

		st = fn(arg, &e);
	} else {
		if (i.realtime && x->rt_role < 0)
			XF_FIND(x, "inode", i.number, i.offset, "its data lies on the realtime device, which was not given");
		st = xf_map_walk(x, &i, &i.data, &ops);
	}
	free(raw);
	return st;
}

struct link {
	struct xf *x;
	const struct xf_inode *i;
	uint8_t *target;
	size_t length;
};

/* Each extent of a version 5 symlink starts with a header of its own. */
static enum fsa_status link_piece(void *arg, const struct xf_piece *p)
{
	struct link *l = arg;
	struct xf *x = l->x;
	uint32_t header = x->v5 ? XF_SYMLINK_HEADER5 : 0;
	uint64_t want = l->i->size - l->length, bytes = fsa_min(xf_at(x, p->count) - header, want);
	const uint64_t at = xf_at(x, p->block);
	enum fsa_status st;

	if (!bytes)
		return FSA_OK;
	if (header) {
		uint8_t h[XF_SYMLINK_HEADER5];

		st = fsa_read(x->fs, 0, at, h, sizeof(h), "inode", l->i->number);
		if (st != FSA_OK)
			return st;
		if (fsa_get_be32(h) != XFS_SYMLINK_MAGIC || FSA_BE(uint32_t, h, struct xfs_dsymlink_hdr, sl_bytes) != bytes ||
		    FSA_BE(uint32_t, h, struct xfs_dsymlink_hdr, sl_offset) != l->length) {
			XF_FIND(x, "inode", l->i->number, at, "symlink block has magic 0x%08x with %u bytes from %u on, should be 0x%08x, %llu, %llu",
				fsa_get_be32(h), FSA_BE(uint32_t, h, struct xfs_dsymlink_hdr, sl_bytes),
				FSA_BE(uint32_t, h, struct xfs_dsymlink_hdr, sl_offset), XFS_SYMLINK_MAGIC, (ull)bytes, (ull)l->length);
			return FSA_EDAMAGED;
		}
	}
	st = fsa_read(x->fs, 0, at + header, l->target + l->length, (size_t)bytes, "inode", l->i->number);
	l->length += st == FSA_OK ? (size_t)bytes : 0;
	return st;
}

enum fsa_status xf_readlink(struct fsa_fs *fs, struct fsa_ref ref, char **target, size_t *length)
{
	struct xf *x = xf_of(fs);
	struct xf_inode i;
	struct link l = { .x = x, .i = &i };
	const struct xf_map_ops ops = { .piece = link_piece, .arg = &l };
	uint8_t *raw;
	enum fsa_status st = xf_inode_of(x, ref.word[0], &raw, &i);

	if (st != FSA_OK)
		return st;
	if (i.type != FSA_TYPE_SYMLINK) {
		st = FSA_EINVAL;
	} else if (!i.size || i.size > XFS_SYMLINK_MAXLEN || (i.data.format == XFS_DINODE_FMT_LOCAL && i.size > i.data.size)) {
		XF_FIND(x, "inode", i.number, i.offset, "symlink of %llu bytes, at most %u are possible", (ull)i.size,
			i.data.format == XFS_DINODE_FMT_LOCAL ? i.data.size : XFS_SYMLINK_MAXLEN);
		st = FSA_EDAMAGED;
	} else {
		l.target = malloc((size_t)i.size + 1);
		st = l.target ? FSA_OK : FSA_ENOMEM;
	}
	if (st == FSA_OK && i.data.format == XFS_DINODE_FMT_LOCAL) {
		memcpy(l.target, i.data.bytes, (size_t)i.size);
		l.length = (size_t)i.size;
	} else if (st == FSA_OK) {
		st = xf_map_walk(x, &i, &i.data, &ops);
	}
	if (st == FSA_OK && l.length != i.size) {
		XF_FIND(x, "inode", i.number, i.offset, "symlink of %llu bytes, its blocks hold %llu", (ull)i.size, (ull)l.length);
		st = FSA_EDAMAGED;
	}
	if (st == FSA_OK) {
		l.target[l.length] = '\0';
		*target = (char *)l.target;
		*length = l.length;
	} else {
		free(l.target);
	}
	free(raw);
	return st;
}
