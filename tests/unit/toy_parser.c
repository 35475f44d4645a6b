/* SPDX-License-Identifier: GPL-2.0-only */
#include "toy_parser.h"

#include <stdlib.h>
#include <string.h>

#include "fsa/bytes.h"

#define INODE_SIZE 128u
#define INODES 32u
#define INODE_BLOCK 2u
#define INODE_BLOCKS (INODES * INODE_SIZE / TOY_BLOCK)
#define FIRST_DATA (INODE_BLOCK + INODE_BLOCKS)
#define INLINE_AT 64u
#define MAX_EXTENTS 3u

enum detail {
	D_SUPERBLOCK, D_SUPERBLOCK_REST, D_BITMAP, D_BITMAP_REST, D_INODE, D_INODE_REST, D_INODE_FREE, D_DIRECTORY,
	D_JOURNAL, D_DATA, D_SLACK, D_INLINE, D_TARGET, N_DETAILS
};

static const struct fsa_detail details[N_DETAILS] = {
	[D_SUPERBLOCK] = { FSA_SUPERBLOCK, "superblock" },
	[D_SUPERBLOCK_REST] = { FSA_NODE_FREE, "behind the superblock" },
	[D_BITMAP] = { FSA_ALLOCATION, "block bitmap" },
	[D_BITMAP_REST] = { FSA_NODE_FREE, "behind the bitmap" },
	[D_INODE] = { FSA_INODE, "inode record" },
	[D_INODE_REST] = { FSA_NODE_FREE, "unused part of an inode" },
	[D_INODE_FREE] = { FSA_INODE_FREE, "free inode slot" },
	[D_DIRECTORY] = { FSA_DIRECTORY, "directory block" },
	[D_JOURNAL] = { FSA_JOURNAL, "journal" },
	[D_DATA] = { FSA_FILE_DATA, "file block" },
	[D_SLACK] = { FSA_FILE_SLACK, "end of a file's last block" },
	[D_INLINE] = { FSA_FILE_TAIL, "inline data" },
	[D_TARGET] = { FSA_SYMLINK, "target in the inode" },
};

static void put32(uint8_t *p, uint32_t v)
{
	for (unsigned i = 0; i < 4; i++)
		p[i] = (uint8_t)(v >> 8 * i);
}

/* --- making ---------------------------------------------------------------------------------------- */

/* An inode: type, links, size, st_blocks, number of extents, extents (logical, start, count). */
static uint8_t *put_inode(uint8_t *image, uint32_t number, enum fsa_type type, uint32_t links, uint32_t size)
{
	uint8_t *inode = image + INODE_BLOCK * TOY_BLOCK + number * INODE_SIZE;

	put32(inode, type);
	put32(inode + 4, links);
	put32(inode + 8, size);
	return inode;
}

static void put_extent(uint8_t *image, uint8_t *inode, uint32_t logical, uint32_t start, uint32_t count)
{
	const uint32_t n = fsa_get_le32(inode + 16);

	put32(inode + 20 + 12 * n, logical);
	put32(inode + 24 + 12 * n, start);
	put32(inode + 28 + 12 * n, count);
	put32(inode + 16, n + 1);
	put32(inode + 12, fsa_get_le32(inode + 12) + count);
	for (uint32_t b = start; b < start + count; b++)
		image[TOY_BLOCK + b / 8] |= (uint8_t)(1 << b % 8);
}

/* Entries: inode number, length of the name, the name; number 0 ends them. */
static void put_entry(uint8_t *image, uint32_t block, uint32_t number, const char *name)
{
	uint8_t *p = image + block * TOY_BLOCK;

	while (fsa_get_le32(p) != 0)
		p += 5 + p[4];
	put32(p, number);
	p[4] = (uint8_t)strlen(name);
	memcpy(p + 5, name, p[4]);
}

static void fill(uint8_t *image, uint32_t block, size_t length)
{
	for (size_t i = 0; i < length; i++)
		image[block * TOY_BLOCK + i] = (uint8_t)('a' + i % 26);
}

