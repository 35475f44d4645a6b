# SPDX-License-Identifier: GPL-2.0-only
poke32 $(($(inode_at /frag) + 268 + 16)) $(first_block /frag)
