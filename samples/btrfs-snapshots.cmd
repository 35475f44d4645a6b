# SPDX-License-Identifier: GPL-2.0-only
# btrfs with mixed block groups and nodes of 4 KiB: contents compressed with zstd, a read-only snapshot, and files written to after it.
truncate -s 64M "$IMAGE"
mkfs.btrfs -q --mixed -m single -d single -L snapshots -U 11111111-0000-4000-8000-000000000020 "$IMAGE" >/dev/null
mount -o loop,noatime,compress=zstd "$IMAGE" "$MOUNT"
python3 tree.py fill "$MOUNT"
sync -f "$MOUNT"
btrfs subvolume snapshot -r "$MOUNT" "$MOUNT/before" >/dev/null
# Compressed extents of 128 KiB: one loses its middle, one its end.
dd if="$MOUNT/sizes/020000" of="$MOUNT/sizes/300000" bs=4096 seek=8 count=4 conv=notrunc status=none
truncate -s 65536 "$MOUNT/sizes/070000"
rm "$MOUNT/many"/1[2-5]?
# Without compression: front, middle and back written anew, and a copy that still holds the first.
chattr +m "$MOUNT/attributes"
head -c 81920 "$MOUNT/sizes/300000" >"$MOUNT/attributes/plain"
sync -f "$MOUNT"
cp --reflink=always "$MOUNT/attributes/plain" "$MOUNT/attributes/copy"
for at in 0 7 8 19; do
	dd if="$MOUNT/sizes/020000" of="$MOUNT/attributes/plain" bs=4096 seek=$at count=1 conv=notrunc status=none
done
truncate -s 40960 "$MOUNT/attributes/copy"
umount "$MOUNT"