void toy_make(uint8_t image[TOY_SIZE], unsigned faults)
{
	uint8_t *inode;

	memset(image, 0, TOY_SIZE);
	for (uint32_t b = 0; b < FIRST_DATA; b++)
		image[TOY_BLOCK + b / 8] |= (uint8_t)(1 << b % 8);

	inode = put_inode(image, 1, FSA_TYPE_DIRECTORY, 3, TOY_BLOCK);
	put_extent(image, inode, 0, 20, 1);
	put_entry(image, 20, 2, "hello");
	put_entry(image, 20, 3, "dir");
	put_entry(image, 20, 5, "link");
	inode = put_inode(image, 3, FSA_TYPE_DIRECTORY, 2, TOY_BLOCK);
	put_extent(image, inode, 0, 21, 1);
	put_entry(image, 21, 4, "big");
	put_entry(image, 21, 2, "hard");
	put_entry(image, 21, 6, "small");
	put_entry(image, 21, 7, "\xff\x01");

	inode = put_inode(image, 2, FSA_TYPE_REGULAR, 2, 1000);
	put_extent(image, inode, 0, 30, 2);
	fill(image, 30, 1000);
	inode = put_inode(image, 4, FSA_TYPE_REGULAR, 1, 10000);
	put_extent(image, inode, 0, faults & TOY_CONFLICT ? 30 : 40, 8);
	put_extent(image, inode, 12, 60, 8);
	fill(image, 60, 8 * TOY_BLOCK);
	if (faults & TOY_ST_BLOCKS)
		put32(inode + 12, 18);
	inode = put_inode(image, 5, FSA_TYPE_SYMLINK, 1, 5);
	memcpy(inode + INLINE_AT, "hello", 5);
	inode = put_inode(image, 6, FSA_TYPE_REGULAR, 1, 20);
	memcpy(inode + INLINE_AT, "twenty bytes of data", 20);
	put_inode(image, 7, FSA_TYPE_REGULAR, 1, 0);
	inode = put_inode(image, 8, FSA_TYPE_UNKNOWN, 0, 4 * TOY_BLOCK);
	put_extent(image, inode, 0, 100, 4);

	if (faults & TOY_LOST)
		for (uint32_t b = 200; b < 203; b++)
			image[TOY_BLOCK + b / 8] |= (uint8_t)(1 << b % 8);
	if (faults & TOY_USED_FREE)
		image[TOY_BLOCK + 31 / 8] &= (uint8_t)~(1 << 31 % 8);

	memcpy(image, "TOYFS 1", 8);
	put32(image + 8, TOY_BLOCKS);
	put32(image + 12, 0);
	for (uint32_t b = 0; b < TOY_BLOCKS; b++)
		if (!(image[TOY_BLOCK + b / 8] >> b % 8 & 1))
			put32(image + 12, fsa_get_le32(image + 12) + 1);
	if (faults & TOY_COUNTER)
		put32(image + 12, fsa_get_le32(image + 12) + 7);
	image[16] = faults & TOY_LAZY ? 1 : 0;
}

/* --- reading --------------------------------------------------------------------------------------- */

struct toy_inode {
	uint8_t raw[INODE_SIZE];
	enum fsa_type type;
	uint64_t links, size, st_blocks;
	uint32_t n_extents;
};

static enum fsa_status read_inode(struct fsa_fs *fs, uint64_t number, struct toy_inode *inode)
{
	enum fsa_status status;

	if (number == 0 || number >= INODES)
		return FSA_EINVAL;
	status = fsa_read(fs, 0, INODE_BLOCK * TOY_BLOCK + number * INODE_SIZE, inode->raw, INODE_SIZE, "inode",
			  number);
	if (status != FSA_OK)
		return status;
	inode->type = (enum fsa_type)fsa_min(fsa_get_le32(inode->raw), FSA_TYPE_SOCKET);
	inode->links = fsa_get_le32(inode->raw + 4);
	inode->size = fsa_get_le32(inode->raw + 8);
	inode->st_blocks = fsa_get_le32(inode->raw + 12);
	inode->n_extents = fsa_get_le32(inode->raw + 16);
	if (inode->n_extents > MAX_EXTENTS) {
		fsa_find(fs->findings, "inode", number, FSA_NO_OFFSET, "%u extents, there is room for %u",
			 inode->n_extents, MAX_EXTENTS);
		inode->n_extents = MAX_EXTENTS;
	}
	return FSA_OK;
}

