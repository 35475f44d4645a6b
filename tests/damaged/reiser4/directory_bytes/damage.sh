# SPDX-License-Identifier: GPL-2.0-only
# base: lzo1
edit find 0 1 36 8 +1
