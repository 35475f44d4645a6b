/* SPDX-License-Identifier: GPL-2.0-only */
/* One group of sixteen inodes in memory, behind a `struct ext` that is filled in by hand: no superblock is read. */
#ifndef FSA_TESTS_EXT_FIXTURE_H
#define FSA_TESTS_EXT_FIXTURE_H

#include <stdlib.h>
#include <string.h>

#include "parsers/ext/ext.h"

#define EF_BLOCKS 64u
#define EF_TABLE 4u		/* block of the inode table */

struct ext_fixture {
	uint8_t bytes[EF_BLOCKS * 1024];
	uint8_t descs[64];
	struct ext ext;
	struct fsa_fs fs;
	struct fsa_findings *findings;
};

static inline void ef_begin(struct ext_fixture *f, uint32_t inode_size)
{
	memset(f, 0, sizeof(*f));
	f->findings = fsa_findings_new(0);
	f->ext = (struct ext){
		.fs = &f->fs, .block_size = 1024, .block_log = 10, .blocks = EF_BLOCKS, .first_data_block = 1, .groups = 1,
		.blocks_per_group = 8192, .clusters_per_group = 8192, .inodes = 16, .inodes_per_group = 16, .first_inode = 11,
		.inode_size = inode_size, .table_blocks = 16 * inode_size / 1024, .desc_size = 32, .descs_per_block = 32,
		.desc_blocks = 1, .descs = f->descs, .filetype = true, .type = "ext4", .findings = f->findings, .journal_role = -1,
	};
	f->descs[8] = EF_TABLE;
	f->fs.state = &f->ext;
	f->fs.findings = f->findings;
	f->fs.n_devices = 1;
	(void)fsa_image_from_memory(f->bytes, sizeof(f->bytes), "memory", &f->fs.devices[0].image);
}

static inline void ef_end(struct ext_fixture *f)
{
	ext_table_cache_free(f->ext.cache);
	free(f->ext.stale);
	fsa_image_close(f->fs.devices[0].image);
	fsa_findings_free(f->findings);
}

static inline uint8_t *ef_inode(struct ext_fixture *f, uint32_t number)
{
	return f->bytes + EF_TABLE * 1024 + (number - 1) * f->ext.inode_size;
}

static inline struct fsa_ref ef_ref(uint32_t number)
{
	return (struct fsa_ref){ .word = { number } };
}

static inline void ef_put(uint8_t *at, uint64_t value, size_t size)
{
	for (size_t i = 0; i < size; i++)
		at[i] = (uint8_t)(value >> (8 * i));
}

/* Sets a field of the inode record at `raw`. */
#define EF_SET(raw, field, value) \
	ef_put((raw) + offsetof(struct ext2_inode_large, field), (value), sizeof(((struct ext2_inode_large *)0)->field))

#endif