static struct fsa_extent extent_of(const struct toy_inode *inode, uint32_t i)
{
	const uint8_t *p = inode->raw + 20 + 12 * i;

	return (struct fsa_extent){
		.kind = FSA_EXTENT_DATA,
		.logical = (uint64_t)fsa_get_le32(p) * TOY_BLOCK,
		.physical = (uint64_t)fsa_get_le32(p + 4) * TOY_BLOCK,
		.length = (uint64_t)fsa_get_le32(p + 8) * TOY_BLOCK,
	};
}

static struct fsa_ref ref_of(uint64_t number)
{
	return (struct fsa_ref){ .word = { number } };
}

static uint64_t inline_bytes(const struct toy_inode *inode)
{
	if (inode->n_extents != 0 || inode->type == FSA_TYPE_DIRECTORY)
		return 0;
	return fsa_min(inode->size, INODE_SIZE - INLINE_AT);
}

static enum fsa_status toy_probe(struct fsa_fs *fs, struct fsa_error *err)
{
	uint8_t sb[32];

	(void)err;
	if (fsa_image_read(fs->devices[0].image, 0, sb, sizeof(sb)) != FSA_OK || memcmp(sb, "TOYFS 1", 8) != 0)
		return FSA_ENOENT;
	return FSA_OK;
}

static enum fsa_status toy_summary(struct fsa_fs *fs, struct fsa_summary *summary)
{
	(void)fs;
	*summary = (struct fsa_summary){
		.type = "toy", .version = "1", .block_size = TOY_BLOCK, .blocks = TOY_BLOCKS, .label = "playground",
		.features = { "inline", "hard_links" }, .inodes = INODES, .state = "clean", .clean = true,
	};
	return FSA_OK;
}

static void term(struct fsa_statfs *statfs, enum fsa_statfs_field field, int64_t value, const char *what)
{
	statfs->terms[statfs->n_terms++] = (struct fsa_statfs_term){ field, value, what };
}

static enum fsa_status toy_statfs(struct fsa_fs *fs, bool read_only, struct fsa_statfs *statfs)
{
	uint8_t sb[32];
	const enum fsa_status status = fsa_read(fs, 0, 0, sb, sizeof(sb), "superblock", 0);
	uint64_t free_blocks;

	(void)read_only;
	if (status != FSA_OK)
		return status;
	free_blocks = fsa_get_le32(sb + 12);
	*statfs = (struct fsa_statfs){
		.block_size = TOY_BLOCK, .blocks = TOY_BLOCKS - FIRST_DATA, .free = free_blocks - 2,
		.available = free_blocks - 2 - 5, .files = INODES, .files_free = INODES - 9, .kernel = "no kernel",
	};
	term(statfs, FSA_DF_SIZE, TOY_BLOCKS, "blocks in the superblock");
	term(statfs, FSA_DF_SIZE, -(int64_t)FIRST_DATA, "superblock, bitmap and inodes");
	term(statfs, FSA_DF_FREE, (int64_t)free_blocks, "free counter");
	term(statfs, FSA_DF_FREE, -2, "set aside");
	term(statfs, FSA_DF_AVAILABLE, (int64_t)free_blocks - 2, "free");
	term(statfs, FSA_DF_AVAILABLE, -5, "reserved for root");
	term(statfs, FSA_DF_FILES, INODES, "inodes");
	term(statfs, FSA_DF_FILES_FREE, INODES - 9, "free inodes");
	return FSA_OK;
}

