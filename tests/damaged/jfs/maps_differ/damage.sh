# SPDX-License-Identifier: GPL-2.0-only
poke32 $((0x14000 + 3072 + 6000 / 32 * 4)) $((0x80000000))
