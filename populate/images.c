/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The files that come out: made under other names in the directories where
 * they are to be, put in place when all is well.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "pop_job.h"

#define MIB	(UINT64_C(1) << 20)

char *pop_make_beside(struct pop_job *job, const char *final, uint64_t size)
{
	const char *slash = strrchr(final, '/');
	char *dir = slash ? strndup(final, (size_t)(slash - final) + 1) :
		strdup(".");
	char *real = dir ? realpath(dir, NULL) : NULL;
	char *path = real ? pop_format("%s/.fsassay-XXXXXX", real) : NULL;
	int fd = path ? mkostemp(path, O_CLOEXEC) : -1;
	int err = errno;
	struct stat st;

	free(dir);
	free(real);
	if (fd >= 0 && !ftruncate(fd, (off_t)size) && !fstat(fd, &st)) {
		mode_t mask = umask(0);

		umask(mask);
		fchmod(fd, 0666 & ~mask);
		close(fd);
		return path;
	}
	if (fd >= 0) {
		err = errno;
		close(fd);
		unlink(path);
	}
	free(path);
	pop_fail(job, "%s: %s", final, strerror(err));
	return NULL;
}

static int put_in_place(struct pop_job *job, const char *from,
			const char *final)
{
	if (job->o->force ? !rename(from, final) :
	    !renameat2(AT_FDCWD, from, AT_FDCWD, final, RENAME_NOREPLACE))
		return 0;
	/* Not every filesystem knows how not to replace. */
	if (!job->o->force && errno == EINVAL && !link(from, final)) {
		unlink(from);
		return 0;
	}
	pop_fail(job, "%s: %s", final, strerror(errno));
	return -1;
}

static int add_image(struct pop_job *job, const char *final, uint64_t size)
{
	struct pop_image *image = &job->images[job->image_count];

	*image = (struct pop_image){ final, pop_make_beside(job, final, size),
				     size };
	if (!image->path)
		return -1;
	job->image_count++;
	return 0;
}

int pop_add_images(struct pop_job *job)
{
	const struct fsa_populate_options *o = job->o;
	int ret = add_image(job, o->output, job->r->size);

	if (!ret && o->log_device)
		ret = add_image(job, o->log_device, o->log_size ? o->log_size :
				64 * MIB);
	for (size_t i = 0; !ret && i < o->device_count; i++)
		ret = add_image(job, o->devices[i], job->r->size);
	job->image = job->images[0].path;
	job->log_image = o->log_device ? job->images[1].path : NULL;
	return ret;
}

static int take_image(struct pop_job *job, const char *final)
{
	char *path = realpath(final, NULL);
	struct stat st;

	if (!path || stat(path, &st)) {
		pop_fail(job, "%s: %s", final, strerror(errno));
		free(path);
		return -1;
	}
	job->images[job->image_count++] = (struct pop_image){
		final, path, (uint64_t)st.st_size,
	};
	return 0;
}

int pop_take_images(struct pop_job *job)
{
	const struct fsa_populate_options *o = job->o;
	int ret = take_image(job, o->output);

	if (!ret && o->log_device)
		ret = take_image(job, o->log_device);
	for (size_t i = 0; !ret && i < o->device_count; i++)
		ret = take_image(job, o->devices[i]);
	job->image = job->images[0].path;
	job->log_image = o->log_device ? job->images[1].path : NULL;
	return ret;
}

int pop_blank(struct pop_job *job)
{
	job->r->time_count = 0;
	free(job->r->mkfs_command);
	job->r->mkfs_command = NULL;
	for (size_t i = 0; i < job->image_count; i++) {
		const struct pop_image *image = &job->images[i];

		if (truncate(image->path, 0) ||
		    truncate(image->path, (off_t)image->size)) {
			pop_fail(job, "%s: %s", image->final, strerror(errno));
			return -1;
		}
	}
	return 0;
}

int pop_put_in_place(struct pop_job *job, const char *manifest)
{
	size_t done = 0;
	int ret = 0;

	while (!ret && done < job->image_count) {
		ret = put_in_place(job, job->images[done].path,
				   job->images[done].final);
		done += !ret;
	}
	if (!ret && manifest)
		ret = put_in_place(job, manifest, job->r->manifest);
	while (ret && done > 0)
		unlink(job->images[--done].final);
	return ret;
}

/* Less than any filesystem or tree would need next. */
#define FULL	(UINT64_C(128) << 10)

void pop_note_full(struct pop_job *job)
{
	const char *places[POP_IMAGES + 1] = { job->dir };
	struct statvfs s;

	for (size_t i = 0; i < job->image_count; i++)
		places[1 + i] = job->images[i].path;
	for (size_t i = 0; i < POP_IMAGES + 1; i++) {
		char *old = job->r->error;

		if (!places[i] || statvfs(places[i], &s) ||
		    (uint64_t)s.f_bavail * s.f_frsize >= FULL)
			continue;
		job->r->error = pop_format("%s (no space is left for %s)",
			old ? old : "it failed",
			i ? job->images[i - 1].final : places[i]);
		free(old);
		return;
	}
}

void pop_free_images(struct pop_job *job, bool failed)
{
	for (size_t i = 0; i < job->image_count; i++) {
		if (failed)
			unlink(job->images[i].path);
		free(job->images[i].path);
	}
	job->image_count = 0;
}
