# SPDX-License-Identifier: GPL-2.0-only
# base: v5
db 'inode 131' 'write -d core.magic 0'
