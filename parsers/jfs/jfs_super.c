/* SPDX-License-Identifier: GPL-2.0-only */
/* The two superblocks, what they say of the shape of the filesystem, and opening. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jfs.h"

#define REFUSE(...) return fsa_fail(err, FSA_EUNSUPPORTED, __VA_ARGS__)

static struct jfs_pxd pxd_at(const uint8_t *sb, size_t offset)
{
	struct jfs_pxd p;

	memcpy(&p, sb + offset, sizeof(p));
	return p;
}

#define SB_PXD(sb, field) pxd_at(sb, offsetof(struct jfs_superblock, field))

static bool has_magic(const uint8_t *sb)
{
	return memcmp(sb, "JFS1", 4) == 0;
}

/* The copy is trusted only when all that is needed of it makes sense. */
static bool copy_plausible(const uint8_t *sb)
{
	uint32_t version = JFS_SB32(sb, s_version);

	return has_magic(sb) && version >= 1 && version <= 2 && JFS_SB32(sb, s_bsize) == JFS_PAGE &&
	       JFS_SB16(sb, s_l2bsize) == JFS_L2PAGE;
}

static struct jfs_extent_range range_of(struct jfs *j, struct jfs_pxd p, uint64_t limit, const char *what)
{
	struct jfs_extent_range r = { .block = jfs_pxd_address(&p), .count = jfs_pxd_length(&p) };

	if (!r.count)
		return r;
	r.ok = fsa_within(r.block, r.count, limit) && r.block > JFS_SUPER1_OFFSET >> JFS_L2PAGE;
	if (!r.ok)
		JFS_FIND(j, "superblock", 0, j->sb_offset, "%s is %llu blocks at %llu, possible are blocks up to %llu", what, (ull)r.count,
			 (ull)r.block, (ull)limit);
	return r;
}

/*
 * Behind the blocks of the map lie the work space of jfs_fsck and the inline log, one behind the other. How far
 * the filesystem reaches is the end of the last of them. An address elsewhere that the image does not hold
 * is no measure of it.
 */
static uint64_t possible_blocks(const struct jfs *j)
{
	struct jfs_pxd space = SB_PXD(j->sb, s_fsckpxd), log = SB_PXD(j->sb, s_logpxd);
	uint64_t end = j->blocks;

	if (jfs_pxd_address(&space) == end)
		end += jfs_pxd_length(&space);
	if (j->flags & JFS_FLAG_INLINELOG && jfs_pxd_address(&log) == end)
		end += jfs_pxd_length(&log);
	return fsa_max(end, jfs_image_blocks(j));
}

static void read_extents(struct jfs *j)
{
	uint64_t limit = possible_blocks(j);

	j->all_blocks = j->blocks;
	j->fsck_space = range_of(j, SB_PXD(j->sb, s_fsckpxd), limit, "work space of jfs_fsck");
	if (j->fsck_space.ok)
		j->all_blocks = fsa_max(j->all_blocks, j->fsck_space.block + j->fsck_space.count);
	if (j->flags & JFS_FLAG_INLINELOG) {
		j->log = range_of(j, SB_PXD(j->sb, s_logpxd), limit, "inline log");
		if (j->log.ok)
			j->all_blocks = fsa_max(j->all_blocks, j->log.block + j->log.count);
		if (!j->log.count)
			JFS_FIND(j, "superblock", 0, j->sb_offset, "inline log of 0 blocks");
	}
	j->aim2 = range_of(j, SB_PXD(j->sb, s_aim2), j->blocks, "secondary aggregate inode map");
	j->ait2 = range_of(j, SB_PXD(j->sb, s_ait2), j->blocks, "secondary aggregate inode table");
	/* As chkSuper of the kernel wants them: one behind the other, before the work space. */
	if (j->ait2.ok && j->ait2.count != 4) {
		JFS_FIND(j, "superblock", 0, j->sb_offset, "secondary aggregate inode table of %llu blocks, it takes 4", (ull)j->ait2.count);
		j->ait2.ok = false;
	}
	if (j->aim2.ok && j->aim2.count != 2)
		JFS_FIND(j, "superblock", 0, j->sb_offset, "secondary aggregate inode map of %llu blocks, it takes 2", (ull)j->aim2.count);
}

