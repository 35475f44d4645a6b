/* SPDX-License-Identifier: GPL-2.0-only */
/* Checksums and what else a version 5 block says of itself; which copies of the superblock are believed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "xfs_fixture.h"

static void put_le32(uint8_t *p, uint32_t v)
{
	for (unsigned k = 0; k < 4; k++)
		p[k] = (uint8_t)(v >> 8 * k);
}

static void test_crc(void **state)
{
	/* CRC-32C of 32 zero bytes, from RFC 3720; the field itself counts as zeros wherever it lies. */
	const uint32_t of_zeros = 0x8a9136aa;

	(void)state;
	for (size_t field = 0; field <= 28; field += 4) {
		uint8_t b[32] = { 0 };
		uint32_t got, want;

		assert_false(xf_crc_ok(b, sizeof(b), field, &got, &want));
		assert_int_equal(want, of_zeros);
		put_le32(b + field, of_zeros);
		assert_true(xf_crc_ok(b, sizeof(b), field, &got, &want));
		b[(field + 4) % sizeof(b)] ^= 1;
		assert_false(xf_crc_ok(b, sizeof(b), field, &got, &want));
		assert_int_equal(got, of_zeros);
		assert_int_not_equal(want, of_zeros);
	}
}

/* A block of 64 bytes: checksum at 0, place at 8, uuid at 16, owner at 32. */
static const struct xf_self self = { .object = "inode", .number = 7, .what = "block", .crc = 0, .blkno = 8, .uuid = 16, .owner = 32,
				     .owner_bytes = 8, .want_owner = 7 };

static void seal(uint8_t *b)
{
	uint32_t got, want;

	(void)xf_crc_ok(b, 64, 0, &got, &want);
	put_le32(b, want);
}

static void test_self(void **state)
{
	static const uint8_t wrong[] = { 1, 15, 20, 39 };	/* a byte of checksum, place, uuid, owner */
	struct xfs_fixture f;
	uint8_t b[64] = { 0 };

	(void)state;
	xfx_begin(&f);
	memset(f.x.uuid, 0x55, 16);
	/* Version 4 says nothing of the kind. */
	assert_true(xf_check_self(&f.x, &self, b, sizeof(b), 5 * 512));
	f.x.v5 = true;
	xfx_put(b + 8, 5, 8);
	memset(b + 16, 0x55, 16);
	xfx_put(b + 32, 7, 8);
	seal(b);
	assert_true(xf_check_self(&f.x, &self, b, sizeof(b), 5 * 512));
	assert_int_equal(fsa_findings_count(f.findings), 0);
	for (size_t k = 0; k < sizeof(wrong); k++) {
		b[wrong[k]] ^= 0x10;
		if (k)
			seal(b);
		assert_false(xf_check_self(&f.x, &self, b, sizeof(b), 5 * 512));
		assert_int_equal(fsa_findings_count(f.findings), k + 1);
		b[wrong[k]] ^= 0x10;
		seal(b);
	}
	/* The same block elsewhere. */
	assert_false(xf_check_self(&f.x, &self, b, sizeof(b), 6 * 512));
	xfx_end(&f);
}

#define SB(p, field, value) xfx_put((p) + offsetof(struct xfs_dsb, field), value, sizeof(((struct xfs_dsb *)0)->field))

/* A version 4 superblock of the fixture's geometry. */
static void superblock(uint8_t *p, uint64_t root)
{
	SB(p, sb_magicnum, XFS_SB_MAGIC);
	SB(p, sb_blocksize, 512);
	SB(p, sb_blocklog, 9);
	SB(p, sb_dblocks, 2 * XFX_AG_BLOCKS);
	SB(p, sb_agblocks, XFX_AG_BLOCKS);
	SB(p, sb_agcount, 2);
	SB(p, sb_agblklog, 6);
	SB(p, sb_versionnum, XFS_SB_VERSION_4 | XFS_SB_VERSION_DIRV2BIT);
	SB(p, sb_sectsize, 512);
	SB(p, sb_sectlog, 9);
	SB(p, sb_inodesize, 256);
	SB(p, sb_inodelog, 8);
	SB(p, sb_rootino, root);
}

static void test_copy(void **state)
{
	struct xfs_fixture f;
	uint8_t *copy = f.bytes + XFX_AG_BLOCKS * XFX_BLOCK;
	uint64_t at;

	(void)state;
	xfx_begin(&f);
	assert_false(xf_backup_find(&f.x, &at));
	superblock(copy, 16);
	SB(copy, sb_inprogress, 1);			/* as mkfs leaves it in copies */
	assert_true(xf_backup_find(&f.x, &at));
	assert_int_equal(at, XFX_AG_BLOCKS * XFX_BLOCK);
	assert_int_equal(XF_SB(f.x.sb, sb_rootino), 16);
	assert_int_equal(XF_SB(f.x.sb, sb_rbmino), 17);
	/* Counters are what the groups' headers say. */
	for (unsigned ag = 0; ag < 2; ag++) {
		uint8_t *agf = f.bytes + (ag * XFX_AG_BLOCKS + 1) * XFX_BLOCK, *agi = agf + XFX_BLOCK;

		xfx_put(agf, XFS_AGF_MAGIC, 4);
		xfx_put(agf + offsetof(struct xfs_agf, agf_freeblks), 10 + ag, 4);
		xfx_put(agf + offsetof(struct xfs_agf, agf_flcount), 4, 4);
		xfx_put(agf + offsetof(struct xfs_agf, agf_btreeblks), 1, 4);
		xfx_put(agi, XFS_AGI_MAGIC, 4);
		xfx_put(agi + offsetof(struct xfs_agi, agi_count), 64, 4);
		xfx_put(agi + offsetof(struct xfs_agi, agi_freecount), 30 + ag, 4);
	}
	assert_true(xf_has_ag_headers(f.fs.devices[0].image));
	xf_backup_count(&f.x);
	assert_int_equal(XF_SB(f.x.sb, sb_fdblocks), 10 + 11 + 2 * 5);
	assert_int_equal(XF_SB(f.x.sb, sb_icount), 128);
	assert_int_equal(XF_SB(f.x.sb, sb_ifree), 61);
	/* One that does not lie where it says that a group starts is none. */
	memset(f.x.sb, 0, sizeof(f.x.sb));
	SB(copy, sb_agblocks, 40);
	SB(copy, sb_agcount, 3);
	assert_false(xf_backup_find(&f.x, &at));
	xfx_end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_crc), cmocka_unit_test(test_self), cmocka_unit_test(test_copy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
