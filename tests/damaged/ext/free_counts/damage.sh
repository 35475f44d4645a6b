# SPDX-License-Identifier: GPL-2.0-only
# base: ext4
dbg 'ssv free_blocks_count 77' 'ssv free_inodes_count 3' 'set_bg 0 free_blocks_count 78' 'set_bg 0 free_inodes_count 5' 'set_bg 0 used_dirs_count 9' 'set_bg 0 checksum calc'