static enum fsa_status toy_geometry(struct fsa_fs *fs, struct fsa_ledger *ledger)
{
	return fsa_ledger_add_device(ledger, TOY_BLOCKS, TOY_BLOCK, fsa_image_size(fs->devices[0].image));
}

/* Claims an inode's blocks and fills in what the object says about them. */
static void audit_extents(struct fsa_audit *audit, const struct toy_inode *inode, struct fsa_object *object)
{
	const struct fsa_owner owner = {
		.object = "inode", .number = object->number, .ref = object->ref, .has_ref = true,
	};
	const bool internal = object->flags & FSA_OBJECT_INTERNAL;

	for (uint32_t i = 0; i < inode->n_extents; i++) {
		const struct fsa_extent extent = extent_of(inode, i);
		const uint64_t end = fsa_max(extent.logical, fsa_min(extent.logical + extent.length, inode->size));
		const uint64_t data = end - extent.logical;
		unsigned detail = D_DATA;

		if (internal)
			detail = D_JOURNAL;
		else if (inode->type == FSA_TYPE_DIRECTORY)
			detail = D_DIRECTORY;
		fsa_claim_with_rest(audit->claims, 0, extent.physical / TOY_BLOCK, extent.length / TOY_BLOCK, data,
				    detail, D_SLACK, internal ? 0 : FSA_CLAIM_CHARGED, &owner);
		object->data_bytes += data;
		object->slack_bytes += extent.length - data;
		object->extents++;
	}
}

static void audit_inode_record(struct fsa_split *split, uint64_t number, const struct toy_inode *inode)
{
	const uint64_t at = number * INODE_SIZE % TOY_BLOCK;
	const struct fsa_owner owner = {
		.object = "inode", .number = number, .ref = ref_of(number), .has_ref = true,
	};
	const uint64_t used = inline_bytes(inode);

	if (number == 0 || (inode->type == FSA_TYPE_UNKNOWN && inode->size == 0)) {
		fsa_split_part(split, at, INODE_SIZE, D_INODE_FREE, NULL);
		return;
	}
	fsa_split_part(split, at, INLINE_AT, D_INODE, &owner);
	fsa_split_part(split, at + INLINE_AT, used, inode->type == FSA_TYPE_SYMLINK ? D_TARGET : D_INLINE, &owner);
	fsa_split_part(split, at + INLINE_AT + used, INODE_SIZE - INLINE_AT - used, D_INODE_REST, NULL);
}

static enum fsa_status audit_inode(struct fsa_fs *fs, struct fsa_audit *audit, struct fsa_split *split,
				   uint64_t number)
{
	struct fsa_object object = { .ref = ref_of(number), .number = number };
	struct toy_inode inode = { .type = FSA_TYPE_UNKNOWN };

	if (number != 0) {
		const enum fsa_status status = read_inode(fs, number, &inode);

		/* Damage is a finding; the walk goes on. */
		if (status != FSA_OK)
			return status == FSA_ENOMEM ? status : FSA_OK;
	}
	audit_inode_record(split, number, &inode);
	if (number == 0 || (inode.type == FSA_TYPE_UNKNOWN && inode.size == 0))
		return FSA_OK;
	object.type = inode.type;
	object.flags = number == 8 ? FSA_OBJECT_INTERNAL : 0;
	object.size_bytes = inode.size;
	object.links = inode.links;
	object.st_blocks = inode.st_blocks;
	audit_extents(audit, &inode, &object);
	if (inode.type == FSA_TYPE_REGULAR && inline_bytes(&inode) != 0) {
		object.flags |= FSA_OBJECT_INLINE;
		object.packed_bytes = inline_bytes(&inode);
		object.packed_cost_bytes = 4;
		object.unpacked_bytes = TOY_BLOCK;
	}
	return audit->object != NULL ? audit->object(audit->object_arg, &object) : FSA_OK;
}

