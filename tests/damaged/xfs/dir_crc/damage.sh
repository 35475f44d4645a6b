# SPDX-License-Identifier: GPL-2.0-only
# base: v5
db 'path /many' 'dblock 0' 'write -c bu[3].name "X"' 'write -c du[3].name "X"'
