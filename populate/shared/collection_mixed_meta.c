/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * mixed, second half: names, links, nodes, owners, modes, times, extended
 * attributes and access control lists.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "collection_gen.h"
#include "pop_rand.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

static void fill_name(char *buf, size_t len, char first)
{
	memset(buf, first, len);
	buf[len] = '\0';
}

static int names(struct pop_gen *g)
{
	static const char *const odd[] = {
		" leading space", "trailing space ", "-rf", "--help",
		"new\nline", "tab\tinside", "carriage\rreturn", "back\\slash",
		"double\"quote", "single'quote", "trailing.dot.", "...",
		"semi;colon", "dollar$HOME", "star*", "question?", "[range]",
		"percent%41", "esc\033[31mred", "bell\a", "\177delete",
		"\x01\x02\x03", "invalid-\xff\xfe-utf8", "cut-\xe2\x82",
		"latin1-\xe4\xf6\xfc", "utf8-\xc3\xa4\xc3\xb6\xe2\x82\xac",
		"astral-\xf0\x9f\x98\x80", "combining-e\xcc\x81",
		"composed-\xc3\xa9", "overlong-\xc0\xaf",
		"surrogate-\xed\xa0\x80", "CASE", "case", "~tilde", "#hash#",
		"con", "a:b", "a|b", "<tag>", "&amp;", "name,comma",
		"name=equals", ".hidden", "\\x41", "x",
	};
	char path[300];
	int ret = pop_gen_dir(g, "names");

	for (size_t i = 0; ret >= 0 && i < ARRAY_SIZE(odd); i++) {
		snprintf(path, sizeof(path), "names/%s", odd[i]);
		ret = pop_gen_file(g, path, 20 + i);
	}
	/* Lengths around every record size, up to the limit. */
	for (size_t len = 240; ret >= 0 && len <= 255; len += 5) {
		strcpy(path, "names/");
		fill_name(path + 6, len, 'L');
		ret = pop_gen_file(g, path, len);
	}
	return pop_gen_ok(ret);
}

static int deep(struct pop_gen *g)
{
	char path[4096];
	size_t len;
	int ret;

	strcpy(path, "deep");
	ret = pop_gen_dir(g, path);
	for (int i = 0; !ret && i < 60; i++) {
		len = strlen(path);
		snprintf(path + len, sizeof(path) - len, "/d%d", i);
		ret = pop_gen_dir(g, path);
	}
	if (!ret) {
		strcat(path, "/bottom");
		ret = pop_gen_file(g, path, 77);
	}
	if (ret < 0)
		return ret;

	strcpy(path, "deep/long");
	ret = pop_gen_dir(g, path);
	for (int i = 0; !ret && i < 12; i++) {
		len = strlen(path);
		path[len] = '/';
		fill_name(path + len + 1, 255, (char)('a' + i));
		ret = pop_gen_dir(g, path);
	}
	if (!ret) {
		strcat(path, "/bottom");
		ret = pop_gen_file(g, path, 78);
	}
	return pop_gen_ok(ret);
}

/* Thousands of names cost few inodes when most are links. */
static int many(struct pop_gen *g)
{
	enum { PER_FILE = 100 };
	uint64_t names_wanted = g->files * 8;
	char first[128], path[128];
	int ret = pop_gen_dir(g, "many");

	first[0] = '\0';
	for (uint64_t i = 0; ret >= 0 && i < names_wanted; i++) {
		snprintf(path, sizeof(path), "many/%05" PRIu64 "-%.*s", i,
			 (int)(i * 7 % 37),
			 "some-directory-entries-have-long-names");
		if (i % PER_FILE == 0) {
			snprintf(first, sizeof(first), "%s", path);
			ret = pop_gen_file(g, path, i % 5000);
		} else {
			ret = pop_gen_link(g, first, path);
		}
	}
	/* Gaps in the middle of the directory. */
	for (uint64_t i = 0; ret >= 0 && i < names_wanted; i += 9) {
		if (i % PER_FILE == 0)
			continue;
		snprintf(path, sizeof(path), "many/%05" PRIu64 "-%.*s", i,
			 (int)(i * 7 % 37),
			 "some-directory-entries-have-long-names");
		ret = pop_gen_unlink(g, path);
	}
	return pop_gen_ok(ret);
}

