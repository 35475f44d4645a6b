# SPDX-License-Identifier: GPL-2.0-only
# base: v5
db 'agf 1' 'addr bnoroot' 'write -d recs[1].blockcount 3'
