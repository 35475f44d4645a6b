# SPDX-License-Identifier: GPL-2.0-only
# base: base
edit node 4 0 2 3
