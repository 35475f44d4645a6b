# SPDX-License-Identifier: GPL-2.0-only
# base: v5
db 'sb 1' 'write -d dblocks 1'
