# SPDX-License-Identifier: GPL-2.0-only
# base: ext4
dbg 'unlink small' 'sif <15> links_count 0' 'ssv last_orphan 15'
