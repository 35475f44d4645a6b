/* SPDX-License-Identifier: GPL-2.0-only */
/* A progress line on stderr: only when that is a terminal, and only once something takes long. */
#ifndef FSA_ANALYZER_PROGRESS_H
#define FSA_ANALYZER_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	const char *what;	/* "audit of disk.img" is "audit" here and the name below */
	const char *name;
	bool terminal;
	bool shown;
	uint64_t start_ns, next_ns;
	uint64_t expected;	/* bytes in all, about, where progress_show() is not told; 0: not known */
};

void progress_begin(struct progress *progress, const char *what, const char *name);
/* `total` 0: not known. `bytes`: both are numbers of bytes, and the rate is shown and the time that is left. */
void progress_show(struct progress *progress, const char *what, uint64_t done, uint64_t total, bool bytes);
/* Takes the line away again. */
void progress_end(struct progress *progress);

/* The form of fsa_audit.progress; `arg` is a struct progress. */
void progress_audit(void *arg, uint64_t done, uint64_t total);

#endif
