/* SPDX-License-Identifier: GPL-2.0-only */
/* Filling Reiser4 in process: libreiser4 as a writer. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib_reiser4.h"

/* What the kernel's path lookup allows. */
#define NAME_MAX_REISER4	255
/* Nodes and data blocks that wait in memory before they are written. */
#define CACHED_BLOCKS		8192

/*
 * The library hands its messages to one handler without a context. It is
 * opened by one caller at a time, so one place for the last one will do.
 */
static char last_message[160];
/* Started once and never ended: its end loses what its start has made. */
static bool started;

static aal_exception_option_t keep_message(aal_exception_t *ex)
{
	snprintf(last_message, sizeof(last_message), "%s",
		 aal_exception_message(ex));
	/* It never asks while it is filled: the first answer on offer. */
	return aal_exception_option(ex) & -aal_exception_option(ex);
}

static int cache_is_full(reiser4_tree_t *tree)
{
	return tree->nodes->real + tree->blocks->real > CACHED_BLOCKS;
}

/* --- names --------------------------------------------------------------- */

static int remember(struct lib_reiser4 *w, const char *path,
		    const reiser4_key_t *key, struct lib_reiser4_file *file)
{
	if (w->count == w->room) {
		size_t room = w->room ? w->room * 2 : 1024;
		struct lib_reiser4_name *list;

		list = realloc(w->list, room * sizeof(*list));
		if (!list)
			return -ENOMEM;
		w->list = list;
		w->room = room;
		if (!w->count)
			w->list[w->count++] = (struct lib_reiser4_name){
				.file = NULL,
			};
	}
	if (pop_names_set(&w->names, path, w->count))
		return -ENOMEM;
	w->list[w->count++] = (struct lib_reiser4_name){ *key, file };
	return 0;
}

/* An image that was filled before: a name's object, once from the disk. */
static struct lib_reiser4_name *from_disk(struct lib_reiser4 *w,
					  const char *path)
{
	struct lib_reiser4_file *file = NULL;
	reiser4_object_t *object;
	int ret = 0;

	if (!w->fs->root)
		return NULL;
	object = reiser4_semantic_open(w->fs->tree, (char *)(uintptr_t)path,
				       NULL, 0);
	if (!object)
		return NULL;
	/* Its contents stay unknown: it can be removed and not written. */
	if (reiser4_psobj(object)->p.id.group == REG_OBJECT) {
		file = lib_reiser4_file_new(&(struct pop_op){ .size = 0 });
		ret = file ? 0 : -ENOMEM;
	}
	if (!ret)
		ret = remember(w, path, &object->info.object, file);
	if (ret)
		lib_reiser4_file_put(file);
	reiser4_object_close(object);
	return ret ? NULL : &w->list[w->count - 1];
}

/* Until the next name is remembered. */
static struct lib_reiser4_name *name_of(struct lib_reiser4 *w,
					const char *path)
{
	uint64_t at = pop_names_get(&w->names, path);

	if (at)
		return &w->list[at];
	return pop_names_known(&w->names, path) ? NULL : from_disk(w, path);
}

static reiser4_object_t *object_of(struct lib_reiser4 *w,
				   struct lib_reiser4_name *name)
{
	return reiser4_object_obtain(w->fs->tree, NULL, &name->key);
}

/* The directory that a path lies in, and its last part. */
static int parent_of(struct lib_reiser4 *w, const char *path,
		     reiser4_object_t **dir, const char **name)
{
	uint64_t at;
	int ret = pop_names_parent(&w->names, path, &at, name);

	if (ret == -ENOENT && *name != path) {
		char *up = strndup(path, (size_t)(*name - path) - 1);
		struct lib_reiser4_name *found = up ? name_of(w, up) : NULL;

		ret = found ? 0 : up ? -ENOENT : -ENOMEM;
		at = found ? (uint64_t)(found - w->list) : 0;
		free(up);
	}
	if (ret)
		return ret;
	if (strlen(*name) > NAME_MAX_REISER4)
		return -ENAMETOOLONG;
	*dir = object_of(w, &w->list[at]);
	return *dir ? 0 : -EIO;
}

/* --- operations ---------------------------------------------------------- */

/* Device numbers as the kernel module stores them: its own dev_t. */
static uint32_t device_number(const struct pop_op *op)
{
	return op->major << 20 | (op->minor & 0xfffff);
}

/* Regular files are of the plugin that their directory says. */
static reiser4_object_t *create_file(reiser4_object_t *dir, const char *name)
{
	const reiser4_plug_t *create = dir->info.pset.plug[PSET_CREATE];

	if (create && create->id.id == OBJECT_CCREG40_ID)
		return reiser4_ccreg_create(dir, name, NULL);
	return reiser4_reg_create(dir, name);
}

