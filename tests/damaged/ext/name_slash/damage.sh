# SPDX-License-Identifier: GPL-2.0-only
# base: plain
replace '\x05\x01attr1' '\x05\x01a/b/1'
replace '\x05\x01small' '\x05\x01/smal'
