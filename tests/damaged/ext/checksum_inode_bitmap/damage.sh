# SPDX-License-Identifier: GPL-2.0-only
# base: ext4
dbg 'set_bg 0 inode_bitmap_csum 0x4711' 'set_bg 0 checksum calc'
