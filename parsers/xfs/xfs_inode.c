/* SPDX-License-Identifier: GPL-2.0-only */
/* Inode records: where they lie, what their fields say, and stat(2) as the kernel would answer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "xfs.h"

uint64_t xf_inode_offset(const struct xf *x, uint64_t ino)
{
	uint64_t ag = ino >> x->agino_log, agino = ino & ((UINT64_C(1) << x->agino_log) - 1);

	if (ag >= x->ag_count || !xf_ag_block_ok(x, (uint32_t)ag, agino >> x->inopb_log, 1))
		return FSA_NO_OFFSET;
	return xf_at(x, xf_linear(x, (uint32_t)ag, (uint32_t)(agino >> x->inopb_log))) + ((agino & (x->inopb - 1)) << x->inode_log);
}

void xf_inode_decode(const struct xf *x, uint64_t ino, const uint8_t *raw, uint64_t offset, struct xf_inode *i)
{
	uint32_t room, fork = (uint32_t)XF_INO8(raw, di_forkoff) << 3;
	bool big;

	memset(i, 0, sizeof(*i));
	i->number = ino;
	i->raw = raw;
	i->offset = offset;
	i->version = XF_INO8(raw, di_version);
	i->mode = XF_INO16(raw, di_mode);
	i->type = fsa_type_of_mode(i->mode);
	i->uid = XF_INO32(raw, di_uid);
	i->gid = XF_INO32(raw, di_gid);
	i->links = i->version == 1 ? XF_INO16(raw, di_onlink) : XF_INO32(raw, di_nlink);
	if (i->version > 1)
		i->project = XF_INO16(raw, di_projid_lo) | (x->projid32 ? (uint32_t)XF_INO16(raw, di_projid_hi) << 16 : 0);
	i->generation = XF_INO32(raw, di_gen);
	i->next_unlinked = XF_INO32(raw, di_next_unlinked);
	i->size = XF_INO64(raw, di_size);
	i->blocks = XF_INO64(raw, di_nblocks);
	i->flags = XF_INO16(raw, di_flags);
	i->core = x->v5 ? XF_CORE5 : XF_CORE4;
	if (x->v5)
		i->flags2 = XF_INO64(raw, di_flags2);
	i->realtime = i->flags & XFS_DIFLAG_REALTIME && i->type == FSA_TYPE_REGULAR;
	room = x->inode_size - i->core;
	if (fork >= room) {
		i->bad_fork = true;
		fork = 0;
	}
	big = i->flags2 & XFS_DIFLAG2_NREXT64;
	i->data = (struct xf_fork){
		.format = XF_INO8(raw, di_format), .offset = i->core, .size = fork ? fork : room, .bytes = raw + i->core,
		.extents = big ? XF_INO64(raw, di_big_nextents) : XF_INO32(raw, di_nextents),
	};
	if (fork)
		i->attr = (struct xf_fork){
			.format = XF_INO8(raw, di_aformat), .attr = true, .offset = i->core + fork, .size = room - fork,
			.bytes = raw + i->core + fork, .extents = big ? XF_INO32(raw, di_big_anextents) : XF_INO16(raw, di_anextents),
		};
}

enum fsa_status xf_inode_of(struct xf *x, uint64_t ino, uint8_t **raw, struct xf_inode *i)
{
	uint64_t at = xf_inode_offset(x, ino);
	enum fsa_status st;

	*raw = NULL;
	if (at == FSA_NO_OFFSET) {
		XF_FIND(x, "inode", ino, FSA_NO_OFFSET, "its number lies in no allocation group");
		return FSA_EDAMAGED;
	}
	*raw = malloc(x->inode_size);
	if (!*raw)
		return FSA_ENOMEM;
	st = fsa_read(x->fs, 0, at, *raw, x->inode_size, "inode", ino);
	if (st == FSA_OK && XF_INO16(*raw, di_magic) != XFS_DINODE_MAGIC) {
		XF_FIND(x, "inode", ino, at, "magic 0x%04x, should be 0x%04x", XF_INO16(*raw, di_magic), XFS_DINODE_MAGIC);
		st = FSA_EDAMAGED;
	}
	if (st != FSA_OK) {
		free(*raw);
		*raw = NULL;
		return st;
	}
	xf_inode_decode(x, ino, *raw, at, i);
	return FSA_OK;
}

enum fsa_status xf_root(struct fsa_fs *fs, struct fsa_ref *ref)
{
	struct xf *x = xf_of(fs);

	if (x->log_device)
		return FSA_EUNSUPPORTED;
	*ref = (struct fsa_ref){ .word = { x->root_ino } };
	return FSA_OK;
}

enum fsa_status xf_ref_of_number(struct fsa_fs *fs, uint64_t number, struct fsa_ref *ref)
{
	struct xf *x = xf_of(fs);

	if (x->log_device || xf_inode_offset(x, number) == FSA_NO_OFFSET)
		return FSA_ENOENT;
	*ref = (struct fsa_ref){ .word = { number } };
	return FSA_OK;
}

/* Two encodings: seconds and nanoseconds, or one count of nanoseconds from the end of 1901 on. */
static struct fsa_time time_of(const struct xf_inode *i, size_t field)
{
	uint64_t v = fsa_get_be64(i->raw + field);

