/* SPDX-License-Identifier: GPL-2.0-only */
#include "inodetext.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static const struct {
	char letter;
	const char *word, *words;
} types[] = {
	[FSA_TYPE_UNKNOWN] = { '?', "unknown", "unknown" },
	[FSA_TYPE_REGULAR] = { '-', "file", "regular file" },
	[FSA_TYPE_DIRECTORY] = { 'd', "directory", "directory" },
	[FSA_TYPE_SYMLINK] = { 'l', "symlink", "symbolic link" },
	[FSA_TYPE_CHARDEV] = { 'c', "chardev", "character device" },
	[FSA_TYPE_BLOCKDEV] = { 'b', "blockdev", "block device" },
	[FSA_TYPE_FIFO] = { 'p', "fifo", "fifo" },
	[FSA_TYPE_SOCKET] = { 's', "socket", "socket" },
};
#define N_TYPES (sizeof(types) / sizeof(types[0]))

struct inodetext inodetext_mode(enum fsa_type type, uint32_t mode)
{
	static const char rwx[] = "rwxrwxrwx";
	struct inodetext out = { "" };

	out.text[0] = types[(size_t)type < N_TYPES ? type : FSA_TYPE_UNKNOWN].letter;
	for (unsigned i = 0; i < 9; i++)
		out.text[1 + i] = mode >> (8 - i) & 1 ? rwx[i] : '-';
	if (mode & 04000)
		out.text[3] = mode & 0100 ? 's' : 'S';
	if (mode & 02000)
		out.text[6] = mode & 0010 ? 's' : 'S';
	if (mode & 01000)
		out.text[9] = mode & 0001 ? 't' : 'T';
	return out;
}

struct inodetext inodetext_time(const struct fsa_time *time, bool nanoseconds)
{
	struct inodetext out = { "-" };
	const time_t seconds = (time_t)time->sec;
	char fraction[16] = "";
	struct tm tm;

	if (!time->set)
		return out;
	if (nanoseconds)
		snprintf(fraction, sizeof(fraction), ".%09" PRIu32, time->nsec % 1000000000);
	if (gmtime_r(&seconds, &tm) == NULL || tm.tm_year > 2147480000 || tm.tm_year < -2147480000)
		snprintf(out.text, sizeof(out.text), "@%" PRId64 "%s", time->sec, fraction);
	else
		snprintf(out.text, sizeof(out.text), "%04d-%02d-%02dT%02d:%02d:%02d%sZ", tm.tm_year + 1900,
			 tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, fraction);
	return out;
}

const char *inodetext_type(enum fsa_type type)
{
	return types[(size_t)type < N_TYPES ? type : FSA_TYPE_UNKNOWN].words;
}

const char *inodetext_type_word(enum fsa_type type)
{
	return types[(size_t)type < N_TYPES ? type : FSA_TYPE_UNKNOWN].word;
}

const char *inodetext_extent_kind(enum fsa_extent_kind kind)
{
	switch (kind) {
	case FSA_EXTENT_DATA: return "data";
	case FSA_EXTENT_HOLE: return "hole";
	case FSA_EXTENT_UNWRITTEN: return "unwritten";
	case FSA_EXTENT_PACKED: return "packed";
	case FSA_EXTENT_ENCODED: return "encoded";
	case FSA_EXTENT_UNREADABLE: return "unreadable";
	}
	return "?";
}
