# SPDX-License-Identifier: GPL-2.0-only
poke $(($(inode_at /dir) + 224 + 18)) 05
