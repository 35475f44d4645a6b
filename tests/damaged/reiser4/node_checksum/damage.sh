# SPDX-License-Identifier: GPL-2.0-only
# base: extents
edit node 1 2900 1 +1
