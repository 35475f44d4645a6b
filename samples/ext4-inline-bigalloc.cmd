# SPDX-License-Identifier: GPL-2.0-only
# ext4 with clusters of 16 KiB and the smallest files and directories inside their inodes of 512 bytes.
truncate -s 64M "$IMAGE"
mke2fs -q -F -t ext4 -b 4096 -C 16384 -I 512 -N 1024 -J size=4 -O bigalloc,inline_data -L inline-bigalloc \
	-U 11111111-0000-4000-8000-000000000002 -E hash_seed=11111111-0000-4000-8000-00000000000f "$IMAGE"
mount -t ext4 -o loop "$IMAGE" "$MOUNT"
python3 tree.py fill "$MOUNT"
umount "$MOUNT"
