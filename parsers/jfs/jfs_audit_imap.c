/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The fileset's inode map: its control page, the inode allocation groups (IAG) with their lists and counters,
 * and the inodes themselves, extent by extent. A page of eight inodes with a directory among them is booked
 * when the types of all inodes are known, since names are checked against them.
 */
#include <stdlib.h>
#include <string.h>

#include "jfs_audit.h"

#define IAG32(p, field) FSA_LE(uint32_t, p, struct jfs_iag, field)
#define MAP_WORD(p, field, k) fsa_get_le32((p) + offsetof(struct jfs_iag, field) + 4 * (k))

/* What the lists of IAGs are checked against. */
struct iag_facts {
	uint32_t group;
	uint32_t free_inodes, free_extents;
	uint32_t ino_forward, ino_back, ext_forward, ext_back, free_next;
	bool read, listed_ino, listed_ext, listed_free;
};

struct group_sums {
	uint32_t inodes, free;
};

struct mapper {
	struct jfs_audit_state *s;
	struct jfs *j;
	struct iag_facts *iag;
	struct group_sums group[JFS_MAX_AG];
	unsigned group_log;
	uint64_t inodes, free;
	bool incomplete;
	uint8_t page[JFS_PAGE];		/* an IAG */
	uint8_t extent[4 * JFS_PAGE];
};

static const struct fsa_owner map_owner = { .object = "inode map", .number = FSA_NO_NUMBER };

void jfs_book_imap_control(struct jfs_audit_state *s, uint64_t block, const struct fsa_owner *owner)
{
	const uint32_t used = offsetof(struct jfs_imap_control, pad), groups = offsetof(struct jfs_imap_control, in_agctl);
	struct fsa_split split;

	fsa_split_begin(&split, s->claims, 0, block, 1, 0, owner);
	fsa_split_part(&split, 0, used, JFS_D_IMAP_CONTROL, NULL);
	fsa_split_part(&split, used, groups - used, JFS_D_FREE_IMAP, NULL);
	fsa_split_part(&split, groups, JFS_PAGE - groups, JFS_D_IMAP_CONTROL, NULL);
	fsa_split_end(&split, JFS_D_FREE_IMAP);
}

void jfs_book_iag(struct jfs_audit_state *s, uint64_t block, const uint8_t *page, const struct fsa_owner *owner)
{
	const uint32_t used = offsetof(struct jfs_iag, pad), maps = offsetof(struct jfs_iag, wmap);
	const uint32_t extents = offsetof(struct jfs_iag, inoext), size = sizeof(struct jfs_pxd);
	struct fsa_split split;

	fsa_split_begin(&split, s->claims, 0, block, 1, 0, owner);
	fsa_split_part(&split, 0, used, JFS_D_IAG, NULL);
	fsa_split_part(&split, used, maps - used, JFS_D_FREE_IMAP, NULL);
	fsa_split_part(&split, maps, extents - maps, JFS_D_IAG, NULL);
	for (uint32_t k = 0, n; k < JFS_EXTENTS_PER_IAG; k += n) {
		struct jfs_pxd p;
		bool exists;

		memcpy(&p, page + extents + k * size, size);
		exists = jfs_pxd_length(&p) != 0;
		for (n = 1; k + n < JFS_EXTENTS_PER_IAG; n++) {
			memcpy(&p, page + extents + (k + n) * size, size);
			if ((jfs_pxd_length(&p) != 0) != exists)
				break;
		}
		fsa_split_part(&split, extents + k * size, n * size, exists ? JFS_D_IAG_EXTENTS : JFS_D_FREE_IMAP, NULL);
	}
	fsa_split_end(&split, JFS_D_FREE_IMAP);
}

/* --- inodes --------------------------------------------------------------------------------------------- */

/* Eight records; `in_use` has bit k set when record k is. */
static enum fsa_status book_page(struct jfs_audit_state *s, uint64_t block, uint32_t first, unsigned in_use, const uint8_t *bytes)
{
	struct fsa_owner owner = { .object = "inode map", .number = FSA_NO_NUMBER };
	enum fsa_status st = FSA_OK;
	struct fsa_split split;

