/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Quotas after filling: libext2fs does not keep them, but e2fsck writes the
 * usage files anew when they are wrong.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "lib_ext.h"
#include "pop_job.h"

#define OUTPUT_FILE	"e2fsck-output"

static bool has_quota(const char *image)
{
	ext2_filsys fs;
	bool quota;

	if (ext2fs_open(image, EXT2_FLAG_64BITS, 0, 0, unix_io_manager, &fs))
		return false;
	quota = ext2fs_has_feature_quota(fs->super) != 0;
	ext2fs_free(fs);
	return quota;
}

int lib_ext_finish(struct pop_job *job)
{
	char fix[] = "-fy", *argv[4] = { NULL };
	int status = 0, ret = -1;
	char *command;
	pid_t pid;

	if (!has_quota(job->image))
		return 0;
	argv[0] = pop_find_program("e2fsck");
	if (!argv[0]) {
		pop_fail(job, "e2fsck, which writes the quotas, is not "
			 "installed");
		return -1;
	}
	argv[1] = fix;
	argv[2] = job->image;
	pid = pop_spawn(job, argv, OUTPUT_FILE, NULL);
	if (pid < 0)
		pop_fail(job, "e2fsck: %s", strerror(-pid));
	else if (pop_wait(job, pid, NULL, &status, NULL))
		pop_fail(job, "e2fsck was stopped");
	else if (!WIFEXITED(status) || WEXITSTATUS(status) > 1)
		pop_fail(job, "e2fsck could not write the quotas");
	else
		ret = 0;
	if (ret)
		pop_keep_log(job, OUTPUT_FILE);
	free(argv[0]);
	if (ret)
		return ret;
	command = pop_format("%s; e2fsck -fy (writes the quotas)",
			     job->r->mkfs_command);
	if (command) {
		free(job->r->mkfs_command);
		job->r->mkfs_command = command;
	}
	return 0;
}
