/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writing to a descriptor behind the caller's back: what is put waits in a few buffers while a thread writes,
 * so that reading an image and filling a pipe go on at the same time.
 */
#ifndef FSA_ANALYZER_WRITEBEHIND_H
#define FSA_ANALYZER_WRITEBEHIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct writebehind;

/*
 * `fd` stays the caller's. `stop` is looked at before each write (NULL: never) and ends the writing when it
 * returns true; it is called from the thread. Until writebehind_free() SIGINT, SIGTERM and SIGHUP are blocked
 * in the calling thread, so that they interrupt the write that waits. NULL when out of memory.
 */
struct writebehind *writebehind_new(int fd, bool (*stop)(void *arg), void *arg);
/* The same with `take` in place of a descriptor: called from the thread, piece by piece; returns errno or 0. */
typedef int (*writebehind_fn)(void *arg, const void *data, size_t length);
struct writebehind *writebehind_new_to(writebehind_fn take, void *take_arg, bool (*stop)(void *arg), void *arg);
void writebehind_free(struct writebehind *w);

/* NULL are zeros. False once anything went wrong. */
bool writebehind_put(struct writebehind *w, const void *data, uint64_t length);
/*
 * `length` bytes at `bytes` are the caller's: what is put out of them is written from there, and not copied first. It
 * must stay as it is until writebehind_flush() or the second writebehind_settle() after it was put. NULL and 0 end it.
 */
void writebehind_lend(struct writebehind *w, const void *bytes, size_t length);
/* Waits until everything is written that was put before the last call of this. */
bool writebehind_settle(struct writebehind *w);
/* Waits until everything is written. */
bool writebehind_flush(struct writebehind *w);
/* errno of the failure, 0 when there was none, ECANCELED when stop() said so. */
int writebehind_error(const struct writebehind *w);

#endif
