/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Children: started in groups of their own so that nothing of them survives,
 * waited for with a time limit and an eye on signals.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "pop_job.h"
#include "shared/pop_session.h"

#define DEFAULT_TIMEOUT	3600
#define TICK_MS		250

char *pop_find_program(const char *name)
{
	const char *env = getenv("PATH");
	char *list, *save = NULL, *found = NULL;

	/* An ordinary user's PATH lacks where mkfs programs live. */
	list = pop_format("%s:/usr/local/sbin:/usr/sbin:/sbin:/usr/bin:/bin",
			  env ? env : "");
	if (!list)
		return NULL;
	for (char *d = strtok_r(list, ":", &save); d && !found;
	     d = strtok_r(NULL, ":", &save)) {
		char *path = pop_format("%s/%s", d, name);

		if (path && d[0] == '/' && !access(path, X_OK))
			found = path;
		else
			free(path);
	}
	free(list);
	return found;
}

void pop_child_begin(const struct pop_job *job)
{
	setpgid(0, 0);
	/* Should this process be killed the hard way, the child goes too. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigprocmask(SIG_SETMASK, &job->old_mask, NULL);
}

pid_t pop_spawn(struct pop_job *job, char *const argv[], const char *output,
		const char *preload)
{
	int in = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int out = openat(job->dir_fd, output, O_WRONLY | O_CREAT | O_TRUNC |
			 O_APPEND | O_CLOEXEC, 0600);
	pid_t pid = -1;
	int err = errno;

	if (in >= 0 && out >= 0) {
		pid = fork();
		err = errno;
	}
	if (pid == 0) {
		pop_child_begin(job);
		if (dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0 ||
		    fchdir(job->dir_fd))
			_exit(126);
		setenv("LC_ALL", "C", 1);
		if (preload)
			setenv("LD_PRELOAD", preload, 1);
		execv(argv[0], argv);
		dprintf(2, "%s: %s\n", argv[0], strerror(errno));
		_exit(127);
	}
	if (pid > 0)
		setpgid(pid, pid);
	if (in >= 0)
		close(in);
	if (out >= 0)
		close(out);
	return pid < 0 ? -err : pid;
}

static int64_t milliseconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* Ends what is left of a group and takes it out of the process table. */
static void end_group(pid_t pid)
{
	pid_t got;

	kill(-pid, SIGKILL);
	do
		got = waitpid(-pid, NULL, __WALL);
	while (got > 0 || (got < 0 && errno == EINTR));
}

int pop_wait(struct pop_job *job, pid_t pid, void (*tick)(struct pop_job *job),
	     int *status, struct rusage *usage)
{
	uint32_t limit = job->o->timeout ? job->o->timeout : DEFAULT_TIMEOUT;
	int64_t deadline = milliseconds() + (int64_t)limit * 1000;
	int fd = pidfd_open(pid, 0);
	int ret = fd < 0 ? -errno : 0;
	int reaper = 0;

	/* Orphans of user-mode Linux come here, not to a deaf first process. */
	prctl(PR_GET_CHILD_SUBREAPER, &reaper);
	prctl(PR_SET_CHILD_SUBREAPER, 1);

	while (!ret) {
		struct pollfd p[2] = {
			{ .fd = fd, .events = POLLIN },
			{ .fd = job->signals, .events = POLLIN },
		};
		int n = poll(p, 2, TICK_MS);

		if (n < 0 && errno != EINTR)
			ret = -errno;
		else if (n > 0 && p[0].revents)
			break;
		else if (n > 0 && p[1].revents)
			ret = -EINTR;
		else if (milliseconds() > deadline)
			ret = -ETIMEDOUT;
		else if (tick)
			tick(job);
	}
	if (ret)
		kill(pid, SIGKILL);
	while (wait4(pid, status, 0, usage) < 0 && errno == EINTR)
		;
	end_group(pid);
	prctl(PR_SET_CHILD_SUBREAPER, reaper);
	if (fd >= 0)
		close(fd);
	return ret;
}

void pop_session_tick(struct pop_job *job)
{
	char text[32];
	ssize_t n;
	int fd;

	if (!job->o->progress)
		return;
	fd = openat(job->dir_fd, POP_PROGRESS_FILE, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return;
	text[n] = '\0';
	job->o->progress(job->o->ctx, "files",
			 strtoull(text, NULL, 10), 0);
}

int pop_fork_session(struct pop_job *job, int (*child)(struct pop_job *job),
		     const char *late, int *status)
{
	pid_t pid = fork();
	int ret;

	if (pid < 0) {
		pop_fail(job, "fork: %s", strerror(errno));
		return -1;
	}
	if (pid == 0) {
		pop_child_begin(job);
		_exit(child(job));
	}
	setpgid(pid, pid);
	ret = pop_wait(job, pid, pop_session_tick, status, NULL);
	if (ret)
		pop_fail(job, "%s", ret == -EINTR ? "interrupted" : late);
	return ret ? -1 : 0;
}
