/* SPDX-License-Identifier: GPL-2.0-only */
#include "format.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct format_text format_human(uint64_t bytes)
{
	static const char letters[] = "BKMGTPE";
	struct format_text out;
	unsigned power = 0;
	uint64_t whole, rest, tenths;

	while (power < 6 && bytes >> (10 * (power + 1)) != 0)
		power++;
	whole = bytes >> (10 * power);
	rest = power == 0 ? 0 : (bytes >> (10 * (power - 1))) & 1023;
	tenths = (rest * 10 + 512) / 1024;
	if (tenths == 10) {
		tenths = 0;
		whole++;
		if (whole == 1024 && power < 6) {
			whole = 1;
			power++;
		}
	}
	if (tenths != 0)
		snprintf(out.text, sizeof(out.text), "%" PRIu64 ".%" PRIu64 "%c", whole, tenths, letters[power]);
	else
		snprintf(out.text, sizeof(out.text), "%" PRIu64 "%c", whole, letters[power]);
	return out;
}

struct format_text format_human_signed(int64_t bytes)
{
	struct format_text out, plain;

	if (bytes >= 0)
		return format_human((uint64_t)bytes);
	plain = format_human(-(uint64_t)bytes);
	out.text[0] = '-';
	memcpy(out.text + 1, plain.text, sizeof(out.text) - 1);
	out.text[sizeof(out.text) - 1] = '\0';
	return out;
}

struct format_text format_size(uint64_t bytes, bool exact)
{
	struct format_text out;

	if (!exact)
		return format_human(bytes);
	snprintf(out.text, sizeof(out.text), "%" PRIu64, bytes);
	return out;
}

struct format_text format_count(uint64_t count)
{
	struct format_text out;
	char digits[24];
	int length = snprintf(digits, sizeof(digits), "%" PRIu64, count);
	size_t o = 0;

	for (int i = 0; i < length; i++) {
		if (i > 0 && (length - i) % 3 == 0)
			out.text[o++] = ',';
		out.text[o++] = digits[i];
	}
	out.text[o] = '\0';
	return out;
}

struct format_text format_percent(uint64_t part, uint64_t whole)
{
	struct format_text out;
	double percent;

	if (whole == 0) {
		strcpy(out.text, "-");
		return out;
	}
	percent = 100.0 * (double)part / (double)whole;
	if (part != 0 && percent < 0.05)
		strcpy(out.text, "<0.1 %");
	else if (part < whole && percent >= 99.95)
		strcpy(out.text, ">99.9 %");
	else
		snprintf(out.text, sizeof(out.text), "%.1f %%", percent);
	return out;
}

struct format_text format_ratio(double value, int decimals)
{
	struct format_text out;

	snprintf(out.text, sizeof(out.text), "%.*f", decimals, value);
	return out;
}
