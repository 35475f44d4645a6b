/* SPDX-License-Identifier: GPL-2.0-only */
/* Listing and removing, depth first. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pop_remove.h"

static int pass(int fd, unsigned depth, bool remove);

static int take_name(int dir, const char *name, unsigned depth, bool remove)
{
	struct stat st;
	int sub, ret;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW))
		return -errno;
	if (!S_ISDIR(st.st_mode))
		return remove && unlinkat(dir, name, 0) ? -errno : 0;
	if (depth == 0 && !strcmp(name, "lost+found"))
		return 0;
	sub = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
		     O_CLOEXEC);
	ret = sub < 0 ? -errno : pass(sub, depth + 1, remove);
	if (!ret && remove && unlinkat(dir, name, AT_REMOVEDIR))
		ret = -errno;
	return ret;
}

/* Takes fd over.  Returns how many names it saw, or a negative errno. */
static int pass_once(DIR *d, unsigned depth, bool remove)
{
	struct dirent *e;
	int seen = 0, ret;

	while ((errno = 0, e = readdir(d))) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..") ||
		    (depth == 0 && !strcmp(e->d_name, "lost+found")))
			continue;
		seen = 1;
		ret = take_name(dirfd(d), e->d_name, depth, remove);
		if (ret)
			return ret;
	}
	return errno ? -errno : seen;
}

/*
 * A directory that changes under its reader may hide names from it, so it is
 * read again until nothing is in it.  The depth is bounded by the longest
 * path that could be made.
 */
static int pass(int fd, unsigned depth, bool remove)
{
	DIR *d = fdopendir(fd);
	int ret;

	if (!d) {
		int err = errno;

		close(fd);
		return -err;
	}
	ret = pass_once(d, depth, remove);
	while (remove && ret > 0) {
		rewinddir(d);
		ret = pass_once(d, depth, remove);
	}
	closedir(d);
	return ret < 0 ? ret : 0;
}

static int pass_all(bool remove)
{
	int fd = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -errno : pass(fd, 0, remove);
}

int pop_list_all(void)
{
	return pass_all(false);
}

int pop_remove_all(void)
{
	return pass_all(true);
}
