/* SPDX-License-Identifier: GPL-2.0-only */
#include "writebehind.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "fsa/bytes.h"

/* Large enough for few switches, small enough to stay in the processor's cache. */
#define BUFFER (256u << 10)
#define BUFFERS 4u
/* Pieces of one buffer: what was copied, and what stays where it is. */
#define PIECES 128u
/* Below this a copy costs less than a piece of its own. */
#define LEAST_LENT 2048u

struct buffer {
	uint8_t *bytes;
	size_t used;
	struct iovec pieces[PIECES];
	unsigned n_pieces;
	size_t length;			/* of all pieces */
};

struct writebehind {
	int fd;
	writebehind_fn take;		/* in place of fd; or NULL */
	void *take_arg;
	bool (*stop)(void *arg);
	void *stop_arg;
	int error;			/* as the caller knows it */
	struct buffer buffers[BUFFERS];
	unsigned filling;		/* the caller's buffer */
	const uint8_t *lent;
	size_t lent_length;
	bool threaded;
	pthread_t thread;
	sigset_t old_mask;
	/* Under the lock: */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	unsigned writing;		/* the thread's buffer */
	unsigned queued;		/* buffers that are full, from `writing` on */
	uint64_t handed_over, written;	/* buffers so far */
	uint64_t settled;		/* handed over before the last writebehind_settle() */
	bool finish;
	int thread_error;
};

/* Takes what was written off the front of the pieces. */
static void take_off(struct iovec **pieces, unsigned *n, size_t written)
{
	while (*n != 0 && written >= (*pieces)->iov_len) {
		written -= (*pieces)->iov_len;
		++*pieces;
		--*n;
	}
	if (written != 0) {
		(*pieces)->iov_base = (uint8_t *)(*pieces)->iov_base + written;
		(*pieces)->iov_len -= written;
	}
}

static int write_all(const struct writebehind *w, struct buffer *buffer)
{
	struct iovec *pieces = buffer->pieces;
	unsigned n = buffer->n_pieces;

	while (n != 0) {
		ssize_t written;

		if (w->stop != NULL && w->stop(w->stop_arg))
			return ECANCELED;
		if (w->take != NULL) {
			const int error = w->take(w->take_arg, pieces->iov_base, pieces->iov_len);

			if (error != 0)
				return error;
			written = (ssize_t)pieces->iov_len;
		} else {
			written = writev(w->fd, pieces, (int)n);
		}
		if (written < 0) {
			if (errno == EINTR)
				continue;
			return errno;
		}
		take_off(&pieces, &n, (size_t)written);
	}
	return 0;
}

static void empty(struct buffer *buffer)
{
	buffer->used = 0;
	buffer->n_pieces = 0;
	buffer->length = 0;
}

