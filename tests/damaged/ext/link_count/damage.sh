# SPDX-License-Identifier: GPL-2.0-only
# base: ext4
dbg 'sif <15> links_count 5'