	if (i->flags2 & XFS_DIFLAG2_BIGTIME)
		return (struct fsa_time){
			.sec = (int64_t)(v / 1000000000u) + INT32_MIN, .nsec = (uint32_t)(v % 1000000000u), .set = true,
		};
	return (struct fsa_time){ .sec = (int32_t)(uint32_t)(v >> 32), .nsec = (uint32_t)v, .set = true };
}

static void flag_names(const struct xf_inode *i, char *text, size_t size)
{
	static const struct { uint16_t bit; const char *name; } names[] = {
		{ XFS_DIFLAG_REALTIME, "realtime" }, { XFS_DIFLAG_PREALLOC, "preallocated" }, { XFS_DIFLAG_NEWRTBM, "new-rtbitmap" },
		{ XFS_DIFLAG_IMMUTABLE, "immutable" }, { XFS_DIFLAG_APPEND, "append-only" }, { XFS_DIFLAG_SYNC, "sync" },
		{ XFS_DIFLAG_NOATIME, "no-atime" }, { XFS_DIFLAG_NODUMP, "no-dump" }, { XFS_DIFLAG_RTINHERIT, "realtime-inherit" },
		{ XFS_DIFLAG_PROJINHERIT, "project-inherit" }, { XFS_DIFLAG_NOSYMLINKS, "no-symlinks" },
		{ XFS_DIFLAG_EXTSIZE, "extent-size" }, { XFS_DIFLAG_EXTSZINHERIT, "extent-size-inherit" },
		{ XFS_DIFLAG_NODEFRAG, "no-defrag" }, { XFS_DIFLAG_FILESTREAM, "filestreams" },
	};
	static const struct { uint8_t bit; const char *name; } names2[] = {
		{ XFS_DIFLAG2_DAX, "dax" }, { XFS_DIFLAG2_REFLINK, "reflink" }, { XFS_DIFLAG2_COWEXTSIZE, "cow-extent-size" },
		{ XFS_DIFLAG2_BIGTIME, "bigtime" }, { XFS_DIFLAG2_NREXT64, "nrext64" },
	};
	size_t n = 0;

	text[0] = '\0';
	for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++)
		if (i->flags & names[k].bit && n < size)
			n += (size_t)snprintf(text + n, size - n, "%s%s", n ? " " : "", names[k].name);
	for (size_t k = 0; k < sizeof(names2) / sizeof(names2[0]); k++)
		if (i->flags2 & names2[k].bit && n < size)
			n += (size_t)snprintf(text + n, size - n, "%s%s", n ? " " : "", names2[k].name);
}