static enum fsa_status read_shape(struct jfs *j, const char *image, struct fsa_error *err)
{
	const uint8_t *sb = j->sb;
	uint32_t version = JFS_SB32(sb, s_version), bsize = JFS_SB32(sb, s_bsize);
	uint32_t l2 = JFS_SB16(sb, s_l2bsize), factor = JFS_SB16(sb, s_l2bfactor), l2p = JFS_SB16(sb, s_l2pbsize);
	ull at = j->sb_offset;

	j->flags = JFS_SB32(sb, s_flag);
	j->state = JFS_SB32(sb, s_state);
	if (version < 1 || version > 2)
		REFUSE("%s: jfs: superblock @0x%llx: version %u, 1 and 2 are known", image, at, version);
	if (bsize != JFS_PAGE || l2 != JFS_L2PAGE)
		REFUSE("%s: jfs: superblock @0x%llx: blocks of %u (2^%u) bytes, drivers take %u only", image, at, bsize, l2, JFS_PAGE);
	if (factor > 3 || l2p + factor != l2 || JFS_SB32(sb, s_pbsize) != 1u << l2p)
		REFUSE("%s: jfs: superblock @0x%llx: hardware blocks of %u (2^%u) bytes, 2^%u of them in a block of %u", image, at,
		       JFS_SB32(sb, s_pbsize), l2p, factor, bsize);
	j->blocks = JFS_SB64(sb, s_size) >> factor;
	if (j->blocks <= (JFS_BMAP_OFFSET >> JFS_L2PAGE) || j->blocks > JFS_MAX_BLOCKS)
		REFUSE("%s: jfs: superblock @0x%llx: %llu blocks, possible are %u to 2^40", image, at, (ull)j->blocks,
		       (JFS_BMAP_OFFSET >> JFS_L2PAGE) + 1);
	return FSA_OK;
}

/*
 * Fields that both superblocks hold alike; the rest (state, serial, time of the log) only the first keeps. Label and uuid too:
 * jfs_tune sets them there alone, and raises the version there from 1 to 2, which says that they are.
 */
static void compare_copy(struct jfs *j)
{
	uint64_t other = j->sb_offset == JFS_SUPER1_OFFSET ? JFS_SUPER2_OFFSET : JFS_SUPER1_OFFSET;
	uint8_t copy[sizeof(struct jfs_superblock)];
	static const struct { const char *name; size_t offset, size; } same[] = {
#define SAME(field) { #field, offsetof(struct jfs_superblock, field), sizeof(((struct jfs_superblock *)0)->field) }
		SAME(s_size), SAME(s_bsize), SAME(s_l2bsize), SAME(s_l2bfactor), SAME(s_pbsize), SAME(s_l2pbsize), SAME(s_agsize),
		SAME(s_ait2), SAME(s_aim2), SAME(s_logpxd), SAME(s_fsckpxd),
#undef SAME
	};

	if (j->sb_offset != JFS_SUPER1_OFFSET)
		return;
	if (fsa_read(j->fs, 0, other, copy, sizeof(copy), "secondary superblock", 0) != FSA_OK)
		return;
	if (!has_magic(copy)) {
		JFS_FIND(j, "secondary superblock", 0, other, "magic %02x%02x%02x%02x, expected \"JFS1\"", copy[0], copy[1], copy[2], copy[3]);
		return;
	}
	for (size_t k = 0; k < sizeof(same) / sizeof(same[0]); k++)
		if (memcmp(copy + same[k].offset, j->sb + same[k].offset, same[k].size) != 0)
			JFS_FIND(j, "secondary superblock", 0, other + same[k].offset, "%s is 0x%llx, in the primary 0x%llx", same[k].name,
				 (ull)fsa_get_le(copy + same[k].offset, same[k].size), (ull)fsa_get_le(j->sb + same[k].offset, same[k].size));
}

