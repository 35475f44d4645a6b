/* SPDX-License-Identifier: GPL-2.0-only */
/* The four checksums of superblocks, nodes and data. */
#include <gcrypt.h>
#include <stdio.h>
#include <xxhash.h>

#include "btrfs.h"
#include "fsa/checksum.h"

unsigned btr_csum_size(unsigned type)
{
	switch (type) {
	case BTRFS_CSUM_TYPE_CRC32: return 4;
	case BTRFS_CSUM_TYPE_XXHASH: return 8;
	case BTRFS_CSUM_TYPE_SHA256:
	case BTRFS_CSUM_TYPE_BLAKE2: return 32;
	default: return 0;
	}
}

const char *btr_csum_name(unsigned type)
{
	switch (type) {
	case BTRFS_CSUM_TYPE_CRC32: return "crc32c";
	case BTRFS_CSUM_TYPE_XXHASH: return "xxhash64";
	case BTRFS_CSUM_TYPE_SHA256: return "sha256";
	case BTRFS_CSUM_TYPE_BLAKE2: return "blake2b";
	default: return "unknown";
	}
}

static void put_le(uint8_t *out, uint64_t v, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		out[i] = (uint8_t)(v >> 8 * i);
}

void btr_csum(unsigned type, const void *data, size_t length, uint8_t out[32])
{
	memset(out, 0, 32);
	switch (type) {
	case BTRFS_CSUM_TYPE_CRC32:
		put_le(out, ~fsa_crc32c(~0u, data, length), 4);
		break;
	case BTRFS_CSUM_TYPE_XXHASH:
		put_le(out, XXH64(data, length, 0), 8);
		break;
	case BTRFS_CSUM_TYPE_SHA256:
		gcry_md_hash_buffer(GCRY_MD_SHA256, out, data, length);
		break;
	case BTRFS_CSUM_TYPE_BLAKE2:
		gcry_md_hash_buffer(GCRY_MD_BLAKE2B_256, out, data, length);
		break;
	default:
		break;
	}
}

/* As a number for the short ones, as `btrfs inspect-internal` prints them; the others byte by byte. */
const char *btr_csum_print(const uint8_t *csum, unsigned size, struct btr_csum_text *text)
{
	if (size <= 8) {
		snprintf(text->text, sizeof(text->text), "%0*llx", (int)size * 2, (ull)fsa_get_le(csum, size));
		return text->text;
	}
	for (unsigned i = 0; i < size && i < 32; i++)
		snprintf(text->text + 2 * i, 3, "%02x", csum[i]);
	return text->text;
}
