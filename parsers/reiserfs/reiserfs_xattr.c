/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Extended attributes: each is a file "/.reiserfs_priv/xattrs/OBJECTID.GENERATION/NAME" (hexadecimal), with eight
 * bytes before the value: a magic number and a sum (fs/reiserfs/xattr.c).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fsa/read.h"
#include "reiserfs.h"

/* The kernel's limit for a value is 64 KiB; the header comes before it. */
#define MAX_VALUE_FILE (65536u + sizeof(struct rfs_xattr_header))

enum fsa_status rfs_priv_find(struct rfs *r)
{
	enum fsa_status st;

	if (r->priv_state != RFS_PRIV_UNKNOWN)
		return FSA_OK;
	r->priv_state = RFS_PRIV_NONE;
	st = rfs_dir_find(r, RFS_ROOT_DIR_ID, RFS_ROOT_OBJECTID, RFS_PRIV_ROOT, &r->priv);
	if (st != FSA_OK)
		return st == FSA_ENOMEM ? st : FSA_OK;
	r->priv_state = RFS_PRIV_FOUND;
	st = rfs_dir_find(r, r->priv.dir, r->priv.oid, RFS_XATTR_ROOT, &r->xattr_root);
	if (st != FSA_OK)
		r->xattr_root = (struct rfs_key){ 0 };
	return st == FSA_ENOMEM ? st : FSA_OK;
}

/* --- names of one directory, kept while their objects are looked at ------------------------------------- */

struct name {
	uint32_t dir, oid;
	size_t at;			/* of its bytes in `bytes`, NUL behind them */
	size_t length;
};

struct names {
	struct name *n;
	size_t count, room;
	char *bytes;
	size_t used, bytes_room;
};

static bool grow(void **p, size_t *room, size_t need, size_t size)
{
	size_t n = *room ? *room : 64;
	void *q;

	if (need <= *room)
		return true;
	while (n < need)
		n *= 2;
	q = realloc(*p, n * size);
	if (!q)
		return false;
	*p = q;
	*room = n;
	return true;
}

static enum fsa_status keep_name(void *arg, const struct rfs_entry *e)
{
	struct names *l = arg;
	void *n = l->n, *bytes = l->bytes;
	bool ok = grow(&n, &l->room, l->count + 1, sizeof(*l->n)) && grow(&bytes, &l->bytes_room, l->used + e->name_length + 1, 1);

	l->n = n;
	l->bytes = bytes;
	if (!ok)
		return FSA_ENOMEM;
	l->n[l->count++] = (struct name){ .dir = e->dir, .oid = e->oid, .at = l->used, .length = e->name_length };
	memcpy(l->bytes + l->used, e->name, e->name_length);
	l->used += e->name_length;
	l->bytes[l->used++] = '\0';
	return FSA_OK;
}

static void free_names(struct names *l)
{
	free(l->n);
	free(l->bytes);
}

/* --- values ---------------------------------------------------------------------------------------------- */

struct value {
	uint8_t *bytes;
	size_t length, room;
	bool unreadable;
};

static enum fsa_status add_bytes(void *arg, const void *data, uint64_t length, bool unreadable)
{
	struct value *v = arg;

	if (length > v->room - v->length)
		return FSA_EDAMAGED;
	if (data)
		memcpy(v->bytes + v->length, data, length);
	else
		memset(v->bytes + v->length, 0, length);
	v->length += length;
	v->unreadable |= unreadable;
	return FSA_OK;
}

static uint32_t fold(uint64_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint32_t)sum;
}

/*
 * The sum is the kernel's csum_partial: a ones' complement sum whose 32 bits are folded differently by each
 * machine, and which a big-endian one makes of swapped pairs. What all of them share are the 16 bits that are
 * left in the end, in one byte order or the other; 0 and 0xffff are one value.
 */
static bool sum_ok(const uint8_t *value, size_t length, uint32_t hash)
{
	uint64_t sum = 0;
	uint32_t want, got = fold(hash) % 0xffff, swapped;

	for (size_t k = 0; k + 1 < length; k += 2)
		sum += fsa_get_le16(value + k);
	if (length & 1)
		sum += value[length - 1];
	want = fold(sum) % 0xffff;
	swapped = ((want & 0xff) << 8 | want >> 8) % 0xffff;
	return got == want || got == swapped;
}

