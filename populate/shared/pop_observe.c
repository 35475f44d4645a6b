/* SPDX-License-Identifier: GPL-2.0-only */
/* Asking the kernel: statfs, df, lstat of everything. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pop_observe.h"
#include "pop_text.h"

#define TAR_BUF	((size_t)64 * 1024)

int pop_observe_statfs(FILE *out, const char *label)
{
	struct statfs st;

	if (statfs(".", &st))
		return -errno;
	fprintf(out, "statfs %s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
		" %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", label,
		(uint64_t)st.f_bsize, (uint64_t)st.f_frsize,
		(uint64_t)st.f_blocks, (uint64_t)st.f_bfree,
		(uint64_t)st.f_bavail, (uint64_t)st.f_files,
		(uint64_t)st.f_ffree);
	return 0;
}

/* Starts a command with its standard output in a pipe; returns the pipe. */
static int start(char *const argv[], pid_t *pid)
{
	char locale[] = "LC_ALL=C", path[] = "PATH=/usr/bin:/bin";
	char *const env[] = { locale, path, NULL };
	int fds[2], err;

	if (pipe2(fds, O_CLOEXEC))
		return -errno;
	*pid = fork();
	err = errno;
	if (*pid == 0) {
		int null = open("/dev/null", O_RDWR);

		dup2(null, 0);
		dup2(fds[1], 1);
		dup2(null, 2);
		execvpe(argv[0], argv, env);
		_exit(127);
	}
	close(fds[1]);
	if (*pid < 0) {
		close(fds[0]);
		return -err;
	}
	return fds[0];
}

/* -ENOENT when it is not there or says that it failed. */
static int finish(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -ENOENT;
}

/* The last line that the command prints, without its end. */
static int last_line_of(char *const argv[], char *buf, size_t size)
{
	char line[1024];
	pid_t pid;
	FILE *f;
	int ret, fd = start(argv, &pid);

	buf[0] = '\0';
	if (fd < 0)
		return fd;
	f = fdopen(fd, "r");
	if (f) {
		while (fgets(line, sizeof(line), f))
			snprintf(buf, size, "%s", line);
		fclose(f);
	} else {
		close(fd);
	}
	ret = finish(pid);
	if (!ret && !buf[0])
		ret = -ENOENT;
	buf[strcspn(buf, "\n")] = '\0';
	return ret;
}

bool pop_observe_reads(const char *device, uint64_t *bytes)
{
	const char *slash = strrchr(device, '/');
	FILE *f = fopen("/proc/diskstats", "re");
	char line[512], name[64];
	uint64_t sectors;
	bool found = false;

	while (f && !found && fgets(line, sizeof(line), f))
		found = sscanf(line, "%*u %*u %63s %*u %*u %" SCNu64, name,
			       &sectors) == 2 &&
			!strcmp(name, slash ? slash + 1 : device);
	if (f)
		fclose(f);
	if (found)
		*bytes = sectors * 512;
	return found;
}

int pop_observe_tar(bool pipe_it)
{
	char tar[] = "tar", how[] = "-cf", null[] = "/dev/null", out[] = "-";
	char here[] = ".";
	char *argv[] = { tar, how, pipe_it ? out : null, here, NULL };
	char *buf = malloc(TAR_BUF);
	pid_t pid;
	ssize_t n;
	int fd, ret;

	if (!buf)
		return -ENOMEM;
	fd = start(argv, &pid);
	ret = fd < 0 ? fd : 0;
	while (!ret && (n = read(fd, buf, TAR_BUF)) != 0)
		if (n < 0 && errno != EINTR)
			ret = -errno;
	if (fd >= 0) {
		int last;

		close(fd);
		last = finish(pid);
		ret = ret ? ret : last;
	}
	free(buf);
	return ret;
}

int pop_observe_df(FILE *out, const char *label, const char *mountpoint)
{
	static const char *const kinds[] = { "k", "i" };
	char line[1024], option[3] = "-k";

	for (size_t i = 0; i < 2; i++) {
		char df[] = "df";
		char *path = strdup(mountpoint);
		char *argv[] = { df, option, path, NULL };
		int ret;

		if (!path)
			return -ENOMEM;
		option[1] = kinds[i][0];
		fflush(out);
		ret = last_line_of(argv, line, sizeof(line));
		free(path);
		/* Without a df at hand statfs has to do. */
		if (ret == -ENOENT)
			continue;
		if (ret)
			return ret;
		fprintf(out, "df %s %s ", label, kinds[i]);
		pop_text_put(out, line);
		putc('\n', out);
	}
	return 0;
}

static int put_object(FILE *out, int dir, const char *name, const char *path,
		      struct stat *st)
{
	if (fstatat(dir, name, st, AT_SYMLINK_NOFOLLOW))
		return -errno;
	fputs("st ", out);
	pop_text_put(out, path);
	fprintf(out, " %" PRIu64 " %" PRId64 " %" PRId64 " %" PRIo32
		" %" PRIu64 " %" PRIu32 " %" PRIu32 " %u %u %" PRId64 " %ld\n",
		(uint64_t)st->st_ino, (int64_t)st->st_blocks,
		(int64_t)st->st_size, (uint32_t)st->st_mode,
		(uint64_t)st->st_nlink, (uint32_t)st->st_uid,
		(uint32_t)st->st_gid, major(st->st_rdev), minor(st->st_rdev),
		(int64_t)st->st_mtim.tv_sec, (long)st->st_mtim.tv_nsec);
	return 0;
}

/*
 * Depth first; the path is built once and shared.  One descriptor is open a
 * level, and the depth is bounded by the length of a path.
 */
static int walk(FILE *out, int fd, char *path, size_t len, size_t room)
{
	struct dirent *e;
	struct stat st;
	int ret = 0;
	DIR *d = fdopendir(fd);

	if (!d) {
		int err = errno;

		close(fd);
		return -err;
	}
	while (!ret && (errno = 0, e = readdir(d))) {
		size_t n = strlen(e->d_name);
		size_t at = len;

		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		if (len + n + 2 > room) {
			ret = -ENAMETOOLONG;
			break;
		}
		if (at)
			path[at++] = '/';
		memcpy(path + at, e->d_name, n + 1);
		ret = put_object(out, dirfd(d), e->d_name, path, &st);
		if (!ret && S_ISDIR(st.st_mode)) {
			int sub = openat(dirfd(d), e->d_name, O_RDONLY |
					 O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

			ret = sub < 0 ? -errno :
				walk(out, sub, path, at + n, room);
		}
		path[len] = '\0';
	}
	if (!ret && errno)
		ret = -errno;
	closedir(d);
	return ret;
}

int pop_observe_tree(FILE *out)
{
	enum { ROOM = 65536 };
	struct stat st;
	char *path = malloc(ROOM);
	int fd, ret;

	if (!path)
		return -ENOMEM;
	path[0] = '\0';
	fd = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ret = fd < 0 ? -errno : put_object(out, fd, ".", ".", &st);
	if (!ret)
		ret = walk(out, fd, path, 0, ROOM);
	else if (fd >= 0)
		close(fd);
	free(path);
	return ret;
}
