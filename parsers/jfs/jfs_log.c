/* SPDX-License-Identifier: GPL-2.0-only */
/* The log: its superblock, and what its pages are. Records are not replayed. */
#include <stdio.h>
#include <string.h>

#include "jfs.h"

#define LOG32(p, field) FSA_LE(uint32_t, p, struct jfs_log_super, field)

void jfs_uuid_text(const uint8_t *u, char text[40])
{
	size_t n = 0;

	for (int i = 0; i < 16; i++)
		n += (size_t)snprintf(text + n, 40 - n, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", u[i]);
}

static const char *state_words(uint32_t state)
{
	switch (state) {
	case JFS_LOG_MOUNTED: return "in use: it may have work in it";
	case JFS_LOG_REDONE: return "replayed";
	case JFS_LOG_WRAPPED: return "it wrapped, replay was not possible";
	case JFS_LOG_READ_ERROR: return "replay met a read error";
	default: return "without a meaning";
	}
}

void jfs_log_read(struct jfs *j, unsigned device, uint64_t start, uint64_t blocks, struct jfs_log *l)
{
	uint8_t s[sizeof(struct jfs_log_super)];
	uint64_t at = jfs_at(start + JFS_LOG_SUPER_PAGE);

	memset(l, 0, sizeof(*l));
	if (blocks <= JFS_LOG_SUPER_PAGE + 1) {
		fsa_find_on(j->findings, device, "log", 0, jfs_at(start), "%llu blocks, at least 3 are needed", (ull)blocks);
		return;
	}
	if (fsa_image_read(j->fs->devices[device].image, at, s, sizeof(s)) != FSA_OK) {
		fsa_find_on(j->findings, device, "log", 0, at, "its superblock cannot be read");
		return;
	}
	if (LOG32(s, magic) != JFS_LOG_MAGIC || LOG32(s, version) != 1) {
		fsa_find_on(j->findings, device, "log", 0, at, "magic 0x%08x version %u, expected 0x%08x and 1", LOG32(s, magic),
			    LOG32(s, version), JFS_LOG_MAGIC);
		return;
	}
	l->found = true;
	l->pages = LOG32(s, size);
	l->state = LOG32(s, state);
	l->serial = LOG32(s, serial);
	if (l->pages != blocks && !(device && l->pages < blocks))
		fsa_find_on(j->findings, device, "log", 0, at, "size %u pages, it lies in %llu", l->pages, (ull)blocks);
	if (l->state != JFS_LOG_REDONE)
		fsa_find_on(j->findings, device, "log", 0, at, "state %u: %s", l->state, state_words(l->state));
	if (device && !j->log_device && memcmp(s + offsetof(struct jfs_log_super, uuid),
					       j->sb + offsetof(struct jfs_superblock, s_loguuid), 16) != 0) {
		char got[40], want[40];

		jfs_uuid_text(s + offsetof(struct jfs_log_super, uuid), got);
		jfs_uuid_text(j->sb + offsetof(struct jfs_superblock, s_loguuid), want);
		fsa_find_on(j->findings, device, "log", 0, at, "uuid %s, the filesystem's log is %s", got, want);
	}
}

void jfs_log_claim(struct jfs *j, struct fsa_claims *claims, unsigned device, uint64_t start, uint64_t blocks, unsigned flags)
{
	struct fsa_owner owner = { .object = "log", .number = 0 };
	const uint32_t used = sizeof(struct jfs_log_super);
	struct fsa_split split;
	struct jfs_log l;

	if (blocks < 2)
		return;
	jfs_log_read(j, device, start, blocks, &l);
	fsa_claim(claims, device, start, 1, JFS_D_LOG_UNUSED, flags, &owner);
	fsa_split_begin(&split, claims, device, start + JFS_LOG_SUPER_PAGE, 1, flags, &owner);
	fsa_split_part(&split, 0, used, JFS_D_LOG_SUPER, NULL);
	fsa_split_part(&split, used, JFS_PAGE - used, JFS_D_FREE_LOG, NULL);
	fsa_split_end(&split, JFS_D_FREE_LOG);
	if (blocks > 2)
		fsa_claim(claims, device, start + 2, blocks - 2, JFS_D_LOG, flags, &owner);
}