static enum fsa_status deliver(struct rfs *r, uint32_t owner, const char *name, const struct rfs_inode *i, const struct value *v,
			       fsa_xattr_fn fn, void *arg)
{
	const size_t head = sizeof(struct rfs_xattr_header);
	const uint8_t *value = v->bytes + head;
	size_t length = v->length - head, shown_length;
	enum fsa_status st;
	uint8_t *shown;

	if (fsa_get_le32(v->bytes) != RFS_XATTR_MAGIC) {
		RFS_FIND(r, "object", i->oid, i->offset, "attribute \"%s\" of object %u begins with 0x%08x, should be 0x%08x: left out", name,
			 owner, fsa_get_le32(v->bytes), RFS_XATTR_MAGIC);
		return FSA_OK;
	}
	if (!v->unreadable && !sum_ok(value, length, fsa_get_le32(v->bytes + 4)))
		RFS_FIND(r, "object", i->oid, i->offset, "attribute \"%s\" of object %u: its %zu bytes do not have the sum 0x%08x", name, owner,
			 length, fsa_get_le32(v->bytes + 4));
	if (strcmp(name, "system.posix_acl_access") != 0 && strcmp(name, "system.posix_acl_default") != 0)
		return fn(arg, name, value, length);
	shown = rfs_acl_convert(value, length, &shown_length, &st);
	if (!shown) {
		if (st == FSA_EDAMAGED)
			RFS_FIND(r, "object", i->oid, i->offset, "access control list \"%s\" of object %u: %zu bytes that are none of version "
				 "%u: left out", name, owner, length, RFS_ACL_VERSION);
		return st == FSA_ENOMEM ? st : FSA_OK;
	}
	st = fn(arg, name, shown, shown_length);
	free(shown);
	return st;
}

static enum fsa_status one_xattr(struct rfs *r, uint32_t owner, const struct name *n, const char *name, fsa_xattr_fn fn, void *arg)
{
	struct value v = { 0 };
	struct rfs_inode i;
	enum fsa_status st = rfs_inode_of(r, rfs_ref(n->dir, n->oid), &i);

	if (st != FSA_OK)
		return st == FSA_ENOMEM ? st : FSA_OK;
	if (i.type != FSA_TYPE_REGULAR || i.size < sizeof(struct rfs_xattr_header) || i.size > MAX_VALUE_FILE) {
		RFS_FIND(r, "object", i.oid, i.offset, "attribute \"%s\" of object %u is a file of mode 0%o with %llu bytes, possible are %zu to "
			 "%zu: left out", name, owner, i.mode, (ull)i.size, sizeof(struct rfs_xattr_header), (size_t)MAX_VALUE_FILE);
		return FSA_OK;
	}
	v.room = (size_t)i.size;
	v.bytes = malloc(v.room);
	if (!v.bytes)
		return FSA_ENOMEM;
	st = fsa_file_read(r->fs, rfs_ref(n->dir, n->oid), i.size, add_bytes, &v);
	if (st == FSA_OK)
		st = deliver(r, owner, name, &i, &v, fn, arg);
	free(v.bytes);
	return st;
}

/* --- owners by object id -------------------------------------------------------------------------------- */

static int compare_owners(const void *a, const void *b)
{
	const struct rfs_xattr_owner *x = a, *y = b;

	if (x->owner != y->owner)
		return x->owner < y->owner ? -1 : 1;
	return (x->generation > y->generation) - (x->generation < y->generation);
}

static bool parse_hex(const char **p, char end, uint32_t *value)
{
	const char *start = *p;
	uint64_t v = 0;

	for (; **p != end; (*p)++) {
		int c = **p;

		if (!((c >= '0' && c <= '9') || (c >= 'A' && c <= 'F')) || *p - start >= 8)
			return false;
		v = v * 16 + (uint64_t)(c <= '9' ? c - '0' : c - 'A' + 10);
	}
	*value = (uint32_t)v;
	return *p != start;
}

/* All directories of owners, sorted; made once, and only when a device asks. */
static enum fsa_status index_owners(struct rfs *r)
{
	struct names list = { 0 };
	enum fsa_status st = rfs_dir_each(r, r->xattr_root.dir, r->xattr_root.oid, keep_name, &list);

