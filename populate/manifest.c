/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The manifest: what the generator put there and what a kernel said of it,
 * never what our own parsers think.
 *
 * A name is a "path" string.  Where it is no UTF-8, "path" only shows it
 * (a bad byte as \xNN) and "path_base64" is the name; likewise "target" and
 * "first".
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#include "base64.h"
#include "model.h"
#include "pop_job.h"

#define DIGEST_BUF	((size_t)256 * 1024)

static json_t *number(uint64_t v)
{
	/* JSON integers of the library are signed; ours stay below 2^63. */
	return json_integer((json_int_t)v);
}

static void set_name(json_t *o, const char *key, const char *bytes)
{
	char key64[32], *text;

	if (pop_is_utf8(bytes)) {
		json_object_set_new(o, key, json_string(bytes));
		return;
	}
	text = pop_escape_bytes(bytes);
	json_object_set_new(o, key, json_string(text ? text : ""));
	free(text);
	snprintf(key64, sizeof(key64), "%s_base64", key);
	text = pop_base64(bytes, strlen(bytes));
	json_object_set_new(o, key64, json_string(text ? text : ""));
	free(text);
}

static const char *type_name(uint32_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG: return "file";
	case S_IFDIR: return "directory";
	case S_IFLNK: return "symlink";
	case S_IFIFO: return "fifo";
	case S_IFSOCK: return "socket";
	case S_IFCHR: return "char";
	case S_IFBLK: return "block";
	default: return "unknown";
	}
}

static json_t *ranges(const struct pop_ranges *r)
{
	json_t *list = json_array();

	for (size_t i = 0; i < r->count; i++)
		json_array_append_new(list, json_pack("[I,I]",
			(json_int_t)r->list[i].offset,
			(json_int_t)r->list[i].length));
	return list;
}

/* Up to the end of the file: neither written nor preallocated. */
static json_t *holes(const struct pop_node *node)
{
	const struct pop_ranges *w = &node->written, *u = &node->unwritten;
	json_t *list = json_array();
	uint64_t at = 0;
	size_t i = 0, k = 0;

	while (at < node->size) {
		uint64_t next = node->size, end = node->size;
		bool written = i < w->count;

		if (written) {
			next = w->list[i].offset;
			end = next + w->list[i].length;
		}
		if (k < u->count && u->list[k].offset < next) {
			next = u->list[k].offset;
			end = next + u->list[k].length;
			written = false;
			k++;
		} else if (written) {
			i++;
		}
		if (next > node->size)
			next = node->size;
		if (next > at)
			json_array_append_new(list, json_pack("[I,I]",
				(json_int_t)at, (json_int_t)(next - at)));
		if (end > at)
			at = end;
	}
	if (json_array_size(list))
		return list;
	json_decref(list);
	return NULL;
}

static void set_file(json_t *o, const struct pop_node *node)
{
	json_t *list = holes(node);

	json_object_set_new(o, node->size <= POP_DIGEST_LIMIT ? "sha256" :
			    "data_sha256", json_string(node->sha256));
	if (list)
		json_object_set_new(o, "holes", list);
	if (node->unwritten.count)
		json_object_set_new(o, "unwritten", ranges(&node->unwritten));
}

/*
 * Whether the entry's time is the one that was asked for: mkfs.btrfs copies
 * those of all but the root.
 */
static bool has_time(const struct pop_job *job, const struct pop_entry *e)
{
	return !strcmp(job->r->times_kept, "all") ||
	       (!strcmp(job->r->times_kept, "seconds") &&
		strcmp(e->path, ".") != 0);
}

static json_t *entry(const struct pop_entry *e, bool times)
{
	const struct pop_node *node = e->node;
	json_t *o = json_object();
	char mode[16];

	set_name(o, "path", e->path);
	json_object_set_new(o, "type", json_string(type_name(node->mode)));
	snprintf(mode, sizeof(mode), "%04" PRIo32, node->mode & 07777);
	json_object_set_new(o, "mode", json_string(mode));
	json_object_set_new(o, "uid", number(node->uid));
	json_object_set_new(o, "gid", number(node->gid));
	if (times)
		json_object_set_new(o, "mtime", json_pack("{s:I,s:i}", "sec",
			(json_int_t)node->mtime, "nsec",
			(int)node->mtime_nsec));
	if (S_ISREG(node->mode) || S_ISLNK(node->mode))
		json_object_set_new(o, "size", number(node->size));
	if (S_ISREG(node->mode))
		set_file(o, node);
	if (S_ISLNK(node->mode))
		set_name(o, "target", node->target);
	if (S_ISCHR(node->mode) || S_ISBLK(node->mode))
		json_object_set_new(o, "rdev", json_pack("[I,I]",
			(json_int_t)node->major, (json_int_t)node->minor));
	if (!S_ISDIR(node->mode))
		json_object_set_new(o, "nlink", number(node->nlink));
	if (!S_ISDIR(node->mode) && node->nlink > 1)
		set_name(o, "first", node->first);
	if (node->xattr_count) {
		json_t *x = json_object();

		for (size_t i = 0; i < node->xattr_count; i++) {
			char *text = pop_base64(node->xattrs[i].value,
						node->xattrs[i].len);

			json_object_set_new(x, node->xattrs[i].name,
					    json_string(text ? text : ""));
			free(text);
		}
		json_object_set_new(o, "xattrs", x);
	}
	return o;
}

