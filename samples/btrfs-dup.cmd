# SPDX-License-Identifier: GPL-2.0-only
# btrfs as made by default, metadata twice, checksums by xxhash, and quota groups.
truncate -s 128M "$IMAGE"
mkfs.btrfs -q --csum xxhash -R quota -L dup -U 11111111-0000-4000-8000-000000000021 "$IMAGE" >/dev/null
mount -o loop,noatime "$IMAGE" "$MOUNT"
python3 tree.py fill "$MOUNT"
btrfs quota rescan -w "$MOUNT" >/dev/null
umount "$MOUNT"
