# SPDX-License-Identifier: GPL-2.0-only
poke32 $((0x10000 + 56)) 1
