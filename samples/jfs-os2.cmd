# SPDX-License-Identifier: GPL-2.0-only
# JFS as OS/2 has it: names are found whatever their case. Filled by user-mode Linux.
truncate -s 16M "$IMAGE"
mkfs.jfs -q -O -L jfs-os2 "$IMAGE" >/dev/null
jfs_tune -U 11111111-0000-4000-8000-000000000022 "$IMAGE" >/dev/null
./in-uml jfs rw 'python3 tree.py fill "$MOUNT"; mkdir "$MOUNT/Case"; for n in Zebra apple Apple2 ZOO zulu; do : >"$MOUNT/Case/$n"; done'
