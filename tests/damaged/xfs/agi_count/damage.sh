# SPDX-License-Identifier: GPL-2.0-only
# base: v5
db 'agi 0' 'write -d count 999'
