# SPDX-License-Identifier: GPL-2.0-only
poke32 $((0xb000 + 16 * 512 + 8)) 17
