# SPDX-License-Identifier: GPL-2.0-only
poke32 $((0xf000 + 8)) 4096
