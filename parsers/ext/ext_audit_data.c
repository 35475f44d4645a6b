/* SPDX-License-Identifier: GPL-2.0-only */
/* The blocks of one inode: data, slack, preallocation, mapping nodes; whole clusters with bigalloc. */
#include <string.h>

#include "ext_audit.h"

struct filer {
	struct ext_audit_state *s;
	const struct ext_inode *i;
	enum ext_role role;
	bool unreferenced;
	const struct fsa_owner *owner;
	struct fsa_object *o;
	unsigned flags;
	uint64_t eof_blocks;		/* blocks up to end of file, the last one possibly in part */
	uint64_t *blocks;		/* counted as st_blocks counts */
	uint64_t next_logical, next_physical;	/* behind the last piece of data: for counting extents */
	bool have_last;
	/* bigalloc: the cluster that the last piece ended in */
	bool have_cluster;
	uint64_t cluster;		/* its number */
	uint64_t cluster_next;		/* first of its blocks that is not yet claimed */
	uint64_t cluster_logical;	/* file block that would lie there */
	struct ext_journal journal;
	uint64_t last_written;		/* last file block that is mapped and not unwritten */
	bool written;
};

static void claim(struct filer *f, uint64_t block, uint64_t count, enum ext_detail detail)
{
	if (count)
		fsa_claim(f->s->claims, 0, block, count, f->unreferenced ? EXT_D_DELETED_OPEN : detail, f->flags, f->owner);
}

/* --- clusters ---------------------------------------------------------------------------------------- */

static uint64_t cluster_of(const struct ext *e, uint64_t block)
{
	return (block - e->first_data_block) >> e->cluster_log;
}

static uint64_t cluster_start(const struct ext *e, uint64_t cluster)
{
	return e->first_data_block + (cluster << e->cluster_log);
}

static uint64_t cluster_end(const struct ext *e, uint64_t cluster)
{
	return fsa_min(cluster_start(e, cluster + 1), e->blocks);
}

void ext_claim_single(struct ext_audit_state *s, uint64_t block, unsigned flags, const struct fsa_owner *owner, uint64_t *blocks)
{
	const struct ext *e = s->e;
	uint64_t c;

	*blocks += UINT64_C(1) << e->cluster_log;
	if (!e->cluster_log)
		return;
	c = cluster_of(e, block);
	if (block > cluster_start(e, c))
		fsa_claim(s->claims, 0, cluster_start(e, c), block - cluster_start(e, c), EXT_D_CLUSTER_REST, flags, owner);
	if (block + 1 < cluster_end(e, c))
		fsa_claim(s->claims, 0, block + 1, cluster_end(e, c) - block - 1, EXT_D_CLUSTER_REST, flags, owner);
}

/* Blocks of a cluster that no extent maps: behind end of file they are slack, before it a hole that is held. */
static void claim_gap(struct filer *f, uint64_t block, uint64_t count, uint64_t logical)
{
	uint64_t before = logical < f->eof_blocks ? fsa_min(count, f->eof_blocks - logical) : 0;
	uint32_t bs = f->s->e->block_size;

	claim(f, block, before, EXT_D_CLUSTER_HOLE);
	claim(f, block + before, count - before, EXT_D_SLACK);
	f->o->preallocated_bytes += before * bs;
	f->o->slack_bytes += (count - before) * bs;
}

static void finish_cluster(struct filer *f)
{
	uint64_t end;

	if (!f->have_cluster)
		return;
	end = cluster_end(f->s->e, f->cluster);
	if (f->cluster_next < end)
		claim_gap(f, f->cluster_next, end - f->cluster_next, f->cluster_logical);
	f->have_cluster = false;
}

/* Before a piece: accounts for the clusters it touches. Without bigalloc a cluster is a block. */
static void enter_clusters(struct filer *f, const struct ext_piece *p)
{
	const struct ext *e = f->s->e;
	uint64_t first = cluster_of(e, p->physical), last = cluster_of(e, p->physical + p->count - 1);

	if (!e->cluster_log) {
		*f->blocks += p->count;
		return;
	}
	if (f->have_cluster && f->cluster == first && p->physical >= f->cluster_next) {
		claim_gap(f, f->cluster_next, p->physical - f->cluster_next, f->cluster_logical);
		*f->blocks += (last - first) << e->cluster_log;
	} else {
		uint64_t start = cluster_start(e, first), lead = p->physical - start;

		finish_cluster(f);
		if (lead)
			claim_gap(f, start, lead, p->logical >= lead ? p->logical - lead : 0);
		*f->blocks += (last - first + 1) << e->cluster_log;
	}
	f->have_cluster = true;
	f->cluster = last;
	f->cluster_next = p->physical + p->count;
	f->cluster_logical = p->logical + p->count;
}

