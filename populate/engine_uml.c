/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The engine that runs the real drivers in an ordinary process: user-mode
 * Linux, whose root is the host's tree (so that df is at hand) and whose
 * first process is our guest program.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "blobs.h"
#include "pop_job.h"
#include "shared/pop_session.h"
#include "words.h"

#define CONSOLE_FILE	"console"
#define GUEST_FILE	"guest"
#define PRELOAD_FILE	"uml_ptrace.so"

/* The image is ubdb; the others follow. */
#define LETTER(i)	((char)('b' + (i)))
#define UBD_MAJOR	98
#define UBD_MINORS	16	/* of each */

static int write_blob(struct pop_job *job, const char *name,
		      const unsigned char *p, const unsigned char *end)
{
	size_t left = (size_t)(end - p);
	int fd = openat(job->dir_fd, name, O_WRONLY | O_CREAT | O_EXCL |
			O_CLOEXEC, 0700);

	if (fd < 0)
		return -errno;
	while (left) {
		ssize_t n = write(fd, p, left);

		if (n < 0) {
			int err = errno;

			close(fd);
			return -err;
		}
		p += n;
		left -= (size_t)n;
	}
	return close(fd) ? -errno : 0;
}

/*
 * Names in the temporary directory stand for the images: the command line
 * of the kernel knows no quoting, and a comma would mean something in it.
 */
static int prepare(struct pop_job *job)
{
	char names[POP_IMAGES][16], disk[32];
	const char *devices[POP_IMAGES];
	struct pop_plan plan;
	int ret = write_blob(job, GUEST_FILE, pop_guest_blob,
			     pop_guest_blob_end);

	if (!ret)
		ret = write_blob(job, PRELOAD_FILE, pop_preload_blob,
				 pop_preload_blob_end);

	for (size_t i = 0; i < job->image_count; i++) {
		snprintf(disk, sizeof(disk), "disk%zu", i);
		snprintf(names[i], sizeof(names[i]), "/dev/ubd%c", LETTER(i));
		devices[i] = names[i];
		if (!ret && symlinkat(job->images[i].path, job->dir_fd, disk))
			ret = -errno;
	}
	if (!ret)
		ret = pop_tie_log(job, UBD_MAJOR, 2 * UBD_MINORS);
	if (!ret)
		ret = pop_make_plan(job, &plan, devices);
	if (!ret) {
		ret = pop_plan_write(&plan, job->dir_fd, POP_PLAN_FILE);
		pop_plan_free(&plan);
	}
	return ret;
}

/* Fills status with that of user-mode Linux. */
static int boot(struct pop_job *job, char *kernel, int *status)
{
	static const char *const fixed[] = {
		"mem=384M", "root=/dev/root", "rootfstype=hostfs", "rw",
		"con=null", "con0=null,fd:1", "loglevel=5",
	};
	struct pop_words w = { 0 };
	char *word, *preload;
	int ret = -ENOMEM;

	pop_words_add(&w, kernel);
	for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
		pop_words_add(&w, fixed[i]);
	for (size_t i = 0; i < job->image_count; i++) {
		word = pop_format("ubd%c=disk%zu", LETTER(i), i);
		pop_words_add(&w, word ? word : "");
		free(word);
	}
	word = pop_format("init=%s/" GUEST_FILE, job->dir);
	pop_words_add(&w, word ? word : "");
	free(word);
	word = pop_format("fsassay_dir=%s", job->dir);
	pop_words_add(&w, word ? word : "");
	free(word);
	word = pop_format("uml_dir=%s/", job->dir);
	pop_words_add(&w, word ? word : "");
	free(word);
	preload = pop_format("%s/" PRELOAD_FILE, job->dir);
	if (!w.failed && preload) {
		pid_t pid = pop_spawn(job, w.word, CONSOLE_FILE, preload);

		ret = pid < 0 ? (int)pid :
			pop_wait(job, pid, pop_session_tick, status, NULL);
	}
	free(preload);
	pop_words_free(&w);
	return ret;
}

/* The kernel's own words, when it stopped itself: the first line that says so. */
static void add_panic(struct pop_job *job)
{
	const char *line = job->r->log, *end;
	char *said;

	for (; line && *line; line = *end ? end + 1 : end) {
		end = strchrnul(line, '\n');
		said = strndup(line, (size_t)(end - line));
		if (said && strstr(said, "panic") && job->r->error) {
			char *both = pop_format("%s: %s", job->r->error, said);

			if (both) {
				free(job->r->error);
				job->r->error = both;
			}
			free(said);
			return;
		}
		free(said);
	}
}

int pop_engine_uml(struct pop_job *job, char **why)
{
	char *kernel;
	int ret, status = 0;

	if (job->fs->not_in_uml) {
		*why = pop_format("user-mode Linux has no driver for it");
		return 1;
	}
	kernel = pop_find_program("linux.uml");
	if (!kernel)
		kernel = pop_find_program("linux");
	if (!kernel) {
		*why = pop_format("user-mode Linux is not installed");
		return 1;
	}
	ret = prepare(job);
	if (!ret)
		ret = boot(job, kernel, &status);
	free(kernel);
	if (ret) {
		pop_keep_log(job, CONSOLE_FILE);
		if (ret == -EINTR)
			pop_fail(job, "interrupted");
		else if (ret == -ETIMEDOUT)
			pop_fail(job, "user-mode Linux did not finish in time "
				 "and was stopped");
		else
			pop_fail(job, "user-mode Linux: %s", strerror(-ret));
		return -1;
	}
	if (faccessat(job->dir_fd, POP_RESULT_FILE, F_OK, 0)) {
		pop_keep_log(job, CONSOLE_FILE);
		*why = pop_format("user-mode Linux does not boot: it ended "
				  "with %s %d", WIFSIGNALED(status) ?
				  "signal" : "status", WIFSIGNALED(status) ?
				  WTERMSIG(status) : WEXITSTATUS(status));
		return 1;
	}
	ret = pop_take_result(job, true, why);
	if (ret) {
		pop_keep_log(job, POP_KMSG_FILE);
		pop_keep_log(job, CONSOLE_FILE);
		if (ret < 0)
			add_panic(job);
	}
	return ret;
}
