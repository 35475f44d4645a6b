# SPDX-License-Identifier: GPL-2.0-only
# base: ext4
dbg 'sif <15> size 0x8000000000000000'
