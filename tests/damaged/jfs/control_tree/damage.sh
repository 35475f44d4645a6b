# SPDX-License-Identifier: GPL-2.0-only
poke $((0x13000 + 17)) 03
