# SPDX-License-Identifier: GPL-2.0-only
# XFS version 5 with blocks of 1 KiB and directory blocks of 4: reverse map, reference counts of clones, wide extent counters.
# Images this small are for the format's own tests only, which say so by these three.
export TEST_DIR=1 TEST_DEV=1 QA_CHECK_FS=1
truncate -s 32M "$IMAGE"
mkfs.xfs -q -f -b size=1024 -n size=4096 -i nrext64=1 -m rmapbt=1,uuid=11111111-0000-4000-8000-000000000011 -d agcount=2 -L xfs-1k "$IMAGE"
mount -o loop "$IMAGE" "$MOUNT"
python3 tree.py fill "$MOUNT"
mkdir "$MOUNT/clones"
for n in 1 2 3; do cp --reflink=always "$MOUNT/sizes/300000" "$MOUNT/clones/$n"; done
printf overwritten | dd of="$MOUNT/clones/2" bs=1 seek=100000 conv=notrunc status=none
truncate -s 150001 "$MOUNT/clones/3"
umount "$MOUNT"
