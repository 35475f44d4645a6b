# SPDX-License-Identifier: GPL-2.0-only
# base: plain
replace '\x0f\0\0\0\x10\0\x05\x01small' '\x0f\0\0\0\x07\0\x05\x01small'
