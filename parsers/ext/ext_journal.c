/* SPDX-License-Identifier: GPL-2.0-only */
/* The journal: its superblock, whether there is work in it, and external journal devices. */
#include <stdlib.h>
#include <string.h>

#include "ext.h"

static uint32_t jbd2_checksum(const uint8_t *block)
{
	uint8_t copy[1024];

	memcpy(copy, block, sizeof(copy));
	memset(copy + offsetof(struct jbd2_superblock, s_checksum), 0, 4);
	return fsa_crc32c(~0u, copy, sizeof(copy));
}

bool ext_journal_super(struct ext *e, const uint8_t *block, unsigned device, uint64_t offset, const char *object,
		       uint64_t number, struct ext_journal *j)
{
	const struct jbd2_superblock *s = (const struct jbd2_superblock *)(const void *)block;
	uint32_t type = fsa_be32v(s->h_blocktype), incompat = fsa_be32v(s->s_feature_incompat);
	bool v2 = type == JBD2_BLOCK_SUPERBLOCK_V2;

	memset(j, 0, sizeof(*j));
	if (fsa_be32v(s->h_magic) != JBD2_MAGIC || (!v2 && type != JBD2_BLOCK_SUPERBLOCK_V1)) {
		fsa_find_on(e->findings, device, object, number, offset, "journal superblock has magic 0x%08x and type %u, should "
			    "be 0x%08x and 3 or 4", fsa_be32v(s->h_magic), type, JBD2_MAGIC);
		return false;
	}
	j->found = true;
	j->block_size = fsa_be32v(s->s_blocksize);
	j->blocks = fsa_be32v(s->s_maxlen);
	j->first = fsa_be32v(s->s_first);
	j->start = fsa_be32v(s->s_start);
	j->sequence = fsa_be32v(s->s_sequence);
	if (j->block_size != e->block_size)
		fsa_find_on(e->findings, device, object, number, offset, "journal blocks of %u bytes, the filesystem's have %u",
			    j->block_size, e->block_size);
	if (v2 && incompat & ~JBD2_INCOMPAT_KNOWN)
		fsa_find_on(e->findings, device, object, number, offset, "journal has unknown incompatible features 0x%x",
			    incompat & ~JBD2_INCOMPAT_KNOWN);
	if (v2 && incompat & (JBD2_INCOMPAT_CSUM_V2 | JBD2_INCOMPAT_CSUM_V3)) {
		uint32_t want = jbd2_checksum(block);

		if (fsa_be32v(s->s_checksum) != want)
			fsa_find_on(e->findings, device, object, number, offset, "journal superblock checksum 0x%08x, computed 0x%08x",
				    fsa_be32v(s->s_checksum), want);
	}
	if (v2 && incompat & JBD2_INCOMPAT_FAST_COMMIT) {
		j->fast_commit_blocks = fsa_be32v(s->s_num_fc_blks);
		if (!j->fast_commit_blocks)
			j->fast_commit_blocks = JBD2_DEFAULT_FAST_COMMIT_BLOCKS;
	}
	if (fsa_be32v(s->s_errno))
		fsa_find_on(e->findings, device, object, number, offset, "journal was aborted with error %d",
			    (int)fsa_be32v(s->s_errno));
	/* Without needs_recovery a start is left over from a crash of recovery itself: it is work just the same. */
	if (j->start)
		fsa_find_on(e->findings, device, object, number, offset, "journal has work from block %u on, transaction %u: figures "
			    "are of the image as it stands, before replay", j->start, j->sequence);
	return true;
}

/* An external journal, alone or beside its filesystem: boot area, ext superblock, journal superblock, log. */
enum fsa_status ext_journal_device_audit(struct ext *e, struct fsa_claims *claims, unsigned device)
{
	static const struct fsa_owner super = { .object = "superblock", .number = 0 };
	static const struct fsa_owner journal = { .object = "journal", .number = FSA_NO_NUMBER };
	const unsigned flags = FSA_CLAIM_UNMAPPED;
	uint8_t *block = malloc(e->block_size), sb[EXT_SUPERBLOCK_SIZE];
	uint32_t log_first = e->block_size == 1024 ? 2 : 1;	/* behind the block that holds the ext superblock */
	uint64_t blocks = 0;
	struct fsa_split split;
	struct ext_journal j;

	if (!block)
		return FSA_ENOMEM;
	if (fsa_read(e->fs, device, EXT_SUPERBLOCK_OFFSET, sb, sizeof(sb), "superblock", 0) != FSA_OK) {
		free(block);
		return FSA_OK;
	}
	blocks = EXT_SB32(sb, s_blocks_count);
	if (EXT_SB32(sb, s_feature_incompat) & EXT4_FEATURE_INCOMPAT_64BIT)
		blocks |= (uint64_t)EXT_SB32(sb, s_blocks_count_hi) << 32;
	if (device != 0 && (EXT_SB16(sb, s_magic) != EXT2_SUPER_MAGIC ||
			    !(EXT_SB32(sb, s_feature_incompat) & EXT3_FEATURE_INCOMPAT_JOURNAL_DEV) ||
			    memcmp(sb + offsetof(struct ext2_super_block, s_uuid),
				   e->sb + offsetof(struct ext2_super_block, s_journal_uuid), 16) != 0))
		fsa_find_on(e->findings, device, "superblock", 0, EXT_SUPERBLOCK_OFFSET, "this is not the journal that the filesystem "
			    "names: magic 0x%04x, features 0x%x, uuid differs or no journal", EXT_SB16(sb, s_magic),
			    EXT_SB32(sb, s_feature_incompat));
	fsa_split_begin(&split, claims, device, 0, log_first, flags, &super);
	fsa_split_part(&split, 0, EXT_SUPERBLOCK_OFFSET, EXT_D_BOOT, NULL);
	fsa_split_part(&split, EXT_SUPERBLOCK_OFFSET, split.size - EXT_SUPERBLOCK_OFFSET, EXT_D_SUPERBLOCK, NULL);
	fsa_split_end(&split, EXT_D_SUPERBLOCK);
	if (fsa_read(e->fs, device, ext_at(e, log_first), block, e->block_size, "journal superblock", 0) == FSA_OK)
		ext_journal_super(e, block, device, ext_at(e, log_first), "journal superblock", 0, &j);
	fsa_claim(claims, device, log_first, 1, EXT_D_JOURNAL_SUPER, flags, &journal);
	if (blocks > log_first + 1)
		fsa_claim(claims, device, log_first + 1, blocks - log_first - 1, EXT_D_JOURNAL_LOG, flags, &journal);
	free(block);
	return FSA_OK;
}