	fsa_split_begin(&split, s->claims, 0, block, 1, 0, &owner);
	for (uint32_t k = 0, n; k < JFS_INODES_PER_PAGE && st == FSA_OK; k += n) {
		uint32_t at = k * JFS_INODE_SIZE;
		struct jfs_inode i;

		for (n = 0; k + n < JFS_INODES_PER_PAGE && !(in_use >> (k + n) & 1); n++)
			;
		if (n) {
			fsa_split_part(&split, at, n * JFS_INODE_SIZE, JFS_D_INODE_FREE, NULL);
			continue;
		}
		n = 1;
		jfs_inode_decode(first + k, false, bytes + at, jfs_at(block) + at, &i);
		st = jfs_audit_inode(s, &i, &split, at);
	}
	fsa_split_end(&split, JFS_D_INODE_FREE);
	return st;
}

static enum fsa_status take_page(struct mapper *m, uint64_t block, uint32_t first, unsigned in_use, const uint8_t *bytes)
{
	struct jfs_audit_state *s = m->s;
	bool has_directory = false;

	for (uint32_t k = 0; k < JFS_INODES_PER_PAGE; k++) {
		enum fsa_status st;
		bool directory;

		if (!(in_use >> k & 1))
			continue;
		st = jfs_links_use(s, first + k, bytes + k * JFS_INODE_SIZE, &directory);
		if (st != FSA_OK)
			return st;
		has_directory |= directory;
	}
	if (!has_directory)
		return book_page(s, block, first, in_use, bytes);
	if (!jfs_room((void **)&s->pages, &s->pages_room, s->n_pages, sizeof(*s->pages)))
		return FSA_ENOMEM;
	s->pages[s->n_pages++] = (struct jfs_dir_page){ .block = block, .first = first, .in_use = (uint8_t)in_use };
	return FSA_OK;
}

static enum fsa_status take_extent(struct mapper *m, uint32_t iag, uint32_t k, const struct jfs_pxd *p, ull at)
{
	struct jfs *j = m->j;
	uint32_t first = iag * JFS_INODES_PER_IAG + k * JFS_INODES_PER_EXTENT, working = MAP_WORD(m->page, wmap, k);
	uint64_t block = jfs_pxd_address(p);
	enum fsa_status st = FSA_OK;

	if (jfs_pxd_length(p) != 4 || !jfs_block_ok(j, block, 4)) {
		JFS_FIND(j, "IAG", iag, at, "inodes from %u on lie in %u blocks at %llu; it takes 4, the filesystem has %llu", first,
			 jfs_pxd_length(p), (ull)block, (ull)j->blocks);
		m->incomplete = true;
		return FSA_OK;
	}
	if (fsa_read(j->fs, 0, jfs_at(block), m->extent, sizeof(m->extent), "inode extent", first) != FSA_OK) {
		fsa_claim(m->s->claims, 0, block, 4, JFS_D_INODE_FREE, 0, &map_owner);
		m->incomplete = true;
		return FSA_OK;
	}
	for (uint32_t page = 0; page < 4 && st == FSA_OK; page++) {
		unsigned in_use = 0;

		for (uint32_t n = 0; n < JFS_INODES_PER_PAGE; n++) {
			uint32_t bit = page * JFS_INODES_PER_PAGE + n;

			if (!(working >> (31 - bit) & 1))
				continue;
			in_use |= 1u << n;
			/* Not in every release of mkfs.jfs is this said of the first extent; others must. */
			if (fsa_get_le32(m->extent + bit * JFS_INODE_SIZE + offsetof(struct jfs_dinode, di_ixpxd) + 4) != (uint32_t)block)
				JFS_FIND(j, "inode", first + bit, jfs_at(block) + bit * JFS_INODE_SIZE, "says its extent is at %u, it is at %llu",
					 fsa_get_le32(m->extent + bit * JFS_INODE_SIZE + offsetof(struct jfs_dinode, di_ixpxd) + 4), (ull)block);
		}
		st = take_page(m, block + page, first + page * JFS_INODES_PER_PAGE, in_use, m->extent + page * JFS_PAGE);
	}
	return st;
}

/* --- IAGs ----------------------------------------------------------------------------------------------- */

