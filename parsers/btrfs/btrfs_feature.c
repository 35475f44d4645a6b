/* SPDX-License-Identifier: GPL-2.0-only */
/* Feature bits, which of them a reader may ignore and why, and the summary. */
#include <stdio.h>

#include "btrfs.h"

enum handling {
	READ,		/* understood */
	IGNORED,	/* a reader may: the reason stands beside it */
	REFUSED,	/* known, and not read: the layout is another one */
};

struct feature {
	uint64_t bit;
	const char *name;
	enum handling handling;
};

static const struct feature incompat[] = {
	{ 1u << 0, "mixed-backref", READ },
	{ 1u << 1, "default-subvol", READ },
	{ 1u << 2, "mixed-bg", READ },
	{ 1u << 3, "compress-lzo", READ },
	{ 1u << 4, "compress-zstd", READ },
	{ 1u << 5, "big-metadata", IGNORED },	/* the node size says it */
	{ 1u << 6, "extref", READ },
	{ 1u << 7, "raid56", READ },
	{ 1u << 8, "skinny-metadata", READ },
	{ 1u << 9, "no-holes", READ },
	{ 1u << 10, "metadata-uuid", READ },
	{ 1u << 11, "raid1c34", READ },
	{ 1u << 12, "zoned", REFUSED },
	{ 1u << 13, "extent-tree-v2", REFUSED },
	{ 1u << 14, "raid-stripe-tree", REFUSED },
	{ 1u << 16, "simple-quota", READ },
	{ 0, NULL, READ },
};

static const struct feature compat_ro[] = {
	{ 1u << 0, "free-space-tree", READ },
	{ 1u << 1, "free-space-tree-valid", READ },
	{ 1u << 2, "verity", READ },
	{ 1u << 3, "block-group-tree", READ },
	{ 0, NULL, READ },
};

static const struct feature *known(const struct feature *table, uint64_t bit)
{
	for (const struct feature *f = table; f->name; f++)
		if (f->bit == bit)
			return f;
	return NULL;
}

static void add_name(struct btr *b, const char *name)
{
	for (unsigned i = 0; i + 1 < FSA_MAX_FEATURES; i++)
		if (!b->feature_names[i]) {
			b->feature_names[i] = name;
			return;
		}
}

enum fsa_status btr_features(struct btr *b, const char *image, bool force, struct fsa_error *err)
{
	uint64_t unknown = 0, unknown_ro = 0, unknown_compat = fsa_le64v(b->super.compat_flags);
	char names[256] = "";
	size_t n = 0;

	for (unsigned i = 0; i < 64; i++) {
		uint64_t bit = UINT64_C(1) << i;
		const struct feature *f = known(incompat, bit);

		if (!(b->incompat & bit))
			continue;
		if (f)
			add_name(b, f->name);
		else
			unknown |= bit;
		if (f && f->handling == REFUSED && n < sizeof(names))
			n += (size_t)snprintf(names + n, sizeof(names) - n, "%s%s", n ? ", " : "", f->name);
	}
	for (unsigned i = 0; i < 64; i++) {
		uint64_t bit = UINT64_C(1) << i;
		const struct feature *f = known(compat_ro, bit);

		if (b->compat_ro & bit && f)
			add_name(b, f->name);
		else if (b->compat_ro & bit)
			unknown_ro |= bit;
	}
	if (unknown) {
		snprintf(b->unknown_features[0], sizeof(b->unknown_features[0]), "incompat-0x%llx", (ull)unknown);
		add_name(b, b->unknown_features[0]);
		if (n < sizeof(names))
			n += (size_t)snprintf(names + n, sizeof(names) - n, "%sunknown 0x%llx", n ? ", " : "", (ull)unknown);
	}
	if (unknown_ro) {
		/* Whoever only reads is not concerned: that is what this set of bits is for. */
		snprintf(b->unknown_features[1], sizeof(b->unknown_features[1]), "compat-ro-0x%llx", (ull)unknown_ro);
		add_name(b, b->unknown_features[1]);
	}
	if (unknown_compat) {
		snprintf(b->unknown_features[2], sizeof(b->unknown_features[2]), "compat-0x%llx", (ull)unknown_compat);
		add_name(b, b->unknown_features[2]);
	}
	/* Before 2.6.31 extent items were of another make; no kernel reads them any more. */
	if (!(b->incompat & 1))
		n += (size_t)snprintf(names + n, n < sizeof(names) ? sizeof(names) - n : 0, "%sback references of version 0 (no mixed-backref)",
				      n ? ", " : "");
	if (!n)
		return FSA_OK;
	if (!force)
		return fsa_fail(err, FSA_EUNSUPPORTED, "%s: btrfs: superblock @0x%llx: incompatible features that are not read: %s",
				image, (ull)b->super_offset, names);
	BTR_FIND(b, "superblock", 0, b->super_offset, "incompatible features that are not read: %s", names);
	return FSA_OK;
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
	memcpy(s->features, b->feature_names, sizeof(s->features));
	s->clean = !log && !error;
	n = (size_t)snprintf(s->state, sizeof(s->state), "%s%s", log ? "log tree needs replay" : "clean",
			     error ? ", with errors" : "");
	if (missing && n < sizeof(s->state))
		snprintf(s->state + n, sizeof(s->state) - n, ", %zu of %zu devices missing", missing, b->n_devices);
	return FSA_OK;
}
