/* SPDX-License-Identifier: GPL-2.0-only */
/* Real, user and system time of this process and its ended children. */
#ifndef FSA_POP_STAMP_H
#define FSA_POP_STAMP_H

#include <stdint.h>

struct pop_stamp {
	int64_t real, user, sys;	/* nanoseconds */
};

struct pop_stamp pop_stamp_now(void);
struct pop_stamp pop_stamp_since(const struct pop_stamp *from);

#endif
