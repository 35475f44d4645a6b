# SPDX-License-Identifier: GPL-2.0-only
# base: v5
db 'path /many' 'dblock 8388608' 'write -d lbests[0] 8'
