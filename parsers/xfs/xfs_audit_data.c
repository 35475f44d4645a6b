/* SPDX-License-Identifier: GPL-2.0-only */
/* The blocks of a data fork: data, slack, preallocation, what other inodes share, and internal files. */
#include <stdlib.h>
#include <string.h>

#include "xfs_audit.h"

struct filer {
	struct xf_audit_state *s;
	const struct xf_inode *i;
	enum xf_role role;
	bool unreferenced;
	const struct fsa_owner *owner;
	struct fsa_object *o;
	unsigned flags;
	uint64_t eof_blocks;		/* blocks up to end of file, the last one possibly in part */
	uint64_t *blocks;
	uint64_t next_logical, next_physical;	/* behind the last piece of data: for counting extents */
	bool have_last;
	uint32_t link_bytes;		/* of a symlink's target, in the pieces so far */
	uint8_t *block;			/* scratch: for quota records */
};

static unsigned device_of(const struct filer *f, const struct xf_piece *p)
{
	return p->realtime ? (unsigned)f->s->x->rt_role : 0;
}

static void claim(struct filer *f, const struct xf_piece *p, uint64_t from, uint64_t count, enum xf_detail detail)
{
	if (!count || (p->realtime && f->s->x->rt_role < 0))
		return;
	if (f->unreferenced)
		detail = XF_D_DELETED_OPEN;
	if (!fsa_claim(f->s->claims, device_of(f, p), p->block + from, count, detail, f->flags, f->owner))
		XF_FIND(f->s->x, "inode", f->i->number, f->i->offset, "%llu blocks at %llu leave the device", (ull)count, (ull)(p->block + from));
}

static void claim_part(struct filer *f, const struct xf_piece *p, uint64_t from, uint64_t count, uint64_t bytes, enum xf_detail detail,
		       enum xf_detail rest)
{
	if (p->realtime && f->s->x->rt_role < 0)
		return;
	if (f->unreferenced)
		claim(f, p, from, count, XF_D_DELETED_OPEN);
	else
		fsa_claim_with_rest(f->s->claims, device_of(f, p), p->block + from, count, bytes, detail, rest, f->flags, f->owner);
}

static void count_extent(struct filer *f, const struct xf_piece *p, uint64_t count)
{
	if (!f->have_last || f->next_logical != p->logical || f->next_physical != p->block)
		f->o->extents++;
	f->have_last = true;
	f->next_logical = p->logical + count;
	f->next_physical = p->block + count;
}

static void file_piece(struct filer *f, const struct xf_piece *p)
{
	const struct xf *x = f->s->x;
	uint64_t in_file = p->logical < f->eof_blocks ? fsa_min(p->count, f->eof_blocks - p->logical) : 0;
	uint64_t bytes, last_bytes;

	if (in_file < p->count) {
		claim(f, p, in_file, p->count - in_file, XF_D_BEYOND_EOF);
		f->o->preallocated_bytes += xf_at(x, p->count - in_file);
	}
	if (!in_file)
		return;
	if (p->unwritten) {
		claim(f, p, 0, in_file, XF_D_UNWRITTEN);
		f->o->preallocated_bytes += xf_at(x, in_file);
		return;
	}
	count_extent(f, p, in_file);
	bytes = fsa_min(xf_at(x, in_file), f->i->size - xf_at(x, p->logical));
	f->o->data_bytes += bytes;
	f->o->slack_bytes += xf_at(x, in_file) - bytes;
	last_bytes = bytes & (x->block_size - 1);
	if (!last_bytes) {
		claim(f, p, 0, in_file, XF_D_FILE_DATA);
		return;
	}
	claim(f, p, 0, in_file - 1, XF_D_FILE_DATA);
	claim_part(f, p, in_file - 1, 1, last_bytes, XF_D_FILE_DATA, XF_D_SLACK);
}

/* Cuts a piece where the reference count tree says that sharing starts or ends. */
static void shared_piece(struct filer *f, const struct xf_piece *p)
{
	unsigned flags = f->flags;
	struct xf_piece part = *p;

	for (uint64_t done = 0, run; done < p->count; done += run) {
		bool shared = xf_shared_at(f->s, p->ag, p->ag_block + (uint32_t)done, p->count - done, &run);

		part.logical = p->logical + done;
		part.block = p->block + done;
		part.ag_block = p->ag_block + (uint32_t)done;
		part.count = run;
		f->flags = shared ? flags | FSA_CLAIM_SHARED : flags;
		file_piece(f, &part);
	}
	f->flags = flags;
}

