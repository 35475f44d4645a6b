/* SPDX-License-Identifier: GPL-2.0-only */
/* Reading logical bytes from any copy, and from parity where a device or a stripe is bad. */
#include <stdlib.h>

#include "btrfs.h"

unsigned btr_mirrors(const struct btr *b, uint64_t logical)
{
	const struct btr_chunk *c = btr_chunk_at(b, logical);

	if (!c)
		return 0;
	/* With two parities the second way takes the first parity for bad too, the others one more data stripe each. */
	return btr_copies(c->type) + btr_parity(c->type) + (btr_parity(c->type) == 2 ? btr_data_stripes(c) - 1 : 0);
}

/* --- GF(2^8) with x^8 + x^4 + x^3 + x^2 + 1 and generator 2, the field of RAID6 --------------------------- */

static uint8_t gf_mul(uint8_t a, uint8_t b)
{
	uint8_t r = 0;

	for (; b; b >>= 1) {
		if (b & 1)
			r ^= a;
		a = (uint8_t)(a << 1 ^ (a & 0x80 ? 0x1d : 0));
	}
	return r;
}

static uint8_t gf_pow(uint8_t a, unsigned n)
{
	uint8_t r = 1;

	for (n %= 255; n; n >>= 1) {
		if (n & 1)
			r = gf_mul(r, a);
		a = gf_mul(a, a);
	}
	return r;
}

static uint8_t gf_inv(uint8_t a)
{
	return gf_pow(a, 254);
}

/* Adds factor * in to out; a table of one factor's products makes it one lookup a byte. */
static void gf_add_mul(uint8_t *out, const uint8_t *in, size_t n, uint8_t factor)
{
	uint8_t table[256];

	for (unsigned i = 0; i < 256; i++)
		table[i] = gf_mul((uint8_t)i, factor);
	for (size_t i = 0; i < n; i++)
		out[i] ^= table[in[i]];
}

/* --- one row of RAID5 or RAID6 ------------------------------------------------------------------------------ */

struct row {
	struct btr *b;
	const struct btr_chunk *c;
	uint64_t number;
	uint64_t rest;		/* offset in each stripe */
	size_t length;
	unsigned data, parity;
	uint8_t *scratch;
};

/* Stripe `index` of the row in the order D0..Dn-1, P, Q, into `out`. */
static bool read_stripe(const struct row *r, unsigned index, uint8_t *out)
{
	unsigned at = (unsigned)((index + r->number) % r->c->n_stripes);
	const struct btr_stripe *s = &r->b->stripes[r->c->first_stripe + at];
	int image = r->b->devices[s->device].image;

	return image >= 0 && fsa_image_read(r->b->fs->devices[image].image, s->offset + r->number * BTR_STRIPE_LEN + r->rest, out,
					    r->length) == FSA_OK;
}

/*
 * Data stripe `want` from the others. `p_bad`: do not trust the first parity; `other_bad`: nor this data stripe.
 * Which other data stripe is missing is found by trying.
 */