static void check_iag(struct mapper *m, uint32_t n, uint32_t inodes_free, uint32_t extents_free, const uint32_t inosmap[4],
		      const uint32_t extsmap[4], ull at)
{
	struct jfs *j = m->j;
	const uint8_t *p = m->page;

	if (IAG32(p, iagnum) != n)
		JFS_FIND(j, "IAG", n, at, "says it is number %u", IAG32(p, iagnum));
	if (IAG32(p, nfreeinos) != inodes_free)
		JFS_FIND(j, "IAG", n, at, "%u free inodes, the bitmap has %u", IAG32(p, nfreeinos), inodes_free);
	if (IAG32(p, nfreeexts) != extents_free)
		JFS_FIND(j, "IAG", n, at, "%u extents can be added, %u are not there", IAG32(p, nfreeexts), extents_free);
	for (unsigned k = 0; k < 4; k++) {
		if (MAP_WORD(p, inosmap, k) != inosmap[k])
			JFS_FIND(j, "IAG", n, at + offsetof(struct jfs_iag, inosmap) + 4 * k, "summary of free inodes 0x%08x, computed 0x%08x",
				 MAP_WORD(p, inosmap, k), inosmap[k]);
		if (MAP_WORD(p, extsmap, k) != extsmap[k])
			JFS_FIND(j, "IAG", n, at + offsetof(struct jfs_iag, extsmap) + 4 * k, "summary of extents 0x%08x, computed 0x%08x",
				 MAP_WORD(p, extsmap, k), extsmap[k]);
	}
}

static enum fsa_status take_iag(struct mapper *m, uint32_t n)
{
	struct jfs *j = m->j;
	uint64_t block = jfs_pieces_find(&j->imap, (uint64_t)n + 1);
	uint32_t inosmap[4] = { 0 }, extsmap[4] = { 0 }, inodes_free = 0, extents_free = 0, differ = 0;
	struct iag_facts *f = &m->iag[n];
	enum fsa_status st = FSA_OK;
	ull at = jfs_at(block);

	if (!block || fsa_read(j->fs, 0, at, m->page, sizeof(m->page), "IAG", n) != FSA_OK) {
		if (block)
			fsa_claim(m->s->claims, 0, block, 1, JFS_D_IAG, 0, &map_owner);
		else
			JFS_FIND(j, "IAG", n, FSA_NO_OFFSET, "not mapped by the inode of the inode map");
		m->incomplete = true;
		return FSA_OK;
	}
	jfs_book_iag(m->s, block, m->page, &map_owner);
	for (uint32_t k = 0; k < JFS_EXTENTS_PER_IAG && st == FSA_OK; k++) {
		uint32_t bit = UINT32_C(1) << (31 - k % 32), working = MAP_WORD(m->page, wmap, k), persistent = MAP_WORD(m->page, pmap, k);
		ull at_extent = at + offsetof(struct jfs_iag, inoext) + k * sizeof(struct jfs_pxd);
		struct jfs_pxd p;

		memcpy(&p, m->page + offsetof(struct jfs_iag, inoext) + k * sizeof(p), sizeof(p));
		differ += (unsigned)__builtin_popcount(working ^ persistent);
		if (!jfs_pxd_length(&p)) {
			extents_free++;
			inosmap[k / 32] |= bit;
			if (working)
				JFS_FIND(j, "IAG", n, at + offsetof(struct jfs_iag, wmap) + 4 * k, "inodes 0x%08x of extent %u are in use, there is no such "
					 "extent", working, k);
			continue;
		}
		extsmap[k / 32] |= bit;
		if (working == UINT32_MAX)
			inosmap[k / 32] |= bit;
		inodes_free += 32 - (unsigned)__builtin_popcount(working);
		st = take_extent(m, n, k, &p, at_extent);
	}
	if (differ && jfs_is_clean(j))
		JFS_FIND(j, "IAG", n, at, "%u inodes differ between the working and the persistent map", differ);
	check_iag(m, n, inodes_free, extents_free, inosmap, extsmap, at);
	*f = (struct iag_facts){
		.group = (uint32_t)fsa_min(FSA_LE(uint64_t, m->page, struct jfs_iag, agstart) >> m->group_log, JFS_MAX_AG - 1),
		.free_inodes = inodes_free, .free_extents = extents_free, .read = true,
		.ino_forward = IAG32(m->page, inofreefwd), .ino_back = IAG32(m->page, inofreeback),
		.ext_forward = IAG32(m->page, extfreefwd), .ext_back = IAG32(m->page, extfreeback), .free_next = IAG32(m->page, iagfree),
	};
	m->group[f->group].inodes += (JFS_EXTENTS_PER_IAG - extents_free) * JFS_INODES_PER_EXTENT;
	m->group[f->group].free += inodes_free;
	m->inodes += (JFS_EXTENTS_PER_IAG - extents_free) * JFS_INODES_PER_EXTENT;
	m->free += inodes_free;
	return st;
}

