/* SPDX-License-Identifier: GPL-2.0-only */
/* Walking a tree from a key on, and finding one item: every use of a tree goes through here. */
#include "btrfs.h"

struct state {
	struct btr_walk *w;
	struct btr_key last;		/* of the item delivered last */
	bool have_last;
};

static struct btr_key ptr_key(const struct btr_node *n, uint32_t slot)
{
	return btr_disk_key(n->data + BTR_HEADER + slot * BTR_PTR);
}

/* First slot whose key is not before `from`. */
static uint32_t lower_bound(const struct btr_node *n, struct btr_key from, uint32_t entry)
{
	uint32_t low = 0, high = n->n;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (btr_key_cmp(btr_disk_key(n->data + BTR_HEADER + mid * entry), from) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static enum fsa_status visit_leaf(struct state *s, const struct btr_node *leaf)
{
	struct btr_walk *w = s->w;

	for (uint32_t i = lower_bound(leaf, w->from, BTR_ITEM); i < leaf->n; i++) {
		struct btr_item item = btr_item_at(leaf, i);
		enum fsa_status st;

		/* Nodes are ordered within; between them nothing but this keeps a broken tree from going in circles. */
		if (s->have_last && btr_key_cmp(item.key, s->last) <= 0) {
			BTR_FIND(w->b, "tree block", leaf->logical, FSA_NO_OFFSET,
				 "key (%llu %u %llu) is not behind (%llu %u %llu), which came before it", (ull)item.key.objectid,
				 item.key.type, (ull)item.key.offset, (ull)s->last.objectid, s->last.type, (ull)s->last.offset);
			w->damaged = true;
			return FSA_OK;
		}
		s->last = item.key;
		s->have_last = true;
		st = w->item(w->arg, &item);
		if (st != FSA_OK)
			return st;
	}
	return FSA_OK;
}

static enum fsa_status visit(struct state *s, uint64_t logical, unsigned level, uint64_t generation,
			     const struct btr_key *first)
{
	struct btr_walk *w = s->w;
	struct btr *b = w->b;
	struct btr_node *node;
	enum fsa_status st = btr_node_get(b, logical, level, generation, &node);
	bool enter = true;

	if (st == FSA_EDAMAGED) {
		w->damaged = true;
		if (w->node)
			return w->node(w->arg, NULL, logical, level, &enter);
		return FSA_OK;
	}
	if (st != FSA_OK)
		return st;
	if (first && node->n) {
		struct btr_key k = level ? ptr_key(node, 0) : btr_item_at(node, 0).key;

		if (btr_key_cmp(k, *first) != 0) {
			uint64_t at;
			unsigned device = btr_place(b, logical, &at);

			fsa_find_on(b->findings, device, "tree block", logical, at,
				    "first key is (%llu %u %llu), the parent says (%llu %u %llu)", (ull)k.objectid, k.type,
				    (ull)k.offset, (ull)first->objectid, first->type, (ull)first->offset);
			w->damaged = true;
			btr_node_put(node);
			return w->node ? w->node(w->arg, NULL, logical, level, &enter) : FSA_OK;
		}
	}
	if (w->node)
		st = w->node(w->arg, node, logical, level, &enter);
	if (st != FSA_OK || !enter) {
		btr_node_put(node);
		return st;
	}
	if (!level) {
		st = visit_leaf(s, node);
	} else {
		uint32_t i = lower_bound(node, w->from, BTR_PTR);

		/* The child before may hold items from `from` on, unless a child starts right there. */
		if (i && (i == node->n || btr_key_cmp(ptr_key(node, i), w->from) != 0))
			i--;
		if (w->prefetch)
			for (uint32_t k = i; k < node->n && k < i + 512; k++) {
				const uint8_t *p = node->data + BTR_HEADER + k * BTR_PTR;
				struct btr_segment seg;

				if (btr_segment_at(b, FSA_LE(uint64_t, p, struct btr_disk_ptr, blockptr), b->nodesize, &seg))
					for (unsigned c = 0; c < (b->verify_copies ? seg.copies : 1); c++)
						if (seg.copy[c].image >= 0)
							fsa_image_prefetch(b->fs->devices[seg.copy[c].image].image,
									   seg.copy[c].physical, seg.length);
			}
		for (; i < node->n && st == FSA_OK; i++) {
			const uint8_t *p = node->data + BTR_HEADER + i * BTR_PTR;
			struct btr_key key = btr_disk_key(p);

			st = visit(s, FSA_LE(uint64_t, p, struct btr_disk_ptr, blockptr), level - 1,
				   FSA_LE(uint64_t, p, struct btr_disk_ptr, generation), &key);
		}
	}
	btr_node_put(node);
	return st;
}

enum fsa_status btr_walk_tree(struct btr_walk *w, uint64_t bytenr, unsigned level, uint64_t generation)
{
	struct state s = { .w = w };

	if (level >= BTR_MAX_LEVEL)
		return FSA_EDAMAGED;
	return visit(&s, bytenr, level, generation, NULL);
}

enum fsa_status btr_key_before(struct btr *b, const struct btr_root *root, struct btr_key key, struct btr_key *found)
{
	uint64_t logical = root->bytenr, generation = root->generation;

	for (unsigned level = root->level;; level--) {
		const uint32_t entry = level ? BTR_PTR : BTR_ITEM;
		struct btr_node *node;
		enum fsa_status st = btr_node_get(b, logical, level, generation, &node);
		const uint8_t *p;
		uint32_t i;

		if (st != FSA_OK)
			return st;
		i = lower_bound(node, key, entry);
		if (i < node->n && btr_key_cmp(btr_disk_key(node->data + BTR_HEADER + i * entry), key) == 0)
			i++;
		if (!i) {
			btr_node_put(node);
			return FSA_ENOENT;
		}
		p = node->data + BTR_HEADER + (i - 1) * entry;
		*found = btr_disk_key(p);
		if (!level) {
			btr_node_put(node);
			return FSA_OK;
		}
		logical = FSA_LE(uint64_t, p, struct btr_disk_ptr, blockptr);
		generation = FSA_LE(uint64_t, p, struct btr_disk_ptr, generation);
		btr_node_put(node);
	}
}

struct finder {
	struct btr_key key;
	enum fsa_status (*found)(void *arg, const struct btr_item *item);
	void *arg;
	enum fsa_status st;
	bool hit;
};

static enum fsa_status find_item(void *arg, const struct btr_item *item)
{
	struct finder *f = arg;

	if (btr_key_cmp(item->key, f->key) == 0) {
		f->hit = true;
		f->st = f->found(f->arg, item);
	}
	return FSA_STOP;
}

enum fsa_status btr_find_item(struct btr *b, const struct btr_root *root, struct btr_key key,
			      enum fsa_status (*found)(void *arg, const struct btr_item *item), void *arg)
{
	struct finder f = { .key = key, .found = found, .arg = arg };
	struct btr_walk w = { .b = b, .from = key, .item = find_item, .arg = &f };
	enum fsa_status st = btr_walk_root(&w, root);

	if (f.hit)
		return f.st;
	if (st != FSA_OK && st != FSA_STOP)
		return st;
	return w.damaged ? FSA_EDAMAGED : FSA_ENOENT;
}
