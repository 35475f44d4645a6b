/* SPDX-License-Identifier: GPL-2.0-only */
/* What libblkid says about a range of bytes. */
#include <blkid/blkid.h>
#include <string.h>

#include "image_private.h"

/* Results of blkid_do_safeprobe and blkid_do_probe. */
#define BLKID_FOUND 0
#define BLKID_AMBIVALENT (-2)

static bool is_part(const char *usage)
{
	return strcmp(usage, "raid") == 0 || strcmp(usage, "crypto") == 0;
}

static const char *value(blkid_probe probe, const char *name)
{
	const char *data;

	return blkid_probe_lookup_value(probe, name, &data, NULL) == 0 ? data : "";
}

/* Goes through everything that leaves a signature, for the words of a remark. */
static void name_all(blkid_probe probe, struct fsa_probed *probed)
{
	size_t used = 0;

	blkid_reset_probe(probe);
	/* The bound is for safety: libblkid's list of formats ends. */
	for (unsigned i = 0; i < 200 && blkid_do_probe(probe) == BLKID_FOUND; i++) {
		const char *type = value(probe, "TYPE");

		if (*type && used + strlen(type) + 3 < sizeof(probed->several))
			used += (size_t)snprintf(probed->several + used, sizeof(probed->several) - used, "%s%s",
						 used ? ", " : "", type);
	}
}

void fsa_probe(int fd, uint64_t start, uint64_t size, bool plain, struct fsa_probed *probed)
{
	blkid_probe probe;
	int rc;

	memset(probed, 0, sizeof(*probed));
	if (start > INT64_MAX || size > INT64_MAX)
		return;
	probe = blkid_new_probe();
	if (!probe)
		return;
	/* A wrong checksum must not hide a filesystem: it is the analysis that says it is wrong. */
	if (blkid_probe_set_device(probe, fd, (blkid_loff_t)start, (blkid_loff_t)size) == 0 &&
	    blkid_probe_enable_superblocks(probe, 1) == 0 &&
	    blkid_probe_set_superblocks_flags(probe, BLKID_SUBLKS_TYPE | BLKID_SUBLKS_USAGE |
					      BLKID_SUBLKS_BADCSUM) == 0 &&
	    (!plain || blkid_probe_filter_superblocks_usage(probe, BLKID_FLTR_ONLYIN,
							    BLKID_USAGE_FILESYSTEM | BLKID_USAGE_OTHER) == 0)) {
		/* A read error (-1) means that nothing is known: the parsers will meet it again and say so. */
		rc = blkid_do_safeprobe(probe);
		if (rc == BLKID_FOUND) {
			snprintf(probed->type, sizeof(probed->type), "%s", value(probe, "TYPE"));
			probed->member = is_part(value(probe, "USAGE"));
		} else if (rc == BLKID_AMBIVALENT) {
			name_all(probe, probed);
		}
	}
	blkid_free_probe(probe);
}
