# SPDX-License-Identifier: GPL-2.0-only
# base: v4
db 'inode 132' 'write -d core.nblocks 99'
