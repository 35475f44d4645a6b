/* SPDX-License-Identifier: GPL-2.0-only */
/* Running a collection against a writer. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pop_runner.h"

struct run_sink {
	struct pop_sink sink;
	struct pop_run *run;
};

static int note_refusal(struct pop_run *run, int err)
{
	if (run->refusal_count == run->refusal_room) {
		size_t room = run->refusal_room ? run->refusal_room * 2 : 64;
		struct pop_refusal *list;

		list = realloc(run->refusals, room * sizeof(*list));
		if (!list)
			return -ENOMEM;
		run->refusals = list;
		run->refusal_room = room;
	}
	run->refusals[run->refusal_count++] =
		(struct pop_refusal){ run->ops, err };
	return 0;
}

static int after_file(struct pop_run *run)
{
	run->files++;
	if (run->sync_every && run->files % run->sync_every == 0) {
		int ret = run->writer->sync(run->writer);

		if (ret)
			return ret;
	}
	return 0;
}

/* In the words of a writer that only writes. */
static int apply_plain(struct pop_writer *w, const struct pop_op *op)
{
	struct pop_op plain = *op;
	int ret;

	switch (op->kind) {
	case POP_COPY:
		plain.kind = POP_CREATE;
		return w->apply(w, &plain);
	case POP_DIGEST:
		return 0;
	case POP_RELINK:
		if (w->no_links)
			return -EOPNOTSUPP;
		plain.kind = POP_UNLINK;
		ret = w->apply(w, &plain);
		plain.kind = POP_LINK;
		return ret ? ret : w->apply(w, &plain);
	default:
		return w->apply(w, op);
	}
}

static int apply_one(struct pop_run *run, const struct pop_op *op)
{
	if (op->kind == POP_PHASE) {
		if (run->phase)
			run->phase(run->ctx, op->path);
		return 0;
	}
	if (run->writer->reads)
		return run->writer->apply(run->writer, op);
	return apply_plain(run->writer, op);
}

static bool makes_name(const struct pop_op *op)
{
	return op->kind == POP_MKDIR || op->kind == POP_CREATE ||
	       op->kind == POP_LINK || op->kind == POP_SYMLINK ||
	       op->kind == POP_MKNOD || op->kind == POP_COPY;
}

/* What works on a name that was refused is refused for the same reason. */
static int apply(struct pop_run *run, const struct pop_op *op)
{
	uint64_t err = 0;
	int ret;

	if (run->absent.count && !makes_name(op))
		err = pop_names_get(&run->absent, op->path);
	if (run->absent.count && (op->kind == POP_LINK ||
				  op->kind == POP_RELINK))
		err = pop_names_get(&run->absent, op->target);
	ret = err ? -(int)err : apply_one(run, op);
	/* A name refused once may be made in another way. */
	if (!ret && makes_name(op) && pop_names_get(&run->absent, op->path))
		ret = pop_names_set(&run->absent, op->path, 0);
	if (ret >= 0 || (!err && !pop_op_may_refuse(op, -ret)))
		return ret;
	if (makes_name(op) &&
	    pop_names_set(&run->absent, op->path, (uint64_t)-ret))
		return -ENOMEM;
	ret = note_refusal(run, -ret);
	return ret ? ret : POP_REFUSED;
}

static int run_emit(struct pop_sink *sink, const struct pop_op *op)
{
	struct run_sink *rs = (struct run_sink *)(void *)sink;
	struct pop_run *run = rs->run;
	int ret = apply(run, op);

	if (ret == 0) {
		for (size_t i = 0; i < op->data_count; i++)
			run->bytes += op->data[i].length;
		if (op->kind == POP_CREATE || op->kind == POP_COPY)
			ret = after_file(run);
	}
	run->ops++;
	if (ret >= 0 && run->tick && run->ops % 64 == 0 &&
	    run->tick(run->ctx, run->files))
		ret = -EINTR;
	if (ret < 0 && !run->failed_err) {
		run->failed_err = -ret;
		run->failed_kind = op->kind;
		run->failed_path = strdup(op->path);
	}
	return ret;
}

int pop_run(struct pop_run *run, const struct pop_collection *c,
	    const struct pop_collection_args *args)
{
	struct run_sink rs = { { run_emit }, run };
	int ret = c->run(args, &rs.sink);

	/* A refusal that a collection cannot do without. */
	if (ret > 0)
		ret = -EOPNOTSUPP;
	if (ret < 0 && !run->failed_err)
		run->failed_err = -ret;
	return ret;
}

void pop_run_free(struct pop_run *run)
{
	free(run->refusals);
	free(run->failed_path);
	pop_names_free(&run->absent);
	run->refusals = NULL;
	run->failed_path = NULL;
}
