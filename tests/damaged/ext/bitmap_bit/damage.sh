# SPDX-License-Identifier: GPL-2.0-only
# base: ext4
dbg 'setb 5000'