	r->have_owners = true;
	if (st != FSA_ENOMEM && list.count) {
		r->owners = malloc(list.count * sizeof(*r->owners));
		st = r->owners ? FSA_OK : FSA_ENOMEM;
	}
	for (size_t k = 0; st == FSA_OK && k < list.count; k++) {
		const char *p = list.bytes + list.n[k].at;
		struct rfs_xattr_owner *o = &r->owners[r->n_owners];

		if (!parse_hex(&p, '.', &o->owner) || (p++, !parse_hex(&p, '\0', &o->generation)))
			continue;
		o->dir = list.n[k].dir;
		o->oid = list.n[k].oid;
		r->n_owners++;
	}
	free_names(&list);
	if (r->n_owners)
		qsort(r->owners, r->n_owners, sizeof(*r->owners), compare_owners);
	return st == FSA_ENOMEM ? st : FSA_OK;
}

/*
 * The stat data of a device has no room for its generation, so a kernel that meets the device again takes another
 * number for it and does not find the attributes that were set when it was made. They are there all the same: the
 * newest directory with its object id.
 */
static enum fsa_status find_device_owner(struct rfs *r, uint32_t oid, struct rfs_key *dir)
{
	size_t low = 0, high;
	enum fsa_status st = r->have_owners ? FSA_OK : index_owners(r);

	if (st != FSA_OK)
		return st;
	for (high = r->n_owners; low < high; ) {
		size_t mid = low + (high - low) / 2;

		if (r->owners[mid].owner <= oid)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == 0 || r->owners[low - 1].owner != oid)
		return FSA_ENOENT;
	*dir = (struct rfs_key){ .dir = r->owners[low - 1].dir, .oid = r->owners[low - 1].oid };
	return FSA_OK;
}

enum fsa_status rfs_xattrs(struct fsa_fs *fs, struct fsa_ref ref, fsa_xattr_fn fn, void *arg)
{
	struct rfs *r = rfs_of(fs);
	struct names list = { 0 };
	struct rfs_inode i;
	struct rfs_key dir;
	char name[20];
	enum fsa_status st = rfs_priv_find(r);

	if (st != FSA_OK || r->priv_state != RFS_PRIV_FOUND || !r->xattr_root.oid)
		return st;
	st = rfs_inode_of(r, ref, &i);
	/* Stat data of 3.5 has no generation, so its objects cannot have attributes. */
	if (st != FSA_OK || !i.v2)
		return st;
	snprintf(name, sizeof(name), "%X.%X", i.oid, i.generation);
	st = rfs_dir_find(r, r->xattr_root.dir, r->xattr_root.oid, name, &dir);
	if (st == FSA_ENOENT && (i.type == FSA_TYPE_CHARDEV || i.type == FSA_TYPE_BLOCKDEV))
		st = find_device_owner(r, i.oid, &dir);
	if (st != FSA_OK)
		return st == FSA_ENOENT ? FSA_OK : st;
	st = rfs_dir_each(r, dir.dir, dir.oid, keep_name, &list);
	for (size_t k = 0; k < list.count && st == FSA_OK; k++)
		st = one_xattr(r, i.oid, &list.n[k], list.bytes + list.n[k].at, fn, arg);
	free_names(&list);
	return st;
}

/* --- all of the hidden tree ------------------------------------------------------------------------------ */

enum fsa_status rfs_priv_each(struct rfs *r, enum fsa_status (*fn)(void *arg, uint32_t dir, uint32_t oid), void *arg)
{
	struct names owners = { 0 };
	enum fsa_status st = rfs_priv_find(r);

	if (st != FSA_OK || r->priv_state != RFS_PRIV_FOUND)
		return st;
	st = fn(arg, r->priv.dir, r->priv.oid);
	if (st != FSA_OK || !r->xattr_root.oid)
		return st;
	st = fn(arg, r->xattr_root.dir, r->xattr_root.oid);
	if (st == FSA_OK)
		st = rfs_dir_each(r, r->xattr_root.dir, r->xattr_root.oid, keep_name, &owners);
	for (size_t k = 0; k < owners.count && st == FSA_OK; k++) {
		struct names files = { 0 };

		st = fn(arg, owners.n[k].dir, owners.n[k].oid);
		if (st == FSA_OK)
			st = rfs_dir_each(r, owners.n[k].dir, owners.n[k].oid, keep_name, &files);
		for (size_t m = 0; m < files.count && st == FSA_OK; m++)
			st = fn(arg, files.n[m].dir, files.n[m].oid);
		free_names(&files);
	}
	free_names(&owners);
	/* What damage hides is not marked as hidden: its items are booked as those of a file. */
	return st == FSA_EDAMAGED ? FSA_OK : st;
}