static int links(struct pop_gen *g)
{
	char path[64];
	int ret = pop_gen_dir(g, "links");

	if (!ret)
		ret = pop_gen_dir(g, "links/sub");
	if (!ret)
		ret = pop_gen_file(g, "links/b-first", 5000);
	if (!ret)
		ret = pop_gen_link(g, "links/b-first", "links/a-second");
	if (!ret)
		ret = pop_gen_link(g, "links/b-first", "links/sub/third");
	if (!ret)
		ret = pop_gen_link(g, "sizes/0000100", "links/hundred");
	if (!ret)
		ret = pop_gen_file(g, "links/popular", 10);
	for (int i = 0; !ret && i < 150; i++) {
		snprintf(path, sizeof(path), "links/sub/p%03d", i);
		ret = pop_gen_link(g, "links/popular", path);
	}
	/* The first name goes, the file stays. */
	if (!ret)
		ret = pop_gen_file(g, "links/gone", 3000);
	if (!ret)
		ret = pop_gen_link(g, "links/gone", "links/stays");
	if (!ret)
		ret = pop_gen_unlink(g, "links/gone");
	if (!ret)
		ret = pop_gen_node(g, "links/fifo", S_IFIFO | 0600, 0, 0);
	if (!ret)
		ret = pop_gen_link(g, "links/fifo", "links/fifo2");
	if (!ret)
		ret = pop_gen_symlink(g, "links/symlink", "b-first");
	if (!ret)
		ret = pop_gen_link(g, "links/symlink", "links/symlink2");
	return pop_gen_ok(ret);
}

static int symlinks(struct pop_gen *g)
{
	static const uint16_t lengths[] = {
		1, 2, 10, 55, 58, 59, 60, 61, 62, 63, 64, 100, 127, 128, 129,
		155, 156, 157, 160, 200, 255, 256, 300, 500, 900, 1000, 1020,
		1023, 1024, 1025, 2000, 2047, 2048, 3000, 4000, 4091, 4094,
		4095,
	};
	char path[64], target[4096];
	int ret = pop_gen_dir(g, "symlinks");

	for (size_t i = 0; ret >= 0 && i < ARRAY_SIZE(lengths); i++) {
		size_t len = lengths[i];

		/* No single part of it longer than a name may be. */
		for (size_t k = 0; k < len; k++)
			target[k] = k % 200 == 199 ? '/' : 't';
		target[len] = '\0';
		snprintf(path, sizeof(path), "symlinks/%04zu", len);
		ret = pop_gen_symlink(g, path, target);
	}
	if (ret >= 0)
		ret = pop_gen_symlink(g, "symlinks/file", "../sizes/0000100");
	if (ret >= 0)
		ret = pop_gen_symlink(g, "symlinks/dir", "../sizes");
	if (ret >= 0)
		ret = pop_gen_symlink(g, "symlinks/dangling", "no/such/thing");
	if (ret >= 0)
		ret = pop_gen_symlink(g, "symlinks/absolute", "/etc/passwd");
	if (ret >= 0)
		ret = pop_gen_symlink(g, "symlinks/itself", "itself");
	if (ret >= 0)
		ret = pop_gen_symlink(g, "symlinks/up", "../../../..");
	if (ret >= 0)
		ret = pop_gen_symlink(g, "symlinks/bytes",
				      "not\xffutf8\nline");
	return pop_gen_ok(ret);
}

