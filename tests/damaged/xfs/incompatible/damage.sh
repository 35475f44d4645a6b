# SPDX-License-Identifier: GPL-2.0-only
# base: v5
db 'sb 0' 'write -d features_incompat 0x4000000b'
