# SPDX-License-Identifier: GPL-2.0-only
# base: ext2
dbg 'sif <15> block[0] 999999'
