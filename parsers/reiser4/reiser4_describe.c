/* SPDX-License-Identifier: GPL-2.0-only */
/* What `stat` says beyond the common fields: plugins, and where tails lie. */
#include <stdio.h>

#include "reiser4.h"

enum { MAX_TAILS = 16 };

enum fsa_status r4_describe(struct fsa_fs *fs, struct fsa_ref ref,
			    void (*line)(void *arg, const char *name, const char *value), void *arg)
{
	static const char *const objects[] = { "reg40", "dir40", "sym40", "spl40", "ccreg40" };
	struct r4 *r = r4_of(fs);
	struct r4_node n;
	struct r4_item item;
	struct r4_stat s;
	struct r4_cursor c;
	struct r4_key key;
	char text[160], key_text[96];
	unsigned tails = 0;
	enum fsa_status st = r4_stat_find(r, ref, &n, &item);

	if (st != FSA_OK)
		return st == FSA_ENOENT ? FSA_EDAMAGED : st;
	line(arg, "key", r4_key_text(&item.key, key_text));
	snprintf(text, sizeof(text), "%u bytes at 0x%llx, block %llu", item.length, (ull)r4_at(r, n.block) + item.offset, (ull)n.block);
	line(arg, "stat data", text);
	if (!r4_stat_decode(r, &n, &item, &s))
		return FSA_OK;
	if (s.plugins >> R4_PSET_OBJECT & 1 && s.plugin[R4_PSET_OBJECT] < sizeof(objects) / sizeof(objects[0]))
		line(arg, "plugin", objects[s.plugin[R4_PSET_OBJECT]]);
	if (s.unix_fields && s.type == FSA_TYPE_REGULAR) {
		snprintf(text, sizeof(text), "%llu", (ull)s.bytes);
		line(arg, "byte count", text);
	}
	if (s.compressed)
		line(arg, "compression", r4_compress_name(r4_stat_plugin(r, &s, R4_PSET_COMPRESS)));
	if (s.has_flags) {
		snprintf(text, sizeof(text), "0x%x", s.flags);
		line(arg, "inode flags", text);
	}
	if (s.type != FSA_TYPE_REGULAR)
		return FSA_OK;
	r4_key_of_ref(ref, &key);
	key.locality = (key.locality & ~UINT64_C(15)) | R4_KEY_BODY;
	st = r4_cursor_open(&c, r, &key);
	while (st == FSA_OK && (st = r4_cursor_next(&c, &item)) == FSA_OK) {
		if (r4_key_compare(&item.key, &key) < 0)
			continue;
		if (item.key.locality != key.locality || !r4_key_same_object(&item.key, &key))
			break;
		if (item.plugin != R4_ITEM_TAIL && item.plugin != R4_ITEM_CTAIL)
			continue;
		if (tails++ < MAX_TAILS) {
			snprintf(text, sizeof(text), "%u bytes for byte %llu on: block %llu, item %u, offset %u", item.length, (ull)item.key.offset,
				 (ull)c.node.block, c.item_index, item.offset);
			line(arg, "tail", text);
		}
	}
	r4_cursor_close(&c);
	if (tails > MAX_TAILS) {
		snprintf(text, sizeof(text), "%u more", tails - MAX_TAILS);
		line(arg, "tail", text);
	}
	return st == FSA_ENOENT ? FSA_OK : st;
}
