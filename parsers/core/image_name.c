/* SPDX-License-Identifier: GPL-2.0-only */
/* Names as the user gives them: IMAGE, IMAGE@N, ARCHIVE:MEMBER, ARCHIVE:MEMBER@N. */
#include <string.h>
#include <sys/stat.h>

#include "image_private.h"

static bool exists(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0;
}

/* The number behind the last '@', or 0 when what stands there is no partition number. */
static unsigned partition_number(const char *digits)
{
	unsigned n = 0;

	/* Not "@0", not "@007": such a name is meant as it stands. */
	if (digits[0] == '0' || strlen(digits) > 5)
		return 0;
	for (; *digits; digits++) {
		if (*digits < '0' || *digits > '9')
			return 0;
		n = n * 10 + (unsigned)(*digits - '0');
	}
	return n;
}

enum fsa_status fsa_image_split_name(const char *argument, char **path, unsigned *partition)
{
	const char *at = strrchr(argument, '@');

	*partition = 0;
	if (at && at > argument && !exists(argument))
		*partition = partition_number(at + 1);
	*path = *partition ? strndup(argument, (size_t)(at - argument)) : strdup(argument);
	return *path ? FSA_OK : FSA_ENOMEM;
}

enum fsa_status fsa_split_member(const char *path, char **file, char **member)
{
	*member = NULL;
	*file = strdup(path);
	if (!*file)
		return FSA_ENOMEM;
	if (exists(path))
		return FSA_OK;
	/* The shortest file that exists: what follows may hold colons of its own. */
	for (char *colon = strchr(*file, ':'); colon; colon = strchr(colon + 1, ':')) {
		struct stat st;

		*colon = '\0';
		if (colon[1] != '\0' && stat(*file, &st) == 0 && !S_ISDIR(st.st_mode)) {
			*member = strdup(colon + 1);
			if (*member)
				return FSA_OK;
			free(*file);
			*file = NULL;
			return FSA_ENOMEM;
		}
		*colon = ':';
	}
	return FSA_OK;
}