/* --- quota files -------------------------------------------------------------------------------------- */

/* Whether it is a record at all. */
static bool check_dquot(struct filer *f, const uint8_t *r, uint64_t at)
{
	struct xf *x = f->s->x;
	uint32_t got, want;

	if (fsa_get_be16(r) != XFS_DQUOT_MAGIC) {
		XF_FIND(x, "inode", f->i->number, at, "quota record has magic 0x%04x, should be 0x%04x", fsa_get_be16(r), XFS_DQUOT_MAGIC);
		return false;
	}
	if (!x->v5)
		return true;
	if (!xf_crc_ok(r, XF_DQUOT_BYTES, XFS_DQUOT_CRC_OFF, &got, &want))
		XF_FIND(x, "inode", f->i->number, at, "quota record checksum 0x%08x, computed 0x%08x", got, want);
	if (memcmp(r + offsetof(struct xfs_dqblk, dd_uuid), x->uuid, 16) != 0)
		XF_FIND(x, "inode", f->i->number, at, "quota record carries another filesystem's uuid");
	return true;
}

static enum fsa_status quota_piece(struct filer *f, const struct xf_piece *p)
{
	struct xf *x = f->s->x;
	uint32_t records = x->block_size / XF_DQUOT_BYTES, bytes = records * XF_DQUOT_BYTES;

	if (!f->block)
		f->block = malloc(x->block_size);
	if (!f->block)
		return FSA_ENOMEM;
	for (uint64_t k = 0; k < p->count; k++) {
		uint64_t at = xf_at(x, p->block + k);

		claim_part(f, p, k, 1, bytes, XF_D_QUOTA, XF_D_FREE_QUOTA);
		if (p->unwritten || fsa_read(x->fs, 0, at, f->block, x->block_size, "inode", f->i->number) != FSA_OK)
			continue;
		for (uint32_t r = 0; r < records; r++) {
			const uint8_t *record = f->block + (size_t)r * XF_DQUOT_BYTES;
			enum fsa_status st = FSA_OK;

			if (check_dquot(f, record, at + (uint64_t)r * XF_DQUOT_BYTES))
				st = xf_quota_record(f->s, f->i->number, (p->logical + k) * records + r, record, at + (uint64_t)r * XF_DQUOT_BYTES);
			if (st != FSA_OK)
				return st;
		}
	}
	return FSA_OK;
}

/* --- the realtime device's bitmap and summary ---------------------------------------------------------- */

static enum fsa_status realtime_piece(struct filer *f, const struct xf_piece *p)
{
	bool bitmap = f->role == XF_ROLE_RT_BITMAP;

	claim(f, p, 0, p->count, bitmap ? XF_D_RT_BITMAP : XF_D_RT_SUMMARY);
	if (!f->block)
		f->block = malloc(f->s->x->block_size);
	if (!f->block)
		return FSA_ENOMEM;
	if (bitmap)
		return xf_rt_bitmap(f->s, f->i, p, f->block);
	xf_rt_summary(f->s, f->i, p, f->block);
	return FSA_OK;
}

/* --- all of them -------------------------------------------------------------------------------------- */

