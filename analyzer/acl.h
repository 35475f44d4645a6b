/* SPDX-License-Identifier: GPL-2.0-only */
/* POSIX ACLs: from the form in which Linux hands them out as extended attributes to text. */
#ifndef FSA_ANALYZER_ACL_H
#define FSA_ANALYZER_ACL_H

#include <stddef.h>

/*
 * The value of "system.posix_acl_access" or "..._default" (version 2: a header and eight bytes an entry,
 * little-endian) as "user::rw-,user:1000:r--,group::r--,mask::r--,other::---", malloc'd. NULL when it is
 * not such a value (*why says what is wrong with it, static) or out of memory (*why is NULL).
 */
char *acl_text(const void *value, size_t length, const char **why);

#endif
