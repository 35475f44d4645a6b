# SPDX-License-Identifier: GPL-2.0-only
# base: plain
dbg 'set_bg 1 inode_table 999999'
