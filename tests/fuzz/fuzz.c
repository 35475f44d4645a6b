/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * libFuzzer's driver. The mutator is ours because an image is nearly all zeros or file data: changes are made where
 * bytes are not zero, by values that mean something in metadata. Checksums mostly need no repair: a wrong one is a
 * finding and the structure is read all the same. btrfs does not look at what has a wrong one: there they are made right.
 */
#include <stdlib.h>
#include <string.h>

#include "exercise.h"
#include "sums.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* The last byte is not part of any structure of ours: it decides about --force. */
	exercise(data, size, size > 0 && (data[size - 1] & 1), NULL, 0);
	return 0;
}

static uint32_t next(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

/* A place where something is written: most of an image is not worth a change. */
static size_t place(const uint8_t *data, size_t size, uint32_t *state)
{
	size_t at = 0;

	for (unsigned tries = 0; tries < 200; tries++) {
		at = ((size_t)next(state) << 20 ^ next(state)) % size;
		/* Half of the changes go to the front, where superblocks and descriptors are. */
		if (next(state) % 4 == 0)
			at %= size < 8192 ? size : 8192;
		if (data[at] != 0)
			return at;
	}
	return at;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	static const uint64_t values[] = {
		0, 1, 2, 7, 8, 15, 16, 255, 256, 1023, 1024, 4095, 4096, 32767, 32768, 65535, 65536, 0x7fffffff,
		0x80000000, 0xffffffff, 0x7fffffffffffffff, 0x8000000000000000, 0xffffffffffffffff,
	};
	uint32_t state = seed;
	const unsigned changes = 1 + next(&state) % 6;

	if (size == 0)
		return LLVMFuzzerMutate(data, size, max_size);
	for (unsigned i = 0; i < changes; i++) {
		const size_t at = place(data, size, &state);
		const size_t width = (size_t)1 << (next(&state) % 4);
		const size_t aligned = at / width * width;
		uint64_t value = values[next(&state) % (sizeof(values) / sizeof(values[0]))];

		switch (next(&state) % 8) {
		case 0:
			data[at] ^= (uint8_t)(1u << (next(&state) % 8));
			break;
		case 1:
			data[at] = (uint8_t)next(&state);
			break;
		case 2:
			data[at] = (uint8_t)(data[at] + (next(&state) % 2 ? 1 : -1));
			break;
		case 3: {	/* bytes of another place, as large as a pointer, a record or a block */
			static const size_t lengths[] = { 4, 8, 12, 16, 64, 256, 1024 };
			const size_t length = lengths[next(&state) % 7];
			const size_t from = place(data, size, &state);

			if (from + length <= size && at + length <= size)
				memmove(data + at, data + from, length);
			break;
		}
		case 4:
			value = next(&state) % 512;	/* a block of a small image */
			/* fall through */
		default:
			if (aligned + width > size)
				break;
			for (size_t b = 0; b < width; b++)
				data[aligned + (next(&state) % 16 == 0 ? width - 1 - b : b)] =
					(uint8_t)(value >> (8 * b));
		}
	}
	if (next(&state) % 64 == 0)
		size = 1 + next(&state) % size;
	if (next(&state) % 32 != 0)
		sums_repair(data, size);
	return size;
}
