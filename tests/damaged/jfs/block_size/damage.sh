# SPDX-License-Identifier: GPL-2.0-only
poke32 $((0x8000 + 16)) 1024; poke $((0x8000 + 20)) 0a00
