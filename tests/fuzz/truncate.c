/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * truncate FILE...: each image, cut at the end of every block in use, in the middle of free stretches, and at odd sizes around
 * every structure at its start, goes through everything the library does. Bytes behind the cut are poisoned, so that a read
 * there is seen. Prints how many cuts that were.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <sanitizer/asan_interface.h>

#include "exercise.h"

#define MOST_RANGES 100000
#define BLOCK 1024u

static unsigned long cuts;

static void cut(uint8_t *bytes, size_t size, size_t at)
{
	if (at > size)
		return;
	ASAN_POISON_MEMORY_REGION(bytes + at, size - at);
	exercise(bytes, at, 0, NULL, 0);
	ASAN_UNPOISON_MEMORY_REGION(bytes + at, size - at);
	cuts++;
}

static int sweep(const char *path, unsigned step)
{
	static uint64_t used[MOST_RANGES][2];
	FILE *f = fopen(path, "rb");
	uint8_t *bytes;
	long size;
	size_t n;

	if (f == NULL || fseek(f, 0, SEEK_END) != 0 || (size = ftell(f)) < 0 || fseek(f, 0, SEEK_SET) != 0) {
		perror(path);
		return 1;
	}
	bytes = malloc((size_t)size + 1);
	if (bytes == NULL || fread(bytes, 1, (size_t)size, f) != (size_t)size) {
		perror(path);
		return 1;
	}
	fclose(f);
	cuts = 0;
	n = exercise(bytes, (size_t)size, 0, used, MOST_RANGES);
	if (n == 0) {
		fprintf(stderr, "%s: not analysed\n", path);
		return 1;
	}
	for (size_t i = 0; i < n; i++) {
		for (uint64_t at = used[i][0]; at < used[i][0] + used[i][1]; at += BLOCK * step)
			cut(bytes, (size_t)size, (size_t)at);
		cut(bytes, (size_t)size, (size_t)(used[i][0] + used[i][1]));
		cut(bytes, (size_t)size, (size_t)(used[i][0] + used[i][1] + 3 * BLOCK / 2));
	}
	for (size_t at = 0; at < 4096; at += 97)
		cut(bytes, (size_t)size, at);
	for (size_t at = 4096; at < (size_t)size && at < 400000; at += 12347)
		cut(bytes, (size_t)size, at);
	cut(bytes, (size_t)size, (size_t)size - 1);
	printf("%s: %lu cuts\n", path, cuts);
	free(bytes);
	return 0;
}

int main(int argc, char **argv)
{
	int status = 0;

	for (int i = 2; i < argc; i++)
		status |= sweep(argv[i], (unsigned)atoi(argv[1]));
	return argc < 3 || status;
}
