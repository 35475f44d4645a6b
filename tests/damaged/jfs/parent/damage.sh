# SPDX-License-Identifier: GPL-2.0-only
poke32 $(($(inode_at /dir/sub) + 224 + 20)) 2
