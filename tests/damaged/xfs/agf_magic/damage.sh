# SPDX-License-Identifier: GPL-2.0-only
# base: v5
db 'agf 1' 'write -d magicnum 0'
