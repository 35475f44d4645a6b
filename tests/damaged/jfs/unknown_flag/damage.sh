# SPDX-License-Identifier: GPL-2.0-only
poke $((0x8000 + 39)) 13
