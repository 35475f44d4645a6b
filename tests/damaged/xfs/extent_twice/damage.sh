# SPDX-License-Identifier: GPL-2.0-only
# base: v5
set -- $(xfs_db -r -c 'inode 132' -c 'bmap' "$IMAGE" | sed 's/.*startblock \([0-9]*\).*/\1/')
db 'inode 131' "write -d u3.bmx[0].startblock $1"
