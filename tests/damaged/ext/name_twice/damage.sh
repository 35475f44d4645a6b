# SPDX-License-Identifier: GPL-2.0-only
# base: plain
replace '\x05\x01attr2' '\x05\x01attr1'