static void link_piece(struct filer *f, const struct xf_piece *p)
{
	struct xf *x = f->s->x;
	uint32_t header = x->v5 ? XF_SYMLINK_HEADER5 : 0;
	uint64_t want = f->i->size > f->link_bytes ? f->i->size - f->link_bytes : 0;
	uint64_t bytes = fsa_min(xf_at(x, p->count) - header, want);
	uint8_t h[XF_SYMLINK_HEADER5];
	const struct xf_self self = {
		.object = "inode", .number = f->i->number, .what = "symlink block", .crc = XFS_SYMLINK_CRC_OFF,
		.blkno = offsetof(struct xfs_dsymlink_hdr, sl_blkno), .uuid = offsetof(struct xfs_dsymlink_hdr, sl_uuid),
		.owner = offsetof(struct xfs_dsymlink_hdr, sl_owner), .owner_bytes = 8, .want_owner = f->i->number,
	};

	f->link_bytes += (uint32_t)bytes;
	claim_part(f, p, 0, p->count, bytes ? header + bytes : 0, XF_D_SYMLINK, XF_D_FREE_SYMLINK);
	f->o->data_bytes += bytes;
	f->o->slack_bytes += xf_at(x, p->count) - bytes;
	count_extent(f, p, p->count);
	if (!x->v5 || f->unreferenced || fsa_read(x->fs, 0, xf_at(x, p->block), h, sizeof(h), "inode", f->i->number) != FSA_OK)
		return;
	if (fsa_get_be32(h) != XFS_SYMLINK_MAGIC) {
		XF_FIND(x, "inode", f->i->number, xf_at(x, p->block), "symlink block has magic 0x%08x, should be 0x%08x", fsa_get_be32(h),
			XFS_SYMLINK_MAGIC);
	} else if (p->count <= (UINT64_C(65536) >> x->block_log) || p->count <= 3) {
		size_t length = (size_t)xf_at(x, p->count);
		uint8_t *b = malloc(length);

		if (b && fsa_read(x->fs, 0, xf_at(x, p->block), b, length, "inode", f->i->number) == FSA_OK)
			xf_check_self(x, &self, b, length, xf_at(x, p->block));
		free(b);
	}
}

static enum fsa_status take_piece(void *arg, const struct xf_piece *p)
{
	struct filer *f = arg;
	struct xf *x = f->s->x;

	*f->blocks += p->count;
	if (p->realtime)
		f->s->realtime_blocks += p->count;
	else
		xf_owned(f->s, p->ag, p->ag_block, p->count, XF_C_DATA, f->i->number, p->logical, p->unwritten, false);
	switch (f->role) {
	case XF_ROLE_QUOTA: return quota_piece(f, p);
	case XF_ROLE_RT_BITMAP:
	case XF_ROLE_RT_SUMMARY: return realtime_piece(f, p);
	default: break;
	}
	if (f->i->type == FSA_TYPE_DIRECTORY) {
		count_extent(f, p, p->count);
		f->o->data_bytes += xf_at(x, p->count);
		/* Its blocks are claimed when names are read, once all inodes are known. */
		if (f->unreferenced)
			claim(f, p, 0, p->count, XF_D_DELETED_OPEN);
	} else if (f->i->type == FSA_TYPE_SYMLINK) {
		link_piece(f, p);
	} else if (x->reflink && !p->realtime) {
		shared_piece(f, p);
	} else {
		file_piece(f, p);
	}
	return FSA_OK;
}

static enum fsa_status take_node(void *arg, const struct xf_tree_block *b)
{
	struct filer *f = arg;

	++*f->blocks;
	f->o->mapping_bytes += f->s->x->block_size;
	return xf_audit_map_node(f->s, f->i, b, false, f->unreferenced, f->flags, f->owner);
}

enum fsa_status xf_audit_data(struct xf_audit_state *s, const struct xf_inode *i, enum xf_role role, bool unreferenced,
			      const struct fsa_owner *owner, struct fsa_object *o, uint64_t *blocks)
{
	struct filer f = {
		.s = s, .i = i, .role = role, .unreferenced = unreferenced, .owner = owner, .o = o, .blocks = blocks,
		.flags = role == XF_ROLE_FILE ? FSA_CLAIM_CHARGED : 0, .eof_blocks = fsa_div_up(i->size, s->x->block_size),
	};
	const struct xf_map_ops ops = { .piece = take_piece, .node = take_node, .arg = &f, .seen = &s->seen };
	enum fsa_status st;

	s->realtime_blocks = 0;
	if (i->size >> 63)
		XF_FIND(s->x, "inode", i->number, i->offset, "size %llu is above what a file can have", (ull)i->size);
	if (i->realtime && s->x->rt_role < 0 && i->data.extents)
		XF_FIND(s->x, "inode", i->number, i->offset, "its data lies on the realtime device, which was not given");
	st = xf_map_walk(s->x, i, &i->data, &ops);
	free(f.block);
	return st;
}
