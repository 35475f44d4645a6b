# SPDX-License-Identifier: GPL-2.0-only
# base: ext4
dbg 'sif <15> blocks 2000'
