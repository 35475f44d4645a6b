# SPDX-License-Identifier: GPL-2.0-only
# base: ext4
poke $(($(inode_at 15) + 0x7c)) 1234
