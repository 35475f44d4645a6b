/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * SHA-256, with the processor's instructions where it has them: the digest
 * of 100 GB of content is otherwise most of the time.
 */
#include <string.h>

#include "pop_sha256.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

static const uint32_t k[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
	0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
	0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
	0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
	0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
	0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
	0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
	0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate(uint32_t x, unsigned int n)
{
	return x >> n | x << (32 - n);
}

static void blocks_plain(uint32_t state[8], const unsigned char *p,
			 size_t count)
{
	for (; count; count--, p += 64) {
		uint32_t w[64], v[8];

		for (size_t i = 0; i < 16; i++)
			w[i] = (uint32_t)p[4 * i] << 24 |
			       (uint32_t)p[4 * i + 1] << 16 |
			       (uint32_t)p[4 * i + 2] << 8 | p[4 * i + 3];
		for (size_t i = 16; i < 64; i++) {
			uint32_t a = w[i - 15], b = w[i - 2];

			w[i] = w[i - 16] + w[i - 7] +
			       (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) +
			       (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
		}
		memcpy(v, state, sizeof(v));
		for (size_t i = 0; i < 64; i++) {
			uint32_t e = v[4], a = v[0];
			uint32_t t1 = v[7] + k[i] + w[i] +
				(rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) +
				((e & v[5]) ^ (~e & v[6]));
			uint32_t t2 =
				(rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) +
				((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));

			memmove(v + 1, v, 7 * sizeof(v[0]));
			v[4] += t1;
			v[0] = t1 + t2;
		}
		for (size_t i = 0; i < 8; i++)
			state[i] += v[i];
	}
}

#if defined(__x86_64__)
/* The instructions keep the state as ABEF and CDGH. */
__attribute__((target("sha,sse4.1,ssse3")))
static void blocks_sha(uint32_t state[8], const unsigned char *p, size_t count)
{
	const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0bLL,
					    0x0405060700010203LL);
	__m128i abef = _mm_set_epi32((int)state[0], (int)state[1],
				     (int)state[4], (int)state[5]);
	__m128i cdgh = _mm_set_epi32((int)state[2], (int)state[3],
				     (int)state[6], (int)state[7]);
	uint32_t out[4];

	for (; count; count--, p += 64) {
		const __m128i abef0 = abef, cdgh0 = cdgh;
		__m128i w[4];

		for (size_t i = 0; i < 4; i++)
			w[i] = _mm_shuffle_epi8(_mm_loadu_si128(
				(const __m128i *)(const void *)(p + 16 * i)),
				swap);
		for (size_t i = 0; i < 16; i++) {
			__m128i now = w[i % 4], kw;

			kw = _mm_add_epi32(now, _mm_loadu_si128(
				(const __m128i *)(const void *)(k + 4 * i)));
			cdgh = _mm_sha256rnds2_epu32(cdgh, abef, kw);
			abef = _mm_sha256rnds2_epu32(abef, cdgh,
					_mm_shuffle_epi32(kw, 0x0e));
			if (i >= 12)
				continue;
			/* Words 16 on, four at a time. */
			__m128i next = _mm_sha256msg1_epu32(now,
							w[(i + 1) % 4]);

			next = _mm_add_epi32(next, _mm_alignr_epi8(
				w[(i + 3) % 4], w[(i + 2) % 4], 4));
			w[i % 4] = _mm_sha256msg2_epu32(next, w[(i + 3) % 4]);
		}
		abef = _mm_add_epi32(abef, abef0);
		cdgh = _mm_add_epi32(cdgh, cdgh0);
	}
	_mm_storeu_si128((__m128i *)(void *)out, abef);
	state[0] = out[3];
	state[1] = out[2];
	state[4] = out[1];
	state[5] = out[0];
	_mm_storeu_si128((__m128i *)(void *)out, cdgh);
	state[2] = out[3];
	state[3] = out[2];
	state[6] = out[1];
	state[7] = out[0];
}

static int have_sha(void)
{
	unsigned int a, b = 0, c, d;

	/* Leaf 7, EBX bit 29. */
	__asm__("cpuid" : "=a"(a), "=b"(b), "=c"(c), "=d"(d)
		: "a"(0), "c"(0));
	if (a < 7)
		return 0;
	__asm__("cpuid" : "=a"(a), "=b"(b), "=c"(c), "=d"(d)
		: "a"(7), "c"(0));
	return (b >> 29 & 1) && __builtin_cpu_supports("ssse3") &&
	       __builtin_cpu_supports("sse4.1");
}
#endif

static void blocks(uint32_t state[8], const unsigned char *p, size_t count)
{
#if defined(__x86_64__)
	if (count >= 8 && have_sha()) {
		blocks_sha(state, p, count);
		return;
	}
#endif
	blocks_plain(state, p, count);
}

void pop_sha256_init(struct pop_sha256 *s)
{
	static const uint32_t start[8] = {
		0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f,
		0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
	};

	memcpy(s->state, start, sizeof(start));
	s->length = 0;
}

void pop_sha256_add(struct pop_sha256 *s, const void *data, size_t len)
{
	const unsigned char *p = data;
	size_t have = (size_t)(s->length % 64);

	s->length += len;
	if (have) {
		size_t n = 64 - have < len ? 64 - have : len;

		memcpy(s->block + have, p, n);
		p += n;
		len -= n;
		if (have + n < 64)
			return;
		blocks(s->state, s->block, 1);
	}
	blocks(s->state, p, len / 64);
	memcpy(s->block, p + len / 64 * 64, len % 64);
}

void pop_sha256_hex(struct pop_sha256 *s, char hex[65])
{
	static const char digits[] = "0123456789abcdef";
	uint64_t bits = s->length * 8;
	unsigned char end[72] = { 0x80 };
	size_t pad = 64 - (size_t)((s->length + 8) % 64);

	for (size_t i = 0; i < 8; i++)
		end[pad + i] = (unsigned char)(bits >> (56 - 8 * i));
	pop_sha256_add(s, end, pad + 8);
	for (size_t i = 0; i < 64; i++)
		hex[i] = digits[s->state[i / 8] >> (28 - 4 * (i % 8)) & 15];
	hex[64] = '\0';
}