bool jfs_is_clean(const struct jfs *j)
{
	return j->state == JFS_STATE_CLEAN;
}

static void report_state(struct jfs *j)
{
	ull at = j->sb_offset;

	if (j->state & JFS_STATE_MOUNTED)
		JFS_FIND(j, "superblock", 0, at, "state 0x%x: not unmounted; the figures are of the image as it stands, before replay of the "
			 "log", j->state);
	if (j->state & JFS_STATE_DIRTY)
		JFS_FIND(j, "superblock", 0, at, "state 0x%x: dirty, jfs_fsck must be run", j->state);
	if (j->state & JFS_STATE_LOGREDO)
		JFS_FIND(j, "superblock", 0, at, "state 0x%x: replay of the log failed", j->state);
	if (j->state & JFS_STATE_EXTENDING)
		JFS_FIND(j, "superblock", 0, at, "state 0x%x: growing to %llu hardware blocks was not finished", j->state,
			 (ull)JFS_SB64(j->sb, s_xsize));
	if (j->state > 0xf)
		JFS_FIND(j, "superblock", 0, at, "state 0x%x, at most 0xf has a meaning", j->state);
	if (j->flags & JFS_FLAG_INLINEMOVE)
		JFS_FIND(j, "superblock", 0, at, "the inline log was being moved");
}

static void report_size(struct jfs *j)
{
	uint64_t size = fsa_image_size(j->fs->devices[0].image), want = j->all_blocks << JFS_L2PAGE;

	if (size < want)
		JFS_FIND(j, "superblock", 0, j->sb_offset, "%llu blocks of %u bytes are %llu bytes, the image holds %llu", (ull)j->all_blocks,
			 JFS_PAGE, (ull)want, (ull)size);
}

/* An aggregate inode table is of use when the inodes of both maps in it can be true. */
static bool table_usable(const struct jfs *j, unsigned table)
{
	static const uint32_t needed[] = { JFS_AGGR_MAP, JFS_AGGR_BMAP, JFS_AGGR_FILESET };

	for (size_t k = 0; k < sizeof(needed) / sizeof(needed[0]); k++) {
		struct jfs_inode i;

		jfs_aggregate_inode(j, table, needed[k], &i);
		if (i.fileset != JFS_AGGR_MAP || i.said_number != needed[k] || !i.links)
			return false;
	}
	return true;
}

static void read_tables(struct jfs *j)
{
	const uint32_t size = sizeof(j->ait[0]);

	j->ait_ok[0] = fsa_read(j->fs, 0, JFS_AIT_OFFSET, j->ait[0], size, "aggregate inode table", 0) == FSA_OK && table_usable(j, 0);
	if (!j->ait_ok[0])
		JFS_FIND(j, "aggregate inode table", 0, JFS_AIT_OFFSET, "inodes 1, 2 and 16 are not all those of an aggregate");
	if (j->ait2.ok && !(j->flags & JFS_FLAG_BAD_SAIT)) {
		j->ait_ok[1] = fsa_read(j->fs, 0, jfs_at(j->ait2.block), j->ait[1], size, "secondary aggregate inode table", 0) == FSA_OK &&
			       table_usable(j, 1);
		if (!j->ait_ok[1])
			JFS_FIND(j, "secondary aggregate inode table", 0, jfs_at(j->ait2.block), "inodes 1, 2 and 16 are not all those of an "
				 "aggregate");
	}
	if (!j->ait_ok[0] && j->ait_ok[1]) {
		j->ait_used = 1;
		JFS_FIND(j, "aggregate inode table", 0, JFS_AIT_OFFSET, "the secondary table @0x%llx is used", (ull)jfs_at(j->ait2.block));
	}
}

