/* SPDX-License-Identifier: GPL-2.0-only */
/* Names as directories hold them: what no tree may hold, and how a message shows one. */
#ifndef FSA_CORE_NAME_H
#define FSA_CORE_NAME_H

#include <stddef.h>
#include <string.h>

/* What is wrong with a name ("is empty"), or NULL. Such a name must never become part of a path. */
static inline const char *fsa_name_trouble(const char *name, size_t length)
{
	if (length == 0)
		return "is empty";
	if (length > 65535)
		return "is longer than 65535 bytes";
	if ((length == 1 && name[0] == '.') || (length == 2 && name[0] == '.' && name[1] == '.'))
		return "stands for a directory that is not its own";
	if (memchr(name, '/', length))
		return "holds a slash";
	if (memchr(name, '\0', length))
		return "holds a NUL byte";
	return NULL;
}

/*
 * A name for a message: its bytes as they are, since whoever prints findings makes them fit to be shown,
 * but NUL, which would end the message, as the picture of it (U+2400); cut with "..." when it does not fit.
 */
struct fsa_shown_name {
	char text[200];
};

static inline const char *fsa_show_name(struct fsa_shown_name *shown, const char *name, size_t length)
{
	size_t out = 0;

	for (size_t i = 0; i < length; i++) {
		if (out > sizeof(shown->text) - 8) {
			memcpy(shown->text + out, "...", 3);
			out += 3;
			break;
		}
		if (name[i] == '\0') {
			memcpy(shown->text + out, "\xe2\x90\x80", 3);
			out += 3;
		} else {
			shown->text[out++] = name[i];
		}
	}
	shown->text[out] = '\0';
	return shown->text;
}

#endif