static enum fsa_status toy_audit(struct fsa_fs *fs, struct fsa_audit *audit)
{
	const struct fsa_owner superblock = { .object = "superblock", .number = FSA_NO_NUMBER };
	const struct fsa_owner bitmap = { .object = "bitmap", .number = FSA_NO_NUMBER };
	uint8_t sb[TOY_BLOCK], map[TOY_BLOCK];
	enum fsa_status status;

	if (fsa_read(fs, 0, 0, sb, sizeof(sb), "superblock", FSA_NO_NUMBER) == FSA_OK) {
		audit->counters.have_free_blocks = true;
		audit->counters.free_blocks = fsa_get_le32(sb + 12);
		audit->counters.lazy = sb[16] != 0;
	}
	if (fsa_read(fs, 0, TOY_BLOCK, map, sizeof(map), "bitmap", FSA_NO_NUMBER) == FSA_OK)
		fsa_map_bitmap(audit->claims, 0, 0, map, TOY_BLOCKS);
	fsa_claim_with_rest(audit->claims, 0, 0, 1, 32, D_SUPERBLOCK, D_SUPERBLOCK_REST, 0, &superblock);
	fsa_claim_with_rest(audit->claims, 0, 1, 1, TOY_BLOCKS / 8, D_BITMAP, D_BITMAP_REST, 0, &bitmap);
	for (uint32_t b = 0; b < INODE_BLOCKS; b++) {
		const struct fsa_owner table = { .object = "inode table block", .number = b };
		struct fsa_split split;

		fsa_split_begin(&split, audit->claims, 0, INODE_BLOCK + b, 1, 0, &table);
		for (uint32_t i = 0; i < TOY_BLOCK / INODE_SIZE; i++) {
			status = audit_inode(fs, audit, &split, b * (TOY_BLOCK / INODE_SIZE) + i);
			if (status != FSA_OK)
				break;
		}
		fsa_split_end(&split, D_INODE_REST);
		if (status != FSA_OK)
			return status;
		if (audit->progress != NULL)
			audit->progress(audit->progress_arg, b + 1, INODE_BLOCKS);
	}
	return FSA_OK;
}

static enum fsa_status toy_root(struct fsa_fs *fs, struct fsa_ref *ref)
{
	(void)fs;
	*ref = ref_of(1);
	return FSA_OK;
}

static enum fsa_status toy_stat(struct fsa_fs *fs, struct fsa_ref ref, struct fsa_stat *stat)
{
	static const uint32_t type_bits[] = {
		[FSA_TYPE_UNKNOWN] = 0, [FSA_TYPE_REGULAR] = 0100000, [FSA_TYPE_DIRECTORY] = 0040000,
		[FSA_TYPE_SYMLINK] = 0120000, [FSA_TYPE_CHARDEV] = 0020000, [FSA_TYPE_BLOCKDEV] = 0060000,
		[FSA_TYPE_FIFO] = 0010000, [FSA_TYPE_SOCKET] = 0140000,
	};
	struct toy_inode inode;
	const enum fsa_status status = read_inode(fs, ref.word[0], &inode);

	if (status != FSA_OK)
		return status;
	*stat = (struct fsa_stat){
		.ref = ref, .number = ref.word[0], .type = inode.type,
		.mode = type_bits[inode.type] | (inode.type == FSA_TYPE_DIRECTORY ? 0755u : 0644u),
		.links = inode.links, .size = inode.size, .st_blocks = inode.st_blocks,
		.mtime = { .sec = 1000000000, .set = true },
		.offset = INODE_BLOCK * TOY_BLOCK + ref.word[0] * INODE_SIZE,
	};
	return FSA_OK;
}

static enum fsa_status toy_readdir(struct fsa_fs *fs, struct fsa_ref ref, fsa_dirent_fn entry, void *arg)
{
	uint8_t block[TOY_BLOCK];
	struct toy_inode inode;
	enum fsa_status status = read_inode(fs, ref.word[0], &inode);
	uint64_t start;

