/* SPDX-License-Identifier: GPL-2.0-only */
/* Running a collection against a model of the tree. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "model.h"
#include "shared/pop_rand.h"
#include "shared/pop_sha256.h"

struct model_sink {
	struct pop_sink sink;
	struct pop_model *model;
	const struct pop_refusal *refusals;
	size_t refusal_count, next;
	uint64_t index;
};

/* Room for one more in a list that doubles. */
static int more(void *list, size_t count, size_t *room, size_t each)
{
	void **p = list;

	if (count == *room) {
		size_t want = *room ? *room * 2 : 4;
		void *grown = realloc(*p, want * each);

		if (!grown)
			return -ENOMEM;
		*p = grown;
		*room = want;
	}
	return 0;
}

#define MORE(list, count, room) more(&(list), count, &(room), sizeof(*(list)))

static size_t *slot_of(struct pop_model *m, const char *path)
{
	size_t i = (size_t)pop_seed_of(0, path) & (m->slot_count - 1);

	while (m->slots[i]) {
		const char *there = m->entries[m->slots[i] - 1].path;

		if (there && !strcmp(there, path))
			break;
		i = (i + 1) & (m->slot_count - 1);
	}
	return &m->slots[i];
}

struct pop_entry *pop_model_find(struct pop_model *m, const char *path)
{
	size_t *slot = m->slot_count ? slot_of(m, path) : NULL;

	return slot && *slot ? &m->entries[*slot - 1] : NULL;
}