static bool read_control(struct jfs *j, const struct jfs_pieces *p, uint8_t *page, const char *object)
{
	uint64_t block = jfs_pieces_find(p, 0);

	if (!block) {
		JFS_FIND(j, object, 0, FSA_NO_OFFSET, "page 0 is not mapped by its inode");
		return false;
	}
	return fsa_read(j->fs, 0, jfs_at(block), page, JFS_PAGE, object, 0) == FSA_OK;
}

static enum fsa_status read_maps(struct jfs *j)
{
	struct jfs_inode i;
	enum fsa_status st;
	uint64_t pages;

	if (!j->ait_ok[j->ait_used])
		return FSA_OK;
	jfs_aggregate_inode(j, j->ait_used, JFS_AGGR_BMAP, &i);
	st = jfs_pieces_of(j, &i, &j->bmap);
	if (st != FSA_OK)
		return st;
	j->bmap_control_ok = read_control(j, &j->bmap, j->bmap_control, "block map");
	jfs_aggregate_inode(j, j->ait_used, JFS_AGGR_FILESET, &i);
	st = jfs_pieces_of(j, &i, &j->imap);
	if (st != FSA_OK)
		return st;
	j->inostamp = i.stamp;
	j->imap_control_ok = read_control(j, &j->imap, j->imap_control, "inode map");
	pages = j->imap.n ? j->imap.p[j->imap.n - 1].logical + j->imap.p[j->imap.n - 1].count : 0;
	j->iags = (uint32_t)fsa_min(pages ? pages - 1 : 0, JFS_MAX_IAGS);
	if (j->imap_control_ok && JFS_IC32(j->imap_control, in_nextiag) != pages - 1)
		JFS_FIND(j, "inode map", 0, jfs_at(jfs_pieces_find(&j->imap, 0)), "%u IAGs, its inode maps %llu",
			 JFS_IC32(j->imap_control, in_nextiag), (ull)(pages - 1));
	return FSA_OK;
}

static enum fsa_status open_filesystem(struct jfs *j, const char *image, struct fsa_error *err)
{
	enum fsa_status st = read_shape(j, image, err);

	if (st == FSA_OK)
		st = jfs_features(j, image, j->fs->options.force, err);
	if (st != FSA_OK)
		return st;
	read_extents(j);
	report_state(j);
	report_size(j);
	compare_copy(j);
	read_tables(j);
	st = read_maps(j);
	return st == FSA_OK ? st : fsa_fail(err, st, "%s: out of memory", image);
}

static bool find_super(struct jfs *j, struct fsa_image *image)
{
	j->sb_offset = JFS_SUPER1_OFFSET;
	if (fsa_image_read(image, j->sb_offset, j->sb, sizeof(j->sb)) == FSA_OK && has_magic(j->sb))
		return true;
	/* Another format's image may still carry the copy: look for it only when the image has no name. */
	if (fsa_image_content(image))
		return false;
	j->sb_offset = JFS_SUPER2_OFFSET;
	if (fsa_image_read(image, j->sb_offset, j->sb, sizeof(j->sb)) != FSA_OK || !copy_plausible(j->sb))
		return false;
	JFS_FIND(j, "superblock", 0, JFS_SUPER1_OFFSET, "no superblock here; the secondary one @0x%llx is used", (ull)j->sb_offset);
	return true;
}

/* An external log has its superblock in its second page and nothing else that tells what it is. */
static bool is_log_device(struct jfs *j, struct fsa_image *image)
{
	uint8_t s[sizeof(struct jfs_log_super)];

	if (fsa_image_content(image) || fsa_image_read(image, JFS_PAGE, s, sizeof(s)) != FSA_OK)
		return false;
	if (FSA_LE(uint32_t, s, struct jfs_log_super, magic) != JFS_LOG_MAGIC ||
	    FSA_LE(uint32_t, s, struct jfs_log_super, version) != 1)
		return false;
	j->log_device = true;
	j->all_blocks = FSA_LE(uint32_t, s, struct jfs_log_super, size);
	memcpy(j->sb, s, sizeof(s));
	j->sb_offset = JFS_PAGE;
	return j->all_blocks >= 3;
}

