# SPDX-License-Identifier: GPL-2.0-only
# base: ext4
block=$(debugfs -R 'bmap a 0' "$IMAGE" 2>/dev/null)
poke $((block * 1024 + 1020)) 11223344
