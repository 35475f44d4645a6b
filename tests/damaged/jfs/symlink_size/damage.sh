# SPDX-License-Identifier: GPL-2.0-only
poke32 $(($(inode_at /link) + 28)) 1
