# SPDX-License-Identifier: GPL-2.0-only
# base: ext4
poke $((2048 + 64 + 0x1e)) 1234