enum fsa_status jfs_open(struct fsa_fs *fs, struct fsa_error *err)
{
	struct fsa_image *image = fs->devices[0].image;
	const char *name = fsa_image_name(image);
	struct jfs *j = calloc(1, sizeof(*j));
	enum fsa_status st = FSA_OK;

	if (!j)
		return fsa_fail(err, FSA_ENOMEM, "%s: out of memory", name);
	j->fs = fs;
	j->findings = fs->findings;
	j->log_role = -1;
	fs->state = j;
	for (unsigned k = 1; k < fs->n_devices; k++)
		if (fs->devices[k].role == FSA_ROLE_LOG)
			j->log_role = (int)k;
	if (find_super(j, image))
		st = open_filesystem(j, name, err);
	else if (!is_log_device(j, image))
		st = FSA_ENOENT;
	if (st != FSA_OK)
		jfs_close(fs);
	return st;
}

void jfs_close(struct fsa_fs *fs)
{
	struct jfs *j = jfs_of(fs);

	jfs_pieces_free(&j->imap);
	jfs_pieces_free(&j->bmap);
	free(j);
	fs->state = NULL;
}

static const char *state_words(uint32_t state)
{
	if (state == JFS_STATE_CLEAN)
		return "clean";
	if (state & JFS_STATE_LOGREDO)
		return "replay of the log failed";
	if (state & JFS_STATE_DIRTY)
		return "dirty";
	if (state & JFS_STATE_EXTENDING)
		return "being extended";
	return "not cleanly unmounted";
}

enum fsa_status jfs_summary(struct fsa_fs *fs, struct fsa_summary *s)
{
	struct jfs *j = jfs_of(fs);
	uint32_t version = JFS_SB32(j->sb, s_version);

	memset(s, 0, sizeof(*s));
	snprintf(s->type, sizeof(s->type), "jfs");
	s->block_size = JFS_PAGE;
	s->blocks = j->all_blocks;
	if (j->log_device) {
		snprintf(s->version, sizeof(s->version), "log %u", FSA_LE(uint32_t, j->sb, struct jfs_log_super, version));
		memcpy(s->label, j->sb + offsetof(struct jfs_log_super, label), 16);
		jfs_uuid_text(j->sb + offsetof(struct jfs_log_super, uuid), s->uuid);
		s->clean = FSA_LE(uint32_t, j->sb, struct jfs_log_super, state) == JFS_LOG_REDONE;
		snprintf(s->state, sizeof(s->state), "%s", s->clean ? "clean" : "has work in it");
		return FSA_OK;
	}
	snprintf(s->version, sizeof(s->version), "%u", version);
	/* Version 1 has room for 11 bytes; mkfs.jfs writes the longer field too when a label is given. */
	memcpy(s->label, j->sb + offsetof(struct jfs_superblock, s_label), 16);
	if (!s->label[0] && version == 1)
		memcpy(s->label, j->sb + offsetof(struct jfs_superblock, s_fpack), 11);
	jfs_uuid_text(j->sb + offsetof(struct jfs_superblock, s_uuid), s->uuid);
	memcpy(s->features, j->features.names, sizeof(s->features));
	s->clean = jfs_is_clean(j);
	snprintf(s->state, sizeof(s->state), "%s", state_words(j->state));
	if (!(j->flags & JFS_FLAG_INLINELOG) && j->log_role < 0) {
		char text[40];

		jfs_uuid_text(j->sb + offsetof(struct jfs_superblock, s_loguuid), text);
		snprintf(s->external, sizeof(s->external), "log on another device, uuid %s (--log-device)", text);
	}
	return FSA_OK;
}
