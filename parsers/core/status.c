/* SPDX-License-Identifier: GPL-2.0-only */
#include "fsa/status.h"

#include <stdio.h>

enum fsa_status fsa_fail(struct fsa_error *err, enum fsa_status status, const char *fmt, ...)
{
	if (err) {
		va_list ap;

		err->status = status;
		va_start(ap, fmt);
		vsnprintf(err->message, sizeof(err->message), fmt, ap);
		va_end(ap);
	}
	return status;
}

const char *fsa_status_name(enum fsa_status status)
{
	switch (status) {
	case FSA_OK: return "ok";
	case FSA_STOP: return "stopped";
	case FSA_ENOMEM: return "out of memory";
	case FSA_EIO: return "read error";
	case FSA_ERANGE: return "behind the end of the image";
	case FSA_EDAMAGED: return "damaged";
	case FSA_ENOENT: return "not found";
	case FSA_ENOTDIR: return "not a directory";
	case FSA_EUNSUPPORTED: return "not supported";
	case FSA_EINVAL: return "invalid argument";
	case FSA_ESYSTEM: return "system error";
	}
	return "unknown status";
}
