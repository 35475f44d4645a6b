# SPDX-License-Identifier: GPL-2.0-only
# base: ext4
dbg 'ln a a/b/loop'