static int nodes(struct pop_gen *g)
{
	static const struct {
		const char *path;
		uint32_t mode, major, minor;
	} list[] = {
		{ "nodes/fifo", S_IFIFO | 0644, 0, 0 },
		{ "nodes/socket", S_IFSOCK | 0755, 0, 0 },
		{ "nodes/null", S_IFCHR | 0666, 1, 3 },
		{ "nodes/zero-zero", S_IFCHR | 0600, 0, 0 },
		{ "nodes/old-largest", S_IFCHR | 0600, 255, 255 },
		{ "nodes/minor-256", S_IFCHR | 0600, 1, 256 },
		{ "nodes/major-256", S_IFCHR | 0600, 256, 0 },
		{ "nodes/largest", S_IFCHR | 0600, 4095, 1048575 },
		{ "nodes/sda", S_IFBLK | 0660, 8, 0 },
		{ "nodes/nvme", S_IFBLK | 0660, 259, 65537 },
		{ "nodes/block-largest", S_IFBLK | 0660, 4095, 1048575 },
	};
	int ret = pop_gen_dir(g, "nodes");

	for (size_t i = 0; ret >= 0 && i < ARRAY_SIZE(list); i++)
		ret = pop_gen_node(g, list[i].path, list[i].mode,
				   list[i].major, list[i].minor);
	return pop_gen_ok(ret);
}

static int owners(struct pop_gen *g)
{
	static const uint32_t ids[] = {
		1, 1000, 65533, 65534, 65535, 65536, 100000, 16777216,
		2147483647, 2147483648, 2147483653, 4294967293, 4294967294,
	};
	static const uint32_t modes[] = {
		00000, 00001, 00111, 00400, 00777, 01777, 02755, 04755, 06711,
		07777, 07000,
	};
	char path[64];
	int ret = pop_gen_dir(g, "owners");

	for (size_t i = 0; ret >= 0 && i < ARRAY_SIZE(ids); i++) {
		snprintf(path, sizeof(path), "owners/%" PRIu32, ids[i]);
		ret = pop_gen_file(g, path, 40);
		if (!ret)
			ret = pop_gen_attr(g, path, 0640, ids[i],
					   ids[ARRAY_SIZE(ids) - 1 - i]);
	}
	if (ret >= 0)
		ret = pop_gen_dir(g, "modes");
	for (size_t i = 0; ret >= 0 && i < ARRAY_SIZE(modes); i++) {
		snprintf(path, sizeof(path), "modes/f%04" PRIo32, modes[i]);
		ret = pop_gen_file(g, path, 41);
		if (!ret)
			ret = pop_gen_attr(g, path, modes[i], 1000, 1000);
		snprintf(path, sizeof(path), "modes/d%04" PRIo32, modes[i]);
		if (ret >= 0)
			ret = pop_gen_dir_as(g, path, modes[i], 1000, 1000);
	}
	return pop_gen_ok(ret);
}

static int times(struct pop_gen *g)
{
	static const int64_t seconds[] = {
		INT64_C(-2147483649), INT64_C(-2147483648), -1000000000, -1,
		0, 1, 86399, 1000000000, 2147483647, INT64_C(2147483648),
		INT64_C(4294967295), INT64_C(4294967296),
		INT64_C(6442450943), INT64_C(6442450944),
		INT64_C(8589934591), INT64_C(10737418239),
		INT64_C(15032385535), INT64_C(15032385536),
		INT64_C(253402300799),
	};
	static const uint32_t nanoseconds[] = { 0, 1, 999999999 };
	char path[64];
	int ret = pop_gen_dir(g, "times");

	for (size_t i = 0; ret >= 0 && i < ARRAY_SIZE(seconds); i++)
		for (size_t n = 0; ret >= 0 && n < 3; n++) {
			snprintf(path, sizeof(path),
				 "times/%" PRId64 ".%09" PRIu32, seconds[i],
				 nanoseconds[n]);
			ret = pop_gen_file(g, path, 10);
			if (!ret)
				ret = pop_gen_time(g, path, seconds[i],
						   nanoseconds[n]);
		}
	return pop_gen_ok(ret);
}

static int xattr_sets(struct pop_gen *g)
{
	char path[64];
	int ret = 0;

	/* The same sets on many files: a format may store each once. */
	for (int i = 0; ret >= 0 && i < 24; i++) {
		snprintf(path, sizeof(path), "xattrs/same%02d", i);
		ret = pop_gen_file(g, path, (uint64_t)i * 100);
		if (ret < 0)
			break;
		ret = pop_gen_xattr_bytes(g, path, "user.shared.one", 300);
		if (ret >= 0)
			ret = pop_gen_xattr_bytes(g, path, "trusted.shared.two",
						  i % 2 ? 150 : 160);
	}
	return pop_gen_ok(ret);
}

