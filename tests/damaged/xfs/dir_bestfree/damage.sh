# SPDX-License-Identifier: GPL-2.0-only
# base: v5
db 'path /many' 'dblock 0' 'write -d dhdr.bestfree[0].length 0x318'
