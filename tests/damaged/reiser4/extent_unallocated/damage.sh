# SPDX-License-Identifier: GPL-2.0-only
# base: extents
edit find 5 2 0 8 1