/* --- what a piece is ---------------------------------------------------------------------------------- */

static void count_extent(struct filer *f, const struct ext_piece *p, uint64_t count)
{
	if (!f->have_last || f->next_logical != p->logical || f->next_physical != p->physical)
		f->o->extents++;
	f->have_last = true;
	f->next_logical = p->logical + count;
	f->next_physical = p->physical + count;
}

static void file_piece(struct filer *f, const struct ext_piece *p)
{
	struct ext *e = f->s->e;
	uint64_t in_file = p->logical < f->eof_blocks ? fsa_min(p->count, f->eof_blocks - p->logical) : 0;
	uint64_t bytes, last_bytes;

	if (!p->unwritten) {
		f->written = true;
		f->last_written = p->logical + p->count - 1;
	}
	if (in_file < p->count) {
		/* A verity file keeps its Merkle tree behind the end; elsewhere it is space taken in advance. */
		bool verity = f->i->flags & EXT4_VERITY_FL && !p->unwritten;

		claim(f, p->physical + in_file, p->count - in_file, verity ? EXT_D_VERITY : EXT_D_BEYOND_EOF);
		if (verity)
			f->o->other_bytes += (p->count - in_file) << e->block_log;
		else
			f->o->preallocated_bytes += (p->count - in_file) << e->block_log;
	}
	if (!in_file)
		return;
	if (p->unwritten) {
		claim(f, p->physical, in_file, EXT_D_UNWRITTEN);
		f->o->preallocated_bytes += in_file << e->block_log;
		return;
	}
	count_extent(f, p, in_file);
	bytes = fsa_min(in_file << e->block_log, f->i->size - (p->logical << e->block_log));
	f->o->data_bytes += bytes;
	f->o->slack_bytes += (in_file << e->block_log) - bytes;
	last_bytes = bytes & (e->block_size - 1);
	if (!last_bytes || f->unreferenced) {
		claim(f, p->physical, in_file, EXT_D_FILE_DATA);
		return;
	}
	claim(f, p->physical, in_file - 1, EXT_D_FILE_DATA);
	fsa_claim_with_rest(f->s->claims, 0, p->physical + in_file - 1, 1, last_bytes, EXT_D_FILE_DATA, EXT_D_SLACK, f->flags,
			    f->owner);
}

/* Contents of one purpose up to `size`, what is left of the last block being `rest`. */
static void plain_piece(struct filer *f, const struct ext_piece *p, enum ext_detail detail, enum ext_detail rest)
{
	struct ext *e = f->s->e;
	uint64_t from = p->logical << e->block_log, all = p->count << e->block_log;
	uint64_t bytes = from < f->i->size ? fsa_min(all, f->i->size - from) : 0;

	f->o->data_bytes += bytes;
	f->o->slack_bytes += all - bytes;
	if (f->unreferenced)
		claim(f, p->physical, p->count, EXT_D_DELETED_OPEN);
	else
		fsa_claim_with_rest(f->s->claims, 0, p->physical, p->count, bytes, detail, rest, f->flags, f->owner);
}

static enum fsa_status directory_piece(struct filer *f, const struct ext_piece *p)
{
	struct ext_audit_state *s = f->s;
	uint64_t in_file = p->logical < f->eof_blocks && !p->unwritten ? fsa_min(p->count, f->eof_blocks - p->logical) : 0;

	claim(f, p->physical + in_file, p->count - in_file, EXT_D_BEYOND_EOF);
	f->o->preallocated_bytes += (p->count - in_file) << s->e->block_log;
	f->o->data_bytes += in_file << s->e->block_log;
	if (in_file)
		count_extent(f, p, in_file);
	if (f->unreferenced) {
		claim(f, p->physical, in_file, EXT_D_DELETED_OPEN);
		return FSA_OK;
	}
	for (uint64_t k = 0; k < in_file; k++) {
		if (!ext_room((void **)&s->jobs, &s->jobs_room, s->n_jobs, sizeof(*s->jobs)))
			return FSA_ENOMEM;
		s->jobs[s->n_jobs++] = (struct ext_dir_job){
			.physical = p->physical + k, .logical = (uint32_t)(p->logical + k), .inode = f->i->number,
			.flags = f->i->flags, .seed = f->i->seed,
		};
	}
	return FSA_OK;
}