/* Takes a name away, and the object with its last name. */
static int drop(struct lib_reiser4 *w, reiser4_object_t *dir,
		const char *name, reiser4_object_t *object, bool is_dir,
		const struct lib_reiser4_file *file)
{
	struct lib_reiser4_attr attr = { 0 };
	int ret;

	if (reiser4_object_unlink(dir, (char *)(uintptr_t)name))
		return -EIO;
	if (!is_dir && reiser4_psobj(object)->linked(object))
		return 0;
	if (is_dir) {
		/* One is gone with the name, yet two is what it wants. */
		attr.set_links = true;
		attr.links = 2;
	} else if (file) {
		attr.set_size = true;
		ret = lib_reiser4_empty(w, object);
		if (ret)
			return ret;
	}
	ret = lib_reiser4_set_attr(w, object, &attr);
	if (ret)
		return ret;
	if (reiser4_object_clobber(object))
		return -EIO;
	reiser4_oid_release(w->fs->oid,
		reiser4_key_get_objectid(&object->info.object));
	return 0;
}

static int make(struct lib_reiser4 *w, const struct pop_op *op)
{
	struct lib_reiser4_attr attr = {
		.set_mode = true, .mode = op->mode, .uid = op->uid,
		.gid = op->gid,
	};
	struct lib_reiser4_file *file = NULL;
	reiser4_object_t *dir, *object;
	const char *name;
	int ret = parent_of(w, op->path, &dir, &name);

	if (ret)
		return ret;
	switch (op->kind) {
	case POP_MKDIR:
		object = reiser4_dir_create(dir, name);
		break;
	case POP_SYMLINK:
		attr.mode = 0777;
		/* The target is part of the stat data, which is one item. */
		if (strlen(op->target) > w->block_size / 2) {
			reiser4_object_close(dir);
			return -ENAMETOOLONG;
		}
		object = reiser4_sym_create(dir, name, op->target);
		break;
	case POP_MKNOD:
		/* The library insists on a number that is not 0. */
		object = reiser4_spl_create(dir, name, op->mode & S_IFMT, 1);
		attr.set_device = S_ISCHR(op->mode) || S_ISBLK(op->mode);
		attr.device = device_number(op);
		break;
	default:
		object = create_file(dir, name);
		break;
	}
	if (!object) {
		reiser4_object_close(dir);
		return -EIO;
	}
	if (op->kind == POP_CREATE) {
		file = lib_reiser4_file_new(op);
		ret = file ? lib_reiser4_fill(w, object, file) : -ENOMEM;
		attr.set_time = true;
		attr.sec = (uint32_t)op->mtime;
	}
	if (!ret)
		ret = lib_reiser4_set_attr(w, object, &attr);
	if (!ret)
		ret = remember(w, op->path, &object->info.object, file);
	if (ret) {
		lib_reiser4_file_put(file);
		/* A file that cannot be has no name either. */
		if (ret == -EFBIG &&
		    drop(w, dir, name, object, false, NULL))
			ret = -EIO;
	}
	reiser4_object_close(object);
	reiser4_object_close(dir);
	return ret;
}

static int make_link(struct lib_reiser4 *w, const struct pop_op *op)
{
	struct lib_reiser4_name *old = name_of(w, op->target);
	struct lib_reiser4_name was;
	reiser4_object_t *dir, *object;
	entry_hint_t entry;
	const char *name;
	int ret = old ? parent_of(w, op->path, &dir, &name) : -ENOENT;

	if (ret)
		return ret;
	was = *old;	/* the table may move */
	object = object_of(w, &was);
	if (!object || reiser4_object_entry_prep(w->fs->tree, dir, &entry,
						 name) ||
	    reiser4_object_link(dir, object, &entry))
		ret = -EIO;
	else
		ret = remember(w, op->path, &was.key, was.file);
	if (!ret && was.file)
		was.file->names++;
	if (object)
		reiser4_object_close(object);
	reiser4_object_close(dir);
	return ret;
}

static int remove_name(struct lib_reiser4 *w, const struct pop_op *op)
{
	reiser4_object_t *dir, *object;
	const char *name;
	int ret = parent_of(w, op->path, &dir, &name);
	/* Only now: the list may have moved. */
	struct lib_reiser4_name *slot = ret ? NULL : name_of(w, op->path);

	if (ret)
		return ret;
	if (!slot) {
		reiser4_object_close(dir);
		return -ENOENT;
	}
	object = object_of(w, slot);
	ret = object ? drop(w, dir, name, object, op->kind == POP_RMDIR,
			    slot->file) : -EIO;
	if (object)
		reiser4_object_close(object);
	reiser4_object_close(dir);
	if (!ret) {
		lib_reiser4_file_put(slot->file);
		slot->file = NULL;
		ret = pop_names_set(&w->names, op->path, 0);
	}
	return ret;
}

