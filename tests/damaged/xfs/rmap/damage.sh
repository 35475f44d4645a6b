# SPDX-License-Identifier: GPL-2.0-only
# base: v5
db 'agf 0' 'addr rmaproot' 'write -d recs[8].owner 140'