static void *write_loop(void *arg)
{
	struct writebehind *w = arg;

	pthread_mutex_lock(&w->lock);
	for (;;) {
		const unsigned at = w->writing;
		int error = w->thread_error;

		if (w->queued == 0) {
			if (w->finish)
				break;
			pthread_cond_wait(&w->changed, &w->lock);
			continue;
		}
		pthread_mutex_unlock(&w->lock);
		/* After a failure what still comes is thrown away: nobody waits for it. */
		if (error == 0)
			error = write_all(w, &w->buffers[at]);
		pthread_mutex_lock(&w->lock);
		w->thread_error = error;
		w->writing = (at + 1) % BUFFERS;
		w->queued--;
		w->written++;
		pthread_cond_broadcast(&w->changed);
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

static void free_memory(struct writebehind *w)
{
	for (unsigned i = 0; i < BUFFERS; i++)
		free(w->buffers[i].bytes);
	free(w);
}

static struct writebehind *start(int fd, writebehind_fn take, void *take_arg, bool (*stop)(void *arg), void *arg)
{
	struct writebehind *w = calloc(1, sizeof(*w));
	sigset_t blocked;

	if (w == NULL)
		return NULL;
	w->fd = fd;
	w->take = take;
	w->take_arg = take_arg;
	w->stop = stop;
	w->stop_arg = arg;
	for (unsigned i = 0; i < BUFFERS; i++) {
		w->buffers[i].bytes = malloc(BUFFER);
		if (w->buffers[i].bytes == NULL) {
			free_memory(w);
			return NULL;
		}
	}
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->changed, NULL);
	/* Where no thread can be had, the caller writes itself. */
	w->threaded = pthread_create(&w->thread, NULL, write_loop, w) == 0;
	if (w->threaded) {
		sigemptyset(&blocked);
		sigaddset(&blocked, SIGINT);
		sigaddset(&blocked, SIGTERM);
		sigaddset(&blocked, SIGHUP);
		pthread_sigmask(SIG_BLOCK, &blocked, &w->old_mask);
	}
	return w;
}

struct writebehind *writebehind_new(int fd, bool (*stop)(void *arg), void *arg)
{
	return start(fd, NULL, NULL, stop, arg);
}

struct writebehind *writebehind_new_to(writebehind_fn take, void *take_arg, bool (*stop)(void *arg), void *arg)
{
	return start(-1, take, take_arg, stop, arg);
}

void writebehind_free(struct writebehind *w)
{
	if (w == NULL)
		return;
	if (w->threaded) {
		pthread_mutex_lock(&w->lock);
		w->finish = true;
		pthread_cond_broadcast(&w->changed);
		pthread_mutex_unlock(&w->lock);
		pthread_join(w->thread, NULL);
		pthread_sigmask(SIG_SETMASK, &w->old_mask, NULL);
	}
	pthread_cond_destroy(&w->changed);
	pthread_mutex_destroy(&w->lock);
	free_memory(w);
}

int writebehind_error(const struct writebehind *w)
{
	return w->error;
}

/* Hands the caller's buffer over and waits for the next one to be empty. */
static bool hand_over(struct writebehind *w)
{
	if (w->error != 0)
		return false;
	if (!w->threaded) {
		w->error = write_all(w, &w->buffers[w->filling]);
		empty(&w->buffers[w->filling]);
		return w->error == 0;
	}
	pthread_mutex_lock(&w->lock);
	w->queued++;
	w->handed_over++;
	pthread_cond_broadcast(&w->changed);
	while (w->queued == BUFFERS)
		pthread_cond_wait(&w->changed, &w->lock);
	w->error = w->thread_error;
	pthread_mutex_unlock(&w->lock);
	w->filling = (w->filling + 1) % BUFFERS;
	empty(&w->buffers[w->filling]);
	return w->error == 0;
}

void writebehind_lend(struct writebehind *w, const void *bytes, size_t length)
{
	w->lent = bytes;
	w->lent_length = length;
}

static bool is_lent(const struct writebehind *w, const uint8_t *bytes, uint64_t length)
{
	return w->lent != NULL && bytes != NULL && length >= LEAST_LENT && (uintptr_t)bytes >= (uintptr_t)w->lent &&
	       fsa_within((uintptr_t)bytes - (uintptr_t)w->lent, length, w->lent_length);
}

static void add_piece(struct buffer *buffer, const uint8_t *bytes, size_t length)
{
	struct iovec *last = buffer->n_pieces != 0 ? &buffer->pieces[buffer->n_pieces - 1] : NULL;

	buffer->length += length;
	if (last != NULL && (const uint8_t *)last->iov_base + last->iov_len == bytes)
		last->iov_len += length;
	else
		/* Nobody writes to it: the type of the member has no const. */
		buffer->pieces[buffer->n_pieces++] = (struct iovec){ (void *)(uintptr_t)bytes, length };
}

bool writebehind_put(struct writebehind *w, const void *data, uint64_t length)
{
	const uint8_t *bytes = data;

	if (w->error != 0)
		return false;
	while (length != 0) {
		struct buffer *buffer = &w->buffers[w->filling];
		size_t step;

		if (is_lent(w, bytes, length)) {
			step = (size_t)length;
			add_piece(buffer, bytes, step);
		} else {
			uint8_t *to = buffer->bytes + buffer->used;

			step = (size_t)fsa_min(length, BUFFER - buffer->used);
			if (bytes != NULL)
				memcpy(to, bytes, step);
			else
				memset(to, 0, step);
			buffer->used += step;
			add_piece(buffer, to, step);
		}
		length -= step;
		bytes = bytes != NULL ? bytes + step : NULL;
		if ((buffer->used == BUFFER || buffer->length >= BUFFER || buffer->n_pieces == PIECES) && !hand_over(w))
			return false;
	}
	return true;
}

bool writebehind_flush(struct writebehind *w)
{
	if (!hand_over(w) || !w->threaded)
		return w->error == 0;
	pthread_mutex_lock(&w->lock);
	while (w->queued != 0)
		pthread_cond_wait(&w->changed, &w->lock);
	w->error = w->thread_error;
	pthread_mutex_unlock(&w->lock);
	return w->error == 0;
}

bool writebehind_settle(struct writebehind *w)
{
	if (!hand_over(w) || !w->threaded)
		return w->error == 0;
	pthread_mutex_lock(&w->lock);
	while (w->written < w->settled)
		pthread_cond_wait(&w->changed, &w->lock);
	w->settled = w->handed_over;
	w->error = w->thread_error;
	pthread_mutex_unlock(&w->lock);
	return w->error == 0;
}
