/* SPDX-License-Identifier: GPL-2.0-only */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mock_fs.h"

struct fsa_ref mock_ref(uint64_t number)
{
	return (struct fsa_ref){ { number, 0, number * 7 } };
}

static const struct mock_inode *mock_inode(struct fsa_fs *fs, struct fsa_ref ref)
{
	struct mock *m = fs->state;

	return ref.word[0] < m->n_inodes ? &m->inodes[ref.word[0]] : NULL;
}

static enum fsa_status mock_root(struct fsa_fs *fs, struct fsa_ref *ref)
{
	(void)fs;
	*ref = mock_ref(0);
	return FSA_OK;
}

static enum fsa_status mock_stat(struct fsa_fs *fs, struct fsa_ref ref, struct fsa_stat *stat)
{
	struct mock *m = fs->state;
	const struct mock_inode *inode = mock_inode(fs, ref);

	memset(stat, 0, sizeof(*stat));
	stat->ref = ref;
	stat->number = ref.word[0];
	if (m->chain && ref.word[0] >= m->chain) {
		stat->type = FSA_TYPE_DIRECTORY;
		return FSA_OK;
	}
	if (!inode) {
		fsa_find(fs->findings, "inode", ref.word[0], FSA_NO_OFFSET, "does not exist");
		return FSA_EDAMAGED;
	}
	stat->type = inode->type;
	stat->size = inode->size;
	return FSA_OK;
}

static enum fsa_status mock_readdir(struct fsa_fs *fs, struct fsa_ref ref, fsa_dirent_fn entry, void *arg)
{
	struct mock *m = fs->state;
	const struct mock_inode *inode = mock_inode(fs, ref);
	struct fsa_dirent dirent = { .offset = FSA_NO_OFFSET };
	char name[32];

	if (m->chain && ref.word[0] >= m->chain) {
		snprintf(name, sizeof(name), "d%llu", (unsigned long long)ref.word[0] + 1);
		dirent.name = name;
		dirent.name_length = strlen(name);
		dirent.number = ref.word[0] + 1;
		dirent.ref = mock_ref(dirent.number);
		dirent.type = FSA_TYPE_DIRECTORY;
		return entry(arg, &dirent);
	}
	if (!inode)
		return FSA_EDAMAGED;
	for (size_t i = 0; i < inode->n_names; i++) {
		const struct mock_name *n = &inode->names[i];
		enum fsa_status status;

		/* A copy that is overwritten afterwards: nobody may keep the pointer. */
		size_t length = n->length ? n->length : strlen(n->name);
		char *copy = malloc(length + 1);

		assert_non_null(copy);
		memcpy(copy, n->name, length);
		dirent.name = copy;
		dirent.name_length = length;
		dirent.number = n->inode;
		dirent.ref = mock_ref(n->inode);
		dirent.type = n->typed && n->inode < m->n_inodes ? m->inodes[n->inode].type : FSA_TYPE_UNKNOWN;
		status = entry(arg, &dirent);
		memset(copy, 'X', length);
		free(copy);
		if (status != FSA_OK)
			return status;
	}
	return inode->after;
}

static enum fsa_status mock_extents(struct fsa_fs *fs, struct fsa_ref ref, fsa_extent_fn extent, void *arg)
{
	const struct mock_inode *inode = mock_inode(fs, ref);

	if (!inode)
		return FSA_EDAMAGED;
	for (size_t i = 0; i < inode->n_extents; i++) {
		enum fsa_status status = extent(arg, &inode->extents[i]);

		if (status != FSA_OK)
			return status;
	}
	return inode->after;
}

/* Decodes to a row of letters, starting with cookie[0]; cookie[1] makes it fail. */
static enum fsa_status mock_decode(struct fsa_fs *fs, const struct fsa_extent *extent, void *buffer)
{
	struct mock *m = fs->state;

	m->decodes++;
	if (extent->cookie[1])
		return FSA_EDAMAGED;
	for (uint64_t i = 0; i < extent->decoded_length; i++)
		((char *)buffer)[i] = (char)(extent->cookie[0] + i % 26);
	return FSA_OK;
}

static enum fsa_status mock_ref_of_number(struct fsa_fs *fs, uint64_t number, struct fsa_ref *ref)
{
	struct mock *m = fs->state;

	if (number >= m->n_inodes)
		return FSA_ENOENT;
	*ref = mock_ref(number);
	return FSA_OK;
}

static const struct fsa_parser mock_parser = {
	.name = "mock",
	.root = mock_root,
	.stat = mock_stat,
	.readdir = mock_readdir,
	.extents = mock_extents,
	.decode = mock_decode,
	.ref_of_number = mock_ref_of_number,
};

void mock_begin(struct mock_fs *f, const struct mock_inode *inodes, size_t n)
{
	memset(f, 0, sizeof(*f));
	f->bytes = malloc(MOCK_IMAGE_SIZE);
	assert_non_null(f->bytes);
	for (size_t i = 0; i < MOCK_IMAGE_SIZE; i++)
		f->bytes[i] = (uint8_t)(i * 31 + i / 4096);
	f->mock.inodes = inodes;
	f->mock.n_inodes = n;
	f->fs.parser = &mock_parser;
	f->fs.state = &f->mock;
	f->fs.n_devices = 1;
	f->fs.findings = fsa_findings_new(0);
	assert_non_null(f->fs.findings);
	assert_int_equal(fsa_image_from_memory(f->bytes, MOCK_IMAGE_SIZE, "mock.img", &f->fs.devices[0].image), FSA_OK);
}

void mock_end(struct mock_fs *f)
{
	fsa_image_close(f->fs.devices[0].image);
	fsa_findings_free(f->fs.findings);
	free(f->bytes);
}

bool mock_found(const struct mock_fs *f, const char *text)
{
	for (size_t i = 0; i < fsa_findings_count(f->fs.findings); i++)
		if (strstr(fsa_findings_at(f->fs.findings, i)->message, text))
			return true;
	return false;
}
