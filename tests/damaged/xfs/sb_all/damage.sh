# SPDX-License-Identifier: GPL-2.0-only
# base: v4
db 'sb 0' 'write dblocks 99999999'
dd if=/dev/zero of=image bs=512 seek=32768 count=1 conv=notrunc status=none
