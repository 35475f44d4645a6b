/* SPDX-License-Identifier: GPL-2.0-only */
/* What a version 5 block says about itself: checksum, place, filesystem, owner. */
#include <string.h>

#include "xfs.h"

bool xf_crc_ok(const uint8_t *bytes, size_t length, size_t field, uint32_t *got, uint32_t *want)
{
	static const uint8_t zero[4];
	uint32_t crc = fsa_crc32c(~0u, bytes, field);

	crc = fsa_crc32c(crc, zero, sizeof(zero));
	crc = fsa_crc32c(crc, bytes + field + 4, length - field - 4);
	*want = ~crc;
	*got = fsa_get_le32(bytes + field);
	return *got == *want;
}

bool xf_check_self(const struct xf *x, const struct xf_self *s, const uint8_t *bytes, size_t length, uint64_t offset)
{
	uint32_t got, want;
	uint64_t blkno, owner;
	bool ok = true;

	if (!x->v5)
		return true;
	if (!xf_crc_ok(bytes, length, s->crc, &got, &want)) {
		XF_FIND(x, s->object, s->number, offset, "%s checksum 0x%08x, computed 0x%08x", s->what, got, want);
		ok = false;
	}
	blkno = fsa_get_be64(bytes + s->blkno);
	if (blkno != offset / XF_BBSIZE) {
		XF_FIND(x, s->object, s->number, offset, "%s says it lies at sector %llu, it lies at %llu", s->what, (ull)blkno,
			(ull)(offset / XF_BBSIZE));
		ok = false;
	}
	if (memcmp(bytes + s->uuid, x->uuid, sizeof(x->uuid)) != 0) {
		XF_FIND(x, s->object, s->number, offset, "%s carries another filesystem's uuid", s->what);
		ok = false;
	}
	owner = fsa_get_be(bytes + s->owner, s->owner_bytes);
	if (owner != s->want_owner) {
		XF_FIND(x, s->object, s->number, offset, "%s says its owner is %llu, it is %llu", s->what, (ull)owner,
			(ull)s->want_owner);
		ok = false;
	}
	return ok;
}
