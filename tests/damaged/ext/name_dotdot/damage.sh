# SPDX-License-Identifier: GPL-2.0-only
# base: plain
replace '\x05\x01small' '\x04\x01../x\0'
replace '\x05\x01attr2' '\x02\x01..\0\0\0'