static int xattrs(struct pop_gen *g)
{
	static const uint32_t lengths[] = {
		0, 1, 3, 4, 5, 20, 40, 64, 100, 255, 256, 700, 2000, 3900,
		8000, 60000, 65536,
	};
	/* cap_net_raw, permitted and effective, revision 2. */
	static const unsigned char capability[20] = {
		0x01, 0x00, 0x00, 0x02, 0x00, 0x20,
	};
	static const char *const spaces[] = { "user", "trusted", "security" };
	char path[64], name[300];
	int ret = pop_gen_dir(g, "xattrs");

	for (size_t s = 0; ret >= 0 && s < 3; s++)
		for (size_t i = 0; ret >= 0 && i < ARRAY_SIZE(lengths); i++) {
			snprintf(path, sizeof(path), "xattrs/%s-%05" PRIu32,
				 spaces[s], lengths[i]);
			ret = pop_gen_file(g, path, 5);
			if (ret)
				continue;
			snprintf(name, sizeof(name), "%s.length%" PRIu32,
				 spaces[s], lengths[i]);
			ret = pop_gen_xattr_bytes(g, path, name, lengths[i]);
		}
	if (ret >= 0)
		ret = xattr_sets(g);
	if (ret >= 0)
		ret = pop_gen_file(g, "xattrs/many", 6);
	for (int i = 0; ret >= 0 && i < 30; i++) {
		snprintf(name, sizeof(name), "user.number%02d", i);
		ret = pop_gen_xattr_bytes(g, "xattrs/many", name, (size_t)i % 7);
	}
	if (ret >= 0)
		ret = pop_gen_file(g, "xattrs/long-name", 7);
	if (!ret) {
		strcpy(name, "user.");
		fill_name(name + 5, 250, 'n');
		ret = pop_gen_xattr_bytes(g, "xattrs/long-name", name, 33);
	}
	if (ret >= 0)
		ret = pop_gen_file(g, "xattrs/capability", 8);
	if (!ret)
		ret = pop_gen_xattr(g, "xattrs/capability",
				    "security.capability", capability,
				    sizeof(capability));
	/* On what is not a file. */
	if (ret >= 0)
		ret = pop_gen_dir(g, "xattrs/dir");
	if (!ret)
		ret = pop_gen_xattr_bytes(g, "xattrs/dir", "user.on.dir", 50);
	if (ret >= 0)
		ret = pop_gen_symlink(g, "xattrs/symlink", "dir");
	if (!ret)
		ret = pop_gen_xattr_bytes(g, "xattrs/symlink",
					  "trusted.on.symlink", 30);
	if (ret >= 0)
		ret = pop_gen_node(g, "xattrs/fifo", S_IFIFO | 0600, 0, 0);
	if (!ret)
		ret = pop_gen_xattr_bytes(g, "xattrs/fifo",
					  "trusted.on.fifo", 31);
	if (ret >= 0)
		ret = pop_gen_node(g, "xattrs/device", S_IFCHR | 0600, 4095,
				   70000);
	if (!ret)
		ret = pop_gen_xattr_bytes(g, "xattrs/device",
					  "security.on.device", 32);
	return pop_gen_ok(ret);
}

/* The form in which the kernel takes an access control list. */
struct acl_entry {
	uint16_t tag, perm;
	uint32_t id;
};

enum {
	ACL_USER_OBJ = 1, ACL_USER = 2, ACL_GROUP_OBJ = 4, ACL_GROUP = 8,
	ACL_MASK = 16, ACL_OTHER = 32,
	ACL_MAX = 40
};

#define ACL_NO_ID	UINT32_MAX

static size_t acl_value(unsigned char *buf, const struct acl_entry *e,
			size_t count)
{
	size_t at = 4;

	memcpy(buf, "\x02\0\0\0", 4);
	for (size_t i = 0; i < count; i++) {
		buf[at++] = (unsigned char)e[i].tag;
		buf[at++] = 0;
		buf[at++] = (unsigned char)e[i].perm;
		buf[at++] = 0;
		for (unsigned int k = 0; k < 32; k += 8)
			buf[at++] = (unsigned char)(e[i].id >> k);
	}
	return at;
}