static bool rebuild(const struct row *r, unsigned want, bool p_bad, unsigned other_bad, uint8_t *out)
{
	uint8_t *one = r->scratch, *q = one + r->length, *p = q + r->length;
	unsigned missing = UINT32_MAX;
	bool have_p = !p_bad, have_q = false;

	memset(p, 0, r->length);
	memset(q, 0, r->length);
	for (unsigned i = 0; i < r->data; i++) {
		if (i == want)
			continue;
		if (i == other_bad || !read_stripe(r, i, one)) {
			if (missing != UINT32_MAX)
				return false;
			missing = i;
			continue;
		}
		gf_add_mul(p, one, r->length, 1);
		if (r->parity == 2)
			gf_add_mul(q, one, r->length, gf_pow(2, i));
	}
	if (have_p) {
		have_p = read_stripe(r, r->data, one);
		if (have_p)
			gf_add_mul(p, one, r->length, 1);
	}
	if (have_p && missing == UINT32_MAX) {
		memcpy(out, p, r->length);
		return true;
	}
	if (r->parity == 2) {
		have_q = read_stripe(r, r->data + 1, one);
		if (have_q)
			gf_add_mul(q, one, r->length, 1);
	}
	if (!have_q)
		return false;
	memset(out, 0, r->length);
	if (missing == UINT32_MAX) {
		/* q = g^want * D */
		gf_add_mul(out, q, r->length, gf_inv(gf_pow(2, want)));
		return true;
	}
	if (!have_p)
		return false;
	/* p = D + M, q = g^want * D + g^missing * M; so D = (q + g^missing * p) / (g^want + g^missing). */
	{
		uint8_t gw = gf_pow(2, want), gm = gf_pow(2, missing), k = gf_inv(gw ^ gm);

		gf_add_mul(out, q, r->length, k);
		gf_add_mul(out, p, r->length, gf_mul(gm, k));
	}
	return true;
}

/* `way` 0: trust all that is there; 1: not the first parity; from 2 on: not one of the other data stripes. */
static enum fsa_status read_rebuilt(struct btr *b, const struct btr_chunk *c, uint64_t logical, uint8_t *buffer, size_t length,
				    unsigned way)
{
	uint64_t at = logical - c->logical, nr = at / BTR_STRIPE_LEN;
	struct row r = {
		.b = b, .c = c, .rest = at % BTR_STRIPE_LEN, .length = length, .data = btr_data_stripes(c),
		.parity = btr_parity(c->type),
	};
	unsigned want = (unsigned)(nr % r.data), other = UINT32_MAX;
	bool ok;

	if (way >= 2)
		other = way - 2 < want ? way - 2 : way - 1;
	r.number = nr / r.data;
	r.scratch = malloc(3 * length);
	if (!r.scratch)
		return FSA_ENOMEM;
	ok = rebuild(&r, want, way == 1, other, buffer);
	free(r.scratch);
	return ok ? FSA_OK : FSA_EIO;
}

enum fsa_status btr_read_mirror(struct btr *b, uint64_t logical, void *buffer, size_t length, unsigned mirror)
{
	uint8_t *out = buffer;

	while (length) {
		struct btr_segment s;
		enum fsa_status st;

		if (!btr_segment_at(b, logical, length, &s))
			return FSA_ERANGE;
		if (mirror < s.copies) {
			if (s.copy[mirror].image < 0)
				return FSA_EIO;
			st = fsa_image_read(b->fs->devices[s.copy[mirror].image].image, s.copy[mirror].physical, out,
					    (size_t)s.length);
		} else {
			const struct btr_chunk *c = btr_chunk_at(b, logical);

			if (mirror >= btr_mirrors(b, logical))
				return FSA_EIO;
			st = read_rebuilt(b, c, logical, out, (size_t)s.length, mirror - s.copies);
		}
		if (st != FSA_OK)
			return st;
		out += s.length;
		logical += s.length;
		length -= (size_t)s.length;
	}
	return FSA_OK;
}

enum fsa_status btr_read_logical(struct btr *b, uint64_t logical, void *buffer, size_t length)
{
	uint8_t *out = buffer;

	while (length) {
		enum fsa_status st = FSA_ERANGE;
		struct btr_segment s;
		unsigned n;

		if (!btr_segment_at(b, logical, length, &s))
			return FSA_ERANGE;
		n = btr_mirrors(b, logical);
		for (unsigned m = 0; m < n; m++) {
			st = btr_read_mirror(b, logical, out, (size_t)s.length, m);
			if (st == FSA_OK || st == FSA_ENOMEM)
				break;
		}
		if (st != FSA_OK)
			return st;
		out += s.length;
		logical += s.length;
		length -= (size_t)s.length;
	}
	return FSA_OK;
}