static void journal_piece(struct filer *f, struct ext_piece p)
{
	uint64_t fast = f->journal.fast_commit_blocks, log_end = f->journal.blocks;

	if (p.logical == 0) {
		struct ext *e = f->s->e;

		if (fsa_read(e->fs, 0, ext_at(e, p.physical), f->s->block, e->block_size, "journal superblock", 0) == FSA_OK)
			ext_journal_super(e, f->s->block, 0, ext_at(e, p.physical), "journal superblock", 0, &f->journal);
		if (f->journal.found && (uint64_t)f->journal.blocks << e->block_log > f->i->size)
			EXT_FIND(e, "journal superblock", 0, ext_at(e, p.physical), "journal of %u blocks, its inode holds %llu bytes",
				 f->journal.blocks, (ull)f->i->size);
		claim(f, p.physical, 1, EXT_D_JOURNAL_SUPER);
		p = (struct ext_piece){ .logical = 1, .physical = p.physical + 1, .count = p.count - 1 };
		fast = f->journal.fast_commit_blocks;
		log_end = f->journal.blocks;
	}
	log_end = fast < log_end ? log_end - fast : log_end;
	if (p.count && fast && p.logical + p.count > log_end) {
		uint64_t in_log = p.logical < log_end ? log_end - p.logical : 0;

		claim(f, p.physical, in_log, EXT_D_JOURNAL_LOG);
		claim(f, p.physical + in_log, p.count - in_log, EXT_D_JOURNAL_FAST);
		return;
	}
	claim(f, p.physical, p.count, EXT_D_JOURNAL_LOG);
}

/* The resize inode maps blocks that geometry claims; only what is not among them is its own. */
static void resize_blocks(struct filer *f, uint64_t block, uint64_t count, bool its_own)
{
	const struct ext *e = f->s->e;

	for (uint64_t k = 0; k < count; k++) {
		if (ext_is_reserved_gdt(e, block + k))
			continue;
		claim(f, block + k, 1, EXT_D_RESIZE);
		if (!its_own)
			EXT_FIND(e, "inode", f->i->number, f->i->offset, "the resize inode maps block %llu, which is not reserved for "
				 "descriptors", (ull)(block + k));
	}
}

static enum fsa_status take_piece(void *arg, const struct ext_piece *p)
{
	struct filer *f = arg;

	if (f->role == EXT_ROLE_RESIZE) {
		/* Each of its blocks is counted as a cluster (ext2fs_create_resize_inode), however they lie. */
		*f->blocks += p->count << f->s->e->cluster_log;
		resize_blocks(f, p->physical, p->count, false);
		return FSA_OK;
	}
	enter_clusters(f, p);
	switch (f->role) {
	case EXT_ROLE_JOURNAL: journal_piece(f, *p); return FSA_OK;
	case EXT_ROLE_QUOTA: plain_piece(f, p, EXT_D_QUOTA, EXT_D_QUOTA); return FSA_OK;
	case EXT_ROLE_BAD_BLOCKS: claim(f, p->physical, p->count, EXT_D_BAD_BLOCKS); return FSA_OK;
	case EXT_ROLE_BOOT_LOADER: claim(f, p->physical, p->count, EXT_D_BOOT_LOADER); return FSA_OK;
	case EXT_ROLE_ORPHAN_FILE: claim(f, p->physical, p->count, EXT_D_ORPHAN_FILE); return FSA_OK;
	case EXT_ROLE_RESERVED: claim(f, p->physical, p->count, EXT_D_RESERVED_INODE); return FSA_OK;
	case EXT_ROLE_XATTR_VALUE: plain_piece(f, p, EXT_D_XATTR_VALUE, EXT_D_FREE_XATTR); return FSA_OK;
	default: break;
	}
	if (f->i->type == FSA_TYPE_DIRECTORY)
		return directory_piece(f, p);
	if (f->i->type == FSA_TYPE_SYMLINK)
		plain_piece(f, p, EXT_D_SYMLINK, EXT_D_FREE_SYMLINK);
	else
		file_piece(f, p);
	return FSA_OK;
}

