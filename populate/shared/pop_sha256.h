/* SPDX-License-Identifier: GPL-2.0-only */
/* SHA-256 (FIPS 180-4). */
#ifndef FSA_POP_SHA256_H
#define FSA_POP_SHA256_H

#include <stddef.h>
#include <stdint.h>

struct pop_sha256 {
	uint32_t state[8];
	uint64_t length;	/* bytes so far */
	unsigned char block[64];
};

void pop_sha256_init(struct pop_sha256 *s);
void pop_sha256_add(struct pop_sha256 *s, const void *data, size_t len);

/* 64 digits and a NUL. */
void pop_sha256_hex(struct pop_sha256 *s, char hex[65]);

#endif
