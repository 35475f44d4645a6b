# SPDX-License-Identifier: GPL-2.0-only
# base: v5
block=$(xfs_db -r -c 'sb 0' -c 'print logstart agblklog agblocks' "$IMAGE" | sed 's/.* = //' | tr '\n' ' ')
set -- $block
printf '\000' | dd of="$IMAGE" bs=1 seek=$(((( $1 >> $2 ) * $3 + ( $1 & ((1 << $2) - 1) )) * 4096 + 512 + 9)) conv=notrunc status=none
