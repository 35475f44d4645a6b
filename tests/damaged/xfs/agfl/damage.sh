# SPDX-License-Identifier: GPL-2.0-only
# base: v5
db 'agf 0' 'write -d flcount 2'