/* --- lists and sums ------------------------------------------------------------------------------------- */

enum list_kind { INODES, EXTENTS };

static void walk_list(struct mapper *m, uint32_t group, enum list_kind kind, uint32_t head)
{
	static const char *const names[] = { "free inodes", "free extents" };
	struct jfs *j = m->j;
	uint32_t back = JFS_NO_IAG;

	for (uint32_t n = head; n != JFS_NO_IAG;) {
		struct iag_facts *f = n < j->iags ? &m->iag[n] : NULL;
		bool *listed;
		uint32_t said;

		if (!f || !f->read) {
			JFS_FIND(j, "allocation group", group, FSA_NO_OFFSET, "list of IAGs with %s leads to IAG %u, there are %u", names[kind], n, j->iags);
			return;
		}
		listed = kind == INODES ? &f->listed_ino : &f->listed_ext;
		if (*listed) {
			JFS_FIND(j, "allocation group", group, FSA_NO_OFFSET, "list of IAGs with %s holds IAG %u twice", names[kind], n);
			return;
		}
		*listed = true;
		said = kind == INODES ? f->ino_back : f->ext_back;
		if (said != back)
			JFS_FIND(j, "IAG", n, jfs_at(jfs_pieces_find(&j->imap, (uint64_t)n + 1)), "in the list of IAGs with %s the one before it is "
				 "%d, it says %d", names[kind], (int)back, (int)said);
		if (f->group != group)
			JFS_FIND(j, "IAG", n, jfs_at(jfs_pieces_find(&j->imap, (uint64_t)n + 1)), "of group %u, in the list of %s of group %u",
				 f->group, names[kind], group);
		back = n;
		n = kind == INODES ? f->ino_forward : f->ext_forward;
	}
}

static void check_lists(struct mapper *m)
{
	struct jfs *j = m->j;
	const uint8_t *c = j->imap_control;

	for (uint32_t g = 0; g < JFS_MAX_AG; g++) {
		const uint8_t *a = c + offsetof(struct jfs_imap_control, in_agctl) + g * sizeof(struct jfs_iagctl);
		uint32_t inodes = FSA_LE(uint32_t, a, struct jfs_iagctl, numinos), free_inodes = FSA_LE(uint32_t, a, struct jfs_iagctl, numfree);

		if (inodes != m->group[g].inodes || free_inodes != m->group[g].free)
			JFS_FIND(j, "allocation group", g, jfs_at(jfs_pieces_find(&j->imap, 0)) + (uint64_t)(a - c), "%u inodes, %u of them free; its "
				 "IAGs have %u and %u", inodes, free_inodes, m->group[g].inodes, m->group[g].free);
		walk_list(m, g, INODES, FSA_LE(uint32_t, a, struct jfs_iagctl, inofree));
		walk_list(m, g, EXTENTS, FSA_LE(uint32_t, a, struct jfs_iagctl, extfree));
	}
	for (uint32_t n = JFS_IC32(c, in_freeiag); n != JFS_NO_IAG;) {
		if (n >= j->iags || !m->iag[n].read || m->iag[n].listed_free) {
			JFS_FIND(j, "inode map", FSA_NO_NUMBER, FSA_NO_OFFSET, "list of free IAGs leads to IAG %u, there are %u", n, j->iags);
			break;
		}
		m->iag[n].listed_free = true;
		n = m->iag[n].free_next;
	}
	for (uint32_t n = 0; n < j->iags; n++) {
		const struct iag_facts *f = &m->iag[n];
		ull at = jfs_at(jfs_pieces_find(&j->imap, (uint64_t)n + 1));

		if (!f->read)
			continue;
		if (f->listed_ino != (f->free_inodes != 0))
			JFS_FIND(j, "IAG", n, at, "%u free inodes, it is %s the list of those that have some", f->free_inodes,
				 f->listed_ino ? "in" : "not in");
		/* An IAG without extents is in the list of free ones and belongs to no group's. */
		if (f->listed_ext != (f->free_extents != 0 && f->free_extents != JFS_EXTENTS_PER_IAG) ||
		    f->listed_free != (f->free_extents == JFS_EXTENTS_PER_IAG))
			JFS_FIND(j, "IAG", n, at, "%u of %u extents are not there; it is %s the list of those with free extents, %s the list of free "
				 "IAGs", f->free_extents, JFS_EXTENTS_PER_IAG, f->listed_ext ? "in" : "not in", f->listed_free ? "in" : "not in");
	}
}