/* Owner, other and mask are those of the mode, so that it stays as it is. */
static int set_acl(struct pop_gen *g, const char *path, const char *name,
		   uint32_t mode, uint32_t users, uint32_t groups)
{
	struct acl_entry e[ACL_MAX];
	unsigned char value[4 + 8 * ACL_MAX];
	size_t n = 0;

	e[n++] = (struct acl_entry){ ACL_USER_OBJ, (mode >> 6) & 7, ACL_NO_ID };
	for (uint32_t i = 0; i < users; i++)
		e[n++] = (struct acl_entry){
			ACL_USER, (uint16_t)(i % 8),
			i == 0 ? 1000 : i == 1 ? 65536 : 100000 * i,
		};
	e[n++] = (struct acl_entry){ ACL_GROUP_OBJ, 4, ACL_NO_ID };
	for (uint32_t i = 0; i < groups; i++)
		e[n++] = (struct acl_entry){
			ACL_GROUP, (uint16_t)(7 - i % 8),
			i == 0 ? 50 : UINT32_C(2147483653) + i,
		};
	e[n++] = (struct acl_entry){ ACL_MASK, (mode >> 3) & 7, ACL_NO_ID };
	e[n++] = (struct acl_entry){ ACL_OTHER, mode & 7, ACL_NO_ID };
	return pop_gen_xattr(g, path, name, value, acl_value(value, e, n));
}

static int acls(struct pop_gen *g)
{
	static const char access[] = "system.posix_acl_access";
	static const char inherit[] = "system.posix_acl_default";
	static const struct {
		const char *path;
		uint32_t mode, users, groups;
	} list[] = {
		{ "acls/user", 0664, 1, 0 },
		{ "acls/group", 0660, 0, 1 },
		{ "acls/both", 0755, 2, 2 },
		{ "acls/masked", 0640, 3, 1 },
		{ "acls/many", 0770, 16, 16 },
		{ "acls/same1", 0664, 4, 2 },
		{ "acls/same2", 0664, 4, 2 },
		{ "acls/same3", 0664, 4, 2 },
	};
	int ret = pop_gen_dir(g, "acls");

	for (size_t i = 0; ret >= 0 && i < ARRAY_SIZE(list); i++) {
		ret = pop_gen_file(g, list[i].path, 11);
		if (!ret)
			ret = pop_gen_attr(g, list[i].path, list[i].mode, 1000,
					   100);
		if (!ret)
			ret = set_acl(g, list[i].path, access, list[i].mode,
				      list[i].users, list[i].groups);
	}
	if (ret >= 0)
		ret = pop_gen_xattr_bytes(g, "acls/many", "user.beside", 20);
	/*
	 * A default list last: what is made in the directory inherits it,
	 * and a library that fills in process knows nothing of that.
	 */
	if (ret >= 0)
		ret = pop_gen_dir_as(g, "acls/dir", 0775, 1000, 100);
	if (!ret)
		ret = pop_gen_file(g, "acls/dir/plain", 12);
	if (!ret)
		ret = set_acl(g, "acls/dir", inherit, 0775, 2, 1);
	if (!ret)
		ret = set_acl(g, "acls/dir", access, 0775, 1, 2);
	if (ret >= 0)
		ret = pop_gen_dir_as(g, "acls/default", 0755, 0, 0);
	if (!ret)
		ret = set_acl(g, "acls/default", inherit, 0750, 5, 0);
	return pop_gen_ok(ret);
}

int pop_mixed_meta(struct pop_gen *g)
{
	static int (*const parts[])(struct pop_gen *) = {
		names, deep, many, links, symlinks, nodes, owners, times,
		xattrs, acls,
	};
	int ret = 0;

	for (size_t i = 0; !ret && i < ARRAY_SIZE(parts); i++)
		ret = parts[i](g);
	return ret;
}
