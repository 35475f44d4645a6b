# SPDX-License-Identifier: GPL-2.0-only
# base: ext4
poke $((1024 + 0x3fc)) 00
