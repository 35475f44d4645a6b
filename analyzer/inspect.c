/* SPDX-License-Identifier: GPL-2.0-only */
#include "inspect.h"

#include <stdlib.h>
#include <string.h>

#include "fsa/read.h"
#include "progress.h"

static bool reserve(void **data, size_t *room, size_t wanted, size_t unit)
{
	size_t bigger = *room != 0 ? *room * 2 : 16;
	void *p;

	if (wanted <= *room)
		return true;
	p = reallocarray(*data, bigger, unit);
	if (p == NULL)
		return false;
	*data = p;
	*room = bigger;
	return true;
}

static enum fsa_status on_extent(void *arg, const struct fsa_extent *extent)
{
	struct inspect *o = arg;
	void *p = o->extents;
	const bool good = reserve(&p, &o->extents_room, o->n_extents + 1, sizeof(*o->extents));

	o->extents = p;
	if (!good)
		return FSA_ENOMEM;
	o->extents[o->n_extents++] = *extent;
	return FSA_OK;
}

static enum fsa_status on_xattr(void *arg, const char *name, const void *value, size_t length)
{
	struct inspect *o = arg;
	void *p = o->xattrs;
	struct inspect_xattr *x;
	const bool good = reserve(&p, &o->xattrs_room, o->n_xattrs + 1, sizeof(*o->xattrs));

	o->xattrs = p;
	if (!good)
		return FSA_ENOMEM;
	x = &o->xattrs[o->n_xattrs++];
	*x = (struct inspect_xattr){ strdup(name), malloc(length + 1), length };
	if (x->name == NULL || x->value == NULL)
		return FSA_ENOMEM;
	if (length != 0)
		memcpy(x->value, value, length);
	return FSA_OK;
}

static void on_line(void *arg, const char *name, const char *value)
{
	struct inspect *o = arg;
	void *p = o->lines;
	const bool good = reserve(&p, &o->lines_room, o->n_lines + 1, sizeof(*o->lines));

	o->lines = p;
	if (!good)
		return;
	o->lines[o->n_lines] = (struct inspect_line){ strdup(name), strdup(value) };
	if (o->lines[o->n_lines].name == NULL || o->lines[o->n_lines].value == NULL) {
		free(o->lines[o->n_lines].name);
		free(o->lines[o->n_lines].value);
		return;
	}
	o->n_lines++;
}

static bool has_extents(enum fsa_type type)
{
	return type == FSA_TYPE_REGULAR || type == FSA_TYPE_DIRECTORY || type == FSA_TYPE_SYMLINK ||
	       type == FSA_TYPE_UNKNOWN;
}

/* Damage is a finding and costs what it hides; only memory stops. */
static enum fsa_status gather(struct inspect *o)
{
	struct fsa_fs *fs = o->opened->fs;
	const struct fsa_parser *parser = fs->parser;
	enum fsa_status status = FSA_OK;

	if (parser->extents != NULL && has_extents(o->stat.type)) {
		/* Only a file has holes: what a directory's map leaves out is not there. */
		if (o->stat.type == FSA_TYPE_REGULAR)
			status = fsa_file_extents(fs, o->stat.ref, o->stat.size, on_extent, o);
		else
			status = parser->extents(fs, o->stat.ref, on_extent, o);
	}
	if (status != FSA_ENOMEM && parser->xattrs != NULL)
		status = parser->xattrs(fs, o->stat.ref, on_xattr, o);
	if (status != FSA_ENOMEM && parser->readlink != NULL && o->stat.type == FSA_TYPE_SYMLINK &&
	    parser->readlink(fs, o->stat.ref, &o->target, &o->target_length) != FSA_OK)
		o->target = NULL;
	if (status != FSA_ENOMEM && parser->describe != NULL)
		status = parser->describe(fs, o->stat.ref, on_line, o);
	return status == FSA_ENOMEM ? FSA_ENOMEM : FSA_OK;
}

