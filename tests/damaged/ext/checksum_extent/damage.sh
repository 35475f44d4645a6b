# SPDX-License-Identifier: GPL-2.0-only
# base: ext4
node=$(debugfs -R 'dump_extents <16>' "$IMAGE" 2>/dev/null | awk '$1 == "0/" && $2 == "1" { print $8; exit }')
poke $((node * 1024 + 1020)) 11223344
