# SPDX-License-Identifier: GPL-2.0-only
poke $((0x14000 + 33 + 20)) 7f
