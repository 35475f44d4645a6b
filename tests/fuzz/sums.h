/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FSA_FUZZ_SUMS_H
#define FSA_FUZZ_SUMS_H

#include <stddef.h>
#include <stdint.h>

/* Makes the checksums of a btrfs image's superblock and nodes right (crc32c). Any other image is left as it is. */
void sums_repair(uint8_t *data, size_t size);

#endif
