/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Summary trees of the block map (jfs_dmap.h and what dbInitTree of Linux 6.1 makes of leaves). A leaf is
 * the log2 of the longest aligned free run in what it stands for, or -1. Two neighbours that are wholly free
 * are joined: the left one gets the value of both, the right one -1. A node above is the largest of its four.
 */
#include "jfs_audit.h"

int8_t jfs_word_buddy(uint32_t word)
{
	uint32_t run = ~word;		/* bit set: free runs of the length looked at start here */

	if (!run)
		return JFS_NO_FREE;
	for (int8_t k = 0; k < 5; k++) {
		static const uint32_t aligned[] = { 0x55555555u, 0x11111111u, 0x01010101u, 0x00010001u, 0x00000001u };
		uint32_t longer = run & run >> (1u << k) & aligned[k];

		if (!longer)
			return k;
		run = longer;
	}
	return 5;
}

int8_t jfs_tree_build(int8_t *tree, unsigned leaves, unsigned first_leaf, int budmin)
{
	int value = budmin;

	for (unsigned size = 1; size < leaves; size *= 2, value++)
		for (unsigned k = 0; k < leaves; k += 2 * size) {
			int8_t *left = tree + first_leaf + k, *right = left + size;

			if (*left == value && *right == value) {
				*left = (int8_t)(value + 1);
				*right = JFS_NO_FREE;
			}
		}
	for (unsigned k = first_leaf; k-- > 0;) {
		const int8_t *child = tree + 4 * k + 1;
		int8_t max = child[0];

		for (unsigned c = 1; c < 4; c++)
			if (child[c] > max)
				max = child[c];
		tree[k] = max;
	}
	return tree[0];
}