enum fsa_status xf_stat(struct fsa_fs *fs, struct fsa_ref ref, struct fsa_stat *st)
{
	struct xf *x = xf_of(fs);
	struct xf_inode i;
	uint8_t *raw;
	enum fsa_status status = xf_inode_of(x, ref.word[0], &raw, &i);

	if (status != FSA_OK)
		return status;
	memset(st, 0, sizeof(*st));
	st->ref = ref;
	st->number = i.number;
	st->type = i.type;
	st->mode = i.mode;
	st->uid = i.uid;
	st->gid = i.gid;
	st->links = i.links;
	st->size = i.size;
	st->st_blocks = i.blocks << (x->block_log - 9);
	st->generation = i.generation;
	st->project = i.project;
	st->offset = i.offset;
	if (i.data.format == XFS_DINODE_FMT_DEV && (i.type == FSA_TYPE_CHARDEV || i.type == FSA_TYPE_BLOCKDEV)) {
		/* IRIX's encoding: 14 bits of major number, 18 of minor. */
		uint32_t dev = fsa_get_be32(i.data.bytes);

		st->rdev_major = dev >> 18 & 0x3fff;
		st->rdev_minor = dev & 0x3ffff;
	}
	st->atime = time_of(&i, offsetof(struct xfs_dinode, di_atime));
	st->mtime = time_of(&i, offsetof(struct xfs_dinode, di_mtime));
	st->ctime = time_of(&i, offsetof(struct xfs_dinode, di_ctime));
	if (x->v5)
		st->btime = time_of(&i, offsetof(struct xfs_dinode, di_crtime));
	flag_names(&i, st->flag_names, sizeof(st->flag_names));
	free(raw);
	return FSA_OK;
}

static const char *fork_words(const struct xf_fork *f)
{
	if (!f->size)
		return "none";
	switch (f->format) {
	case XFS_DINODE_FMT_DEV: return "device number";
	case XFS_DINODE_FMT_LOCAL: return "in the inode";
	case XFS_DINODE_FMT_EXTENTS: return "extents in the inode";
	case XFS_DINODE_FMT_BTREE: return "B-tree of extents";
	default: return "unknown";
	}
}

enum fsa_status xf_describe(struct fsa_fs *fs, struct fsa_ref ref,
			    void (*line)(void *arg, const char *name, const char *value), void *arg)
{
	struct xf *x = xf_of(fs);
	uint32_t got, want;
	struct xf_inode i;
	char text[96];
	uint8_t *raw;
	enum fsa_status st = xf_inode_of(x, ref.word[0], &raw, &i);

	if (st != FSA_OK)
		return st;
	snprintf(text, sizeof(text), "%llu, inode %llu in it", (ull)(i.number >> x->agino_log),
		 (ull)(i.number & ((UINT64_C(1) << x->agino_log) - 1)));
	line(arg, "allocation group", text);
	snprintf(text, sizeof(text), "%u", i.version);
	line(arg, "inode version", text);
	line(arg, "data fork", fork_words(&i.data));
	snprintf(text, sizeof(text), "%llu", (ull)i.data.extents);
	line(arg, "data extents", text);
	line(arg, "attribute fork", fork_words(&i.attr));
	snprintf(text, sizeof(text), "%llu", (ull)i.attr.extents);
	line(arg, "attribute extents", text);
	if (XF_INO32(raw, di_extsize)) {
		snprintf(text, sizeof(text), "%u blocks", XF_INO32(raw, di_extsize));
		line(arg, "extent size hint", text);
	}
	if (x->v5) {
		bool ok = xf_crc_ok(raw, x->inode_size, XFS_DINODE_CRC_OFF, &got, &want);

		snprintf(text, sizeof(text), ok ? "0x%08x, right" : "0x%08x, computed 0x%08x", got, want);
		line(arg, "checksum", text);
	}
	free(raw);
	return FSA_OK;
}
