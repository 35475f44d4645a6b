/* SPDX-License-Identifier: GPL-2.0-only */
/* Clocks. */
#include <sys/resource.h>
#include <time.h>

#include "pop_stamp.h"

struct pop_stamp pop_stamp_now(void)
{
	struct timespec ts;
	struct rusage ru;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	getrusage(RUSAGE_SELF, &ru);
	return (struct pop_stamp){
		.real = (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec,
		.user = (int64_t)ru.ru_utime.tv_sec * 1000000000 +
			ru.ru_utime.tv_usec * 1000,
		.sys = (int64_t)ru.ru_stime.tv_sec * 1000000000 +
			ru.ru_stime.tv_usec * 1000,
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