	if (status != FSA_OK)
		return status;
	if (inode.type != FSA_TYPE_DIRECTORY || inode.n_extents == 0)
		return FSA_ENOTDIR;
	start = extent_of(&inode, 0).physical;
	status = fsa_read(fs, 0, start, block, sizeof(block), "directory", ref.word[0]);
	if (status != FSA_OK)
		return status;
	for (uint32_t at = 0; at + 5 < TOY_BLOCK && fsa_get_le32(block + at) != 0;) {
		const struct fsa_dirent dirent = {
			.name = (const char *)block + at + 5, .name_length = block[at + 4],
			.number = fsa_get_le32(block + at), .ref = ref_of(fsa_get_le32(block + at)),
			.offset = start + at,
		};

		if (at + 5 + dirent.name_length > TOY_BLOCK)
			return FSA_EDAMAGED;
		status = entry(arg, &dirent);
		if (status != FSA_OK)
			return status;
		at += 5 + (uint32_t)dirent.name_length;
	}
	return FSA_OK;
}

static enum fsa_status toy_extents(struct fsa_fs *fs, struct fsa_ref ref, fsa_extent_fn extent, void *arg)
{
	struct toy_inode inode;
	enum fsa_status status = read_inode(fs, ref.word[0], &inode);

	if (status != FSA_OK)
		return status;
	if (inline_bytes(&inode) != 0) {
		const struct fsa_extent packed = {
			.kind = FSA_EXTENT_PACKED, .length = inline_bytes(&inode),
			.physical = INODE_BLOCK * TOY_BLOCK + ref.word[0] * INODE_SIZE + INLINE_AT,
		};

		return extent(arg, &packed);
	}
	for (uint32_t i = 0; i < inode.n_extents && status == FSA_OK; i++) {
		const struct fsa_extent piece = extent_of(&inode, i);

		status = extent(arg, &piece);
	}
	return status;
}

static enum fsa_status toy_readlink(struct fsa_fs *fs, struct fsa_ref ref, char **target, size_t *length)
{
	struct toy_inode inode;
	const enum fsa_status status = read_inode(fs, ref.word[0], &inode);

	if (status != FSA_OK)
		return status;
	*length = inline_bytes(&inode);
	*target = calloc(1, *length + 1);
	if (*target == NULL)
		return FSA_ENOMEM;
	memcpy(*target, inode.raw + INLINE_AT, *length);
	return FSA_OK;
}

static enum fsa_status toy_ref_of_number(struct fsa_fs *fs, uint64_t number, struct fsa_ref *ref)
{
	(void)fs;
	if (number == 0 || number >= INODES)
		return FSA_ENOENT;
	*ref = ref_of(number);
	return FSA_OK;
}

static const char *const types[] = { "toy", NULL };

const struct fsa_parser toy_parser = {
	.name = "toy",
	.types = types,
	.details = details,
	.n_details = N_DETAILS,
	.open = toy_probe,
	.summary = toy_summary,
	.statfs = toy_statfs,
	.geometry = toy_geometry,
	.audit = toy_audit,
	.root = toy_root,
	.stat = toy_stat,
	.readdir = toy_readdir,
	.extents = toy_extents,
	.readlink = toy_readlink,
	.ref_of_number = toy_ref_of_number,
};

enum fsa_status toy_open(const uint8_t *bytes, size_t size, struct fsa_findings *findings,
			 struct fsa_image **image, struct fsa_fs **fs)
{
	enum fsa_status status = fsa_image_from_memory(bytes, size, "toy.img", image);

	if (status != FSA_OK)
		return status;
	*fs = calloc(1, sizeof(**fs));
	if (*fs == NULL) {
		fsa_image_close(*image);
		return FSA_ENOMEM;
	}
	(*fs)->parser = &toy_parser;
	(*fs)->devices[0] = (struct fsa_device){ .image = *image, .role = FSA_ROLE_MAIN };
	(*fs)->n_devices = 1;
	(*fs)->findings = findings;
	status = toy_parser.open(*fs, NULL);
	if (status != FSA_OK) {
		fsa_close(*fs);
		fsa_image_close(*image);
	}
	return status;
}
