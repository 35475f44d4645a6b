# SPDX-License-Identifier: GPL-2.0-only
# base: ext4
dbg 'jo' 'jw -b 5000 small' 'jc'
