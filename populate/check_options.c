/* SPDX-License-Identifier: GPL-2.0-only */
/* What the options ask for, and whether it can be had. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "pop_job.h"

#define MIB		(UINT64_C(1) << 20)
/* Each is a phase with a time of its own. */
#define MOST_CLONES	(FSA_POPULATE_TIMES - 16)

uint64_t pop_default_size(const struct pop_job *job)
{
	uint64_t bytes, inodes, size;

	job->collection->need(&job->args, &bytes, &inodes);
	/* What they need is counted in blocks of 4 KiB. */
	if (job->o->block_size > 4096)
		bytes += inodes * (job->o->block_size - 4096);
	size = 16 * MIB + bytes / 4 * 5 + inodes * 1024;
	if (size < job->fs->min_size)
		size = job->fs->min_size;
	/* mke2fs makes an inode for so many bytes, fewer on large ones. */
	if (job->fs->ext && size >= 512 * MIB && size / 16384 < inodes)
		size = inodes / 20 * 21 * 16384;
	return (size + 4 * MIB - 1) / (4 * MIB) * (4 * MIB);
}

static enum fsa_populate_status usage(struct pop_job *job, const char *why,
				      const char *what)
{
	pop_fail(job, "%s: %s", what, why);
	return FSA_POPULATE_USAGE;
}

static enum fsa_populate_status set_mount_options(struct pop_job *job)
{
	const struct fsa_populate_options *o = job->o;

	job->r->mount_options = pop_format("%s%s%s", job->fs->mount_options,
		*job->fs->mount_options && o->mount_options &&
		*o->mount_options ? "," : "",
		o->mount_options ? o->mount_options : "");
	return job->r->mount_options ? FSA_POPULATE_OK : FSA_POPULATE_FAILED;
}

enum fsa_populate_status pop_check_options(struct pop_job *job)
{
	const struct fsa_populate_options *o = job->o;
	const char *files[POP_IMAGES + 2] = { o->output, o->no_manifest ? NULL :
					      job->r->manifest,
					      o->log_device };
	struct stat st;

	job->fs = pop_fs_find(o->fs);
	if (!job->fs)
		return usage(job, "no such filesystem can be made", o->fs);
	job->args = (struct pop_collection_args){
		.name = o->collection, .files = o->files,
		.file_size = o->file_size, .seed = o->seed,
		.clones = o->clones,
	};
	job->collection = pop_collection_complete(&job->args);
	if (!job->collection)
		return usage(job, "there is no such collection",
			     o->collection);
	if (o->file_size && !job->collection->file_size)
		return usage(job, "the collection has no one file size",
			     o->collection);
	if (o->tree && !job->collection->takes_tree)
		return usage(job, "the collection takes no tree",
			     o->collection);
	if (o->clones && !job->collection->clones)
		return usage(job, "the collection has no clones",
			     o->collection);
	if (o->clones > MOST_CLONES)
		return usage(job, "more clones than can be told apart",
			     o->collection);
	if (o->block_size && !job->fs->block_option)
		return usage(job, "mkfs has no choice of block size", o->fs);
	if (o->features && !job->fs->features_option)
		return usage(job, "mkfs has no -O", o->fs);
	if (o->log_device && !job->fs->log_mount && !job->fs->log_mkfs)
		return usage(job, "an external log is not made", o->fs);
	if (o->device_count && !job->fs->device_mount)
		return usage(job, "it lies on one device only", o->fs);
	if (o->device_count > POP_IMAGES - 1)
		return usage(job, "so many further devices are too many",
			     o->devices[POP_IMAGES - 1]);
	for (size_t i = 0; i < o->device_count; i++)
		files[3 + i] = o->devices[i];
	for (size_t i = 0; i < POP_IMAGES + 2; i++) {
		for (size_t k = 0; files[i] && k < i; k++)
			if (files[k] && !strcmp(files[i], files[k]))
				return usage(job, "one file cannot be two",
					     files[i]);
		if (!files[i] || lstat(files[i], &st))
			continue;
		if (!S_ISREG(st.st_mode)) {
			pop_fail(job, "%s: exists and is not a regular file",
				 files[i]);
			return FSA_POPULATE_FAILED;
		}
		if (!o->force) {
			pop_fail(job, "%s: exists already", files[i]);
			return FSA_POPULATE_FAILED;
		}
	}
	job->r->times_kept = "all";
	return set_mount_options(job);
}

enum fsa_populate_status pop_check_removal(struct pop_job *job)
{
	const struct fsa_populate_options *o = job->o;

	job->fs = pop_fs_find(o->fs);
	if (!job->fs)
		return usage(job, "no such filesystem can be made", o->fs);
	job->args = (struct pop_collection_args){
		.name = o->collection, .files = o->files,
		.file_size = o->file_size, .seed = o->seed,
		.clones = o->clones,
	};
	job->collection = o->collection ?
		pop_collection_complete(&job->args) : NULL;
	if (o->collection && !job->collection)
		return usage(job, "there is no such collection",
			     o->collection);
	return set_mount_options(job);
}
