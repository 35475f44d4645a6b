# SPDX-License-Identifier: GPL-2.0-only
# base: lzo1
edit findhead 7 1 24 8 +5