static int change(struct lib_reiser4 *w, const struct pop_op *op)
{
	struct lib_reiser4_attr attr = { 0 };
	struct lib_reiser4_name *slot = name_of(w, op->path);
	reiser4_object_t *object;
	int ret;

	if (!slot)
		return -ENOENT;
	/* Seconds have 32 bits and no sign. */
	if (op->kind == POP_UTIMES &&
	    (op->mtime < 0 || op->mtime > (int64_t)UINT32_MAX))
		return -ERANGE;
	object = object_of(w, slot);
	if (!object)
		return -EIO;
	switch (op->kind) {
	case POP_WRITE:
		ret = lib_reiser4_write(w, object, slot->file, op);
		break;
	case POP_TRUNCATE:
		ret = lib_reiser4_truncate(w, object, slot->file, op->size);
		break;
	case POP_SETATTR:
		attr.set_mode = true;
		attr.mode = op->mode;
		attr.uid = op->uid;
		attr.gid = op->gid;
		ret = lib_reiser4_set_attr(w, object, &attr);
		break;
	default:
		attr.set_time = true;
		attr.sec = (uint32_t)op->mtime;
		attr.nsec = op->mtime_nsec;
		ret = lib_reiser4_set_attr(w, object, &attr);
		break;
	}
	reiser4_object_close(object);
	return ret;
}

static int reiser4_apply(struct pop_writer *writer, const struct pop_op *op)
{
	struct lib_reiser4 *w = (struct lib_reiser4 *)(void *)writer;

	switch (op->kind) {
	case POP_MKDIR:
	case POP_CREATE:
	case POP_SYMLINK:
	case POP_MKNOD:
		return make(w, op);
	case POP_LINK:
		return make_link(w, op);
	case POP_UNLINK:
	case POP_RMDIR:
		return remove_name(w, op);
	case POP_PREALLOC:
	case POP_SETXATTR:
		/* The format has neither. */
		return -EOPNOTSUPP;
	default:
		return change(w, op);
	}
}

static int reiser4_sync(struct pop_writer *writer)
{
	struct lib_reiser4 *w = (struct lib_reiser4 *)(void *)writer;

	return reiser4_fs_sync(w->fs) ? -EIO : 0;
}

/* --- opening and closing ------------------------------------------------- */

static void reiser4_free(struct lib_reiser4 *w)
{
	for (size_t i = 0; i < w->count; i++)
		lib_reiser4_file_put(w->list[i].file);
	free(w->list);
	pop_names_free(&w->names);
	free(w->buf);
	free(w->packed);
	if (w->fs && w->fs->root) {
		reiser4_object_close(w->fs->root);
		w->fs->root = NULL;
	}
	if (w->fs)
		reiser4_fs_close(w->fs);
	if (w->device)
		aal_device_close(w->device);
	if (w->fd >= 0)
		close(w->fd);
	free(w);
}

static int reiser4_open(const char *image, struct pop_writer **writer,
			char *why, size_t why_size)
{
	struct lib_reiser4 *w = calloc(1, sizeof(*w));
	int ret = -EIO;

	if (!w) {
		snprintf(why, why_size, "%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	last_message[0] = '\0';
	aal_exception_set_handler(keep_message);
	if (!started && libreiser4_init()) {
		snprintf(why, why_size, "the library does not start");
		free(w);
		return -EIO;
	}
	started = true;
	w->writer = (struct pop_writer){
		.apply = reiser4_apply, .sync = reiser4_sync,
	};
	w->buf = malloc(LIB_REISER4_BUF);
	w->packed = malloc(LIB_REISER4_BUF);
	w->fd = open(image, O_RDWR | O_CLOEXEC);
	w->device = aal_device_open(&file_ops, (void *)(uintptr_t)image, 512,
				    O_RDWR);
	if (w->device)
		w->fs = reiser4_fs_open(w->device, 1);
	if (w->fs) {
		w->fs->tree->mpc_func = cache_is_full;
		w->block_size = reiser4_master_get_blksize(w->fs->master);
		w->fs->root = reiser4_semantic_open(w->fs->tree,
			(char *)(uintptr_t)"/", NULL, 0);
	}
	if (!w->buf || !w->packed)
		ret = -ENOMEM;
	else if (w->fd < 0)
		ret = -errno;
	else if (w->fs && w->fs->root)
		ret = remember(w, ".", &w->fs->root->info.object, NULL);
	if (ret) {
		snprintf(why, why_size, "%s", *last_message ? last_message :
			 strerror(-ret));
		reiser4_free(w);
		return ret;
	}
	*writer = &w->writer;
	return 0;
}

static int reiser4_close(struct pop_writer *writer, int ret, char *why,
			 size_t why_size)
{
	struct lib_reiser4 *w = (struct lib_reiser4 *)(void *)writer;
	int err = 0;

	if (!ret && reiser4_fs_sync(w->fs))
		err = -EIO;
	if (ret || err)
		snprintf(why, why_size, "%s", *last_message ? last_message :
			 strerror(ret ? -ret : -err));
	reiser4_free(w);
	return err;
}

const struct pop_lib pop_lib_reiser4 = {
	.library = "libreiser4",
	.open = reiser4_open,
	.close = reiser4_close,
};