static void check_control(struct mapper *m)
{
	struct jfs *j = m->j;
	const uint8_t *c = j->imap_control;
	ull at = jfs_at(jfs_pieces_find(&j->imap, 0));

	if (JFS_IC32(c, in_nbperiext) != 4 || JFS_IC32(c, in_l2nbperiext) != 2)
		JFS_FIND(j, "inode map", FSA_NO_NUMBER, at, "%u (2^%u) blocks an extent of inodes, it takes 4", JFS_IC32(c, in_nbperiext),
			 JFS_IC32(c, in_l2nbperiext));
	/* Sums and heads of lists are written when the filesystem is unmounted. */
	if (m->incomplete || !jfs_is_clean(j))
		return;
	if (JFS_IC32(c, in_numinos) != m->inodes || JFS_IC32(c, in_numfree) != m->free)
		JFS_FIND(j, "inode map", FSA_NO_NUMBER, at, "%u inodes, %u of them free; the IAGs have %llu and %llu", JFS_IC32(c, in_numinos),
			 JFS_IC32(c, in_numfree), (ull)m->inodes, (ull)m->free);
	check_lists(m);
}

/* --- all of it ------------------------------------------------------------------------------------------ */

/* Pages that lie one behind the other are read at once. */
static enum fsa_status book_directories(struct jfs_audit_state *s)
{
	uint8_t bytes[4 * JFS_PAGE];
	enum fsa_status st = FSA_OK;
	size_t n;

	for (size_t k = 0; k < s->n_pages && st == FSA_OK; k += n) {
		const struct jfs_dir_page *p = &s->pages[k];

		for (n = 1; n < 4 && k + n < s->n_pages && p[n].block == p->block + n; n++)
			;
		if (fsa_read(s->j->fs, 0, jfs_at(p->block), bytes, n * JFS_PAGE, "inode extent", p->first) != FSA_OK)
			continue;
		for (size_t i = 0; i < n && st == FSA_OK; i++)
			st = book_page(s, p[i].block, p[i].first, p[i].in_use, bytes + i * JFS_PAGE);
	}
	return st;
}

enum fsa_status jfs_audit_imap(struct jfs_audit_state *s)
{
	struct jfs *j = s->j;
	struct mapper *m = calloc(1, sizeof(*m));
	uint64_t block = jfs_pieces_find(&j->imap, 0);
	uint32_t agsize = JFS_SB32(j->sb, s_agsize);
	enum fsa_status st = FSA_OK;

	if (!m)
		return FSA_ENOMEM;
	m->s = s;
	m->j = j;
	m->group_log = fsa_is_power_of_two(agsize) ? (unsigned)__builtin_ctz(agsize) : JFS_L2_BLOCKS_PER_DMAP;
	m->iag = calloc(j->iags ? j->iags : 1, sizeof(*m->iag));
	if (!m->iag)
		st = FSA_ENOMEM;
	if (block)
		jfs_book_imap_control(s, block, &map_owner);
	for (uint32_t n = 0; n < j->iags && st == FSA_OK; n++) {
		st = take_iag(m, n);
		if (s->audit->progress)
			s->audit->progress(s->audit->progress_arg, n, (uint64_t)j->iags * 2);
	}
	if (st == FSA_OK)
		st = book_directories(s);
	if (st == FSA_OK && j->imap_control_ok)
		check_control(m);
	free(m->iag);
	free(m);
	return st;
}