static int rehash(struct pop_model *m)
{
	size_t want = m->slot_count ? m->slot_count * 2 : 1024;
	size_t *slots = calloc(want, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	free(m->slots);
	m->slots = slots;
	m->slot_count = want;
	for (size_t i = 0; i < m->count; i++)
		if (m->entries[i].path)
			*slot_of(m, m->entries[i].path) = i + 1;
	return 0;
}

static int enter(struct pop_model *m, const char *path, struct pop_node *node)
{
	char *copy;

	if (pop_model_find(m, path))
		return -EEXIST;
	if (m->count * 2 >= m->slot_count && rehash(m))
		return -ENOMEM;
	if (MORE(m->entries, m->count, m->room))
		return -ENOMEM;
	copy = strdup(path);
	if (!copy)
		return -ENOMEM;
	m->entries[m->count] = (struct pop_entry){ copy, node };
	*slot_of(m, path) = ++m->count;
	node->nlink++;
	return 0;
}

static void free_node(struct pop_node *n)
{
	for (size_t i = 0; i < n->xattr_count; i++) {
		free(n->xattrs[i].name);
		free(n->xattrs[i].value);
	}
	free(n->xattrs);
	free(n->written.list);
	free(n->unwritten.list);
	free(n->target);
	free(n);
}

static void leave(struct pop_model *m, struct pop_entry *e)
{
	(void)m;
	/* Its slot stays taken, so that the search past it goes on. */
	free(e->path);
	e->path = NULL;
	if (--e->node->nlink == 0)
		free_node(e->node);
	e->node = NULL;
}

static int add_range(struct pop_ranges *r, struct pop_range range)
{
	if (!range.length)
		return 0;
	if (MORE(r->list, r->count, r->room))
		return -ENOMEM;
	r->list[r->count++] = range;
	return 0;
}

static int by_offset(const void *a, const void *b)
{
	const struct pop_range *x = a, *y = b;

	return (x->offset > y->offset) - (x->offset < y->offset);
}

/* Sorted, and one where they touch. */
static void settle_ranges(struct pop_ranges *r)
{
	size_t n = 0;

	if (!r->count)
		return;
	qsort(r->list, r->count, sizeof(*r->list), by_offset);
	for (size_t i = 1; i < r->count; i++) {
		struct pop_range *last = &r->list[n];
		uint64_t end = last->offset + last->length;

		if (r->list[i].offset > end) {
			r->list[++n] = r->list[i];
		} else if (r->list[i].offset + r->list[i].length > end) {
			last->length = r->list[i].offset +
				r->list[i].length - last->offset;
		}
	}
	r->count = n + 1;
}

static void cut_ranges(struct pop_ranges *r, uint64_t size)
{
	size_t n = 0;

	for (size_t i = 0; i < r->count; i++) {
		struct pop_range *range = &r->list[i];

		if (range->offset >= size)
			continue;
		if (range->offset + range->length > size)
			range->length = size - range->offset;
		r->list[n++] = *range;
	}
	r->count = n;
}

/* What is preallocated less what is written; both are settled. */
static int subtract(struct pop_node *node)
{
	struct pop_ranges left = { 0 };

	for (size_t i = 0; i < node->unwritten.count; i++) {
		uint64_t at = node->unwritten.list[i].offset;
		uint64_t end = at + node->unwritten.list[i].length;

		for (size_t w = 0; w < node->written.count; w++) {
			uint64_t from = node->written.list[w].offset;
			uint64_t to = from + node->written.list[w].length;

			if (to <= at || from >= end)
				continue;
			if (from > at && add_range(&left, (struct pop_range){
						   at, from - at }))
				return -ENOMEM;
			at = to;
		}
		if (at < end && add_range(&left, (struct pop_range){
					  at, end - at }))
			return -ENOMEM;
	}
	free(node->unwritten.list);
	node->unwritten = left;
	return 0;
}

static int write_data(struct pop_node *node, const struct pop_op *op)
{
	for (size_t i = 0; i < op->data_count; i++) {
		uint64_t end = op->data[i].offset + op->data[i].length;

		if (add_range(&node->written, op->data[i]))
			return -ENOMEM;
		if (end > node->size)
			node->size = end;
	}
	return 0;
}

static int make(struct pop_model *m, const struct pop_op *op, uint32_t mode)
{
	struct pop_node *node = calloc(1, sizeof(*node));
	int ret;

	if (!node)
		return -ENOMEM;
	node->mode = mode;
	node->uid = op->uid;
	node->gid = op->gid;
	node->major = op->major;
	node->minor = op->minor;
	node->size = op->size;
	node->source = op->source;
	node->mtime = op->mtime;
	node->mtime_nsec = op->mtime_nsec;
	ret = write_data(node, op);
	if (!ret && op->kind == POP_SYMLINK) {
		node->target = strdup(op->target);
		node->size = strlen(op->target);
		ret = node->target ? 0 : -ENOMEM;
	}
	if (!ret)
		ret = enter(m, op->path, node);
	if (ret)
		free_node(node);
	return ret;
}

static int set_xattr(struct pop_node *node, const struct pop_op *op)
{
	struct pop_xattr *x = NULL;
	unsigned char *value = malloc(op->value_len ? op->value_len : 1);

	if (!value)
		return -ENOMEM;
	memcpy(value, op->value, op->value_len);
	for (size_t i = 0; i < node->xattr_count && !x; i++)
		if (!strcmp(node->xattrs[i].name, op->name))
			x = &node->xattrs[i];
	if (!x) {
		char *name = strdup(op->name);

		if (!name || MORE(node->xattrs, node->xattr_count,
				  node->xattr_room)) {
			free(name);
			free(value);
			return -ENOMEM;
		}
		x = &node->xattrs[node->xattr_count++];
		*x = (struct pop_xattr){ .name = name };
	}
	free(x->value);
	x->value = value;
	x->len = op->value_len;
	return 0;
}

/* The name is taken over in place: a new one would need a slot of its own. */
static int relink(struct pop_model *m, const struct pop_op *op)
{
	struct pop_entry *e = pop_model_find(m, op->path), *to =
		pop_model_find(m, op->target);

	if (!e || !to)
		return -ENOENT;
	if (e->node == to->node)
		return 0;
	to->node->nlink++;
	if (--e->node->nlink == 0)
		free_node(e->node);
	e->node = to->node;
	return 0;
}

int pop_model_apply(struct pop_model *m, const struct pop_op *op)
{
	struct pop_entry *e;
	struct pop_node *node;

	switch (op->kind) {
	case POP_MKDIR:
		return make(m, op, S_IFDIR | op->mode);
	case POP_CREATE:
	case POP_COPY:
		return make(m, op, S_IFREG | op->mode);
	case POP_SYMLINK:
		return make(m, op, S_IFLNK | 0777);
	case POP_MKNOD:
		return make(m, op, op->mode);
	case POP_LINK:
		e = pop_model_find(m, op->target);
		return e ? enter(m, op->path, e->node) : -ENOENT;
	case POP_RELINK:
		return relink(m, op);
	case POP_DIGEST:
	case POP_PHASE:
		return 0;
	default:
		break;
	}

	e = pop_model_find(m, op->path);
	if (!e)
		return -ENOENT;
	node = e->node;
	switch (op->kind) {
	case POP_WRITE:
		return write_data(node, op);
	case POP_TRUNCATE:
		cut_ranges(&node->written, op->size);
		cut_ranges(&node->unwritten, op->size);
		node->size = op->size;
		return 0;
	case POP_PREALLOC:
		if (!op->keep_size &&
		    op->range.offset + op->range.length > node->size)
			node->size = op->range.offset + op->range.length;
		return add_range(&node->unwritten, op->range);
	case POP_SETXATTR:
		return set_xattr(node, op);
	case POP_SETATTR:
		node->mode = (node->mode & S_IFMT) | (op->mode & 07777);
		node->uid = op->uid;
		node->gid = op->gid;
		return 0;
	case POP_UTIMES:
		node->mtime = op->mtime;
		node->mtime_nsec = op->mtime_nsec;
		return 0;
	default:
		leave(m, e);
		return 0;
	}
}

static int model_emit(struct pop_sink *sink, const struct pop_op *op)
{
	struct model_sink *s = (struct model_sink *)(void *)sink;
	struct pop_model *m = s->model;
	uint64_t index = s->index++;
	struct pop_left_out *l;

	if (s->next == s->refusal_count ||
	    s->refusals[s->next].index != index)
		return pop_model_apply(m, op);

	if (MORE(m->left_out, m->left_out_count, m->left_out_room))
		return -ENOMEM;
	l = &m->left_out[m->left_out_count++];
	*l = (struct pop_left_out){
		op->kind, s->refusals[s->next++].err, strdup(op->path),
		op->name ? strdup(op->name) : NULL,
	};
	return l->path ? POP_REFUSED : -ENOMEM;
}

static int entry_order(const void *a, const void *b)
{
	const struct pop_entry *x = a, *y = b;

	return strcmp(x->path, y->path);
}

static int xattr_order(const void *a, const void *b)
{
	const struct pop_xattr *x = a, *y = b;

	return strcmp(x->name, y->name);
}

int pop_model_settle(struct pop_model *m)
{
	size_t n = 0;

	for (size_t i = 0; i < m->count; i++)
		if (m->entries[i].path)
			m->entries[n++] = m->entries[i];
	m->count = n;
	free(m->slots);
	m->slots = NULL;
	m->slot_count = 0;
	qsort(m->entries, n, sizeof(*m->entries), entry_order);
	for (size_t i = 0; i < n; i++) {
		struct pop_node *node = m->entries[i].node;

		if (node->first)
			continue;
		node->first = m->entries[i].path;
		settle_ranges(&node->written);
		settle_ranges(&node->unwritten);
		if (subtract(node))
			return -ENOMEM;
		if (node->xattr_count)
			qsort(node->xattrs, node->xattr_count,
			      sizeof(*node->xattrs), xattr_order);
	}
	return 0;
}

int pop_model_begin(struct pop_model *m)
{
	const struct pop_op root = { .kind = POP_MKDIR, .path = ".",
				     .mode = 0755 };

	*m = (struct pop_model){ 0 };
	return make(m, &root, S_IFDIR | 0755);
}

int pop_model_build(struct pop_model *m, const struct pop_collection *c,
		    const struct pop_collection_args *args,
		    const struct pop_refusal *refusals, size_t count)
{
	struct model_sink s = {
		{ model_emit }, m, refusals, count, 0, 0,
	};
	int ret = pop_model_begin(m);

	if (!ret)
		ret = c->run(args, &s.sink);
	if (ret > 0 || (!ret && s.next != count))
		ret = -EINVAL;
	return ret ? ret : pop_model_settle(m);
}

void pop_model_free(struct pop_model *m)
{
	for (size_t i = 0; i < m->count; i++)
		if (m->entries[i].path)
			leave(m, &m->entries[i]);
	for (size_t i = 0; i < m->left_out_count; i++) {
		free(m->left_out[i].path);
		free(m->left_out[i].name);
	}
	free(m->left_out);
	free(m->entries);
	free(m->slots);
	*m = (struct pop_model){ 0 };
}

static void digest_zeros(struct pop_sha256 *s, uint64_t count,
			 unsigned char *buf, size_t buf_size)
{
	memset(buf, 0, count < buf_size ? (size_t)count : buf_size);
	while (count) {
		size_t n = count < buf_size ? (size_t)count : buf_size;

		pop_sha256_add(s, buf, n);
		count -= n;
	}
}

int pop_model_digest(struct pop_node *node, unsigned char *buf,
		     size_t buf_size)
{
	bool all = node->size <= POP_DIGEST_LIMIT;
	struct pop_sha256 s;
	uint64_t at = 0;
	int ret;

	pop_sha256_init(&s);
	for (size_t i = 0; i < node->written.count; i++) {
		struct pop_range r = node->written.list[i];

		if (r.offset + r.length > node->size)
			return -EINVAL;
		if (all)
			digest_zeros(&s, r.offset - at, buf, buf_size);
		at = r.offset + r.length;
		while (r.length) {
			size_t n = r.length < buf_size ? (size_t)r.length :
				buf_size;

			ret = pop_source_read(&node->source, r.offset, buf, n);
			if (ret)
				return ret;
			pop_sha256_add(&s, buf, n);
			r.offset += n;
			r.length -= n;
		}
	}
	if (all)
		digest_zeros(&s, node->size - at, buf, buf_size);
	pop_sha256_hex(&s, node->sha256);
	return 0;
}
