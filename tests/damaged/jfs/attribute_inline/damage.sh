# SPDX-License-Identifier: GPL-2.0-only
poke $(($(inode_at /ea1) + 384 + 5)) ff
