/* SPDX-License-Identifier: GPL-2.0-only */
/* Inode records: fields, where they lie, and what stat says of them. */
#include <stdio.h>
#include <string.h>

#include "jfs.h"

#define D32(raw, field) FSA_LE(uint32_t, raw, struct jfs_dinode, field)
#define D64(raw, field) FSA_LE(uint64_t, raw, struct jfs_dinode, field)

static void decode_dxd(const uint8_t *p, uint8_t *flag, uint32_t *size, uint64_t *address, uint32_t *length)
{
	struct jfs_dxd d;

	memcpy(&d, p, sizeof(d));
	*flag = d.flag;
	*size = fsa_le32v(d.size);
	*address = jfs_pxd_address(&d.loc);
	*length = jfs_pxd_length(&d.loc);
}

void jfs_inode_decode(uint32_t number, bool aggregate, const uint8_t *raw, uint64_t offset, struct jfs_inode *i)
{
	struct jfs_pxd ix;

	*i = (struct jfs_inode){ .number = number, .aggregate = aggregate, .raw = raw, .offset = offset };
	i->stamp = D32(raw, di_inostamp);
	i->fileset = D32(raw, di_fileset);
	i->said_number = D32(raw, di_number);
	i->generation = D32(raw, di_gen);
	memcpy(&ix, raw + offsetof(struct jfs_dinode, di_ixpxd), sizeof(ix));
	i->ixpxd_address = jfs_pxd_address(&ix);
	i->ixpxd_length = jfs_pxd_length(&ix);
	i->size = D64(raw, di_size);
	i->blocks = D64(raw, di_nblocks);
	i->links = D32(raw, di_nlink);
	i->uid = D32(raw, di_uid);
	i->gid = D32(raw, di_gid);
	i->mode = D32(raw, di_mode);
	i->next_index = D32(raw, di_next_index);
	i->type = fsa_type_of_mode(i->mode);
	decode_dxd(raw + offsetof(struct jfs_dinode, di_ea), &i->ea_flag, &i->ea_size, &i->ea_address, &i->ea_length);
	decode_dxd(raw + offsetof(struct jfs_dinode, di_acl), &i->acl_flag, &i->acl_size, &i->acl_address, &i->acl_length);
}

enum fsa_status jfs_inode_read(struct jfs *j, uint32_t number, uint8_t *raw, struct jfs_inode *i)
{
	uint32_t in_iag = number % JFS_INODES_PER_IAG;
	struct jfs_pxd p;
	uint64_t offset;
	enum fsa_status st = jfs_iag_read(j, number / JFS_INODES_PER_IAG);

	if (st != FSA_OK)
		return st;
	if (!jfs_map_bit(j->iag + offsetof(struct jfs_iag, wmap), in_iag))
		return FSA_ENOENT;
	memcpy(&p, j->iag + offsetof(struct jfs_iag, inoext) + in_iag / JFS_INODES_PER_EXTENT * sizeof(p), sizeof(p));
	if (jfs_pxd_length(&p) != 4 || !jfs_block_ok(j, jfs_pxd_address(&p), 4)) {
		JFS_FIND(j, "inode", number, FSA_NO_OFFSET, "its extent of inodes is %u blocks at %llu", jfs_pxd_length(&p),
			 (ull)jfs_pxd_address(&p));
		return FSA_EDAMAGED;
	}
	offset = jfs_at(jfs_pxd_address(&p)) + number % JFS_INODES_PER_EXTENT * JFS_INODE_SIZE;
	st = fsa_read(j->fs, 0, offset, raw, JFS_INODE_SIZE, "inode", number);
	if (st == FSA_OK)
		jfs_inode_decode(number, false, raw, offset, i);
	return st;
}

/* IDATASIZE: a longer target, its NUL counted, lies in an extent. */
bool jfs_inode_fast_symlink(const struct jfs_inode *i)
{
	return i->type == FSA_TYPE_SYMLINK && i->size < JFS_INLINE_SIZE;
}

bool jfs_inode_mapped(const struct jfs_inode *i)
{
	return i->type == FSA_TYPE_REGULAR || (i->type == FSA_TYPE_SYMLINK && !jfs_inode_fast_symlink(i));
}

bool jfs_inode_inline_ea(const struct jfs_inode *i)
{
	return i->ea_flag & JFS_DXD_INLINE && i->type != FSA_TYPE_DIRECTORY;
}

bool jfs_dir_table_inline(const struct jfs_inode *i)
{
	return i->next_index <= JFS_DIR_TABLE_INLINE + 2;
}

static bool reserved(uint32_t number)
{
	return number < JFS_INO_FIRST && number != JFS_INO_ROOT;
}

enum fsa_status jfs_root(struct fsa_fs *fs, struct fsa_ref *ref)
{
	if (jfs_of(fs)->log_device)
		return FSA_EUNSUPPORTED;
	*ref = (struct fsa_ref){ .word = { JFS_INO_ROOT } };
	return FSA_OK;
}

enum fsa_status jfs_ref_of_number(struct fsa_fs *fs, uint64_t number, struct fsa_ref *ref)
{
	struct jfs *j = jfs_of(fs);

