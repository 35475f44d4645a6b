/* SPDX-License-Identifier: GPL-2.0-only */
#include "writebehind.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Large enough for few switches, small enough to stay in the processor's cache. */
#define BUFFER (256u << 10)
#define BUFFERS 4u

struct writebehind {
	int fd;
	writebehind_fn take;		/* in place of fd; or NULL */
	void *take_arg;
	bool (*stop)(void *arg);
	void *stop_arg;
	int error;			/* as the caller knows it */
	uint8_t *buffers[BUFFERS];
	size_t used[BUFFERS];
	unsigned filling;		/* the caller's buffer */
	bool threaded;
	pthread_t thread;
	sigset_t old_mask;
	/* Under the lock: */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	unsigned writing;		/* the thread's buffer */
	unsigned queued;		/* buffers that are full, from `writing` on */
	bool finish;
	int thread_error;
};

static int write_all(const struct writebehind *w, const uint8_t *data, size_t length)
{
	while (length != 0) {
		ssize_t n;

		if (w->stop != NULL && w->stop(w->stop_arg))
			return ECANCELED;
		if (w->take != NULL)
			return w->take(w->take_arg, data, length);
		n = write(w->fd, data, length);
		if (n < 0) {
			if (errno == EINTR)
				continue;
			return errno;
		}
		data += n;
		length -= (size_t)n;
	}
	return 0;
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
			error = write_all(w, w->buffers[at], w->used[at]);
		pthread_mutex_lock(&w->lock);
		w->thread_error = error;
		w->writing = (at + 1) % BUFFERS;
		w->queued--;
		pthread_cond_broadcast(&w->changed);
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

static void free_memory(struct writebehind *w)
{
	for (unsigned i = 0; i < BUFFERS; i++)
		free(w->buffers[i]);
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
		w->buffers[i] = malloc(BUFFER);
		if (w->buffers[i] == NULL) {
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
		w->error = write_all(w, w->buffers[w->filling], w->used[w->filling]);
		w->used[w->filling] = 0;
		return w->error == 0;
	}
	pthread_mutex_lock(&w->lock);
	w->queued++;
	pthread_cond_broadcast(&w->changed);
	while (w->queued == BUFFERS)
		pthread_cond_wait(&w->changed, &w->lock);
	w->error = w->thread_error;
	pthread_mutex_unlock(&w->lock);
	w->filling = (w->filling + 1) % BUFFERS;
	w->used[w->filling] = 0;
	return w->error == 0;
}

bool writebehind_put(struct writebehind *w, const void *data, uint64_t length)
{
	const uint8_t *bytes = data;

	if (w->error != 0)
		return false;
	while (length != 0) {
		const size_t used = w->used[w->filling];
		const size_t step = (size_t)(length < BUFFER - used ? length : BUFFER - used);

		if (bytes != NULL) {
			memcpy(w->buffers[w->filling] + used, bytes, step);
			bytes += step;
		} else {
			memset(w->buffers[w->filling] + used, 0, step);
		}
		w->used[w->filling] = used + step;
		length -= step;
		if (w->used[w->filling] == BUFFER && !hand_over(w))
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
