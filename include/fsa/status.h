/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Program trouble travels up as a status; damage in an image does not: it is a finding (finding.h).
 */
#ifndef FSA_STATUS_H
#define FSA_STATUS_H

#include <stdarg.h>

enum fsa_status {
	FSA_OK = 0,
	FSA_STOP,		/* a callback asked for an early end; not an error */
	FSA_ENOMEM,		/* out of memory */
	FSA_EIO,		/* the host could not read these bytes */
	FSA_ERANGE,		/* the bytes lie behind the end of the image */
	FSA_EDAMAGED,		/* on-disk structure is unusable; a finding says why */
	FSA_ENOENT,		/* no such path, name or partition */
	FSA_ENOTDIR,		/* a path component is not a directory */
	FSA_EUNSUPPORTED,	/* recognised, but not something fsassay reads */
	FSA_EINVAL,		/* the caller's argument makes no sense */
	FSA_ESYSTEM,		/* a system call failed; the message has errno's text */
};

/*
 * What went wrong, for a human. Filled by functions that can refuse as a whole; `message` has no
 * trailing newline and names the image.
 */
struct fsa_error {
	enum fsa_status status;
	char message[1024];
};

/* Sets *err (which may be NULL) and returns status, so that callers can `return fsa_fail(...)`. */
enum fsa_status fsa_fail(struct fsa_error *err, enum fsa_status status, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* A short English name of the status, never NULL, static. */
const char *fsa_status_name(enum fsa_status status);

#endif