static json_t *left_out(const struct pop_model *m)
{
	json_t *list = json_array();

	for (size_t i = 0; i < m->left_out_count; i++) {
		const struct pop_left_out *l = &m->left_out[i];
		const char *err = strerrorname_np(l->err);
		json_t *o = json_object();

		json_object_set_new(o, "operation",
				    json_string(pop_op_kind_name(l->kind)));
		set_name(o, "path", l->path);
		if (l->name)
			json_object_set_new(o, "name", json_string(l->name));
		json_object_set_new(o, "error", json_string(err ? err : "?"));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *statfs_object(const struct fsa_populate_statfs *s)
{
	json_t *o = json_object();

	json_object_set_new(o, "f_bsize", number(s->bsize));
	json_object_set_new(o, "f_frsize", number(s->frsize));
	json_object_set_new(o, "f_blocks", number(s->blocks));
	json_object_set_new(o, "f_bfree", number(s->bfree));
	json_object_set_new(o, "f_bavail", number(s->bavail));
	json_object_set_new(o, "f_files", number(s->files));
	json_object_set_new(o, "f_ffree", number(s->ffree));
	return o;
}

static json_t *df_object(char *const df[2])
{
	json_t *o = json_object();

	if (df[0])
		json_object_set_new(o, "k", json_string(df[0]));
	if (df[1])
		json_object_set_new(o, "i", json_string(df[1]));
	return o;
}

static json_t *kernel_object(const struct pop_job *job)
{
	const struct pop_outcome *out = &job->outcome;
	json_t *o = json_object(), *list = json_array();

	json_object_set_new(o, "release", json_string(job->r->kernel ?
						      job->r->kernel : ""));
	json_object_set_new(o, "df", statfs_object(&out->statfs[0]));
	json_object_set_new(o, "df_ro", statfs_object(&out->statfs[1]));
	/* What df would have said while nothing, and while not all, was there. */
	json_object_set_new(o, "df_new",
			    statfs_object(&out->statfs[FSA_POPULATE_NEW]));
	json_object_set_new(o, "df_unsynced",
			    statfs_object(&out->statfs[FSA_POPULATE_UNSYNCED]));
	json_object_set_new(o, "gnu_df", df_object(out->df[0]));
	json_object_set_new(o, "gnu_df_ro", df_object(out->df[1]));
	for (size_t i = 0; i < out->st_count; i++) {
		const struct pop_st *st = &out->st[i];
		json_t *s = json_object();

		set_name(s, "path", st->path);
		json_object_set_new(s, "ino", number(st->ino));
		json_object_set_new(s, "blocks", number(st->blocks));
		json_object_set_new(s, "size", number(st->size));
		json_object_set_new(s, "nlink", number(st->nlink));
		json_array_append_new(list, s);
	}
	json_object_set_new(o, "st", list);
	return o;
}

static json_t *times_object(const struct fsa_populate_result *r)
{
	json_t *o = json_object();

	for (size_t i = 0; i < r->time_count; i++) {
		const struct fsa_populate_time *t = &r->times[i];

		json_object_set_new(o, t->phase, json_pack(
			"{s:I,s:I,s:I,s:s}", "real_ns", (json_int_t)t->real,
			"user_ns", (json_int_t)t->user,
			"sys_ns", (json_int_t)t->sys, "measured",
			t->in_guest ? "guest" : "host"));
	}
	return o;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Names of the log's image, or of those of further devices in their order. */
static json_t *further(const struct pop_job *job)
{
	json_t *list = json_array();

	if (job->log_image) {
		json_decref(list);
		return json_string(base_name(job->images[1].final));
	}
	for (size_t i = 1; i < job->image_count; i++)
		json_array_append_new(list, json_string(
			base_name(job->images[i].final)));
	return list;
}

static json_t *head(const struct pop_job *job)
{
	const struct fsa_populate_result *r = job->r;
	json_t *o = json_object();

	json_object_set_new(o, "format", json_integer(1));
	json_object_set_new(o, "fs", json_string(job->fs->name));
	json_object_set_new(o, "collection", json_string(job->args.name));
	json_object_set_new(o, "seed", number(job->args.seed));
	json_object_set_new(o, "files", number(job->args.files));
	if (job->args.clones)
		json_object_set_new(o, "clones", number(job->args.clones));
	if (job->o->tree)
		json_object_set_new(o, "tree", json_string(base_name(job->o->tree)));
	if (job->args.file_size)
		json_object_set_new(o, "file_size",
				    number(job->args.file_size));
	json_object_set_new(o, "sync_every", number(job->o->sync_every));
	json_object_set_new(o, "image_size", number(r->size));
	json_object_set_new(o, "engine", json_string(
		fsa_populate_engine_name(r->engine)));
	if (job->image_count > 1)
		json_object_set_new(o, job->log_image ? "log_image" :
				    "device_images", further(job));
	if (strcmp(r->times_kept, "all"))
		json_object_set_new(o, "times_kept",
				    json_string(r->times_kept));
	if (r->engine == FSA_POPULATE_LIB)
		json_object_set_new(o, "library",
				    json_string(job->fs->lib->library));
	if (r->kernel)
		json_object_set_new(o, "kernel_release",
				    json_string(r->kernel));
	json_object_set_new(o, "mkfs_command", json_string(r->mkfs_command));
	if (r->mkfs_version)
		json_object_set_new(o, "mkfs_version",
				    json_string(r->mkfs_version));
	if (r->engine != FSA_POPULATE_LIB) {
		json_object_set_new(o, "mount_type",
			json_string(job->o->mount_type ? job->o->mount_type :
				    job->fs->mount_type));
		json_object_set_new(o, "mount_options",
				    json_string(r->mount_options));
	}
	json_object_set_new(o, "times", times_object(r));
	return o;
}

/* The kernel's view against the model's: a difference is our mistake. */
static int compare(struct pop_job *job, const struct pop_model *m)
{
	const struct pop_outcome *out = &job->outcome;
	size_t s = 0;

	for (size_t i = 0; i < m->count; i++) {
		const struct pop_node *n = m->entries[i].node;
		const char *path = m->entries[i].path;
		const struct pop_st *st;
		const char *what = NULL;
		bool dir = S_ISDIR(n->mode), node = S_ISCHR(n->mode) ||
			S_ISBLK(n->mode);

		while (s < out->st_count && strcmp(out->st[s].path, path) < 0)
			s++;
		if (s == out->st_count || strcmp(out->st[s].path, path)) {
			pop_fail(job, "%s: it is not in the filesystem after "
				 "a fresh mount", path);
			return -1;
		}
		st = &out->st[s];
		if (st->mode != n->mode)
			what = "type or mode";
		else if (st->uid != n->uid || st->gid != n->gid)
			what = "owner";
		else if (!dir && st->nlink != n->nlink)
			what = "number of links";
		else if ((S_ISREG(n->mode) || S_ISLNK(n->mode)) &&
			 st->size != n->size)
			what = "size";
		else if (node && (st->major != n->major ||
				  st->minor != n->minor))
			what = "device number";
		else if (st->mtime != n->mtime ||
			 st->mtime_nsec != n->mtime_nsec)
			what = "time";
		if (what) {
			pop_fail(job, "%s: its %s is another after a fresh "
				 "mount", path, what);
			return -1;
		}
	}
	return 0;
}

/*
 * Files of one source and one size that are written whole have one digest:
 * of a tree and its clones each file is digested once.
 */
struct digests {
	const struct pop_node **slots;
	size_t count;		/* a power of two */
};

static bool whole(const struct pop_node *n)
{
	return n->written.count == 1 && !n->written.list[0].offset &&
		n->written.list[0].length == n->size;
}

/* The place of a node, or of one with the same content. */
static const struct pop_node **slot_of(struct digests *d,
				       const struct pop_node *n)
{
	uint64_t h = (n->source.seed ^ n->source.at ^ n->size << 20) *
		UINT64_C(0x9e3779b97f4a7c15);
	size_t i = (size_t)(h >> 20) & (d->count - 1);

	while (d->slots[i] && (d->slots[i]->size != n->size ||
			       !pop_source_same(&d->slots[i]->source,
						&n->source)))
		i = (i + 1) & (d->count - 1);
	return &d->slots[i];
}

static int digest_one(struct digests *d, struct pop_node *node,
		      unsigned char *buf)
{
	const struct pop_node **slot = whole(node) ? slot_of(d, node) : NULL;
	int ret;

	if (slot && *slot) {
		memcpy(node->sha256, (*slot)->sha256, sizeof(node->sha256));
		return 0;
	}
	ret = pop_model_digest(node, buf, DIGEST_BUF);
	if (slot)
		*slot = node;
	return ret;
}

static int digest_all(struct pop_job *job, struct pop_model *m)
{
	unsigned char *buf = malloc(DIGEST_BUF);
	struct digests d = { .count = 1024 };
	int ret = buf ? 0 : -ENOMEM;

	while (d.count < m->count * 2)
		d.count *= 2;
	d.slots = calloc(d.count, sizeof(*d.slots));
	if (!d.slots)
		ret = -ENOMEM;

	for (size_t i = 0; !ret && i < m->count; i++) {
		struct pop_node *node = m->entries[i].node;

		if (S_ISREG(node->mode) && !node->sha256[0])
			ret = digest_one(&d, node, buf);
		if (!ret && i % 64 == 0) {
			if (job->o->progress)
				job->o->progress(job->o->ctx, "manifest", i,
						 m->count);
			if (pop_interrupted(job))
				ret = -EINTR;
		}
	}
	free(d.slots);
	free(buf);
	return ret;
}

static void count_refusals(struct fsa_populate_result *r,
			   const struct pop_model *m)
{
	r->refused = m->left_out_count;
	for (size_t i = 0; i < m->left_out_count; i++) {
		const char *operation = pop_op_kind_name(m->left_out[i].kind);
		size_t k;

		for (k = 0; k < r->refusal_kinds; k++)
			if (r->refusals[k].operation == operation &&
			    r->refusals[k].err == m->left_out[i].err)
				break;
		if (k == FSA_POPULATE_REFUSALS)
			continue;
		if (k == r->refusal_kinds)
			r->refusals[r->refusal_kinds++] =
				(struct fsa_populate_refusal){
					operation, m->left_out[i].err, 0,
				};
		r->refusals[k].count++;
	}
}

static int write_out(struct pop_job *job, const struct pop_model *m,
		     const char *path)
{
	json_t *o = head(job), *list = json_array();
	FILE *f;
	int bad;

	json_object_set_new(o, "not_supported", left_out(m));
	for (size_t i = 0; i < m->count; i++)
		json_array_append_new(list, entry(&m->entries[i],
			has_time(job, &m->entries[i])));
	json_object_set_new(o, "entries", list);
	if (job->outcome.kernel)
		json_object_set_new(o, "kernel", kernel_object(job));
	f = fopen(path, "we");
	bad = !f || json_dumpf(o, f, JSON_INDENT(1)) || putc('\n', f) == EOF;
	if (f && fclose(f))
		bad = 1;
	json_decref(o);
	if (bad) {
		pop_fail(job, "%s: the manifest cannot be written: %s",
			 job->r->manifest, strerror(errno));
		return -1;
	}
	return 0;
}

/* What the engine loses of the times is not in the manifest either. */
static void keep_times(struct pop_job *job, struct pop_model *m)
{
	static const char *const kept[] = {
		[POP_TIMES_ALL] = "all", [POP_TIMES_SECONDS] = "seconds",
		[POP_TIMES_NONE] = "none",
	};
	enum pop_times times = job->r->engine == FSA_POPULATE_LIB ?
		job->fs->lib->times : POP_TIMES_ALL;

	job->r->times_kept = kept[times];
	for (size_t i = 0; times == POP_TIMES_SECONDS && i < m->count; i++)
		m->entries[i].node->mtime_nsec = 0;
}

int pop_manifest(struct pop_job *job, const char *path)
{
	const struct pop_outcome *out = &job->outcome;
	struct pop_model m;
	int ret;

	ret = pop_model_build(&m, job->collection, &job->args, out->refusals,
			      out->refusal_count);
	if (!ret)
		keep_times(job, &m);
	if (!ret && path)
		ret = digest_all(job, &m);
	if (ret)
		pop_fail(job, "manifest: %s", ret == -EINTR ? "interrupted" :
			 strerror(-ret));
	if (!ret) {
		job->r->objects = m.count;
		count_refusals(job->r, &m);
		if (out->df[0][0])
			job->r->df = strdup(out->df[0][0]);
	}
	if (!ret && out->kernel)
		ret = compare(job, &m);
	if (!ret && path)
		ret = write_out(job, &m, path);
	pop_model_free(&m);
	return ret ? -1 : 0;
}
