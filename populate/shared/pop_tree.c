/* SPDX-License-Identifier: GPL-2.0-only */
/* Trees to clone. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pop_rand.h"
#include "pop_text.h"
#include "pop_tree.h"

#define FIRST_TIME	INT64_C(1671000000)	/* December 2022: Linux 6.1 */

/*
 * Sizes of the 78 579 files of Linux 6.1 by quantile: each 64th of them, and
 * finer at the upper end, where most of the bytes are.
 */
static const uint32_t kernel_sizes[] = {
	0, 100, 177, 242, 302, 362, 422, 485, 557, 638, 720, 806, 889, 977,
	1073, 1176, 1280, 1377, 1484, 1598, 1720, 1849, 1983, 2121, 2271, 2429,
	2592, 2772, 2959, 3166, 3377, 3624, 3874, 4132, 4413, 4729, 5053, 5392,
	5755, 6136, 6549, 6974, 7460, 7981, 8568, 9171, 9852, 10599, 11416,
	12399, 13409, 14572, 15900, 17438, 19151, 21236, 23727, 26673, 30323,
	34979, 41360, 50151, 65344, 96229, 191202,
};
/* Files in a directory, by 16ths of the directories. */
static const uint16_t dir_files[] = {
	1, 1, 2, 3, 3, 4, 5, 5, 7, 8, 9, 11, 15, 20, 29, 48, 200,
};

/* Between two steps of a table in a straight line. */
static uint64_t between(uint64_t a, uint64_t b, uint64_t part, uint64_t whole)
{
	return a + (b - a) * part / whole;
}

uint64_t pop_tree_size_at(enum pop_tree_sizes sizes, uint32_t r)
{
	uint32_t step = r >> 26;
	uint32_t part = r & ((UINT32_C(1) << 26) - 1);

	if (sizes == POP_TREE_12K)
		/* The mean of two even draws: a tent around 12 KB. */
		return 8192 + (r >> 16) % 4097 + (r & 0xffff) % 4097;
	/* The last thousandth holds the few large ones. */
	if (r >= UINT32_C(0xffbe76c9))
		return between(1120270, 11394491, r - UINT32_C(0xffbe76c9),
			       UINT32_C(0x418937));
	return between(kernel_sizes[step], kernel_sizes[step + 1], part,
		       UINT32_C(1) << 26);
}

static struct pop_tree_entry *add(struct pop_tree *t, const char *path,
				  uint32_t mode)
{
	struct pop_tree_entry *e;

	if (t->count == t->room) {
		size_t room = t->room ? t->room * 2 : 1024;

		e = realloc(t->entries, room * sizeof(*e));
		if (!e)
			return NULL;
		t->entries = e;
		t->room = room;
	}
	e = &t->entries[t->count];
	*e = (struct pop_tree_entry){ .path = strdup(path), .mode = mode };
	if (!e->path)
		return NULL;
	t->count++;
	return e;
}

/* --- seeded ----------------------------------------------------------------- */

struct seeded {
	struct pop_tree *tree;
	struct pop_rand rand;
	uint64_t seed;
	enum pop_tree_sizes sizes;
	uint64_t left;		/* files still to be made */
	uint64_t dirs;
};

static int seeded_file(struct seeded *s, const char *dir, uint64_t number)
{
	static const char *const ends[] = {
		".c", ".c", ".c", ".h", ".h", ".h", ".rst", ".txt", ".S",
		".dts", ".yaml", "",
	};
	struct pop_tree_entry *e;
	char path[512];

	snprintf(path, sizeof(path), "%s/%s%" PRIx64 "-%" PRIu64 "%s", dir,
		 number % 7 ? "mod" : "Kconfig.",
		 pop_rand_next(&s->rand) >> 44, number,
		 ends[pop_rand_below(&s->rand, 12)]);
	e = add(s->tree, path, S_IFREG | (pop_rand_below(&s->rand, 100) ?
					  0644 : 0755));
	if (!e)
		return -ENOMEM;
	e->size = pop_tree_size_at(s->sizes,
				   (uint32_t)(pop_rand_next(&s->rand) >> 32));
	e->mtime = FIRST_TIME + (int64_t)pop_rand_below(&s->rand, 86400);
	e->source = (struct pop_source){ .seed = pop_seed_of(s->seed, path) };
	s->tree->files++;
	s->tree->bytes += e->size;
	s->left--;
	return 0;
}

