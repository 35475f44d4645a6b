/* SPDX-License-Identifier: GPL-2.0-only */
/* Feature bits, which of them a reader may ignore and why, and the summary. */
#include <stdio.h>

#include "btrfs.h"

enum word { INCOMPAT, COMPAT_RO, COMPAT };

/* why_ignored NULL: read and explained. */
static const struct feature_bit features[] = {
	{ INCOMPAT, 1u << 0, { "mixed-backref", NULL }, false },
	{ INCOMPAT, 1u << 1, { "default-subvol", NULL }, false },
	{ INCOMPAT, 1u << 2, { "mixed-bg", NULL }, false },
	{ INCOMPAT, 1u << 3, { "compress-lzo", NULL }, false },
	{ INCOMPAT, 1u << 4, { "compress-zstd", NULL }, false },
	{ INCOMPAT, 1u << 5, { "big-metadata", "the node size says it" }, false },
	{ INCOMPAT, 1u << 6, { "extref", NULL }, false },
	{ INCOMPAT, 1u << 7, { "raid56", NULL }, false },
	{ INCOMPAT, 1u << 8, { "skinny-metadata", NULL }, false },
	{ INCOMPAT, 1u << 9, { "no-holes", NULL }, false },
	{ INCOMPAT, 1u << 10, { "metadata-uuid", NULL }, false },
	{ INCOMPAT, 1u << 11, { "raid1c34", NULL }, false },
	{ INCOMPAT, 1u << 12, { "zoned", "superblocks move in zones of their own" }, true },
	{ INCOMPAT, 1u << 13, { "extent-tree-v2", "experimental, with other trees" }, true },
	{ INCOMPAT, 1u << 14, { "raid-stripe-tree", "data lie where another tree says" }, true },
	{ INCOMPAT, 1u << 16, { "simple-quota", NULL }, false },

	{ COMPAT_RO, 1u << 0, { "free-space-tree", NULL }, false },
	{ COMPAT_RO, 1u << 1, { "free-space-tree-valid", NULL }, false },
	{ COMPAT_RO, 1u << 2, { "verity", NULL }, false },
	{ COMPAT_RO, 1u << 3, { "block-group-tree", NULL }, false },
};

enum fsa_status btr_features(struct btr *b, const char *image, bool force, struct fsa_error *err)
{
	const struct feature_word words[] = {
		[INCOMPAT] = { "incompatible", b->incompat, UNKNOWN_REFUSED },
		/* Whoever only reads is not concerned: that is what these sets of bits are for. */
		[COMPAT_RO] = { "read-only compatible", b->compat_ro, UNKNOWN_NOTED },
		[COMPAT] = { "compatible", fsa_le64v(b->super.compat_flags), UNKNOWN_NOTED },
	};

	features_read(&b->features, features, sizeof(features) / sizeof(features[0]), words,
		      sizeof(words) / sizeof(words[0]), b->findings, b->super_offset);
	/* Before 2.6.31 extent items were of another make; no kernel reads them any more. */
	if (!(b->incompat & 1))
		features_add(&b->features, "back references of version 0", "no mixed-backref");
	return features_judge(&b->features, image, "btrfs", b->super_offset, force, b->findings, err);
}

static void uuid_text(const uint8_t *u, char text[40])
{
	size_t n = 0;

	for (int i = 0; i < 16; i++)
		n += (size_t)snprintf(text + n, 40 - n, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", u[i]);
}

enum fsa_status btr_summary(struct fsa_fs *fs, struct fsa_summary *s)
{
	const struct btr *b = btr_of(fs);
	uint64_t flags = fsa_le64v(b->super.flags);
	bool log = fsa_le64v(b->super.log_root) != 0, error = flags & BTRFS_SUPER_FLAG_ERROR;
	size_t missing = 0, n = 0;

	memset(s, 0, sizeof(*s));
	snprintf(s->type, sizeof(s->type), "btrfs");
	snprintf(s->version, sizeof(s->version), "%s", btr_csum_name(b->csum_type));
	s->block_size = b->sectorsize;
	for (size_t i = 0; i < b->n_devices; i++) {
		if (b->devices[i].image >= 0)
			s->blocks += b->devices[i].total_bytes / b->sectorsize;
		else
			missing++;
	}
	memcpy(s->label, b->super.label, sizeof(s->label) - 1);
	uuid_text(b->super.fsid, s->uuid);
	memcpy(s->features, b->features.names, sizeof(s->features));
	s->clean = !log && !error;
	n = (size_t)snprintf(s->state, sizeof(s->state), "%s%s", log ? "log tree needs replay" : "clean",
			     error ? ", with errors" : "");
	if (missing && n < sizeof(s->state))
		snprintf(s->state + n, sizeof(s->state) - n, ", %zu of %zu devices missing", missing, b->n_devices);
	return FSA_OK;
}
