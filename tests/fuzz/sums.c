/* SPDX-License-Identifier: GPL-2.0-only */
/* Nodes are found by the filesystem id that they carry: no tree has to be walked, so broken ones are no matter. */
#include "sums.h"

#include <string.h>

#include "fsa/bytes.h"
#include "fsa/checksum.h"

#define SUPER 65536u
#define UNIT 4096u		/* nodes of these images start at multiples of it */

static void repair(uint8_t *block, size_t size)
{
	const uint32_t sum = ~fsa_crc32c(~0u, block + 32, size - 32);

	for (unsigned i = 0; i < 4; i++)
		block[i] = (uint8_t)(sum >> 8 * i);
}

void sums_repair(uint8_t *data, size_t size)
{
	const uint8_t *super = data + SUPER;
	uint32_t node;

	if (size < SUPER + UNIT || memcmp(super + 0x40, "_BHRfS_M", 8) != 0)
		return;
	node = fsa_get_le32(super + 0x94);
	if (node < UNIT || node > 65536 || node % UNIT != 0)
		node = UNIT;
	for (size_t at = 0; at + node <= size; at += UNIT)
		if (at != SUPER && memcmp(data + at + 32, super + 32, 16) == 0)
			repair(data + at, node);
	repair(data + SUPER, UNIT);
}