static uint64_t files_of_dir(struct seeded *s)
{
	uint32_t r = (uint32_t)(pop_rand_next(&s->rand) >> 32);

	return between(dir_files[r >> 28], dir_files[(r >> 28) + 1],
		       r & ((UINT32_C(1) << 28) - 1), UINT32_C(1) << 28);
}

static int seeded_dir(struct seeded *s, const char *path, unsigned depth)
{
	uint64_t files = files_of_dir(s);
	/* Few at the top have many below; deep ones have hardly any. */
	uint64_t below = depth < 2 ? 4 + pop_rand_below(&s->rand, 12) :
		depth < 7 ? pop_rand_below(&s->rand, 4) : 0;
	char name[400];
	int ret = add(s->tree, path, S_IFDIR | 0755) ? 0 : -ENOMEM;

	s->dirs++;
	for (uint64_t i = 0; !ret && i < files && s->left; i++)
		ret = seeded_file(s, path, i);
	for (uint64_t i = 0; !ret && i < below && s->left; i++) {
		snprintf(name, sizeof(name), "%s/%s%" PRIu64, path,
			 i % 3 ? "sub" : "drivers", i);
		ret = seeded_dir(s, name, depth + 1);
	}
	return ret;
}

int pop_tree_seeded(struct pop_tree *t, uint64_t seed, uint64_t files,
		    enum pop_tree_sizes sizes)
{
	struct seeded s = {
		.tree = t, .seed = seed, .sizes = sizes, .left = files,
	};
	char name[32];
	int ret = 0;

	*t = (struct pop_tree){ .fd = -1 };
	pop_rand_init(&s.rand, seed ^ 0x74726565);
	for (unsigned i = 0; !ret && s.left; i++) {
		snprintf(name, sizeof(name), "%s%u", i % 2 ? "lib" : "arch",
			 i);
		ret = seeded_dir(&s, name, 0);
	}
	return ret;
}

/* --- packed ----------------------------------------------------------------- */

static int load_line(struct pop_tree *t, char **field, int n)
{
	struct pop_tree_entry *e;
	uint64_t v[3] = { 0 };
	char *end;
	uint32_t type = !strcmp(field[0], "dir") ? S_IFDIR :
		!strcmp(field[0], "file") ? S_IFREG :
		!strcmp(field[0], "symlink") ? S_IFLNK : 0;
	bool hard = !strcmp(field[0], "link");

	if (n != (type == S_IFREG ? 6 : 3) || (!type && !hard))
		return -EINVAL;
	e = add(t, field[1], 0);
	if (!e)
		return -ENOMEM;
	if (type == S_IFLNK || hard) {
		e->mode = hard ? 0 : S_IFLNK | 0777;
		e->target = strdup(field[2]);
		return e->target ? 0 : -ENOMEM;
	}
	e->mode = type | (uint32_t)strtoul(field[2], &end, 8);
	if (*end)
		return -EINVAL;
	if (type == S_IFDIR)
		return 0;
	if (pop_text_s64(field[3], &e->mtime) ||
	    pop_text_u64(field[4], &v[0]) || pop_text_u64(field[5], &v[1]))
		return -EINVAL;
	e->size = v[0];
	e->source = (struct pop_source){
		.packed = true, .fd = t->fd, .at = v[1],
	};
	t->files++;
	t->bytes += e->size;
	return 0;
}

int pop_tree_load(struct pop_tree *t, const char *name)
{
	char *line = NULL, *field[6], *data = NULL;
	size_t room = 0;
	FILE *f = fopen(name, "re");
	int ret = 0;

	*t = (struct pop_tree){ .fd = -1 };
	if (!f)
		return -errno;
	if (asprintf(&data, "%s.data", name) < 0) {
		data = NULL;
		ret = -ENOMEM;
	} else if ((t->fd = open(data, O_RDONLY | O_CLOEXEC)) < 0) {
		ret = -errno;
	}
	free(data);
	if (!ret && (getline(&line, &room, f) < 0 ||
		     strcmp(line, POP_TREE_FIRST_LINE)))
		ret = -EINVAL;
	while (!ret && getline(&line, &room, f) > 0) {
		int n = pop_text_split(line, field, 6);

		ret = n < 3 ? -EINVAL : load_line(t, field, n);
	}
	if (!ret && ferror(f))
		ret = -EIO;
	free(line);
	fclose(f);
	return ret;
}

void pop_tree_free(struct pop_tree *t)
{
	for (size_t i = 0; i < t->count; i++) {
		free(t->entries[i].path);
		free(t->entries[i].target);
	}
	free(t->entries);
	if (t->fd >= 0)
		close(t->fd);
	*t = (struct pop_tree){ .fd = -1 };
}
