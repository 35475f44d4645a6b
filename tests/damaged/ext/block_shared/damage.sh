# SPDX-License-Identifier: GPL-2.0-only
# base: ext2
block=$(debugfs -R 'bmap attr1 0' "$IMAGE" 2>/dev/null)
dbg "sif <15> block[0] $block"
