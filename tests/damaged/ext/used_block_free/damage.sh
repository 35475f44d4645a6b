# SPDX-License-Identifier: GPL-2.0-only
# base: ext4
block=$(debugfs -R 'bmap small 0' "$IMAGE" 2>/dev/null)
dbg "freeb $block 2"
