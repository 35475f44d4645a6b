# SPDX-License-Identifier: GPL-2.0-only
# XFS version 4 with blocks of 512 bytes: no checksums, no types in directories. Filled by user-mode Linux: new kernels refuse it.
# Images this small are for the format's own tests only, which say so by these three.
export TEST_DIR=1 TEST_DEV=1 QA_CHECK_FS=1
truncate -s 32M "$IMAGE"
mkfs.xfs -q -f -b size=512 -m crc=0,finobt=0,uuid=11111111-0000-4000-8000-000000000012 -n ftype=0 -d agcount=2 -L xfs-v4 "$IMAGE"
./in-uml xfs rw 'python3 tree.py fill "$MOUNT"'
