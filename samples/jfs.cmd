# SPDX-License-Identifier: GPL-2.0-only
# JFS as made by default, filled by user-mode Linux: few kernels still have it.
truncate -s 16M "$IMAGE"
mkfs.jfs -q -L jfs "$IMAGE" >/dev/null
jfs_tune -U 11111111-0000-4000-8000-000000000021 "$IMAGE" >/dev/null
./in-uml jfs rw 'python3 tree.py fill "$MOUNT"'
