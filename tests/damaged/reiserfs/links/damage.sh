# SPDX-License-Identifier: GPL-2.0-only
# base: base
edit body 3 0 4 4 7
