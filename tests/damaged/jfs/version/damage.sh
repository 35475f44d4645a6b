# SPDX-License-Identifier: GPL-2.0-only
poke32 $((0x8000 + 4)) 3
