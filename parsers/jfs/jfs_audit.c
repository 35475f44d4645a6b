/* SPDX-License-Identifier: GPL-2.0-only */
/* The audit as a whole: fixed places, block map, inodes in order of their maps, then directories. */
#include <stdlib.h>

#include "jfs_audit.h"

enum fsa_status jfs_geometry(struct fsa_fs *fs, struct fsa_ledger *ledger)
{
	struct jfs *j = jfs_of(fs);
	enum fsa_status st = fsa_ledger_add_device(ledger, j->all_blocks, JFS_PAGE, fsa_image_size(fs->devices[0].image));

	for (unsigned k = 1; k < fs->n_devices && st == FSA_OK; k++) {
		uint64_t size = fsa_image_size(fs->devices[k].image), blocks = size >> JFS_L2PAGE;
		uint8_t s[sizeof(struct jfs_log_super)];

		/* A log says how long it is; what is no log is taken as it is. */
		if (fsa_image_read(fs->devices[k].image, JFS_PAGE, s, sizeof(s)) == FSA_OK &&
		    FSA_LE(uint32_t, s, struct jfs_log_super, magic) == JFS_LOG_MAGIC)
			blocks = fsa_min(blocks, FSA_LE(uint32_t, s, struct jfs_log_super, size));
		st = fsa_ledger_add_device(ledger, blocks, JFS_PAGE, size);
	}
	return st;
}

/* The log of a device of its own, whose blocks no map covers. */
static void audit_log_device(struct jfs *j, struct fsa_claims *claims, unsigned device)
{
	uint64_t blocks = fsa_image_size(j->fs->devices[device].image) >> JFS_L2PAGE, said = blocks;
	uint8_t s[sizeof(struct jfs_log_super)];

	if (fsa_image_read(j->fs->devices[device].image, JFS_PAGE, s, sizeof(s)) == FSA_OK &&
	    FSA_LE(uint32_t, s, struct jfs_log_super, magic) == JFS_LOG_MAGIC)
		said = FSA_LE(uint32_t, s, struct jfs_log_super, size);
	if (device)
		said = fsa_min(said, blocks);
	jfs_log_claim(j, claims, device, 0, said, FSA_CLAIM_UNMAPPED);
}

static void tell_usage(struct jfs_audit_state *s)
{
	const struct jfs_usage *u = &s->usage;
	struct fsa_audit *a = s->audit;
	uint64_t free_blocks = s->j->bmap_control_ok ? JFS_BC64(s->j->bmap_control, dn_nfree) : 0;
	uint64_t known = u->dir_blocks + u->file_blocks + u->ea_blocks + u->acl_blocks + free_blocks;

	if (!a->figure)
		return;
	/* The words are those of jfs_fsck -v. */
	a->figure(a->figure_arg, "usage", "total disk space", jfs_at(s->j->all_blocks), "bytes");
	a->figure(a->figure_arg, "usage", "directories", u->directories, "");
	a->figure(a->figure_arg, "usage", "in directories", jfs_at(u->dir_blocks), "bytes");
	a->figure(a->figure_arg, "usage", "user files", u->files, "");
	a->figure(a->figure_arg, "usage", "in user files", jfs_at(u->file_blocks), "bytes");
	a->figure(a->figure_arg, "usage", "in extended attributes", jfs_at(u->ea_blocks), "bytes");
	a->figure(a->figure_arg, "usage", "in access control lists", jfs_at(u->acl_blocks), "bytes");
	a->figure(a->figure_arg, "usage", "reserved for system use", known < s->j->all_blocks ? jfs_at(s->j->all_blocks - known) : 0,
		  "bytes");
	a->figure(a->figure_arg, "usage", "available for use", jfs_at(free_blocks), "bytes");
}

static enum fsa_status walk(struct jfs_audit_state *s)
{
	enum fsa_status st = jfs_audit_static(s);

	if (st == FSA_OK)
		st = jfs_audit_bmap(s);
	if (st == FSA_OK)
		st = jfs_audit_imap(s);
	if (st == FSA_OK) {
		jfs_links_check(s);
		tell_usage(s);
	}
	return st;
}

enum fsa_status jfs_audit(struct fsa_fs *fs, struct fsa_audit *audit)
{
	struct jfs *j = jfs_of(fs);
	struct jfs_audit_state s = { .j = j, .audit = audit, .claims = audit->claims };
	enum fsa_status st = FSA_ENOMEM;

	if (j->log_device) {
		audit_log_device(j, audit->claims, 0);
		return FSA_OK;
	}
	s.links = calloc(j->iags ? j->iags : 1, sizeof(*s.links));
	if (s.links && bitset_init(&s.nodes, j->blocks))
		st = walk(&s);
	bitset_release(&s.nodes);
	jfs_links_free(&s);
	free(s.pages);
	if (st == FSA_OK && j->log_role > 0)
		audit_log_device(j, audit->claims, (unsigned)j->log_role);
	return st;
}
