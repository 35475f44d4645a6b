/* SPDX-License-Identifier: GPL-2.0-only */
/* clones: a tree and copies of it; small-12K: small files, linked. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "collection_gen.h"
#include "pop_rand.h"
#include "pop_tree.h"

/* Of a hundred files of small-12K so many are the same as another. */
#define SAME_PERCENT	25
#define DIR_MEAN_FILES	10

struct cloner {
	struct pop_gen gen;
	const struct pop_tree *tree;
};

static int emit(struct cloner *c, const struct pop_op *op)
{
	return c->gen.sink->emit(c->gen.sink, op);
}

static int phase(struct cloner *c, const char *name)
{
	return emit(c, &(struct pop_op){ .kind = POP_PHASE, .path = name });
}

/* "TOP/PATH"; NULL without memory. */
static char *below(const char *top, const char *path)
{
	size_t n = strlen(top), k = strlen(path);
	char *s = malloc(n + k + 2);

	if (!s)
		return NULL;
	memcpy(s, top, n);
	s[n] = '/';
	memcpy(s + n + 1, path, k + 1);
	return s;
}

/* How a clone comes by its files. */
enum cloning { CLONE_WRITE, CLONE_COPY, CLONE_LINK };

static int clone_file(struct cloner *c, const struct pop_tree_entry *e,
		      const char *from, const char *to, enum cloning how)
{
	const struct pop_range all = { 0, e->size };
	char *old = how == CLONE_WRITE ? NULL : below(from, e->path);
	int ret = -ENOMEM;

	if (how == CLONE_WRITE || old)
		ret = emit(c, &(struct pop_op){
			.kind = how == CLONE_WRITE ? POP_CREATE :
				how == CLONE_COPY ? POP_COPY : POP_LINK,
			.path = to, .target = old, .mode = e->mode & 07777,
			.size = e->size, .source = e->source, .data = &all,
			.data_count = e->size ? 1 : 0, .mtime = e->mtime,
		});
	free(old);
	return ret;
}

static int clone_entry(struct cloner *c, const struct pop_tree_entry *e,
		       const char *from, const char *top, enum cloning how)
{
	char *to = below(top, e->path), *target;
	int ret;

	if (!to)
		return -ENOMEM;
	switch (e->mode & S_IFMT) {
	case S_IFDIR:
		ret = pop_gen_dir_as(&c->gen, to, e->mode & 07777, 0, 0);
		break;
	case S_IFREG:
		ret = clone_file(c, e, from, to, how);
		break;
	case S_IFLNK:
		ret = pop_gen_symlink(&c->gen, to, e->target);
		break;
	default:
		target = below(top, e->target);
		ret = target ? pop_gen_link(&c->gen, target, to) : -ENOMEM;
		free(target);
		break;
	}
	free(to);
	return pop_gen_ok(ret);
}

static int clone_tree(struct cloner *c, const char *from, const char *top,
		      enum cloning how)
{
	int ret = phase(c, top);

	if (!ret)
		ret = pop_gen_dir(&c->gen, top);
	for (size_t i = 0; !ret && i < c->tree->count; i++)
		ret = clone_entry(c, &c->tree->entries[i], from, top, how);
	return ret;
}

static int clone_times(struct cloner *c, uint64_t clones, enum cloning how)
{
	char top[32];
	int ret = clone_tree(c, NULL, "tree-0", CLONE_WRITE);

	for (uint64_t i = 1; !ret && i <= clones; i++) {
		snprintf(top, sizeof(top), "tree-%" PRIu64, i);
		ret = clone_tree(c, "tree-0", top, how);
	}
	return ret;
}

static int finish(struct cloner *c)
{
	int ret = phase(c, "dir-times");

	return ret ? ret : pop_gen_finish(&c->gen);
}

int pop_clones_run(const struct pop_collection_args *args,
		   struct pop_sink *sink)
{
	struct cloner c = {
		.gen = { .sink = sink, .seed = args->seed },
		.tree = args->tree,
	};
	struct pop_tree made = { .fd = -1 };
	int ret = 0;

	if (!c.tree) {
		ret = pop_tree_seeded(&made, args->seed, args->files,
				      POP_TREE_KERNEL);
		c.tree = &made;
	}
	if (!ret)
		ret = clone_times(&c, args->clones, CLONE_COPY);
	if (!ret)
		ret = finish(&c);
	pop_gen_free(&c.gen);
	pop_tree_free(&made);
	return ret;
}

