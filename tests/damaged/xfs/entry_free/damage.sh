# SPDX-License-Identifier: GPL-2.0-only
# base: v5
db 'path /dir' 'write -d u3.sfdir3.list[0].inumber.i4 5000'
