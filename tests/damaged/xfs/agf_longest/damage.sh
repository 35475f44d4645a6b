# SPDX-License-Identifier: GPL-2.0-only
# base: v4
db 'agf 1' 'write -d longest 7'
