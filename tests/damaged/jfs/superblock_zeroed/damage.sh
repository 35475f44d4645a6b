# SPDX-License-Identifier: GPL-2.0-only
dd if=/dev/zero of="$IMAGE" bs=4096 seek=8 count=1 conv=notrunc status=none
