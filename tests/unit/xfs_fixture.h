/* SPDX-License-Identifier: GPL-2.0-only */
/* Two small allocation groups in memory, behind a `struct xf` that is filled in by hand: no superblock is read. */
#ifndef FSA_TESTS_XFS_FIXTURE_H
#define FSA_TESTS_XFS_FIXTURE_H

#include <stdlib.h>
#include <string.h>

#include "parsers/xfs/xfs.h"

#define XFX_AG_BLOCKS 50u
#define XFX_BLOCK 512u

struct xfs_fixture {
	uint8_t bytes[2 * XFX_AG_BLOCKS * XFX_BLOCK];
	struct xf x;
	struct fsa_fs fs;
	struct fsa_findings *findings;
};

/* Version 4, blocks and sectors of 512 bytes, inodes of 256: the smallest of everything. */
static inline void xfx_begin(struct xfs_fixture *f)
{
	memset(f, 0, sizeof(*f));
	f->findings = fsa_findings_new(0);
	f->x = (struct xf){
		.fs = &f->fs, .findings = f->findings, .block_size = XFX_BLOCK, .block_log = 9, .sector_size = 512, .inode_size = 256, .inode_log = 8,
		.inopb = 2, .inopb_log = 1, .dir_block = XFX_BLOCK, .agblk_log = 6, .agino_log = 7, .blocks = 2 * XFX_AG_BLOCKS, .ag_blocks = XFX_AG_BLOCKS,
		.ag_count = 2, .ags = 2, .header_blocks = 4, .root_ino = 16, .log_role = -1, .rt_role = -1,
	};
	f->fs.state = &f->x;
	f->fs.findings = f->findings;
	f->fs.n_devices = 1;
	(void)fsa_image_from_memory(f->bytes, sizeof(f->bytes), "memory", &f->fs.devices[0].image);
}

static inline void xfx_end(struct xfs_fixture *f)
{
	fsa_image_close(f->fs.devices[0].image);
	fsa_findings_free(f->findings);
}

static inline void xfx_put(uint8_t *p, uint64_t v, unsigned bytes)
{
	for (unsigned k = 0; k < bytes; k++)
		p[k] = (uint8_t)(v >> (8 * (bytes - 1 - k)));
}

/* An extent record. */
static inline void xfx_extent(uint8_t *p, uint64_t logical, uint64_t fsb, uint64_t count, bool unwritten)
{
	xfx_put(p, (uint64_t)unwritten << 63 | logical << 9 | fsb >> 43, 8);
	xfx_put(p + 8, fsb << 21 | count, 8);
}

#endif
