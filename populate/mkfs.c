/* SPDX-License-Identifier: GPL-2.0-only */
/* Running the format's own mkfs on the image. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "pop_job.h"
#include "words.h"

#define OUTPUT_FILE	"mkfs-output"

/* Adds "-x" and value, or "-x key=value" for a pattern "-x key=%". */
static void add_option(struct pop_words *w, const char *pattern,
		       const char *value)
{
	const char *space = strchr(pattern, ' ');
	char *word;

	if (!space) {
		pop_words_add(w, pattern);
		pop_words_add(w, value);
		return;
	}
	word = pop_format("%.*s", (int)(space - pattern), pattern);
	pop_words_add(w, word ? word : "");
	free(word);
	word = pop_format("%.*s%s", (int)(strcspn(space + 1, "%")), space + 1,
			  value);
	pop_words_add(w, word ? word : "");
	free(word);
}

static void add_common(struct pop_job *job, struct pop_words *w)
{
	const struct pop_fs *fs = job->fs;
	const struct fsa_populate_options *o = job->o;
	char number[24];

	for (size_t i = 0; fs->mkfs[i]; i++)
		pop_words_add(w, fs->mkfs[i]);
	if (o->block_size) {
		snprintf(number, sizeof(number), "%" PRIu32, o->block_size);
		add_option(w, fs->block_option, number);
	}
	if (o->features)
		add_option(w, fs->features_option, o->features);
	if (o->mkfs_options)
		pop_words_split(w, o->mkfs_options);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* For the record: full paths say nothing on another machine. */
static void record(struct pop_job *job, const struct pop_words *w)
{
	struct pop_words shown = { 0 };
	char *line, *both;

	for (size_t i = 0; i < w->count; i++) {
		const char *s = w->word[i], *at = NULL;
		size_t dir = strlen(job->dir), k;
		char *word;

		for (k = 0; k < job->image_count; k++)
			if ((at = strstr(s, job->images[k].path)))
				break;
		if (at) {
			word = pop_format("%.*s%s%s", (int)(at - s), s,
				base_name(job->images[k].final),
				at + strlen(job->images[k].path));
			pop_words_add(&shown, word ? word : "");
			free(word);
		} else if (!strncmp(s, job->dir, dir) && s[dir] == '/') {
			pop_words_add(&shown, s + dir + 1);
		} else {
			pop_words_add(&shown, s);
		}
	}
	line = pop_words_join(&shown);
	pop_words_free(&shown);
	if (!job->r->mkfs_command || !line) {
		free(job->r->mkfs_command);
		job->r->mkfs_command = line;
		return;
	}
	both = pop_format("%s; %s", job->r->mkfs_command, line);
	free(job->r->mkfs_command);
	free(line);
	job->r->mkfs_command = both;
}

static void find_version(struct pop_job *job, char *program)
{
	char option[16], *argv[] = { program, option, NULL }, line[160] = "";
	int status, fd;
	pid_t pid;
	FILE *f;

	snprintf(option, sizeof(option), "%s", job->fs->version_option);
	pid = pop_spawn(job, argv, "version", NULL);
	if (pid < 0 || pop_wait(job, pid, NULL, &status, NULL))
		return;
	fd = openat(job->dir_fd, "version", O_RDONLY | O_CLOEXEC);
	f = fd < 0 ? NULL : fdopen(fd, "r");
	if (!f)
		return;
	/* Some print an empty line first. */
	while (fgets(line, sizeof(line), f))
		if (line[strspn(line, " \n")])
			break;
	fclose(f);
	line[strcspn(line, "\n")] = '\0';
	free(job->r->mkfs_version);
	job->r->mkfs_version = strdup(line);
}

static int run(struct pop_job *job, struct pop_words *w)
{
	struct timespec from, to;
	struct rusage ru;
	int status = 0, ret;
	char *program;
	pid_t pid;

	if (w->failed || !w->count) {
		pop_fail(job, "the options for mkfs cannot be split into words");
		return -1;
	}
	record(job, w);
	program = pop_find_program(w->word[0]);
	if (!program) {
		pop_fail(job, "%s is not installed", w->word[0]);
		return -1;
	}
	free(w->word[0]);
	w->word[0] = program;
	if (!job->r->mkfs_version)
		find_version(job, program);
	clock_gettime(CLOCK_MONOTONIC, &from);
	pid = pop_spawn(job, w->word, OUTPUT_FILE, NULL);
	if (pid < 0) {
		pop_fail(job, "%s: %s", program, strerror(-pid));
		return -1;
	}
	ret = pop_wait(job, pid, NULL, &status, &ru);
	clock_gettime(CLOCK_MONOTONIC, &to);
	if (ret) {
		pop_fail(job, "%s was stopped: %s", base_name(program),
			 ret == -EINTR ? "interrupted" : strerror(-ret));
		return -1;
	}
	if (!WIFEXITED(status) || WEXITSTATUS(status)) {
		pop_keep_log(job, OUTPUT_FILE);
		if (WIFEXITED(status))
			pop_fail(job, "%s failed with exit status %d",
				 base_name(program), WEXITSTATUS(status));
		else
			pop_fail(job, "%s was killed by signal %d",
				 base_name(program), WTERMSIG(status));
		return -1;
	}
	pop_add_time(job, "mkfs", (to.tv_sec - from.tv_sec) *
		     INT64_C(1000000000) + to.tv_nsec - from.tv_nsec,
		     ru.ru_utime.tv_sec * INT64_C(1000000000) +
		     ru.ru_utime.tv_usec * 1000,
		     ru.ru_stime.tv_sec * INT64_C(1000000000) +
		     ru.ru_stime.tv_usec * 1000, false);
	return 0;
}

/*
 * mke2fs takes only a block device for an external journal, so the two are
 * made apart and tied together here.
 */
static int make_ext_with_log(struct pop_job *job)
{
	struct pop_words w = { 0 };
	char number[24], why[200];
	int ret;

	add_common(job, &w);
	pop_words_add(&w, "-O");
	pop_words_add(&w, "^has_journal");
	pop_words_add(&w, job->image);
	ret = run(job, &w);
	pop_words_free(&w);
	if (ret)
		return ret;
	snprintf(number, sizeof(number), "%" PRIu32,
		 pop_ext_block_size(job->image));
	pop_words_add(&w, "mke2fs");
	pop_words_add(&w, "-q");
	pop_words_add(&w, "-F");
	pop_words_add(&w, "-O");
	pop_words_add(&w, "journal_dev");
	pop_words_add(&w, "-b");
	pop_words_add(&w, number);
	pop_words_add(&w, job->log_image);
	ret = run(job, &w);
	pop_words_free(&w);
	if (ret)
		return ret;
	if (pop_ext_external_journal(job->image, job->log_image, why,
				     sizeof(why))) {
		pop_fail(job, "external journal: %s", why);
		return -1;
	}
	return 0;
}

int pop_mkfs_from(struct pop_job *job, const char *option, const char *source)
{
	struct pop_words w = { 0 };
	int ret;

	if (job->log_image && job->fs->ext)
		return make_ext_with_log(job);
	if (job->log_image && job->fs->log_first[0]) {
		for (size_t i = 0; job->fs->log_first[i]; i++)
			pop_words_add(&w, job->fs->log_first[i]);
		pop_words_add(&w, job->log_image);
		ret = run(job, &w);
		pop_words_free(&w);
		if (ret)
			return ret;
	}
	add_common(job, &w);
	if (option) {
		pop_words_add(&w, option);
		pop_words_add(&w, source);
	}
	if (job->log_image && job->fs->log_sized) {
		char *log = pop_format("%s,size=%" PRIu64, job->log_image,
				       job->images[1].size);

		add_option(&w, job->fs->log_mkfs, log ? log : "");
		free(log);
	} else if (job->log_image) {
		add_option(&w, job->fs->log_mkfs, job->log_image);
	}
	pop_words_add(&w, job->image);
	for (size_t i = 0; i < job->o->device_count; i++)
		pop_words_add(&w, job->images[1 + i].path);
	ret = run(job, &w);
	pop_words_free(&w);
	return ret;
}

int pop_mkfs(struct pop_job *job)
{
	return pop_mkfs_from(job, NULL, NULL);
}
