# SPDX-License-Identifier: GPL-2.0-only
# ext2 with blocks of 1 KiB: maps of one, two and three levels of indirect blocks, no extents, no journal, no checksums.
truncate -s 8M "$IMAGE"
mke2fs -q -F -t ext2 -b 1024 -I 128 -L ext2-1k -U 11111111-0000-4000-8000-000000000001 "$IMAGE"
mount -t ext4 -o loop,user_xattr,acl "$IMAGE" "$MOUNT"
python3 tree.py fill "$MOUNT"
umount "$MOUNT"
