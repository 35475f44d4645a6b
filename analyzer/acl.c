/* SPDX-License-Identifier: GPL-2.0-only */
#include "acl.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "fsa/bytes.h"

#define ACL_VERSION 2u
#define HEADER 4u
#define ENTRY 8u
#define LONGEST_ENTRY sizeof("default:group:4294967295:rwx,")

/* Tags of linux/posix_acl_xattr.h, which are part of the ABI. */
static const struct {
	uint16_t tag;
	const char *name;
	bool has_id;
} tags[] = {
	{ 0x01, "user", false },
	{ 0x02, "user", true },
	{ 0x04, "group", false },
	{ 0x08, "group", true },
	{ 0x10, "mask", false },
	{ 0x20, "other", false },
};

static char *refuse(const char **why, const char *reason)
{
	*why = reason;
	return NULL;
}

char *acl_text(const void *value, size_t length, const char **why)
{
	const uint8_t *bytes = value;
	size_t n, room, used = 0;
	char *text;

	*why = NULL;
	if (length < HEADER || (length - HEADER) % ENTRY != 0)
		return refuse(why, "length is not that of an ACL");
	if (fsa_get_le32(bytes) != ACL_VERSION)
		return refuse(why, "version of the ACL is not 2");
	n = (length - HEADER) / ENTRY;
	room = n * LONGEST_ENTRY + 1;
	text = malloc(room);
	if (text == NULL)
		return NULL;
	text[0] = '\0';
	for (size_t i = 0; i < n; i++) {
		const uint8_t *entry = bytes + HEADER + i * ENTRY;
		const uint16_t tag = fsa_get_le16(entry);
		const uint16_t perm = fsa_get_le16(entry + 2);
		char id[16] = "";
		size_t t = 0;

		while (t < sizeof(tags) / sizeof(tags[0]) && tags[t].tag != tag)
			t++;
		if (t == sizeof(tags) / sizeof(tags[0]) || perm > 7) {
			free(text);
			return refuse(why, perm > 7 ? "permissions of an ACL entry are above 7"
						    : "tag of an ACL entry is unknown");
		}
		if (tags[t].has_id)
			snprintf(id, sizeof(id), "%" PRIu32, fsa_get_le32(entry + 4));
		used += (size_t)snprintf(text + used, room - used, "%s%s:%s:%c%c%c", i != 0 ? "," : "",
					 tags[t].name, id, perm & 4 ? 'r' : '-', perm & 2 ? 'w' : '-',
					 perm & 1 ? 'x' : '-');
	}
	return text;
}
