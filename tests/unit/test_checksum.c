/* SPDX-License-Identifier: GPL-2.0-only */
/* Checksums against a computation bit by bit, which is slow and plain. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fsa/checksum.h"

static uint32_t bits32(uint32_t crc, const uint8_t *p, size_t n)
{
	while (n--) {
		crc ^= *p++;
		for (int i = 0; i < 8; i++)
			crc = crc & 1 ? crc >> 1 ^ 0x82f63b78u : crc >> 1;
	}
	return crc;
}

static uint16_t bits16(uint16_t crc, const uint8_t *p, size_t n)
{
	while (n--) {
		crc = (uint16_t)(crc ^ *p++);
		for (int i = 0; i < 8; i++)
			crc = (uint16_t)(crc & 1 ? crc >> 1 ^ 0xa001 : crc >> 1);
	}
	return crc;
}

static void fill(uint8_t *bytes, size_t n, uint32_t seed)
{
	for (size_t i = 0; i < n; i++) {
		seed = seed * 1664525u + 1013904223u;
		bytes[i] = (uint8_t)(seed >> 24);
	}
}

static void test_known_values(void **state)
{
	(void)state;
	/* The check values of the catalogues of CRCs: CRC-32C and CRC-16/MODBUS of "123456789". */
	assert_int_equal(~fsa_crc32c(~0u, "123456789", 9), 0xe3069283u);
	assert_int_equal(fsa_crc16(0xffff, "123456789", 9), 0x4b37);
	assert_int_equal(fsa_crc32c(0x1234, "", 0), 0x1234);
	assert_int_equal(fsa_crc16(0x1234, "", 0), 0x1234);
}

static void test_every_length_and_alignment(void **state)
{
	static uint8_t bytes[600];

	(void)state;
	fill(bytes, sizeof(bytes), 7);
	for (size_t from = 0; from < 17; from++)
		for (size_t n = 0; n < 300; n++) {
			assert_int_equal(fsa_crc32c(0xdeadbeef, bytes + from, n), bits32(0xdeadbeef, bytes + from, n));
			assert_int_equal(fsa_crc16(0xbeef, bytes + from, n), bits16(0xbeef, bytes + from, n));
		}
}

static void test_in_pieces(void **state)
{
	static uint8_t bytes[70000];
	uint32_t whole, crc = ~0u;
	size_t at = 0, step = 1;

	(void)state;
	fill(bytes, sizeof(bytes), 11);
	whole = bits32(~0u, bytes, sizeof(bytes));
	assert_int_equal(fsa_crc32c(~0u, bytes, sizeof(bytes)), whole);
	while (at < sizeof(bytes)) {
		const size_t n = step < sizeof(bytes) - at ? step : sizeof(bytes) - at;

		crc = fsa_crc32c(crc, bytes + at, n);
		at += n;
		step = step * 3 % 5003 + 1;
	}
	assert_int_equal(crc, whole);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known_values),
		cmocka_unit_test(test_every_length_and_alignment),
		cmocka_unit_test(test_in_pieces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
