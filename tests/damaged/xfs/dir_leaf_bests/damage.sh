# SPDX-License-Identifier: GPL-2.0-only
# base: v4
db 'path /many' 'dblock 8388608' 'write lbests[0] 8'
