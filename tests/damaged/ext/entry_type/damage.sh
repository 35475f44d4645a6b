# SPDX-License-Identifier: GPL-2.0-only
# base: plain
replace '\x05\x01small' '\x05\x02small'
