# SPDX-License-Identifier: GPL-2.0-only
# base: v5
dd if=/dev/zero of=image bs=512 count=1 conv=notrunc status=none
