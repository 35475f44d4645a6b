# SPDX-License-Identifier: GPL-2.0-only
# base: lzo1
edit find 7 0 0 1 48
