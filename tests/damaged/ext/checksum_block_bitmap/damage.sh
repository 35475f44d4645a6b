# SPDX-License-Identifier: GPL-2.0-only
# base: ext4
block=$(dumpe2fs "$IMAGE" 2>/dev/null | sed -n '/^Group 2/,$s/.*Block bitmap at \([0-9]*\).*/\1/p')
poke $((block * 1024 + 1023)) 7f