int inspect_path(struct inspect *inspect, const struct opened *opened, const char *path)
{
	struct fsa_error err = { .status = FSA_OK };
	struct fsa_ref ref;
	enum fsa_status status;

	*inspect = (struct inspect){ .opened = opened };
	status = fsa_lookup(opened->fs, path, &ref, &err);
	if (status == FSA_OK) {
		status = opened->fs->parser->stat(opened->fs, ref, &inspect->stat);
		if (status != FSA_OK)
			fsa_fail(&err, status, "%s: %s: the inode cannot be read", opened->argument, path);
	}
	if (status != FSA_OK) {
		cli_error("%s", err.message);
		return CLI_FAILED;
	}
	if ((path[0] == '#' || path[0] == '<') && opened->fs->parser->ref_of_number != NULL) {
		if (opened->fs->parser->readdir == NULL || fsa_path_of(opened->fs, ref, &inspect->path) != FSA_OK)
			inspect->path = NULL;
	} else {
		inspect->path = strdup(path);
		if (inspect->path == NULL)
			status = FSA_ENOMEM;
	}
	if (status == FSA_OK)
		status = gather(inspect);
	if (status == FSA_OK)
		return CLI_CONSISTENT;
	cli_error("%s: %s: %s", opened->argument, path, fsa_status_name(status));
	inspect_free(inspect);
	return CLI_FAILED;
}

void inspect_free(struct inspect *inspect)
{
	for (size_t i = 0; i < inspect->n_xattrs; i++) {
		free(inspect->xattrs[i].name);
		free(inspect->xattrs[i].value);
	}
	for (size_t i = 0; i < inspect->n_lines; i++) {
		free(inspect->lines[i].name);
		free(inspect->lines[i].value);
	}
	free(inspect->path);
	free(inspect->target);
	free(inspect->extents);
	free(inspect->xattrs);
	free(inspect->lines);
	*inspect = (struct inspect){ .opened = NULL };
}

/* --- purposes ------------------------------------------------------------------------------------ */

struct counting {
	struct inspect *inspects;
	size_t n;
};

static void on_run(void *arg, const struct fsa_run *run)
{
	const struct counting *c = arg;

	if (run->owner == NULL || !run->owner->has_ref || run->detail >= FSA_MAX_DETAILS)
		return;
	for (size_t i = 0; i < c->n; i++)
		if (fsa_ref_equal(run->owner->ref, c->inspects[i].stat.ref))
			c->inspects[i].detail_bytes[run->detail] += run->length;
}

bool inspect_purposes(struct inspect *inspects, size_t n)
{
	const struct opened *opened = inspects[0].opened;
	const struct fsa_parser *parser = opened->fs->parser;
	struct counting counting = { inspects, n };
	struct progress progress;
	struct fsa_audit audit = { .progress = progress_audit, .progress_arg = &progress };
	struct fsa_ledger *ledger = fsa_ledger_new(parser->details, parser->n_details);
	enum fsa_status status = ledger != NULL ? parser->geometry(opened->fs, ledger) : FSA_ENOMEM;

	if (status == FSA_OK) {
		/* Nothing is booked: the ledger only tells the walk where the devices end. */
		audit.claims = fsa_claims_to_callback(ledger, on_run, &counting);
		status = audit.claims != NULL ? FSA_OK : FSA_ENOMEM;
	}
	if (status == FSA_OK) {
		progress_begin(&progress, "looking for its bytes", opened->argument);
		/* What is wrong elsewhere is the business of an audit, not of one inode. */
		fsa_findings_mute(opened->findings, true);
		status = parser->audit(opened->fs, &audit);
		fsa_findings_mute(opened->findings, false);
		progress_end(&progress);
		fsa_claims_free(audit.claims);
	}
	fsa_ledger_free(ledger);
	for (size_t i = 0; i < n; i++)
		inspects[i].have_purposes = status == FSA_OK;
	if (status == FSA_OK)
		return true;
	cli_error("%s: %s", opened->argument, fsa_status_name(status));
	return false;
}