static enum fsa_status take_node(void *arg, const struct ext_map_node *n)
{
	struct filer *f = arg;
	enum ext_detail detail = n->extent ? EXT_D_EXTENT_NODE : EXT_D_INDIRECT;
	struct fsa_split split;

	if (f->role == EXT_ROLE_RESIZE) {
		resize_blocks(f, n->block, 1, n->level == 2);
		if (ext_is_reserved_gdt(f->s->e, n->block))
			*f->blocks += UINT64_C(1) << f->s->e->cluster_log;
		else
			ext_claim_single(f->s, n->block, f->flags, f->owner, f->blocks);
		return FSA_OK;
	}
	f->o->mapping_bytes += (uint64_t)f->s->e->block_size << f->s->e->cluster_log;
	ext_claim_single(f->s, n->block, f->flags, f->owner, f->blocks);
	if (f->unreferenced || f->role == EXT_ROLE_BAD_BLOCKS) {
		claim(f, n->block, 1, EXT_D_BAD_BLOCKS);
		return FSA_OK;
	}
	fsa_split_begin(&split, f->s->claims, 0, n->block, 1, f->flags, f->owner);
	fsa_split_part(&split, 0, n->used_bytes, detail, NULL);
	fsa_split_part(&split, n->used_bytes, split.size - n->used_bytes - n->tail_bytes, EXT_D_FREE_MAPPING, NULL);
	fsa_split_part(&split, split.size - n->tail_bytes, n->tail_bytes, detail, NULL);
	fsa_split_end(&split, EXT_D_FREE_MAPPING);
	return FSA_OK;
}

/*
 * Space taken in advance is unwritten; a written block behind the end is a size that was lost. Blocks up to the
 * end of the page that holds the end are let pass, as e2fsck does: writing a page can leave them.
 */
static void check_written(struct filer *f)
{
	struct ext *e = f->s->e;
	uint64_t per_page = e->block_size < 4096 ? 4096 / e->block_size : 1, last = f->last_written;

	if (!f->written || f->i->flags & EXT4_VERITY_FL || f->unreferenced || f->role != EXT_ROLE_FILE)
		return;
	if (f->i->size < last << e->block_log && (last % per_page || f->i->size < (last & ~(per_page - 1)) << e->block_log))
		EXT_FIND(e, "inode", f->i->number, f->i->offset, "size %llu, but file block %llu is written, which takes %llu",
			 (ull)f->i->size, (ull)last, (ull)((last + 1) << e->block_log));
}

/* The largest size whose last block can be mapped. */
static void check_size(struct filer *f)
{
	struct ext *e = f->s->e;
	uint64_t n = e->block_size / 4, max = EXT2_NDIR_BLOCKS + n + n * n + n * n * n;

	if (f->i->flags & EXT4_EXTENTS_FL || max > UINT32_MAX)
		max = UINT64_C(1) << 32;
	if (f->i->size > max << e->block_log)
		EXT_FIND(e, "inode", f->i->number, f->i->offset, "size %llu, at most %llu can be mapped", (ull)f->i->size,
			 (ull)(max << e->block_log));
}

enum fsa_status ext_audit_data(struct ext_audit_state *s, const struct ext_inode *i, enum ext_role role, bool unreferenced,
			       const struct fsa_owner *owner, struct fsa_object *o, uint64_t *blocks)
{
	struct filer f = {
		.s = s, .i = i, .role = role, .unreferenced = unreferenced, .owner = owner, .o = o, .blocks = blocks,
		.eof_blocks = fsa_div_up(i->size, s->e->block_size),
	};
	struct ext_map_ops ops = { .piece = take_piece, .node = take_node, .arg = &f, .seen = &s->map_nodes };
	enum fsa_status st;

	if (!ext_inode_mapped(s->e, i))
		return FSA_OK;
	/* A value inode's blocks are in no st_blocks of their own: each file that refers to it is charged for them. */
	if (role == EXT_ROLE_FILE && !unreferenced)
		f.flags = FSA_CLAIM_CHARGED;
	if (ext_ro_compat(s->e, EXT4_FEATURE_RO_COMPAT_SHARED_BLOCKS) && i->type == FSA_TYPE_REGULAR)
		f.flags |= FSA_CLAIM_SHARED;
	check_size(&f);
	st = ext_map_walk(s->e, i, &ops);
	finish_cluster(&f);
	check_written(&f);
	return st;
}