void pop_clones_need(const struct pop_collection_args *args,
		     uint64_t *bytes, uint64_t *inodes)
{
	uint64_t files = args->tree ? args->tree->count : args->files;
	uint64_t data = args->tree ? args->tree->bytes : files * 19000;

	/* Half a block a file besides, whatever the block size. */
	*bytes = (data + files * 2048) * (args->clones + 1);
	*inodes = (files + files / 5 + 100) * (args->clones + 1);
}

/* --- small-12K -------------------------------------------------------------- */

static bool regular(const struct pop_tree_entry *e)
{
	return (e->mode & S_IFMT) == S_IFREG;
}

/* A share of the files becomes the same as one before them. */
static void make_same(struct pop_tree *t, uint64_t seed)
{
	struct pop_rand r;

	pop_rand_init(&r, seed ^ 0x73616d65);
	for (size_t i = 1; i < t->count; i++) {
		struct pop_tree_entry *e = &t->entries[i];
		const struct pop_tree_entry *other =
			&t->entries[pop_rand_below(&r, i)];

		if (!regular(e) || pop_rand_below(&r, 100) >= SAME_PERCENT ||
		    !regular(other))
			continue;
		t->bytes = t->bytes - e->size + other->size;
		e->size = other->size;
		e->source = other->source;
	}
}

static int by_size(const void *a, const void *b)
{
	const struct pop_tree_entry *x = *(const struct pop_tree_entry *const *)a;
	const struct pop_tree_entry *y = *(const struct pop_tree_entry *const *)b;

	if (x->size != y->size)
		return x->size < y->size ? -1 : 1;
	return strcmp(x->path, y->path);
}

/* Of [list, list + count), all of one size: reads all, links the same. */
static int link_group(struct cloner *c, const struct pop_tree_entry **list,
		      size_t count)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < count; i++) {
		char *path = below("tree-0", list[i]->path);

		ret = path ? pop_gen_ok(emit(c, &(struct pop_op){
			.kind = POP_DIGEST, .path = path })) : -ENOMEM;
		free(path);
	}
	for (size_t i = 1; !ret && i < count; i++) {
		char *path, *first;
		size_t k = 0;

		while (!pop_source_same(&list[k]->source, &list[i]->source))
			k++;
		if (k == i)
			continue;
		path = below("tree-0", list[i]->path);
		first = below("tree-0", list[k]->path);
		ret = path && first ? pop_gen_ok(emit(c, &(struct pop_op){
			.kind = POP_RELINK, .path = path, .target = first })) :
			-ENOMEM;
		free(path);
		free(first);
	}
	return ret;
}

/* Sort by size, digest equal sizes, link what is the same. */
static int link_same(struct cloner *c)
{
	const struct pop_tree_entry **list =
		malloc((c->tree->count + 1) * sizeof(*list));
	size_t n = 0, from = 0;
	int ret = list ? phase(c, "link-same") : -ENOMEM;

	if (ret) {
		free(list);
		return ret;
	}
	for (size_t i = 0; i < c->tree->count; i++)
		if (regular(&c->tree->entries[i]))
			list[n++] = &c->tree->entries[i];
	qsort(list, n, sizeof(*list), by_size);
	for (size_t i = 1; !ret && i <= n; i++) {
		if (i < n && list[i]->size == list[from]->size)
			continue;
		if (i - from > 1)
			ret = link_group(c, list + from, i - from);
		from = i;
	}
	free(list);
	return ret;
}

int pop_small_run(const struct pop_collection_args *args,
		  struct pop_sink *sink)
{
	struct cloner c = { .gen = { .sink = sink, .seed = args->seed } };
	struct pop_tree made;
	int ret = pop_tree_seeded(&made, args->seed, args->files,
				  POP_TREE_12K);

	c.tree = &made;
	if (!ret) {
		make_same(&made, args->seed);
		ret = clone_times(&c, args->clones, CLONE_LINK);
	}
	if (!ret)
		ret = link_same(&c);
	if (!ret)
		ret = finish(&c);
	pop_gen_free(&c.gen);
	pop_tree_free(&made);
	return ret;
}

void pop_small_need(const struct pop_collection_args *args,
		    uint64_t *bytes, uint64_t *inodes)
{
	*bytes = args->files * 16384;
	*inodes = args->files + (args->files / DIR_MEAN_FILES + 100) *
		(args->clones + 1);
}
