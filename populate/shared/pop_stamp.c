/* SPDX-License-Identifier: GPL-2.0-only */
/* Clocks. */
#include <sys/resource.h>
#include <time.h>

#include "pop_stamp.h"

static int64_t nanoseconds(struct timeval t)
{
	return (int64_t)t.tv_sec * 1000000000 + t.tv_usec * 1000;
}

struct pop_stamp pop_stamp_now(void)
{
	struct timespec ts;
	struct rusage ru, of_children;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	getrusage(RUSAGE_SELF, &ru);
	getrusage(RUSAGE_CHILDREN, &of_children);
	return (struct pop_stamp){
		.real = (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec,
		.user = nanoseconds(ru.ru_utime) +
			nanoseconds(of_children.ru_utime),
		.sys = nanoseconds(ru.ru_stime) +
			nanoseconds(of_children.ru_stime),
	};
}

struct pop_stamp pop_stamp_since(const struct pop_stamp *from)
{
	struct pop_stamp to = pop_stamp_now();

	to.real -= from->real;
	to.user -= from->user;
	to.sys -= from->sys;
	return to;
}
