/* SPDX-License-Identifier: GPL-2.0-only */
#include "progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "format.h"

/* What is over sooner needs no line that flickers past. */
#define FIRST_AFTER_NS 700000000u
#define AGAIN_AFTER_NS 100000000u

static uint64_t now_ns(void)
{
	struct timespec t;

	if (clock_gettime(CLOCK_MONOTONIC, &t) != 0)
		return 0;
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void progress_begin(struct progress *progress, const char *what, const char *name)
{
	*progress = (struct progress){ .what = what, .name = name, .terminal = isatty(STDERR_FILENO) == 1 };
	if (progress->terminal) {
		progress->start_ns = now_ns();
		progress->next_ns = progress->start_ns + FIRST_AFTER_NS;
	}
}

static void show_rate(const struct progress *progress, uint64_t now, uint64_t done, uint64_t total)
{
	const double seconds = (double)(now - progress->start_ns) / 1e9;
	const double rate = seconds > 0 ? (double)done / seconds : 0;

	if (rate < 1)
		return;
	fprintf(stderr, " %s/s", format_human((uint64_t)rate).text);
	if (total > done)
		fprintf(stderr, " %.0f s left", (double)(total - done) / rate);
}

void progress_show(struct progress *progress, const char *what, uint64_t done, uint64_t total, bool bytes)
{
	uint64_t now;

	if (!progress->terminal)
		return;
	now = now_ns();
	if (now < progress->next_ns)
		return;
	progress->next_ns = now + AGAIN_AFTER_NS;
	progress->shown = true;
	fprintf(stderr, "\r\033[K%s: %s", progress->name, what != NULL ? what : progress->what);
	if (bytes) {
		fprintf(stderr, " %s", format_human(done).text);
		if (total == 0 && progress->expected > done)
			total = progress->expected;
		show_rate(progress, now, done, total);
	}
	if (total != 0)
		fprintf(stderr, " %u %%", (unsigned)(100.0 * (double)done / (double)total));
	fflush(stderr);
}

void progress_end(struct progress *progress)
{
	if (progress->shown)
		fputs("\r\033[K", stderr);
	progress->shown = false;
}

void progress_audit(void *arg, uint64_t done, uint64_t total)
{
	progress_show(arg, NULL, done, total, false);
}