	if (j->log_device || number >= (uint64_t)j->iags * JFS_INODES_PER_IAG || number > UINT32_MAX)
		return FSA_ENOENT;
	*ref = (struct fsa_ref){ .word = { number } };
	return FSA_OK;
}

static struct fsa_time time_at(const uint8_t *raw, size_t offset)
{
	/* Seconds are unsigned: the kernel shows 0 to 2^32-1 since 1970. */
	struct fsa_time t = { .sec = fsa_get_le32(raw + offset), .nsec = fsa_get_le32(raw + offset + 4), .set = true };

	if (t.nsec > 999999999)
		t.nsec = 0;
	return t;
}

static void flag_names(const struct jfs_inode *i, bool os2, char *text, size_t size)
{
	static const struct { uint32_t bit; const char *name; int os2; } names[] = {
		{ JFS_MODE_NOATIME, "noatime", -1 }, { JFS_MODE_DIRSYNC, "dirsync", -1 }, { JFS_MODE_SYNC, "sync", -1 },
		{ JFS_MODE_SECRM, "secrm", -1 }, { JFS_MODE_UNRM, "unrm", -1 }, { JFS_MODE_APPEND, "append", -1 },
		{ JFS_MODE_IMMUTABLE, "immutable", 0 }, { JFS_MODE_READONLY, "readonly", 1 }, { JFS_MODE_HIDDEN, "hidden", -1 },
		{ JFS_MODE_SYSTEM, "system", -1 }, { JFS_MODE_ARCHIVE, "archive", -1 }, { JFS_MODE_SPARSE, "sparse", -1 },
	};
	size_t n = 0;

	text[0] = '\0';
	for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++)
		if (i->mode & names[k].bit && (names[k].os2 < 0 || names[k].os2 == os2) && n < size)
			n += (size_t)snprintf(text + n, size - n, "%s%s", n ? "," : "", names[k].name);
}

enum fsa_status jfs_stat(struct fsa_fs *fs, struct fsa_ref ref, struct fsa_stat *st)
{
	struct jfs *j = jfs_of(fs);
	uint8_t raw[JFS_INODE_SIZE];
	struct jfs_inode i;
	enum fsa_status status;

	if (j->log_device || ref.word[0] > UINT32_MAX)
		return FSA_ENOENT;
	status = jfs_inode_read(j, (uint32_t)ref.word[0], raw, &i);
	if (status != FSA_OK)
		return status;
	memset(st, 0, sizeof(*st));
	st->ref = ref;
	st->number = i.number;
	st->type = i.type;
	if (reserved(i.number))
		st->flags |= FSA_OBJECT_INTERNAL;
	if (!i.links)
		st->flags |= FSA_OBJECT_UNREFERENCED;
	st->mode = i.mode & 0177777;
	st->uid = i.uid;
	st->gid = i.gid;
	st->links = i.links;
	st->size = i.size;
	st->st_blocks = i.blocks * (JFS_PAGE / 512);
	if (i.type == FSA_TYPE_CHARDEV || i.type == FSA_TYPE_BLOCKDEV) {
		/* As new_decode_dev of the kernel takes it apart. */
		uint32_t dev = fsa_get_le32(raw + JFS_INLINE_AT);

		st->rdev_major = dev >> 8 & 0xfff;
		st->rdev_minor = (dev & 0xff) | (dev >> 12 & 0xfff00);
	}
	st->atime = time_at(raw, offsetof(struct jfs_dinode, di_atime));
	st->mtime = time_at(raw, offsetof(struct jfs_dinode, di_mtime));
	st->ctime = time_at(raw, offsetof(struct jfs_dinode, di_ctime));
	st->btime = time_at(raw, offsetof(struct jfs_dinode, di_otime));
	st->generation = i.generation;
	st->offset = i.offset;
	flag_names(&i, j->flags & JFS_FLAG_OS2, st->flag_names, sizeof(st->flag_names));
	return FSA_OK;
}

enum fsa_status jfs_describe(struct fsa_fs *fs, struct fsa_ref ref,
			     void (*line)(void *arg, const char *name, const char *value), void *arg)
{
	struct jfs *j = jfs_of(fs);
	uint8_t raw[JFS_INODE_SIZE];
	struct jfs_inode i;
	char text[96];
	enum fsa_status st;

	if (j->log_device || ref.word[0] > UINT32_MAX)
		return FSA_ENOENT;
	st = jfs_inode_read(j, (uint32_t)ref.word[0], raw, &i);
	if (st != FSA_OK)
		return st;
	snprintf(text, sizeof(text), "%llu blocks at %llu", (ull)i.ixpxd_length, (ull)i.ixpxd_address);
	line(arg, "inode extent", text);
	if (i.ea_flag) {
		snprintf(text, sizeof(text), "%u bytes %s", i.ea_size, i.ea_flag & JFS_DXD_INLINE ? "in the inode" : "in an extent");
		line(arg, "attributes", text);
	}
	if (i.type == FSA_TYPE_DIRECTORY) {
		snprintf(text, sizeof(text), "%u%s", i.next_index, jfs_dir_table_inline(&i) ? ", table in the inode" : "");
		line(arg, "next position", text);
		snprintf(text, sizeof(text), "%u", jfs_dtree_parent(raw));
		line(arg, "parent", text);
	}
	return FSA_OK;
}
