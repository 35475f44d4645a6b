/* SPDX-License-Identifier: GPL-2.0-only */
/* The audit: fixed blocks and bitmaps, then one walk over the tree in key order. */
#include <stdio.h>
#include <stdlib.h>

#include "reiser4_audit.h"

static void figure(const struct r4_audit_state *s, const char *group, const char *name, uint64_t value, const char *unit)
{
	if (s->audit->figure)
		s->audit->figure(s->audit->figure_arg, group, name, value, unit);
}

/* In the words of `measurefs.reiser4 -S` and `-T`, the sums behind its averages. */
static void report_figures(struct r4_audit_state *s)
{
	static const char *const levels[][2] = {
		{ "leaf nodes", "leaf node bytes used" }, { "twig nodes", "twig node bytes used" }, { "branch nodes", "branch node bytes used" },
	};
	static const char *const items[R4_ITEM_PLUGINS] = {
		[R4_ITEM_POINTER] = "nodeptr items", [R4_ITEM_STAT] = "statdata items", [R4_ITEM_ENTRIES] = "direntry items",
		[R4_ITEM_TAIL] = "tail items", [R4_ITEM_CTAIL] = "compressed tail items", [R4_ITEM_EXTENTS] = "extent items",
		[R4_ITEM_BLACKBOX] = "safe links",
	};
	const struct r4_counts *c = &s->counts;
	char name[40];

	figure(s, "tree", "height", s->r->height, "");
	for (unsigned i = 0; i < 3; i++) {
		figure(s, "tree", levels[i][0], c->nodes[i], "");
		figure(s, "tree", levels[i][1], c->used[i], "bytes");
	}
	figure(s, "tree", "unformatted nodes", c->data_blocks, "");
	figure(s, "tree", "items", c->items, "");
	for (unsigned i = 0; i < R4_ITEM_PLUGINS; i++)
		if (items[i])
			figure(s, "tree", items[i], c->item[i], "");
	figure(s, "tree", "tail item bytes", c->tail_item_bytes, "bytes");
	figure(s, "tree", "compressed tail item bytes", c->ctail_item_bytes, "bytes");
	figure(s, "tree fragmentation", "blocks pointed to", c->pointed, "");
	figure(s, "tree fragmentation", "pointers not to the next block", c->jumps, "");
	for (unsigned i = 0; i < 17; i++) {
		if (!c->tail_sizes[i])
			continue;
		snprintf(name, sizeof(name), "%llu to %llu bytes", 1ull << i, (2ull << i) - 1);
		figure(s, "tail items by size", name, c->tail_sizes[i], "");
	}
}

enum fsa_status r4_audit(struct fsa_fs *fs, struct fsa_audit *audit)
{
	struct r4 *r = r4_of(fs);
	struct r4_audit_state s = { .r = r, .audit = audit, .claims = audit->claims };
	enum fsa_status st = bitset_init(&s.nodes, r->blocks) ? FSA_OK : FSA_ENOMEM;

	audit->counters = (struct fsa_counters){ .have_free_blocks = true, .free_blocks = r->free_blocks };
	if (st == FSA_OK)
		st = r4_audit_static(&s);
	if (st == FSA_OK)
		st = r4_audit_journal(&s);
	if (st == FSA_OK && r->height) {
		s.counts.last_block = r->root;
		st = r4_audit_tree(&s);
	}
	if (st == FSA_OK && r->height && !s.damaged)
		st = r4_audit_links(&s);
	if (st == FSA_OK && r->height && !s.damaged)
		st = r4_audit_dirs(&s);
	if (st == FSA_OK) {
		audit->leaf_nodes = s.counts.nodes[0];
		audit->leaf_used_bytes = s.counts.used[0];
		audit->leaf_bytes = s.counts.nodes[0] * r->block_size;
		audit->twig_nodes = s.counts.nodes[1];
		audit->twig_used_bytes = s.counts.used[1];
		audit->twig_bytes = audit->twig_nodes * r->block_size;
		audit->branch_nodes = s.counts.nodes[2];
		audit->branch_used_bytes = s.counts.used[2];
		audit->branch_bytes = audit->branch_nodes * r->block_size;
		report_figures(&s);
	}
	bitset_release(&s.nodes);
	for (unsigned i = 0; i <= R4_MAX_HEIGHT; i++)
		free(s.raw[i]);
	free(s.objects);
	return st;
}
