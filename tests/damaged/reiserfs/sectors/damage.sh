# SPDX-License-Identifier: GPL-2.0-only
# base: base
edit body 2 0 36 4 99
