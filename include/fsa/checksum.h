/* SPDX-License-Identifier: GPL-2.0-only */
/* Checksums that several formats share. */
#ifndef FSA_CHECKSUM_H
#define FSA_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/*
 * CRC-32C (Castagnoli, reflected 0x82f63b78) of `length` bytes continuing from `crc`, without inversion
 * before or after: callers that want the usual form start with ~0 and invert the result.
 */
uint32_t fsa_crc32c(uint32_t crc, const void *data, size_t length);

/* CRC-16 (ANSI, reflected 0xa001) continuing from `crc`, no inversion: ext4's gdt_csum. */
uint16_t fsa_crc16(uint16_t crc, const void *data, size_t length);

#endif
