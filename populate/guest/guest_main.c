/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The first and only process of a user-mode Linux whose root is the host's
 * own tree.  The kernel hands "fsassay_dir=DIR" of its command line to it as
 * an environment variable; everything goes through files in that directory.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "../shared/pop_session.h"

#define KLOG_READ_ALL	3
#define KLOG_CLEAR	5
#define KLOG_ROOM	262144

/*
 * Debian's user-mode Linux has quotas as modules and no program to load
 * them; where they are built in or absent the attempt does no harm.
 */
static void load_quota_modules(void)
{
	static const char *const names[] = { "quota_tree", "quota_v2" };
	static const char *const places[] = {
		"/usr/lib/uml/modules", "/lib/modules",
	};
	struct utsname uts;
	char path[512];

	if (uname(&uts))
		return;
	for (size_t i = 0; i < 2; i++)
		for (size_t p = 0; p < 2; p++) {
			int fd;

			snprintf(path, sizeof(path),
				 "%s/%s/kernel/fs/quota/%s.ko", places[p],
				 uts.release, names[i]);
			fd = open(path, O_RDONLY | O_CLOEXEC);
			if (fd < 0)
				continue;
			if (syscall(SYS_finit_module, fd, "", 0))
				perror(path);
			close(fd);
			break;
		}
}

static void save_kernel_log(int dir)
{
	char *log = malloc(KLOG_ROOM);
	int n = log ? klogctl(KLOG_READ_ALL, log, KLOG_ROOM) : -1;
	int fd;

	if (n > 0) {
		fd = openat(dir, POP_KMSG_FILE, O_WRONLY | O_CREAT | O_TRUNC,
			    0600);
		if (fd >= 0 && write(fd, log, (size_t)n) < 0)
			perror(POP_KMSG_FILE);
		if (fd >= 0)
			close(fd);
	}
	free(log);
}

static int guest(const char *path)
{
	struct pop_tree tree = { .fd = -1 };
	struct pop_plan plan;
	int dir, ret;

	dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0) {
		perror(path);
		return -errno;
	}
	ret = pop_plan_read(&plan, dir, POP_PLAN_FILE);
	if (ret) {
		fprintf(stderr, "%s/%s: %s\n", path, POP_PLAN_FILE,
			strerror(-ret));
		return ret;
	}
	/* Before anything is hidden: it may lie anywhere. */
	if (*plan.tree) {
		ret = pop_tree_load(&tree, plan.tree);
		if (ret) {
			fprintf(stderr, "%s: %s\n", plan.tree,
				strerror(-ret));
			return ret;
		}
		plan.loaded = &tree;
	}
	/* These hide the host's in this kernel only. */
	if (mount("devtmpfs", "/dev", "devtmpfs", 0, NULL) && errno != EBUSY)
		perror("/dev");
	if (mount("proc", "/proc", "proc", 0, NULL))
		perror("/proc");
	/* A place of its own, whatever directories the host has. */
	if (mount("tmpfs", "/tmp", "tmpfs", 0, "mode=755"))
		perror("/tmp");
	if (mkdir("/tmp/mnt", 0755))
		perror("/tmp/mnt");

	load_quota_modules();
	/* What it says from here on is what matters. */
	klogctl(KLOG_CLEAR, NULL, 0);
	ret = pop_session(&plan, dir, "/tmp/mnt");
	if (ret)
		save_kernel_log(dir);
	pop_plan_free(&plan);
	pop_tree_free(&tree);
	close(dir);
	return ret;
}

int main(void)
{
	const char *path = getenv("fsassay_dir");

	if (getpid() != 1) {
		fputs("fsassay-guest: runs as the first process of user-mode "
		      "Linux only\n", stderr);
		return 2;
	}
	if (path)
		guest(path);
	else
		fputs("fsassay-guest: no fsassay_dir on the command line\n",
		      stderr);
	sync();
	reboot(RB_POWER_OFF);
	return 2;
}
