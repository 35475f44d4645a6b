# SPDX-License-Identifier: GPL-2.0-only
# base: v5
db 'path /crowd' 'dblock 16777216' 'write -d fbests[1] 0x20'
