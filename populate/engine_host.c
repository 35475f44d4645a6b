/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The engine of the running kernel: a child with mounts of its own loops the
 * image and runs the session.  Mounts and loop devices end with the child,
 * however it ends.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/loop.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pop_job.h"
#include "shared/pop_session.h"

/* Exit statuses of the child, before a session could begin. */
enum { CHILD_OK, CHILD_SESSION, CHILD_NAMESPACE, CHILD_LOOP };

/* Loops a file; fills the device's name; returns its descriptor or -1. */
static int attach(const char *image, char *name, size_t size)
{
	struct loop_config config = {
		.info = { .lo_flags = LO_FLAGS_AUTOCLEAR },
	};
	int file = open(image, O_RDWR | O_CLOEXEC);
	int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
	int loop = -1;

	/* Another may take the free one first. */
	for (int turn = 0; file >= 0 && control >= 0 && turn < 64; turn++) {
		int number = ioctl(control, LOOP_CTL_GET_FREE);

		if (number < 0)
			break;
		snprintf(name, size, "/dev/loop%d", number);
		loop = open(name, O_RDWR | O_CLOEXEC);
		if (loop < 0)
			break;
		config.fd = (__u32)file;
		if (!ioctl(loop, LOOP_CONFIGURE, &config))
			break;
		close(loop);
		loop = -1;
		if (errno != EBUSY)
			break;
	}
	if (file >= 0)
		close(file);
	if (control >= 0)
		close(control);
	return loop;
}

/* Which device that is, for a log that is found by its number. */
static int tie_log(struct pop_job *job, int loop)
{
	struct stat st;

	if (fstat(loop, &st))
		return -errno;
	return pop_tie_log(job, major(st.st_rdev), minor(st.st_rdev));
}

static int child(struct pop_job *job)
{
	char names[POP_IMAGES][32];
	const char *devices[POP_IMAGES];
	struct pop_plan plan;
	int ret;

	if (unshare(CLONE_NEWNS) ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		return CHILD_NAMESPACE;
	for (size_t i = 0; i < job->image_count; i++) {
		int loop = attach(job->images[i].path, names[i],
				  sizeof(names[i]));

		devices[i] = names[i];
		if (loop < 0 || (i == 1 && tie_log(job, loop)))
			return CHILD_LOOP;
	}
	/* The same place as in the guest, whatever lies there outside. */
	if (mount("tmpfs", "/tmp", "tmpfs", 0, "mode=755") ||
	    mkdir("/tmp/mnt", 0755))
		return CHILD_NAMESPACE;
	ret = pop_make_plan(job, &plan, devices);
	if (!ret) {
		ret = pop_session(&plan, job->dir_fd, "/tmp/mnt");
		pop_plan_free(&plan);
	}
	return ret ? CHILD_SESSION : CHILD_OK;
}

int pop_engine_host(struct pop_job *job, char **why)
{
	int status = 0;

	if (geteuid()) {
		*why = pop_format("mounting needs root");
		return 1;
	}
	if (pop_fork_session(job, child, "the kernel did not finish in time",
			     &status))
		return -1;
	if (WIFEXITED(status) && WEXITSTATUS(status) == CHILD_NAMESPACE) {
		*why = pop_format("this process may not mount");
		return 1;
	}
	if (WIFEXITED(status) && WEXITSTATUS(status) == CHILD_LOOP) {
		*why = pop_format("there is no loop device to be had");
		return 1;
	}
	return pop_take_result(job, false, why);
}
