# SPDX-License-Identifier: GPL-2.0-only
# base: plain
replace '\x0f\0\0\0\x10\0\x05\x01small' '\x60\xea\0\0\x10\0\x05\x01small'
