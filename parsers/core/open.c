/* SPDX-License-Identifier: GPL-2.0-only */
/* Opening a filesystem, and the one way in which parsers read. */
#include <stdlib.h>
#include <string.h>

#include "fsa/parser.h"

static bool knows(const struct fsa_parser *parser, const char *type)
{
	for (const char *const *t = parser->types; *t; t++)
		if (strcmp(*t, type) == 0)
			return true;
	return false;
}

enum fsa_status fsa_open(const struct fsa_device *devices, unsigned n_devices, const char *type,
			 const struct fsa_open_options *options, struct fsa_findings *findings,
			 struct fsa_fs **result, struct fsa_error *err)
{
	const char *reason = type ? fsa_unsupported_reason(type) : NULL;
	const char *name;
	struct fsa_fs *fs;

	*result = NULL;
	if (!n_devices || n_devices > FSA_MAX_DEVICES || devices[0].role != FSA_ROLE_MAIN)
		return fsa_fail(err, FSA_EINVAL, "between 1 and %u images make a filesystem", FSA_MAX_DEVICES);
	name = fsa_image_name(devices[0].image);
	fs = calloc(1, sizeof(*fs));
	if (!fs)
		return fsa_fail(err, FSA_ENOMEM, "%s: out of memory", name);
	memcpy(fs->devices, devices, n_devices * sizeof(*devices));
	fs->n_devices = n_devices;
	if (options)
		fs->options = *options;
	fs->findings = findings;
	/* What detection named comes first; the others follow, since a damaged image may fool it. */
	for (int named = 1; named >= 0; named--) {
		for (const struct fsa_parser *const *p = fsa_parsers; *p; p++) {
			enum fsa_status st;

			if ((type && knows(*p, type)) != (named == 1))
				continue;
			fs->parser = *p;
			st = (*p)->open(fs, err);
			if (st == FSA_OK) {
				*result = fs;
				return FSA_OK;
			}
			if (st != FSA_ENOENT) {
				free(fs);
				return st;
			}
		}
		if (named && reason)
			break;
	}
	free(fs);
	if (reason)
		return fsa_fail(err, FSA_EUNSUPPORTED, "%s: %s is not supported: %s", name, type, reason);
	if (type)
		return fsa_fail(err, FSA_EUNSUPPORTED, "%s: looks like %s, but nothing in it can be read as that", name, type);
	return fsa_fail(err, FSA_EUNSUPPORTED, "%s: no filesystem found that fsassay reads", name);
}

void fsa_close(struct fsa_fs *fs)
{
	if (!fs)
		return;
	if (fs->parser->close)
		fs->parser->close(fs);
	free(fs);
}

enum fsa_status fsa_read(struct fsa_fs *fs, unsigned device, uint64_t offset, void *buffer, size_t length,
			 const char *object, uint64_t number)
{
	enum fsa_status st;
	struct fsa_image *image;

	if (device >= fs->n_devices)
		return FSA_EINVAL;
	image = fs->devices[device].image;
	st = fsa_image_read(image, offset, buffer, length);
	if (st == FSA_ERANGE)
		fsa_find_on(fs->findings, device, object, number, offset,
			    "%zu bytes wanted, the image ends at %llu", length,
			    (unsigned long long)fsa_image_size(image));
	else if (st != FSA_OK)
		fsa_find_on(fs->findings, device, object, number, offset, "%zu bytes: %s", length,
			    fsa_status_name(st));
	return st;
}

void fsa_statfs_add(struct fsa_statfs *s, enum fsa_statfs_field field, int64_t value, const char *what)
{
	switch (field) {
	case FSA_DF_SIZE: s->blocks += (uint64_t)value; break;
	case FSA_DF_FREE: s->free += (uint64_t)value; break;
	case FSA_DF_AVAILABLE: s->available += (uint64_t)value; break;
	case FSA_DF_FILES: s->files += (uint64_t)value; break;
	case FSA_DF_FILES_FREE: s->files_free += (uint64_t)value; break;
	}
	if (s->n_terms < FSA_MAX_TERMS)
		s->terms[s->n_terms++] = (struct fsa_statfs_term){ .field = field, .value = value, .what = what };
}
