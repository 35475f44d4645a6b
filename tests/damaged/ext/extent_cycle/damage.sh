# SPDX-License-Identifier: GPL-2.0-only
# base: plain
node=$(debugfs -R 'dump_extents <16>' "$IMAGE" 2>/dev/null | awk '$1 == "0/" && $2 == "1" { print $8; exit }')
at=$(inode_at 16)
poke $((at + 40 + 6)) 0200
hex=$(printf '%02x%02x0000' $((node & 255)) $((node >> 8)))
poke $((node * 1024)) 0af3010054000100000000000000000000000000
poke $((node * 1024 + 12)) "00000000${hex}00000000"
